"""Storage association: which names of a program unit may share memory (EQUIVALENCE and COMMON).

    common /c/ a, b          a and b lie one after the other
    equivalence (a(5), v)    v lies in a, perhaps into b:    {a, b, v} are one object

Offsets are not compared: all names that a chain of EQUIVALENCE sets and common blocks joins count as one object.
Names of a common block that no EQUIVALENCE set mentions share nothing within the unit.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aag.ir.directives import Bound
from aag.ir.expressions import Element, Expr, Section, Var
from aag.ir.statements import Allocate
from aag.ir.units import Unit
from aag.ir.visitors import walk_statements


def storage_of(unit: Unit) -> Mapping[str, str]:
    """The canonical name of the storage object of each declared name: the first name declared of those that share it.

    A name that shares nothing is its own object. Names that the map lacks (temporaries, loop indices) share nothing,
    so ask with ``storage.get(name, name)``.
    """
    parent = {entity.name: entity.name for entity in unit.entities}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    def join(names: Iterable[str]) -> None:
        known = [root(name) for name in names if name in parent]
        for name in known[1:]:
            parent[name] = known[0]

    sets = [member_names(each.members) for each in unit.equivalences]
    for names in sets:
        join(names)
    mentioned = {name for names in sets for name in names}
    for common in unit.commons:
        if mentioned & set(common.names):
            join(common.names)
    first: dict[str, str] = {}
    for entity in unit.entities:
        first.setdefault(root(entity.name), entity.name)
    return MappingProxyType({name: first[root(name)] for name in parent})


def sharing(unit: Unit) -> Mapping[str, frozenset[str]]:
    """For each name that shares its storage: all names of the object, its own included. Most often empty."""
    if not unit.equivalences:
        return MappingProxyType({})
    storage = storage_of(unit)
    objects: dict[str, set[str]] = {}
    for name, canonical in storage.items():
        objects.setdefault(canonical, set()).add(name)
    return MappingProxyType(
        {name: frozenset(objects[canonical]) for name, canonical in storage.items() if len(objects[canonical]) > 1}
    )


def member_names(members: Iterable[Expr]) -> tuple[str, ...]:
    """The names of the variables of an EQUIVALENCE set."""
    return tuple(each.name for each in members if isinstance(each, Var | Element))


__all__ = ["member_names", "sharing", "storage_of"]


def allocations(unit: Unit) -> dict[str, tuple[Bound, ...]]:
    """The shape of the first ALLOCATE of each name."""
    shapes: dict[str, tuple[Bound, ...]] = {}
    for statement in walk_statements(unit.body):
        if isinstance(statement, Allocate) and not statement.deallocate:
            for item in statement.items:
                if isinstance(item, Element):
                    shapes.setdefault(item.name, tuple(map(_bound, item.subscripts)))
    return shapes


def _bound(subscript: Expr) -> Bound:
    match subscript:
        case Section(lower=lower, upper=upper):
            return Bound(lower=lower, upper=upper)
        case _:
            return Bound(lower=None, upper=subscript)
