"""A trace as an OTF2 archive, which Vampir, Scalasca and others open.

A location for each processor; its AAUs are regions that are entered and left, and so are the kinds of time inside
them; messages are MpiSend and MpiRecv events of a communicator of all. A tick is a picosecond.
Source: the Python bindings of OTF2 (the extra `otf2` of this package).
"""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from esp.errors import PredictionError, UnreadableFileError, reason
from esp.traces.trace import KINDS, RECEIVE, SEND, Floats, Ints, Trace

TICKS = 10**12
"""In a second."""

ARCHIVE = "traces"
"""Name of the archive inside its folder."""


def write_otf2(trace: Trace, folder: Path) -> None:
    """Write an archive into a new folder.

    Raises:
        PredictionError: the package otf2 is not installed.
        UnreadableFileError: the folder exists, or cannot be made.
    """
    try:
        import otf2
    except ImportError:
        raise PredictionError(
            "OTF2 needs the package otf2, which is not installed.", hint="Install it: pip install 'esp-hpf[otf2]'."
        ) from None
    if folder.exists():
        raise UnreadableFileError(
            "exists already; an OTF2 archive is a new folder.", where=str(folder), hint="Choose another name."
        )
    if not folder.parent.is_dir():
        raise UnreadableFileError("cannot be written: no such file or directory.", where=str(folder))
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        _archive(trace, part, otf2)
        part.rename(folder)
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=str(folder)) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _archive(trace: Trace, folder: Path, otf2: Any) -> None:
    begin, end = ticks(trace.begin), ticks(trace.end)
    with otf2.writer.open(str(folder), archive_name=ARCHIVE, timer_resolution=TICKS) as archive:
        archive.creator = trace.about.writer
        definitions = archive.definitions
        root = definitions.system_tree_node(trace.about.system, class_name="machine")
        groups = [
            definitions.location_group(f"processor {rank}", system_tree_parent=root) for rank in range(trace.procs)
        ]
        locations = [definitions.location(f"processor {rank}", group=group) for rank, group in enumerate(groups)]
        writers = [archive.event_writer_from_location(location) for location in locations]
        mpi = otf2.Paradigm.MPI
        definitions.group("locations", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=mpi, members=locations)
        group = definitions.group("all", group_type=otf2.GroupType.COMM_GROUP, paradigm=mpi, members=locations)
        world = definitions.comm("all processors", group=group)
        aaus = {
            each.id: definitions.region(
                f"{each.id} {each.label or each.kind}",
                source_file=trace.about.file,
                begin_line_number=each.line,
                end_line_number=each.line,
            )
            for each in trace.about.places
        }
        kinds = [definitions.region(each) for each in KINDS]
        _events(trace, begin, end, writers, aaus, kinds, world)


def ticks(times: Floats) -> Ints:
    """Seconds as the nearest tick."""
    return np.rint(times * TICKS).astype(np.int64)


def _events(
    trace: Trace, begin: Ints, end: Ints, writers: list[Any], aaus: dict[int, Any], kinds: list[Any], world: Any
) -> None:
    """Write all events; those of a processor do not overlap, not even by rounding."""
    inside: list[int | None] = [None] * trace.procs
    last = [0] * trace.procs
    for rank, began, ended, aau, kind, partner, size in trace.rows(begin, end):
        writer = writers[rank]
        start = max(began, last[rank])
        stop = max(ended, start)
        former = inside[rank]
        if former != aau:
            if former is not None:
                writer.leave(last[rank], aaus[former])
            writer.enter(start, aaus[aau])
            inside[rank] = aau
        writer.enter(start, kinds[kind])
        if kind == SEND:
            writer.mpi_send(start, partner, world, 0, size)
        elif kind == RECEIVE:
            writer.mpi_recv(stop, partner, world, 0, size)
        writer.leave(stop, kinds[kind])
        last[rank] = stop
    for rank, left in enumerate(inside):
        if left is not None:
            writers[rank].leave(last[rank], aaus[left])
