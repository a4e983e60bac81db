"""Measured runs as Extra-P keeps them: JSON Lines, one object for each run (docs/fit_runs.md)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from esp.errors import UnreadableFileError
from esp.fit.runs import ALIASES, MeasuredRun

FORM = 'Write for example {"params": {"p": 4, "n": 256}, "metric": "time", "value": 1.24}.'
TIMES = frozenset(("", "time", "walltime", "runtime", "seconds"))
"""Metrics that are the time of a run in seconds; a file without metrics has only these."""
WHOLE = frozenset(("", "main", "<root>"))
"""Call paths that are the whole program."""
_MOST = 10**15
"""More than any size or number of processors."""


def is_extra_p(text: str) -> bool:
    """Whether a text is JSON and so no CSV."""
    return text.lstrip().startswith("{")


def parse_extra_p(text: str, name: str) -> tuple[MeasuredRun, ...]:
    """The times of whole programs in a text; other metrics and parts of programs are left out. Several call paths from
    the root are several programs. `name` is what errors call the text.

    Raises:
        UnreadableFileError: it is not as Extra-P writes it, or has no such time; with the line.
    """
    timed = [each for each in _objects(text, name) if _metric(each[1]) in TIMES]
    if not timed:
        raise UnreadableFileError("the file has no metric `time`.", where=name, hint=FORM)
    named = {path for _, each in timed if (path := _path(each)) not in WHOLE and "->" not in path}
    if not named and all(_path(each) not in WHOLE for _, each in timed):
        hint = "The whole program has no callpath, or the callpath `main`."
        raise UnreadableFileError("all times are those of parts of a program.", where=name, hint=hint)
    whole = WHOLE & {_path(each) for _, each in timed}
    wanted = whole or named
    return tuple(
        _run(each, f"{name}:{line}", line, _path(each) if not whole and len(named) > 1 else "")
        for line, each in timed
        if _path(each) in wanted
    )


def _objects(text: str, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise UnreadableFileError("this is not a JSON object.", where=f"{name}:{number}", hint=FORM) from None
        if not isinstance(found, dict) or not isinstance(found.get("params"), dict) or "value" not in found:
            raise UnreadableFileError("params or value is missing.", where=f"{name}:{number}", hint=FORM)
        yield number, found


def _metric(each: Mapping[str, Any]) -> str:
    return str(each.get("metric", "")).lower()


def _path(each: Mapping[str, Any]) -> str:
    return str(each.get("callpath", ""))


def _is_whole(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < _MOST and value % 1 == 0


def _run(each: Mapping[str, Any], where: str, line: int, program: str) -> MeasuredRun:
    values: dict[str, int] = {}
    for key, value in each["params"].items():
        plain = str(key).lower()
        if not _is_whole(value):
            raise UnreadableFileError(f"{plain} is not a whole number.", where=where, hint=FORM)
        values[ALIASES.get(plain, plain)] = int(value)
    procs = values.pop("procs", 0)
    if procs < 1:
        raise UnreadableFileError("the number of processors is missing or below 1.", where=where, hint=FORM)
    time_s = each["value"]
    if isinstance(time_s, bool) or not isinstance(time_s, int | float) or not 0 < time_s < float("inf"):
        raise UnreadableFileError("a run takes time.", where=where, hint="Leave out what was not measured.")
    return MeasuredRun(program=program, processors=procs, values=values, time_s=float(time_s), line=line)
