"""Builds program units by hand, so that these tests do not need the parser."""

from types import SimpleNamespace

import pytest

from aag.diagnostics import Span
from aag.ir.directives import Align, Bound, Distribute, Format, Processors, Star, Template
from aag.ir.expressions import Binary, Call, Expr, IntLit, Section, Unary, Var
from aag.ir.units import Entity, Type, Unit

REAL8 = Type(base="real", bytes=8)
INTEGER = Type(base="integer", bytes=4)
STAR = Star()
COLON = Section(None, None, None)


def at(line, column=0):
    return Span("x.hpf", line, column)


def expr(value):
    """An int, a name, or an expression as it is."""
    match value:
        case int():
            return IntLit(value) if value >= 0 else Unary("-", IntLit(-value))
        case str():
            return Var(value)
        case _:
            return value


def bound(value):
    """`n` or `(lower, upper)`; None is deferred."""
    if isinstance(value, tuple):
        return Bound(lower=expr(value[0]), upper=expr(value[1]))
    return Bound(lower=None, upper=None if value is None else expr(value))


def shape(values):
    return tuple(bound(value) for value in values)


def array(name, *dims, line=1, attributes=(), of=REAL8):
    return Entity(
        name=name,
        shown=name.upper(),
        type=of,
        shape=shape(dims),
        attributes=frozenset(attributes),
        initial=None,
        span=at(line),
    )


def scalar(name, line=1, of=INTEGER):
    return Entity(
        name=name, shown=name.upper(), type=of, shape=None, attributes=frozenset(), initial=None, span=at(line)
    )


def parameter(name, value, line=1, of=INTEGER):
    return Entity(
        name=name,
        shown=name.upper(),
        type=of,
        shape=None,
        attributes=frozenset({"parameter"}),
        initial=expr(value),
        span=at(line),
    )


def processors(name, *dims, line=2):
    return Processors(span=at(line), name=name, shape=shape(dims))


def template(name, *dims, line=3):
    return Template(span=at(line), name=name, shape=shape(dims))


def form(value):
    """``*``, ``block``, ``cyclic``, ``("block", 3)`` and so on."""
    if isinstance(value, tuple):
        return Format(kind=value[0], size=expr(value[1]))
    return Format(kind=value)


def distribute(name, *formats, onto=None, line=5, mode="prescriptive"):
    return Distribute(
        span=at(line),
        distributee=name,
        formats=tuple(form(each) for each in formats) if formats else None,
        onto=onto,
        form=mode,
    )


def align(alignee, axes, target, subscripts, line=4):
    """`axes` such as ``"i : *"`` or None, `subscripts` a tuple or None."""
    return Align(
        span=at(line),
        alignee=alignee,
        axes=None if axes is None else tuple(axes.split()),
        target=target,
        subscripts=None if subscripts is None else tuple(expr(each) for each in subscripts),
    )


def affine(stride, index, offset):
    """stride * index + offset as an expression."""
    return Binary("+", Binary("*", expr(stride), Var(index)), expr(offset))


def triplet(lower, upper, step=None):
    return Section(*(None if each is None else expr(each) for each in (lower, upper, step)))


def unit(*parts, kind="program", body=(), name="x"):
    return Unit(
        kind=kind,
        name=name,
        arguments=(),
        result="",
        prefixes=frozenset(),
        uses=(),
        entities=tuple(part for part in parts if isinstance(part, Entity)),
        commons=(),
        directives=tuple(part for part in parts if not isinstance(part, Entity)),
        body=tuple(body),
        contains=(),
        span=at(1),
        end=at(99),
    )


@pytest.fixture(scope="session")
def hpf() -> SimpleNamespace:
    """The builders above under one name."""
    return SimpleNamespace(
        at=at,
        expr=expr,
        array=array,
        scalar=scalar,
        parameter=parameter,
        processors=processors,
        template=template,
        distribute=distribute,
        align=align,
        affine=affine,
        triplet=triplet,
        unit=unit,
        star=STAR,
        colon=COLON,
        number=Call("number_of_processors", ()),
        real8=REAL8,
        integer=INTEGER,
        Expr=Expr,
    )
