"""The course of events for the timeline: what each processor does when, and the messages between them."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.traces.trace import COMPUTE, IO, LIBRARY, OVERHEAD, RECEIVE, SEND, WAIT, Trace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CATEGORY_OF = {COMPUTE: 0, SEND: 1, RECEIVE: 1, LIBRARY: 1, IO: 1, WAIT: 2, OVERHEAD: 3}
"""Kind of event -> place of its category on the screen."""


class Course(Struct, frozen=True, kw_only=True, eq=False):
    """A trace made ready to be drawn. `first` (P + 1,): where the events of each processor begin; messages (M,) in
    the order in which they were sent."""

    trace: Trace
    category: NDArray[np.int8]
    first: Ints
    end_s: float
    source: Ints
    destination: Ints
    sent: Floats
    received: Floats
    """When the receive returned."""
    size_bytes: Ints
    aau: Ints


def course_of(trace: Trace) -> Course:
    """Sort out a trace: the k-th message that p sends to q is the k-th that q receives from p."""
    table = np.zeros(1 + max(CATEGORY_OF), np.int8)
    for kind, category in CATEGORY_OF.items():
        table[kind] = category
    sends = np.flatnonzero(trace.kind == SEND)
    receives = np.flatnonzero(trace.kind == RECEIVE)
    out, back = _paired(
        trace.rank[sends] * trace.procs + trace.partner[sends],
        trace.partner[receives] * trace.procs + trace.rank[receives],
    )
    sends, receives = sends[out], receives[back]
    order = np.lexsort((trace.rank[sends], trace.begin[sends]))
    sends, receives = sends[order], receives[order]
    end = trace.end
    return Course(
        trace=trace,
        category=table[trace.kind],
        first=np.searchsorted(trace.rank, np.arange(trace.procs + 1)),
        end_s=float(end.max()) if end.size else 0.0,
        source=trace.rank[sends],
        destination=trace.rank[receives],
        sent=trace.begin[sends],
        received=end[receives],
        size_bytes=trace.size_bytes[sends],
        aau=trace.aau[sends],
    )


def _paired(sent: Ints, received: Ints) -> tuple[Ints, Ints]:
    """Places of sends and receives that belong together; what has no partner is left out."""
    by_send, sends = _numbered(sent)
    by_receive, receives = _numbered(received)
    if not sends.size or not receives.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = np.searchsorted(receives, sends).clip(max=receives.size - 1)
    same = receives[at] == sends
    return by_send[same], by_receive[at[same]]


def _numbered(keys: Ints) -> tuple[Ints, Ints]:
    """An order of the keys, and in this order a number for each that tells equal ones apart by how many came before."""
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    begins = np.searchsorted(sorted_keys, sorted_keys)
    return order, sorted_keys * np.int64(2**31) + (np.arange(keys.size) - begins)


def painted(course: Course, rank: int, edges: Floats) -> tuple[Ints, Ints, Floats]:
    """What a processor mostly does between each two edges (seconds), and what it does beside that.

    Args:
        course: of events.
        rank: of the processor.
        edges: (W + 1,), ascending.

    Returns:
        Three times (W,): the place of the category that takes longest, or -1 for nothing; that of the next one; and
        the share of the latter, between 0 and 0.5.
    """
    part = slice(int(course.first[rank]), int(course.first[rank + 1]))
    begin, duration = course.trace.begin[part], course.trace.duration[part]
    if not begin.size:
        nothing = np.full(edges.size - 1, -1)
        return nothing, nothing, np.zeros(edges.size - 1)
    kinds = course.category[part]
    times = np.column_stack((begin, begin + duration)).ravel()
    spent = np.empty((4, edges.size - 1))
    for category in range(4):
        own = np.where(kinds == category, duration, 0.0)
        after = own.cumsum()
        spent[category] = np.diff(np.interp(edges, times, np.column_stack((after - own, after)).ravel()))
    ranked = np.argsort(-spent, axis=0, kind="stable")
    most, next_most = (np.take_along_axis(spent, ranked[at : at + 1], axis=0)[0] for at in (0, 1))
    # What is but a rounding of sums is nothing.
    something = most > 1e-9 * np.diff(edges)
    share = next_most / np.where(something, most + next_most, 1.0)
    return np.where(something, ranked[0], -1), ranked[1], np.where(something, share, 0.0)


def arrivals(course: Course, edges: Floats) -> Ints:
    """(W,) messages that arrive between each two edges."""
    counted, _ = np.histogram(course.received, bins=edges)
    return counted.astype(np.int64)


def seen_messages(course: Course, low_s: float, high_s: float) -> Ints:
    """The messages that are under way at some time between these two, in the order in which they were sent."""
    return np.flatnonzero((course.sent <= high_s) & (course.received >= low_s))


def doing(course: Course, rank: int, time_s: float) -> int | None:
    """The event of a processor at a time; None where it does nothing."""
    low, high = int(course.first[rank]), int(course.first[rank + 1])
    at = low + int(np.searchsorted(course.trace.begin[low:high], time_s, side="right")) - 1
    if at < low or course.trace.begin[at] + course.trace.duration[at] < time_s:
        return None
    return at
