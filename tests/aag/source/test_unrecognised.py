"""Comments that read as directives but have a wrong sentinel (W108), and those that are left alone."""

from itertools import product

import pytest

from aag.diagnostics import SourceError
from aag.mapping.resolve import resolve_mapping
from aag.pipeline import Overrides, main_unit, map_arrays
from aag.source.read import read_program

DIRECTIVES = [
    "DISTRIBUTE a(BLOCK)",
    "DISTRIBUTE (BLOCK,*) ONTO p :: a, b",
    "ALIGN a(i) WITH t(i)",
    "ALIGN a WITH t",
    "TEMPLATE t(n,n)",
    "PROCESSORS p(4)",
    "REDISTRIBUTE a(CYCLIC)",
    "INDEPENDENT",
    "INDEPENDENT, NEW(x)",
    "PROCESSORS, DIMENSION(4) :: p",
]
SENTINELS = ["HFP$", "HPF", "HP$", "HPS$", "HPF4", "HPPF$", "PHF$", "hpf", "hfp$", " HPF$", "  HPF$", "HPF $", "H PF$"]
FOREIGN = [
    "!hpf$",
    "!!hpf$",
    "fcd$",
    "ADP$",
    "DIR$",
    "OMP$",
    "ACC$",
    "CMIC$",
    "CAPR$",
    "DVM$",
    "$OMP",
    "IBM*",
    "DEC$",
    "GCC$",
]

WORDS = "distribute align template processors independent dynamic inherit sequence realign redistribute no dimension"
PHRASES = [
    "",
    "the rows over all processors",
    "arrays with their templates, where possible",
    "is what makes this loop fast",
    "(see the manual)",
    "a block of rows to each processor",
    "t",
    "as in chapter 4: first the rows, then the columns",
    "or not?",
    "= one part of the mapping",
    "of size n by n",
    "loops follow",
    "both a and b on the same grid",
    "x, y and z",
]
PROSE = [
    f"{head}{word} {phrase}"
    for head, word, phrase in product(["! ", "!", "!  ", "! HPF ", "! HPF: ", "! $ "], WORDS.split(), PHRASES)
]


def found_in(text, form="free"):
    """The comments that are reported: line and code."""
    return [(each.span.line, each.code) for each in read_program(text, "x.f90", form=form, defer=True).diagnostics]


@pytest.mark.parametrize("sentinel", SENTINELS)
@pytest.mark.parametrize("directive", DIRECTIVES)
def test_a_wrong_sentinel_is_reported(sentinel, directive):
    assert found_in(f"real a(8), b(8)\n!{sentinel} {directive}\na = 1\nend\n") == [(2, "W108")]


@pytest.mark.parametrize("sentinel", FOREIGN)
@pytest.mark.parametrize("directive", DIRECTIVES)
def test_sentinels_of_others_are_left_alone(sentinel, directive):
    assert found_in(f"real a(8)\n!{sentinel} {directive}\na = 1\nend\n") == []


@pytest.mark.parametrize("mark", ["C", "c", "*", "!", "      !"])
def test_fixed_form_has_its_own_comments(mark):
    text = f"      real a(8)\n{mark}HFP$ DISTRIBUTE a(BLOCK)\n      a = 1\n      end\n"
    assert found_in(text, "fixed") == [(2, "W108")]


def test_no_alarm_on_prose():
    assert len(PROSE) > 1000
    assert found_in("\n".join(["program p", *PROSE, "x = 1", "end", ""])) == []
    fixed = [f"C{each[1:]}" for each in PROSE]
    assert found_in("\n".join(["      program p", *fixed, "      x = 1", "      end", ""]), "fixed") == []


@pytest.mark.parametrize(
    "each", ["!HPF dynamic arrays", "!HPF template program", "!HPF processors work", "!HPF inherit names"]
)
def test_words_alone_after_a_sentinel_without_its_dollar_are_prose(each):
    assert found_in(f"program p\n{each}\nx = 1\nend\n") == []


def test_a_continued_comment_is_one_finding():
    text = "real a(8)\n!HFP$ DISTRIBUTE &\n!HFP$& a(BLOCK)\na = 1\nend\n"
    assert found_in(text) == [(2, "W108")]


def test_a_continuation_with_a_wrong_sentinel_is_reported():
    text = "real a(8)\n!HPF$ PROCESSORS p(4)\n!HPF$ DISTRIBUTE a(BLOCK) &\n!HFP$& ONTO p\na = 1\nend\n"
    assert found_in(text) == [(4, "W108")]


@pytest.mark.parametrize(
    ("comment", "use"),
    [
        ("!HFP$ TEMPLATE t(8)", "!HPF$ ALIGN a(i) WITH t(i)"),
        ("! HPF$ TEMPLATE t(8)", "!HPF$ DISTRIBUTE t(BLOCK)"),
        ("!HPF PROCESSORS t(4)", "!HPF$ DISTRIBUTE a(BLOCK) ONTO t"),
    ],
)
def test_what_only_a_comment_declares_is_missing_because_of_it(comment, use):
    program = read_program(f"program p\nreal a(8)\n{comment}\n{use}\na = 1\nend\n", "x.f90", defer=True)
    with pytest.raises(SourceError) as error:
        map_arrays(program, Overrides(), 4)
    (found,) = error.value.diagnostics
    assert (found.code, found.hint) == ("E301", "line 3 would declare it, but is a comment: begin it with !HPF$")


@pytest.mark.parametrize(
    ("text", "procs", "codes"),
    [
        ("real a(8)\na = 1\n", 4, ["W311"]),
        ("real a(8)\n!HPF$ PROCESSORS p(4)\na = 1\n", 4, ["W311"]),
        ("real a(8), b(8)\n!HPF$ ALIGN a(i) WITH b(i)\na = b\n", 4, ["W311"]),
        ("real a(8)\na = 1\n", 1, []),
        ("x = 1\n", 4, ["W312"]),
        ("real a(8)\n!HPF$ DISTRIBUTE a(BLOCK)\na = 1\n", 4, []),
        ("real a(8)\n!HPF$ DYNAMIC a\na = 1\n!HPF$ REDISTRIBUTE a(BLOCK)\na = 2\n", 4, []),
    ],
)
def test_nothing_distributed_is_reported(text, procs, codes):
    unit = main_unit(read_program(f"program p\n{text}end\n", "x.f90"))
    assert [each.code for each in resolve_mapping(unit, Overrides(procs=procs), 8).notes] == codes
