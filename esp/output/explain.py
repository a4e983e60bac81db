"""`esp explain` as text: each row of the formula is a product that can be multiplied out."""

import re
from collections.abc import Sequence

from esp.inspect.explain import Communication, CostFormula, Explanation, Term
from esp.inspect.messages import Wait
from esp.output.columns import Column, TableRow, table
from esp.output.figures import messages, placed, source_text
from esp.output.numbers import count, listed, percent, plural, seconds
from esp.output.profile import heading
from esp.output.screen import Screen, flow, paragraph, printable, shorten
from esp.prediction import CATEGORIES, first, four

_MOST_TERMS = 12
"""Terms of a formula that are shown by themselves."""

_MOST_PHASES = 8
"""Phases of messages that are shown."""

_MOST_CALLS = 4
"""Calls whose arguments are shown."""

_UNMOVED = 0.0005
"""Share of a time below which a change leaves it as it is."""

_PART = re.compile(r"\d*\s*(end|else|contains|continue)(?!\w*\s*=)", re.IGNORECASE)
"""The beginning of a line that divides or ends something."""

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps"))


def explanation(explained: Explanation, screen: Screen, *, every: bool = False, following: str = "") -> str:
    """The text. `every`: all terms and phases, however many; `following`: the next command worth typing."""
    blocks = [heading(explained.prediction, screen), _line(explained, screen)]
    if explained.aaus:
        blocks.append(_decisions(explained, screen))
    if explained.communications:
        shown = [_communication(each, explained, screen, every=every) for each in explained.communications]
        blocks.append("\n".join([screen.paint("strong", "messages"), *shown]))
    if explained.formulas:
        blocks.append(_formulas(explained, screen, every=every))
    notes = _notes(explained, screen)
    if following:
        notes.append(paragraph("next", following, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]).rstrip() + "\n"


def _line(explained: Explanation, screen: Screen) -> str:
    prediction = explained.prediction
    text = printable(source_text(prediction, explained.file, explained.line)).strip()
    where = placed(explained.file, explained.line, prediction.file)
    head = screen.paint("strong", paragraph(f"line {where}", text or "(an empty line)", screen.columns))
    if explained.asked != explained.line:
        head += "\n" + paragraph("", f"line {explained.asked} is part of it", screen.columns)
    if explained.metrics is None:
        return f"{head}\n" + paragraph("", _timeless(explained, text), screen.columns)
    time_s, total_s = first(explained.metrics.time_s), first(prediction.time_s)
    pieces = [f"{seconds(time_s)}, {percent(time_s / total_s if total_s else 0.0)} of the time"]
    pieces += [f"{name} {seconds(each)}" for name, each in zip(CATEGORIES, four(explained.metrics.parts), strict=True)]
    if explained.metrics.max_s is not None:
        pieces.append(f"most {seconds(first(explained.metrics.max_s))} (processor {explained.metrics.max_processor})")
    return head + "\n" + flow(pieces, screen.columns, "   ", "     ")


def _timeless(explained: Explanation, text: str) -> str:
    """Why a line takes no time."""
    if explained.tested_in:
        lines = listed([str(each) for each in explained.tested_in])
        nests = f"nests of lines {lines}" if len(explained.tested_in) > 1 else f"nest of line {lines}"
        whose = "its" if nests.startswith("nest of") else "their"
        return f"It takes no time of its own: its condition is tested in the {nests}, as part of {whose} time."
    if explained.executed:
        return "It takes no time of its own."
    if _PART.match(text):
        return "It takes no time: it divides or ends a construct or a program unit."
    return "It takes no time: it is a declaration, a directive or a comment."


def _decisions(explained: Explanation, screen: Screen) -> str:
    lines = [screen.paint("strong", "computed by")]
    metrics = {each.id: each for each in explained.aaus}
    for each in explained.decisions:
        text = each.text
        if each.share is not None and each.share.most:
            share = each.share
            numbers = count(share.most) if share.least == share.most else f"{count(share.least)} to {count(share.most)}"
            mean = "" if share.least == share.most else f", {amount(share.mean)} on average"
            text += f"; {numbers} iterations per processor{mean}"
        runs = metrics[each.aau].executions
        text += f" ({plural(runs, 'run')})" if runs != 1 else ""
        lines.append(paragraph(f"  aau {each.aau}", text, screen.columns))
    for row in explained.layouts:
        text = f"{row.array}({row.bounds}) is ({row.dimensions}) on {row.grid}"
        lines.append(paragraph("", f"{text}: {row.elements} elements per processor", screen.columns))
    lines += [paragraph("", printable(text), screen.columns) for text in _names(explained)]
    return "\n".join(lines)


def _names(explained: Explanation) -> list[str]:
    """What the names above are in the source, where the line is in a procedure or an array is remapped."""
    calls: dict[int, list[str]] = {}
    for each in explained.passed:
        calls.setdefault(each.call_line, []).append(f"{each.dummy} is {each.actual}")
    told = [f"{listed(names)} in the call of line {line}" for line, names in calls.items()][:_MOST_CALLS]
    if len(calls) > _MOST_CALLS:
        told.append(f"and {plural(len(calls) - _MOST_CALLS, 'more call')}")
    texts = [f"{explained.passed[0].procedure}: {'; '.join(told)}"] if told else []
    versions = [row.array for row in explained.layouts if row.array.partition("$")[2].isdecimal()]
    texts += [f"{each} is {each.partition('$')[0]} after it was remapped" for each in versions]
    return texts


def _communication(each: Communication, explained: Explanation, screen: Screen, *, every: bool) -> str:
    text = paragraph(f"  aau {each.aau}", messages(each.summary, explained.prediction.processors), screen.columns)
    if not each.phases:
        return text
    shown = each.phases if every else each.phases[:_MOST_PHASES]
    columns = [
        Column("messages", width=10),
        Column("bytes each", width=10),
        Column("hops", width=4),
        Column("phase", "<"),
        Column("processors, in the largest run" if screen.columns >= 72 else "processors", "<"),
    ]
    rows = [
        TableRow((count(phase.messages), _span(phase.bytes), _span(phase.hops), printable(phase.name), phase.partners))
        for phase in shown
    ]
    left = len(each.phases) - len(shown) + each.more
    more = f"\n{'':12}and {plural(left, 'phase')} more (--all shows them)" if left else ""
    return f"{text}\n{table(columns, rows, screen, flexible=True)}{more}"


def _span(values: tuple[int, int]) -> str:
    least, most = values
    return f"{least:,}" if least == most else f"{least:,}-{most:,}"


def _formulas(explained: Explanation, screen: Screen, *, every: bool) -> str:
    what = "(mean count per processor x machine parameter)"
    lines = [flow([screen.paint("strong", "formula"), what], screen.columns)]
    for each in explained.formulas:
        runs = f", {plural(each.executions, 'run')} together" if each.executions != 1 else ""
        head = f"  aau {each.aau} {each.category} {seconds(each.time_s)}{runs}: {printable(each.label)}"
        lines += [flow(head.split(" "), screen.columns, " ", "     "), *_terms(each, screen, every=every)]
    if any(term.estimated for each in explained.formulas for term in each.terms):
        lines.append("  ~ estimated machine parameter")
    return "\n".join(lines)


def _terms(formula: CostFormula, screen: Screen, *, every: bool) -> list[str]:
    shown: Sequence[Term] = formula.terms
    if not every and len(shown) > _MOST_TERMS + 1:
        shown = formula.terms[:_MOST_TERMS]
    counts = [amount(term.count) for term in shown]
    prices = [price(term.seconds) for term in shown]
    wide, narrow = max(map(len, counts), default=0), max(map(len, prices), default=0)
    least = 13 if screen.columns >= 72 else 8
    lines = [
        f"    {often:>{max(wide, least)}} x {each:>{max(narrow, 9)}} {'~' if term.estimated else ' '}"
        f"= {seconds(term.time_s):>8}  "
        for term, often, each in zip(shown, counts, prices, strict=True)
    ]
    lines = [
        line + shorten(_words(term), max(8, screen.columns - len(line)))
        for line, term in zip(lines, shown, strict=True)
    ]
    left = formula.terms[len(shown) :]
    if left:
        lines.append(
            f"    {plural(len(left), 'smaller term')}, {seconds(sum(term.time_s for term in left))} together "
            "(--all shows them)"
        )
    if formula.hidden_s:
        text = f"less {seconds(formula.hidden_s)} hidden by overlap, or done before the receiver calls"
        lines.append(paragraph("   ", text, screen.columns))
    lines += [paragraph("   ", _waited(each), screen.columns) for each in formula.waits]
    return lines


def _words(term: Term) -> str:
    """What a term is for; figures of messages say on which side."""
    side = {"sending": "sent", "receiving": "received"}.get(term.paid, "")
    return f"{term.unit}, {side}" if side and "message" in term.unit else term.unit


def _waited(wait: Wait) -> str:
    time = seconds(wait.time_s)
    match wait.on:
        case "sender":
            return f"{time} waiting for senders, {seconds(wait.most_s)} of it for processor {wait.processor}"
        case "links":
            return f"{time} waiting for busy links"
        case _:
            return f"{time} waiting for the last processor"


def amount(value: float) -> str:
    """How often something is done, to eight digits, so that products come out right.

    >>> [amount(x) for x in (403225.0, 2.5, -38100.0, 0.0625)]
    ['403,225', '2.5', '-38,100', '0.0625']
    """
    if value == round(value):
        return f"{value:,.0f}"
    digits = max(0, 8 - len(str(int(abs(value)))))
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


def price(value: float) -> str:
    """A figure of the machine, with all the digits that it was given with.

    >>> [price(x) for x in (1.5e-7, 3.9e-7, 1.47e-4, 3.05e-5)]
    ['150 ns', '390 ns', '147 us', '30.5 us']
    """
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(value) >= size * (1 - 1e-12)), _UNITS[-1])
    return f"{value / size:.7g} {unit}"


def _notes(explained: Explanation, screen: Screen) -> list[str]:
    width = screen.columns
    notes: list[str] = []
    for each in explained.caches:
        text = f"{each.cache}: " if each.cache else ""
        text += f"{amount(each.lines_read)} lines read"
        text += f", {amount(each.writes)} write misses" if each.writes else ""
        text += f", {amount(each.written_back)} lines written back" if each.written_back else ""
        text += f" on one processor (mean): {seconds(each.time_s)} of AAU {each.aau}"
        notes.append(paragraph("cache" if not notes else "", text, width))
    if notes:
        notes.append(paragraph("", explained.cache, width))
    for number, assumption in enumerate(explained.assumptions):
        at = f" (line {assumption.span.line})" if assumption.span and assumption.span.line else ""
        text = assumption.text.removeprefix(f"line {assumption.span.line}: ") if assumption.span else assumption.text
        notes.append(paragraph("assumed" if number == 0 else "", text + at, width))
    if explained.metrics is not None:
        notes += _changes(explained, width)
    return notes


def _changes(explained: Explanation, width: int) -> list[str]:
    line_s = 0.0 if explained.metrics is None else first(explained.metrics.time_s)
    total_s = first(explained.prediction.time_s)
    if line_s <= 0:
        return []
    moving = [each for each in explained.changes if abs(each.line_s - line_s) > _UNMOVED * line_s]
    ranked = sorted(moving, key=lambda each: each.line_s)
    pieces = [
        f"{each.name} {_percent(each.line_s, line_s)} (program {_percent(each.total_s, total_s)})" for each in ranked
    ]
    return [paragraph("change" if number == 0 else "", piece, width) for number, piece in enumerate(pieces)]


def _percent(new_s: float, old_s: float) -> str:
    change = 100.0 * (new_s / old_s - 1.0) if old_s else 0.0
    return "as it is" if abs(change) < 100.0 * _UNMOVED else f"{change:+.1f}%"
