"""Traces as text (docs/trace.md): a header, one line for each event, and a last line that says how many there were."""

from collections.abc import Iterator

from esp.traces.trace import KINDS, NOBODY, Trace, TraceAbout

MAGIC = "esp-trace 1"
"""The first line; the number changes with the format."""

COLUMNS = ("rank", "begin", "duration", "aau", "kind", "partner", "bytes")

CHUNK = 50_000
"""Events that are turned into text at a time."""


def header(about: TraceAbout) -> Iterator[str]:
    """The lines before the first event, without their ends."""
    yield MAGIC
    yield f"writer {about.writer}"
    yield f"origin {about.origin}"
    yield f"program {about.program}"
    yield f"file {_on_one_line(about.file)}"
    yield f"system {_on_one_line(about.system)}"
    yield f"procs {about.procs}"
    yield f"grid {'x'.join(map(str, about.grid))}"
    yield "units seconds bytes"
    for each in about.places:
        yield f"aau {each.id} {each.kind} {each.line} {_on_one_line(each.label)}".rstrip()
    yield f"columns {' '.join(COLUMNS)}"


def text_of(trace: Trace) -> Iterator[str]:
    """A trace as pieces of text."""
    yield "".join(f"{line}\n" for line in header(trace.about))
    for first in range(0, trace.rank.size, CHUNK):
        part = slice(first, first + CHUNK)
        rows = trace.rows(trace.begin, trace.duration, part)
        yield "".join(
            f"{rank} {begin!r} {duration!r} {aau} {KINDS[kind]} {'-' if partner == NOBODY else partner} {size}\n"
            for rank, begin, duration, aau, kind, partner, size in rows
        )
    yield f"end {trace.rank.size}\n"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
