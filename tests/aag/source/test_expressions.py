"""Expressions: fparser's trees and our own parser must say the same."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import (
    Binary,
    Call,
    ComplexLit,
    Component,
    Constructor,
    Element,
    ImpliedDo,
    IntLit,
    LogicalLit,
    OpaqueExpr,
    RealLit,
    Section,
    StringLit,
    Substring,
    Unary,
    Var,
)
from aag.ir.spelling import spell
from aag.source.expression_parser import Parser
from aag.source.joining import Text
from aag.source.read import read_program
from aag.source.resolving import resolve

A, B, C, X = (Var(name) for name in "abcx")
ONE, TWO = IntLit(1), IntLit(2)

CASES = {
    "1": ONE,
    "1_8": IntLit(1, 8),
    "1.5": RealLit(1.5, "1.5"),
    "1.": RealLit(1.0, "1."),
    ".5e-3": RealLit(0.0005, ".5e-3"),
    "1d0": RealLit(1.0, "1d0", double=True),
    "1.5_8": RealLit(1.5, "1.5_8", double=True),
    ".true.": LogicalLit(True),
    "'it''s'": StringLit("it's"),
    '"a""b"': StringLit('a"b'),
    "(1, 2)": ComplexLit(ONE, TWO),
    "x": X,
    "X": X,
    "v(1)": Element("v", (ONE,)),
    "v(1:2)": Element("v", (Section(ONE, TWO, None),)),
    "v(:)": Element("v", (Section(None, None, None),)),
    "v(::2)": Element("v", (Section(None, None, TWO),)),
    "v(2:)": Element("v", (Section(TWO, None, None),)),
    "v(:2:1)": Element("v", (Section(None, TWO, ONE),)),
    "v(v(1))": Element("v", (Element("v", (ONE,)),)),
    "f(x)": Call("f", (X,)),
    "f()": Call("f", ()),
    "sum(v, dim=1)": Call("sum", (Var("v"),), (("dim", ONE),)),
    "sin(x)": Call("sin", (X,)),
    "a + b - c": Binary("-", Binary("+", A, B), C),
    "a - (b - c)": Binary("-", A, Binary("-", B, C)),
    "a * b / c": Binary("/", Binary("*", A, B), C),
    "a + b * c": Binary("+", A, Binary("*", B, C)),
    "a ** b ** c": Binary("**", A, Binary("**", B, C)),
    "(a ** b) ** c": Binary("**", Binary("**", A, B), C),
    "-a ** 2": Unary("-", Binary("**", A, TWO)),
    "-a * b": Unary("-", Binary("*", A, B)),
    "-a + b": Binary("+", Unary("-", A), B),
    "a ** (-b)": Binary("**", A, Unary("-", B)),
    "a // b": Binary("//", A, B),
    "a .lt. b": Binary("<", A, B),
    "1.eq.x": Binary("==", ONE, X),
    "a /= b": Binary("/=", A, B),
    ".not. a .and. b .or. c": Binary(".or.", Binary(".and.", Unary(".not.", A), B), C),
    "a .and. (b .or. c)": Binary(".and.", A, Binary(".or.", B, C)),
    "a .eqv. b .neqv. c": Binary(".neqv.", Binary(".eqv.", A, B), C),
    ".not. a == b": Unary(".not.", Binary("==", A, B)),
    "(/ 1, 2 /)": Constructor((ONE, TWO)),
    "[1, 2]": Constructor((ONE, TWO)),
    "(/ (i, i = 1, 2) /)": Constructor((ImpliedDo((Var("i"),), "i", ONE, TWO, None),)),
    "(/ 1, (2*i, i = 1, 2, 1) /)": Constructor((ONE, ImpliedDo((Binary("*", TWO, Var("i")),), "i", ONE, TWO, ONE))),
    "t%x": Component(Var("t"), "x"),
    "u(1)%x%y": Component(Component(Element("u", (ONE,)), "x"), "y"),
    "t%x(1)%y(2)": Component(Component(Var("t"), "x", (ONE,)), "y", (TWO,)),
}
DECLARED = "real v(9)\ntype(r) t, u(9)\n"


def ours(text):
    """The expression by our own parser."""
    parser = Parser(Text(text, ((0, "x", 1, 1),)))
    found = parser.expression()
    assert parser.token.kind == "end"
    return resolve(found, SimpleNamespace(is_array={"v", "u"}.__contains__, constant={}.get))


@pytest.mark.parametrize("text", [each for each in CASES if "%" not in each])
def test_fparser_is_translated(text):
    program = read_program(f"{DECLARED}x = {text}\nend\n", "x.f90", defer=True)  # whatever its types
    assert program.main.body[0].value == CASES[text]


@pytest.mark.parametrize("text", CASES)
def test_our_own_parser_agrees(text):
    assert ours(text) == CASES[text]


@pytest.mark.parametrize("text", CASES)
def test_what_is_spelled_reads_the_same(text):
    assert ours(spell(CASES[text])) == CASES[text]


def test_spans(body):
    (stmt,) = body("real v(9)\n  x = aa*(v(i+1) - &\n     sin(bb)) + 2.5")
    total = stmt.value
    assert (total.span.line, total.span.column) == (3, 7)
    assert (total.span.end_line, total.span.end_column) == (4, 20)
    difference = total.left.right
    element, sine = difference.left, difference.right
    assert (element.span.line, element.span.column, element.span.end_column) == (3, 11, 17)
    assert (sine.span.line, sine.span.column, sine.span.end_column) == (4, 6, 13)
    assert (sine.args[0].span.line, sine.args[0].span.column) == (4, 10)
    assert (element.subscripts[0].span.column, element.subscripts[0].span.end_column) == (13, 16)


def test_spans_of_our_own_parser():
    found = ours("aa*(v(i+1) - sin(bb))")
    assert (found.span.column, found.span.end_column) == (1, 21)
    assert (found.right.left.span.column, found.right.left.span.end_column) == (5, 11)


def test_what_has_no_place_in_the_ir_is_opaque_and_named(read):
    program = read("x = a .mine. b\nend\n")
    assert isinstance(program.main.body[0].value, OpaqueExpr)
    assert not program.complete
    assert [each.code for each in program.diagnostics] == ["W109"]


def test_a_part_of_a_text(body, read):
    found = body("character(8) s, c(2)\nprint *, s(2:), c(i)(:j)\ns(3:4) = 'a'\nc(1)(7:) = s")
    assert found[0].items == (
        Substring(Var("s"), IntLit(2), None),
        Substring(Element("c", (Var("i"),)), None, Var("j")),
    )
    assert [(spell(each.target), spell(each.value)) for each in found[1:]] == [
        ("s", "s(1:2) // 'a ' // s(5:8)"),
        ("c(1)", "c(1)(1:6) // s(1:2)"),
    ]
    assert evaluate(Substring(Var("s"), IntLit(3), IntLit(4)), {"s": "abcdef"}) == "cd"
    with pytest.raises(Unknown):
        evaluate(Substring(Var("s"), IntLit(3), IntLit(9)), {"s": "abcdef"})
    unknown = read("character(8) s\ns(i:j) = 'a'\nend\n")
    assert "W102 an assignment to a part of s is not modelled" in str(unknown.diagnostics[0])


def test_a_part_of_a_text_of_the_host(read):
    module = "module texts\ncharacter(8) :: word\nend module\n"
    inner = "contains\nsubroutine s(other)\nreal :: word\nprint *, line(1:2)\nword = other(1)\nend subroutine\n"
    program = read(f"{module}program p\nuse texts\ncharacter(4) line\nprint *, word(2:)\n{inner}end\n")
    main = program.main
    assert main.body[0].items == (Substring(Var("word"), IntLit(2), None),)
    assert main.contains[0].body[0].items == (Substring(Var("line"), IntLit(1), IntLit(2)),)


def test_statement_functions_are_expanded(body):
    found = body("sq(y) = y*y + c\ntwice(y, z) = sq(y) * z\nx = twice(a + 1, b)")
    inner = Binary("+", A, ONE)
    assert found[0].value == Binary("*", Binary("+", Binary("*", inner, inner), C), B)
    assert len(found) == 1


def test_a_common_extension_is_read_by_our_own_parser(read):
    program = read("dimension index(10)\nx = a * -b + index(3)\nindex(2) = 1\nend\n")
    assert program.complete
    x, index = program.main.body
    assert x.value.right == Element("index", (IntLit(3),))
    assert index.target == Element("index", (TWO,))


DEEP = "v(" * 12 + "1" + ")" * 12
LONG = " + ".join(f"v({i})" for i in range(1, 100))


@pytest.mark.parametrize("text", [DEEP, f"sin({DEEP}) + v({DEEP})", LONG, f"f({DEEP}, ({LONG}))"])
def test_deep_and_long_expressions_are_exact(body, text):
    (stmt,) = body(f"real v(9)\nx = {text}")
    assert stmt.value == ours(text)


def test_deep_expressions_have_parts_of_texts_and_operators_of_the_program(read):
    program = read(
        "module m\ninterface operator(.to.)\nmodule procedure f\nend interface\ncontains\n"
        "integer function f(x, y)\ninteger, intent(in) :: x, y\nf = x + y\nend function\nend module\n"
        "program p\nuse m\ncharacter(len=4) :: c(9)\ninteger :: k\n"
        "k = max(abs(ichar(c(2)(k:k+1))), abs(mod(1 + k .to. 3 * k .to. 2, 7)))\nend program\n"
    )
    assert program.complete
    first, second = program.main.body[-1].value.args
    part = Substring(Element("c", (TWO,)), Var("k"), Binary("+", Var("k"), ONE))
    assert first == Call("abs", (Call("ichar", (part,)),))
    sum_, product = Binary("+", ONE, Var("k")), Binary("*", IntLit(3), Var("k"))
    calls = second.args[0].args[0]
    assert (calls.args[0].args, calls.args[1]) == ((sum_, product), TWO)


def test_a_deep_expression_in_a_condition_knows_its_kinds(body):
    (stmt,) = body("integer, parameter :: dp = 8\nreal v(9)\nif (v(v(v(v(v(v(v(v(int(1.0_dp))))))))) > 0) y = 1")
    node = stmt.branches[0].condition.left
    while not isinstance(node, RealLit):
        node = (node.args if isinstance(node, Call) else node.subscripts)[0]
    assert node.double


NAMES = st.sampled_from([Var("i"), Var("j"), IntLit(1), IntLit(2), IntLit(7)])


def compounds(inner):
    """Expressions one level above `inner`."""
    op = st.sampled_from(["+", "-", "*", "/", "**"])
    return st.builds(Binary, op, inner, inner) | st.builds(Unary, st.sampled_from("+-"), inner)


@given(st.recursive(NAMES, compounds, max_leaves=8))
def test_printing_keeps_the_meaning(expr):
    """Read by both parsers, what is printed has the structure of what was meant."""
    text = spell(expr)
    assert ours(text) == expr
    value = read_program(f"x = {text}\nend\n", "x.f90").main.body[0].value
    assert value == expr
    python = text.replace("/", "//")
    try:
        expected = eval(python, {"i": 3, "j": 5})
    except (ZeroDivisionError, OverflowError):
        return
    if isinstance(expected, int) and "//" not in python and abs(expected) < 2**31:
        try:
            assert evaluate(expr, {"i": 3, "j": 5}) == expected
        except Unknown:  # an intermediate result that no Fortran integer holds
            return


def test_deep_references_are_read_as_shallow_ones():
    """What our own parser reads: arguments by their place, statement functions, substrings."""
    text = (
        "real a(9, 9), b(9)\ncharacter(len=9) :: c\nf(x) = x + 1\n"
        "b = sqrt(abs(sum(mask=a > 0, array=a, dim=1)))\n"
        "b = abs(sum(mask=a > 0, array=a, dim=1))\n"
        "b(1) = abs(sqrt(f(real(ichar(c(1:2))))))\nb(1) = f(real(ichar(c(1:2))))\nend\n"
    )
    deep, plain, deeper, shallow = (each.value for each in read_program(text, "x.f90").main.body)
    assert deep.args == (plain,)
    assert deeper.args[0].args == (shallow,)
