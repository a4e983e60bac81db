"""A trace for Paraver: records (.prv), the names and colours of their values (.pcf), the names of processors (.row).

Times are whole nanoseconds. Records: `1:cpu:appl:task:thread:begin:end:state`,
`2:cpu:appl:task:thread:time:type:value` and so on, `3:` sender (cpu:appl:task:thread:logical:physical) receiver (the
same) `:size:tag`; all count from 1.
Source: "Paraver: trace file format" of the Barcelona Supercomputing Center.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from esp.traces.trace import COMPUTE, IO, LIBRARY, OVERHEAD, RECEIVE, SEND, WAIT, Ints, Trace, messages

STATES = {
    COMPUTE: (1, "Running", (0, 0, 255)),
    OVERHEAD: (15, "Overhead", (255, 200, 0)),
    SEND: (4, "Sending", (160, 60, 160)),
    RECEIVE: (11, "Receiving", (60, 160, 60)),
    WAIT: (3, "Waiting a message", (255, 0, 0)),
    LIBRARY: (7, "Run-time library", (130, 80, 30)),
    IO: (12, "I/O", (255, 144, 26)),
}
"""Kind -> state, its name and colour; numbers that Paraver's own configurations know keep their meaning."""

AAU_EVENT = 90000001
LINE_EVENT = 90000002

CHUNK = 50_000


def paraver(trace: Trace) -> Mapping[str, Iterator[str]]:
    """Suffix -> the pieces of the file."""
    return {".prv": _records(trace), ".pcf": iter([_names(trace)]), ".row": iter([_rows(trace)])}


def nanoseconds(times: NDArray[np.float64]) -> Ints:
    """Seconds as the nearest nanosecond."""
    return np.rint(times * 1e9).astype(np.int64)


def _records(trace: Trace) -> Iterator[str]:
    procs = trace.procs
    begin, end = nanoseconds(trace.begin), nanoseconds(trace.end)
    last = int(end.max(initial=0))
    tasks = ",".join(f"1:{node}" for node in range(1, procs + 1))
    # A prediction has no date; the format wants one.
    yield f"#Paraver (01/01/2000 at 00:00):{last}_ns:{procs}({','.join(['1'] * procs)}):1:{procs}({tasks})\n"
    rows = [_states(trace, begin, end), _places(trace, begin, end), _messages(trace, begin, end)]
    times = np.concatenate([each[0] for each in rows])
    texts = [text for each in rows for text in each[1]]
    order = np.argsort(times, kind="stable")
    for first in range(0, order.size, CHUNK):
        yield "".join(texts[at] for at in order[first : first + CHUNK].tolist())


def _states(trace: Trace, begin: Ints, end: Ints) -> tuple[Ints, list[str]]:
    some = np.flatnonzero(end > begin)
    state = np.array([STATES[kind][0] for kind in range(len(STATES))])[trace.kind[some]]
    rows = zip((trace.rank[some] + 1).tolist(), begin[some].tolist(), end[some].tolist(), state.tolist(), strict=True)
    return begin[some], [f"1:{task}:1:{task}:1:{start}:{stop}:{what}\n" for task, start, stop, what in rows]


def _places(trace: Trace, begin: Ints, end: Ints) -> tuple[Ints, list[str]]:
    """Where the AAU changes, the new one and its line; at the end of a processor, 0."""
    lines = trace.lines()
    first = np.append(True, (trace.rank[1:] != trace.rank[:-1]) | (trace.aau[1:] != trace.aau[:-1]))[: begin.size]
    last = np.append(trace.rank[1:] != trace.rank[:-1], True)[: begin.size]
    enter, leave = np.flatnonzero(first), np.flatnonzero(last)
    rows = [
        *zip(
            (trace.rank[enter] + 1).tolist(),
            begin[enter].tolist(),
            (trace.aau[enter] + 1).tolist(),
            lines[enter].tolist(),
            strict=True,
        ),
        *((rank + 1, time, 0, 0) for rank, time in zip(trace.rank[leave].tolist(), end[leave].tolist(), strict=True)),
    ]
    texts = [f"2:{task}:1:{task}:1:{time}:{AAU_EVENT}:{aau}:{LINE_EVENT}:{line}\n" for task, time, aau, line in rows]
    return np.array([row[1] for row in rows], np.int64), texts


def _messages(trace: Trace, begin: Ints, end: Ints) -> tuple[Ints, list[str]]:
    sends, receives = messages(trace)
    rows = zip(
        (trace.rank[sends] + 1).tolist(),
        begin[sends].tolist(),
        (trace.rank[receives] + 1).tolist(),
        begin[receives].tolist(),
        end[receives].tolist(),
        trace.size_bytes[sends].tolist(),
        strict=True,
    )
    return begin[sends], [
        f"3:{one}:1:{one}:1:{sent}:{sent}:{other}:1:{other}:1:{ready}:{came}:{size}:0\n"
        for one, sent, other, ready, came, size in rows
    ]


def _names(trace: Trace) -> str:
    states = sorted(STATES.values())
    about = trace.about
    lines = [
        "DEFAULT_OPTIONS",
        "",
        "LEVEL               THREAD",
        "UNITS               NANOSEC",
        "",
        "",
        "DEFAULT_SEMANTIC",
        "",
        "THREAD_FUNC         State As Is",
        "",
        "",
        "STATES",
        "0    Idle",
        *(f"{number}    {name}" for number, name, _ in states),
        "",
        "",
        "STATES_COLOR",
        "0    {117,195,255}",
        *(f"{number}    {{{','.join(map(str, colour))}}}" for number, _, colour in states),
        "",
        "",
        "EVENT_TYPE",
        f"0    {AAU_EVENT}    Application abstraction unit",
        "VALUES",
        "0    End",
        *(f"{each.id + 1}    {each.id} {each.kind} {each.label}".rstrip() for each in about.places),
        "",
        "",
        "EVENT_TYPE",
        f"0    {LINE_EVENT}    Line of {about.file}",
        "VALUES",
        "0    End",
        *(f"{line}    line {line}" for line in sorted({each.line for each in about.places} - {0})),
        "",
    ]
    return "\n".join(lines) + "\n"


def _rows(trace: Trace) -> str:
    procs = trace.procs
    parts = []
    for level, name in (("CPU", "processor"), ("NODE", "node"), ("THREAD", "processor")):
        parts += [f"LEVEL {level} SIZE {procs}", *(f"{name} {rank}" for rank in range(procs)), ""]
    return "\n".join(parts) + "\n"
