"""The tables and pictures of the report: profile, source, distributions, layouts, machine."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape

from msgspec.structs import replace

from esp.explore.compare import Comparison
from esp.inspect.ownership import Picture, Plane, PlaneSide
from esp.output import layout
from esp.output.compare import keeping, more, size_notes
from esp.output.figures import (
    NOT_FITTING,
    grid,
    hottest_first,
    is_end,
    line_source,
    messages,
    not_fitting,
    place,
    uncharged,
    without_rounding,
)
from esp.output.html import bar
from esp.output.layout_svg import drawings
from esp.output.numbers import count, data, memory, percent, percentages, plural, seconds
from esp.output.partial import NOT_RANKED, time_shown
from esp.output.pasted import lines_of
from esp.output.profile import WAITING
from esp.output.report_style import HOTTEST
from esp.output.screen import printable, shorten
from esp.output.sureness import ranking
from esp.prediction import CATEGORIES, Prediction, first, four
from interpreter.result import LineMetrics
from sag.describe import ComponentView, SystemView, UnitView

_LONGEST_BAR = 6.0
"""Bars of distributions end at so many times the best time: a choice that is worse by far would hide the others."""

_MOST_SENT = 8
"""Communications that are told in words."""

_MOST_BOXES = 24
"""Boxes of a dimension that are drawn: of a CYCLIC one the beginning tells all."""

_MOST_PICTURES = 12

_LONGEST_CODE = 44
"""Characters of a statement in the profile; the source is below."""

_WIDE, _TEXT = ' class="wide"', ' class="text"'


def table(
    caption: str,
    titles: Sequence[str],
    rows: Iterable[str],
    *,
    hidden: Collection[int] = (),
    text: Collection[int] = (),
    sortable: bool = True,
) -> str:
    """A table that scrolls by itself; columns `hidden` on narrow screens, columns of `text` aligned left."""
    cells = [f'<th scope="col"{_classes(at, hidden, text)}>{title}</th>' for at, title in enumerate(titles)]
    inside = "\n".join(rows)
    kind = ' class="sortable"' if sortable else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table{kind}>\n'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{''.join(cells)}</tr></thead>\n"
        f"<tbody>\n{inside}\n</tbody></table></div>"
    )


def row(
    cells: Sequence[str],
    *,
    head: int = 0,
    role: str = "",
    hidden: Collection[int] = (),
    text: Collection[int] = (),
    keys: Mapping[int, float] | None = None,
) -> str:
    """A row of a `table`; cells are HTML already, `head` the one that names the row, `keys` what columns with units
    are sorted by."""
    inside = ""
    for at, cell in enumerate(cells):
        key = f' data-key="{keys[at]:.6g}"' if keys and at in keys else ""
        name, scope = ("th", ' scope="row"') if at == head else ("td", "")
        inside += f"<{name}{scope}{_classes(at, hidden, text)}{key}>{cell}</{name}>"
    return f'<tr class="{role}">{inside}</tr>' if role else f"<tr>{inside}</tr>"


def _classes(at: int, hidden: Collection[int], text: Collection[int]) -> str:
    told = [name for name, columns in (("text", text), ("wide", hidden)) if at in columns]
    return f' class="{" ".join(told)}"' if told else ""


def profile(prediction: Prediction) -> str:
    """Lines that take time, the hottest first, and what is sent."""
    total_s = first(prediction.time_s)
    rows = []
    for line in hottest_first(prediction.lines):
        time_s = without_rounding(first(line.parts.time_s), total_s)
        code = shorten(printable(line_source(prediction, line)), _LONGEST_CODE)
        code = WAITING if is_end(line, prediction) else f"<code>{escape(code)}</code>"
        cells = [_linked(place(line, prediction.file), line, prediction), seconds(time_s)]
        cells += [escape(percent(time_s / total_s)) if total_s > 0 else "", bar(four(line.parts), total_s, "bar short")]
        cells += [code]
        cells += [f"{share}%" if time_s > 0 else "" for share in percentages(four(line.parts))]
        cells += [count(line.messages), data(line.bytes)] if line.messages else ["", ""]
        rows.append(
            row(cells, hidden=range(5, 11), text=(3, 4), keys={0: line.line, 1: time_s, 2: time_s, 10: line.bytes})
        )
    titles = ("line", "time", "share", "made of", "source", *CATEGORIES, "messages", "bytes")
    sent = _sent(prediction)
    told = "<h3>What is sent</h3>\n" + sent if sent else ""
    return table("Lines that take time or send messages", titles, rows, hidden=range(5, 11), text=(3, 4)) + told


def _linked(shown: str, line: LineMetrics, prediction: Prediction) -> str:
    return f'<a href="#L{line.line}">{shown}</a>' if line.file == prediction.file else escape(shown)


def _sent(prediction: Prediction) -> str:
    """Communications in words, the dearest first."""
    sending = [each for each in prediction.aaus if each.comm is not None and each.comm.messages]
    sending.sort(key=lambda each: (-first(each.total_s), each.id))
    said = [
        f"<dt>line {each.span.line}</dt><dd>{escape(messages(each.comm, prediction.processors))}; "
        f"{seconds(first(each.total_s))} in all</dd>"
        for each in sending[:_MOST_SENT]
        if each.comm is not None
    ]
    if len(sending) > _MOST_SENT:
        said.append(f"<dt></dt><dd>and {len(sending) - _MOST_SENT} more</dd>")
    return "<dl>\n" + "\n".join(said) + "\n</dl>" if said else ""


def source(prediction: Prediction) -> str:
    """The whole source, each line with its time and as warm as its share of it."""
    found = {each.line: each for each in prediction.lines if each.file == prediction.file}
    blamed = {line for file, line in uncharged(prediction) if file == prediction.file}
    total_s = first(prediction.time_s)
    rows = []
    share = 0.0
    for number, text in enumerate(prediction.lines_text, 1):
        line = found.get(number)
        continued = number > 1 and prediction.lines_text[number - 2].rstrip().endswith("&")
        if line is not None or not continued:  # what continues a statement is as warm as its first line
            time_s = 0.0 if line is None else without_rounding(first(line.parts.time_s), total_s)
            share = time_s / total_s if total_s > 0 else 0.0
        rows.append(_source_row(number, text, line, (share, total_s), blamed=number in blamed))
    told = "<p>The warmer a line, the larger its share of the time.</p>\n"
    if blamed:
        told += '<p class="warning">A line with ? could not be charged.</p>\n'
    others = sum(1 for each in prediction.lines if each.file != prediction.file)
    if others:
        told += f"<p>{plural(others, 'line')} of other files, see the profile.</p>\n"
    heads = "".join(
        f'<th scope="col"{kind}>{title}</th>'
        for title, kind in (("time", ""), ("made of", _WIDE), ("messages", _WIDE), ("line", ""), ("source", _TEXT))
    )
    return (
        f'{told}<div class="scroll" tabindex="0" role="region" aria-label="Source"><table class="source">\n'
        f"<caption>Each line with its time</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _source_row(number: int, text: str, line: LineMetrics | None, heat: tuple[float, float], *, blamed: bool) -> str:
    """A line; `heat`: its share of the time, and the whole time (s)."""
    share, total_s = heat
    # The square root keeps lines of a few percent visible beside one that takes half of the time.
    warm = f' style="--warm:{HOTTEST * share**0.5:.3f}"' if share > 0 else ""
    code = f'<th scope="row" class="number">{number}{"?" if blamed else ""}</th>'
    code += f'<td class="code">{escape(printable(text)) or " "}</td>'
    if line is None or (share <= 0 and not line.messages):
        empty = '<td></td><td class="wide"></td><td class="wide"></td>'
        return f'<tr id="L{number}" class="blank"{warm}>{empty}{code}</tr>'
    named = zip(CATEGORIES, percentages(four(line.parts)), strict=True)
    title = f"{percent(share)} of the time: " + ", ".join(f"{name} {each}%" for name, each in named)
    if line.messages:
        title += f"; {plural(line.messages, 'message')} of {data(line.bytes)}"
    told = f'<td>{seconds(share * total_s)}</td><td class="wide">{bar(four(line.parts), total_s, "bar short")}</td>'
    told += f'<td class="wide">{count(line.messages) if line.messages else ""}</td>'
    return f'<tr id="L{number}"{warm} title="{escape(title)}">{told}{code}</tr>'


def distributions(found: Comparison) -> str:
    """All choices, the fastest first, as bars of one scale, and the directives of the best one.

    Nothing is concluded from an order of incomplete predictions.
    """
    partial = not found.complete
    best_s = found.best.time_s
    longest_s = min(max(each.time_s for each in found.ranked), _LONGEST_BAR * best_s)
    rows = []
    for each in found.ranked:
        mark = "source" if each.written else ""
        fits = each.prediction.fits
        tie = NOT_FITTING if not fits else "" if each.tie is None else f"tie with {each.tie}"
        time = escape(time_shown(each.prediction, seconds(each.time_s)))
        cells = ["" if partial else str(each.rank), escape(printable(each.shown)), grid(each.grid) or "-", time]
        behind = "-" if not fits else "best" if each.rank == 1 else more(each.time_s, best_s)
        cells += ["" if partial else behind]
        cells += [bar(four(each.prediction.parts), longest_s, "bar short"), count(each.prediction.messages)]
        cells += [", ".join(filter(None, (mark, tie)))]
        keys = {3: each.time_s, 4: each.time_s}
        role = "over" if not fits else "best" if each.rank == 1 and not partial else ""
        rows.append(row(cells, head=1, role=role, hidden=(6,), text=(1, 5, 7), keys=keys))
    for shown, why in found.impossible:
        cells = ["-", escape(printable(shown)), *[""] * 5, escape(f"failed: {why.message}")]
        rows.append(row(cells, head=1, role="none", hidden=(6,), text=(1, 5, 7)))
    titles = ("rank", "distribution", "grid", "time", "vs best", "made of", "messages", "note")
    caption = "Distributions, not ranked" if partial else "Distributions, the fastest first"
    told = [table(caption, titles, rows, hidden=(6,), text=(1, 5, 7))]
    if any(each.time_s > longest_s for each in found.ranked):
        told.append(f'<p class="soft">Bars end at {_LONGEST_BAR:g} times the best time.</p>')
    if not partial:
        told += [f"<p>{escape(text[:1].upper() + text[1:])}.</p>" for text in ranking(found.certainty)]
    if over := not_fitting([each.prediction for each in found.ranked]):
        told.append(f'<p class="warning">{escape(over[:1].upper() + over[1:])}.</p>')
    if partial:
        told.append(f'<p class="warning">{escape(NOT_RANKED[:1].upper() + NOT_RANKED[1:])}.</p>')
    else:
        told += [f"<p>{escape(text[:1].upper() + text[1:])}</p>" for _, text in size_notes(found)]
    if found.left_out:
        told.append(f"<p>{plural(found.left_out, 'choice')} with flatter grids or further formats not tried.</p>")
    if advice := keeping(found):
        told.append(f"<p>{escape(advice[:1].upper() + advice[1:])}.</p>")
    if (wanted := found.pasted) is not None and wanted.directives:
        pasted = "\n".join(escape(printable(line)) for line in wanted.pasted)
        where = f", in place of {escape(printable(lines_of(wanted.replaced)))}" if wanted.replaced else ""
        told.append(f"<p>Directives to paste{where}:</p>\n<pre>{pasted}</pre>")
    return "\n".join(told)


def layouts(shown: layout.Shown) -> str:
    """A drawing of each distributed array, what every processor holds, and what is odd."""
    figures = []
    for picture in shown.pictures[:_MOST_PICTURES]:
        for title, drawn in drawings(_beginning(picture)):
            figures.append(f"<figure><figcaption>{escape(title)}</figcaption>{drawn}</figure>")
    blocks = [f'<div class="charts">\n{"".join(figures)}\n</div>'] if figures else [f"<p>{layout.nothing(shown)}</p>"]
    if len(shown.pictures) > _MOST_PICTURES:
        blocks.append(f"<p>And {len(shown.pictures) - _MOST_PICTURES} more (esp layout draws all).</p>")
    said = []
    if shown.left:
        held = ", ".join(f"{name} ({memory(size)})" for name, size in shown.left)
        said.append(f"<dt>everywhere</dt><dd>{escape(held)}</dd>")
    said += [
        f"<dt>{escape(each.kind)}</dt><dd>{escape(f'{each.text} (line {each.line}); {each.hint}')}</dd>"
        for each in shown.doubts
    ]
    return "\n".join(blocks) + ("\n<dl>\n" + "\n".join(said) + "\n</dl>" if said else "")


def _beginning(picture: Picture) -> Picture:
    """The picture with no more boxes than are drawn."""
    planes = tuple(
        Plane(fixed=each.fixed, owners=tuple(line[:_MOST_BOXES] for line in each.owners[:_MOST_BOXES]))
        for each in picture.planes
    )
    down = None if picture.down is None else _start(picture.down)
    return replace(picture, planes=planes, down=down, across=_start(picture.across))


def _start(side: PlaneSide) -> PlaneSide:
    return replace(side, runs=side.runs[:_MOST_BOXES], whole=side.whole and len(side.runs) <= _MOST_BOXES)


def machine(view: SystemView, *, changed: Sequence[str]) -> str:
    """What the machine is, how sure its figures are, and all of them to unfold. `changed`: what-ifs on top."""
    sure = ", ".join(f"{number} {name}" for name, number in sorted(view.certainties.items()))
    sizes = f"{plural(view.largest_built, 'processor')} at most"
    blocks = [f"<p><b>{escape(view.name)}</b>, {escape(view.title)}: {sizes}; figures {sure}.</p>"]
    if changed:
        told = escape("  ".join(changed))
        blocks.append(f"<p>The figures below are those of the description, before <code>{told}</code>.</p>")
    blocks += [f"<p>{escape(each)}</p>" for each in view.notes]
    for unit in _units(view.root):
        for component in unit.components:
            if component.figures:
                blocks.append(_component(unit, component))
    sources = "\n".join(f"<dt>{escape(key)}</dt><dd>{escape(text)}</dd>" for key, text in view.sources.items())
    blocks.append(f"<details>\n<summary>Sources</summary>\n<dl>\n{sources}\n</dl>\n</details>")
    return "\n".join(blocks)


def _units(unit: UnitView) -> Iterator[UnitView]:
    yield unit
    for child in unit.children:
        yield from _units(child)


def _component(unit: UnitView, component: ComponentView) -> str:
    rows = [
        row(
            [
                f"<code>{escape(each.key)}</code>",
                escape(each.text),
                escape(each.certainty),
                escape(each.source),
                escape(shorten(each.remark, 200)),
            ],
            text=(0, 2, 3, 4),
            hidden=(4,),
        )
        for each in component.figures
    ]
    head = f"{unit.id} {unit.title or unit.name}: {component.letter}, {plural(len(component.figures), 'figure')}"
    titles = ("figure", "value", "certainty", "source", "remark")
    inside = table(f"Figures of {unit.id}", titles, rows, text=(0, 2, 3, 4), hidden=(4,), sortable=False)
    return f"<details>\n<summary>{escape(head)}</summary>\n{inside}\n</details>"
