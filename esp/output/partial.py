"""What a prediction leaves out: the one source of what every view says about it.

What is left out may make the program slower or, as a remapping does, faster: the time is incomplete, and no bound.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aag.diagnostics import Diagnostic, Span
from esp.output.assumptions import lines
from esp.output.numbers import percent
from esp.output.screen import Screen, paragraph, printable
from esp.prediction import Prediction, first
from interpreter.result import Assumption

_BODY = re.compile(r"the body of (?:the function )?(\S+) is not interpreted")
"""How lowering says that a procedure is not followed (W202, W206)."""

_UNREAD = "the prediction is not complete"
"""The hint of findings that leave something of the source out."""

_BY_MACHINE = frozenset({"no-network", "no-io", "unpriced"})
"""Assumptions that say what the machine description has no figure for."""

INCOMPLETE = " incomplete"
"""After the time of an incomplete prediction."""

_UNNAMED = "something could not be charged"

_SHOWN = 3
"""Reasons that are shown before "and 5 more"."""


def reasons(predictions: Sequence[Prediction]) -> tuple[str, ...]:
    """Why the predictions that are partial are so, one clause each; nothing where all are complete."""
    partial = [each for each in predictions if not each.complete]
    if not partial:
        return ()
    assumed = [found for each in partial for found in each.assumptions]
    warned = [found for each in partial for found in getattr(each, "warnings", ())]
    return reasons_among(assumed, warned, partial[0].file)


def reasons_among(
    assumptions: Sequence[Assumption], warnings: Sequence[Diagnostic], main_file: str = ""
) -> tuple[str, ...]:
    """As `reasons`, of what incomplete predictions assume and warn of; `main_file`, or the first one
    that is spoken of, is not named."""
    spans = [*(each.span for each in assumptions), *(each.span for each in warnings)]
    main_file = main_file or next((each.file for each in spans if each is not None and each.file), "")
    procedures: dict[str, None] = {}
    called: dict[tuple[str, int], None] = {}
    uncharged: dict[tuple[str, int], None] = {}
    other: dict[str, None] = {}
    for each in assumptions:
        at = _at(each.span)
        body = _BODY.search(each.text)
        if body:
            procedures[body.group(1)] = None
            called |= dict.fromkeys(at)
        elif each.code == "unmodelled":
            uncharged |= dict.fromkeys(at)
        elif each.code in _BY_MACHINE:
            other[each.text] = None
    told = []
    if procedures:
        several = len(procedures) > 1
        what = f"the {'bodies' if several else 'body'} of {', '.join(procedures)}"
        where = f" ({lines(_named(called, main_file))})" if called else ""
        told.append(f"{what}{where} {'are' if several else 'is'} not interpreted")
    if uncharged:
        told.append(f"{lines(_named(uncharged, main_file))} could not be charged")
    known = {*called, *uncharged}
    for warning in warnings:
        places = _at(warning.span)
        if warning.hint == _UNREAD and not known.intersection(places):
            where = f" ({lines(_named(dict.fromkeys(places), main_file))})" if places else ""
            other[warning.message + where] = None
    return (*told, *other) or (_UNNAMED,)


def reasons_said(said: Mapping[str, Any]) -> tuple[str, ...]:
    """As `reasons`, of a prediction as docs/json.md describes it; an older one does not name them."""
    if said.get("complete", True):
        return ()
    return tuple(said.get("partial", ())) or (_UNNAMED,)


def partial_text(told: Sequence[str], what: str = "incomplete") -> str:
    """The reasons as one line behind the word ``partial``; `what` is partial."""
    more = f"; and {len(told) - _SHOWN} more (--json lists all)" if len(told) > _SHOWN else ""
    return printable(f"{what}: " + "; ".join(told[:_SHOWN]) + more)


def partial_lines(told: Sequence[str], screen: Screen) -> list[str]:
    """The note that says that time is missing and why, where it is; `told` are `reasons`."""
    return [screen.paint("warm", paragraph("partial", partial_text(told), screen.columns))] if told else []


def partial_notes(predictions: Sequence[Prediction], screen: Screen) -> list[str]:
    """As `partial_lines`, for predictions; it belongs in every view."""
    return partial_lines(reasons(predictions), screen)


def time_shown(prediction: Prediction, shown: str) -> str:
    """A time as a table shows it, marked where the prediction is incomplete."""
    return shown if prediction.complete else f"{shown}{INCOMPLETE}"


def trusted(prediction: Prediction, of: str = "the time") -> str:
    """How much rests on estimates; what is left out of a partial prediction rests on nothing at all."""
    share = percent(first(prediction.estimated_share))
    if prediction.complete:
        return f"{share} of {of} rests on estimated figures"
    return f"incomplete, see partial; {share} of what is charged rests on estimated figures"


def _at(span: Span | None) -> list[tuple[str, int]]:
    return [] if span is None or not span.line else [(span.file, span.line)]


def _named(places: Iterable[tuple[str, int]], main_file: str) -> list[str]:
    return [str(line) if file == main_file else f"{file}:{line}" for file, line in sorted(places)]
