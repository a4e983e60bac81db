"""Walks over node programs."""

from aag.diagnostics import Span
from aag.ir.expressions import Element, IntLit, Var
from aag.ir.statements import Assign
from aag.spmd import nodes as n

AT = Span("x", 1, 1)


def local(name):
    return n.Local(span=AT, assigns=(Assign(span=AT, target=Var(name), value=IntLit(1)),))


def loop(var, *body):
    return n.DoNode(span=AT, var=var, lower=IntLit(1), upper=IntLit(2), step=None, body=body)


def choice(*bodies):
    branches = tuple(n.NodeBranch(condition=None, body=body, span=AT) for body in bodies)
    return n.IfNode(span=AT, branches=branches)


X, Y, Z = map(local, "xyz")
INNER = loop("j", X)
CHOICE = choice((INNER, Y), (Z,))
WHILE = n.WhileNode(span=AT, condition=None, body=(CHOICE,))


def test_nodes_are_walked_in_program_order():
    assert list(n.walk((WHILE, X))) == [WHILE, CHOICE, INNER, X, Y, Z, X]


def test_what_is_written_anywhere_inside():
    stored = Assign(span=AT, target=Element("a", (Var("i"),)), value=IntLit(1))
    first = Assign(span=AT, target=Var("s"), value=IntLit(0))
    nest = n.Nest(span=AT, indices=(), home=None, assigns=(stored,), outer=((first,),), leading=(1,))
    read = n.HostIo(span=AT, kind="read", items=IntLit(1), bytes=IntLit(4), defines=frozenset("r"))
    assert n.written((WHILE,)) == set("jxyz")
    assert n.written((loop("k", nest), read)) == set("aksr")
    assert n.assigns_of(nest) == (stored, first)


def test_every_body_is_mapped():
    emptied = n.mapped(CHOICE, lambda body: body[1:])
    assert n.bodies(emptied) == ((Y,), ())
    assert n.bodies(n.mapped(INNER, lambda body: (*body, Z))) == ((X, Z),)
    assert n.mapped(X, lambda body: ()) is X
