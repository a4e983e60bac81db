"""Which parts of a communication can be counted apart: components of grid axes, array dimensions and indices.

A message set is a relation between destination coordinates (one for each grid axis) and elements (one subscript
for each array dimension). Axes and dimensions that share a loop index, directly or through a bound, form a group
and are counted jointly; groups combine as products (design decision D2).
"""

from collections.abc import Hashable, Iterable, Sequence

from msgspec import Struct

from aag.spmd.nodes import Index


class Partition:
    """Disjoint sets of hashable things (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def find(self, thing: Hashable) -> Hashable:
        """The representative of the set that holds `thing` (a new set, if it is unknown)."""
        above = self._parent
        parent = above.setdefault(thing, thing)
        while parent != thing:
            above[thing] = above[parent]
            thing = above[thing]
            parent = above[thing]
        return thing

    def join(self, things: Iterable[Hashable]) -> None:
        """Make one set of the sets that hold `things`."""
        roots = [self.find(thing) for thing in things]
        for root in roots[1:]:
            self._parent[self.find(root)] = self.find(roots[0])

    def sets(self) -> list[list[Hashable]]:
        """All sets, each in the order in which its members were first named."""
        groups: dict[Hashable, list[Hashable]] = {}
        for thing in self._parent:
            groups.setdefault(self.find(thing), []).append(thing)
        return list(groups.values())


class Slot(Struct, frozen=True):
    """A coordinate on a destination axis (``axis``) or a subscript of an array dimension (``dim``)."""

    kind: str
    number: int


def tie_bounds(partition: Partition, scope: Hashable, indices: Sequence[Index]) -> None:
    """Join indices whose bounds depend on each other. Indices are named (scope, index name)."""
    known = {index.name for index in indices}
    for index in indices:
        partition.join([(scope, index.name), *[(scope, name) for name in sorted(index.reads & known)]])
