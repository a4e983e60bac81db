"""Computed subscripts as index arrays: which are, which stay, and where they lie."""

import pytest

from aag.ir.index_arrays import with_index_arrays
from aag.ir.printer import print_statement
from aag.pipeline import read_program

HEAD = """program p
integer, parameter :: n = 9
real :: x(n), rho(0:n), z(n)
integer :: c(n), i, k, l, m
real :: y(n), w(n)
common /shared/ m
equivalence (y, w)
!hpf$ distribute x(block)
!hpf$ distribute rho(block)
"""


def changed(text):
    program = read_program(f"{HEAD}{text}end program p\n", "p.hpf")
    return program.main, with_index_arrays(program.main)


def lines(unit):
    return ["".join(line.split()) for each in unit.body for line in print_statement(each).splitlines()]


def test_a_computed_subscript_is_filled_before_the_loop_where_its_data_lie():
    _, unit = changed("do i = 1, n\nk = int(x(i))\nrho(k) = rho(k) + 1\nend do\n")
    assert lines(unit) == [
        "doi=1,n",
        "k$at1(i)=int(x(i))",
        "enddo",
        "doi=1,n",
        "rho(k$at1(i))=rho(k$at1(i))+1",
        "enddo",
    ]
    align = unit.directives[-1]
    assert (align.alignee, align.target, align.axes) == ("k$at1", "x", ("i",))


def test_what_index_arrays_say_already_needs_none():
    _, unit = changed("do i = 1, n\nk = c(i)\nl = k + 1\nrho(l) = rho(k)\nend do\n")
    assert lines(unit) == ["doi=1,n", "rho(c(i)+1)=rho(c(i))", "enddo"]


def test_functions_in_subscripts():
    _, unit = changed("do i = 1, n\nif (i > 2) cycle\nrho(int(x(i)) + 1) = 3\nend do\n")
    assert lines(unit)[1] == "place$at1(i)=int(x(i))"
    assert lines(unit)[-2] == "rho(place$at1(i)+1)=3"


@pytest.mark.parametrize(
    "text",
    [
        "do i = 1, n\nk = int(z(i))\nz(k) = 1\nend do\n",  # not mapped
        "do i = 1, n\nk = i + 1\nrho(k) = 1\nend do\n",  # no data
        "do i = 1, n\nk = int(x(i))\nrho(k) = 1\nend do\nprint *, k\n",  # wanted after the loop
        "do i = 1, n\nrho(k) = 1\nk = int(x(i))\nend do\n",  # of the iteration before
        "do i = 1, n\nk = int(x(i))\nrho(k) = 1\nx(i) = 2\nk = 1\nend do\n",  # changes again
        "do i = 1, n\nk = int(x(i))\nrho(k) = 1\nx(n) = 2\nend do\n",  # its data change
        "do i = 1, n\nif (i > 3) cycle\nk = int(x(i+6))\nrho(k) = 1\nend do\n",  # there is no x(i+6) elsewhere
        "do i = 1, n\nm = int(x(i))\nrho(m) = 1\nend do\n",  # others see it
        "do i = 1, n\nk = int(y(i))\nrho(k) = 1\nw(n) = 2\nend do\n",  # its data change under another name
        "do i = 1, n\nk = int(x(i))\nif (k > 3) exit\nrho(k) = 1\nend do\n",  # may end early
    ],
)
def test_others_stay(text):
    before, after = changed(text)
    assert after is before
