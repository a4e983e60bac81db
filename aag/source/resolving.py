"""Expressions of directives, once the declarations are known: elements told from function references, and constants
from USE in place of their new names; inquiries of the machine."""

import dataclasses
from typing import Protocol

from msgspec.structs import replace

from aag.ir import directives as d
from aag.ir import expressions as e
from aag.ir.visitors import map_expression

_OF_ONE = frozenset(("size", "sum", "product", "maxval", "minval"))
"""Functions that need no loop for an array of one value."""


class NamesInUse(Protocol):
    """What the declarations say about a name."""

    def is_array(self, name: str) -> bool:
        """Whether it has a shape."""

    def constant(self, name: str) -> e.Expr | None:
        """What a name from USE stands for, where that is a constant of another name."""

    def listed(self, name: str) -> tuple[e.Expr, ...]:
        """The elements of a named integer constant; none of anything else."""


def resolve(expr: e.Expr, names: NamesInUse, indices: tuple[str, ...] = ()) -> e.Expr:
    """`expr` with its arrays as `Element` and constants from USE by their first names. `indices` hide other names."""

    def one(node: e.Expr) -> e.Expr:
        if isinstance(node, e.Call) and not node.keywords and names.is_array(node.name):
            return e.Element(node.name, node.args, span=node.span)
        if isinstance(node, e.Var) and node.name not in indices:
            constant = names.constant(node.name)
            return node if constant is None else dataclasses.replace(constant, span=node.span)
        return of_machine(node) if isinstance(node, e.Call) else node

    return map_expression(expr, one)


def of_machine(call: e.Call) -> e.Expr:
    """Inquiries of the processors of the machine, which are one row, as NUMBER_OF_PROCESSORS(); others as they are."""
    number = e.Call("number_of_processors", (), span=call.span)
    match call:
        case e.Call(name="processors_shape", args=(), keywords=()):
            return e.Constructor((number,), span=call.span)
        case e.Call(name=number.name, args=(e.IntLit(value=1),)):
            return number
        case e.Call(name=number.name, keywords=(("dim", e.IntLit(value=1)),)):
            return number
        case e.Call(name=name, args=(e.Constructor(values=(one,)), *_)) if one == number and name in _OF_ONE:
            return e.IntLit(1, span=call.span) if name == "size" else number
    return call


def resolve_remap(directive: d.Align | d.Distribute, names: NamesInUse) -> d.Align | d.Distribute:
    """A mapping directive with its expressions resolved."""
    if isinstance(directive, d.Align):
        subscripts = directive.subscripts
        if subscripts is not None:
            subscripts = tuple(
                each if isinstance(each, d.Star) else resolve(each, names, directive.axes or ()) for each in subscripts
            )
        return replace(directive, subscripts=subscripts)
    if directive.formats is None:
        return directive
    formats = tuple(
        each if each.size is None else replace(each, size=_sizes(each, each.size, names)) for each in directive.formats
    )
    return replace(directive, formats=formats)


def _sizes(form: d.Format, size: e.Expr, names: NamesInUse) -> e.Expr:
    listed = names.listed(size.name) if form.kind == "gen_block" and isinstance(size, e.Var) else ()
    return e.Constructor(listed, span=size.span) if listed else resolve(size, names)


def resolve_directive(directive: d.Directive, names: NamesInUse) -> d.Directive:
    """As `resolve_remap`, for any mapping directive."""
    match directive:
        case d.Align() | d.Distribute():
            return resolve_remap(directive, names)
        case d.Processors(shape=shape) | d.Template(shape=shape):
            bounds = tuple(
                d.Bound(
                    lower=None if each.lower is None else resolve(each.lower, names),
                    upper=None if each.upper is None else resolve(each.upper, names),
                )
                for each in shape
            )
            return replace(directive, shape=bounds)
        case _:
            return directive
