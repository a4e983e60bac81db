"""Text -> trace. Every line is checked: what is wrong is said with its line."""

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from aag.wording import plural
from esp.errors import UnreadableFileError, reason
from esp.traces.text import COLUMNS, MAGIC
from esp.traces.trace import KINDS, NOBODY, RECEIVE, SEND, Trace, TraceAbout, TracePlace

_NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?"
_WHOLE = r"[0-9]{1,18}"
_EVENT = rf"{_WHOLE} +{_NUMBER} +{_NUMBER} +{_WHOLE} +(?:{'|'.join(KINDS)}) +(?:-|{_WHOLE}) +{_WHOLE}"
_EVENTS = re.compile(rf"(?:{_EVENT}\n)*+")
_ONE = re.compile(_EVENT)
_CODE = {kind: code for code, kind in enumerate(KINDS)}

CHUNK = 50_000
"""Lines that are read at a time."""

Columns = tuple[
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
]


def read_trace(path: str | PathLike[str]) -> Trace:
    """Read a trace file.

    Raises:
        UnreadableFileError: there is none, or a line of it is not as docs/trace.md says.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason(error)}.", where=str(path)) from None
    except UnicodeDecodeError:
        raise UnreadableFileError("is not UTF-8 text, so not a trace.", where=str(path)) from None
    return parse_trace(text, str(path))


def parse_trace(text: str, name: str = "<trace>") -> Trace:
    """The trace that a text is; `name` stands in errors.

    Raises:
        UnreadableFileError: a line of it is not as docs/trace.md says.
    """
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    else:
        _fail(name, len(lines), "the file ends in the middle of a line")
    about, start = _Header(lines, name).read()
    if not lines[-1].startswith("end "):
        _fail(name, len(lines), "the last line is not `end`: the file is incomplete")
    if lines[-1] != f"end {len(lines) - 1 - start}":
        _fail(name, len(lines), f"found {plural(len(lines) - 1 - start, 'event')}, but the last line says: {lines[-1]}")
    parts = list(_events(lines, start, name))
    rank, begin, duration, aau, kind, partner, size = (
        np.concatenate([part[column] for part in parts]) for column in range(len(COLUMNS))
    )
    trace = Trace(
        about=about,
        rank=rank,
        begin=begin,
        duration=duration,
        aau=aau,
        kind=kind.astype(np.int8),
        partner=partner,
        size_bytes=size,
    )
    _check(trace, start, name)
    return trace


class _Header:
    """Reads the lines before the first event."""

    def __init__(self, lines: list[str], name: str) -> None:
        self.lines, self.name, self.at = lines, name, 0

    def read(self) -> tuple[TraceAbout, int]:
        """The header, and how many lines it has."""
        if not self.lines or self.lines[0] != MAGIC:
            _fail(self.name, 1, f"this is not a trace: the first line is not `{MAGIC}`")
        self.at = 1
        writer, origin, program, file, system = map(self._value, ("writer", "origin", "program", "file", "system"))
        if origin not in ("predicted", "executed"):
            _fail(self.name, 3, f"the origin is predicted or executed, not {origin!r}")
        known: Literal["predicted", "executed"] = "predicted" if origin == "predicted" else "executed"
        procs = self._whole(self._value("procs"))
        grid = tuple(map(self._whole, self._value("grid").split("x")))
        if procs < 1 or procs != int(np.prod(np.array(grid, dtype=object))):
            _fail(self.name, self.at, f"the grid {'x'.join(map(str, grid))} is not one of {procs} processors")
        if self._value("units") != "seconds bytes":
            _fail(self.name, self.at, "the units are not seconds and bytes")
        places = tuple(self._places())
        if self._value("columns") != " ".join(COLUMNS):
            _fail(self.name, self.at, f"the columns are not {' '.join(COLUMNS)}")
        about = TraceAbout(
            writer=writer,
            origin=known,
            program=program,
            file=file,
            system=system,
            procs=procs,
            grid=grid,
            places=places,
        )
        return about, self.at

    def _value(self, key: str) -> str:
        self.at += 1
        line = self.lines[self.at - 1] if self.at <= len(self.lines) else ""
        word, _, value = line.partition(" ")
        if word != key:
            _fail(self.name, self.at, f"expected `{key}` and its value")
        return value

    def _whole(self, text: str) -> int:
        if not re.fullmatch(_WHOLE, text):
            _fail(self.name, self.at, f"{text!r} is not a whole number")
        return int(text)

    def _places(self) -> Iterator[TracePlace]:
        seen: set[int] = set()
        while self.at < len(self.lines) and self.lines[self.at].startswith("aau "):
            words = self._value("aau").split(" ", 3)
            if len(words) < 3:
                _fail(self.name, self.at, "an AAU has an id, a class, a line and a label")
            number, line = self._whole(words[0]), self._whole(words[2])
            if number in seen:
                _fail(self.name, self.at, f"the AAU {number} is listed twice")
            seen.add(number)
            yield TracePlace(id=number, kind=words[1], line=line, label=words[3] if len(words) > 3 else "")


def _events(lines: list[str], start: int, name: str) -> Iterator[Columns]:
    """The columns of some lines after the others."""
    yield _columns([])
    for first in range(start, len(lines) - 1, CHUNK):
        some = lines[first : min(first + CHUNK, len(lines) - 1)]
        text = "\n".join(some) + "\n"
        if not _EVENTS.fullmatch(text):
            wrong = next(number for number, line in enumerate(some) if not _ONE.fullmatch(line))
            _fail(name, first + wrong + 1, f"{some[wrong][:60]!r} is not an event: {' '.join(COLUMNS)}")
        yield _columns(text.split())


def _columns(words: list[str]) -> Columns:
    rank, begin, duration, aau, kind, partner, size = (words[column :: len(COLUMNS)] for column in range(len(COLUMNS)))
    return (
        np.array(rank, dtype=np.int64),
        np.array(begin, dtype=np.float64),
        np.array(duration, dtype=np.float64),
        np.array(aau, dtype=np.int64),
        np.array([_CODE[each] for each in kind], dtype=np.int64),
        np.array([NOBODY if each == "-" else int(each) for each in partner], dtype=np.int64),
        np.array(size, dtype=np.int64),
    )


def _check(trace: Trace, start: int, name: str) -> None:
    """What single lines do not show."""
    if not trace.rank.size:
        return
    known = np.array(sorted([-1, *(each.id for each in trace.about.places)]), np.int64)
    message = (trace.kind == SEND) | (trace.kind == RECEIVE)
    ends = np.minimum(trace.end, np.finfo(np.float64).max)
    same = trace.rank[1:] == trace.rank[:-1]
    later = np.concatenate([[True], ~same | (trace.begin[1:] >= trace.begin[:-1])])
    apart = np.concatenate([[True], ~same | (trace.begin[1:] >= ends[:-1] - 1e-9 * (1e-3 + ends[:-1]))])
    ascending = np.concatenate([[True], trace.rank[1:] >= trace.rank[:-1]])
    for right, fault in (
        (np.isfinite(trace.end), "a time is too large to represent"),
        (trace.rank < trace.procs, f"processors are 0 to {trace.procs - 1}"),
        (ascending, "the events of each rank must be together, ranks ascending"),
        (known[np.searchsorted(known, trace.aau, "right") - 1] == trace.aau, "the header lists no AAU of this id"),
        ((trace.partner >= 0) | ~message, "a message needs a partner"),
        ((trace.partner < trace.procs) & (trace.partner != trace.rank), "the partner must be another processor"),
        ((trace.size_bytes == 0) | message, "only messages have bytes"),
        (later, "the event begins before the one in the line above"),
        (apart, "the event begins before the one in the line above ends"),
    ):
        if not right.all():
            _fail(name, start + 1 + int(np.argmin(right)), fault)


def _fail(name: str, line: int, fault: str) -> NoReturn:
    raise UnreadableFileError(f"{fault}.", where=f"{name}:{line}", hint="docs/trace.md describes the format.")
