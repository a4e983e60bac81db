"""What a prediction rests on beside source and machine: each fact once, with all the places it holds at."""

import re
from collections.abc import Iterable, Sequence

from aag.diagnostics import Diagnostic, Span
from esp.output.numbers import memory
from interpreter.result import Assumption, Prediction

_SHOWN = 6
"""Assumptions that are shown before "and 5 more"."""

_SHOWN_PLACES = 8
"""Lines that are named before "and 5 more"."""

_NOT_CHARGED = ("this statement is not modelled and costs nothing here: ", "; no time is charged for it")
"""What lowering and interpretation put around the same reason."""


def told_once(assumptions: Iterable[Assumption], notes: Iterable[Diagnostic]) -> tuple[Assumption, ...]:
    """Assumptions without those that say the like of the same place in other words.

    `notes`: findings of which one text may be an assumption already, at another place: it holds there, too.
    """
    given = tuple(assumptions)
    said = {each.text for each in given}
    more = [Assumption(code=each.code, text=each.message, span=each.span) for each in notes if each.message in said]
    found: dict[object, Assumption] = {}
    for each in (*given, *more):
        at = None if each.span is None or not each.span.line else (each.span.file, each.span.line)
        found.setdefault((at, _core(each)), each)
    return tuple(found.values())


def _core(assumption: Assumption) -> str:
    before, after = _NOT_CHARGED
    return _unplaced(assumption).removeprefix(before).removesuffix(after)


def _unplaced(assumption: Assumption) -> str:
    """The text without the line at its beginning, which the span says as well."""
    line = assumption.span.line if assumption.span else 0
    return assumption.text.removeprefix(f"line {line}: ")


def _in_units(assumption: Assumption) -> str:
    """The text with amounts of memory as the footnote about memory writes them."""
    if assumption.code != "memory":
        return assumption.text
    return re.sub(r"\d+( bytes)?", lambda found: memory(float(found.group().split()[0])), assumption.text)


def assumed(predictions: Sequence[Prediction]) -> list[str]:
    """What neither the source nor the machine description settles: one sentence each, with its lines.

    Where several predictions assume the like of one place, the first of them speaks for all.
    """
    places: dict[str, dict[str, None]] = {}
    seen: set[tuple[str, Span]] = set()
    for prediction in predictions:
        new = set()
        for each in prediction.assumptions:
            if each.span is None or not each.span.line:
                places.setdefault(_in_units(each), {})
            elif (each.code, each.span) not in seen:
                new.add((each.code, each.span))
                inside = each.span.file == prediction.file
                at = str(each.span.line) if inside else f"{each.span.file}:{each.span.line}"
                places.setdefault(_unplaced(each), {})[at] = None
        seen |= new
    told = [text + (f" ({lines(tuple(at))})" if at else "") for text, at in places.items()]
    more = len(told) - _SHOWN
    if more > 0:
        told[_SHOWN:] = [f"and {more} more (--json lists all)"]
    return told or ["nothing"]


def lines(places: Sequence[str]) -> str:
    """``line 5``, ``lines 5, 6`` or ``lines 1, 2, 3, 4, 5, 6, 7, 8 and 5 more``."""
    text = f"line{'s' if len(places) > 1 else ''} {', '.join(places[:_SHOWN_PLACES])}"
    return text + (f" and {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else "")
