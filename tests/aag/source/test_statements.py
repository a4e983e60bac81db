"""Executable statements, each kind."""

import pytest

from aag.ir.expressions import Binary, Call, Element, IntLit, Section, StringLit, Var
from aag.ir.printer import print_statement
from aag.ir.statements import (
    Allocate,
    Assign,
    CallStmt,
    Continue,
    Cycle,
    Do,
    DoWhile,
    Exit,
    Forall,
    If,
    Io,
    Opaque,
    Return,
    SelectCase,
    Stop,
    Where,
)

I, N, X = Var("i"), Var("n"), Var("x")
ONE = IntLit(1)


def test_assignments(body):
    found = body("real a(8), b(8,8)\nx = 1\na = 1\na(i) = 1\nb(1:8,i) = 1")
    assert [each.target for each in found] == [
        X,
        Var("a"),
        Element("a", (I,)),
        Element("b", (Section(ONE, IntLit(8), None), I)),
    ]
    assert all(isinstance(each, Assign) and each.value == ONE for each in found)


def test_keywords_are_no_reserved_words(body):
    found = body(
        "integer do, if(3), end, where(2), call, forall, data\ndo = 1\nif(2) = 2\nend = 3\nwhere(1) = 4\n"
        "call = 5\nforall = 6\ndata = 7"
    )
    assert [each.value.value for each in found] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("head", "step"), [("do i = 1, n", None), ("do i = n, 1, -2", -2), ("do, i = 1, n", None), ("DO I=1,N", None)]
)
def test_do(body, head, step):
    (loop,) = body(f"{head}\n  x = i\nend do")
    assert isinstance(loop, Do)
    assert loop.var == "i"
    assert (loop.step is None) == (step is None)
    assert len(loop.body) == 1
    assert (loop.span.line, loop.end.line) == (3, 5) if "\n" in head else (2, 4)


def test_named_do_exit_and_cycle(body):
    (outer,) = body("a: do\n b: do i = 1, 2\n  if (x > 1) exit a\n  cycle b\n end do b\n exit\nend do a")
    assert (outer.name, outer.condition) == ("a", None)
    inner, leave = outer.body
    assert inner.name == "b"
    assert inner.body[0].branches[0].body[0].name == "a"
    assert isinstance(inner.body[1], Cycle)
    assert isinstance(leave, Exit)
    assert leave.name == ""


def test_do_while(body):
    (loop,) = body("do while (x > 1)\n x = x - 1\nend do")
    assert isinstance(loop, DoWhile)
    assert loop.condition == Binary(">", X, ONE)


def test_do_concurrent_is_an_independent_nest(body):
    (outer,) = body("real a(8,8)\ndo concurrent (i = 1:n, j = 1:n:2, i /= j)\n a(i,j) = 1\nend do")
    assert (outer.var, outer.independent.indices) == ("i", ("i", "j"))
    (inner,) = outer.body
    assert (inner.var, inner.step, inner.independent) == ("j", IntLit(2), None)
    assert isinstance(inner.body[0], If)


def test_labelled_do_that_share_their_end(read):
    text = """\
c     column 1, so that nothing is shifted
      program p
      do 20 i = 1, 8
      do 20 j = 1, 8
        if (i .eq. j) goto 20
        a = i
   20 continue
      do 30, i = 1, 8
   30 b = i
      do 40 i = 1, 8
        c = i
   40 end do
      DO50I=1,8
   50 d = i
      do 60 while (x > 1)
   60 x = x - 1
      end
"""
    program = read(text, "x.f")
    assert program.complete
    first, second, third, fourth, fifth = program.main.body
    inner = first.body[0]
    assert isinstance(inner.body[0], If)  # around what is jumped over
    assert [type(each) for each in inner.body[0].branches[0].body] == [Assign]
    assert isinstance(inner.body[-1], Continue)
    assert inner.body[-1].label == "20"
    assert (first.end.line, inner.end.line) == (7, 7)
    assert (second.body[0].label, second.end.line) == ("30", 9)
    assert third.end.line == 12
    assert (fourth.var, fourth.body[0].label) == ("i", "50")
    assert isinstance(fifth, DoWhile)


def test_if(body):
    logical, construct = body("if (x > 1) y = 2\nif (x > 1) then\n y = 1\nelse if (x > 2) then\n y = 2\nelse\nendif")
    assert len(logical.branches) == 1
    assert isinstance(logical.branches[0].body[0], Assign)
    assert logical.branches[0].body[0].span == logical.span
    assert [each.condition is None for each in construct.branches] == [False, False, True]
    assert [each.span.line for each in construct.branches] == [3, 5, 7]
    assert construct.branches[2].body == ()


def test_select_case(body):
    (found,) = body("select case (i)\ncase (1)\n x = 1\ncase (2, 4:6, :-1, 9:)\ncase default\n x = 2\nend select")
    assert isinstance(found, SelectCase)
    assert found.selector == I
    assert found.cases[0].values == (ONE,)
    values = found.cases[1].values
    assert values[1] == Section(IntLit(4), IntLit(6), None)
    assert (values[2].lower, values[3].upper) == (None, None)
    assert found.cases[2].values is None
    assert [len(each.body) for each in found.cases] == [1, 0, 1]


def test_forall(body):
    text = "real a(8,8)\nforall (i = 1:n, j = 2:n:2, a(i,j) > 0) a(i,j) = 1"
    (found,) = body(text)
    assert isinstance(found, Forall)
    assert [(each.name, each.lower, each.step) for each in found.indices] == [
        ("i", ONE, None),
        ("j", IntLit(2), IntLit(2)),
    ]
    assert found.mask == Binary(">", Element("a", (I, Var("j"))), IntLit(0))
    assert found.body[0].span == found.span
    assert found.body[0].target.span.column == 41


def test_forall_construct(body):
    (found,) = body(
        "real a(8), b(8)\nforall (i = 1:n)\n a(i) = b(i)\n forall (j = 1:i) b(j) = 1\n where (a > 0) b = a\nend forall"
    )
    assert [type(each) for each in found.body] == [Assign, Forall, Where]
    assert found.mask is None


def test_where(body):
    statement, construct = body(
        "real a(8)\nwhere (a > 0) a = 1\nwhere (a > 0)\n a = 1\n"
        "elsewhere (a < -1)\n a = 2\nelse where\n a = 3\nend where"
    )
    assert len(statement.branches) == 1
    assert [each.mask is None for each in construct.branches] == [False, False, True]
    assert [each.body[0].value.value for each in construct.branches] == [1, 2, 3]


def test_call(body):
    found = body("real a(8)\ncall f\ncall g()\ncall h(a, a(1:2), k=x)")
    assert all(isinstance(each, CallStmt) for each in found)
    assert [(each.name, len(each.args)) for each in found] == [("f", 0), ("g", 0), ("h", 2)]
    assert found[2].keywords == (("k", X),)


@pytest.mark.parametrize(
    ("text", "kind", "items", "control"),
    [
        ("print *, 'a', x", "print", (StringLit("a"), X), "*"),
        ("print *", "print", (), "*"),
        ("print '(f8.3)', x", "print", (X,), "'(f8.3)'"),
        ("print 100, x", "print", (X,), "'(1x, f8.3)'"),
        ("write(*,*) x", "write", (X,), "*, *"),
        ("write(6,100) x", "write", (X,), "6, '(1x, f8.3)'"),
        ("write(unit=6,fmt=100,err=3) x", "write", (X,), "unit=6, fmt='(1x, f8.3)', err=3"),
        ("read *, x", "read", (X,), "*, *"),
        ("read(5,*) x", "read", (X,), "5, *"),
        ("open(7, file='a')", "open", (), "UNIT = 7, FILE = 'a'"),
        ("close(7)", "close", (), "UNIT = 7"),
        ("rewind(7)", "rewind", (), "UNIT = 7"),
        ("flush(6)", "flush", (), "UNIT = 6"),
    ],
)
def test_io(body, text, kind, items, control):
    (found,) = body(f"{text}\n100 format(1x, f8.3)")
    assert isinstance(found, Io)
    assert (found.kind, found.items, found.control) == (kind, items, control)


def test_implied_do_in_an_item_list(body):
    (found,) = body("real a(8)\nprint *, (a(i), i = 1, n)")
    assert found.items[0].values == (Element("a", (I,)),)
    assert (found.items[0].var, found.items[0].upper) == ("i", N)


def test_allocate_assigns_its_source(body):
    declared = "real, allocatable :: a(:), b(:)\ninteger :: k(2)\n"
    found = body(f"{declared}if (n > 1) allocate(a(n), b(0:n), source=3.0, stat=k(2))")[0].branches[0].body
    assert [print_statement(each) for each in found] == ["allocate(a(n), b(0:n))", "a = 3.0", "b = 3.0", "k(2) = 0"]


def test_allocate(body):
    first, status, second = body("real, allocatable :: a(:), b(:)\nallocate(a(n), b(0:n), stat=k)\ndeallocate(a, b)")
    assert (status.target, status.value) == (Var("k"), IntLit(0))
    assert isinstance(first, Allocate)
    assert first.items == (Element("a", (N,)), Element("b", (Section(IntLit(0), N, None),)))
    assert (second.deallocate, second.items) == (True, (Var("a"), Var("b")))


def test_the_rest(body):
    found = body("continue\nstop\nstop 1\nerror stop\nreturn\n10 x = 1")
    assert [type(each) for each in found] == [Continue, Stop, Stop, Stop, Return, Assign]
    assert found[-1].label == "10"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("goto 10", "GO TO needs its label in this block or an enclosing one"),
        ("if (f(x)) 10, 20, 30", "arithmetic IF of a function is not modelled"),
        ("q(1:) => x", "bounds of the pointer q are not modelled"),
        ("block\n integer k\n k = 1\nend block", "BLOCK is not modelled"),
        ("associate (k => x)\n y = k\nend associate", "ASSOCIATE is not modelled"),
        ("x = = 1", "a syntax error"),
    ],
)
def test_what_is_not_modelled_is_opaque(read, text, reason):
    program = read(f"x = 1\n{text}\ny = 2\nend\n")
    before, found, after = program.main.body
    assert isinstance(found, Opaque)
    lines = [line.strip() for line in text.split("\n")]
    assert (found.reason, found.text.split("\n"), found.span.line) == (reason, lines, 2)
    assert isinstance(before, Assign)
    assert isinstance(after, Assign)
    assert not program.complete
    assert [each.span.line for each in program.diagnostics] == [2]


def test_spans_of_statements(body):
    first, second, third = body("x = 1 + &\n    2\n  y = 3; z = 45")
    assert (first.span.line, first.span.column, first.span.end_line, first.span.end_column) == (2, 1, 3, 6)
    assert (second.span.line, second.span.column, second.span.end_column) == (4, 3, 8)
    assert (third.span.line, third.span.column, third.span.end_column) == (4, 10, 16)


def test_calls_and_elements_are_told_apart(body):
    (found,) = body("real a(8)\nx = a(i) + f(i)")
    assert found.value == Binary("+", Element("a", (I,)), Call("f", (I,)))


def test_what_maps_the_variables_of_a_block_is_left_out_with_it(read):
    assert read("block\n real w(4)\n!hpf$ distribute w(block)\n w = 1\nend block\nend\n").main.directives == ()
