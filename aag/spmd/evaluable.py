"""Conditions inside conditions: whether the inner one has a value where the outer one does not hold.

Fortran may evaluate both sides of ``i > 2 .and. ia(i - 2) == 1``, so that nested IFs are no conjunction where the inner
condition uses an element that the outer one keeps inside its array, or divides by what the outer one keeps from 0.
"""

from collections.abc import Iterable, Sequence

from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Binary, Call, Element, Expr
from aag.ir.intrinsics import INTRINSICS
from aag.ir.visitors import elements_in, walk_expressions
from aag.spmd.dependence import Access, Bounds, may_leave
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Index

_DIVIDING = frozenset(("mod", "modulo"))


def is_evaluable(lowering: Lowering, condition: Expr, indices: Sequence[Index], around: Expr | None) -> bool:
    """Whether a condition in element form can be evaluated in all iterations of some loops, also where the condition
    `around` does not hold; that one can."""
    if around is None:
        return True
    if any(_may_fail(lowering, each) for each in walk_expressions(condition)):
        return False
    certain = list(_accesses(lowering, elements_in(around), indices))
    asked = _accesses(lowering, elements_in(condition), indices)
    return not any(may_leave(each, bounds, lowering.env, lowering.reach.around, certain) for each, bounds in asked)


def have_ranges(lowering: Lowering, added: Iterable[Index], indices: Sequence[Index], around: Expr | None) -> bool:
    """Whether the bounds of loops inside can be evaluated in all iterations of the loops around, also where the
    condition `around` does not hold."""
    ends = (end for each in added for end in each.ends if end is not None)
    return all(is_evaluable(lowering, each, indices, around) for each in ends)


def _accesses(
    lowering: Lowering, elements: Iterable[Element], indices: Sequence[Index]
) -> Iterable[tuple[Access, Bounds]]:
    for each in elements:
        if lowering.symbols.is_array(each.name):
            yield Access(each.name, each.subscripts, tuple(indices), ()), lowering.arrays[each.name].bounds


def _may_fail(lowering: Lowering, part: Expr) -> bool:
    """Whether an operation may stop the program: a division of whole numbers, or a function that is not Fortran's."""
    match part:
        case Binary(op="/", left=left, right=right):
            return all(_is_whole(lowering, each) for each in (left, right)) and not _known(lowering, right)
        case Binary(op="**", left=left, right=right) if _is_whole(lowering, left) and _is_whole(lowering, right):
            exponent = _known(lowering, right)
            return exponent is None or exponent < 0
        case Call(name=name, args=(_, right)) if name in _DIVIDING:
            return _is_whole(lowering, right) and not _known(lowering, right)
        case Call(name=name):
            return name not in INTRINSICS and not name.endswith("$")
        case _:
            return False


def _is_whole(lowering: Lowering, expr: Expr) -> bool:
    return lowering.symbols.type_of(expr).base == "integer"


def _known(lowering: Lowering, expr: Expr) -> int | None:
    """The value of an expression, where constants decide it."""
    try:
        return evaluate_int(expr, lowering.env)
    except Unknown:
        return None
