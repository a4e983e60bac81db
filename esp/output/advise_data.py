"""Advice as JSON and rows; docs/advise.md describes the fields."""

from typing import Any

from esp.explore.advise import Advice, Advised, Candidate
from esp.explore.advise_phases import Phases
from esp.explore.advise_reasons import Reasons, ReasonSide
from esp.explore.choices import with_elsewhere
from esp.incomplete import reasons as why_partial
from esp.output.compare import certainty_json
from esp.output.figures import grid, ranked_columns


def advice_json(found: Advice) -> str:
    """The JSON text; docs/advise.md describes its fields."""
    from esp.explore.advise_reasons import reasons
    from esp.output.json import text_of

    best = found.best.prediction
    partial = why_partial([each.prediction for each in found.ranked])
    told: dict[str, Any] = {
        "program": found.file,
        "system": best.system,
        "processors": list(found.procs),
        "constants": {
            name: each if isinstance(each, bool | int | float | str) else str(each)
            for name, each in best.constants.items()
        },
        "interrupted": found.interrupted,
        "top": found.top,
        "proven": found.proven,
        "floor_s": found.floor_s,
        "choices": [
            {
                **_ranked(each),
                "rank": each.rank if found.complete else None,
                "reasons": _reasons(reasons(best, each.prediction)) if found.complete and each.rank > 1 else None,
            }
            for each in found.ranked
        ],
        "excluded": [{**_choice(each.candidate), "bound_s": each.bound_s} for each in found.excluded],
        "impossible": [{"choice": shown, "code": why.code, "text": why.message} for shown, why in found.impossible],
        "left_out": found.left_out,
        "may_tie": found.may_tie,
        "certainty": certainty_json(found.certainty) if found.complete else None,
        "partial": list(partial),
        "paste": list(_paste(found)),
        "phases": None if found.phases is None else _phases_told(found, found.phases),
    }
    return text_of(told)


def _choice(candidate: Candidate) -> dict[str, Any]:
    return {
        "distribute": dict(candidate.choice.formats),
        "align": [each.removeprefix("!HPF$ ALIGN ") for each in candidate.directives if " ALIGN " in each],
        "processors": candidate.procs,
        "grid": list(candidate.grid),
        "written": candidate.written,
    }


def _phases_told(found: Advice, told: Phases) -> dict[str, Any]:
    return {
        "one": _choice(found.mappings[told.one]),
        "one_s": told.one_s,
        "parts": [
            {"first": each.first, "last": each.last, "time_s": each.time_s, **_choice(found.mappings[each.mapping])}
            for each in told.parts
        ],
        "parts_s": told.parts_s,
        "moves": told.moves,
        "move_s": told.move_s,
        "break_even": told.break_even,
        "pays": told.pays,
    }


def _ranked(each: Advised) -> dict[str, Any]:
    from esp.output.json import assumptions

    return {
        "rank": each.rank,
        **_choice(each.candidate),
        **ranked_columns(each.prediction, each.time_s),
        "stated_error": each.error,
        "tie": each.tie,
        "complete": each.prediction.complete,
        "fits": each.prediction.fits,
        "assumptions": assumptions(each.prediction.assumptions),
    }


def advice_rows(found: Advice) -> list[dict[str, object]]:
    """One row for each mapping that was predicted, the fastest first."""
    return [
        {
            "rank": each.rank if found.complete else None,
            "mapping": each.candidate.shown,
            "processors": each.candidate.procs,
            "grid": grid(each.candidate.grid),
            **ranked_columns(each.prediction, each.time_s),
            "tie": each.tie,
            "written": each.candidate.written,
            "complete": each.prediction.complete,
            "fits": each.prediction.fits,
        }
        for each in found.ranked
    ]


def _reasons(told: Reasons) -> dict[str, Any]:
    return {
        "change_s": told.change_s,
        "rest_s": told.rest_s,
        "differences": [
            {
                "file": each.file,
                "line": each.line,
                "category": each.category,
                "change_s": each.change_s,
                "best": _side(each.best),
                "other": _side(each.other),
            }
            for each in told.told
        ],
    }


def _side(side: ReasonSide) -> dict[str, Any]:
    return {
        "time_s": side.time_s,
        "misses": side.misses,
        "communication": [
            {"pattern": each.pattern, "array": each.array, "messages": each.messages, "bytes": each.bytes}
            for each in side.messages
        ],
    }


def _paste(found: Advice) -> tuple[str, ...]:
    """The lines of the mapping that is recommended; none where the source has them."""
    if found.recommended is None:
        return ()
    candidate = found.recommended.candidate
    return with_elsewhere(candidate.directives, candidate.elsewhere)
