"""Statements of other languages, and statements that lack a part: what is wrong, and what to write."""

import pytest

from aag.source.causes import cause, wrong_head

STATEMENTS = {
    "u += v": ("found +=", "repeat the variable: i = i + 1", "+="),
    "t++": ("found ++", "write i = i + 1", "++"),
    "x = a && b": ("found &&", "write .and.", "&&"),
    "x = a || b": ("found ||", "write .or.", "||"),
    "u = v ^ 2": ("found ^", "write ** for a power", "^"),
    "k = i % 2": ("found %", "write mod(i, 2) for a remainder", "%"),
    "if (x > 0) { y = 1": ("found {", "a block ends with END IF, END DO or another END", "{"),
    "u = v # copy": ("found #", "a comment begins with !", "#"),
    "// copy": ("found //", "a comment begins with !", "//"),
    "x := 3": ("found :=", "write = for an assignment", ":="),
    "print *, \u201chello\u201d": ("\u201c is a typographic quotation mark", "write ' or \"", "\u201c"),
    "print, x": ("PRINT lacks its format", "write print *, and then the values", "print"),
    "CHPF$ DISTRIBUTE a(BLOCK)": (
        "CHPF$ begins a comment in fixed form only",
        "write ! here, or use ‹form fixed›",
        "CHPF$",
    ),
    "+ 1.0": ("a statement cannot begin with +", "continue a line with & at its end", "+"),
    "& + 1.0": ("the line before it does not end with &", "end that line with &, or use ‹form fixed›", "&"),
    "x = 1 &": (
        "& continues a line in free form only",
        "write a mark in column 6 of the next line, or use ‹form free›",
        "&",
    ),
    "forall (i = 2, n-1) a(i) = 1": (
        "a FORALL index lacks its colon",
        "write a range such as i = 1:n",
        "forall (i = 2,",
    ),
    "integer, parameter n = 128, steps = 20": (
        "the double colon is missing",
        "write :: before the names",
        "integer, parameter",
    ),
    "real(8), dimension(4) a": ("the double colon is missing", "write :: before the names", "real(8), dimension"),
    "real*8 x = 1.0": ("the double colon is missing", "write :: before the names", "real*8 x ="),
    "u[1, 1] = 0": ("subscripts are in parentheses", "write a(i, j); esp does not support coarrays", "["),
    "if (t = 3) u = v": ("= assigns and does not compare", "write == for a comparison", "if (t ="),
    "u(1) == 2": ("== compares and does not assign", "write = for an assignment", "u(1) =="),
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_causes(text):
    why, hint, marked = STATEMENTS[text]
    found = cause(text)
    assert (found.why, found.hint, text[found.start : found.end]) == (why, hint, marked)


COLUMN = "write a mark in column 6 of each line that continues one"
IN_FIXED_FORM = {
    "+ 1.0": ("a statement cannot begin with +", COLUMN, "+"),
    "& + 1.0": ("a statement cannot begin with &", COLUMN, "&"),
    "x = 1 +": ("the statement ends after +", f"complete it, or {COLUMN}", "+"),
    "x = 1 &": STATEMENTS["x = 1 &"],
}


@pytest.mark.parametrize("text", IN_FIXED_FORM)
def test_causes_in_fixed_form(text):
    """Nothing is said of & at the end of lines, which continues none there."""
    why, hint, marked = IN_FIXED_FORM[text]
    found = cause(text, fixed=True)
    assert (found.why, found.hint, text[found.start : found.end]) == (why, hint, marked)


@pytest.mark.parametrize("text", ["u = 'a && b' 3", "x = 1 2", "forall (i = 1:n, j = 1:m) a(i) = = 1", "x <= 3 = 4"])
def test_no_cause(text):
    assert cause(text) is None


HEADS = {
    "for i in range(3): x = 1": ("found FOR", "write do i = 1, n"),
    "while (x > 3)": ("found WHILE", "write do while (condition)"),
    "elif (x > 3)": ("found ELIF", "write else if (condition) then"),
    "forall i = 2:3 a(i) = 1": ("FORALL lacks its parentheses", "write forall (i = 1:n)"),
    "if (x > (y + 1))": ("THEN is missing", "write then at the end of the line"),
    "else if (x > 3)": ("THEN is missing", "write then at the end of the line"),
}


@pytest.mark.parametrize("text", HEADS)
def test_heads(text):
    found = wrong_head(text)
    assert (found.why, found.hint) == HEADS[text]


@pytest.mark.parametrize(
    "text",
    [
        "if (x > 3) then",
        "if (x > 3) y = 1",
        "if (x > 3",
        "else if (x > 3) then",
        "forall (i = 1:3) a(i) = 1",
        "forall = 3",
        "for = 3",
        "while(2) = 3",
        "if (3) = 4",
        "do while (x > 3)",
        "forward = 1",
    ],
)
def test_heads_of_fortran(text):
    assert wrong_head(text) is None
