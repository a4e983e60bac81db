"""Calls become the statements of their procedures: the same messages as when they are written there by hand."""

import pytest

from aag.ir import statements as s
from aag.ir.evaluate import evaluate_int
from aag.ir.printer import print_statement
from aag.ir.spelling import spell
from aag.ir.visitors import walk_statements
from aag.pipeline import Overrides, lower, main_unit, read_program
from aag.spmd import nodes
from esp.api import Request, Source
from esp.validate.counts import predicted
from tests.aag.spmd.emit.native import default_machine

HEAD = """program calls
  implicit none
  integer, parameter :: n = 24
  real :: a(n,n), b(n,n), v(0:n-1), s
  integer :: i, j, k
!hpf$ processors p(4)
!hpf$ distribute a(block,*) onto p
!hpf$ align b(i,j) with a(i,j)
!hpf$ align v(i) with a(i+1,*)
"""


def program(text, procedures=""):
    return read_program(f"{HEAD}{text}end program calls\n{procedures}", "calls.hpf")


def body(text, procedures=""):
    """The statements of the main program, the calls replaced, as text."""
    unit = main_unit(program(text, procedures))
    return [print_statement(each) for each in unit.body if not isinstance(each, s.Enter)]


def messages(text, procedures=""):
    counts = predicted(Source(program=program(text, procedures)), default_machine(), Request(procs=4)).counts.values()
    return sum(sent for sent, _ in counts), sum(size for _, size in counts)


def refusal(text, procedures):
    """Why the only call stays."""
    calls = [
        each for each in walk_statements(main_unit(program(text, procedures)).body) if isinstance(each, s.CallStmt)
    ]
    (call,) = calls
    notes = lower(program(text, procedures), Overrides(procs=4), 4).notes
    assert any(call.reason in each.message for each in notes)
    return call.reason


SQUARE = "subroutine two(x)\nreal x(24, 24)\n{}x = 1\nend subroutine\n"
SWEEP = "subroutine sweep(x, y, m)\ninteger m, i, j\nreal x(m,m), y(m,m)\n{}end subroutine\n"
LOOP = "do j = 2, {n}-1\ndo i = 2, {n}-1\n{y}(i,j) = {x}(i-1,j) + {x}(i+1,j)\nend do\nend do\n"


@pytest.mark.parametrize("actual", ["n", "24", "n + 0"])
def test_a_call_sends_what_its_statements_send(actual):
    procedure = SWEEP.format(LOOP.format(n="m", x="x", y="y"))
    called = messages(f"a = 1\ncall sweep(a, b, {actual})\nprint *, sum(b)\n", procedure)
    assert called == messages("a = 1\n" + LOOP.format(n="n", x="a", y="b") + "print *, sum(b)\n")
    assert called[0] > 6


@pytest.mark.parametrize(
    ("call", "dummy", "statement", "expected"),
    [
        ("a, s", "x(n,n)", "x(i,j) = z", "a(i, j) = s"),
        ("a, s", "x(0:n-1,n)", "x(i,j) = z", "a(i + 1, j) = s"),
        ("a, s", "x(:,:)", "x = z", "a = s"),
        ("a, s", "x(2:,:)", "x(i,j) = z", "a(i - 1, j) = s"),
        ("a(:,k), s", "x(n)", "x(i) = z", "a(i, k) = s"),
        ("a(:,k), s", "x(:)", "x = z", "a(:, k) = s"),
        ("a(k,:), s", "x(n)", "x(i) = z", "a(k, i) = s"),
        ("a(3:9,k), s", "x(7)", "x(i) = z", "a(i + 2, k) = s"),
        ("a(3:9:2,k), s", "x(:)", "x(i) = z", "a(2*(i - 1) + 3, k) = s"),
        ("a(1,k), s", "x(n)", "x(i) = z", "a(i, k) = s"),
        ("a(5,k), s", "x(3)", "x(i) = z", "a(i + 4, k) = s"),
        ("v, s", "x(n)", "x(i) = z", "v(i - 1) = s"),
        ("v, a(3,4)", "x(0:n-1)", "x(i) = z", "v(i) = a(3, 4)"),
        ("v, 2.5", "x(0:n-1)", "x(i) = z", "v(i) = 2.5"),
    ],
)
def test_what_a_dummy_is(call, dummy, statement, expected):
    inside = f"call inner({call})\ncontains\nsubroutine inner(x, z)\nreal :: {dummy}, z\n{statement}\nend subroutine\n"
    assert [line.replace(" ", "") for line in body(inside)] == [expected.replace(" ", "")]


@pytest.mark.parametrize(
    ("call", "procedure", "reason"),
    [
        ("call two(a)", "subroutine two(x)\nreal x(12,48)\nx = 1\nend subroutine\n", "sequence association"),
        ("call two(a)", "subroutine two(x)\nreal x(576)\nx = 1\nend subroutine\n", "1 dimension, a has 2"),
        ("call two(a(1,1))", "subroutine two(x)\nreal x(*)\nx(1) = 1\nend subroutine\n", "reach past a dimension"),
        ("call two(a, a)", "subroutine two(x, y)\nreal x(24,24), y(24,24)\nx = y\nend subroutine\n", "one of them is"),
        ("call two(s, 1.0)", "subroutine two(x)\nreal x\nx = 1\nend subroutine\n", "has 1 arguments, the call 2"),
        ("call two()", "subroutine two(x)\nreal x\nx = 1\nend subroutine\n", "its argument x is missing"),
        ("call two(a)", "subroutine two(x)\nreal x\nx = 1\nend subroutine\n", "is a scalar, a is an array"),
        ("call two(s)", "subroutine two(x)\nreal x(4)\nx = 1\nend subroutine\n", "the actual one s is not"),
        (
            "call two(s)",
            "recursive subroutine two(x)\nreal x\nx = x - 1\nif (x > 0) call two(x)\nend subroutine\n",
            "it is recursive",
        ),
        (
            "call two(1)",
            (
                "recursive subroutine two(n)\nif (n > 0) call three(n - 1)\nend subroutine\n"
                "recursive subroutine three(n)\nif (n > 0) call two(n - 1)\nend subroutine\n"
            ),
            "it is recursive: it calls itself through three",
        ),
        (
            "call two(b)",
            SQUARE.format("!hpf$ distribute x(*, cyclic)\n!hpf$ distribute x(*, block)\n"),
            "its argument x is mapped twice",
        ),
        (
            "call two(a(:,3))",
            "subroutine two(x)\nreal x(0:23)\n!hpf$ distribute x(cyclic)\nx = 1\nend subroutine\n",
            "",
        ),
    ],
)
def test_what_cannot_be_replaced_says_why(call, procedure, reason):
    if reason:
        assert reason in refusal(f"{call}\n", procedure)
    else:
        assert all(not isinstance(each, s.CallStmt) for each in main_unit(program(f"{call}\n", procedure)).body)


def test_return_ends_the_procedure_and_not_the_program():
    procedure = (
        "subroutine some(x)\nreal x\nif (x > 1) return\nx = x + 1\nif (x > 2) then\nx = 0\nreturn\nend if\nx = 5\nend\n"
    )
    (first,) = body("call some(s)\n", procedure)
    assert first.split() == ("if (s > 1) then else s = s + 1 if (s > 2) then s = 0 else s = 5 end if end if".split())


def test_return_in_a_loop_leaves_a_loop_around_everything():
    procedure = "subroutine some(x)\nreal x\ninteger k\ndo k = 1, 3\nif (x > k) return\nx = x + 1\nend do\nx = 5\nend\n"
    (loop,) = main_unit(program("call some(s)\n", procedure)).body[1:]
    assert isinstance(loop, s.Do)
    exits = [each.name for each in walk_statements(loop.body) if isinstance(each, s.Exit)]
    assert exits == [loop.name]


def test_subscripts_of_the_call_keep_their_values():
    procedure = "subroutine some(x, m)\nreal x(24)\ninteger m\nm = m + 1\nx(m) = 1\nend\n"
    lines = [line.replace(" ", "") for line in body("k = 3\ncall some(a(:,k), k)\n", procedure)]
    assert lines == ["k=3", "place$=k", "k=k+1", "a(k,place$)=1"]


def test_common_blocks_are_one_storage():
    procedures = (
        "subroutine one\ncommon /c/ w, m\nreal w(8)\ninteger m\nw = 1\nm = 2\nend\n"
        "subroutine two\ncommon /c/ u, l\nreal u(8)\ninteger l\nu(l) = 3\nend\n"
    )
    assert [line.replace(" ", "") for line in body("call one\ncall two\n", procedures)] == ["w=1", "m=2", "w(m)=3"]


def test_common_blocks_that_differ_are_refused():
    procedures = (
        "subroutine one\ncommon /c/ w\nreal w(8)\nw = 1\nend\nsubroutine two\ncommon /c/ u\nreal u(2,4)\nu = 3\nend\n"
    )
    assert "COMMON /c/ is laid out differently" in refusal("call one\ncall two\n", procedures)


@pytest.mark.parametrize(("given", "expected"), [("s", "s = 1"), ("", "continue")])
def test_optional_arguments(given, expected):
    inside = (
        f"call some({given})\ncontains\nsubroutine some(x)\nreal, optional :: x\n"
        "if (present(x)) then\nx = 1\nend if\nend subroutine\n"
    )
    (line,) = body(inside)
    assert (".true." in line) == bool(given)
    assert expected == "continue" or expected in line


def test_an_optional_argument_that_is_passed_on():
    inside = (
        "call outer()\ncall outer(k)\ncontains\nsubroutine outer(x)\ninteger, optional :: x\ncall inner(s, x)\n"
        "end subroutine\nsubroutine inner(y, z)\nreal y\ninteger, optional :: z\n"
        "if (y > 1 .and. present(z)) then\ny = z\nelse if (.not. present(z)) then\ny = 2\nelse\ny = 3\nend if\n"
        "end subroutine\n"
    )
    one, other = body(inside)
    assert one.split() == "if (.not. .false.) then s = 2 end if".split()
    assert other.split() == "if (s > 1 .and. .true.) then s = k else s = 3 end if".split()


@pytest.mark.truth
def test_many_calls_of_calls_stay_bounded():
    levels = 40
    procedures = "".join(
        f"subroutine p{at}(x)\nreal x\ncall p{at + 1}(x)\ncall p{at + 1}(x)\nend\n" for at in range(levels)
    )
    unit = main_unit(program("call p0(s)\n", f"{procedures}subroutine p{levels}(x)\nreal x\nx = x + 1\nend\n"))
    left = [each for each in walk_statements(unit.body) if isinstance(each, s.CallStmt)]
    assert left
    assert all("statements" in each.reason for each in left)
    assert len(unit.body) < 500_000


def test_a_function_of_arrays_fills_what_it_is_assigned_to():
    inside = (
        "b = twice(a)\ncontains\nfunction twice(x) result(y)\nreal, intent(in) :: x(:,:)\n"
        "real :: y(size(x,1),size(x,2))\ny = 2 * x\ny(1,1) = 0\nend function\n"
    )
    assert [line.replace(" ", "") for line in body(inside)] == ["b=2*a", "b(1,1)=0"]
    lines = [line.replace(" ", "") for line in body(inside.replace("b = twice", "a = 1 + twice"))]
    assert lines == ["y=2*a", "y(1,1)=0", "a=1+y"]


@pytest.mark.parametrize(
    ("given", "expected"), [("half", "s=0.5*(s+1)"), ("dsin", "s=dsin(s+1)"), ("g", "s=0.25*(s+1)")]
)
def test_a_procedure_as_argument(given, expected):
    """The procedure that is passed on stands where the dummy is called."""
    inside = (
        f"intrinsic dsin\ncall outer({given}, s)\ncontains\n"
        "subroutine outer(f, x)\nexternal f\nreal x\ncall inner(f, x)\n"
        "end subroutine\nsubroutine inner(g, x)\nreal, external :: g\nreal x\nx = g(x + 1)\nend subroutine\n"
        "real function half(y)\nreal y\nhalf = 0.5 * y\nend function\n"
        "real function g(y)\nreal y\ng = 0.25 * y\nend function\n"
    )
    assert body(inside)[-1].replace(" ", "") == expected


def test_each_call_of_a_function_of_arrays_in_an_expression_keeps_its_result():
    """The second call computes into the array of the first one."""
    inside = (
        "b = once(a) - once(transpose(a) + 1)\ncontains\nfunction once(x) result(y)\nreal, intent(in) :: x(0:,:)\n"
        "real :: y(size(x,1),size(x,2))\ny = x\ny(1,1) = x(0,1)\nend function\n"
    )
    lines = [line.replace(" ", "") for line in body(inside)]
    assert lines == [
        "y=a",
        "y(1,1)=a(1,1)",
        "once$value=y",
        "x$once=transpose(a)+1",
        "y$once=x$once",
        "y$once(1,1)=x$once(0,1)",
        "once$value$again=y$once",
        "b=once$value-once$value$again",
    ]


def test_subscripts_keep_their_values_whatever_the_order_of_the_arguments():
    procedure = "subroutine some(x, m)\nreal x\ninteger m\nm = m + 1\nx = 1\nend\n"
    lines = [line.replace(" ", "") for line in body("call some(a(k,2), k)\n", procedure)]
    assert lines == ["place$=k", "k=k+1", "a(place$,2)=1"]


def test_subscripts_keep_their_values_if_a_common_block_changes():
    procedures = (
        "subroutine some(x)\nreal x\ncommon /c/ u, l\nreal u\ninteger l\ncall deep\nx = 1\nend\n"
        "subroutine deep\ncommon /c/ w, m\nreal w\ninteger m\nm = 2\nend\n"
        "subroutine first\ncommon /c/ t, i\nreal t\ninteger i\nreal y(8)\ncall some(y(i))\nend\n"
    )
    lines = [line.replace(" ", "") for line in body("call first\n", procedures)]
    assert lines == ["place$=i$c", "i$c=2", "y(place$)=1"]


def test_bounds_of_a_dummy_keep_their_values():
    procedure = "subroutine some(x, m)\nreal x(m)\ninteger m\nm = 2\nx = 1\nend\n"
    lines = [line.replace(" ", "") for line in body("call some(v(3), k)\n", procedure)]
    assert lines == ["place$=k", "k=2", "v(3:place$+2)=1"]


def test_a_local_variable_may_be_called_like_a_procedure_of_another_unit():
    procedure = "subroutine two(x)\nreal x, norm\nnorm = 3\nx = norm\nend\n"
    inside = "call two(s)\ncall norm()\ncontains\nsubroutine norm()\ns = 1\nend subroutine\n"
    lines = [line.replace(" ", "") for line in body(inside, procedure)]
    assert lines == ["norm$two=3", "s=norm$two", "s=1"]


def test_procedures_of_one_name_in_two_units():
    procedures = (
        "module m\ncontains\nsubroutine go(x)\nreal x\ncall help(x)\nend subroutine\n"
        "subroutine help(x)\nreal x\nx = 2\nend subroutine\nend module\n"
    )
    inside = "call go(s)\ncall help(s)\ncontains\nsubroutine help(x)\nreal x\nx = 1\nend subroutine\n"
    assert [line.replace(" ", "") for line in body(inside, procedures)] == ["s=2", "s=1"]


def test_a_vector_subscript_is_refused():
    inside = "call two(v(c))\ncontains\nsubroutine two(x)\nreal x(3)\ns = x(2)\nend subroutine\n"
    text = f"{HEAD}integer c(3)\n{inside}end program calls\n"
    unit = main_unit(read_program(text, "calls.hpf"))
    assert [each.reason for each in unit.body if isinstance(each, s.CallStmt)] == [
        "its argument x has a vector subscript"
    ]


def test_a_function_in_an_implied_do_stays_there():
    inside = (
        "print *, (f(k), k = 1, 3)\ncontains\nreal function f(k)\ninteger k\nf = k\nif (k > 1) f = 2\nend function\n"
    )
    assert [line.replace(" ", "") for line in body(inside)] == ["print*,(f(k),k=1,3)"]


def test_the_bounds_of_a_section_that_may_be_empty():
    procedure = "subroutine two(x)\nreal x({}:)\ns = ubound(x, 1)\nend subroutine\n"
    lines = body("call two(v(k:9))\ncontains\n" + procedure.format(1))
    assert [line.replace(" ", "") for line in lines] == ["s=max(0,9-k+1)"]
    assert "may have no elements" in refusal("call two(v(k:9))\ncontains\n" + procedure.format(0), "")


def test_automatic_arrays_have_the_extents_of_dummies():
    procedure = (
        "subroutine two(x)\nreal x(:,:), w(size(x,1)), u(2*size(x,dim=2)), y(size(x))\nw=0\nu=0\ny=0\nend subroutine\n"
    )
    unit = main_unit(program("call two(a(3:9,1:2))\ncontains\n" + procedure))
    found = {each.name: each.shape for each in unit.entities if each.name in ("w", "u", "y")}
    assert {name: print_bound(shape) for name, shape in found.items()} == {"w": "7", "u": "2 * 2", "y": "14"}


def print_bound(shape):
    return spell(shape[0].upper)


def test_keywords_assign_their_dummies():
    procedures = (
        "subroutine outer(x, y)\nreal x, y\ncall inner(q=x, p=y)\nend subroutine\n"
        "subroutine inner(p, q)\nreal p, q\nq = p\nend subroutine\n"
    )
    lines = body(f"call outer(a(1,2), 3.0)\ncontains\n{procedures}")
    assert [line.replace(" ", "") for line in lines] == ["a(1,2)=3.0"]


def test_a_procedure_that_realigns_with_subscripts():
    moving = "!hpf$ dynamic b\n!hpf$ realign b(i,j) with a(j,i)\n"
    (remap, *_) = main_unit(program(f"{moving}call one\ncontains\nsubroutine one\nb = 1\nend subroutine\n")).body
    assert [spell(each) for each in remap.directive.subscripts] == ["j", "i"]


BOUNDS = """program bounds
real, allocatable :: a(:), c(:,:)
real, pointer :: q(:)
allocate(a(0:9), q(0:9), c(-1:6, 2:5))
{}
contains
subroutine s(x)
real :: x(:)
x(1) = size(x)
end subroutine
subroutine t(y)
real :: y(0:, :)
y(0, 1) = ubound(y, 1)
end subroutine
subroutine k(z)
real, allocatable :: z(:)
z(1) = lbound(z, 1)
end subroutine
subroutine e(y)
real :: y(8, 4)
y(2, 2) = 1
end subroutine
end program
"""


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("call s(a)", "a(0)"),
        ("call s(q)", "q(0)"),
        ("call s(a(:4))", "a(0)"),
        ("call s(a(3:))", "a(3)"),
        ("call t(c)", "c(-1, 2)"),
        ("call s(c(:, 4))", "c(-1, 4)"),
        ("call k(a)", "a(1)"),
        ("call e(c)", "c(0, 3)"),
    ],
)
def test_an_assumed_shape_dummy_begins_where_the_allocated_array_does(call, target):
    node_program = lower(read_program(BOUNDS.format(call), "bounds.f90"), Overrides(procs=1), 1)
    (assign,) = [each for node in nodes.walk(node_program.body) for each in getattr(node, "assigns", ())]
    env = node_program.layouts.environment
    found = [str(evaluate_int(each, env)) for each in assign.target.subscripts]
    assert f"{assign.target.name}({', '.join(found)})" == target


@pytest.mark.parametrize(
    ("before", "in_full"),
    [
        ("read *, n", True),
        ("n = 8", True),
        ("read *, n\nn = n + 1", False),
        ("do i = 1, 2\nread *, n\nend do", False),
        ("call put(n)", True),
    ],
)
def test_an_explicit_shape_dummy_of_an_array_of_unknown_size(before, in_full):
    text = (
        f"program p\ninteger :: n, i\nreal, allocatable :: c(:, :)\n{before}\nallocate(c(n, n))\ncall e(c, n)\n"
        "contains\nsubroutine e(y, m)\ninteger :: m\nreal :: y(m, m)\ny = 1\nend subroutine\nend program\n"
    )
    body = main_unit(read_program(text, "p.f90")).body
    assert any(isinstance(each, s.CallStmt) and each.name == "e" for each in body) != in_full


@pytest.mark.parametrize(
    ("elsewhere", "reason"),
    [
        ("subroutine f\nreal :: w(2)\nw = 1\nend subroutine\n", ""),
        ("subroutine f\nallocate(c(4, 4))\nend subroutine\n", "y has other extents than c"),
        ("subroutine f(z)\nreal, allocatable :: z(:, :)\nallocate(z(4, 4))\nend subroutine\n", "y has other extents"),
        ("subroutine f\nreal, allocatable :: c(:, :)\nallocate(c(8, 4))\nend subroutine\n", "y has other extents"),
    ],
)
def test_an_explicit_shape_dummy_needs_an_array_that_is_allocated_in_one_way(elsewhere, reason):
    text = BOUNDS.format("call e(c)").replace("subroutine e(y)", f"{elsewhere}subroutine e(y)")
    body = main_unit(read_program(text.replace("-1:6, 2:5", "8, 4"), "bounds.f90")).body
    reasons = [each.reason for each in body if isinstance(each, s.CallStmt)]
    assert len(reasons) == bool(reason)
    assert all(reason in each for each in reasons)
