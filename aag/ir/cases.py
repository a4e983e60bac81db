"""SELECT CASE as an IF: the condition of each case, CASE DEFAULT last."""

from collections.abc import Iterator
from functools import reduce

from aag.ir.expressions import Binary, Expr, LogicalLit, Section, Unary
from aag.ir.statements import Branch, Case, SelectCase


def in_turn(statement: SelectCase) -> tuple[Case, ...]:
    """The cases as they are tested."""
    return tuple(sorted(statement.cases, key=lambda case: case.values is None))


def selecting(selector: Expr, case: Case) -> Expr | None:
    """The condition under which a selector chooses a case; None: CASE DEFAULT."""
    if case.values is None:
        return None
    tests = list(_tests(selector, case.values))
    return reduce(lambda one, other: Binary(".or.", one, other), tests) if tests else LogicalLit(False)


def as_branches(statement: SelectCase) -> tuple[Branch, ...]:
    """The cases as the branches of an IF."""
    return tuple(
        Branch(condition=selecting(statement.selector, case), body=case.body, span=case.span)
        for case in in_turn(statement)
    )


def _tests(selector: Expr, values: tuple[Expr, ...]) -> Iterator[Expr]:
    for value in values:
        match value:
            case LogicalLit(value=holds):
                yield selector if holds else Unary(".not.", selector)
            case Section(lower=None, upper=None):
                yield LogicalLit(True)
            case Section(lower=lower, upper=None) if lower is not None:
                yield Binary(">=", selector, lower)
            case Section(lower=None, upper=upper) if upper is not None:
                yield Binary("<=", selector, upper)
            case Section(lower=lower, upper=upper) if lower is not None and upper is not None:
                yield Binary(".and.", Binary(">=", selector, lower), Binary("<=", selector, upper))
            case _:
                yield Binary("==", selector, value)
