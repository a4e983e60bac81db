"""What a prediction leaves out: the one source of what every view says about it.

What is left out may make the program slower or, as a remapping does, faster: the time is incomplete, and no bound.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from esp.incomplete import UNNAMED, reasons
from esp.output.numbers import percent
from esp.output.screen import Screen, paragraph, printable
from esp.prediction import Prediction, first

INCOMPLETE = " incomplete"
"""After the time of an incomplete prediction."""

NOT_RANKED = "the predictions are incomplete, so nothing is ranked"
"""What a table of choices says then (Def 20)."""

_SHOWN = 3
"""Reasons that are shown before "and 5 more"."""


def reasons_said(said: Mapping[str, Any]) -> tuple[str, ...]:
    """As `reasons`, of a prediction as docs/json.md describes it; an older one does not name them."""
    if said.get("complete", True):
        return ()
    return tuple(said.get("partial", ())) or (UNNAMED,)


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
