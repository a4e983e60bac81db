"""Advice as text and JSON: the best mappings, why they are, and what the search has left out."""

from typing import Any

from esp.explore.advise import Advice, Advised, Candidate, Excluded
from esp.explore.advise_phases import Phases
from esp.explore.advise_reasons import Reason, Reasons, ReasonSide
from esp.explore.ties import FAR
from esp.output.assumptions import assumed_of_choices
from esp.output.columns import Column, TableRow, table
from esp.output.compare import more, sure_notes, without_prediction
from esp.output.figures import NOT_FITTING, ROUNDING, grid, main_constants, messages, missed_by_all, source_text
from esp.output.numbers import percent, plural, seconds, significant
from esp.output.partial import NOT_RANKED, partial_notes
from esp.output.pasted import pasted
from esp.output.profile import asked_for, assumed_lines, memory_notes
from esp.output.screen import Screen, flow, paragraph, printable, shorten
from esp.output.sureness import tie_of
from esp.prediction import Prediction, first, four

MOST_EXCLUDED = 4
"""Choices that are shown although they were not predicted."""

_ROOM = 54
"""Columns that the table needs beside the mapping; with fewer, the parts of the time are left out."""

_NOTHING = 1e-4
"""Share of the time below which a difference is not explained."""

_UNBALANCED = 0.02
"""Difference of load imbalance (Def 4) that is told."""

_HARDLY = 0.01
"""Break-even below which the parts of a program are not listed."""

_EXPLAINED = 3
"""Runners-up whose difference is explained."""

_NO_ADVICE = f"none: {NOT_RANKED}"
"""What is said where time is missing."""

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def advice_text(found: Advice, screen: Screen, *, following: str = "") -> str:
    """The advice, at most `screen.columns` wide; `following`: the next command."""
    blocks = [_heading(found, screen), _table(found, screen), *(_why(found, screen) if found.complete else [])]
    if found.phases is not None:
        blocks.append(_phases(found, found.phases, screen))
    notes = _notes(found, screen)
    if following and found.complete:
        notes.append(paragraph("next", following, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]) + "\n"


def _heading(found: Advice, screen: Screen) -> str:
    best = found.best.prediction
    name = printable(found.file.rsplit("/", 1)[-1]) + (" (bundled)" if best.bundled else "")
    subject = [name, best.system, main_constants(best)]
    total = len(found.ranked) + len(found.excluded) + len(found.impossible)
    numbers = ", ".join(map(str, found.procs))
    searched = f"{plural(total, 'choice')} on {numbers} {'proc' if found.procs == (1,) else 'procs'}: "
    searched += f"{len(found.ranked):,} predicted, "
    if found.interrupted or not found.complete:
        searched += f"{len(found.excluded):,} not predicted"
    else:
        searched += f"{len(found.excluded):,} ruled out by lower bounds"
    if found.impossible:
        searched += f", {len(found.impossible):,} failed"
    searched += ","
    lines = [screen.paint("strong", flow(filter(None, subject), screen.columns, indent="  "))]
    lines += partial_notes(_predictions(found), screen)
    from msgspec.structs import replace

    lines += asked_for(replace(best, asked={**best.asked, "distribute": {}, "grid": None}), screen)
    lines.append(flow([*searched.split(), f"parts in {_unit(found)[1]}"], screen.columns, " "))
    if found.interrupted:
        lines.append(screen.paint("warm", flow(_stopped(found).split(), screen.columns, " ")))
    return "\n".join(lines)


def _stopped(found: Advice) -> str:
    if found.proven:
        return "stopped, but the best is found: nothing else can be faster"
    if found.floor_s > 0:
        return f"stopped: 1 is the best so far; nothing can take less than {seconds(found.floor_s)}"
    return "stopped: 1 is the best so far"


def _unit(found: Advice) -> tuple[float, str]:
    return next((pair for pair in _UNITS if found.best.time_s >= 10 * pair[0]), _UNITS[-1])


def _table(found: Advice, screen: Screen) -> str:
    best_s = found.best.time_s
    unit_s = _unit(found)[0]
    decimals = 0 if best_s >= 100 * unit_s else 1
    several = len(found.procs) > 1
    columns = [
        Column("#", width=3),
        Column("time", width=7, gap=1),
        Column("vs best", width=7, gap=1),
        *(Column(each, width=5, gap=1) for each in ("comp", "comm", "wait", "ovhd")),
        Column("procs", width=5, gap=1),
        Column("grid", width=4, gap=1),
        Column("", "<", gap=1),
        Column("mapping", "<", gap=1),
    ]
    rows = []
    shown = [each for each in found.ranked if each.rank <= found.top or each.candidate.written]
    for each in shown:
        candidate = each.candidate
        mark = "*" if candidate.written else " "
        parts = [f"{part_s / unit_s:,.{decimals}f}" for part_s in four(each.prediction.parts)]
        fits = each.prediction.fits
        behind = "-" if not fits else "best" if each.rank == 1 else more(each.time_s, best_s)
        cells = [
            f"{each.rank if found.complete else '-'}{mark}",
            seconds(each.time_s),
            behind if found.complete else "",
        ]
        cells += [*parts, str(candidate.procs), grid(candidate.grid) or "-"]
        cells += [
            "" if each.tie is None else f"={each.tie}",
            _mapping(candidate) if fits else f"{_mapping(candidate)}, {NOT_FITTING}",
        ]
        rows.append(TableRow(tuple(cells), "warm" if not fits else "good" if each.rank == 1 and found.complete else ""))
    for out in _bounded(found)[:MOST_EXCLUDED] if found.complete else ():
        # A bound below the best is there only where the search was stopped.
        behind = f"> {more(out.bound_s, best_s)}" if out.bound_s > best_s else "?"
        bound = f"> {seconds(out.bound_s)}", behind if found.best.prediction.fits else "-"
        cells = ["-", *bound, *[""] * 4, str(out.candidate.procs), grid(out.candidate.grid) or "-", ""]
        rows.append(TableRow((*cells, _mapping(out.candidate)), "faint"))
    hidden = set() if several else {7}
    longest = max(len(row.cells[-1]) for row in rows)
    if longest > screen.columns - _ROOM - 6 * several:
        hidden |= {3, 4, 5, 6}
    columns = [column for at, column in enumerate(columns) if at not in hidden]
    rows = [TableRow(tuple(cell for at, cell in enumerate(row.cells) if at not in hidden), row.role) for row in rows]
    text = table(columns, rows, screen, flexible=True)
    below = ("    " + flow(told.split(), screen.columns - 4, " ", "  ") for told in _more_of(found))
    return "\n".join([text, *(screen.paint("faint", told) for told in below)])


def _more_of(found: Advice) -> list[str]:
    """What the table does not show."""
    told = []
    rest = [each for each in found.ranked[found.top :] if not each.candidate.written]
    fitting = [each.time_s for each in rest if each.prediction.fits]
    if fitting:
        behind = f", {_behind(fitting, found)} behind the best" if found.complete else ""
        told.append(f"and {len(fitting):,} more that {_were(len(fitting))} predicted{behind}")
    over = len(rest) - len(fitting)
    if over:
        told.append(f"and {over:,} more that {'does' if over == 1 else 'do'} not fit in memory")
    if not found.complete:
        return told
    bounded = _bounded(found)
    more = bounded[MOST_EXCLUDED:]
    if more:
        told.append(f"and {len(more):,} more that {_were(len(more))} not, above {seconds(more[0].bound_s)}")
    unknown = len(found.excluded) - len(bounded)
    if unknown:
        told.append(f"and {unknown:,} more of which nothing is known yet")
    return told


def _bounded(found: Advice) -> list[Excluded]:
    """What was not predicted, but is known to take more than some time."""
    return [each for each in found.excluded if each.bound_s > 0]


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _behind(rest: list[float], found: Advice) -> str:
    """How far what was predicted beyond the best is behind it."""
    low, high = (more(time_s, found.best.time_s).removeprefix("+") for time_s in (rest[0], rest[-1]))
    return low if low == high else f"{low} to {high}"


def _mapping(candidate: Candidate) -> str:
    return printable(candidate.shown)


# --- why ---


def _why(found: Advice, screen: Screen) -> list[str]:
    from esp.explore.advise_reasons import reasons

    best = found.best.prediction
    others = list(found.ranked[1:_EXPLAINED])
    own = found.written
    if own is not None and own.rank > _EXPLAINED:
        others.append(own)
    if found.best.prediction.fits:
        others = [each for each in others if each.prediction.fits]
    return [_against(each, reasons(best, each.prediction), best, screen) for each in others]


def _against(other: Advised, told: Reasons, best: Any, screen: Screen) -> str:
    width = screen.columns
    where = grid(other.candidate.grid) or str(other.candidate.procs)
    ahead = f"{other.rank}, {shorten(_mapping(other.candidate), 40)} on {where}"
    if abs(told.change_s) <= _NOTHING * first(best.time_s):
        by = "takes as long as 1"
        if abs(told.change_s) > ROUNDING * first(best.time_s):
            by = f"takes only {seconds(abs(told.change_s))} {'longer' if told.change_s > 0 else 'less'}"
        return flow(f"{ahead}, {by}".split(), width, " ", "  ")
    head = f"why 1 beats {ahead}, by {seconds(told.change_s)}:"
    if other.tie == 1:
        head = f"{ahead}, ties with 1, which is {seconds(told.change_s)} ahead (see trust):"
    lines = [flow(head.split(), width, " ", "  ")]
    mine, theirs = told.imbalance
    if abs(theirs - mine) > _UNBALANCED:
        balance = f"1: the busiest processor computes {significant(mine)} times the mean; "
        lines.append(paragraph("  balance", f"{balance}{other.rank}: {significant(theirs)} times", width, 11))
    explained: set[tuple[int, bool]] = set()
    for each in told.told:
        head = f"  line {each.line:<4} {_signed(each.change_s):>9} {each.category:<13}"
        source = shorten(" ".join(printable(source_text(best, each.file, each.line)).split()), width - len(head) - 2)
        lines.append(f"{head}  {source}".rstrip())
        procs = best.processors, other.prediction.processors
        kind = each.line, each.category in ("communication", "waiting")
        if kind not in explained or not kind[1]:
            lines += [paragraph("", text, width, 16) for text in _because(each, procs, other.rank)]
        explained.add(kind)
    if abs(told.rest_s) > 1e-3 * abs(told.change_s):
        lines.append(f"  the rest  {_signed(told.rest_s):>9}")
    return "\n".join(lines)


def _because(reason: Reason, procs: tuple[int, int], rank: int) -> list[str]:
    """What stands behind a difference, first with the best mapping and then with the other one."""
    sides = (("1", reason.best, procs[0]), (str(rank), reason.other, procs[1]))
    if reason.category == "overhead":
        told = [f"{seconds(side.time_s)} a processor for packing, guards and indices" for _, side, _ in sides]
    elif reason.category == "computation":
        told = [f"{seconds(side.time_s)} a processor, {missed_by_all(side.misses)}" for _, side, _ in sides]
    else:
        told = [_moved(side, number, than) for (_, side, number), (_, than, _) in zip(sides, sides[::-1], strict=True)]
        if reason.category == "waiting" and not any(side.messages for _, side, _ in sides):
            told = [
                f"the slowest processor spends {seconds(side.most_s)} here" if side.most_s is not None else ""
                for _, side, _ in sides
            ]
    if told[0] == told[1]:
        return []
    return [f"{name}: {text}" for (name, _, _), text in zip(sides, told, strict=True) if text]


def _moved(side: ReasonSide, procs: int, than: ReasonSide) -> str:
    """The largest operation that the other one has not, and how many more there are."""
    if not side.messages:
        return "no message"
    own = next((each for each in side.messages if each not in than.messages), side.messages[0])
    text = messages(own, procs)
    return text + (f", and {plural(len(side.messages) - 1, 'other operation')}" if len(side.messages) > 1 else "")


def _signed(value_s: float) -> str:
    return ("+" if value_s >= 0 else "-") + seconds(abs(value_s))


# --- phases ---


def _phases(found: Advice, told: Phases, screen: Screen) -> str:
    """Whether REDISTRIBUTE between parts of the program pays, and from where on."""
    width = screen.columns
    one = _placed(found.mappings[told.one])
    lines = [paragraph("phases", f"one mapping for all, {one}, takes {seconds(told.one_s)}", width)]
    if len(told.parts) < 2:
        return "\n".join([*lines, paragraph("", "no part of the program is faster under another one", width)])
    if told.break_even < _HARDLY:
        gain = seconds(max(0.0, told.one_s - told.parts_s))
        text = f"REDISTRIBUTE does not pay: all parts would gain {gain}, moving costs {seconds(told.move_s)}"
        return "\n".join([*lines, paragraph("", text, width)])
    for part in told.parts:
        span = f"lines {part.first} to {part.last}" if part.last > part.first else f"line {part.first}"
        where = _placed(found.mappings[part.mapping])
        lines.append(paragraph("", f"{span}: {seconds(part.time_s)} under {where}", width))
    moved = f"the data move {plural(told.moves, 'time')}, {seconds(told.move_s)} in all"
    lines.append(paragraph("", f"that is {seconds(told.parts_s)}, and {moved}", width))
    times = f"{seconds(told.parts_s + told.move_s)} instead of {seconds(told.one_s)}"
    limit = significant(told.break_even)
    if told.pays:
        verdict = f"REDISTRIBUTE pays: {times}; it does while moving costs less than {limit} times that (break-even)"
    else:
        verdict = f"REDISTRIBUTE does not pay: {times}; it would if moving cost less than {limit} of that (break-even)"
    return "\n".join([*lines, paragraph("", verdict, width)])


def _placed(candidate: Candidate) -> str:
    return f"{_mapping(candidate)} on {grid(candidate.grid) or candidate.procs}"


# --- notes ---


def _notes(found: Advice, screen: Screen) -> list[str]:
    width = screen.columns
    notes = [paragraph("advice", _verdict(found) if found.complete else _NO_ADVICE, width)]
    if found.recommended is not None:
        candidate = found.recommended.candidate
        notes += pasted(candidate.directives, candidate.replaced, width, candidate.elsewhere)
    if any(each.candidate.written for each in found.ranked):
        notes.append(paragraph("*", "the mapping of the source", width))
    notes += memory_notes(_predictions(found), screen)
    if found.complete and found.may_tie and not found.interrupted:
        told = f"{plural(found.may_tie, 'choice')} not predicted may tie with 1, but none beats it"
        notes.append(paragraph("", f"{told}; --top {found.top + found.may_tie} predicts more", width))
    if found.left_out:
        told = f"{plural(found.left_out, 'choice')} with flatter grids, further formats or alignments not tried"
        notes.append(paragraph("left out", f"{told}; --grid and --distribute name them", width))
    notes += without_prediction([(shorten(printable(shown), 40), why) for shown, why in found.impossible], screen)
    ranks = [each.rank for each in found.ranked]
    notes += assumed_lines(assumed_of_choices(_predictions(found), ranks), width)
    notes += sure_notes(found.certainty if found.complete else None, found.best.prediction, width)
    near = sum(0 < each.bound_s <= FAR * found.best.time_s for each in found.excluded)
    if near and found.complete and found.best.prediction.fits:
        which = f"{plural(near, 'choice')} {'not predicted' if found.interrupted else 'ruled out'}"
        told = f"{which} with the given figures only: the ranges of the estimated figures are not tried"
        notes.append(paragraph("", told, width))
    return notes


def _predictions(found: Advice) -> list[Prediction]:
    return [each.prediction for each in found.ranked]


def _verdict(found: Advice) -> str:
    """What to do, in a sentence."""
    best, own = found.best, found.written
    ahead = "" if found.proven else "best so far: "
    where = f"{best.candidate.shown} on {grid(best.candidate.grid) or best.candidate.procs}"
    if len(found.procs) > 1 and len(best.candidate.grid) > 1:
        where += f" = {plural(best.candidate.procs, 'proc')}"
    if not best.prediction.fits:
        return "none: no mapping tried fits in memory; take more processors or a smaller size"
    if own is not None and not own.prediction.fits:
        return f"{ahead}use {where}: the mapping of the source does not fit in memory"
    kept = found.recommended.candidate if found.recommended is not None else best.candidate
    if kept.written and kept.directives:
        return f"{ahead}{_rearranged(found, where)}"
    if best.candidate.written:
        return f"{ahead}keep what the source has: nothing tried is faster than {where}"
    if own is None:
        return f"{ahead}use {where}"
    if own.tie == 1:
        less = percent(1 - best.time_s / own.time_s)
        return f"{ahead}keep what the source has: {where} is {less} faster, a tie: {tie_of(found.certainty, own.rank)}"
    times = f"{seconds(best.time_s)} instead of {seconds(own.time_s)}"
    return f"{ahead}use {where}: {times}, {_faster(own.time_s, best.time_s)}"


def _rearranged(found: Advice, where: str) -> str:
    """What to do where the formats of the source stay and its PROCESSORS do not."""
    own = found.recommended
    assert own is not None
    if own.rank == 1:
        return f"change PROCESSORS only: nothing tried is faster than the formats of the source, {where}"
    told = "keep the formats of the source and change PROCESSORS"
    less = percent(1 - found.best.time_s / own.time_s)
    return f"{told}: {where} is {less} faster, a tie: {tie_of(found.certainty, own.rank)}"


def _faster(own_s: float, best_s: float) -> str:
    if own_s >= 2 * best_s > 0:
        return f"{significant(own_s / best_s)} times as fast"
    return f"{percent(1 - best_s / own_s)} less"
