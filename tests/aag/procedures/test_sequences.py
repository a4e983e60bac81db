"""Sequence association: dummy arrays with other extents than the actual ones."""

import pytest

from aag.ir.printer import print_statement
from aag.ir.spelling import spell_equivalence
from aag.ir.statements import CallStmt, Enter
from aag.ir.visitors import walk_statements
from aag.pipeline import main_unit, read_program
from esp.api import Request, Source, predict_source
from tests.aag.spmd.emit.native import default_machine

HEAD = """program p
  integer, parameter :: n = 6
  real :: a(n,n), b(0:3,2,4), m(n,n), d(8,8)
  double precision :: t(4,4)
  real, allocatable :: w(:,:)
  integer :: j, k
!hpf$ distribute d(block,*)
!hpf$ align m(i,j) with d(i,j)
"""
SET = "subroutine set(x, l)\ninteger l\nreal x({})\nx({}) = 1\nend subroutine\n"


def unit(call, shape, element):
    return main_unit(read_program(f"{HEAD}read *, j, k\n{call}\nend program\n{SET.format(shape, element)}", "p.f90"))


@pytest.mark.parametrize(
    ("actual", "shape", "element", "expected"),
    [
        ("a", "36", "k", "a$1d(k) = 1"),
        ("a", "l", "k", "a$1d(k) = 1"),
        ("a", "*", "k", "a$1d(k) = 1"),
        ("a", "0:*", "k", "a$1d(k + 1) = 1"),
        ("a", "2,18", "k, 5", "a$2d(k, 5) = 1"),
        ("a", "2,3,*", "1, k, 2", "a$3d(1, k, 2) = 1"),
        ("a", "6,6", "k, 5", "a(k, 5) = 1"),
        ("a(1,3)", "12", "k", "a$1d(k + 12) = 1"),
        ("a(1,3)", "6", "k", "a(k, 3) = 1"),
        ("a(3,3)", "4", "k", "a(k + 2, 3) = 1"),
        ("a(3,3)", "5", "k", "a$1d(k + 14) = 1"),
        ("a(3,3)", "1", "k", "a$1d(k + 14) = 1"),
        ("a(1,3)", "2,4", "k, 1", "a$2d(k, 7) = 1"),
        ("b(0,1,2)", "8,*", "k, 2", "b$2d(k, 3) = 1"),
    ],
)
def test_elements_keep_their_order(actual, shape, element, expected):
    main = unit(f"call set({actual}, 24)", shape, element)
    assert print_statement(main.body[-1]).replace("k$set", "k") == expected


def test_the_array_has_one_more_name_for_each_shape():
    text = "call set(a, 24)\ncall set(a(1,2), 24)\ncall set(b, 24)"
    found = unit(text, "*", "l").equivalences
    assert [spell_equivalence(each) for each in found] == [
        "equivalence (a(1, 1), a$1d(1))",
        "equivalence (b(0, 1, 1), b$1d(1))",
    ]


@pytest.mark.parametrize(
    ("actual", "shape", "reason"),
    [
        ("m", "*", "X has 1 dimension, m has 2: no sequence association, as m is mapped"),
        ("d", "4,16", "X has other extents than d: no sequence association, as d is mapped"),
        ("d(1,2)", "9", "X reaches past a dimension of d: no sequence association, as d is mapped"),
        ("d(1,2)", "*", "X may reach past a dimension of d: no sequence association, as d is mapped"),
        ("t", "*", "X has 1 dimension, t has 2: no sequence association, as t has no fixed place, or another type"),
        ("w", "*", "X has 1 dimension, w has 2: no sequence association, as w has no fixed place, or another type"),
        ("a(2,1)", "2,3", "X has other extents than a: no sequence association, as it begins inside of a row"),
        ("a(j,1)", "2,3", "X has other extents than a: no sequence association, as it begins inside of a row"),
        ("a", "k,3", "X has other extents than a: no sequence association, as k$c is not known"),
        ("a", "37,1", "X has other extents than a: no sequence association, as a has fewer elements than X"),
    ],
)
def test_other_calls_stay(actual, shape, reason):
    text = f"{HEAD}allocate (w(3,3))\ncall set({actual}, 24)\nend program\n"
    ranks = ", ".join("1" for _ in shape.split(","))
    procedure = SET.format(shape, ranks).replace("real x", "common /c/ k\nreal X")
    main = main_unit(read_program(text + procedure, "p.f90"))
    (call,) = [each for each in walk_statements(main.body) if isinstance(each, CallStmt)]
    assert call.reason == reason


def test_the_other_name_needs_no_memory():
    def held(shape):
        text = f"program p\nreal a(100,100)\ncall set(a, 5)\nprint *, a(1,1)\nend\n{SET.format(shape, '1,1')}"
        if shape == "*":
            text = text.replace("x(1,1)", "x(1)")
        return predict_source(
            Source(program=read_program(text, "p.f90")), default_machine(), Request(procs=2)
        ).memory_bytes

    assert held("*") == held("100,100")


def test_a_name_is_new_where_its_array_is():
    text = f"""{HEAD}!hpf$ independent, new(a)
do j = 1, 8
call set(a, 24)
d(j,1) = a(1,1)
end do
end program
{SET.format("*", "l")}"""
    main = main_unit(read_program(text, "p.f90"))
    (loop,) = [each for each in main.body if not isinstance(each, Enter)]
    assert {"a", "a$1d"} <= set(loop.independent.new)
