"""Costs as text, and the calls of a program that get them."""

import pytest

from aag.diagnostics import SourceError
from aag.ir.evaluate import evaluate
from aag.ir.printer import print_unit
from aag.ir.statements import CallStmt
from aag.ir.visitors import walk_statements
from aag.pipeline import main_unit, read_program
from aag.source.costs import read_cost
from esp.api import Source
from esp.sources import with_costs
from sag.schema import OPERATIONS


def cost(text):
    return read_cost(text, OPERATIONS)


def program(body, *costs, inside=""):
    text = f"program p\ninteger, parameter :: n = 8\nreal(8) :: a(n), b(n), c(n, n), s\n{body}\n{inside}end\n"
    read = read_program(text, "p.f90")
    return with_costs(Source(program=read), costs).program


def calls(read):
    return [each for each in walk_statements(main_unit(read).body) if isinstance(each, CallStmt)]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("f = 2*n**3/3 flop", [("flop", 2 * 5**3 / 3)]),
        ("f=1/3*n flops", [("flop", 5 / 3)]),
        ("f(x, n) = 2*n r8.add + 3 * n*m   r8.mul", [("r8.add", 10), ("r8.mul", 105)]),
        ("f = 2*(n + m) byte", [("byte", 24)]),
        ("f = 5 us + 2 ms + n s", [("second", 5e-6), ("second", 2e-3), ("second", 5)]),
        ("f = n*log2(8*n) add", [("add", 5 * 5.321928094887363)]),
        ("f = max(n, m) - 2 flop", [("flop", 5)]),
        ("f = merge(n, m, n > m) flop", [("flop", 7)]),
        ("f = 3 B", [("byte", 3)]),
        ("F(N) = N flop, changes nothing", [("flop", 5)]),
    ],
)
def test_terms(text, terms):
    found = cost(text)
    assert found.name == "f"
    assert [each.unit for each in found.terms] == [unit for unit, _ in terms]
    values = [each.factor * evaluate(each.amount, {"n": 5, "m": 7}) for each in found.terms]
    assert values == pytest.approx([value for _, value in terms])


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("2*n flop", 1, "expected the name of a procedure and '='"),
        ("f = 3*n", 4, "expected a unit at the end of the cost"),
        ("f = 3*n flop 4", 4, "expected a unit at the end of the cost"),
        ("f = 3*n fluff", 9, "there is no unit 'fluff'"),
        ("f = 3*n r8.fluff", 9, "there is no unit 'r8.fluff'"),
        ("f = foo(n) flop", 5, "the function foo is not known here"),
        ("f = (n flop", 4, "expected a unit at the end of the cost"),
        ("f = 3* flop", 4, "expected a unit at the end of the cost"),
        ("f = n 3 flop", 7, "expected a unit or an operator but found '3'"),
        ("f = 'n' flop", 4, "expected a unit at the end of the cost"),
        ("f(a, a) = 1 s", 3, "two arguments have the same name"),
        ("f(2) = 1 s", 3, "'2' is not a name of an argument"),
        ("f = 1 s, writes a", 9, "expected 'changes' behind ','"),
        ("f(a) = 1 s, changes b", 21, "b is not an argument of the cost"),
    ],
)
def test_what_is_no_cost(text, column, message):
    with pytest.raises(SourceError) as caught:
        cost(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.column, found.message) == ("E685", column, message)
    assert found.span.is_option
    assert found.hint


def test_a_call_has_the_cost_of_the_table_in_its_own_arguments():
    (call,) = calls(program("call daxpy(n - 1, s, a(2), 1, c(:, 3), 2)"))
    assert call.cost.origin == "table"
    assert [each.unit for each in call.cost.terms] == ["mul", "add"]
    assert [evaluate(each.amount, {"n": 8}) for each in call.cost.terms] == [7, 7]
    assert call.cost.changes == (4,)
    assert call.cost.kind == "r8"


def test_an_option_wins_over_the_table_and_may_use_variables_at_the_call():
    (call,) = calls(program("call daxpy(n - 1, s, a(2), 1, c(:, 3), 2)", "daxpy = n*s flop"))
    assert call.cost.origin == "option"
    assert [evaluate(each.amount, {"n": 8, "s": 2.5}) for each in call.cost.terms] == [20]
    assert call.cost.changes == (1, 2, 4)


def test_letters_choose_sides():
    body = "call dtrsm('{}', 'u', 'n', 'n', 2, 3, 1d0, c, n, c, n)"
    for letter, mults in (("L", 2 * 3 * 3 / 2), ("r", 2 * 3 * 4 / 2)):
        (call,) = calls(program(body.format(letter)))
        assert evaluate(call.cost.terms[0].amount, {}) == mults
    text = "character :: w\ncall get(w)\n" + body.replace("'{}'", "w")
    found = calls(program(text))
    assert found[1].cost is None
    assert found[1].reason == "the cost of dtrsm does not fit: its argument side is not a literal"


def test_a_call_with_other_arguments_has_no_cost():
    (call,) = calls(program("call dgemm(n, a, b)"))
    assert call.cost is None
    assert call.reason == "the cost of dgemm does not fit: it has 13 arguments, and the call 3"


def test_a_procedure_of_the_source_is_none_of_the_table():
    inside = "contains\nsubroutine daxpy(x)\nreal(8) :: x(n)\nx = 1\nend subroutine\n"
    assert calls(program("call daxpy(a)", inside=inside)) == []


def test_keywords_find_their_places():
    (call,) = calls(program("call f(a, k=3, n=4)", "f(x, n, k) = n*k flop"))
    assert evaluate(call.cost.terms[0].amount, {}) == 12
    assert not call.keywords


MISFIT = "the cost of f does not fit this call: "
UNKNOWN = "it uses q, which is neither an argument of the cost nor a variable here"
UNPLACED = "the call names its argument n, whose place the cost does not give"


@pytest.mark.parametrize(
    ("body", "option", "code", "message"),
    [
        ("call f(a)", "g = 1 s", "E686", "the program calls no procedure g"),
        ("call cpu_time(s)", "cpu_time = 1 s", "E686", "cpu_time is an intrinsic subroutine, which has its own cost"),
        ("call f(a)", "f(x, n) = n flop", "E687", f"{MISFIT}it has 2 arguments, and the call 1"),
        ("call f(a)", "f = q flop", "E687", MISFIT + UNKNOWN),
        ("call f(a)", "f(x) = x flop", "E687", f"{MISFIT}it uses a, which is an array"),
        ("call f(a, n=3)", "f = 1 s", "E687", MISFIT + UNPLACED),
    ],
)
def test_costs_that_do_not_fit(body, option, code, message):
    with pytest.raises(SourceError) as caught:
        main_unit(program(body, option))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (code, message)
    assert found.hint


def test_a_cost_of_a_procedure_with_source_is_an_error():
    inside = "contains\nsubroutine f(x)\nreal(8) :: x(n)\nx = 1\nend subroutine\n"
    with pytest.raises(SourceError) as caught:
        main_unit(program("call f(a)", "f = 1 s", inside=inside))
    assert [each.message for each in caught.value.diagnostics] == ["the source has the procedure f"]


def test_functions_are_called_before_the_statement():
    body = """real(8), external :: ddot, dnrm2
s = ddot(n, a, 1, b, 1) / dnrm2(n, a, 1)
if (s > 1) then
  s = 1
else if (ddot(n, a, 1, a, 1) > 2) then
  s = 2
end if
do while (dnrm2(n, b, 1) > 1d-3)
  call dscal(n, 0.5d0, b, 1)
end do
print *, ddot(n, b, 1, b, 1)
a = ddot(n, a, 1, b, 1) * b"""
    text = print_unit(main_unit(program(body)))
    lines = [each.strip() for each in text.splitlines()]
    start = lines.index("ddot$1 = ddot(n, a, 1, b, 1)")
    assert lines[start : start + 24] == [
        "ddot$1 = ddot(n, a, 1, b, 1)",
        "dnrm2$2 = dnrm2(n, a, 1)",
        "s = ddot$1 / dnrm2$2",
        "if (s > 1) then",
        "s = 1",
        "else",
        "ddot$3 = ddot(n, a, 1, a, 1)",
        "if (ddot$3 > 2) then",
        "s = 2",
        "end if",
        "end if",
        "do",
        "dnrm2$4 = dnrm2(n, b, 1)",
        "if (.not. dnrm2$4 > 1d-3) then",
        "exit",
        "end if",
        "call dscal(n, 0.5d0, b, 1)",
        "end do",
        "ddot$5 = ddot(n, b, 1, b, 1)",
        "print *, ddot$5",
        "ddot$6 = ddot(n, a, 1, b, 1)",
        "a = ddot$6 * b",
        *lines[start + 22 : start + 24],
    ]


def test_inside_procedures_costs_are_of_their_variables():
    inside = """contains
subroutine solve(m, k)
integer :: k
real(8) :: m(k, k)
call f(m)
end subroutine
"""
    (call,) = calls(program("call solve(c, n)", "f = k**2 flop", inside=inside))
    assert evaluate(call.cost.terms[0].amount, {"n": 8}) == 64
    assert [each.name for each in call.args] == ["c"]


def test_an_element_of_a_line_of_a_matrix_is_not_passed_on():
    inside = """contains
subroutine work(v)
real(8) :: v(n)
call dscal(3, 2d0, v(2), 1)
end subroutine
"""
    (call,) = calls(program("call work(c(:, 2))", inside=inside))
    assert call.name == "dscal"
    (call,) = calls(program("call work(c(2, :))", inside=inside))
    assert call.name == "work"
    assert call.reason == "it passes an element of v, a part of c, to dscal"


def test_subroutines_that_end_the_program_are_stop():
    """Those of the program itself stay calls."""
    text = "if (s > 1) call exit(3)\nif (s > 2) call abort\ncall flush(6)\ncall flush()\n"
    lines = print_unit(main_unit(program(text))).splitlines()
    assert [line.strip() for line in lines if "stop" in line or "flush" in line] == ["stop", "stop", "flush (UNIT = 6)"]
    own = program("call exit(3)\n", inside="contains\nsubroutine exit(n)\nprint *, n\nend subroutine\n")
    assert "stop" not in print_unit(main_unit(own))
    priced = program("call exit(3)\n", "exit(n) = n flop")
    assert [each.cost.text for each in calls(priced)] == ["n flop"]
