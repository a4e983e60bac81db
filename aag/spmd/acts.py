"""What a nest does, step by step, where start and step of each reference do not say it all (`aag.spmd.stream`)."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from aag.ir.expressions import Element, Expr
from aag.ir.visitors import names_in
from aag.spmd.nodes import Index

COUNTER = "$at"
"""The scalar that numbers the executions of a place (`Count`)."""
MASK_SHARE = 0.5
"""The share of iterations for which a mask is taken to hold that data decide."""


class Act(Struct, frozen=True, kw_only=True):
    """A reference to an array element; `source`: a number of the statement that makes it."""

    element: Element
    write: bool
    source: int = 0


class Put(Struct, frozen=True, kw_only=True):
    """A scalar gets a value."""

    name: str
    value: Expr


class Count(Struct, frozen=True):
    """The executions of this place are numbered, from 0: the subscript of a temporary."""


class Repeat(Struct, frozen=True, kw_only=True):
    """A loop."""

    index: Index
    body: tuple["Step", ...]


class Given(Struct, frozen=True, kw_only=True):
    """What is done where a mask holds, and `otherwise`; one that data decide, or that is not `followed`, as it changes
    on the way, holds for some share of the executions. `test` is as good as the mask where this is reached, as it may
    be `otherwise` of others."""

    mask: Expr
    test: Expr | None = None
    body: tuple["Step", ...]
    otherwise: tuple["Step", ...] = ()
    followed: bool = True


class Mine(Struct, frozen=True, kw_only=True):
    """What is done only by the processors that own index `subscript` of dimension `dim` of an array, along an axis."""

    array: str
    axis: int
    subscript: Expr | None
    body: tuple["Step", ...]


Step = Act | Put | Count | Repeat | Given | Mine


def put_in(body: Sequence[Step]) -> Iterator[str]:
    """Scalars that get values in some steps, loop indices among them."""
    for step in body:
        match step:
            case Put(name=name):
                yield name
            case Repeat(index=index, body=inner):
                yield index.name
                yield from put_in(inner)
            case Given(body=inner, otherwise=other):
                yield from put_in((*inner, *other))
            case Mine(body=inner):
                yield from put_in(inner)
            case _:
                pass


def read_in(body: Sequence[Step]) -> Iterator[str]:
    """Scalars that steps read; loop indices only where their own loop does not give them values."""
    for step in body:
        match step:
            case Act(element=element):
                yield from names_in(*element.subscripts)
            case Put(value=value):
                yield from names_in(value)
            case Repeat(index=index, body=inner):
                yield from index.reads
                yield from (name for name in read_in(inner) if name != index.name)
            case Given(mask=mask, body=inner, otherwise=other):
                yield from names_in(mask)
                yield from read_in((*inner, *other))
            case Mine(subscript=subscript, body=inner):
                yield from () if subscript is None else names_in(subscript)
                yield from read_in(inner)
            case _:
                pass
