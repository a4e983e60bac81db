"""Directives as people write them, through the parser; and whatever else they may write."""

import random
import re

import pytest

from aag.diagnostics import SourceError, UnresolvedError
from aag.mapping.resolve import Overrides, resolve_mapping
from aag.source.read import read_program
from tests.aag.mapping.owners import owners

PROGRAM = """\
program forms
  integer, parameter :: n = 12, m = 3
  real :: a(n, n), b(n, n), c(n), d(0:n - 1), e(n), f(n, n), g(4, n), h(n)
  double precision, allocatable :: w(:, :)
!HPF$ PROCESSORS, DIMENSION(2, 2) :: p
!HPF$ PROCESSORS q(NUMBER_OF_PROCESSORS())
!HPF$ TEMPLATE, DIMENSION(n, n), DISTRIBUTE(BLOCK, CYCLIC(m)) ONTO p :: t
!HPF$ ALIGN (i, j) WITH t(j, i) :: a, b
!HPF$ ALIGN c(i), e(i) WITH t(i, *)
!HPF$ ALIGN d(:) WITH t(1:n, 2)
!HPF$ ALIGN WITH a :: f
!HPF$ ALIGN g(*, :) WITH h(:)
!HPF$ DISTRIBUTE (BLOCK) ONTO q :: h
!HPF$ DISTRIBUTE w(*, CYCLIC)
!HPF$ DYNAMIC a
  allocate(w(n, 2 * n))
  a = 1.0
!HPF$ REALIGN a(i, j) WITH t(i, j)
end program forms
"""


def layouts_of(text, **overrides):
    main = read_program(text, "forms.f90").main
    assert main is not None
    return resolve_mapping(main, Overrides(**overrides), 8)


def test_extents_of_inquiries_and_of_elements_of_constants():
    text = """\
module sizes
  integer, parameter :: k = 3, steps(0:2) = (/4, 8, k/), even(*) = [(2 * i, i = 1, 4)]
end module sizes
program p
  use sizes
  integer, parameter :: n = 5, m(2, 2) = reshape((/1, n, 3, 4/), (/2, 2/)), same(3) = 6
  real :: a(steps(0), even(3)), b(m(2, 1), m(1, 2)), c(0:same(2))
  real :: d(size(a)), e(lbound(c, 1):ubound(a, dim=2)), f(size(c), size(f2, 1))
  real, allocatable :: f2(:), g(:)
  allocate (f2(size(b, 2):9))
  allocate (g(size(f2)))
contains
  subroutine hides(steps)
    integer :: steps(2)
    steps(1) = 1
  end subroutine hides
end program p
"""

    def bounds(**values):
        return {name: each.bounds for name, each in layouts_of(text, values=values).arrays.items()}

    expected = {
        "a": ((1, 4), (1, 6)),
        "b": ((1, 5), (1, 3)),
        "c": ((0, 6),),
        "d": ((1, 24),),
        "e": ((0, 6),),
        "f": ((1, 7), (1, 7)),
        "f2": ((3, 9),),
        "g": ((1, 7),),
    }
    assert {name: each for name, each in bounds().items() if name in expected} == expected
    assert bounds(n=2)["b"] == ((1, 2), (1, 3))


@pytest.mark.parametrize("extent", ["size(a)", "size(b)", "lbound(c, 3)", "size(c, k)", "even(k)", "even(4)"])
def test_extents_without_a_value(extent):
    text = f"program p\nreal a({extent}), b(size(a)), c(2, 2), s\ninteger, parameter :: even(3) = (/2, 4, 6/)\nend\n"
    with pytest.raises(SourceError) as caught:
        layouts_of(text)
    assert {each.code for each in caught.value.diagnostics} == {"E312"}


ALLOCATED = """\
program p
  integer :: n
  real, allocatable :: a(:)
!HPF$ DISTRIBUTE a(BLOCK)
  {}
  allocate(a(n))
  a = 1.0
end program p
"""


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("read *, n", "give it with ‹set n=VALUE›"),
        ("n = 8\n  n = 9", "the program computes it: ‹set n=VALUE› overrides its value"),
    ],
)
def test_values_that_are_missing_are_named(statement, hint):
    with pytest.raises(UnresolvedError) as missing:
        layouts_of(ALLOCATED.format(statement))
    assert [(name, each.hint) for name, each in missing.value.missing.items()] == [("n", hint)]
    assert layouts_of(ALLOCATED.format(statement), values={"n": 8}).arrays["a"].elements == 8


def test_where_a_value_alone_does_not_help_no_value_is_named():
    with pytest.raises(SourceError) as mixed:
        layouts_of(ALLOCATED.format("read *, n").replace("a(BLOCK)", "b(BLOCK)"))
    assert not isinstance(mixed.value, UnresolvedError)


SET = """\
program p
  integer, parameter :: n = 8
  integer :: i, j, k, m, s, mask, used, never, q, last
  real :: a(n), x
!HPF$ DISTRIBUTE a(BLOCK)
  read *, m, k, x, s, mask, used, last
  do i = 1, m
    a(k) = x
  end do
  forall (j = 1:n, j > mask) a(j) = 1
  a = cshift(a, shift=s)
  never = used
  print *, (a(q), q = 1, last)
  do while (x > 3)
    x = x / 2
  end do
end program p
"""


@pytest.mark.parametrize("name", ["n", "M", "k", "x", "s", "mask", "last", "trips_14"])
def test_values_that_have_an_effect(name):
    assert layouts_of(SET, values={name: 8}).arrays["a"].elements == 8


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a", "a is an array"),
        ("i", "i is the variable of a loop"),
        ("j", "j is the variable of a loop"),
        ("q", "q is the variable of a loop"),
        ("used", "used decides neither a size nor the flow of the program"),
        ("never", "never decides neither a size nor the flow of the program"),
        ("trips_7", "line 7 has no loop whose trip count can be set"),
        ("trips_999", "line 999 has no loop whose trip count can be set"),
        ("other", "program p has no such name"),
    ],
)
def test_values_without_an_effect(name, why):
    with pytest.raises(SourceError) as caught:
        layouts_of(SET, values={name: 8})
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E301", f"‹set {name}›: {why}")
    assert found.hint == "can be set: n, k, m, s, mask, last, x, trips_14"


COMPUTED = """\
program p
  integer, parameter :: n = 8
  integer :: i, k, l, m, twice, read_too, guarded, lost
  real :: a(n)
  real, allocatable :: b(:)
  k = 2 * n
  l = max(k, 3)
  m = n + 1
  allocate (b(m))
  twice = n
  twice = twice + k
  read_too = n
  read *, read_too
  if (a(1) > 0) guarded = n
  lost = int(a(1))
  do i = 1, k + l + twice + read_too + guarded + lost
    a(1) = 1
  end do
end program p
"""


@pytest.mark.parametrize("name", ["k", "l", "m", "twice", "read_too", "guarded", "lost"])
def test_values_that_the_program_computes_can_be_given(name):
    found = layouts_of(COMPUTED, values={name: 8, "m": 8})
    assert found.arrays["a"].elements == 8
    assert [each.message for each in found.notes if each.message.startswith(f"{name} = 8 as given, although line")]


def test_a_constant_without_a_value_is_one_error():
    text = "program p\ninteger, parameter :: n\nreal a(n), b(n, n)\n!hpf$ template t(n)\nend\n"
    with pytest.raises(SourceError) as caught:
        layouts_of(text)
    assert [(each.code, each.span.line) for each in caught.value.diagnostics] == [("E319", 2)]


def test_all_forms_together():
    layouts = layouts_of(PROGRAM)
    assert layouts.notes == ()
    assert layouts.procs == 4
    held = {name: layout.local_elements().tolist() for name, layout in layouts.arrays.items()}
    # t: 6 rows each; columns 1-3, 7-9 and 4-6, 10-12.
    assert held == {
        "a": [36] * 4,
        "b": [36] * 4,
        "c": [6] * 4,
        "d": [6, 6, 0, 0],
        "e": [6] * 4,
        "f": [36] * 4,
        "g": [12] * 4,
        "h": [3] * 4,
        "w": [72] * 4,
    }
    assert layouts.arrays["f"].template == "t"
    assert layouts.arrays["d"].bounds == ((0, 11),)
    # a(i, j) lies in t(j, i): column 1 belongs to the first rows of t.
    assert owners(layouts.arrays["a"], [[1, 7], [4, 1]]).argmax(axis=1).tolist() == [1, 2]


def test_places_of_errors_have_columns():
    with pytest.raises(SourceError) as error:
        layouts_of(PROGRAM.replace("(BLOCK) ONTO q :: h", "(BLOCK(2)) ONTO q :: h"))
    assert [str(each) for each in error.value.diagnostics] == [
        (
            "forms.f90:13:25: E307 DISTRIBUTE h, dimension 1: BLOCK(2) on 4 processors holds 8 of 12 indices "
            "(write BLOCK or BLOCK(3), or distribute the dimension over 6 processors)"
        )
    ]


KINDS = (
    ["BLOCK", "CYCLIC", "CYCLIC(0)", "BLOCK(3)", "*", ":", "GEN_BLOCK(c)"],
    ["a", "b", "c", "d", "e", "f", "g", "h", "w", "t", "n", "m"],
    ["0", "1", "2", "4", "-3", "99999999999999999999", "i", "j", "n", "2*i", "i*j", "n/2", "1:n:2"],
)


def mutated(seed):
    """The program with some words of its directives replaced by others of their kind."""
    chance = random.Random(seed)
    lines = PROGRAM.splitlines()
    for _ in range(chance.randint(1, 3)):
        at = chance.choice([row for row, line in enumerate(lines) if line.startswith("!HPF$")])
        parts = re.findall(r"\w+|[^\w\s]|\s+", lines[at][5:])
        places = [(place, kind) for place, part in enumerate(parts) for kind in KINDS if part in kind]
        place, kind = chance.choice(places or [(0, KINDS[0])])
        parts[place] = chance.choice(kind)
        lines[at] = "!HPF$ " + "".join(parts).strip()
    return "\n".join(lines) + "\n"


def test_mutated_directives_give_layouts_or_diagnostics():
    codes = set()
    for seed in range(200):
        try:
            for layout in layouts_of(mutated(seed), procs=1 + seed % 9).arrays.values():
                layout.bytes_held()
            codes.add("layouts")
        except SourceError as error:
            codes |= {each.code for each in error.diagnostics}
    # Both outcomes, and errors of this room among them.
    assert {"layouts", "E302", "E305", "E306", "E314"} <= codes


LOOPING = """\
program p
  integer, parameter :: n = 8
  integer :: it
  real :: a(n), err, old, tol
!HPF$ DISTRIBUTE a(BLOCK)
  read *, tol
  a = 1.0
  err = 1.0
  it = 0
  {head}
    {leave}
    old = dot_product(a, a)
    a = 0.9*a
    err = max(old - dot_product(a, a), 0.0)
    it = it + 1
  end do
end program p
"""

CONDITION = "err > tol .and. it < 20"


@pytest.mark.parametrize(
    "text",
    [
        LOOPING.format(head=f"do while ({CONDITION})", leave="a(1) = 2.0"),
        LOOPING.format(head="do", leave=f"if (.not. ({CONDITION})) exit"),
        LOOPING.format(head="do i = 1, 20", leave="if (sqrt(err) <= tol) exit"),
    ],
)
def test_no_value_stands_for_what_a_loop_changes_until_it_ends(text):
    """One value would end it at once, or never."""
    for name in ("err", "old"):
        with pytest.raises(SourceError, match=f"{name} decides when the loop in line 10 ends, and changes in it"):
            layouts_of(text, values={name: 0.0})
    assert layouts_of(text, values={"tol": 0.1}).arrays["a"].elements == 8


def test_a_given_size_that_the_program_assigns_is_noted():
    computed = "n = 8\n  n = 9"
    noted = [
        each.message for each in layouts_of(ALLOCATED.format(computed), values={"n": 7}).notes if each.code == "W291"
    ]
    lines = [at for at, line in enumerate(ALLOCATED.format(computed).splitlines(), 1) if line.startswith("  n = ")]
    assert noted == [f"n = 7 as given, although lines {lines[0]} and {lines[1]} assign it"]
    assert "W291" not in {each.code for each in layouts_of(ALLOCATED.format("read *, n"), values={"n": 7}).notes}
