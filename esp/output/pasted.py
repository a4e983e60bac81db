"""Directives to paste into a source."""

from collections.abc import Sequence
from itertools import groupby

from aag.diagnostics import Span
from esp.explore.places import Elsewhere
from esp.output.numbers import listed
from esp.output.screen import paragraph


def pasted(
    directives: Sequence[str], replaced: Sequence[Span], width: int, elsewhere: Sequence[Elsewhere] = ()
) -> list[str]:
    """The directives of a choice below each other, and the lines of the source that they replace; then those for
    further program units."""
    notes = _block("paste", directives, replaced, width)
    if not directives:
        return notes
    same = [span for each in elsewhere if each.directives == tuple(directives) for span in each.replaced]
    if same:
        notes.append(paragraph("", f"and again in place of {lines_of(same)}", width))
    for each in elsewhere:
        if each.directives != tuple(directives) or not each.replaced:
            notes.append(paragraph("", f"and in {each.unit}", width))
            notes += _block("", each.directives, each.replaced, width)
    return notes


def _block(label: str, directives: Sequence[str], replaced: Sequence[Span], width: int) -> list[str]:
    notes = [paragraph(label if not at else "", line, max(width, len(line) + 12)) for at, line in enumerate(directives)]
    if directives:
        where = f"in place of {lines_of(replaced)}" if replaced else "after the declarations of these arrays"
        notes.append(paragraph("", where, width))
    return notes


def lines_of(places: Sequence[Span]) -> str:
    """The lines of places in one file or several.

    >>> lines_of([Span("a.f", 7), Span("a.f", 3), Span("b.f", 2)])
    'lines 3 and 7 of a.f and line 2 of b.f'
    """
    found = sorted({(each.file, each.line) for each in places})
    groups = [(file, [str(line) for _, line in group]) for file, group in groupby(found, key=lambda each: each[0])]
    shown = [f"line{'s' * (len(lines) > 1)} {listed(lines)}" for _, lines in groups]
    if len(groups) == 1:
        return shown[0]
    return listed([f"{text} of {file}" for text, (file, _) in zip(shown, groups, strict=True)])
