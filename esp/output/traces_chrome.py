"""A trace in the Trace Event Format, which chrome://tracing and Perfetto open.

One process, a thread for each processor, a complete event (X) for each event of the trace, and an arrow (flow events
s and f) for each message. Times are fractions of microseconds.
Source: "Trace Event Format", the document of Chrome's trace viewer.
"""

from collections.abc import Iterator
from json import dumps

import numpy as np

from esp.traces.trace import KINDS, NOBODY, Trace, messages

CHUNK = 50_000
"""Events that are turned into text at a time."""

MICRO = 1e6


def chrome(trace: Trace) -> Iterator[str]:
    """The trace as pieces of JSON, the same for the same trace."""
    about = trace.about
    said = {
        "program": about.program,
        "file": about.file,
        "system": about.system,
        "processors": about.procs,
        "grid": "x".join(map(str, about.grid)),
        "origin": about.origin,
        "writer": about.writer,
    }
    yield f'{{"displayTimeUnit":"ns","otherData":{dumps(said)},"traceEvents":[\n'
    yield ",\n".join(_names(trace))
    yield from _events(trace)
    yield from _arrows(trace)
    yield "\n]}\n"


def _names(trace: Trace) -> Iterator[str]:
    about = trace.about
    process = f"{about.program} on {about.system} ({about.origin})"
    yield _meta("process_name", 0, {"name": process})
    for rank in range(trace.procs):
        yield _meta("thread_name", rank, {"name": f"processor {rank}"})
        yield _meta("thread_sort_index", rank, {"sort_index": rank})


def _meta(name: str, rank: int, args: dict[str, str | int]) -> str:
    return dumps({"name": name, "ph": "M", "ts": 0, "pid": 0, "tid": rank, "args": args}, separators=(",", ":"))


def _events(trace: Trace) -> Iterator[str]:
    """No event reaches into the next one of its thread, not even by rounding: readers would nest them."""
    begin, end = trace.begin * MICRO, trace.end * MICRO
    if begin.size:
        last = np.append(trace.rank[1:] != trace.rank[:-1], True)
        end = np.where(last, end, np.minimum(end, np.append(begin[1:], 0.0)))
    duration = np.maximum(end - begin, 0.0)
    names = {each.id: dumps(each.label or each.kind)[1:-1] for each in trace.about.places}
    lines = {each.id: each.line for each in trace.about.places}
    for first in range(0, begin.size, CHUNK):
        part = slice(first, first + CHUNK)
        rows = trace.rows(begin, duration, part)
        yield "".join(
            f',\n{{"name":"{KINDS[kind]} {names[aau]}","cat":"{KINDS[kind]}","ph":"X","ts":{ts!r},"dur":{dur!r},'
            f'"pid":0,"tid":{rank},"args":{{"aau":{aau},"line":{lines[aau]}'
            f"{'' if partner == NOBODY else f',{chr(34)}partner{chr(34)}:{partner},{chr(34)}bytes{chr(34)}:{size}'}}}}}"
            for rank, ts, dur, aau, kind, partner, size in rows
        )


def _arrows(trace: Trace) -> Iterator[str]:
    sends, receives = messages(trace)
    left, arrived = trace.begin[sends] * MICRO, trace.begin[receives] * MICRO  # where readers look for the slices
    for first in range(0, sends.size, CHUNK):
        part = slice(first, first + CHUNK)
        rows = zip(
            range(first, first + CHUNK),
            left[part].tolist(),
            trace.rank[sends[part]].tolist(),
            arrived[part].tolist(),
            trace.rank[receives[part]].tolist(),
            strict=False,
        )
        yield "".join(
            f',\n{{"name":"message","cat":"message","ph":"s","id":{number},"ts":{sent!r},"pid":0,"tid":{source}}}'
            f',\n{{"name":"message","cat":"message","ph":"f","bp":"e","id":{number},"ts":{came!r},"pid":0,"tid":{to}}}'
            for number, sent, source, came, to in rows
        )
