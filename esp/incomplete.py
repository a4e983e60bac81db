"""Why a prediction is incomplete (Def 20): one clause for each thing that is left out, and the refusal."""

import re
from collections.abc import Iterable, Sequence

from aag.diagnostics import NOWHERE, Diagnostic, Span
from aag.pipeline import UNREAD
from aag.spmd.uncalled import way_out
from esp.errors import PredictionError
from esp.prediction import Prediction, unplaced
from interpreter.result import Assumption

_BODY = re.compile(r"the body of (?:the function )?(\S+) is not interpreted")
"""How lowering says that a procedure is not followed (W202, W206)."""

_MISSING = re.compile(r"found no (subroutine|function) (\w+)")
"""How it says that there is no such procedure."""

_DISTRIBUTED = re.compile(r"(\w+ is a library procedure and .+): only its call is charged")
"""How it says that a library procedure gets distributed arguments (W286)."""

_WAY_OUT = {
    "W201": "leave it out, or write it as assignments, FORALL or loops",
    "W202": "correct the call or the subroutine, or write its statements in place of the call",
    "W206": "write its expression in place of the call",
    "W207": "map none of them, or give each its own storage",
    "W286": "pass sections that one processor owns, or copies without a mapping",
    "M201": "describe it in the machine file",
}
"""Assumptions that leave something out -> what to write instead."""

_BY_MACHINE = frozenset({"no-network", "no-io", "unpriced"})
"""Assumptions that say what the machine description has no figure for."""

_LEFT_OUT = {
    **dict.fromkeys(("W201", "W202", "W206", "W207", "W286"), ""),
    "unmodelled": "W201",
    "call": "W202",
    **dict.fromkeys(_BY_MACHINE, "M201"),
}
"""Assumptions that leave something out -> the code of the finding, where it has another one."""

UNNAMED = "something could not be charged"
"""The reason where none is known."""

_SHOWN_PLACES = 8
"""Lines that are named before "and 5 more"."""


class IncompleteError(PredictionError):
    """The prediction would leave something out, and nobody asked for a partial one. `findings`: what, and where."""

    findings: tuple[Diagnostic, ...] = ()
    lines: tuple[str, ...] = ()
    """The lines of the source."""


def incomplete(prediction: Prediction) -> IncompleteError:
    """The error that an incomplete prediction is, with all reasons."""
    error = IncompleteError(
        f"the prediction is incomplete: {'; '.join(reasons([prediction]))}.",
        where=prediction.file,
        hint="‹partial› predicts the rest.",
    )
    error.findings, error.lines = left_out(prediction), prediction.lines_text
    return error


def left_out(prediction: Prediction) -> tuple[Diagnostic, ...]:
    """What an incomplete prediction leaves out, each thing at its place."""
    unread = [each for each in prediction.warnings if each.code in UNREAD]
    known = {(each.span.file, each.span.line) for each in unread}
    uncharged = [
        Diagnostic(
            code=(code := "W286" if _DISTRIBUTED.search(each.text) else _LEFT_OUT[each.code] or each.code),
            message=unplaced(each),
            span=NOWHERE if each.span is None else each.span,
            hint=way_out(each.text, _WAY_OUT.get(code, "")),
        )
        for each in prediction.assumptions
        if each.code in _LEFT_OUT and not known.intersection(_at(each.span))
    ]
    return tuple(sorted((*unread, *uncharged), key=lambda each: (each.span.file, each.span.line, each.span.column)))


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
    """Return the reasons among what incomplete predictions assume and warn of. `main_file`, or the first one
    that appears, is not named."""
    spans = [*(each.span for each in assumptions), *(each.span for each in warnings)]
    main_file = main_file or next((each.file for each in spans if each is not None and each.file), "")
    procedures: dict[str, None] = {}
    missing: dict[tuple[str, str], dict[tuple[str, int], None]] = {}
    distributed: dict[str, dict[tuple[str, int], None]] = {}
    called: dict[tuple[str, int], None] = {}
    uncharged: dict[tuple[str, int], None] = {}
    other: dict[str, None] = {}
    for each in assumptions:
        at = _at(each.span)
        body = _BODY.search(each.text)
        if body:
            procedures[body.group(1)] = None
            called |= dict.fromkeys(at)
        elif stranger := _MISSING.search(each.text):
            missing.setdefault((stranger[1], stranger[2]), {}).update(dict.fromkeys(at))
        elif found := _DISTRIBUTED.search(each.text):
            distributed.setdefault(found[1], {}).update(dict.fromkeys(at))
        elif each.code == "unmodelled":
            uncharged |= dict.fromkeys(at)
        elif each.code in _BY_MACHINE or each.code == "W207":
            other[each.text] = None
    told = [
        f"found no {kind} {name}" + (f" ({lines(_named(places, main_file))})" if places else "")
        for (kind, name), places in missing.items()
    ]
    told += [f"{what} ({lines(_named(places, main_file))})" for what, places in distributed.items()]
    if procedures:
        several = len(procedures) > 1
        what = f"the {'bodies' if several else 'body'} of {', '.join(procedures)}"
        where = f" ({lines(_named(called, main_file))})" if called else ""
        told.append(f"{what}{where} {'are' if several else 'is'} not interpreted")
    if uncharged:
        told.append(f"{lines(_named(uncharged, main_file))} could not be charged")
    known = {*called, *uncharged}.union(*missing.values(), *distributed.values())
    for warning in warnings:
        places = _at(warning.span)
        if warning.code in UNREAD and not known.intersection(places):
            where = f" ({lines(_named(dict.fromkeys(places), main_file))})" if places else ""
            other[warning.message + where] = None
    return (*told, *other) or (UNNAMED,)


def lines(places: Sequence[str]) -> str:
    """``line 5``, ``lines 5, 6`` or ``lines 1, 2, 3, 4, 5, 6, 7, 8 and 5 more``."""
    text = f"line{'s' if len(places) > 1 else ''} {', '.join(places[:_SHOWN_PLACES])}"
    return text + (f" and {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else "")


def _at(span: Span | None) -> list[tuple[str, int]]:
    return [] if span is None or not span.line else [(span.file, span.line)]


def _named(places: Iterable[tuple[str, int]], main_file: str) -> list[str]:
    return [str(line) if file == main_file else f"{file}:{line}" for file, line in sorted(places)]
