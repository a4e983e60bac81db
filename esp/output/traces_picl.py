"""A trace in the format of PICL 2.0, which ParaGraph shows.

A record is: record type (-3 entry, -4 exit), event type, time in seconds, node, process, number of data fields and,
if there are any, a descriptor of their type (2: integer) and the fields. Events: -901 the trace of a node, -21 a send
(bytes, message type, destination, its process), -52 a blocking receive (entry: type, source, its process; exit: bytes
before these); numbers above 0 are the user's: here AAUs, in which a node is busy.
Source: P. H. Worley, "A New PICL Trace File Format", ORNL/TM-12125 (1992).
"""

from collections.abc import Iterator

import numpy as np

from esp.traces.trace import RECEIVE, SEND, WAIT, Floats, Ints, Trace

TYPE = 1
"""The type of all messages."""

CHUNK = 50_000

DIGITS = 12
"""Of times: picoseconds."""


def picl(trace: Trace) -> Iterator[str]:
    """The records, in the order of time; those of a node at one time in the order in which they happened."""
    rank, time, record = _records(trace)
    order = np.lexsort((np.arange(time.size), rank, np.round(time, DIGITS)))
    for first in range(0, order.size, CHUNK):
        yield "".join(f"{record[at]}\n" for at in order[first : first + CHUNK].tolist())


def _records(trace: Trace) -> tuple[Ints, Floats, list[str]]:
    """Node, time and text of all records, in order for each node."""
    rank: list[int] = []
    times: list[float] = []
    text: list[str] = []
    began = _began(trace)

    def add(kind: int, event: int, time: float, node: int, *data: int) -> None:
        fields = f"{len(data)} 2 {' '.join(map(str, data))}" if data else "0"
        rank.append(node)
        times.append(time)
        text.append(f"{kind} {event} {time:.{DIGITS}f} {node} 0 {fields}")

    last = dict.fromkeys(range(trace.procs), 0.0)
    for node in range(trace.procs):
        add(-3, -901, 0.0, node)
    rows = zip(trace.rows(began, trace.end), _absorbed(trace).tolist(), strict=True)
    for (node, start, end, aau, kind, partner, size), absorbed in rows:
        last[node] = end
        if absorbed:
            continue
        if kind == SEND:
            add(-3, -21, start, node, size, TYPE, partner, 0)
            add(-4, -21, end, node)
        elif kind == RECEIVE:
            add(-3, -52, start, node, TYPE, partner, 0)
            add(-4, -52, end, node, size, TYPE, partner, 0)
        elif kind != WAIT:  # who waits without receiving is at the end of the program, and idle in the picture
            add(-3, aau + 1, start, node)
            add(-4, aau + 1, end, node)
    for node in range(trace.procs):
        add(-4, -901, last[node], node)
    return np.array(rank, np.int64), np.array(times), text


def _absorbed(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which events are waits that are a part of the receive that follows them."""
    found = np.zeros(trace.rank.size, np.bool_)
    same = (trace.rank[1:] == trace.rank[:-1]) & (trace.partner[1:] == trace.partner[:-1])
    found[:-1] = same & (trace.kind[:-1] == WAIT) & (trace.kind[1:] == RECEIVE)
    return found


def _began(trace: Trace) -> Floats:
    """When each event began, receives with the wait before them."""
    began = trace.begin.copy()
    waits = np.flatnonzero(_absorbed(trace))
    began[waits + 1] = trace.begin[waits]
    return began
