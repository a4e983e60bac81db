"""Spellings of directives that mean the same give the same directives."""

import pytest
from msgspec.structs import replace

from aag.diagnostics import NOWHERE

T = "TEMPLATE t(8)"


def said(found):
    """Mapping directives without their places, one a text, in alphabetical order."""
    return sorted(str(replace(each, span=NOWHERE)) for each in found)


@pytest.mark.parametrize(
    ("plain", "others"),
    [
        (
            ["ALIGN a(i) WITH t(i)", "ALIGN b(i) WITH t(i)"],
            [
                "ALIGN a(i), b(i) WITH t(i)",
                "ALIGN :: a(i), b(i) WITH t(i)",
                "ALIGN (i) WITH t(i) :: a, b",
                "ALIGN WITH t(i) :: a(i), b(i)",
                "ALIGN (i) WITH t(i) :: a, b(i)",
                "ALIGN(I)WITH T(I)::A,B ! both",
                "ALIGN a(i), & ! first\n!HPF$ b(i) WITH t(i) ! second",
            ],
        ),
        (["ALIGN a(:) WITH t(:)"], ["ALIGN (:) WITH t(:) :: a", "ALIGN WITH t(:) :: a(:)"]),
        (
            ["ALIGN a(i) WITH t(i)", "ALIGN c(i,*) WITH t(i)", "ALIGN k(*) WITH t(*)"],
            ["ALIGN a(i), c(i,*), k(*) WITH t(i)", "ALIGN WITH t(i) :: a(i), c(i,*), k(*)"],
        ),
        (["ALIGN c(i,j) WITH u(j,i)"], ["ALIGN (i,j) WITH u(j,i) :: c", "ALIGN WITH u(j,i) :: c(i,j)"]),
        (
            ["DISTRIBUTE a(BLOCK)", "DISTRIBUTE b(BLOCK)"],
            [
                "DISTRIBUTE (BLOCK) :: a, b",
                "DISTRIBUTE (BLOCK) a, b",
                "DISTRIBUTE a(BLOCK), b(BLOCK)",
                "DISTRIBUTE :: a(BLOCK), b(BLOCK)",
                "DISTRIBUTE(BLOCK)::a,b!both",
            ],
        ),
        (
            ["PROCESSORS p(4)", T, "DISTRIBUTE t ONTO p"],
            [
                "PROCESSORS, DIMENSION(4) :: p\n!HPF$ TEMPLATE, DISTRIBUTE ONTO p :: t(8)",
                "DIMENSION(4), PROCESSORS :: p\n!HPF$ DISTRIBUTE ONTO p, TEMPLATE, DIMENSION(8) :: t",
                "PROCESSORS :: p(4)\n!HPF$ TEMPLATE :: t(8)\n!HPF$ DISTRIBUTE ONTO p :: t",
            ],
        ),
        (
            [T, "DISTRIBUTE t(BLOCK)", "ALIGN a WITH t", "DYNAMIC a"],
            [
                "TEMPLATE, DISTRIBUTE(BLOCK) :: t(8)\n!HPF$ DYNAMIC, ALIGN WITH t :: a",
                "TEMPLATE, DISTRIBUTE(BLOCK), SHADOW(1) :: t(8)\n!HPF$ ALIGN WITH t, DYNAMIC, RANGE(*),(BLOCK) :: a",
            ],
        ),
    ],
)
def test_the_same_in_other_words(directives, plain, others):
    expected = said(directives("\n".join(f"!HPF$ {each}" for each in plain)))
    assert len(expected) == len(plain)
    for other in others:
        assert said(directives(f"!HPF$ {other}")) == expected, other


def test_a_remapping_in_other_words(body):
    plain = body("!HPF$ REALIGN a(i) WITH t(i)\n!HPF$ REALIGN b(i) WITH t(i)", defer=True)
    for text in ("REALIGN WITH t(i) :: a(i), b(i)", "REALIGN a(i), b(i) WITH t(i)"):
        found = body(f"!HPF$ {text}", defer=True)
        assert said(each.directive for each in found) == said(each.directive for each in plain)


@pytest.mark.parametrize("clause", ["ON HOME(a(i))", "ONHOME(a(i))", "ON HOME (a(i))", "ONHOME a(i)", "ON a(i)"])
def test_the_home_of_a_loop(body, clause):
    (plain,) = body("real a(8)\n!HPF$ INDEPENDENT, ON HOME(a(i))\ndo i = 1, 8\n a(i) = 1\nend do")
    (loop,) = body(f"real a(8)\n!HPF$ INDEPENDENT, {clause}\ndo i = 1, 8\n a(i) = 1\nend do")
    assert loop.independent.home == plain.independent.home
