"""Runs of a program on a simulated machine: it counts what it does, whatever esp predicts."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from esp.api import Request, Source, lower_source
from esp.tools import tool
from esp.validate.counted import CountedProgram, counted_program
from esp.validate.simgrid import TOOLS
from sag.scenario import export
from sag.unit import System


def executions(
    source: Source, system: System, request: Request, name: str, truth: System, folder: Path
) -> Callable[[int, int], float]:
    """A function of the number of processors and the size that runs the program and says how long it takes.

    Args:
        source: the program.
        system: the machine as it is described, for which node programs are written.
        request: all else that is asked for.
        name: the PARAMETER that is the size.
        truth: the machine on which it runs. The runs have no caches.
        folder: for sources and executables.

    Raises:
        PredictionError: a tool is missing.
    """
    for each in TOOLS:
        tool(each)
    machine = export(truth, request.scenario)
    made: list[CountedProgram] = []

    def executed(procs: int, size: int) -> float:
        asked = replace(request, procs=procs, values={**request.values, name: size})
        stages = lower_source(source, system, asked)
        place = folder / f"{procs}-{size}"
        program = counted_program(stages, system, asked, place, made[-1].folder if made else None)
        made.append(program)
        return float(program.run(machine).execution.time_s)

    return executed
