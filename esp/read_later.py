"""Given values of variables that the program reads and also assigns: they hold from the READ on, not everywhere.

A variable that only READ assigns is known in the whole program. One with a default, as in ``n = 100`` and
``read *, n``, or that is changed afterwards, as in ``n = n / 2``, has its given value only where it is read: there an
assignment stands for the input.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec.structs import replace

from aag.ir import statements as s
from aag.ir.evaluate import Value
from aag.ir.expressions import ComplexLit, Expr, IntLit, LogicalLit, RealLit, StringLit, Var
from aag.ir.units import Program, Unit
from aag.ir.visitors import Body, mapped, walk_statements


@lru_cache(maxsize=64)
def also_assigned(unit: Unit) -> frozenset[str]:
    """The scalars that a READ of a unit gives a value and that another statement of it assigns."""
    arrays = {each.name for each in unit.entities if each.shape is not None}
    read, assigned = set[str](), set[str]()
    for each in walk_statements(unit.body):
        match each:
            case s.Io(kind="read", items=items):
                read |= {item.name for item in items if isinstance(item, Var)} - arrays
            case s.Assign(target=Var(name=name)) | s.Do(var=name):
                assigned.add(name)
    return frozenset(read & assigned)


@lru_cache(maxsize=64)
def with_input(program: Program, given: tuple[tuple[str, Value], ...]) -> Program:
    """A program with an assignment for each given value of such a variable, behind each READ of it."""
    if program.main is None:
        return program
    later = also_assigned(program.main)
    values = {name: literal(value) for name, value in given if name in later}
    if not values:
        return program
    main = replace(program.main, body=_assigning(program.main.body, values))
    return replace(program, units=tuple(main if each is program.main else each for each in program.units))


def _assigning(body: Body, values: Mapping[str, Expr]) -> Body:
    found: list[s.Stmt] = []
    for each in body:
        if not isinstance(each, s.Io) or each.kind != "read":
            found.append(mapped(each, lambda inner: _assigning(inner, values)))
        else:
            names = [item.name for item in each.items if isinstance(item, Var) and item.name in values]
            found.append(replace(each, known=frozenset(names)))
            behind = replace(each.span, column=max(each.span.column + 1, each.span.end_column))  # a place of its own
            found += [s.Assign(span=behind, target=Var(name), value=values[name]) for name in names]
    return tuple(found)


def literal(value: Value) -> Expr:
    """The constant that stands for a given value."""
    match value:
        case bool():
            return LogicalLit(value)
        case int():
            return IntLit(value)
        case float():
            return RealLit(value, repr(value), double=True)
        case complex():
            return ComplexLit(literal(value.real), literal(value.imag))
        case str():
            return StringLit(value)
    raise TypeError(f"a given value of the type {type(value).__name__}")
