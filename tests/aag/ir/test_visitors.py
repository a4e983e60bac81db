"""Walks over the ir: nothing is passed over, nothing is visited twice."""

import dataclasses
import inspect

import pytest

from aag.diagnostics import NOWHERE, Span
from aag.ir import expressions, statements
from aag.ir.directives import Align, Distribute, Format, Star
from aag.ir.expressions import Binary, Call, Element, Expr, ImpliedDo, IntLit, Section, Unary, Var
from aag.ir.statements import Remap, Stmt
from aag.ir.visitors import (
    backward_slice,
    bodies,
    calls_used,
    children,
    elements_in,
    map_expression,
    mapped,
    names_in,
    own_expressions,
    walk_expressions,
    walk_statements,
)
from aag.source.read import read_program

PROGRAM = """\
implicit integer (c-z)
real a(8), b(8)
real, allocatable :: al(:)
do i = lo, hi, st
  if (c1 > 0) then
    a(i) = f1(b(j1), k=k1)
  else
    call sub1(v1, kk=v2)
  end if
end do
do while (c2 > 0)
  x2 = -y2
end do
forall (i2 = l2:h2:s2, m2 > 0) a(i2) = 1
where (a > z3)
  a = z4
elsewhere (b < z5)
  b = z6
end where
select case (sel)
case (1:2)
  print *, (p1, ii = 1, n7)
end select
allocate(al(n8))
stop
end
"""


def test_every_expression_is_walked():
    body = read_program(PROGRAM, "x.f90").main.body
    expected = set("a b i lo hi st c1 j1 k1 v1 v2 c2 x2 y2 l2 h2 s2 m2 i2 z3 z4 z5 z6 sel p1 n7 al n8".split())
    assert names_in(body) == expected
    assert calls_used(body) == {"f1", "sub1"}


def test_statements_are_walked_in_the_order_of_the_text():
    body = read_program(PROGRAM, "x.f90").main.body
    lines = [each.span.line for each in walk_statements(body)]
    assert lines == sorted(lines)
    assert len(lines) == 15


def test_every_body_is_mapped():
    body = read_program(PROGRAM, "x.f90").main.body
    empty = [mapped(each, lambda inner: ()) for each in body]
    assert [bodies(each) for each in empty] == [((),) * len(bodies(each)) for each in body]
    assert [own_expressions(each) for each in empty] == [own_expressions(each) for each in body]
    assert sum(len(bodies(each)) for each in empty) == 6


def test_a_slice_goes_backwards_through_assignments():
    text = "a = b + c(i)\nc(1) = d\ne = a\nb = b * f(g)\nend\n"
    body = read_program("real c(3)\n" + text, "x.f90").main.body
    assert backward_slice(["a"], body) == set("abcdgi")
    assert backward_slice(["e"], body) == set("abcdegi")
    assert backward_slice(["d", "x"], body) == set("dx")


def test_elements_are_found_outermost_first():
    inner = Element("b", (Var("i"),))
    outer = Element("a", (Binary("+", inner, IntLit(1)),))
    assert elements_in(None, Unary("-", outer), inner) == [outer, inner, inner]


def test_parents_come_first():
    expr = Binary("+", Var("a"), Unary("-", Var("b")))
    assert [type(each).__name__ for each in walk_expressions(expr)] == ["Binary", "Var", "Unary", "Var"]


def test_map_rebuilds_from_the_leaves_and_keeps_spans():
    at = Span("x", 3, 4)
    expr = Element(
        "a",
        (Section(Var("i"), None, IntLit(2)), ImpliedDo((Var("i"),), "k", Var("i"), Var("n"), None), Var("i")),
        span=at,
    )

    def one(node):
        return IntLit(7, span=node.span) if node == Var("i") else node

    found = map_expression(expr, one)
    seven = IntLit(7)
    assert found == Element(
        "a", (Section(seven, None, IntLit(2)), ImpliedDo((seven,), "k", seven, Var("n"), None), seven)
    )
    assert found.span == at


def test_expressions_of_remappings():
    align = Align(span=NOWHERE, alignee="a", axes=("i",), target="t", subscripts=(Var("i"), Star()))
    assert own_expressions(Remap(span=NOWHERE, directive=align)) == (Var("i"),)
    sizes = (Format(kind="block", size=Var("n")), Format(kind="*"))
    distribute = Distribute(span=NOWHERE, distributee="a", formats=sizes, onto=None)
    assert own_expressions(Remap(span=NOWHERE, directive=distribute)) == (Var("n"),)


def classes(module, base):
    """The concrete classes of a module below `base`."""
    return [
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, base) and each is not base and each.__module__ == module.__name__
    ]


SAMPLES = {
    "str": "x",
    "int": 1,
    "float": 1.0,
    "bool": True,
    "Expr": Var("x"),
    "Expr | None": Var("x"),
    "Var | Element": Var("x"),
    "tuple[Expr, ...]": (Var("x"),),
    "tuple[tuple[str, Expr], ...]": (("k", Var("x")),),
    "Span": NOWHERE,
}


def sample(cls):
    """An instance of an expression class with something in every field."""
    values = {}
    for field in dataclasses.fields(cls):
        name = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
        text = str(field.type).replace("aag.ir.expressions.", "").replace("aag.diagnostics.", "")
        values[field.name] = SAMPLES.get(name, SAMPLES.get(text))
        assert values[field.name] is not None, (cls, field.name, text)
    return cls(**values)


@pytest.mark.parametrize("cls", classes(expressions, Expr), ids=lambda each: each.__name__)
def test_all_expression_classes_are_known(cls):
    expr = sample(cls)
    held = [field for field in dataclasses.fields(cls) if "Expr" in str(field.type) or "Var" in str(field.type)]
    assert len(children(expr)) == len(held)
    assert map_expression(expr, lambda node: IntLit(1) if node == Var("x") and node is not expr else node) is not None
    changed = map_expression(expr, lambda node: Var("y") if node == Var("x") else node)
    assert set(walk_expressions(changed)).isdisjoint({Var("x")})


@pytest.mark.parametrize("cls", classes(statements, Stmt), ids=lambda each: each.__name__)
def test_all_statement_classes_are_known(cls):
    body_fields = {"body", "branches", "cases"}
    values = dict.fromkeys(cls.__struct_fields__, ())
    values |= {
        "span": NOWHERE,
        "end": NOWHERE,
        "condition": None,
        "mask": None,
        "step": None,
        "cost": None,
        "into": None,
        "directive": Align(span=NOWHERE, alignee="a", axes=None, target="t", subscripts=None),
    }
    for name in ("target", "value", "lower", "upper", "selector"):
        values[name] = Var("x")
    stmt = cls(**{name: values[name] for name in cls.__struct_fields__})
    assert isinstance(own_expressions(stmt), tuple)
    if body_fields & set(values) and cls.__name__ in ("Do", "DoWhile", "Forall"):
        assert bodies(stmt) == ((),)


def test_an_unknown_class_is_refused_by_name():
    class Strange(Expr):
        pass

    class Odd(Stmt):
        pass

    with pytest.raises(TypeError, match="children: unknown expression class Strange"):
        children(Strange())
    with pytest.raises(TypeError, match="own_expressions: unknown statement class Odd"):
        own_expressions(Odd(span=NOWHERE))
    assert calls_used(Call("f", (Call("g", ()),))) == {"f", "g"}
