"""Loops that jump give what the same loops give walked to the end (D5), and say how much they walked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aag.graph.aau import Work
from aag.ir.expressions import Binary, IntLit, Var
from interpreter.setting import Setting
from tests.interpreter.hand import COLLECTIVES, US, Hand, additive, collective, lit, machine, phase, plus

UNROLLED = Setting(force_unroll=True)
PARTS = ("end_s", "computation_s", "communication_s", "overhead_s", "waiting_s")


def same(jumped, walked, rel=1e-9):
    """Equal for every processor and category, AAU and count."""
    additive(jumped)
    additive(walked)
    for name in PARTS:
        mine, whole = getattr(jumped.per_processor, name), getattr(walked.per_processor, name)
        assert (np.abs(mine - whole) <= rel * walked.time_s[:, None]).all(), name
    for mine, whole in zip(jumped.aaus, walked.aaus, strict=True):
        for name in ("computation_s", "communication_s", "overhead_s", "waiting_s"):
            one, other = getattr(mine.parts, name), getattr(whole.parts, name)
            np.testing.assert_allclose(one, other, rtol=0, atol=rel * float(walked.time_s.max()))
        assert mine.executions == whole.executions
    assert (jumped.messages, jumped.bytes, jumped.iterations) == (walked.messages, walked.bytes, walked.iterations)
    assert walked.iterations_walked == walked.iterations


def both(procs, build, on=None):
    """The prediction of `build(hand)`, and the same unrolled; equal."""
    one, other = Hand(procs), Hand(procs)
    jumped = one.run(*build(one), on=on)
    walked = other.run(*build(other), on=on, setting=UNROLLED)
    same(jumped, walked)
    return jumped


def ring(procs, by=1):
    return phase(range(procs), [(rank + by) % procs for rank in range(procs)], 16)


def right(procs):
    return phase(range(procs - 1), range(1, procs), 16)


def left(procs):
    return phase(range(1, procs), range(procs - 1), 16)


def test_a_loop_in_step_is_walked_twice():
    def build(hand):
        return (hand.loop("i", 1000, hand.compute(100), hand.comm(ring(8))),)

    got = both(8, build)
    assert (got.iterations, got.iterations_walked) == (1000, 2)


def test_the_length_of_a_loop_that_repeats_does_not_matter():
    def walked(trips):
        hand = Hand(8)
        body = (hand.compute([90, 100, 110, 120, 100, 100, 100, 95]), hand.comm(right(8), left(8)))
        return hand.run(hand.loop("i", trips, *body)).iterations_walked

    assert walked(10_000) == walked(100) < 20


def test_skew_before_a_one_sided_shift_changes_the_pattern_hundreds_of_iterations_later():
    """Processor 1 starts 40 ms late but is faster: after 400 iterations it has caught up and waits from then on."""

    def build(hand):
        return (hand.compute([0, 40_000]), hand.loop("i", 1000, hand.compute([300, 200]), hand.comm(right(2))))

    got = both(2, build)
    assert got.iterations_walked < 40


def test_one_slow_block_behind_a_one_sided_shift():
    def build(hand):
        return (hand.loop("i", 2000, hand.compute([100, 100, 137, 100]), hand.comm(right(4))),)

    got = both(4, build)
    assert got.iterations_walked < 100


def test_a_non_blocking_exchange_whose_pattern_changes_late():
    on = machine(send="startup", exchange="concurrent", call=0.3)

    def build(hand):
        return (
            hand.compute([0, 0, 30_000, 0]),
            hand.loop("i", 1500, hand.compute([200, 200, 100, 200]), hand.comm(right(4))),
        )

    assert both(4, build, on).iterations_walked < 150


def test_scenarios_change_at_different_iterations():
    """With half the computing speed the faster processor needs other times to catch up."""
    on = machine(scenarios=3, speed=[1.0, 0.5, 3.0], bandwidth=[1.0, 2.0, 1.0])

    def build(hand):
        return (hand.compute([0, 40_000]), hand.loop("i", 1000, hand.compute([300, 200]), hand.comm(right(2))))

    got = both(2, build, on)
    assert got.iterations_walked < 80
    alone = [Hand(2) for _ in range(3)]
    for number, hand in enumerate(alone):
        speed, bandwidth = [(1.0, 1.0), (0.5, 2.0), (3.0, 1.0)][number]
        single = hand.run(*build(hand), on=machine(speed=speed, bandwidth=bandwidth))
        np.testing.assert_allclose(single.time_s[0], got.time_s[number], rtol=1e-12)


def test_waiting_that_grows_with_every_iteration():
    """Waiting is linear in the iteration, its sum quadratic."""

    def build(hand):
        return (hand.loop("i", 5000, hand.compute([300, 100]), hand.comm(phase([0], [1], 1)), hand.compute([0, 100])),)

    both(2, build)


def test_a_period_of_two_through_a_scalar():
    """Red and black take turns: the body depends on a scalar that alternates."""

    def build(hand):
        def ops(env):
            return [100, 50] if env["color"] else [20, 300]

        flip = hand.seq(assigns=[("color", lit(1))])
        flop = hand.seq(assigns=[("color", lit(0))])
        switch = hand.branch((Binary("==", Var("color"), IntLit(0)), (flip,)), (None, (flop,)))
        return (
            hand.seq(assigns=[("color", lit(0))]),
            hand.loop("i", 500, switch, hand.compute(ops, uses=["color"]), hand.comm(right(2), left(2))),
        )

    got = both(2, build)
    assert got.iterations_walked < 20


def test_a_body_that_depends_on_the_index_is_walked():
    def build(hand):
        triangle = hand.compute(lambda env: [env["k"], 60 - env["k"]], uses=["k"])
        return (hand.loop("k", 60, triangle, hand.comm(ring(2))),)

    got = both(2, build)
    assert got.iterations_walked == got.iterations == 60
    hand = Hand(2)
    single = hand.run(hand.loop("k", 60, hand.compute(lambda env: [env["k"], 0], uses=["k"])))
    assert single.time_s[0] == pytest.approx(60 * 61 / 2 * US)


def test_counters_keep_counting_when_iterations_are_skipped():
    def build(hand):
        return (
            hand.seq(assigns=[("n", lit(0)), ("m", lit(7))]),
            hand.loop("i", 300, hand.comm(ring(2)), hand.seq(assigns=[("n", plus("n", 2)), ("m", plus("i", 1))])),
            hand.compute(lambda env: env["n"] + 1000 * env["m"], uses=["n", "m"]),
        )

    got = both(2, build)
    assert got.per_processor.computation_s[0, 0] == pytest.approx((600 + 301_000) * US)


def test_nested_loops():
    def build(hand):
        inner = hand.loop("j", 30, hand.compute([10, 20, 30, 40]), hand.comm(right(4)))
        return (hand.compute([5000, 0, 0, 0]), hand.loop("i", 200, inner, hand.comm(left(4))))

    got = both(4, build)
    assert got.iterations == 200 * 31
    assert got.iterations_walked < 700


@pytest.mark.parametrize("inner", [2, 3, 5, 12])
def test_messages_under_way_move_along_with_a_jump(inner):
    """On lines that serve one direction at a time, a stage of a loop's last iteration meets the next entry's first."""
    on = machine(duplex="half", bandwidth=0.1)

    def build(hand):
        every = hand.comm(collective("concatenation", 3, 8))
        return (hand.loop("i", 4, hand.loop("j", inner, every)),)

    got = both(3, build, on)
    assert inner < 5 or got.iterations_walked < got.iterations / 2


def test_an_owned_loop_is_a_chain():
    """Work 10 us an iteration; 3 processors with 4 iterations each; one message of 8 bytes at each border."""
    hand = Hand(3)
    border = [None, phase([0], [1], 1), phase([1], [2], 1)]
    loop = hand.owned([0, 1, 2], [4, 4, 4], border, Work(computation=(("op", 10.0),), overhead=(("guard", 1.0),)))
    got = hand.run(loop, on=machine(prices={"guard": 1 * US}))
    additive(got)
    message = 65 * US + 8 * 0.425 * US + 10 * US
    # processor 0: 4 iterations with guards, a send, 8 more guards; 1: waits, works, sends; 2: waits, works
    np.testing.assert_allclose(
        got.per_processor.end_s[0],
        [44 * US + message + 8 * US, 44 * US + message + 44 * US + message + 4 * US, 3 * 44 * US + 2 * message],
    )
    np.testing.assert_allclose(got.per_processor.overhead_s[0], 12 * US)
    np.testing.assert_allclose(got.per_processor.computation_s[0], 40 * US)


def test_an_owned_loop_that_goes_round_and_round_is_not_walked_to_the_end():
    procs, rounds = 4, 500
    owner = list(range(procs)) * rounds

    def build(hand):
        hop = {rank: phase([(rank - 1) % procs], [rank], 1) for rank in range(procs)}
        messages = [None, *(hop[rank] for rank in owner[1:])]
        return (hand.owned(owner, [1] * len(owner), messages, Work(computation=(("op", 3.0),))),)

    one, other = Hand(procs), Hand(procs)
    jumped, walked = one.run(*build(one)), other.run(*build(other), setting=UNROLLED)
    additive(jumped)
    np.testing.assert_allclose(jumped.time_s, walked.time_s, rtol=1e-9)
    np.testing.assert_allclose(jumped.per_processor.waiting_s, walked.per_processor.waiting_s, rtol=1e-9)
    assert jumped.messages == walked.messages == len(owner) - 1
    message = (75 + 8 * 0.425) * US
    assert jumped.time_s[0] == pytest.approx(len(owner) * 3 * US + (len(owner) - 1) * message, rel=1e-3)
    assert jumped.iterations_walked < 20


# ---------------------------------------------------------------------------------------- random programs


@st.composite
def moves(draw, procs):
    kind = draw(st.sampled_from(["right", "left", "ring", "skip", "one", "xor"]))
    size = draw(st.sampled_from([4, 16, 64, 500]))
    match kind:
        case "right":
            return phase(range(procs - 1), range(1, procs), size)
        case "left":
            sizes = draw(st.lists(st.sampled_from([8, 16, 100]), min_size=procs - 1, max_size=procs - 1))
            return phase(range(1, procs), range(procs - 1), sizes)
        case "ring" | "skip":
            by = 1 if kind == "ring" else draw(st.integers(1, procs - 1))
            return phase(range(procs), [(rank + by) % procs for rank in range(procs)], size)
        case "one":
            pair = draw(st.permutations(range(procs)))
            return phase([pair[0]], [pair[1]], size)
        case _:
            bit = draw(st.sampled_from([each for each in (1, 2, 4) if each < procs]))
            sources = [rank for rank in range(procs) if rank ^ bit < procs]
            return phase(sources, [rank ^ bit for rank in sources], size)


@st.composite
def blocks(draw, procs):
    """Descriptions of AAUs; a list is a loop inside."""
    result = []
    for _ in range(draw(st.integers(1, 4))):
        match draw(st.integers(0, 9)):
            case 0 | 1 | 2 | 3:
                ops = st.sampled_from([0, 10, 50, 100, 101, 300, 1000])
                result.append(("compute", draw(st.lists(ops, min_size=procs, max_size=procs))))
            case 4 | 5 | 6 | 7:
                result.append(("comm", [draw(moves(procs)) for _ in range(draw(st.sampled_from([1, 1, 2, 4])))]))
            case 8:
                kind = draw(st.sampled_from(sorted(COLLECTIVES)))
                result.append(("comm", [collective(kind, procs, draw(st.sampled_from([8, 64, 200])))]))
            case _:
                result.append(("loop", draw(st.sampled_from([3, 7, 20])), draw(flat(procs))))
    return result


@st.composite
def flat(draw, procs):
    return [each for each in draw(blocks(procs)) if each[0] != "loop"]


@st.composite
def programs(draw):
    procs = draw(st.sampled_from([2, 3, 4, 5, 8]))
    skew = draw(st.lists(st.sampled_from([0, 0, 500, 20_000]), min_size=procs, max_size=procs))
    options = {
        "send": draw(st.sampled_from(["blocking", "blocking", "startup"])),
        "duplex": draw(st.sampled_from(["full", "full", "half"])),
        "switching": draw(st.sampled_from(["circuit", "none"])),
        "exchange": draw(st.sampled_from(["sequential", "concurrent"])),
        "factor": draw(st.sampled_from([1.0, 1.0, 1.5])),
        "load": draw(st.sampled_from([0.0, 0.0, 0.3])),
        "overlap": draw(st.sampled_from([0.0, 0.0, 0.4])),
        "call": draw(st.sampled_from([1.0, 0.3])),
        "receive": draw(st.sampled_from([0.0, 1e-5])),
    }
    if draw(st.booleans()):
        options |= {
            "scenarios": 3,
            "bandwidth": [1.0, draw(st.sampled_from([2.0, 0.5])), 0.1],
            "speed": [1.0, 1.0, draw(st.sampled_from([1.0, 10.0]))],
        }
    return procs, skew, draw(st.sampled_from([5, 20, 100, 400])), draw(blocks(procs)), options


def made(hand, described):
    for what, *given_ in described:
        match what:
            case "compute":
                yield hand.compute(given_[0])
            case "comm":
                yield hand.comm(*given_[0])
            case _:
                yield hand.loop("j", given_[0], *made(hand, given_[1]))


@pytest.mark.slow
@settings(max_examples=40)
@given(programs())
def test_jumping_equals_walking(case):
    check_jumping(case)


@pytest.mark.truth
@settings(max_examples=250)
@given(programs())
def test_jumping_often_equals_walking(case):
    check_jumping(case)


def check_jumping(case):
    procs, skew, trips, body, options = case
    both(procs, lambda hand: (hand.compute(skew), hand.loop("i", trips, *made(hand, body))), machine(**options))
