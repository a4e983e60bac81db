"""The time of procedures: each with all its calls together, and the tree of calls."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from esp.prediction import Prediction, first, four
from interpreter.result import CallMetrics


class ProcedureTime(Struct, frozen=True, kw_only=True):
    """A procedure, or the main program, with all its calls together. Times are means over processors in seconds."""

    name: str
    calls: float
    """Mean over processors."""
    time_s: float
    """Inclusive: with the procedures that it calls."""
    own_s: float
    """Exclusive: without them."""
    parts_s: tuple[float, ...]
    """The exclusive time by category, in the order of `CATEGORIES`."""
    messages: int
    bytes: int


class CallRow(Struct, frozen=True, kw_only=True):
    """A call in the tree. `depth` of the main program is 0."""

    call: CallMetrics
    depth: int


def procedures(prediction: Prediction) -> tuple[ProcedureTime, ...]:
    """All procedures that are called, and the main program, those with the largest exclusive time first."""
    around = {each.id: frozenset(_names(prediction.calls, each.parent)) for each in prediction.calls}
    names = dict.fromkeys(each.procedure for each in prediction.calls)
    found = [_procedure(name, prediction.calls, around) for name in names]
    return tuple(sorted(found, key=lambda each: -each.own_s))


def call_rows(prediction: Prediction) -> tuple[CallRow, ...]:
    """The tree of calls from the main program on; of the calls inside one, those that take longest first."""
    inside: dict[int | None, list[CallMetrics]] = {}
    for each in prediction.calls:
        inside.setdefault(each.parent, []).append(each)
    rows: list[CallRow] = []
    pending = [CallRow(call=each, depth=0) for each in inside[None]]
    while pending:
        rows.append(pending.pop())
        longest = sorted(inside.get(rows[-1].call.id, []), key=lambda each: -first(each.total.time_s))
        pending += [CallRow(call=each, depth=rows[-1].depth + 1) for each in reversed(longest)]
    return tuple(rows)


def path(prediction: Prediction, call: int) -> str:
    """The procedures from the main program to a call: ``main > solve > relax``."""
    return " > ".join(reversed(list(_names(prediction.calls, call))))


def _procedure(name: str, calls: Sequence[CallMetrics], around: dict[int, frozenset[str]]) -> ProcedureTime:
    mine = [each for each in calls if each.procedure == name]
    parts = [four(each.parts) for each in mine]
    return ProcedureTime(
        name=name,
        calls=sum(each.calls for each in mine),
        time_s=sum(first(each.total.time_s) for each in mine if name not in around[each.id]),
        own_s=sum(first(each.parts.time_s) for each in mine),
        parts_s=tuple(map(sum, zip(*parts, strict=True))),
        messages=sum(each.messages for each in mine),
        bytes=sum(each.bytes for each in mine),
    )


def _names(calls: Sequence[CallMetrics], call: int | None) -> Iterator[str]:
    """The procedures of a call and of those around it, innermost first."""
    known = {each.id: each for each in calls}
    while call is not None:
        yield known[call].procedure
        call = known[call].parent
