"""What a nest does, step by step, where start and step of each reference do not say it all (`aag.spmd.stream`)."""

from msgspec import Struct

from aag.ir.expressions import Element, Expr
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
    """What is done where a mask holds, and `otherwise`; one that data decide holds for a half of the executions."""

    mask: Expr
    body: tuple["Step", ...]
    otherwise: tuple["Step", ...] = ()


class Mine(Struct, frozen=True, kw_only=True):
    """What is done only by the processors that own index `subscript` of dimension `dim` of an array, along an axis."""

    array: str
    axis: int
    subscript: Expr | None
    body: tuple["Step", ...]


Step = Act | Put | Count | Repeat | Given | Mine
