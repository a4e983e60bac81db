"""Scalar names that decide what a node does: those in loop bounds, subscripts and conditions (D8)."""

from collections.abc import Container

from aag.diagnostics import Span
from aag.ir.expressions import Call, Expr
from aag.ir.intrinsics import INTRINSICS
from aag.ir.units import Program, Unit
from aag.ir.visitors import calls_used, elements_in, names_in, own_expressions, walk_expressions, walk_statements
from aag.spmd.branches import conditions_of, may_change
from aag.spmd.nodes import Held, Need, Nest, Operation, Reference, assigns_of
from aag.spmd.symbols import Symbols
from aag.spmd.vector import is_decided_by_indices

CLOCKS = frozenset(
    ("system_clock", "cpu_time", "secnds", "mpi_wtime", "etime", "dtime", "second", "dclock", "date_and_time")
)
"""Procedures that read the clock, subroutines or functions."""
RANDOM = frozenset(("random_number", "random_seed"))
"""Intrinsic subroutines whose numbers are those of the library: what they cost is known, what they answer is not."""


def scalars(symbols: Symbols, *exprs: Expr | None) -> frozenset[str]:
    """The scalar variables in expressions."""
    return _scalars(symbols, names_in(*exprs))


def _scalars(symbols: Symbols, names: frozenset[str]) -> frozenset[str]:
    return frozenset([name for name in names if not symbols.is_array(name)])


def reference_names(symbols: Symbols, reference: Reference | None) -> frozenset[str]:
    """The scalars that decide what a reference touches, its own indices not among them."""
    if reference is None:
        return frozenset()
    return _scalars(symbols, reference.reads)


def need_names(symbols: Symbols, need: Need) -> frozenset[str]:
    """The scalars that decide what a need is."""
    names = reference_names(symbols, need.reference) | reference_names(symbols, need.home)
    return names.difference([index.name for index in need.reference.indices])


def held_names(symbols: Symbols, held: Held) -> frozenset[str]:
    """The scalars that decide what of an earlier communication is still valid."""
    stale = [reference_names(symbols, write) for write in held.stale]
    return need_names(symbols, held.need).union(*stale)


def comm_names(symbols: Symbols, operation: Operation) -> frozenset[str]:
    """The scalars that decide what an operation moves."""
    return frozenset().union(
        *[need_names(symbols, need) for need in operation.needs],
        *[held_names(symbols, held) for held in operation.held],
    )


def nest_names(symbols: Symbols, nest: Nest) -> frozenset[str]:
    """The scalars that decide how often a nest runs and what it touches."""
    indices = {index.name for index in nest.indices}
    bounds = frozenset().union(*[index.reads for index in nest.indices])
    found = _scalars(symbols, bounds) | reference_names(symbols, nest.home)
    for assign in assigns_of(nest):
        found |= _subscript_names(symbols, assign.value) | _subscript_names(symbols, assign.target)
    for condition in conditions_of(nest):
        if is_decided_by_indices(condition) and not may_change(nest, condition):
            found |= scalars(symbols, condition)
    return found - indices


def _subscript_names(symbols: Symbols, expr: Expr) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for element in elements_in(expr):
        if symbols.is_array(element.name):
            found |= scalars(symbols, *element.subscripts)
    return found


def user_functions(program: Program, unit: Unit) -> list[tuple[str, Span]]:
    """Functions that a unit calls and that are no intrinsics: in the source, declared external, or not declared; each
    by name with every statement that calls it."""
    users = functions_of(program, unit).keys() | _external(unit)
    if not users:
        return []
    found = {
        (each.name, statement.span): None
        for statement in walk_statements(unit.body)
        for whole in own_expressions(statement)
        for each in walk_expressions(whole)
        if isinstance(each, Call) and each.name in users
    }
    return sorted(found, key=lambda each: (each[0], each[1].line))


def whole_functions(program: Program, unit: Unit) -> frozenset[str]:
    """Functions that read the clock and user functions that are not ELEMENTAL: an array argument goes to them as a
    whole, their result is a scalar."""
    known = functions_of(program, unit)
    elemental = {name for name, each in known.items() if "elemental" in each.prefixes}
    return frozenset((known.keys() | _external(unit) | CLOCKS) - elemental)


def impure_functions(program: Program, unit: Unit) -> dict[str, Unit | None]:
    """User functions that may have side effects, as they are neither PURE nor ELEMENTAL; None: without source."""
    known: dict[str, Unit | None] = {**dict.fromkeys(_external(unit)), **functions_of(program, unit)}
    safe = {name for name, each in known.items() if each and {"pure", "elemental"} & set(each.prefixes)}
    return {name: each for name, each in known.items() if name not in safe}


def read_by_functions(program: Program, unit: Unit) -> dict[str, frozenset[str]]:
    """The variables of its host that each function reads, itself or through others that it calls."""
    known = functions_of(program, unit)
    calls = {name: known.keys() & calls_used(each.body) for name, each in known.items()}
    found = {
        name: names_in(each.body) - {own.name for own in each.entities} - known.keys() for name, each in known.items()
    }
    while True:  # until no call brings more
        more = {name: each.union(*(found[other] for other in calls[name])) for name, each in found.items()}
        if more == found:
            return found
        found = more


def calls_any(expr: Expr | None, names: Container[str]) -> bool:
    """Whether an expression calls one of some functions."""
    return expr is not None and any(isinstance(each, Call) and each.name in names for each in walk_expressions(expr))


def functions_of(program: Program, unit: Unit) -> dict[str, Unit]:
    """The functions that a unit can call: external, of modules, its own and its host's."""
    units = [*program.units, *(inner for each in program.units for inner in each.contains), *unit.contains]
    return {each.name: each for each in units if each.kind == "function"}


def _external(unit: Unit) -> set[str]:
    """Functions without source: declared external, or scalars by declaration with arguments behind their name."""
    scalar = {
        each.name
        for each in unit.entities
        if each.shape is None and each.name not in INTRINSICS and "intrinsic" not in each.attributes
    }
    external = {each.name for each in unit.entities if "external" in each.attributes}
    return external | (scalar and scalar & calls_used(unit.body))
