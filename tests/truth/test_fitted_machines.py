"""Machines fitted to executions on hidden machines, and executions on more processors that they predict.

The node programs run in SMPI and count what they do (`esp.validate.counted`). Each parameter of the hidden machine is
another one, not only each group of them. There are no caches on either side.
"""

from statistics import median

import numpy as np
import pytest

from esp import api
from esp.fit.fitting import fitted
from esp.fit.runs import MeasuredRun
from esp.quantities import kind_of, quantities_of
from esp.request import requested
from esp.validate.counted import counted_program
from sag.scenario import Scenario, export
from tests.esp.fit.test_fitting import HIDDEN

PROGRAMS = {"laplace_bb": (24, 32, 48, 80), "gauss": (16, 24, 32, 48), "nbody": (24, 40, 64, 100)}
PROGRAMS |= {"shallow": (16, 24, 32, 48), "cg": (24, 32, 48, 80)}
PROCS, MORE = (1, 2, 4, 8), (16, 32, 64)
NOISE = 0.03
CACHELESS = {f"cube.node.memory.{name}": "0 us" for name in ("read_miss", "write_miss", "writeback", "tlb_miss")}


def hidden_machine(seed):
    """Each parameter is scaled by the factor of its group and by another one, a third more or less."""
    rng, system = np.random.default_rng(seed), api.load_machine("ipsc860")
    changes = {
        path: f"x{HIDDEN.get(kind_of(name), 1.0) * float(np.exp(0.3 * rng.standard_normal()))!r}"
        for name, paths in quantities_of(system).items()
        for path in paths
    }
    return export(system, Scenario(sets=tuple({**changes, **CACHELESS}.items()), io=False))


def executed_s(program, n, procs, truth, folder, before, rng):
    source, system = api.read_source(f"{program}.hpf"), api.load_machine("ipsc860")
    request = api.Request(procs=procs, values={"n": n}, scenario=Scenario(io=False))
    stages = api.lower_source(source, system, request)
    place = folder / f"{program}-{n}-{procs}"
    made = counted_program(stages, system, request, place, before[-1] if before else None)
    before.append(place)
    return float(made.run(truth, speed=float(np.exp(NOISE * rng.standard_normal()))).execution.time_s)


def check(program, sizes, procs, more, folder, worst):
    truth, rng, before = hidden_machine(len(program)), np.random.default_rng(4), []
    runs = [
        MeasuredRun(
            program="",
            processors=p,
            values={"n": n},
            time_s=executed_s(program, n, p, truth, folder, before, rng),
            line=2,
        )
        for n in sizes
        for p in procs
    ]
    wanted = [MeasuredRun(program="", processors=p, values={"n": n}, time_s=0.0, line=0) for n, p in more]
    request = requested(None, io=False, system_set=CACHELESS)
    found = fitted(runs, api.read_source(f"{program}.hpf"), api.load_machine("ipsc860"), request, wanted)
    errors, inside, widths = [], 0, []
    for each, (n, p) in zip(found.forecasts, more, strict=True):
        time_s = executed_s(program, n, p, truth, folder, before, rng)
        errors.append(each.time_s / time_s - 1)
        inside += each.low_s <= time_s <= each.high_s
        widths.append(each.high_s / each.low_s - 1)
        described = each.described_s / time_s - 1
        print(
            f"| {program} n={n} P={p} | {described:+.1%} | {errors[-1]:+.1%} | {each.low_s / time_s - 1:+.1%} to "
            f"{each.high_s / time_s - 1:+.1%} |"
        )
    assert median(map(abs, errors)) <= worst
    assert inside >= len(more) - len(more) // 5  # of 95 % intervals
    assert median(widths) <= 0.25


@pytest.mark.truth
def test_a_hidden_machine(tmp_path):
    check("lfk03", (100, 400, 1600), (1, 2, 4), [(3200, 8)], tmp_path, 0.06)


@pytest.mark.truth
@pytest.mark.parametrize("program", PROGRAMS)
def test_hidden_machines(program, tmp_path):
    """Up to 64 processors, and four times the size."""
    sizes = PROGRAMS[program]
    more = [*((sizes[-1], p) for p in MORE), *((4 * sizes[-1], p) for p in (8, 64))]
    check(program, sizes, PROCS, more, tmp_path, 0.05)
