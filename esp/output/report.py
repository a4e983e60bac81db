"""`esp report`: one page that answers which distribution, how many processors, and why, and stands alone.

No address in it, nothing loaded: it can be mailed, kept beside a program, or read where there is no network. Without
its script, tables cannot be sorted; all else is the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from msgspec import Struct

from aag.diagnostics import Diagnostic
from aag.mapping.resolve import NO_ARRAY, UNDISTRIBUTED
from esp.explore.compare import Comparison
from esp.explore.impact import Swing
from esp.explore.scaling import Scaling
from esp.explore.sensitivity import SensitiveRun
from esp.formulas.formula import TimeFormula
from esp.incomplete import reasons
from esp.output import layout, report_calls, report_model, report_tables
from esp.output.figures import (
    NOT_FITTING,
    grid,
    hottest_first,
    is_end,
    lines_named,
    main_constants,
    memory_needed,
    not_fitting,
    options,
    source_text,
)
from esp.output.html import bar, notes, variables
from esp.output.numbers import count, data, memory, percent, percentages, plural, seconds, significant
from esp.output.partial import partial_text, time_shown
from esp.output.plots.timeline import matrix
from esp.output.profile import WAITING
from esp.output.report_charts import shares, times
from esp.output.report_pictures import MOST_PROCESSORS, Ints, held, sentence, timeline, tornado, traffic
from esp.output.report_style import SCRIPT, STYLE
from esp.output.screen import printable, shorten
from esp.output.sureness import tie_of
from esp.output.table import above_perfect, compared_with, speed_up
from esp.prediction import CATEGORIES, Prediction, first, four
from esp.traces.trace import SEND, Trace
from esp.version import __version__
from sag.describe import SystemView

_LONGEST_TITLE = 60

_FULL = ("processors", "scalability", "formula", "timeline", "profile", "calls", "layout", "source", "machine")
"""Sections as wide as the page."""

_WIDE = ' class="full"'

_EVEN = 1.005
"""Below this ratio of the largest to the mean computation three digits show no difference."""


_NO_TIME = "<p>The program takes no time.</p>"


class ReportPage(Struct, frozen=True, kw_only=True):
    """What the page shows. `incomparable` says why there is no comparison, where there is none."""

    prediction: Prediction
    comparison: "Comparison | None"
    incomparable: str
    scaling: tuple[Prediction, ...]
    """Predictions for several numbers of processors, ascending."""
    covers: str
    """Which numbers these are, and why."""
    impossible: Mapping[int, Diagnostic]
    """Numbers of processors without a prediction, and why."""
    best: tuple[Prediction, ...]
    """The fastest choice on these numbers of processors; nothing where that is the source's own."""
    swings: tuple[Swing, ...]
    """What each figure of the machine does to the time; nothing where that is not known."""
    sensitive: SensitiveRun | None
    """What each figure decides of it; None where that takes long."""
    formula: TimeFormula | str | None
    """Or why there is none; None: it was not asked for."""
    scalability: Scaling | str | None
    """Or why there is none; None: it was not asked for."""
    trace: Trace | None
    no_trace: str
    """Why there is none."""
    held: Mapping[str, Ints]
    """Array -> bytes of it on each processor."""
    layouts: layout.Shown
    machine: SystemView
    command: str
    """How the page was made."""


def report(shown: ReportPage) -> str:
    """The page."""
    name = _name(shown.prediction)
    prediction = shown.prediction
    called = len(prediction.calls) > 1
    sections = (
        ("distributions", "Distributions", _distributions(shown)),
        ("whatif", "What if", _what_if(shown)),
        ("processors", "Processors", _processors(shown)),
        *([("scalability", "Scalability", report_model.scalability(shown.scalability))] if shown.scalability else []),
        *([("formula", "Formula", report_model.equation(shown.formula))] if shown.formula else []),
        ("profile", "Profile", report_tables.profile(prediction)),
        *([("calls", "Procedures", report_calls.calls(prediction))] if called else []),
        ("timeline", "Timeline", _timeline(shown)),
        ("messages", "Messages", _traffic(shown)),
        ("memory", "Memory", _memory(shown)),
        ("layout", "Layout", report_tables.layouts(shown.layouts)),
        ("source", "Source", report_tables.source(prediction)),
        ("assumptions", "Assumptions and accuracy", _assumptions(shown)),
        ("machine", "Machine", report_tables.machine(shown.machine, changed=_changes(prediction))),
    )
    links = "\n".join(f'<a href="#{anchor}">{title}</a>' for anchor, title, _ in sections)
    body = "\n".join(
        f'<section id="{anchor}"{_WIDE if anchor in _FULL else ""}>\n<h2>{title}</h2>\n{text}\n</section>'
        for anchor, title, text in sections
    )
    title = f"{name} on {shown.prediction.system}, {plural(shown.prediction.processors, 'processor')}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header>\n{_head(shown)}\n<nav>\n{links}\n</nav>\n</header>\n<main>\n{body}\n</main>\n"
        f"<footer><code>{escape(shown.command)}</code><br/>esp {__version__}; a prediction, nothing was run</footer>\n"
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _name(prediction: Prediction) -> str:
    return printable(prediction.file.rsplit("/", 1)[-1])


def _changes(prediction: Prediction) -> tuple[str, ...]:
    """What-ifs that make the machine another one than its description."""
    of_machine = ("load", "bandwidth", "latency", "processor_speed", "memory_speed", "overlap", "system_set")
    return options({name: each for name, each in prediction.asked.items() if name in of_machine})


def _head(shown: ReportPage) -> str:
    prediction = shown.prediction
    shape = f" ({grid(prediction.grid)})" if len(prediction.grid) > 1 else ""
    subject = [f"{plural(prediction.processors, 'processor')}{shape}", shown.machine.title or prediction.system]
    subject += list(filter(None, [main_constants(prediction)]))
    time_s = first(prediction.time_s)
    parts = four(prediction.parts)
    timed = "" if prediction.timed_s is None else f", {seconds(first(prediction.timed_s))} of it timed by the program"
    given = options(prediction.asked)
    lines = [
        f"<div>\n<h1>{escape(_name(prediction))}</h1>",
        f'<p class="soft">{escape(", ".join(map(printable, subject)))}</p>',
        f"<p>with <code>{escape('  '.join(map(printable, given)))}</code></p>" if given else "",
        f'<p class="total">{escape(time_shown(prediction, seconds(time_s)))} <small>predicted{timed}</small></p>',
        bar(parts, time_s, "bar whole"),
        f"<p>{_key(parts)}</p>\n</div>",
        _facts(_answers(shown)),
    ]
    return "\n".join(filter(None, lines))


def _key(parts: Sequence[float]) -> str:
    """The four colours with their shares."""
    return "\n".join(
        f'<span class="key"><b style="background:{colour}"></b>{label} {share}%</span>'
        for label, colour, share in zip(CATEGORIES, variables(), percentages(parts), strict=True)
    )


def _facts(texts: Iterable[str]) -> str:
    return '<ul class="facts">\n' + "\n".join(f"<li>{text}</li>" for text in texts) + "\n</ul>"


def _answers(shown: ReportPage) -> list[str]:
    """Which distribution, how many processors, why: a sentence each, with a link to where it is shown."""
    prediction = shown.prediction
    said = []
    compared = shown.comparison
    if compared is not None and all(each.prediction.complete for each in compared.ranked):
        said.append(f'<a href="#distributions">Distribution.</a> {escape(_best_choice(compared))}')
    if len(shown.scaling) > 1 and all(each.complete for each in shown.scaling):
        said.append(f'<a href="#processors">Processors.</a> {escape(_best_number(shown.scaling))}')
    hottest = next(iter(hottest_first(prediction.lines)), None)
    if hottest is not None:
        share = percent(first(hottest.parts.time_s) / first(prediction.time_s))
        parts = four(hottest.parts)
        most, name = max(zip(parts, CATEGORIES, strict=True))
        of_it = f"{percent(most / sum(parts))} of that is {name}"
        code = escape(shorten(printable(source_text(prediction, hottest.file, hottest.line).strip()), _LONGEST_TITLE))
        waits = is_end(hottest, prediction)
        where = WAITING.capitalize() if waits else lines_named(hottest, prediction.file).capitalize()
        if hottest.file == prediction.file:
            where = f'<a href="#L{hottest.line}">{where}</a>'
        made_of = "" if waits else f", and {escape(of_it)}: <code>{code}</code>"
        verb = "takes" if waits or hottest.through <= hottest.line else "take"
        said.append(f"{where} {verb} {escape(share)} of the time{made_of}")
    sent = f"{plural(prediction.messages, 'message')} of {data(prediction.bytes)} in all"
    sent = sent if prediction.messages else "No message is sent"
    said.append(f"{escape(sent)}{_balance(prediction)}.")
    if over := not_fitting([prediction]):
        said.insert(0, f'<span class="warning">Memory: {escape(over)}.</span>')
    if not prediction.complete:
        text = escape(partial_text(reasons([prediction])))
        said.insert(0, f'<span class="warning">Partial, {text}.</span>')
    return said


def _balance(prediction: Prediction) -> str:
    if prediction.processors == 1:
        return ""
    if any(each.code in (UNDISTRIBUTED, NO_ARRAY) for each in prediction.warnings):
        return "; each processor does all the work"
    ratio = first(prediction.imbalance)
    uneven = f"; the busiest processor computes {significant(ratio)} times the mean"
    return "; the work is spread evenly" if ratio < _EVEN else uneven


def _best_choice(found: Comparison) -> str:
    best, many = found.best, len(found.ranked)
    own = next((each for each in found.ranked if each.written), None)
    name = f"{best.shown} on {grid(best.grid) or '1'}"
    if not best.prediction.fits:
        return f"None of {many} fits in memory; times assume that it does."
    if many == 1:
        return f"{name} is the only choice."
    if own is best:
        return f"Your source's mapping, {name}, is the fastest of {many}."
    text = f"{name} is the fastest of {many}: {seconds(best.time_s)}."
    if own is None:
        return text
    slower = significant(100 * (own.time_s / best.time_s - 1), 2)
    text += f" Your source's mapping, {own.shown} on {grid(own.grid) or '1'}, is {slower}% slower"
    return f"{text}, a tie: {tie_of(found.certainty, own.rank)}." if own.tie == 1 else f"{text}."


def _best_number(scaling: Sequence[Prediction]) -> str:
    fitting = [each for each in scaling if each.fits]
    if not fitting:
        return "The data fit in memory on none of these numbers."
    fastest = min(fitting, key=lambda each: (first(each.time_s), each.processors))
    ratio, efficiency = speed_up(scaling)[scaling.index(fastest)]
    base = scaling[0].processors
    tried = ", ".join(str(each.processors) for each in scaling)
    if fastest is scaling[0]:
        return f"{plural(base, 'processor')} {'are' if base > 1 else 'is'} fastest (tried {tried})."
    more = fastest is scaling[-1]
    text = f"{fastest.processors} processors are fastest (tried {tried}{', not more' if more else ''})"
    return f"{text}: {significant(ratio / base)} times as fast as {base}, efficiency {percent(efficiency)}."


def _distributions(shown: ReportPage) -> str:
    if shown.comparison is None:
        return f"<p>{escape(shown.incomparable)}</p>"
    return report_tables.distributions(shown.comparison)


def _processors(shown: ReportPage) -> str:
    """Charts and table; a single number is no curve."""
    many = shown.scaling
    blocks = [f"<p>{escape(shown.covers)}</p>"]
    if len(many) > 1:
        blocks.append(
            '<div class="charts">\n'
            f"<figure>{times(_curves(shown))}<figcaption>Time; the dashed line is perfect speed-up from "
            f"{plural(many[0].processors, 'processor')}.{_second(shown)}</figcaption></figure>\n"
            f"<figure>{shares(many)}<figcaption>What the time is made of: {_key_plain()}</figcaption></figure>\n</div>"
        )
    rows = []
    ranked = [each for each in many if each.fits] if all(each.complete for each in many) else []
    fastest = min(ranked, key=lambda each: first(each.time_s), default=None)
    for each, (ratio, efficiency) in zip(many, speed_up(many) if many else (), strict=True):
        time_s = first(each.time_s)
        cells = [str(each.processors), grid(each.grid) or "-", escape(time_shown(each, seconds(time_s)))]
        cells.append(significant(ratio))
        cells.append(escape(percent(efficiency)))
        cells += [f"{share}%" for share in percentages(four(each.parts))] + [count(each.messages), data(each.bytes)]
        cells[0] += f" ({NOT_FITTING})" * (not each.fits)
        role = "over" if not each.fits else "best" if each is fastest else ""
        rows.append(report_tables.row(cells, role=role, hidden=range(5, 11), keys={2: time_s, 10: each.bytes}))
    for number, why in shown.impossible.items():
        told = f'<th scope="row">{number}</th><td class="text" colspan="10">{escape(why.message)}</td>'
        rows.append(f'<tr class="none">{told}</tr>')
    titles = ("processors", "grid", "time", "speed-up", "efficiency", *CATEGORIES, "messages", "bytes")
    blocks.append(report_tables.table("Numbers of processors", titles, rows, hidden=range(5, 11)))
    if many:
        blocks.append(f"<p>Speed-up is {escape(compared_with(many))}.</p>")
    if many and (above := above_perfect(many)):
        blocks.append(f"<p>A speed-up of {escape(above)}.</p>")
    return "\n".join(blocks)


def _curves(shown: ReportPage) -> dict[str, tuple[Prediction, ...]]:
    curves = {"source": shown.scaling}
    if shown.best and shown.comparison is not None:
        curves[shown.comparison.best.shown] = shown.best
    return curves


def _second(shown: ReportPage) -> str:
    """What the second curve is, or why there is none."""
    compared = shown.comparison
    if compared is None:
        return ""
    if not shown.best:
        return " No other distribution is faster." if compared.best.written else ""
    own = shown.prediction.processors
    text = f" Squares: {compared.best.shown}, the fastest on {own}; on other numbers with the grid that esp chooses."
    return escape(text)


def _what_if(shown: ReportPage) -> str:
    if not first(shown.prediction.time_s):
        return _NO_TIME
    if not shown.swings:
        return "<p>Not drawn: the prediction is incomplete, or on too many processors.</p>"
    drawn = tornado(first(shown.prediction.time_s), shown.swings)
    words = "The time with one figure of the machine changed at a time: faster left of the line, slower right of it."
    decided = "" if shown.sensitive is None else report_model.figures(shown.sensitive)
    return f"<figure>{drawn}<figcaption>{words}</figcaption></figure>{decided}"


def _memory(shown: ReportPage) -> str:
    """What each processor holds, and what each array takes."""
    usable = shown.prediction.memory_usable_bytes
    total = sum(int(each.max()) for each in shown.held.values())
    if not total:
        return "<p>No array holds data.</p>"
    procs = shown.prediction.processors
    words = f"Data of each processor{f'; {memory(usable)} usable' if usable is not None else ''}."
    copies = shown.prediction.memory_copies_bytes
    if copies:
        words += f" The fullest one needs {memory(copies)} besides, for overlap areas and for what messages bring."
    figure = ""
    if procs <= MOST_PROCESSORS:
        figure = f"<figure>{held(shown.held)}<figcaption>{escape(words)}</figcaption></figure>"
    rows = []
    for name, sizes in sorted(shown.held.items(), key=lambda each: (-int(each[1].max()), each[0])):
        least, most, every = int(sizes.min()), int(sizes.max()), int(sizes.sum())
        cells = [f"<code>{escape(printable(name))}</code>", memory(least), memory(most), memory(every)]
        rows.append(report_tables.row(cells, keys={1: least, 2: most, 3: every}))
    titles = ("array", "least", "most", "on all processors")
    return figure + report_tables.table("Bytes on a processor", titles, rows)


def _timeline(shown: ReportPage) -> str:
    if shown.trace is None:
        return f"<p>Not drawn: {escape(shown.no_trace)}</p>"
    if not shown.trace.duration.any():
        return _NO_TIME
    words = "Time from left to right; a column has the shares of what a processor does then:"
    drawn = f'<div class="scroll" tabindex="0" role="region" aria-label="Timeline">{timeline(shown.trace)}</div>'
    return f"<figure>{drawn}<figcaption>{words} {_key_plain()}</figcaption></figure>"


def _traffic(shown: ReportPage) -> str:
    if not shown.prediction.messages:
        return "<p>No message is sent.</p>"
    if shown.trace is None:
        return f"<p>Not drawn: {escape(shown.no_trace)}</p>"
    if not shown.trace.is_kind(SEND).size:
        return "<p>Only library routines send messages, which choose the pairs themselves.</p>"
    if shown.prediction.processors > MOST_PROCESSORS:
        return f"<p>Not drawn for more than {MOST_PROCESSORS} processors: esp plot messages draws it.</p>"
    sent = matrix(shown.trace)
    if not sent.any():
        return "<p>The messages carry no data.</p>"
    return (
        f"<figure>{traffic(sent)}<figcaption>{escape(sentence(sent))}: a fuller colour is more.</figcaption></figure>"
    )


def _key_plain() -> str:
    return "\n".join(
        f'<span class="key"><b style="background:{colour}"></b>{label}</span>'
        for label, colour in zip(CATEGORIES, variables(), strict=True)
    )


def _assumptions(shown: ReportPage) -> str:
    """Assumptions, trust, memory, warnings."""
    prediction = shown.prediction
    usable = prediction.memory_usable_bytes
    held = memory_needed(prediction)
    rows = [each for each in notes(prediction) if not each[0].startswith("line")]  # that is in the profile
    rows.append(("memory", not_fitting([prediction]) or held + (f", {memory(usable)} usable" if usable else "")))
    if prediction.iterations_walked < prediction.iterations:
        walked = f"{count(prediction.iterations_walked)} of {count(prediction.iterations)} loop iterations walked"
        given = "" if prediction.interval is None else " with the given figures"
        rows.append(("loops", f"{walked}{given}; the others repeat them"))
    if first(prediction.load_s) > 0:
        rows.append(("loading", f"{seconds(first(prediction.load_s))} to load the program, not in the time"))
    said = []
    for label, text in rows:
        warns = label in ("warning", "partial") or (label == "memory" and not prediction.fits)
        role = ' class="warning"' if warns else ""
        said.append(f"<dt>{escape(label)}</dt><dd{role}>{escape(printable(text))}</dd>")
    return "<dl>\n" + "\n".join(said) + "\n</dl>"
