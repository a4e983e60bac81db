"""What a prediction rests on beside source and machine: each fact once, with all the places it holds at."""

import re
from collections.abc import Sequence

from aag.diagnostics import Span
from esp.incomplete import lines
from esp.output.numbers import memory
from esp.prediction import Prediction, unplaced
from interpreter.result import Assumption

_SHOWN = 6
"""Assumptions that are shown before "and 5 more"."""


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
                places.setdefault(unplaced(each), {})[at] = None
        seen |= new
    told = [text + (f" ({lines(tuple(at))})" if at else "") for text, at in places.items()]
    more = len(told) - _SHOWN
    if more > 0:
        told[_SHOWN:] = [f"and {more} more (--json lists all)"]
    return told or ["nothing"]
