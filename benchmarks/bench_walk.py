"""The engine alone: loops that repeat, loops that do not, and many scenarios in one walk."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import LAPLACE, ROOT, Figure, calls
from esp import api
from sag.scenario import Scenario
from sag.unit import System

GAUSS = ROOT / "benchmarks_hpf" / "gauss.hpf"
SCENARIOS = (40, 25)


def figures() -> Iterator[Figure]:
    """Iterations and scenarios: the time of many over the time of few."""
    source, system = api.read_source(str(LAPLACE)), api.load_machine("ipsc860")
    short, long = (api.Request(procs=8, values={"k": k}) for k in (100, 10_000))
    few, many = (api.lower_source(source, system, request) for request in (short, long))
    walked = api.interpret_stages(many, system, long).iterations_walked
    hundred, ten_thousand = calls(
        9, lambda: api.interpret_stages(few, system, short), lambda: api.interpret_stages(many, system, long)
    )
    yield Figure("walk of 10,000 iterations over that of 100", ten_thousand / hundred, "x", 1.1)
    yield Figure("  iterations walked of 10,000", walked, "")
    bandwidth, load = np.meshgrid(np.linspace(0.5, 4.0, SCENARIOS[0]), np.linspace(0.0, 0.6, SCENARIOS[1]))
    swept = api.Request(procs=8, scenario=Scenario(bandwidth=bandwidth.ravel(), load=load.ravel()))
    single = api.Request(procs=8)
    stages = api.lower_source(source, system, single)
    one, thousand = calls(
        9, lambda: api.interpret_stages(stages, system, single), lambda: api.interpret_stages(stages, system, swept)
    )
    yield Figure("one prediction of laplace_bb, P = 8, when all is loaded", 1e3 * one, "ms")
    yield Figure("1,000 scenarios of bandwidth and load over one", thousand / one, "x", 6)
    yield from _triangle(system)


def _triangle(system: System) -> Iterator[Figure]:
    """A loop whose iterations differ, each of which is walked, against one whose iterations are walked on request.
    What is known of a program is kept with it: the first prediction is that of a program lowered anew."""
    gauss, laplace = api.read_source(str(GAUSS)), api.read_source(str(LAPLACE))
    differing, alike = api.Request(procs=8), api.Request(procs=8, values={"k": 100}, unroll=True)
    stages = api.lower_source(gauss, system, differing)
    walked = api.interpret_stages(stages, system, differing).iterations_walked
    plain = api.lower_source(laplace, system, alike)
    unrolled = api.interpret_stages(plain, system, alike).iterations_walked
    lowering, first, again, other = calls(
        5,
        lambda: api.lower_source(gauss, system, differing),
        lambda: api.interpret_stages(api.lower_source(gauss, system, differing), system, differing),
        lambda: api.interpret_stages(stages, system, differing),
        lambda: api.interpret_stages(plain, system, alike),
    )
    first -= lowering
    ratio = first / walked / (other / unrolled)
    yield Figure("an iteration of gauss, P = 8, over a walked one of laplace_bb", ratio, "x")
    yield Figure("gauss again, on another network for example, over its first time", again / first, "x", 0.5)
