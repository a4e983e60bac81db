"""Collectives against closed forms, direct simulations of who has what, and messages that a person can count."""

from math import log2, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aag.graph.aau import Work
from interpreter.models.collective import KINDS, stages
from sag.schema import COLLECTIVES
from sag.topology import Hypercube
from tests.interpreter.hand import US, Hand, additive, collective, law, machine


class Natural(Hypercube):
    """A hypercube with rank i on node i."""

    def place(self, grid):
        return np.arange(int(np.prod(grid)))


def time_of(kind, procs, size, **options):
    hand = Hand(procs)
    got = hand.run(hand.comm(collective(kind, procs, size)), on=machine(topology=Natural(), **options))
    additive(got)
    return got


@pytest.mark.parametrize("procs", [2, 4, 8, 16, 64])
@pytest.mark.parametrize("size", [8, 100, 101, 4096])
def test_closed_forms_in_natural_order(procs, size):
    """All ranks start at the same instant (figures of the simulator, error 0.00 %)."""
    d = int(log2(procs))
    assert time_of("reduction", procs, size).time_s[0] == pytest.approx(d * law(size, 1))
    assert time_of("broadcast", procs, size).time_s[0] == pytest.approx(d * law(size, 1))
    assert time_of("barrier", procs, 0).time_s[0] == pytest.approx(d * law(0, 1))
    doubling = sum(law(size << i, 1) for i in range(d))
    assert time_of("concatenation", procs, size).time_s[0] == pytest.approx(doubling)
    assert time_of("gather", procs, size).time_s[0] == pytest.approx(doubling)


@pytest.mark.parametrize(("procs", "expected"), [(8, 4190.5), (64, 40276.7)])
def test_pairwise_transpose_of_the_simulator(procs, expected):
    """1 KB to each partner: sum of t(m, popcount s) for s = 1 .. P - 1; figures in microseconds."""
    got = time_of("transpose", procs, 1024 * procs)
    assert got.time_s[0] / US == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize(("procs", "expected"), [(8, 235.2), (64, 470.4)])
def test_reduction_of_one_word_of_the_simulator(procs, expected):
    assert time_of("reduction", procs, 8).time_s[0] / US == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize("procs", [2, 8, 16])
@pytest.mark.parametrize("size", [8, 4096])
def test_linear_gather_is_held_up_by_the_busiest_link(procs, size):
    """Half of all senders share the root's link of the highest dimension: o + c + (P/2) b m (startup sends)."""
    a, b, c = (65, 0.425, 10) if size <= 100 else (147, 0.39, 30.5)
    got = time_of("gather", procs, size, send="startup", algorithms={"gather": "linear"})
    expected = max((a + c + procs / 2 * b * size) * US, law(size, int(log2(procs))))
    assert got.time_s[0] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("procs", [2, 4, 16])
@pytest.mark.parametrize("size", [8, 4096])
def test_binomial_scatter_with_short_sends(procs, size):
    """F(k) = max over j < k of sum_{i<j} o(2^(k-1-i) m) + t(2^(k-1-j) m, 1) + F(k-1-j): the largest part goes first."""

    def startup(m):
        return (65 if m <= 100 else 147) * US

    def finish(k):
        sent, latest = 0.0, 0.0
        for part in reversed(range(k)):
            latest = max(latest, sent + law(size << part, 1) + finish(part))
            sent += startup(size << part)
        return max(latest, sent)

    got = time_of("scatter", procs, size, send="startup")
    assert got.time_s[0] == pytest.approx(finish(int(log2(procs))))


CHOSEN = [kind for kind in KINDS if kind != "scan"]
"""Kinds with algorithms to choose from; a scan has one."""

BOXES = ((), (2, 2, 2, 2, 2), (5, 4), (3, 3, 2))
"""None, a hypercube, meshes."""


ALL = pytest.mark.parametrize(
    ("kind", "algorithm"), [(kind, algorithm) for kind in CHOSEN for algorithm in COLLECTIVES[kind]]
)


@pytest.mark.sampled
@ALL
@settings(max_examples=12)
@given(data=st.data())
def test_everybody_ends_with_what_the_collective_promises(kind, algorithm, data):
    check_promise(kind, algorithm, data)


@pytest.mark.truth
@ALL
@settings(max_examples=300)
@given(data=st.data())
def test_everybody_often_ends_with_what_the_collective_promises(kind, algorithm, data):
    check_promise(kind, algorithm, data)


def check_promise(kind, algorithm, data):
    """Blocks of elements are carried by hand along the stages; a stage must carry as many as it claims. Groups lie
    anywhere in the machine."""
    box = data.draw(st.sampled_from(BOXES))
    groups = data.draw(st.integers(1, 2))
    nodes = data.draw(st.permutations(range(prod(box) if box else 19)))
    procs = data.draw(st.integers(2, len(nodes) // groups))
    node = np.array(nodes)[: groups * procs]
    members = np.array(data.draw(st.permutations(range(groups * procs)))).reshape(groups, procs)
    root = np.zeros(groups, np.int64)
    if kind in ("broadcast", "gather", "scatter"):
        root = np.array(data.draw(st.lists(st.integers(0, procs - 1), min_size=groups, max_size=groups)))
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), min_size=groups * procs, max_size=groups * procs)))
    if kind in ("broadcast", "reduction"):
        for group, column in zip(members, root, strict=True):
            sizes[group] = sizes[group[column]]
    found = list(stages(kind, members, root, sizes[members], algorithm, node=node, box=box))
    for group, column in zip(members.tolist(), root.tolist(), strict=True):
        _promised(kind, algorithm, sizes, group, group[column], found)


def _promised(kind, algorithm, sizes, group, root, found):
    everything = set(group)
    holds = {rank: {rank} for rank in group}
    if kind == "broadcast":
        holds = {rank: ({root} if rank == root else set()) for rank in group}
    if kind == "scatter":
        holds = {rank: (everything if rank == root else set()) for rank in group}
    got = {rank: set() for rank in group}
    for number, stage in enumerate(found):
        before = {rank: set(each) for rank, each in holds.items()}
        assert (stage.source[1:] > stage.source[:-1]).all()
        assert len(set(stage.destination)) == stage.destination.size
        for a, b, size in zip(stage.source, stage.destination, stage.elements, strict=True):
            if a not in everything:
                assert b not in everything
                continue
            got[b].add(a)
            if kind in ("gather", "concatenation") and algorithm not in ("ring", "linear"):
                assert size == sum(sizes[i] for i in before[a])
                holds[b] |= before[a]
            elif kind in ("gather", "concatenation"):
                assert any(sizes[i] == size for i in before[a])
                holds[b] |= before[a] if algorithm == "ring" else {a}
            else:
                holds[b] |= before[a]
            if kind == "scatter":
                below = {b}
                for later in found[number + 1 :]:
                    below |= {d for s, d in zip(later.source, later.destination, strict=True) if s in below}
                assert size == sum(sizes[i] for i in below)
    match kind:
        case "broadcast":
            assert all(holds[rank] == {root} for rank in everything)
        case "scatter" | "reduction" | "concatenation" | "barrier":
            assert all(rank in holds[rank] for rank in everything)
            if kind != "scatter":
                assert all(holds[rank] == everything for rank in everything)
        case "gather":
            assert holds[root] == everything
        case _:
            assert all(got[rank] == everything - {rank} for rank in everything)


@pytest.mark.parametrize(("procs", "messages"), [(2, 2), (3, 4), (5, 10), (6, 12), (8, 24), (12, 32)])
def test_messages_of_a_reduction_where_processors_are_no_power_of_two(procs, messages):
    """2^k ranks exchange in k stages; each of the others sends once and gets the result back (Def 8)."""
    got = time_of("reduction", procs, 8)
    assert (got.messages, got.bytes) == (messages, 8 * messages)


def test_groups_work_at_the_same_time():
    hand = Hand(8)
    got = hand.run(hand.comm(collective("broadcast", 2, 1000, groups=4)), on=machine())
    assert got.time_s[0] == pytest.approx(law(1000, 1))
    assert got.messages == 4


def test_software_is_charged_in_each_stage_to_each_participant():
    hand = Hand(8)
    got = hand.run(hand.comm(collective("reduction", 8, 8)), on=machine(topology=Natural(), software=200 * US))
    assert got.time_s[0] == pytest.approx(3 * (law(8, 1) + 200 * US))
    assert got.parts.communication_s[0] == pytest.approx(got.time_s[0])


def test_combining_is_charged_where_it_is_done():
    hand = Hand(8)
    work = Work(computation=(("op", 1.0),))
    call = collective("reduction", 8, 5, element_bytes=8)
    got = hand.run(hand.reduce(call, work=work), on=machine(topology=Natural()))
    assert got.time_s[0] == pytest.approx(3 * (law(40, 1) + 5 * US))
    np.testing.assert_allclose(got.per_processor.computation_s, 15 * US)


def test_a_slow_processor_holds_up_a_reduction():
    hand = Hand(8)
    got = hand.run(
        hand.compute([0, 0, 0, 5000, 0, 0, 0, 0]),
        hand.comm(collective("reduction", 8, 8)),
        on=machine(topology=Natural()),
    )
    additive(got)
    assert got.time_s[0] == pytest.approx(5000 * US + 3 * law(8, 1))


def test_strided_collectives_are_packed():
    hand = Hand(4)
    got = hand.run(
        hand.comm(collective("concatenation", 4, 10, element_bytes=8, contiguous=False)), on=machine(pack=1 * US)
    )
    np.testing.assert_allclose(got.per_processor.overhead_s, (80 + 240) * US)


def test_every_collective_of_a_machine_has_an_algorithm():
    assert set(CHOSEN) == set(machine().network.collectives)
