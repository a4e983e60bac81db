"""The instrument itself: the simulator obeys the law, its contention is that of the chosen machine, and the
hand-written programs send and wait as defined. Expected times are closed forms or `replay`."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.truth.simgrid.platform import IPSC860, Law, Protocol, gray_nodes, hops, options, platform_xml
from tests.truth.simgrid.replay import allreduce_steps, bcast_steps, laplace_steps, owners, replay, sent
from tests.truth.simgrid.runner import SimulatorError, near_square
from tests.truth.simgrid.runner import simulate as simulate_any
from tests.truth.simgrid.runner import simulate_script as simulate_any_script

US = 1e-6
OTHER = Law(
    short=Protocol(startup_s=63e-6, byte_s=0.5e-6, hop_s=12e-6),
    long=Protocol(startup_s=140e-6, byte_s=0.36e-6, hop_s=20e-6),
    threshold_bytes=200,
)
SIZES = (0, 1, 8, 16, 64, 99, 100, 101, 102, 128, 200, 201, 256, 512, 1024, 4096, 8192, 16384, 32768, 65536)

# Without the minute delays that decide who comes first, so that times can be compared to the last digits.
simulate = partial(simulate_any, ties="simulator")
simulate_script = partial(simulate_any_script, ties="simulator")


def assert_same(measured, expected):
    assert_allclose(measured, expected, rtol=1e-9, atol=1e-15)


def with_both(cases_quick, cases_long):
    return [pytest.param(*case) for case in cases_quick] + [
        pytest.param(*case, marks=pytest.mark.truth) for case in cases_long if case not in cases_quick
    ]


# The law of one message


def one_after_the_other(law, dimension, pairs, sizes, **machine):
    """Messages that never meet: each pair waits (computing) for its turn."""
    steps, start = [], 0.0
    clock = dict.fromkeys(range(2**dimension), 0.0)
    expected = []
    for (source, target), size in product(pairs, sizes):
        steps += [(source, "charge", 0, start - clock[source])]
        steps += [(source, "send", target, size), (target, "recv", source, size)]
        taken = law.time_s(size, hops(source, target))
        clock[source] = clock[target] = start = start + taken
        expected.append(taken)
    result = simulate_script(2**dimension, steps, law=law, mapping="natural", trace=True, **machine)
    taken = {(m.source, m.target, m.size_bytes): m.returned_s - m.sent_s for m in result.trace}
    return [taken[source, target, size] for (source, target), size in product(pairs, sizes)], expected


@pytest.mark.parametrize(
    ("law", "machine"),
    with_both(
        [(IPSC860, {}), (OTHER, {}), (IPSC860, {"link": "fluid"}), (IPSC860, {"duplex": "half"})],
        [(OTHER, {"link": "fluid", "duplex": "half"}), (OTHER, {"link": "fluid"}), (OTHER, {"duplex": "half"})],
    ),
    ids=str,
)
def test_one_message_takes_what_the_law_says(law, machine):
    pairs = [(0, 2**h - 1) for h in range(1, 6)]
    measured, expected = one_after_the_other(law, 5, pairs, SIZES, **machine)
    assert_same(measured, expected)


@pytest.mark.parametrize("dimension", [3, pytest.param(5, marks=pytest.mark.truth)])
def test_hops_are_differing_bits_between_all_nodes(dimension):
    pairs = [(i, j) for i in range(2**dimension) for j in range(2**dimension) if i != j]
    measured, expected = one_after_the_other(IPSC860, dimension, pairs, (0, 1000))
    assert_same(measured, expected)


@pytest.mark.parametrize(
    ("hop_count", "size_bytes", "expected_us"),
    [(1, 0, 75.0), (1, 100, 117.5), (1, 101, 216.89), (1, 65536, 25736.54), (5, 101, 338.89), (3, 1024, 637.86)],
)
def test_the_law_of_the_ipsc860_in_figures(hop_count, size_bytes, expected_us):
    steps = [(0, "send", 2**hop_count - 1, size_bytes), (2**hop_count - 1, "recv", 0, size_bytes)]
    result = simulate_script(2**hop_count, steps, mapping="natural")
    assert_same(result.time_s, expected_us * US)
    assert_same(result.send_s[0], expected_us * US)
    assert (result.messages, result.bytes) == (1, size_bytes)


# Messages that meet: 10000 bytes each, all sent at time 0. (source, target) in the order of the ratios.

MEETING = {
    "one of two links": [(1, 3), (0, 3)],
    "opposite": [(0, 1), (1, 0)],
    "same target": [(2, 3), (0, 3)],
    "last link of three": [(3, 7), (1, 7), (0, 7)],
}


def meeting(pairs, **machine):
    size = 10_000
    steps = [(a, "isend", b, size) for a, b in pairs] + [(b, "recv", a, size) for a, b in pairs]
    result = simulate_script(8, steps, mapping="natural", trace=True, **machine)
    arrival = {(m.source, m.target): m.returned_s for m in result.trace}
    return [arrival[pair] / IPSC860.time_s(size, hops(*pair)) for pair in pairs]


@pytest.mark.parametrize(
    ("case", "machine", "expected"),
    [
        ("one of two links", {}, (1.00, 1.94)),
        ("one of two links", {"link": "fluid"}, (1.474, 1.942)),
        ("one of two links", {"duplex": "half"}, (1.00, 1.94)),
        ("opposite", {}, (1.00, 1.00)),
        ("opposite", {"link": "fluid"}, (1.00, 1.00)),
        ("opposite", {"duplex": "half"}, (1.00, 1.96)),
        ("same target", {}, (1.00, 1.00)),
        ("same target", {"link": "fluid"}, (1.00, 1.00)),
        ("same target", {"duplex": "half"}, (1.00, 1.00)),
        ("last link of three", {}, (1.00, 1.94, 2.87)),
        ("last link of three", {"link": "fluid"}, (1.789, 2.573, 2.870)),
    ],
    ids=str,
)
def test_contention_is_that_of_the_chosen_machine(case, machine, expected):
    assert_allclose(sorted(meeting(MEETING[case], **machine)), expected, atol=0.005)


def test_a_circuit_is_held_for_the_bytes_and_taken_after_the_latency():
    size, law = 10_000, IPSC860.long
    byte_time_s, overhead_s = law.byte_s * size, law.startup_s
    ratios = meeting(MEETING["last link of three"])
    for hop_count, ratio in zip((1, 2, 3), ratios, strict=True):
        arrival_s = overhead_s + law.hop_s + hop_count * byte_time_s
        assert_same(ratio, arrival_s / law.time_s(size, hop_count))


# Late partners, and what waiting is


def test_late_sender_and_late_receiver():
    late_sender = simulate_script(2, [(0, "charge", 0, 5e-3), (0, "send", 1, 8000), (1, "recv", 0, 8000)])
    assert_same(late_sender.end_s, [8297.5 * US] * 2)
    assert_same(late_sender.waiting_s, [0, 5e-3])
    assert_same(late_sender.transmission_s, [0, 3297.5 * US])
    late_receiver = simulate_script(2, [(1, "charge", 0, 5e-3), (0, "send", 1, 8000), (1, "recv", 0, 8000)])
    assert_same(late_receiver.end_s, [3297.5 * US, 5e-3])
    assert_same(late_receiver.blocked_s, [0, 0])
    assert_same(late_receiver.idle_s, [5e-3 - 3297.5 * US, 0])


def test_waiting_for_links_is_what_free_links_would_have_saved():
    steps = [(1, "isend", 3, 9000), (0, "isend", 3, 9000), (3, "recv", 1, 9000), (3, "recv", 0, 9000)]
    result = simulate_script(4, steps, mapping="natural")
    first_s, alone_s = IPSC860.time_s(9000, 1), IPSC860.time_s(9000, 2)
    arrival_s = first_s + IPSC860.long.byte_s * 9000
    assert_same(result.end_s[3], arrival_s)
    assert_same(result.link_s, [0, 0, 0, arrival_s - alone_s])
    assert_same(result.partner_s, np.zeros(4))
    assert_same(result.transmission_s[3], alone_s)


def test_how_long_a_send_occupies_its_sender():
    steps = [(0, "send", 1, 1000), (1, "recv", 0, 1000)]
    arrival_s = IPSC860.time_s(1000, 1)
    assert_same(simulate_script(2, steps).send_s[0], arrival_s)
    startup = simulate_script(2, steps, send="startup")
    assert_same(startup.send_s[0], IPSC860.long.startup_s)
    assert_same(startup.end_s[1], arrival_s)
    steps[0] = (0, "isend", 1, 1000)
    assert_same(simulate_script(2, steps).send_s[0], IPSC860.long.startup_s)


def test_computation_is_charged_exactly_however_small():
    steps = [(0, "charge", 0, 1.25e-3), (1, "charge", 0, 30e-9), *[(2, "charge", 0, 1.1e-9)] * 1000]
    result = simulate_script(3, steps)
    assert_allclose(result.end_s, [1.25e-3, 30e-9, 1.1e-6], rtol=1e-6)
    assert_allclose(result.compute_s, [1.25e-3, 30e-9, 1.1e-6], rtol=1e-12)


# Collectives


@pytest.mark.parametrize(
    ("procs", "size_bytes"),
    with_both(
        [(2, 8), (3, 8), (8, 8), (8, 1024), (13, 100), (64, 8)],
        list(product((2, 4, 5, 6, 7, 16, 32, 33, 64), (8, 100, 101, 4096, 65536))),
    ),
)
def test_allreduce_is_recursive_doubling(procs, size_bytes):
    power = procs.bit_length() - 1
    stages = power if procs == 2**power else power + 2
    natural = simulate("allreduce", procs, bytes=size_bytes, mapping="natural")
    assert_same(natural.time_s, stages * IPSC860.time_s(size_bytes, 1))
    coded = simulate("allreduce", procs, bytes=size_bytes)
    steps = allreduce_steps(procs, size_bytes)
    assert (coded.messages, coded.bytes) == sent(steps)
    assert_same(coded.end_s, replay(steps, IPSC860, gray_nodes([procs])))


@pytest.mark.parametrize(
    ("procs", "root", "size_bytes"),
    with_both(
        [(2, 1, 8), (3, 0, 8), (8, 0, 1024), (8, 5, 1024), (13, 4, 100), (64, 0, 8)],
        list(product((2, 4, 5, 16, 33, 64), (0, 1), (8, 100, 101, 4096, 65536))),
    ),
)
def test_bcast_is_a_binomial_tree(procs, root, size_bytes):
    natural = simulate("bcast", procs, bytes=size_bytes, mapping="natural")
    assert_same(natural.time_s, (procs - 1).bit_length() * IPSC860.time_s(size_bytes, 1))
    coded = simulate("bcast", procs, bytes=size_bytes, root=root)
    steps = bcast_steps(procs, root, size_bytes)
    assert (coded.messages, coded.bytes) == sent(steps) == (procs - 1, (procs - 1) * size_bytes)
    assert_same(coded.end_s, replay(steps, IPSC860, gray_nodes([procs])))


def test_bcast_by_xor_stays_on_links_from_any_root():
    times = {simulate("bcast", 8, bytes=8, root=r, tree="xor", mapping="natural").time_s for r in range(8)}
    assert_same(sorted(times), [3 * IPSC860.time_s(8, 1)] * len(times))


# Programs


@pytest.mark.parametrize(
    ("procs", "size_bytes"),
    with_both([(2, 8), (8, 2048), (64, 101)], list(product((4, 16, 32, 64), (8, 100, 101, 65536)))),
)
@pytest.mark.parametrize("exchange", ["sequential", "concurrent"])
def test_a_ring_in_gray_code_costs_one_hop_a_step(procs, size_bytes, exchange):
    ring = simulate("shift", procs, bytes=size_bytes, repeat=5, periodic="yes", exchange=exchange)
    assert_same(ring.end_s, np.full(procs, 5 * IPSC860.time_s(size_bytes, 1)))
    assert ring.messages == 5 * procs
    line = simulate("shift", procs, bytes=size_bytes, repeat=1, exchange=exchange)
    assert line.messages == procs - 1
    assert_same(line.time_s, IPSC860.time_s(size_bytes, 1))


@pytest.mark.parametrize("procs", [8, 16, 32])
def test_shifts_by_more_than_one_meet_on_links_in_gray_code_but_not_in_natural_order(procs):
    size, by = 10_000, 3
    natural = simulate("shift", procs, bytes=size, by=by, periodic="yes", mapping="natural")
    assert_same(natural.link_s, np.zeros(procs))
    steps = [[("send", (i + by) % procs, size), ("recv", (i - by) % procs, size)] for i in range(procs)]
    assert_same(natural.end_s, replay(steps, IPSC860, range(procs)))
    coded = simulate("shift", procs, bytes=size, by=by, periodic="yes")
    sooner_s = 2 * IPSC860.long.hop_s  # a message over one link takes it before one over three
    assert_same(coded.link_s.max(), IPSC860.long.byte_s * size - sooner_s)
    assert (coded.messages, coded.bytes) == (procs, procs * size)


@pytest.mark.parametrize(
    ("procs", "size_bytes"), with_both([(8, 1024), (16, 64)], list(product((2, 4, 32, 64), (8, 101, 16384))))
)
def test_transpose_by_xor_is_the_sum_of_its_steps(procs, size_bytes):
    result = simulate("transpose", procs, bytes=size_bytes, mapping="natural")
    expected = sum(IPSC860.time_s(size_bytes, step.bit_count()) for step in range(1, procs))
    assert_same(result.end_s, np.full(procs, expected))
    assert result.messages == procs * (procs - 1)


@pytest.mark.parametrize("order", ["xor", "ring"])
def test_transpose_with_all_messages_in_flight_waits_for_links(order):
    together = simulate("transpose", 8, bytes=4096, order=order, exchange="concurrent", mapping="natural")
    apart = simulate("transpose", 8, bytes=4096, order=order, mapping="natural")
    assert together.messages == apart.messages == 56
    assert together.link_s.sum() > 0
    assert together.time_s < apart.time_s


LAPLACE_QUICK = [(16, (4, 2), 3), (13, (2, 3), 2), (13, (4, 1), 2), (9, (1, 4), 2), (10, (3, 5), 1), (64, (8, 8), 2)]
LAPLACE_LONG = list(product((15, 16, 17, 33, 64, 256), ((1, 1), (2, 1), (4, 4), (7, 1), (1, 16), (3, 5)), (2,)))


@pytest.mark.parametrize(("n", "grid", "repeat"), with_both(LAPLACE_QUICK, LAPLACE_LONG))
def test_laplace_sends_every_element_that_is_read_and_waits_as_the_law_says(n, grid, repeat):
    point_s = 2.3e-6
    steps = laplace_steps(n, grid, repeat, point_s)
    procs = grid[0] * grid[1]
    result = simulate("laplace", procs, n=n, grid=grid, repeat=repeat, point_s=point_s)
    assert (result.messages, result.bytes) == sent(steps)
    assert_same(result.end_s, replay(steps, IPSC860, gray_nodes(grid)))
    assert_same(result.compute_s.sum(), repeat * point_s * (n - 2) ** 2)
    assert_same(result.end_s, result.compute_s + result.send_s + result.blocked_s)
    together = simulate("laplace", procs, n=n, grid=grid, repeat=repeat, point_s=point_s, exchange="concurrent")
    assert (together.messages, together.bytes) == sent(steps)
    assert together.time_s <= result.time_s * (1 + 1e-12)


def test_laplace_with_one_slow_rank_delays_its_neighbours_first():
    even = simulate("laplace", 16, n=64, repeat=1, point_s=1e-6)
    slow = simulate("laplace", 16, n=64, repeat=1, point_s=1e-6, slow_rank=5, slow_s=0.1)
    assert_same(slow.time_s - even.time_s, 0.1)
    assert slow.end_s[15] < 0.1
    assert_allclose(slow.waiting_s[[1, 4, 6, 9]], 0.1, rtol=0.02)
    always = simulate("laplace", 16, n=64, repeat=3, point_s=1e-6, slow_rank=5, slow_s=0.1, slow_when="all")
    assert always.time_s > 0.3


def test_laplace_reduces_once_an_iteration():
    plain = simulate("laplace", 8, n=32, repeat=4, distribution="xb")
    reduced = simulate("laplace", 8, n=32, repeat=4, distribution="xb", reduce="yes")
    assert reduced.messages - plain.messages == 4 * 8 * 3
    assert reduced.bytes - plain.bytes == 4 * 8 * 3 * 8


def gauss_steps(n, procs, owner_of, divide_s, update_s):
    """Elimination, column by column, by enumeration of the columns of each rank (tree by xor)."""
    steps = [[] for _ in range(procs)]
    for k in range(n - 1):
        rows, owner = n - 1 - k, owner_of[k]
        steps[owner].append(("charge", 0, rows * divide_s))
        for rank, tree in enumerate(bcast_steps(procs, 0, 8.0 * rows)):
            steps[rank ^ owner] += [(what, int(partner ^ owner), size) for what, partner, size in tree]
        for rank in range(procs):
            columns = np.count_nonzero(owner_of[k + 1 :] == rank)
            steps[rank].append(("charge", 0, rows * columns * update_s))
    return steps


@pytest.mark.parametrize(
    ("n", "procs", "columns"),
    with_both(
        [(20, 4, "cyclic"), (21, 8, "block"), (9, 1, "cyclic")],
        list(product((16, 50, 100), (2, 8, 32), ("cyclic", "block"))),
    ),
)
def test_gauss_broadcasts_every_column_from_its_owner(n, procs, columns):
    owner_of = np.arange(n) % procs if columns == "cyclic" else owners(n, procs)
    steps = gauss_steps(n, procs, owner_of, 1e-6, 2e-7)
    result = simulate("gauss", procs, n=n, columns=columns, tree="xor", mapping="natural", divide_s=1e-6, update_s=2e-7)
    assert (result.messages, result.bytes) == sent(steps)
    assert_same(result.end_s, replay(steps, IPSC860, range(procs)))


@pytest.mark.parametrize(("n", "procs"), with_both([(16, 8), (5, 4), (10, 1)], list(product((7, 100), (2, 3, 16, 64)))))
def test_pipeline_goes_from_block_to_block(n, procs):
    blocks = np.bincount(owners(n, procs), minlength=procs)
    blocks = blocks[blocks > 0]
    result = simulate("pipeline", procs, n=n, point_s=1e-6)
    steps = [
        [("recv", rank - 1, 8)] * (rank > 0)
        + [("charge", 0, block * 1e-6)]
        + [("send", rank + 1, 8)] * (rank + 1 < len(blocks))
        for rank, block in enumerate(blocks)
    ]
    assert_same(result.time_s, n * 1e-6 + (len(blocks) - 1) * IPSC860.time_s(8, 1))
    assert_same(result.end_s[: len(blocks)], replay(steps, IPSC860, gray_nodes([procs])))
    assert result.messages == len(blocks) - 1


@pytest.mark.parametrize(
    ("program", "parameters"),
    [
        ("shift", {"bytes": 100}),
        ("shift", {"bytes": 100, "periodic": "yes"}),
        ("bcast", {"bytes": 100}),
        ("allreduce", {}),
        ("laplace", {"n": 10, "repeat": 2}),
        ("gauss", {"n": 10}),
        ("transpose", {"bytes": 100}),
        ("pipeline", {"n": 10}),
    ],
    ids=str,
)
def test_one_processor_communicates_nothing(program, parameters):
    result = simulate(program, 1, **parameters)
    assert (result.time_s, result.messages, result.bytes) == (0, 0, 0)


def test_results_are_the_same_bit_for_bit():
    first, second = (
        simulate("laplace", 32, n=100, repeat=5, point_s=1e-6, exchange="concurrent", reduce="yes") for _ in range(2)
    )
    assert first.end_s.tolist() == second.end_s.tolist()
    assert first.waiting_s.tolist() == second.waiting_s.tolist()


# Errors, and what needs no simulator


def test_a_deadlock_and_a_lost_message_are_errors():
    with pytest.raises(SimulatorError, match=r"(?i)deadlock"):
        simulate_script(2, [(0, "recv", 1, 8), (1, "recv", 0, 8)])
    with pytest.raises(SimulatorError, match="never received"):
        simulate_script(2, [(0, "send", 1, 8)])
    with pytest.raises(SimulatorError, match="unknown operation jump"):
        simulate_script(2, [(0, "jump", 1, 8)])


@pytest.mark.parametrize(
    ("program", "settings", "complaint"),
    [
        ("shove", {}, "no node program"),
        ("shift", {}, "needs bytes"),
        ("shift", {"bytes": 8, "speed": 3}, "takes no speed"),
        ("shift", {"bytes": 8, "grid": (3,)}, "no grid of 4"),
        ("shift", {"bytes": 8, "mapping": (0, 1, 1, 2)}, "different nodes"),
        ("shift", {"bytes": 8, "distribution": "bx"}, "no distribution"),
        ("shift", {"bytes": 8, "ties": -1}, "not negative"),
        ("laplace", {"n": 8, "grid": (2, 2), "distribution": "bx"}, "does not suit"),
    ],
)
def test_wrong_use_is_told(program, settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        simulate(program, 4, **settings)


def test_a_missing_simulator_is_told(monkeypatch):
    from tests.truth.simgrid import runner

    monkeypatch.setenv("PATH", "")
    runner.build.cache_clear()
    with pytest.raises(SimulatorError, match="install SimGrid"):
        simulate("shift", 2, bytes=8)


@pytest.mark.parametrize("grid", [(1,), (8,), (4, 2), (3, 5), (2, 3, 4), (7,), (1, 4)])
def test_grid_neighbours_are_linked(grid):
    nodes = gray_nodes(grid)
    assert len(set(nodes)) == len(nodes) == np.prod(grid)
    shaped = np.array(nodes).reshape(grid, order="F")
    for axis in range(len(grid)):
        steps = np.bitwise_xor(np.take(shaped, range(grid[axis] - 1), axis), np.delete(shaped, 0, axis))
        assert all(int(step).bit_count() == 1 for step in steps.ravel())


def test_gray_nodes_by_hand():
    assert gray_nodes([8]) == (0, 1, 3, 2, 6, 7, 5, 4)
    assert gray_nodes([4, 2]) == (0, 1, 3, 2, 4, 5, 7, 6)
    assert gray_nodes([3, 2]) == (0, 1, 3, 4, 5, 7)


@pytest.mark.parametrize(("procs", "grid"), [(1, (1, 1)), (6, (3, 2)), (7, (7, 1)), (8, (4, 2)), (64, (8, 8))])
def test_default_grids(procs, grid):
    assert near_square(procs) == grid


def test_impossible_laws_are_refused():
    tiny = Protocol(startup_s=1e-6, byte_s=1e-6, hop_s=0)
    with pytest.raises(ValueError, match="start-up must cover"):
        Law(short=tiny, long=tiny, threshold_bytes=100)
    with pytest.raises(ValueError, match="'circuit' or 'fluid'"):
        options(IPSC860, link="wireless")
    assert "TORUS" not in platform_xml(IPSC860, 0)
