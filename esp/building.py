"""Node programs as files: emitted, written to a folder, compiled."""

import os
import shutil
from pathlib import Path

from aag.spmd.emit import Emission, NotEmitted, emit
from esp import api
from esp.errors import PredictionError, UnreadableFileError
from esp.tools import call, tool
from esp.traces.record import about_of
from esp.traces.text import header
from sag.scenario import export
from sag.unit import System


def emitted(
    source: api.Source, system: System, request: api.Request, *, poisons: bool = False, traces: bool = False,
    native: bool = False,
) -> Emission:
    """The sources of a program's node program, with the collectives of a machine. `traces`: it can write traces;
    `native`: its collectives are MPI's own.

    Raises:
        PredictionError: a part of the program cannot be written as Fortran.
        aag.diagnostics.SourceError: mapping or values prevent it.
    """
    stages = api.lower_source(source, system, request)
    return emitted_of(stages, system, request, poisons=poisons, traces=traces, native=native)


def emitted_of(
    stages: api.Stages, system: System, request: api.Request, *, poisons: bool = False, traces: bool = False,
    simulated: bool = False, native: bool = False,
) -> Emission:
    """As `emitted`, where the program is lowered already. `simulated`: for SimGrid's SMPI."""
    network = export(system, request.scenario).network
    described = {} if network is None else network.collectives
    trace = tuple(header(about_of(stages, "executed", system.name))) if traces else ()
    algorithms = {name: how.algorithm for name, how in described.items()}
    if network is not None:
        algorithms["exchange"] = network.exchange
    try:
        return emit(stages.node_program, algorithms, poisons=poisons, trace=trace, simulated=simulated, native=native)
    except NotEmitted as problem:
        where = f"{stages.node_program.file}:{problem.line}"
        raise PredictionError(f"this cannot be compiled: {problem.reason}.", where=where) from None


def write(emission: Emission, folder: Path, like: Path | None = None) -> None:
    """Write all sources; files that are the same stay untouched, so that make does no needless work. `like`: a folder
    with another node program, whose compiled run-time library is taken over where it is the same.

    Raises:
        UnreadableFileError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if like is not None and like != folder:
            for path in (*like.glob("esp_*"), *like.glob("*.mod")):
                if not (folder / path.name).exists():
                    shutil.copy2(path, folder)
        for name, text in emission.files.items():
            path = folder / name
            if not path.is_file() or path.read_text() != text:
                path.write_text(text)
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {error.strerror}.", where=str(folder)) from None


def compiler_of_mpi() -> str:
    """What compiles Fortran with MPI: the user says which with MPIFC, as for make."""
    return os.environ.get("MPIFC", "mpif90")


def launcher_of_mpi() -> str:
    """What starts programs with MPI: the user says which with MPIRUN, as for make."""
    return os.environ.get("MPIRUN", "mpirun")


def build(folder: Path, *settings: str, compiler: str = "") -> None:
    """Compile the sources in a folder. `settings`: variables for make, such as ``FFLAGS=-g``; `compiler`: what their
    Makefile calls, where it is not that of MPI.

    Raises:
        PredictionError: a tool is missing, or the compiler finds an error.
    """
    tool(compiler or compiler_of_mpi())
    call([tool("make"), "-s", "-C", str(folder), *settings], "the node program does not compile")
