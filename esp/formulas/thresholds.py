"""Whether a program compares its size with something: what it does may then change at sizes that nobody has counted.

if (n > 1000) ...        do i = 1, min(n, 1200)        do ii = 1, n, 1024        forall (i = 1:n, i > 500) ...
"""

from collections.abc import Iterator

from aag.ir.expressions import Call, Expr, IntLit, RealLit, Var
from aag.ir.statements import Assign, Do, DoWhile, Forall, If, SelectCase, Stmt, Where
from aag.ir.units import Program
from aag.ir.visitors import names_in, walk_expressions, walk_statements

COMPARING = frozenset(("min", "max", "mod", "modulo", "merge", "min0", "max0"))
"""Functions whose values bend where an argument changes."""

SMALL = 8
"""Numbers up to this one change nothing at sizes at which counts are taken."""


def compares(program: Program, size: str) -> bool:
    """Whether a size, or what follows from it, is compared with a constant beyond `SMALL` or a variable: in conditions
    and masks, as the step of a loop, in minima and the like of bounds and scalars."""
    units = [*program.units, *(inner for each in program.units for inner in each.contains)]
    statements = [each for unit in units for each in walk_statements(unit.body)]
    entities = [each for unit in units for each in unit.entities]
    arrays = {each.name for each in entities if each.shape is not None}
    settings = [(each.name, each.initial) for each in entities if each.initial is not None and each.shape is None]
    settings += _settings(statements)
    known = {size}
    while more := {name for name, value in settings if names_in(value) & known} - known:
        known |= more
    extents = [
        part
        for each in entities
        for bound in each.shape or ()
        for part in (bound.lower, bound.upper)
        if part is not None
    ]
    calls = [
        each
        for whole in [*extents, *(value for _, value in settings)]
        for each in walk_expressions(whole)
        if isinstance(each, Call) and each.name in COMPARING
    ]
    return any(_bends(each, known, arrays) for each in [*calls, *_deciding(statements)])


def _bends(expr: Expr, known: set[str], arrays: set[str]) -> bool:
    """Whether names that follow from the size meet other scalars, or numbers that are not small."""
    names = names_in(expr) - arrays
    numbers = (each.value for each in walk_expressions(expr) if isinstance(each, IntLit | RealLit))
    return bool(names & known) and (bool(names - known) or any(abs(float(each)) > SMALL for each in numbers))


def _settings(statements: list[Stmt]) -> Iterator[tuple[str, Expr]]:
    """Scalars and what their values depend on: assignments, and the bounds of loops."""
    for each in statements:
        match each:
            case Assign(target=Var(name), value=value):
                yield name, value
            case Do(var=name, lower=lower, upper=upper):
                yield name, lower
                yield name, upper
            case Forall(indices=indices):
                for index in indices:
                    yield index.name, index.lower
                    yield index.name, index.upper
            case _:
                pass


def _deciding(statements: list[Stmt]) -> Iterator[Expr]:
    """Expressions that decide what is done: conditions, masks, and the ends of loops with their step."""
    for each in statements:
        match each:
            case If(branches=branches):
                yield from (one.condition for one in branches if one.condition is not None)
            case Where(branches=masks):
                yield from (one.mask for one in masks if one.mask is not None)
            case DoWhile(condition=condition) if condition is not None:
                yield condition
            case SelectCase(selector=selector, cases=cases):
                values = [value for case in cases for value in case.values or ()]
                yield Call("merge", (selector, *values))
            case Do(lower=lower, upper=upper, step=step) if step is not None:
                yield Call("mod", (lower, upper, step))
            case Forall(indices=indices, mask=mask):
                if mask is not None:
                    yield mask
                for index in indices:
                    if index.step is not None:
                        yield Call("mod", (index.lower, index.upper, index.step))
            case _:
                pass
