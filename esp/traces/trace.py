"""A trace in memory: events as columns, and the table of the AAUs that they belong to."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KINDS = ("compute", "overhead", "send", "receive", "wait", "library", "io")
"""What a processor can be busy with; the code of a kind is its place here.

`compute` and `overhead` are those of Def 2. `send` and `receive` are one message each, seen from its two ends; `wait`
is time for a partner, a link or the last processor; `library` is run-time software that belongs to no single message;
`io` is the link to the host.
"""

COMPUTE, OVERHEAD, SEND, RECEIVE, WAIT, LIBRARY, IO = range(len(KINDS))

NOBODY = -1
"""The partner of an event that has none."""


class TracePlace(Struct, frozen=True, kw_only=True):
    """An AAU as the header of a trace lists it: id, class, source line, and what it is."""

    id: int
    kind: str
    line: int
    label: str


class TraceAbout(Struct, frozen=True, kw_only=True):
    """The header of a trace. `writer`: name and version of what wrote it."""

    writer: str
    origin: Literal["predicted", "executed"]
    program: str
    file: str
    system: str
    procs: int
    grid: tuple[int, ...]
    places: tuple[TracePlace, ...]


class Trace(Struct, frozen=True, kw_only=True, eq=False):
    """Events (N,), those of a rank together and in the order in which they happened, ranks ascending.

    `begin` and `duration` are in seconds from the start of the node programs; `aau` the id of the innermost AAU;
    `kind` an index into `KINDS`; `partner` the rank at the other end, or -1; `size_bytes` of the message, 0 without.
    """

    about: TraceAbout
    rank: Ints
    begin: Floats
    duration: Floats
    aau: Ints
    kind: NDArray[np.int8]
    partner: Ints
    size_bytes: Ints

    @property
    def procs(self) -> int:
        """P."""
        return self.about.procs

    @property
    def end(self) -> Floats:
        """When each event ended."""
        return self.begin + self.duration

    def lines(self) -> Ints:
        """The source line of each event."""
        places = sorted((each.id, each.line) for each in self.about.places)
        ids, lines = np.array(places, np.int64).reshape(-1, 2).T
        return lines[np.searchsorted(ids, self.aau)]

    def rows(
        self, begin: Floats | Ints, end: Floats | Ints, part: slice = slice(None)
    ) -> Iterator[tuple[int, Any, Any, int, int, int, int]]:
        """Rank, `begin`, `end`, AAU, kind, partner and bytes of each event of a part. `begin` and `end` are the columns
        of a format, in its unit; a duration can take the place of `end`."""
        columns = (self.rank, begin, end, self.aau, self.kind, self.partner, self.size_bytes)
        return zip(*(each[part].tolist() for each in columns), strict=True)

    def is_kind(self, kind: int) -> Ints:
        """Positions of the events of a kind."""
        return np.flatnonzero(self.kind == kind)


class UnmatchedError(ValueError):
    """A message was sent and not received, or the other way round, or with another size."""


def messages(trace: Trace) -> tuple[Ints, Ints]:
    """Positions of the send and of the receive event of each message, in the order of the sends.

    Messages between two ranks do not overtake each other (MPI 3.1, section 3.5): the k-th that a sends to b is the
    k-th that b receives from a.

    Raises:
        UnmatchedError: sends and receives do not pair up.
    """
    sends, receives = trace.is_kind(SEND), trace.is_kind(RECEIVE)
    lane = trace.rank[sends] * trace.procs + trace.partner[sends]
    other = trace.partner[receives] * trace.procs + trace.rank[receives]
    by_lane, by_other = np.argsort(lane, kind="stable"), np.argsort(other, kind="stable")
    if sends.size != receives.size or not (lane[by_lane] == other[by_other]).all():
        raise UnmatchedError(f"{sends.size} messages were sent and {receives.size} received, or by others")
    taken = np.empty_like(sends)
    taken[by_lane] = receives[by_other]
    if not (trace.size_bytes[sends] == trace.size_bytes[taken]).all():
        raise UnmatchedError("a message was received with another size than it was sent with")
    return sends, taken
