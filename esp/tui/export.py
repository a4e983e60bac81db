"""What is on the screen, for a file: as text, or the prediction behind it in the forms of `esp run`."""

from pathlib import Path

from esp.errors import UsageError
from esp.tui.lines import Sheet, SheetLine
from esp.tui.sheets import choices, detail, frame
from esp.tui.sheets.views import sheet
from esp.tui.state import State, prediction

WIDTH = 120
"""Columns of exported text."""

SUFFIXES = (".txt", ".svg", ".html", ".json", ".csv")


def default_name(state: State) -> str:
    """A name for the file: of the program and the view."""
    return f"{Path(state.file).stem}-{state.view}.txt"


def text_of(state: State) -> str:
    """All parts of the screen, lists in full, below each other."""
    heading = frame.heading(state, WIDTH)
    below = detail.lines(state, WIDTH)
    sliders = [frame.slider(each, 44, focused=False) for each in state.sliders.values()]
    shown = sheet(state, WIDTH)
    parts = [
        *(line.text for line in heading),
        "",
        *_lines(choices.sheet(state, WIDTH)),
        "",
        f"{frame.NAMES[state.view]}",
        *_lines(shown),
        "",
        *(line.text for line in below),
        "",
        *(line.text for line in sliders),
    ]
    return "\n".join(part.rstrip() for part in parts).rstrip() + "\n"


def _lines(shown: Sheet) -> list[str]:
    found: list[SheetLine] = [shown.heading] if shown.heading is not None else []
    return [line.text for line in (*found, *shown.lines)]


def exported(state: State, suffix: str) -> str:
    """The content of a file with this suffix, screenshots (``.svg``) apart.

    Raises:
        UsageError: no such form, or no prediction to export.
    """
    if suffix not in SUFFIXES:
        raise UsageError(
            f"there is no format {suffix or 'without a suffix'!r}.", hint=f"The suffix decides: {', '.join(SUFFIXES)}."
        )
    if suffix == ".txt":
        return text_of(state)
    found = prediction(state)
    if found is None:
        raise UsageError("there is no prediction to export.", hint="A .txt file shows why.")
    if suffix == ".json":
        from esp.output import json

        return json.one(found, json.Sections(per_processor=True, aaus=None))
    if suffix == ".csv":
        from esp.output import csv

        return csv.lines(found)
    from esp.output import html

    return f'<!doctype html>\n<meta charset="utf-8">\n{html.page(found)}\n'
