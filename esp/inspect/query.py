"""Parts of a prediction by line, unit, procedure or kind, and what they cost together.

A prediction is what `esp run --json --aau all` says of it (docs/json.md). Times are those of the units themselves, the
units inside them not included, so that any selection adds up without counting anything twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from esp.errors import UsageError
from esp.prediction import CATEGORIES


class Query(Struct, frozen=True, kw_only=True):
    """What is asked for: each condition that is given must hold; where it has several values, one of them."""

    lines: tuple[tuple[int, int], ...] = ()
    """First and last line of ranges."""
    aaus: tuple[int, ...] = ()
    below: tuple[int, ...] = ()
    """Units whose sub-graphs are meant: they themselves and all inside them."""
    procedures: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    """Arrays that are communicated."""


class QueryPart(Struct, frozen=True, kw_only=True):
    """A row: `aaus` are its units. Times are means over processors in seconds, `parts_s` by category; messages, bytes
    and misses are totals of the run."""

    name: str
    lines: tuple[int, ...]
    aaus: tuple[int, ...]
    executions: int
    time_s: float
    parts_s: tuple[float, ...]
    messages: int
    bytes: int
    misses: float


def query(said: Mapping[str, Any], wanted: Query, by: str = "aau") -> tuple[QueryPart, ...]:
    """The rows that are wanted, in program order.

    Raises:
        UsageError: there is no unit, procedure, kind or line of that name.
    """
    units: Sequence[Mapping[str, Any]] = said["aaus"]
    parent = {each["id"]: each["parent"] for each in units}
    paths = _paths(said)
    _refuse_strangers(said, wanted, units)
    if by in ("procedure", "call") or wanted.procedures:
        units = [part for each in units for part in _parts(each)]
    keep: list[Callable[[Mapping[str, Any]], bool]] = []
    if wanted.lines:
        keep.append(lambda e: any(start <= (e["line"] or 0) <= end for start, end in wanted.lines))
    if wanted.aaus:
        keep.append(lambda e: e["id"] in wanted.aaus)
    if wanted.below:
        keep.append(lambda e: any(at in wanted.below for at in _upwards(e["id"], parent)))
    if wanted.procedures:
        keep.append(lambda e: paths[e["calls"][0]["call"]][-1] in wanted.procedures)
    if wanted.kinds:
        keep.append(lambda e: e["kind"].lower() in wanted.kinds)
    if wanted.arrays:
        keep.append(lambda e: e["communication"] is not None and _array(e) in wanted.arrays)
    chosen = [each for each in units if all(test(each) for test in keep)]
    names: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
        "aau": lambda e: e["id"],
        "line": lambda e: e["line"] or 0,
        "kind": lambda e: e["kind"],
        "procedure": lambda e: paths[e["calls"][0]["call"]][-1],
        "call": lambda e: e["calls"][0]["call"],
    }
    groups: dict[object, list[Mapping[str, Any]]] = {}
    for each in chosen:
        groups.setdefault(names[by](each), []).append(each)
    ordered = sorted(groups.items()) if by == "line" else groups.items()
    if by == "call":
        return tuple(_part(" > ".join(paths[key]), group) for key, group in groups.items() if isinstance(key, int))
    return tuple(_part(_name(said, by, key, group), group) for key, group in ordered)


def total(parts: Sequence[QueryPart]) -> QueryPart:
    """All of them together."""
    return QueryPart(
        name="together",
        lines=tuple(sorted({line for each in parts for line in each.lines})),
        aaus=tuple(dict.fromkeys(number for each in parts for number in each.aaus)),
        executions=sum(each.executions for each in parts),
        time_s=sum(each.time_s for each in parts),
        parts_s=tuple(sum(each.parts_s[at] for each in parts) for at in range(len(CATEGORIES))),
        messages=sum(each.messages for each in parts),
        bytes=sum(each.bytes for each in parts),
        misses=sum(each.misses for each in parts),
    )


def _part(name: str, units: Sequence[Mapping[str, Any]]) -> QueryPart:
    moved = [each["communication"] for each in units if each["communication"] is not None]
    return QueryPart(
        name=name,
        lines=tuple(sorted({each["line"] for each in units if each["line"]})),
        aaus=tuple(each["id"] for each in units),
        executions=sum(each["executions"] for each in units),
        time_s=sum(each["time_s"] for each in units),
        parts_s=tuple(sum(each[f"{category}_s"] for each in units) for category in CATEGORIES),
        messages=sum(each["messages"] for each in moved),
        bytes=sum(each["bytes"] for each in moved),
        misses=sum(each["misses"] for each in units),
    )


def _name(said: Mapping[str, Any], by: str, key: object, units: Sequence[Mapping[str, Any]]) -> str:
    if by == "aau":
        return f"{units[0]['kind']} {units[0]['label']}"
    if by == "line":
        source = {each["line"]: each["source"] for each in said["lines"]}
        return str(source.get(key) or units[0]["label"])
    return str(key)


def _array(unit: Mapping[str, Any]) -> str:
    """What is sent, by its name in the source: whatever version of its mapping that is."""
    name: str = unit["communication"]["array"]
    return name.partition("$")[0]


def _upwards(number: int, parent: Mapping[int, int | None]) -> Iterable[int]:
    at: int | None = number
    while at is not None:
        yield at
        at = parent[at]


def _paths(said: Mapping[str, Any]) -> Mapping[int, tuple[str, ...]]:
    """The procedures from the main program to each call."""
    found: dict[int | None, tuple[str, ...]] = {None: ()}
    for each in said["calls"]:
        found[each["id"]] = (*found[each["parent"]], each["procedure"])
    return {call: path for call, path in found.items() if call is not None}


def _parts(unit: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A unit by call: what is not a time belongs to its own call."""
    for at, each in enumerate(unit["calls"]):
        nothing = {"executions": 0, "misses": 0.0, "communication": None} if at else {}
        times = {name: each[name] for name in ("time_s", *(f"{category}_s" for category in CATEGORIES))}
        yield {**unit, **times, **nothing, "calls": [each]}


def _refuse_strangers(said: Mapping[str, Any], wanted: Query, units: Sequence[Mapping[str, Any]]) -> None:
    known = {each["id"] for each in units}
    for option, numbers in (("--aau", wanted.aaus), ("--below", wanted.below)):
        for number in numbers:
            if number not in known:
                raise UsageError(
                    f"the units of this program are 0 to {max(known)}.",
                    where=f"{option} {number}",
                    hint=f"`esp show aag {said['file']}` shows them.",
                )
    arrays = {_array(each) for each in units if each["communication"] is not None} - {""}
    for option, given, names in (
        ("--procedure", wanted.procedures, {each["procedure"] for each in said["calls"]}),
        ("--kind", wanted.kinds, {each["kind"].lower() for each in units}),
        ("--array", wanted.arrays, arrays),
    ):
        for name in given:
            if name not in names:
                there = ", ".join(sorted(names)) or "nothing"
                raise UsageError(f"there is no {name} in this program.", where=option, hint=f"There is {there}.")
