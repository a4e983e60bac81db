"""A comparison of distributions or programs as a table, JSON and CSV."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from esp.explore.compare import Comparison, Ranked
from esp.explore.ties import Certainty, CloseCall, Swap
from esp.incomplete import reasons
from esp.output.assumptions import assumed_of_choices
from esp.output.cells import rows_as_csv
from esp.output.columns import Column, TableRow, table
from esp.output.figures import NOT_FITTING, grid, main_constants, ranked_columns
from esp.output.numbers import listed, one_of, plural, seconds, significant
from esp.output.partial import NOT_RANKED, partial_notes, trusted
from esp.output.pasted import pasted
from esp.output.profile import asked_for, assumed_lines, memory_notes
from esp.output.screen import Screen, flow, paragraph, printable, shorten
from esp.output.sureness import ranged, ranking
from esp.prediction import Prediction, four

_END = {1: "upper", -1: "lower", 0: None}
_DONE = {1: "on", -1: "off"}

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))

_MISSING = ("E312", "E501")
"""Errors that a value mends: their hints are shown."""

_NAMED = 4
"""Choices that are named before "and 5 more"."""

_LONGEST_NAME = 32
"""Columns for formats or the name of a program; what is longer ends in dots."""

_ROOM = 65
"""Columns that the table needs beside the names; with fewer, the parts of the time are left out."""


def comparison_text(found: Comparison, screen: Screen, *, following: str = "") -> str:
    """The table, at most `screen.columns` wide, and what follows from it; `following`: the next command."""
    blocks = [_heading(found, screen), _table(found, screen)]
    notes = _notes(found, screen)
    if following and found.complete:
        notes.append(paragraph("next", following, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]) + "\n"


def _heading(found: Comparison, screen: Screen) -> str:
    sample = found.best.prediction
    files = [printable(each.rsplit("/", 1)[-1]) for each in found.programs]
    name = ", ".join(files) + (" (bundled)" if sample.bundled else "")
    alike = {each: value for each, value in sample.constants.items() if each not in _different(found)}
    constants = main_constants(replace(sample, constants=alike))
    subject = [name, plural(sample.processors, "proc"), sample.system, constants]
    tried = len(found.ranked) + len(found.impossible)
    what = plural(tried, "choice") if len(found.programs) == 1 else plural(tried, "program")
    times_s = [each.time_s for each in found.ranked]
    least, most = seconds(min(times_s)), seconds(max(times_s))
    ranking = f"{what}, {least}" + (f" to {most}" if most != least else "")
    ranking += f", parts in {_unit(found.best.time_s)[1]}" if _room_for_parts(found, screen) else ""
    lines = [screen.paint("strong", flow(filter(None, subject), screen.columns, indent="  "))]
    if found.interrupted:
        lines.append(screen.paint("warm", flow(_stopped(found).split(), screen.columns, " ")))
    lines += partial_notes(_predictions(found), screen)
    if len(found.programs) > 1:
        return "\n".join([*lines, ranking])
    return "\n".join([*lines, *asked_for_all(found, screen), ranking])


def _stopped(found: Comparison) -> str:
    if not found.untried:
        return "stopped: all are predicted and in order; the rest was not tried"
    what = "choice" if len(found.programs) == 1 else "program"
    first = "1 is the fastest so far; " if found.complete else ""
    return f"stopped: {first}{plural(len(found.untried), what)} not tried"


def asked_for_all(found: Comparison, screen: Screen) -> list[str]:
    """What is different from a plain run for all choices alike."""
    sample = found.best.prediction
    shared = {**sample.asked, "distribute": {}, "grid": None}
    return asked_for(replace(sample, asked=shared), screen)


def _table(found: Comparison, screen: Screen) -> str:
    best_s = found.best.time_s
    unit_s, _ = _unit(best_s)
    decimals = 0 if best_s >= 100 * unit_s else 1
    several = len(found.programs) > 1
    columns = [
        Column("#", width=3),
        Column("program" if several else "distribute", "<", gap=1),
        Column("grid", width=4, gap=1),
        Column("time", width=7),
        Column("vs best", width=7, gap=1),
        Column("comp", width=6),
        Column("comm", width=6, gap=1),
        Column("wait", width=5, gap=1),
        Column("ovhd", width=5, gap=1),
        Column("", "<", gap=1),
    ]
    rows = []
    for each in found.ranked:
        mark = "*" if each.written and not several else " "
        cells = [
            f"{each.rank if found.complete else '-'}{mark}",
            _name(each.shown),
            grid(each.grid) or "-",
            seconds(each.time_s),
        ]
        cells += [_behind(each, found) if found.complete else ""]
        cells += [f"{part_s / unit_s:,.{decimals}f}" for part_s in four(each.prediction.parts)]
        fits = each.prediction.fits
        cells += [NOT_FITTING if not fits else "" if each.tie is None else f"tie with {each.tie}"]
        rows.append(TableRow(tuple(cells), "warm" if not fits else "good" if each.rank == 1 and found.complete else ""))
    for shown, why in found.impossible:
        rows.append(TableRow(("-", _name(shown), *["-"] * (len(columns) - 3), why.code), "faint"))
    if not _room_for_parts(found, screen):
        columns = [*columns[:5], columns[-1]]
        rows = [TableRow((*row.cells[:5], row.cells[-1]), row.role) for row in rows]
    return table(columns, rows, screen)


def _behind(each: Ranked, found: Comparison) -> str:
    if not each.prediction.fits:
        return "-"
    return "best" if each.rank == 1 else more(each.time_s, found.best.time_s)


def _room_for_parts(found: Comparison, screen: Screen) -> bool:
    names = [each.shown for each in found.ranked] + [shown for shown, _ in found.impossible]
    return screen.columns >= _ROOM + max(len(_name(each)) for each in names)


def _unit(best_s: float) -> tuple[float, str]:
    """The unit for all parts: one in which the best time has two digits or more."""
    return next((pair for pair in _UNITS if best_s >= 10 * pair[0]), _UNITS[-1])


def _name(shown: str) -> str:
    return shorten(printable(shown.rsplit("/", 1)[-1] if not shown.startswith("(") else shown), _LONGEST_NAME)


def more(time_s: float, best_s: float) -> str:
    """How much longer: ``+3%``, or a factor where percentages grow unreadable."""
    if best_s <= 0:
        return "-"
    ratio = time_s / best_s
    if ratio < 1.0005:
        return "0%"
    if ratio >= 10:
        return f"x{significant(ratio)}"
    return f"+{100 * (ratio - 1):.{1 if ratio < 1.1 else 0}f}%"


def _notes(found: Comparison, screen: Screen) -> list[str]:
    width = screen.columns
    best = found.best
    notes = []
    if not found.complete:
        notes.append(screen.paint("warm", paragraph("order", NOT_RANKED, width)))
    notes += [paragraph("advice", text, width) for text in (keeping(found),) if text]
    if (wanted := found.pasted) is not None:
        notes += pasted(wanted.directives, wanted.replaced, width, wanted.elsewhere)
    notes += [paragraph(label, text, width) for label, text in size_notes(found)]
    notes += memory_notes(_predictions(found), screen)
    written = [each for each in found.ranked if each.written and each.choice is not None]
    if written:
        notes.append(paragraph("*", "the mapping of the source", width))
    if found.left_out:
        told = f"{plural(found.left_out, 'choice')} with flatter grids or further formats not tried"
        notes.append(paragraph("left out", f"{told}; --grid and --distribute name them", width))
    notes += without_prediction([(_name(shown), why) for shown, why in found.impossible], screen)
    if found.differ:
        notes.append(paragraph("differ", "the programs differ in more than their directives", width))
    notes += [paragraph("differ", each, width) for each in _other_work(found)]
    what = "choice" if len(found.programs) == 1 else "program"
    notes += assumed_lines(assumed_of_choices(_predictions(found), [each.rank for each in found.ranked], what), width)
    notes += sure_notes(found.certainty if found.complete and not found.interrupted else None, best.prediction, width)
    return notes


def keeping(found: Comparison) -> str:
    """Whether the source keeps its mapping; nothing where it does not."""
    own = found.recommended
    if own is None or not own.written:
        return ""
    if own.rank == 1:
        what = "change PROCESSORS only" if found.rearranged else "keep what the source has"
        return f"{what}: no choice is faster"
    what = "keep the formats of the source and change PROCESSORS" if found.rearranged else "keep what the source has"
    return f"{what}: {own.rank} ties with 1"


def without_prediction(impossible: Sequence[tuple[str, Diagnostic]], screen: Screen) -> list[str]:
    """The notes on choices without a prediction, those with one reason together."""
    together: dict[str, list[str]] = {}
    for shown, why in impossible:
        where = f"line {why.span.line}: " if why.span.line else ""
        hint = f"; {why.hint}" if why.code in _MISSING else ""
        together.setdefault(f"{where}{why.code} {why.message}{hint}", []).append(shown)
    notes = []
    for reason, names in together.items():
        told = (
            listed(names[:_NAMED])
            if len(names) <= _NAMED
            else f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
        )
        notes.append(screen.paint("warm", paragraph("failed", f"{told}: {reason}", screen.columns)))
    return notes


def sure_notes(found: Certainty | None, best: Prediction, width: int) -> list[str]:
    """How sure the ranking is, where there is one, and how much of the first time uses estimates."""
    if found is None or not best.fits:
        return [paragraph("trust", trusted(best, "time 1"), width)]
    said = [*ranking(found), ranged(best, "the best time")]
    return [paragraph("" if at else "trust", text, width) for at, text in enumerate(said)]


def _predictions(found: Comparison) -> list[Prediction]:
    return [each.prediction for each in found.ranked]


def size_notes(found: Comparison) -> list[tuple[str, str]]:
    """Which choice wins at which sizes, as far as it was tried: labels and texts."""
    crossing = found.crossover
    if found.scan is not None:
        told = []
        for start, end, ranks in found.scan.runs:
            sizes = f"{start} to {end}" if end != start else f"{start}"
            names = [f"{rank} {found.ranked[rank - 1].shown}" for rank in ranks]
            told.append(f"{found.scan.name} = {sizes}{_fixed(found.scan.fixed)}: {one_of(names)}")
        return [("fastest" if not at else "", text) for at, text in enumerate(told)]
    if crossing is None:
        return []
    name, smallest, last = crossing.name, crossing.sizes[0], crossing.sizes[-1]
    fixed = _fixed(crossing.fixed)
    if crossing.rival is None:
        some = [str(each) for each in crossing.challengers]
        others = f"choices {listed(some)} are" if len(some) > 1 else f"choice {some[0]} is"
        return [("size", f"at {name} = {smallest}{fixed}, {others} not faster than 1")]
    rival = found.ranked[crossing.rival - 1]
    there = f"at {name} = {smallest}, " + (f"{rival.rank} is faster" if crossing.rival_wins else "they tie")
    if crossing.wins_from is None:
        text = f"1 and {rival.rank}, {rival.shown}, tie at {name} = {last}{fixed}; "
        text += there if crossing.rival_wins else f"{there}, too"
    else:
        start = crossing.wins_from
        before = max((each for each in crossing.tried if each < start), default=smallest)
        alone = start == last and not crossing.wins_above
        where = f"at {name} = {last}{' alone' * crossing.special}" if alone else f"for {name} = {start} to {last}"
        if crossing.wins_above:
            where = f"for {name} = {last} and {crossing.above}"
        where += fixed + (f", not at {name} = {before}" if before > smallest else "")
        where += f" or {crossing.above}" if alone and crossing.above is not None else ""
        text = f"1 is faster than {rival.rank}, {rival.shown}, {where}; {there}"
        if crossing.special and crossing.wins_above:
            text += f"; {name} = {last} is special: {rival.rank} takes longer there than at {name} = {crossing.above}"
        elif crossing.special:
            text += f"; {name} = {last} is a special size, not a threshold"
    tried = (*crossing.tried, *((crossing.above,) if crossing.above is not None else ()))
    return [("size", f"{text} (tried {name} = {', '.join(str(each) for each in tried)})")]


def _different(found: Comparison) -> list[str]:
    """The constants that some of several programs have with different values."""
    values: dict[str, set[object]] = {}
    for each in found.ranked:
        for name, value in each.prediction.constants.items():
            values.setdefault(name, set()).add(str(value))
    return [name for name, several in values.items() if len(several) > 1]


def _other_work(found: Comparison) -> list[str]:
    """That programs have constants with different values, and which of them."""
    different = _different(found)
    if not different:
        return []
    name = different[0]
    having = [each for each in found.ranked if name in each.prediction.constants]
    each_has = listed([f"{each.prediction.constants[name]} in {_name(each.shown)}" for each in having[:_NAMED]])
    more = f", and {plural(len(different) - 1, 'other constant')}" if len(different) > 1 else ""
    return [f"the programs may do different work: {name} is {each_has}{more}"]


def _fixed(fixed: Mapping[str, int]) -> str:
    """The sizes that stay while another one is varied."""
    return f", with {listed([f'{name} = {value}' for name, value in fixed.items()])}" if fixed else ""


def comparison_json(found: Comparison) -> str:
    """The JSON text; docs/explore.md describes its fields."""
    from esp.output.json import text_of

    best = found.best.prediction
    partial = reasons(_predictions(found))
    crossing = found.crossover
    told: dict[str, Any] = {
        "programs": list(found.programs),
        "system": best.system,
        "processors": best.processors,
        "constants": {
            name: each if isinstance(each, bool | int | float | str) else str(each)
            for name, each in best.constants.items()
        },
        "choices": [{**_choice(each), "rank": each.rank if found.complete else None} for each in found.ranked],
        "impossible": [{"choice": shown, "code": why.code, "text": why.message} for shown, why in found.impossible],
        "left_out": found.left_out,
        "interrupted": found.interrupted,
        "untried": list(found.untried),
        "certainty": certainty_json(found.certainty) if found.complete and not found.interrupted else None,
        "partial": list(partial),
        "paste": [] if found.pasted is None else list(found.pasted.pasted),
        "crossover": None
        if crossing is None
        else {
            "parameter": crossing.name,
            "sizes": list(crossing.sizes),
            "tried": list(crossing.tried),
            "challengers": list(crossing.challengers),
            "wins_from": crossing.wins_from,
            "rival": crossing.rival,
            "rival_wins": crossing.rival_wins,
            "tolerance": crossing.tolerance,
            "above": crossing.above,
            "wins_above": crossing.wins_above,
            "special": crossing.special,
            "fixed": dict(crossing.fixed),
        },
        "fastest": None
        if found.scan is None
        else {
            "parameter": found.scan.name,
            "sizes": list(found.scan.sizes),
            "choices": list(found.scan.best),
            "fixed": dict(found.scan.fixed),
        },
    }
    return text_of(told)


def certainty_json(found: Certainty) -> dict[str, Any]:
    """How sure a ranking is; docs/explore.md describes the fields."""
    return {
        "equal": list(found.equal),
        "close": [each.rank for each in found.close],
        "close_calls": [
            {"rank": each.rank, "share": each.share, "ahead": each.ahead, "model_error": each.error, **_decided(each)}
            for each in found.close
        ],
        "slower": list(found.slower),
        "far": list(found.far),
        "untried": list(found.untried),
        "swaps": [{"rank": each.rank, "share": each.share, **_decided(each)} for each in found.swaps],
        "model_error": found.error,
        "tried": found.tried,
    }


def _decided(each: Swap | CloseCall) -> dict[str, Any]:
    """What decides a tie, where one thing does."""
    return {
        "quantity": each.quantity or None,
        "end": None if each.compiler else _END[each.way],
        "compiler": _DONE[each.way] if each.compiler else None,
    }


def _choice(each: Ranked) -> dict[str, Any]:
    from esp.output.json import assumptions

    return {
        "rank": each.rank,
        "choice": each.shown,
        "distribute": {} if each.choice is None else dict(each.choice.formats),
        "grid": list(each.grid),
        **ranked_columns(each.prediction, each.time_s),
        "stated_error": each.error,
        "tie": each.tie,
        "written": each.written,
        "complete": each.prediction.complete,
        "fits": each.prediction.fits,
        "assumptions": assumptions(each.prediction.assumptions),
    }


def comparison_rows(found: Comparison) -> list[dict[str, object]]:
    """One row for each choice, the fastest first."""
    return [
        {
            "rank": each.rank if found.complete else None,
            "choice": each.shown,
            "grid": grid(each.grid),
            **ranked_columns(each.prediction, each.time_s),
            "tie": each.tie,
            "written": each.written,
            "complete": each.prediction.complete,
            "fits": each.prediction.fits,
        }
        for each in found.ranked
    ]


def comparison_csv(found: Comparison) -> str:
    """One row for each choice, the fastest first: SI units, full precision."""
    return rows_as_csv(comparison_rows(found))
