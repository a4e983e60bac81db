"""The walk: closed forms, branches, values, input and output, and what is said where something is not known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from aag.diagnostics import UnresolvedError
from aag.graph import aau as g
from aag.graph.aau import Work
from aag.ir.expressions import Binary, Call, Element, IntLit, Var
from interpreter.engine import HANDLERS
from interpreter.errors import InterpretationError
from interpreter.listeners import Listener
from interpreter.setting import Setting
from tests.interpreter.hand import US, Hand, additive, collective, lit, machine, metrics, phase, plus

UNKNOWN = Call("mystery", (Var("x"),))


def done(hand, *body, **more):
    prediction = hand.run(*body, **more)
    additive(prediction)
    return prediction


def test_every_class_of_aau_has_its_interpretation_function():
    concrete = {each for each in vars(g).values() if isinstance(each, type) and issubclass(each, g.AAU)} - {g.AAU}
    assert set(HANDLERS) == concrete
    assert len(concrete) == 12


@given(st.lists(st.integers(0, 9), min_size=2, max_size=2), st.integers(0, 20), st.floats(0, 5), st.floats(0, 5))
def test_a_nest_is_its_closed_form(extents, ops, setup, step):
    """T = setup + n (iteration + body), at every level: two loops, written out as loops."""
    rows, columns = extents
    expected = setup
    for _ in range(rows):
        expected += step + setup
        for _ in range(columns):
            expected += step + ops
    hand = Hand(1)
    work = Work(computation=(("op", float(ops)),))
    level = np.array([[rows, rows * columns]])
    got = done(hand, hand.nest(level, work), on=machine(prices={"loop.setup": setup * US, "loop.iteration": step * US}))
    assert got.time_s[0] == pytest.approx(expected * US)


def test_work_of_outer_levels_and_before_the_loops():
    hand = Hand(2)
    level = np.array([[3, 12], [2, 4]])
    nest = hand.nest(
        level,
        Work(computation=(("op", 1.0),)),
        outer=(Work(computation=(("op", 10.0),)),),
        setup=Work(overhead=(("op", 100.0),)),
    )
    got = done(hand, nest)
    np.testing.assert_allclose(got.per_processor.computation_s[0], [42 * US, 24 * US])
    np.testing.assert_allclose(got.per_processor.overhead_s[0], 100 * US)
    assert got.imbalance[0] == pytest.approx(42 / 33)


def test_a_counted_loop_pays_setup_and_every_iteration():
    hand = Hand(2)
    prices = {"loop.setup": 7 * US, "loop.iteration": 2 * US}
    got = done(hand, hand.loop("i", 10, hand.seq(5), lower=1, step=3), on=machine(prices=prices))
    assert got.time_s[0] == pytest.approx((7 + 4 * 7) * US)


def test_the_last_processor_is_waited_for_at_the_end():
    hand = Hand(3)
    got = done(hand, hand.compute([10, 30, 20]))
    assert got.time_s[0] == pytest.approx(30 * US)
    end = next(each for each in got.lines if each.line == 999)
    assert end.parts.waiting_s[0] == pytest.approx(10 * US)
    np.testing.assert_allclose(got.per_processor.end_s[0], [10 * US, 30 * US, 20 * US])


def test_a_time_that_no_number_holds_is_refused():
    hand = Hand(2)
    with pytest.raises(InterpretationError, match="E509 the predicted time is too large to represent"):
        hand.run(hand.compute([1e308, 1.0]), on=machine(prices={"op": 1e10}))


def test_lines_gather_what_belongs_to_them():
    hand = Hand(4)
    shift = phase([0, 1, 2], [1, 2, 3], 16)
    got = done(hand, hand.comm(shift, line=12), hand.compute([1, 2, 3, 4], line=12), hand.seq(3, line=14))
    twelve = next(each for each in got.lines if each.line == 12)
    assert (twelve.messages, twelve.bytes, len(twelve.aaus)) == (3, 384, 2)
    assert twelve.parts.computation_s[0] == pytest.approx(2.5 * US)
    assert twelve.max_processor == int(np.argmax(got.per_processor.end_s[0] - 3 * US))


@pytest.mark.parametrize(("x", "ops"), [(1, 10), (2, 200), (3, 3000)])
def test_a_condition_that_is_known_decides(x, ops):
    hand = Hand(2)
    branches = [
        (Binary("==", Var("x"), IntLit(1)), [hand.seq(10)]),
        (Binary("==", Var("x"), IntLit(2)), [hand.seq(200)]),
        (None, [hand.seq(3000)]),
    ]
    got = done(hand, hand.seq(assigns=[("x", lit(x))]), hand.branch(*branches, ops=1), on=machine())
    assert got.time_s[0] == pytest.approx((ops + min(x, 2)) * US)
    assert not got.assumptions


def test_a_condition_that_is_not_known_is_weighed():
    hand = Hand(2)
    got = done(hand, hand.branch((UNKNOWN, [hand.seq(100)]), (None, [hand.seq(300)]), ops=4))
    assert got.time_s[0] == pytest.approx(204 * US)
    assert [each.code for each in got.assumptions] == ["branch"]
    hand = Hand(2)
    branch = hand.branch((UNKNOWN, [hand.seq(100)]), (None, [hand.seq(300)]), line=5)
    assert done(hand, branch, setting=Setting(branches={5: (0.25, 0.75)})).time_s[0] == pytest.approx(250 * US)


def test_communication_in_a_branch_is_weighed():
    hand = Hand(2)
    message = hand.comm(phase([0], [1], 125))
    got = done(hand, hand.branch((UNKNOWN, [message])))
    assert got.time_s[0] == pytest.approx((147 + 390 + 30.5) / 2 * US)


def test_a_while_loop_counts_by_functional_interpretation():
    hand = Hand(2)
    condition = Binary("<", Var("n"), IntLit(50))
    body = (hand.seq(10, assigns=[("n", plus("n", 1))]), hand.comm(phase([0, 1], [1, 0], 1)))
    got = done(hand, hand.seq(assigns=[("n", lit(0))]), hand.while_(condition, *body, ops=1))
    message = (65 + 3.4 + 10) * US
    assert got.time_s[0] == pytest.approx(50 * (11 * US + message) + 1 * US)
    assert (got.iterations, got.iterations_walked) == (50, 2)


def test_a_while_loop_runs_to_its_bound_where_its_condition_is_not_known():
    """Def 18."""
    hand = Hand(2)
    condition = Binary(".and.", Binary(">", Var("error"), IntLit(0)), Binary("<", Var("n"), IntLit(7)))
    loop = hand.while_(condition, hand.seq(10, assigns=[("n", plus("n", 1))]))
    got = done(hand, hand.seq(assigns=[("n", lit(0))]), loop)
    assert got.time_s[0] == pytest.approx(70 * US)
    (said,) = got.assumptions
    assert (said.code, "7 iterations" in said.text) == ("while", True)


def test_a_while_loop_without_a_bound_is_asked_for():
    hand = Hand(2)
    loop = hand.while_(Binary(">", Var("error"), IntLit(0)), hand.seq(10), line=21)
    with pytest.raises(UnresolvedError, match="TRIPS_21") as caught:
        hand.run(loop)
    assert caught.value.names == ("trips_21",)
    assert done(hand, loop, setting=Setting(values={"trips_21": 4})).time_s[0] == pytest.approx(40 * US)


def test_a_loop_that_never_ends_is_refused():
    hand = Hand(1)
    loop = hand.while_(Binary(">", Var("n"), IntLit(0)), hand.seq(1, assigns=[("n", plus("n", 1))]))
    with pytest.raises(UnresolvedError, match=r"does not end within 100 iterations.*TRIPS_"):
        hand.run(hand.seq(assigns=[("n", lit(1))]), loop, setting=Setting(while_iterations=100))


def test_of_a_loop_that_data_end_nobody_says_that_it_does_not_end():
    hand = Hand(1)
    condition = Binary(".and.", Binary(">", Var("n"), IntLit(0)), Binary(">", Var("error"), IntLit(0)))
    loop = hand.while_(condition, hand.seq(1, assigns=[("n", plus("n", 1))]))
    with pytest.raises(UnresolvedError, match=r"the trip count of this loop is unknown \(error cannot be computed\)"):
        hand.run(hand.seq(assigns=[("n", lit(1))]), loop, setting=Setting(while_iterations=100))


def test_a_loop_whose_end_no_iteration_can_compute_asks_at_once_for_what_is_missing():
    hand = Hand(1)
    below = Binary("<", Var("i"), Var("most"))
    condition = Binary(".and.", Binary(">", Var("error"), IntLit(0)), below)
    copied = hand.seq(1, assigns=[("i", plus("i", 1)), ("error", Var("sum"))])
    leave = hand.branch((Binary(">", Var("error"), Var("i")), [hand.seq(leave="exit")]))
    loop = hand.while_(condition, copied, leave)
    start = hand.seq(assigns=[("i", lit(0)), ("error", lit(1))])
    with pytest.raises(UnresolvedError) as caught:  # and no E507 or E502 after a billion iterations
        hand.run(start, loop, setting=Setting(while_iterations=10**9))
    (found,) = caught.value.diagnostics
    assert found.message == "the trip count of this loop is unknown (error, most cannot be computed)"
    assert found.hint == "give most with ‹set MOST=VALUE›, or the trip count with ‹set TRIPS_4=VALUE›"
    assert done(hand, start, loop, setting=Setting(values={"most": 4})).time_s[0] == pytest.approx(4 * US)


def test_a_value_that_a_later_iteration_gives_ends_a_loop():
    hand = Hand(1)
    given = hand.branch((Binary("==", Var("i"), IntLit(3)), [hand.seq(assigns=[("most", lit(5))])]))
    loop = hand.while_(Binary("<", Var("i"), Var("most")), hand.seq(1, assigns=[("i", plus("i", 1))]), given)
    assert done(hand, hand.seq(assigns=[("i", lit(0))]), loop).time_s[0] == pytest.approx(5 * US)


def test_exit_and_cycle():
    hand = Hand(1)
    leave = hand.branch((Binary("==", Var("i"), IntLit(4)), [hand.seq(leave="exit")]))
    skip = hand.branch((Binary("==", Var("i"), IntLit(2)), [hand.seq(leave="cycle")]))
    got = done(hand, hand.loop("i", 10, hand.seq(1), leave, skip, hand.seq(10)))
    assert got.time_s[0] == pytest.approx((4 * 1 + 2 * 10) * US)


def test_a_named_exit_leaves_the_outer_loop():
    hand = Hand(1)
    leave = hand.branch((Binary("==", Var("j"), IntLit(3)), [hand.seq(leave="exit", leave_name="rows")]))
    inner = hand.loop("j", 10, hand.seq(1), leave)
    got = done(hand, hand.loop("i", 10, inner, name="rows"), hand.seq(100))
    assert got.time_s[0] == pytest.approx(103 * US)


def test_an_endless_loop_is_left_by_exit():
    hand = Hand(1)
    leave = hand.branch((Binary(">=", Var("n"), IntLit(5)), [hand.seq(leave="exit")]))
    body = (hand.seq(1, assigns=[("n", plus("n", 1))]), leave, hand.seq(10))
    got = done(
        hand,
        hand.seq(assigns=[("n", lit(0))]),
        hand.while_(None, *body),
        hand.compute(lambda env: 1000 * env["n"], uses=["n"]),
    )
    assert got.time_s[0] == pytest.approx((5 * 1 + 4 * 10 + 5000) * US)


def test_stop_ends_the_program():
    hand = Hand(1)
    assert done(hand, hand.seq(1), hand.seq(leave="stop"), hand.seq(1000)).time_s[0] == pytest.approx(1 * US)


def test_values_go_through_scalars_and_calls_return():
    hand = Hand(1)
    sub = hand.call(hand.seq(2, assigns=[("m", plus("n", 5))]), hand.seq(leave="return"), hand.seq(99), ops=1)
    got = done(hand, hand.seq(assigns=[("n", lit(3))]), sub, hand.loop("i", Var("m"), hand.seq(10)))
    assert got.time_s[0] == pytest.approx(83 * US)


def test_every_unresolved_variable_is_named_at_once():
    hand = Hand(1)
    first = hand.loop("i", Var("n"), hand.seq(1), line=4)
    second = hand.loop("j", Binary("+", Var("m"), Var("n")), hand.seq(1), line=9)
    third = hand.loop("k", Var("good"), hand.seq(1), line=11)
    body = (hand.seq(assigns=[("n", Element("a", (IntLit(1),))), ("good", lit(3))]), first, second, third)
    with pytest.raises(UnresolvedError) as caught:
        hand.run(*body)
    assert caught.value.names == ("n", "m")
    assert [each.span.line for each in caught.value.diagnostics] == [4, 9]
    assert "‹set M=VALUE›" in str(caught.value)
    got = done(hand, *body, setting=Setting(values={"n": 2, "m": 3}))
    assert got.time_s[0] == pytest.approx((2 + 5 + 3) * US)


def test_a_reduction_makes_a_scalar_unknown():
    hand = Hand(2)
    total = hand.reduce(collective("reduction", 2, 1, element_bytes=8), defines=["n"])
    with pytest.raises(UnresolvedError):
        hand.run(hand.seq(assigns=[("n", lit(3))]), total, hand.loop("i", Var("n"), hand.seq(1)))


def test_writing_through_the_host():
    hand = Hand(4)
    got = done(hand, hand.host("write", 3, 24))
    formatting, link = 180 * US, 4e-3 + 24 * 1.5 * US
    assert got.time_s[0] == pytest.approx(formatting + link)
    assert got.io_s[0] == pytest.approx((formatting + link) / 4)  # a mean over processors, as all parts
    assert got.per_processor.overhead_s[0, 0] == pytest.approx(formatting)
    assert got.per_processor.communication_s[0, 0] == pytest.approx(link)


def test_reading_ends_in_a_broadcast_that_stays_without_io():
    broadcast = 2 * (65 + 8 * 0.425 + 10) * US  # two stages of one hop, in the order of nodes
    hand = Hand(4)
    assert done(hand, hand.host("read", 1, 8)).time_s[0] == pytest.approx(60 * US + 4e-3 + 12 * US + broadcast)
    hand = Hand(4)
    without = done(hand, hand.host("read", 1, 8), setting=Setting(io=False))
    assert (without.time_s[0], without.io_s[0]) == (pytest.approx(broadcast), 0)


def test_loading_stands_beside_the_time():
    hand = Hand(2)
    got = done(hand, hand.seq(5))
    assert (got.load_s[0], got.time_s[0]) == (2.0, pytest.approx(5 * US))


def test_two_readings_of_the_clock_bracket_a_region():
    hand = Hand(2)
    got = done(
        hand,
        hand.compute([5, 9]),
        hand.seq(clock_mark=True),
        hand.compute([100, 50]),
        hand.seq(clock_mark=True),
        hand.seq(1000),
    )
    assert got.timed_s[0] == pytest.approx((105 - 9) * US)
    hand = Hand(2)
    assert done(hand, hand.seq(5)).timed_s is None


def test_an_operation_without_a_price_is_announced():
    hand = Hand(2)
    nest = hand.nest(np.array([[5], [5]]), Work(computation=(("quad.sqrt", 1.0),)))
    got = done(hand, nest)
    assert not got.complete
    assert [each.code for each in got.assumptions] == ["unpriced"]
    assert "quad.sqrt" in got.assumptions[0].text


def test_what_cannot_be_modelled_is_announced():
    hand = Hand(2)
    got = done(hand, hand.seq(1, unmodelled="INQUIRE is not modelled", line=8))
    assert not got.complete
    assert "line 8: INQUIRE is not modelled" in got.assumptions[0].text


def test_a_machine_without_io_says_so():
    hand = Hand(2)
    got = done(hand, hand.host("write", 1, 8), on=machine(io=False))
    assert (got.time_s[0], got.complete, got.assumptions[0].code) == (0, False, "no-io")


def test_the_estimated_share():
    hand = Hand(2)
    on = machine()
    on.processor.estimated["op"] = True
    got = done(hand, hand.compute([10, 30]), hand.comm(phase([0, 1], [1, 0], 125)), on=on)
    communication = got.parts.communication_s[0]
    assert got.estimated_share[0] == pytest.approx(20 * US / (20 * US + communication))


def test_large_ledgers_keep_totals_and_means():
    def build(hand):
        right = phase([0, 1, 2], [1, 2, 3], 16)
        return (
            hand.compute([7, 300, 20, 90], line=3),
            hand.loop("i", 50, hand.comm(right, line=4), hand.compute([100, 120, 100, 30], line=5)),
        )

    one, other, third = Hand(4), Hand(4), Hand(4)
    whole = done(one, *build(one))
    lean = done(other, *build(other), setting=Setting(detail_cells=3))
    leanest = done(third, *build(third), setting=Setting(detail_cells=3, detail_bytes=10))
    for got in (lean, leanest):
        np.testing.assert_allclose(got.per_processor.waiting_s, whole.per_processor.waiting_s)
        for mine, theirs in zip(got.lines, whole.lines, strict=True):
            np.testing.assert_allclose(mine.parts.time_s, theirs.parts.time_s)
    np.testing.assert_allclose([each.max_s for each in lean.lines], [each.max_s for each in whole.lines])
    assert {each.max_s for each in leanest.lines} == {None}


def test_listeners_hear_what_is_walked():
    class Ears(Listener):
        def __init__(self):
            self.heard, self.flights, self.jumped = [], [], 0

        def entered(self, aau, clock):
            self.heard.append(("in", aau.id))

        def left(self, aau, clock):
            self.heard.append(("out", aau.id))

        def messages(self, aau, name, source, destination, size_bytes, sent, received):
            self.flights.append((name, list(source), list(destination), list(size_bytes), sent[0, 0], received[0, 0]))

        def skipped(self, aau, iterations):
            self.jumped += int(iterations[0])

    ears, hand = Ears(), Hand(2)
    shift = hand.comm(phase([0], [1], 125))
    loop = hand.loop("i", 100, shift)
    got = done(hand, hand.seq(10), loop, listener=ears)
    assert ears.jumped == 100 - got.iterations_walked
    assert ears.flights[0] == ("shift", [0], [1], [1000], pytest.approx(10 * US), pytest.approx(577.5 * US))
    assert ears.heard.index(("in", loop.id)) < ears.heard.index(("in", shift.id)) < ears.heard.index(("out", loop.id))
    assert metrics(got, shift).comm.executions == 100


def test_the_profile_of_the_timed_region_alone():
    """Its parts add up to the time between the readings, although processor 1 came 500 us early to the first."""
    hand = Hand(2)
    inside = hand.comm(phase([0, 1], [1, 0], 125), line=7)
    got = hand.run(
        hand.compute([500, 0], line=2),
        hand.seq(clock_mark=True),
        hand.compute([100, 50]),
        inside,
        hand.seq(clock_mark=True),
        hand.seq(1000),
        setting=Setting(timed=True),
    )
    additive(got, region=True)
    message = (147 + 390 + 30.5) * US
    assert got.time_s[0] == got.timed_s[0] == pytest.approx(100 * US + message)
    assert got.parts.computation_s[0] == pytest.approx(75 * US)
    assert next(each for each in got.lines if each.line == 2).parts.time_s[0] == 0
    np.testing.assert_allclose(got.per_processor.communication_s[0], [message, message + 550 * US])


@pytest.mark.parametrize("setting", [Setting(timed=True)])
def test_without_two_readings_the_whole_program_is_shown_and_that_is_said(setting):
    hand = Hand(2)
    got = done(hand, hand.seq(5), setting=setting)
    assert (got.time_s[0], [each.code for each in got.assumptions]) == (pytest.approx(5 * US), ["timed"])


def test_lean_ledgers_know_longer_periods():
    def build(hand):
        flip = hand.branch(
            (Binary("==", Var("c"), IntLit(0)), [hand.seq(assigns=[("c", lit(1))])]),
            (None, [hand.seq(assigns=[("c", lit(0))])]),
        )
        work = hand.compute(lambda env: [100, 20] if env["c"] else [5, 300], uses=["c"])
        return hand.seq(assigns=[("c", lit(0))]), hand.loop("i", 300, flip, work, hand.comm(phase([0, 1], [1, 0], 5)))

    one, other = Hand(2), Hand(2)
    whole, lean = done(one, *build(one)), done(other, *build(other), setting=Setting(detail_cells=1))
    assert lean.iterations_walked < 50
    np.testing.assert_allclose(lean.per_processor.waiting_s, whole.per_processor.waiting_s)


@pytest.mark.parametrize(
    ("guessed", "part"),
    [({"startup"}, 65.0), ({"per_byte"}, 64 * 0.425), ({"per_hop"}, 10.0), ({"startup", "per_byte", "per_hop"}, None)],
)
def test_the_estimated_share_of_messages(guessed, part):
    """Of a message of 64 bytes over one hop; what is measured of it is no guess."""
    on = machine()
    ranges = tuple(structs.replace(each, estimated=frozenset(guessed)) for each in on.network.ranges)
    on = structs.replace(on, network=structs.replace(on.network, ranges=ranges))
    hand = Hand(2)
    got = hand.run(hand.comm(phase([0], [1], 8)), on=on)
    whole = 65.0 + 64 * 0.425 + 10.0
    assert got.estimated_share[0] == pytest.approx(1.0 if part is None else part / whole)
