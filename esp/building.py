"""Node programs as files: emitted, written to a folder, compiled."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.mapping.layout import Layouts
from aag.running import held
from aag.spmd.emit import HEAD, Emission, Nodes, NotEmitted, emit
from esp import api
from esp.errors import UnreadableFileError, UsageError, reason
from esp.tools import call, tool
from esp.traces.record import about_of
from esp.traces.text import header
from sag.machine import NetworkCosts
from sag.scenario import export
from sag.unit import System

LISTED = "docs/emit.md lists what cannot be compiled"
HINT = f"`esp run` still predicts the program; {LISTED}"
UNREAD = ("W107",)
"""Declarations that are not used."""
OTHERWISE = "Choose another folder with -o (esp validate: --keep)."


def emitted(
    source: api.Source, system: System, request: api.Request, *, traces: bool = False, native: bool = False
) -> Emission:
    """The sources of a program's node program, with the collectives of a machine. `traces`: it can write traces;
    `native`: its collectives are MPI's own.

    Raises:
        aag.diagnostics.SourceError: mapping or values prevent it, or parts of the program cannot be written as Fortran.
    """
    stages = api.lower_source(source, system, request)
    return emitted_of(stages, system, request, traces=traces, native=native)


def emitted_of(
    stages: api.Stages,
    system: System,
    request: api.Request,
    *,
    poisons: bool = False,
    traces: bool = False,
    simulated: bool = False,
    native: bool = False,
) -> Emission:
    """As `emitted`, where the program is lowered already. `simulated`: for SimGrid's SMPI."""
    network = export(system, request.scenario).network
    trace = tuple(header(about_of(stages, "executed", system.name))) if traces else ()
    algorithms, nodes = on_network(network, stages.node_program.layouts)
    try:
        return emit(
            stages.node_program,
            algorithms,
            poisons=poisons,
            trace=trace,
            simulated=simulated,
            native=native,
            unread=_unread(stages),
            nodes=nodes,
            links=stages.source.links,
        )
    except NotEmitted as problem:
        last = len(problem.diagnostics) - 1
        hint = HINT if stages.node_program.complete else LISTED
        told = (replace(each, hint=hint) if at == last else each for at, each in enumerate(problem.diagnostics))
        raise NotEmitted(told) from None


def on_network(network: NetworkCosts | None, layouts: Layouts) -> tuple[dict[str, str], Nodes]:
    """How the collectives of a program are done, and where its processors sit."""
    if network is None:
        return {}, Nodes()
    algorithms = {name: how.algorithm for name, how in network.collectives.items()}
    algorithms["exchange"] = network.exchange
    grid = layouts.grid.shape or (layouts.procs,)
    place = network.topology.place(grid).tolist()
    of = () if place == list(range(len(place))) else tuple(place)
    return algorithms, Nodes(box=network.topology.box(network.topology.size(grid)), of=of)


def _unread(stages: api.Stages) -> list[Diagnostic]:
    """What reading told of declarations that it left out, and BLOCK DATA with values that are not those of the main
    program: the node program knows nothing of them."""
    unit = stages.node_program.unit
    program = stages.source.program
    found = [
        each
        for each in program.diagnostics
        if each.code in UNREAD
        and each.span.file == unit.span.file
        and unit.span.line <= each.span.line <= unit.end.line
    ]
    outside = [
        Diagnostic(code="E601", message="BLOCK DATA", span=each.span)
        for each in program.units
        if each.kind == "block_data"
        and any(entity.initial is not None and "parameter" not in entity.attributes for entity in each.entities)
    ]
    return [*found, *outside]


def write(emission: Emission, folder: Path, like: Path | None = None) -> None:
    """Write all sources; files that are the same stay untouched, so that make does no needless work. `like`: a folder
    with another node program, whose compiled run-time library is taken over where it is the same.

    Raises:
        UsageError: something there that esp did not write has the same name; nothing is written then.
        UnreadableFileError: the folder cannot be written to.
    """
    try:
        _spare(emission, folder)
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
        raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=str(folder)) from None


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make a folder if it is missing, and keep other processes of esp from writing and building in it.

    Raises:
        UsageError: one is at it.
        UnreadableFileError: the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=str(folder)) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what = "another esp is building in this folder."
            raise UsageError(what, where=str(folder), hint=f"Wait for it to finish. {OTHERWISE}") from None
        except OSError:  # a file system without locks
            pass
        with held(descriptor):
            yield
    finally:
        os.close(descriptor)


def _spare(emission: Emission, folder: Path) -> None:
    """Refuse to overwrite what others wrote: a source without our head, or with no such source beside it a file that
    the compiler would make of one."""
    foreign = []
    for name, text in emission.files.items():
        path = folder / name
        if path.exists():
            foreign += [] if _is_ours(path, text) else [path]
            continue
        made = [path.with_suffix(each) for each in (".o", ".mod")] if path.suffix else [folder / "esp_compiler"]
        made += [folder / emission.name] if path.stem == emission.name else []
        foreign += [each for each in made if each.exists()]
    if foreign:
        others = f" (and {len(foreign) - 1} more)" if len(foreign) > 1 else ""
        raise UsageError(
            f"esp would overwrite this file, which it did not write{others}.", where=str(foreign[0]), hint=OTHERWISE
        )


def _is_ours(path: Path, text: str) -> bool:
    if not path.is_file():
        return False
    first = path.read_text(errors="replace").partition("\n")[0]
    return first[2:] == HEAD or path.read_text(errors="replace") == text


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
