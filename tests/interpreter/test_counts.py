"""Counts times figures are the time (Def 21): held against a listener that is told of every second and message."""

import numpy as np
import pytest

from esp import api
from esp.locate import program_names, system_names
from interpreter.counts import COMPUTATION, OVERHEAD, RECEIVING, SENDING
from interpreter.engine import interpret
from interpreter.listeners import Latest, Timekeeper
from interpreter.metrics import COMMUNICATION, WAITING
from interpreter.setting import Setting
from sag.figures import figures_of
from sag.scenario import Scenario, export

PROGRAMS = sorted(program_names())
VALUES = {
    **{name: {"n": 24} for name in ("adi", "cholesky", "floyd", "gauss", "lfk02", "lu", "nbody", "thomas", "trisolve")},
    **{name: {"n": 24} for name in ("givens", "householder", "pt")},
    **{name: {"n": 24, "row": 7} for name in ("gausspivot_array", "gausspivot_do")},
}
"""What data decide, and small sizes for programs whose loops are walked one iteration after the other."""
SYSTEMS = system_names()
SCENARIO = Scenario(load=["0%", "30%"], latency=["x1", "x3"], processor_speed=["x1", "x2"])


class Told(Timekeeper):
    """A listener that adds up what it is told, by AAU and processor: seconds of each category, those of receivers
    alone, and what the messages that they receive take whole, by the law."""

    def __init__(self, machine, grid):
        self.network = machine.network
        procs = int(np.prod(grid))
        self.shape = (machine.scenarios, procs)
        self.node, self.size = self.network.topology.place(grid), self.network.topology.size(grid)
        self.seconds, self.received, self.whole = {}, {}, {}

    def _of(self, table, key):
        return table.setdefault(key, np.zeros(self.shape))

    def messages(self, aau, name, source, destination, size_bytes, sent, received):
        pairs = set(zip(source.tolist(), destination.tolist(), strict=True))
        hops = self.network.topology.hops(self.node[source], self.node[destination], self.size)
        sizes = np.broadcast_to(size_bytes, source.shape)
        for one, other, size, far in zip(source, destination, sizes, hops, strict=True):
            law = next(each for each in self.network.ranges if size <= each.upto_bytes)
            time = law.call_overhead_s + law.startup_s + law.per_byte_s * size + law.per_hop_s * far
            if (other, one) in pairs:
                time = time * self.network.exchange_factor
            self._of(self.whole, aau)[:, other] += time + law.receive_overhead_s

    def spent(self, aau, category, began, seconds, ranks, traffic, weight):
        every = slice(None) if ranks is None else ranks
        self._of(self.seconds, (aau, category))[:, every] += seconds * weight
        if traffic is not None and traffic.kind == "receive" and category == COMMUNICATION:
            self._of(self.received, aau)[:, every] += seconds * weight


def walked(program, system, procs, scenario):
    """A prediction, and what was told during its walk."""
    described = api.load_machine(system)
    request = api.Request(procs=procs, values=VALUES.get(program, {}))
    stages = api.lower_source(api.read_source(program), described, request)
    machine = export(described, scenario)
    told = Latest(lambda: Told(machine, stages.node_program.layouts.grid.shape or (procs,)))
    setting = Setting(values=VALUES.get(program, {}), force_unroll=True)
    return interpret(stages.node_program, stages.graph, machine, setting, told), told.made


CASES = [
    (program, SYSTEMS[number % len(SYSTEMS)], (1, 3, 4, 6)[number % 4], Scenario() if number % 2 else SCENARIO)
    for number, program in enumerate(PROGRAMS)
]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("program", "system", "procs", "scenario"), CASES, ids=[f"{p}-{s}-{n}" for p, s, n, _ in CASES]
)
def test_counts_times_figures_less_hidden_and_waiting_are_the_time(program, system, procs, scenario):
    """Of each AAU and processor; what is hidden is worked out here, from the law and what receivers spent."""
    got, told = walked(program, system, procs, scenario)
    time, total = got.time_s.max(), np.zeros(told.shape)
    none = np.zeros(told.shape)
    for each in got.aaus:
        spent = [told.seconds.get((each.id, category), none) for category in range(4)]
        own = {
            kind: got.counts.seconds((each.id,), kind) + none for kind in (COMPUTATION, OVERHEAD, SENDING, RECEIVING)
        }
        np.testing.assert_allclose(own[COMPUTATION], spent[COMPUTATION], rtol=0, atol=1e-9 * time)
        np.testing.assert_allclose(own[OVERHEAD], spent[OVERHEAD], rtol=0, atol=1e-9 * time)
        np.testing.assert_allclose(own[RECEIVING], told.whole.get(each.id, none), rtol=0, atol=1e-9 * time)
        hidden = told.whole.get(each.id, none) - told.received.get(each.id, none)
        assert hidden.min() > -1e-9 * time
        net = own[SENDING] + own[RECEIVING] - hidden
        np.testing.assert_allclose(net, spent[COMMUNICATION], rtol=0, atol=1e-9 * time)
        np.testing.assert_allclose(each.hidden_s, hidden.mean(axis=1), rtol=0, atol=1e-9 * time)
        total += sum(own.values()) - hidden + spent[WAITING]
    np.testing.assert_allclose(total, got.time_s[:, None] + none, rtol=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS[::3])
def test_counts_of_one_prediction_price_every_other_machine(program):
    """One processor, so that nothing waits: each figure that is paid is changed in a scenario of its own."""
    values = VALUES.get(program, {})
    base = api.predict(program, "ipsc860", 1, set=values)
    paths = [each.figure.path for each in base.counts.of()]
    paths = sorted(set(paths))
    sets = {path: [f"x{1.0 + (one == other) * 0.37}" for other in range(len(paths))] for one, path in enumerate(paths)}
    changed = api.predict(program, "ipsc860", 1, set=values, system_set=sets)
    machine = export(api.load_machine("ipsc860"), Scenario(sets=tuple(sets.items())))
    new = {figure.path: figure.seconds for figure in figures_of(machine).values()}
    again = sum(each.mean * new[each.figure.path] for each in base.counts.of())
    np.testing.assert_allclose(again, changed.time_s, rtol=1e-9)
    assert (again > base.time_s).all()


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS[1::3])
def test_computation_and_overhead_of_all_lines_follow_from_the_counts_of_one_machine(program):
    """Clocks, messages and their order change with the figures, counts do not."""
    values, slow = (
        VALUES.get(program, {}),
        Scenario(load="40%", latency="x4", processor_speed="x3", memory_speed="x0.5"),
    )
    base = api.predict(program, "ipsc860-f90d", 4, set=values)
    other = api.predict(
        program, "ipsc860-f90d", 4, set=values, load="40%", latency="x4", processor_speed="x3", memory_speed="x0.5"
    )
    new = {
        figure.path: figure.seconds for figure in figures_of(export(api.load_machine("ipsc860-f90d"), slow)).values()
    }
    for one, two in zip(base.aaus, other.aaus, strict=True):
        mine, theirs = base.counts.of((one.id,)), other.counts.of((two.id,))
        assert [(a.figure.path, a.paid) for a in mine] == [(b.figure.path, b.paid) for b in theirs]
        np.testing.assert_allclose([a.mean for a in mine], [b.mean for b in theirs], rtol=1e-12)
        for kind, seconds in (("computation", two.parts.computation_s), ("overhead", two.parts.overhead_s)):
            again = sum((each.mean * new[each.figure.path] for each in mine if each.paid == kind), start=np.zeros(1))
            np.testing.assert_allclose(again, seconds, rtol=1e-9, atol=1e-15)
