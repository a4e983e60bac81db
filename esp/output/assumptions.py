"""What a prediction rests on beside source and machine: each fact once, with all the places it holds at."""

import re
from collections.abc import Iterable, Mapping, Sequence

from aag.diagnostics import Span
from esp.incomplete import lines
from esp.output.numbers import listed_ranks
from esp.prediction import Prediction, unplaced
from interpreter.result import Assumption

MEMORY = "memory"
"""The code of data that do not fit in the memory of a node."""

NOTHING = "nothing"
"""What is said where nothing is assumed."""

_SHARE = re.compile(r"\b\d+%")

_SHOWN = 6
"""Assumptions that are shown before "and 5 more"."""


def assumed(predictions: Sequence[Prediction]) -> list[str]:
    """What neither the source nor the machine description settles: one sentence each, with its lines.

    Where several predictions assume the like of one place, one sentence speaks for all.
    """
    return assumed_among([each.assumptions for each in predictions], predictions[0].file if predictions else "")


def assumed_among(found: Iterable[Iterable[Assumption]], main_file: str = "") -> list[str]:
    """As `assumed`, of the assumptions of several predictions. `main_file`, or the first one that appears, is not
    named."""
    places: dict[str, dict[str, None]] = {}
    alike: dict[tuple[str, Span], list[str]] = {}
    for assumptions in found:
        new: dict[tuple[str, Span], str] = {}
        for each in assumptions:
            if each.code == MEMORY:  # `esp.output.figures.not_fitting` says it
                continue
            if each.span is None or not each.span.line:
                places.setdefault(each.text, {})
            elif (each.code, each.span) in alike:
                alike[each.code, each.span].append(unplaced(each))
            else:
                new[each.code, each.span] = unplaced(each)
                main_file = main_file or each.span.file
                places.setdefault(unplaced(each), {})[_at(each, main_file)] = None
        alike |= {place: [text] for place, text in new.items()}
    spoken = {texts[0]: _together(texts) for texts in alike.values()}
    return _first_of(_with_places({spoken.get(text, text): tuple(at) for text, at in places.items()})) or [NOTHING]


def _with_places(places: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Sentences with their places; of those that differ in a share only, one with each share beside its places."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for text, at in places.items():
        shares = _SHARE.findall(text)
        where = f" ({lines(at)})" if at else ""
        pattern = _SHARE.sub("{}", text.replace("{", "{{").replace("}", "}}")) if len(shares) == 1 and at else ""
        alike.setdefault(pattern or text, []).append((shares[0], where) if pattern else ("", where))
    told = []
    for text, found in alike.items():
        if len(found) == 1 and not found[0][0]:
            told.append(text + found[0][1])
        elif len(found) == 1:
            told.append(text.format(found[0][0]) + found[0][1])
        else:
            told.append(text.format(", ".join(share + where for share, where in found)))
    return told


def assumed_of_choices(predictions: Sequence[Prediction], ranks: Sequence[int], what: str = "choice") -> list[str]:
    """As `assumed`, of choices, the first of which is the best: with what it assumes, and then what only others do."""
    best, *others = predictions
    known = {_key(each, best) for each in best.assumptions}
    places: dict[str, dict[str, None]] = {}
    holders: dict[str, dict[int, None]] = {}
    for rank, other in zip(ranks[1:], others, strict=True):
        for each in other.assumptions:
            if each.code != MEMORY and _key(each, other) not in known:
                text = unplaced(each)
                holders.setdefault(text, {})[rank] = None
                at = _at(each, best.file)
                places.setdefault(text, {}).update({at: None} if at else {})
    told = assumed([best])
    if holders:
        told = [each for each in told if each != NOTHING]
    for text, who in holders.items():
        of = f"{what}{'s' * (len(who) > 1)} {listed_ranks(tuple(who))}"
        told.append(f"{text} ({'; '.join(filter(None, (lines(tuple(places[text])) if places[text] else '', of)))})")
    return _first_of(told)


def _key(found: Assumption, prediction: Prediction) -> tuple[str, str]:
    """The same for an assumption of two choices of one program, whatever numbers its text has."""
    return (found.code, _at(found, "") or f"{prediction.file} {found.text}")


def _at(found: Assumption, main_file: str) -> str:
    """The place of an assumption: its line, with the file where that is another one."""
    if found.span is None or not found.span.line:
        return ""
    return str(found.span.line) if found.span.file == main_file else f"{found.span.file}:{found.span.line}"


def _first_of(told: list[str]) -> list[str]:
    more = len(told) - _SHOWN
    return [*told[:_SHOWN], f"and {more} more (--json lists all)"] if more > 0 else told


def _together(texts: Sequence[str]) -> str:
    """One sentence for several that differ in one word only; else the first.

    >>> _together(["using grid 1x1 instead of P(4)", "using grid 2x1 instead of P(4)"])
    'using grid 1x1 or 2x1 instead of P(4)'
    """
    words = [each.split(" ") for each in dict.fromkeys(texts)]
    columns = [list(dict.fromkeys(column)) for column in zip(*words, strict=False)]
    if len({len(each) for each in words}) > 1 or sum(len(each) > 1 for each in columns) != 1:
        return texts[0]
    return " ".join(" or ".join(filter(None, (", ".join(each[:-1]), each[-1]))) for each in columns)
