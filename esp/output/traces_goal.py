"""A trace as a schedule in GOAL, which LogGOPSim simulates.

What a processor computes becomes `calc`, in nanoseconds, messages become `send` and `recv`; each operation requires
the one before it. Waiting and transmission are left to the simulator.
Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim: simulating large-scale applications in the LogGOPS model"
(2010); the grammar is that of its scanner, txt2bin.
"""

from collections.abc import Iterator

import numpy as np

from esp.traces.trace import RECEIVE, SEND, WAIT, Trace

CHUNK = 50_000


def goal(trace: Trace) -> Iterator[str]:
    """The schedule, rank by rank."""
    yield f"num_ranks {trace.procs}\n"
    bounds = np.searchsorted(trace.rank, np.arange(trace.procs + 1))
    for rank in range(trace.procs):
        yield f"\nrank {rank} {{\n"
        yield from _operations(trace, int(bounds[rank]), int(bounds[rank + 1]))
        yield "}\n"


def _operations(trace: Trace, first: int, last: int) -> Iterator[str]:
    """Operations of one rank; calculations that follow one another are one."""
    kind = trace.kind[first:last]
    busy = np.where((kind != SEND) & (kind != RECEIVE) & (kind != WAIT), trace.duration[first:last], 0.0)
    done = np.rint(np.cumsum(busy) * 1e9).astype(np.int64)  # rounded once, so that errors do not add up
    some = np.flatnonzero((kind == SEND) | (kind == RECEIVE))
    before = np.diff(done[some], prepend=0) if some.size else done[:0]
    number, lines = 0, []
    rows = zip(
        before.tolist(),
        kind[some].tolist(),
        trace.partner[first:last][some].tolist(),
        trace.size_bytes[first:last][some].tolist(),
        strict=True,
    )
    for calculation, what, partner, size in rows:
        if calculation:
            number += 1
            lines.append(_chained(number, f"calc {calculation}"))
        number += 1
        word = f"send {size}b to" if what == SEND else f"recv {size}b from"
        lines.append(_chained(number, f"{word} {partner} tag 0"))
        if len(lines) >= CHUNK:
            yield "".join(lines)
            lines = []
    rest = int(done[-1]) - (int(done[some[-1]]) if some.size else 0) if done.size else 0
    if rest:
        lines.append(_chained(number + 1, f"calc {rest}"))
    yield "".join(lines)


def _chained(number: int, operation: str) -> str:
    requires = f"l{number} requires l{number - 1}\n" if number > 1 else ""
    return f"l{number}: {operation}\n{requires}"
