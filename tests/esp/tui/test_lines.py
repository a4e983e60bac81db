"""Columns: numbers whole, one column flexible, every line as wide as it should be."""

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from esp.tui.lines import Field, Sheet, SheetLayout, SheetLine, fitted, words, wrapped
from esp.tui.widgets.drawing import strip_of

TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)


@given(TEXTS, TEXTS, st.integers(20, 60))
def test_lines_are_as_wide_as_the_layout(number, words_of_it, width):
    layout = SheetLayout((Field("n", 8), Field("what", 0, "<")), width)
    line = layout.line((number[:8], (words_of_it, "strong")))
    assert sum(len(text) for text, _ in line.pieces) == width
    assert "".join(text for text, _ in line.pieces)[:8] == f"{number[:8]:>8}"


@given(st.lists(st.tuples(TEXTS, st.just("r")), max_size=5), st.integers(1, 40))
def test_fitted_is_exactly_as_wide_as_wanted(pieces, width):
    assert sum(len(text) for text, _ in fitted(pieces, width)) == width


def test_what_is_cut_says_so():
    assert "".join(text for text, _ in fitted([("(CYCLIC,", ""), ("CYCLIC)", "")], 10)) == "(CYCLIC,.."


@given(st.text("abc ", max_size=80), st.integers(5, 40))
def test_wrapping_keeps_the_words_and_the_width(text, width):
    lines = wrapped([(each[:width], "") for each in text.split()], width)
    assert all(len(line.text) <= width for line in lines)
    assert " ".join(line.text for line in lines).split() == [each[:width] for each in text.split()]


def test_a_sheet_finds_keys():
    sheet = Sheet(SheetLine((("title", ""),)), (SheetLine(key="a"), SheetLine(), SheetLine((("x", ""),), key=7)))
    assert (sheet.row_of(7), sheet.row_of("nowhere")) == (2, 0)
    assert sheet.text == "title\n\n\nx\n"
    assert [text for text, _ in words("two words")] == ["two", "words"]


def test_invisible_characters_are_drawn_as_escapes():
    strip = strip_of(SheetLine((("a\x1b[2Jb\u202e", "faint"), ("\x9b", ""))), 40, Style(), dark=True)
    assert strip.text.rstrip() == r"a\u001b[2Jb\u202e\u009b"
    assert strip.cell_length == 40
