"""The directives to paste, in place of the lines that the result names, give the time that it promises."""

import pytest

import esp

SEVERAL = """program several
  implicit none
  integer, parameter :: n = 64
  real :: a(n, n), b(n, n), c(n), d(n)
  integer :: i, j
!HPF$ PROCESSORS p(8)
!HPF$ PROCESSORS q(4, 2)
!HPF$ DISTRIBUTE a(BLOCK, *) ONTO p
!HPF$ DISTRIBUTE (*, CYCLIC) ONTO p :: b
!HPF$ DISTRIBUTE c(BLOCK) ONTO p
!HPF$ ALIGN d(i) WITH c(i)
  a = 1.0
  c = 2.0
  d = 3.0
  forall (i = 2:n-1, j = 2:n-1) b(i, j) = a(i-1, j) + a(i+1, j) + c(i) + d(j)
  print *, sum(b)
end program several
"""

MODULE = """module grid
  integer, parameter :: n = 64
  real :: u(n, n), v(n, n)
!HPF$ DISTRIBUTE u(*, BLOCK)
!HPF$ ALIGN v(i, j) WITH u(i, j)
end module grid
program waves
  use grid
  implicit none
  u = 1.0
  v = 2.0
  u(2:n-1, :) = v(1:n-2, :) + v(3:n, :)
  print *, sum(u)
end program waves
"""


def pasted(text, directives, replaced):
    """The text with the directives where the first of the replaced lines is."""
    gone = {each.line for each in replaced}
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        lines += directives if number == min(gone) else []
        lines += [] if number in gone else [line]
    return "\n".join(lines) + "\n"


FIRST = {"first": ["(BLOCK,BLOCK)", "(*,CYCLIC)"]}
SOON = ("module-all", "several-one for all", "several-some of one")
CASES = [
    pytest.param(text, distribute, id=f"{name}-{what}", marks=() if f"{name}-{what}" in SOON else pytest.mark.truth)
    for name, text in (("several", SEVERAL), ("module", MODULE))
    for what, distribute in (("all", None), ("one for all", "(BLOCK,BLOCK)"), ("some of one", FIRST))
]
"""Advice of all for `SEVERAL` is below."""


@pytest.mark.parametrize(("text", "distribute"), CASES)
def test_every_choice_has_the_time_that_it_gives_when_pasted(text, distribute):
    if isinstance(distribute, dict):
        distribute = {"a" if text is SEVERAL else "u": distribute["first"]}
    found = esp.compare(text, procs=8, size="none", distribute=distribute)
    choices = [each for each in found.ranked if each.choice.directives][:6]
    assert choices
    for each in choices:
        again = pasted(text, each.choice.directives, each.choice.replaced)
        assert esp.predict(again).time_s == each.time_s, again


@pytest.mark.parametrize("distribute", [None, {"a": ["(BLOCK,BLOCK)", "(*,CYCLIC)"]}])
def test_advice_has_the_time_that_it_gives_when_pasted(distribute):
    found = esp.advise(SEVERAL, procs=8, distribute=distribute)
    best = found.best.candidate
    assert best.directives
    assert esp.predict(pasted(SEVERAL, best.directives, best.replaced)).time_s == found.best.time_s


def test_an_alignment_of_the_command_is_pasted_too():
    found = esp.compare(SEVERAL, procs=8, size="none", align="c(i) WITH b(i,*)", distribute={"a": "(*,CYCLIC)"})
    best = next(each for each in found.ranked if "PROCESSORS" in str(each.choice.directives))
    assert "!HPF$ ALIGN C(I) WITH B(I,*)" in best.choice.directives
    assert esp.predict(pasted(SEVERAL, best.choice.directives, best.choice.replaced)).time_s == best.time_s


def test_the_command_names_the_lines_that_the_directives_replace():
    shown = str(esp.compare(MODULE, procs=4, size="none"))
    assert "         !HPF$ DISTRIBUTE U(" in shown
    assert "         in place of line 4\n" in shown
