"""Elements told from function references, once it is known which names are arrays."""

from collections.abc import Callable

from msgspec.structs import replace

from aag.ir import directives as d
from aag.ir import expressions as e
from aag.ir.visitors import map_expression

IsArray = Callable[[str], bool]


def resolve(expr: e.Expr, is_array: IsArray) -> e.Expr:
    """`expr` with `Call` turned into `Element` where the name is that of an array."""

    def one(node: e.Expr) -> e.Expr:
        if isinstance(node, e.Call) and not node.keywords and is_array(node.name):
            return e.Element(node.name, node.args, span=node.span)
        return node

    return map_expression(expr, one)


def resolve_remap(directive: d.Align | d.Distribute, is_array: IsArray) -> d.Align | d.Distribute:
    """A mapping directive with its expressions resolved."""
    if isinstance(directive, d.Align):
        subscripts = directive.subscripts
        if subscripts is not None:
            subscripts = tuple(each if isinstance(each, d.Star) else resolve(each, is_array) for each in subscripts)
        return replace(directive, subscripts=subscripts)
    if directive.formats is None:
        return directive
    formats = tuple(
        each if each.size is None else replace(each, size=resolve(each.size, is_array)) for each in directive.formats
    )
    return replace(directive, formats=formats)


def resolve_directive(directive: d.Directive, is_array: IsArray) -> d.Directive:
    """As `resolve_remap`, for any mapping directive."""
    match directive:
        case d.Align() | d.Distribute():
            return resolve_remap(directive, is_array)
        case d.Processors(shape=shape) | d.Template(shape=shape):
            bounds = tuple(
                d.Bound(
                    lower=None if each.lower is None else resolve(each.lower, is_array),
                    upper=None if each.upper is None else resolve(each.upper, is_array),
                )
                for each in shape
            )
            return replace(directive, shape=bounds)
        case _:
            return directive
