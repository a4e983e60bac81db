"""Node programs: how long writing them takes, and a prediction beside SimGrid running the program.

Building is not counted on either side. SMPI runs the emitted program with its data and its own messages; the
prediction is that of `esp run`, from the lowered program on and from the program as read on.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import Figure, calls
from esp import api
from esp.building import build, emitted_of, write
from esp.locate import program_names
from esp.validate.blocks import predicted_blocks
from esp.validate.simgrid import FLAGS, after_s, interconnect, simulate
from sag.scenario import Scenario, export

PROCS = (8, 64, 512, 1024)
VALUES = {"n": 256, "k": 10}
"""The Jacobi sweep of laplace_bb: no collective but the sum at the end."""


def figures() -> Iterator[Figure]:
    """Emission of every benchmark, then the ratios."""
    system = api.load_machine("ipsc860")
    for name in program_names():
        request = api.Request(procs=8)
        stages = api.lower_source(api.read_source(name), system, request)
        (spent,) = calls(9, lambda stages=stages, request=request: emitted_of(stages, system, request))
        yield Figure(f"emission of {name} for 8 processors", 1e3 * spent, "ms", 100)
    if shutil.which("smpirun") is None or shutil.which("smpif90") is None:
        return  # SimGrid is not needed for anything else here
    with TemporaryDirectory() as folder:
        for procs in PROCS:
            yield from _beside(procs, Path(folder))


def _beside(procs: int, folder: Path) -> Iterator[Figure]:
    system = api.load_machine("ipsc860")
    request = api.Request(procs=procs, values=VALUES, scenario=Scenario(io=False))
    source = api.read_source("laplace_bb")
    stages = api.lower_source(source, system, request)
    machine = export(system, request.scenario)
    _, blocks = predicted_blocks(stages, machine, request)
    wires = interconnect(machine, stages, blocks)
    emission = emitted_of(stages, system, request, simulated=True)
    place = folder / str(procs)
    write(emission, place)
    build(place, FLAGS, compiler="smpif90")
    after = after_s(machine, blocks, wires)
    runs = 3 if procs < 512 else 1
    simulated = _wall(runs, lambda: simulate(place / emission.name, blocks, wires, after))
    interpreted = _wall(5, lambda: api.interpret_stages(stages, system, request))
    whole = _wall(5, lambda: api.interpret_stages(api.lower_source(source, system, request), system, request))
    title = f"laplace_bb n=256 k=10 P={procs}"
    yield Figure(f"{title}: SMPI, {int(blocks.sends.sum())} messages", 1e3 * simulated, "ms")
    yield Figure(f"{title}: prediction, lowering included", 1e3 * whole, "ms")
    yield Figure("  SMPI over prediction", simulated / whole, "x")
    yield Figure("  SMPI over interpretation alone", simulated / interpreted, "x")


def _wall(runs: int, action: Callable[[], object]) -> float:
    """The median, on the wall."""
    spent = []
    for _ in range(runs):
        began = time.perf_counter()
        action()
        spent.append(time.perf_counter() - began)
    return median(spent)
