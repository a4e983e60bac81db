"""Why one mapping is faster than another: the lines and categories in which their predictions differ, largest first.

Times are means over processors (Def 4), so the differences of all lines and categories add up to that of the times.
"""

from msgspec import Struct

from esp.prediction import CATEGORIES, Prediction, first, four
from interpreter.result import AauMetrics, MessageSummary

MOST = 4
"""Differences that are told."""

ENOUGH = 0.9
"""Share of the difference that is told, if that many say it."""


class ReasonSide(Struct, frozen=True, kw_only=True):
    """What one prediction has at a line."""

    time_s: float
    """In the category."""
    messages: tuple[MessageSummary, ...]
    """What moves, the most bytes first."""
    misses: float
    """Cache lines missed by all processors together."""
    most_s: float | None
    """The time of the line, all categories, on its slowest processor."""


class Reason(Struct, frozen=True, kw_only=True):
    """One difference. `change_s`: how much longer the other takes in `category` at this line."""

    file: str
    line: int
    category: str
    change_s: float
    best: ReasonSide
    other: ReasonSide


class Reasons(Struct, frozen=True, kw_only=True):
    """Why `other` takes `change_s` longer than `best`; `rest_s` of it is not among the `told` differences."""

    change_s: float
    told: tuple[Reason, ...]
    rest_s: float
    imbalance: tuple[float, float]
    """Largest / mean computation (Def 4) of the best and of the other."""


def reasons(best: Prediction, other: Prediction) -> Reasons:
    """Compare two predictions of one program line by line."""
    mine, theirs = _lines(best), _lines(other)
    changes = [
        (theirs.get(at, _NONE)[number] - mine.get(at, _NONE)[number], at, number)
        for at in dict.fromkeys((*mine, *theirs))
        for number in range(len(CATEGORIES))
    ]
    changes.sort(key=lambda each: (-abs(each[0]), each[1], each[2]))
    whole_s = sum(each[0] for each in changes)
    told: list[Reason] = []
    rest_s = whole_s
    for change_s, (file, line), number in changes[:MOST]:
        if change_s == 0 or (told and abs(rest_s) <= (1.0 - ENOUGH) * abs(whole_s)):
            break
        sides = [
            _side(prediction, file, line, lines.get((file, line), _NONE)[number])
            for prediction, lines in ((best, mine), (other, theirs))
        ]
        told.append(
            Reason(file=file, line=line, category=CATEGORIES[number], change_s=change_s, best=sides[0], other=sides[1])
        )
        rest_s -= change_s
    balance = first(best.imbalance), first(other.imbalance)
    return Reasons(change_s=whole_s, told=tuple(told), rest_s=rest_s, imbalance=balance)


_NONE = (0.0, 0.0, 0.0, 0.0)


def _lines(prediction: Prediction) -> dict[tuple[str, int], tuple[float, float, float, float]]:
    return {(each.file, each.line): four(each.parts) for each in prediction.lines}


def _side(prediction: Prediction, file: str, line: int, time_s: float) -> ReasonSide:
    here = next((each for each in prediction.lines if (each.file, each.line) == (file, line)), None)
    inside: list[AauMetrics] = []
    if here is not None:
        known = {each.id: each for each in prediction.aaus}
        inside = [known[each] for each in here.aaus if each in known]
    moved = [each.comm for each in inside if each.comm is not None and each.comm.messages]
    return ReasonSide(
        time_s=time_s,
        messages=tuple(sorted(moved, key=lambda each: (-each.bytes, each.pattern, each.array))),
        misses=sum(each.misses for each in inside),
        most_s=None if here is None or here.max_s is None else first(here.max_s),
    )
