"""A prediction as one piece of HTML: no address in it, no script, nothing loaded; for notebooks and files."""

from html import escape

from esp.incomplete import reasons
from esp.output.assumptions import assumed
from esp.output.figures import constants as constants_of
from esp.output.figures import (
    grid,
    hottest_communication,
    hottest_first,
    line_source,
    options,
    place,
    why,
    without_elements,
)
from esp.output.numbers import count, data, percentages, plural, seconds
from esp.output.partial import partial_text
from esp.output.sureness import sure
from esp.prediction import CATEGORIES, Prediction, first, four, least_and_most
from interpreter.result import LineMetrics

COLOURS = ("#4c78a8", "#e45756", "#bab0ac", "#f2a23a")
"""One for each category."""

_STYLE = """
<style scoped>
.esp { font-family: sans-serif; max-width: 60em }
.esp table { border-collapse: collapse }
.esp td, .esp th { padding: 0.15em 0.6em; text-align: right; white-space: nowrap }
.esp td.text, .esp th.text { text-align: left }
.esp td.text code { white-space: pre }
.esp .bar { display: flex; height: 0.8em; width: 7em }
.esp .bar.total { width: 30em; height: 1.2em }
.esp .bar i { display: block; height: 100% }
.esp .note { margin: 0.2em 0 }
</style>
"""


def page(prediction: Prediction) -> str:
    """The profile of a prediction as HTML. Where there are several scenarios, their times are listed."""
    name = prediction.file.rsplit("/", 1)[-1] + (" (bundled)" if prediction.bundled else "")
    procs = plural(prediction.processors, "processor")
    shape = f" ({grid(prediction.grid)})" if prediction.grid else ""
    values = " ".join(constants_of(prediction.constants, prediction.lines_text))
    head = f"<b>{escape(name)}</b>, {procs}{shape}, {escape(prediction.system)}, {escape(values)}"
    with_options = escape("  ".join(options(prediction.asked)))
    shares = percentages(four(prediction.parts))
    legend = ", ".join(f"{label} {share}%" for label, share in zip(CATEGORIES, shares, strict=True))
    sent = f"{plural(prediction.messages, 'message')} of {data(prediction.bytes)} in all"
    blocks = [
        f'<div class="esp">{_STYLE}',
        f'<p class="note">{head}</p>',
        f'<p class="note">with {with_options}</p>' if with_options else "",
        f'<p class="note"><b>{seconds(first(prediction.time_s))}</b>: {legend}; {sent}</p>',
        bar(four(prediction.parts), first(prediction.time_s), "bar total"),
        _scenarios(prediction),
        _table(prediction),
        *(f'<p class="note"><b>{label}</b> {escape(text)}</p>' for label, text in notes(prediction)),
        "</div>",
    ]
    return "\n".join(block for block in blocks if block)


def _scenarios(prediction: Prediction) -> str:
    if prediction.scenarios == 1:
        return ""
    low, high = least_and_most(prediction.time_s)
    text = f"{plural(prediction.scenarios, 'scenario')}: {seconds(low)} to {seconds(high)}; the first is shown"
    return f'<p class="note">{text}</p>'


def _table(prediction: Prediction) -> str:
    titles = ("line", "time", *CATEGORIES, "messages", "bytes")
    heading = "".join(f"<th>{title}</th>" for title in titles)
    heading += '<th class="text">share</th><th class="text">source</th>'
    rows = "\n".join(_row(prediction, line) for line in hottest_first(prediction.lines))
    return f"<table>\n<tr>{heading}</tr>\n{rows}\n</table>"


def _row(prediction: Prediction, line: LineMetrics) -> str:
    shares = percentages(four(line.parts))
    cells = [escape(place(line, prediction.file)), seconds(first(line.parts.time_s))]
    cells += [f"{share}%" for share in shares]
    cells += [count(line.messages), data(line.bytes)] if line.messages else ["", ""]
    source = escape(line_source(prediction, line))
    drawn = bar(four(line.parts), first(prediction.time_s), "bar")
    figures = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr>{figures}<td class="text">{drawn}</td><td class="text"><code>{source}</code></td></tr>'


def bar(parts: tuple[float, ...], total_s: float, kind: str) -> str:
    """A bar of four colours, as long as `parts` (seconds of each category) are of `total_s`; `kind`: its classes."""
    if total_s <= 0:
        return ""
    pieces = [
        f'<i title="{label} {seconds(each)}" style="width:{100 * each / total_s:.2f}%;background:{colour}"></i>'
        for label, each, colour in zip(CATEGORIES, parts, variables(), strict=True)
    ]
    told = ", ".join(f"{label} {seconds(each)}" for label, each in zip(CATEGORIES, parts, strict=True))
    return f'<div class="{kind}" role="img" aria-label="{told}">{"".join(pieces)}</div>'


def variables() -> tuple[str, ...]:
    """The colours as CSS: a page may set ``--computation`` and so on, a notebook has those of `COLOURS`."""
    return tuple(f"var(--{name},{colour})" for name, colour in zip(CATEGORIES, COLOURS, strict=True))


def notes(prediction: Prediction) -> list[tuple[str, str]]:
    """What the prediction rests on, each with its label: why, assumed, partial, trust, warnings."""
    told = []
    hottest = hottest_communication(prediction.aaus)
    if hottest is not None:
        told.append((f"line {hottest.span.line}", why(hottest, prediction.processors)))
    told += [("assumed", text) for text in assumed([prediction])]
    told += [("partial", partial_text(why_not))] if (why_not := reasons([prediction])) else []
    told += [("idle", idle)] if (idle := without_elements(prediction)) else []
    told.append(("trust", sure(prediction)))
    told += [("warning", str(each)) for each in prediction.warnings]
    return told
