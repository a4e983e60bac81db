"""The components of a derived type that are not of a derived type themselves."""

from collections.abc import Iterator

from msgspec import Struct

from aag.ir.directives import Bound
from aag.ir.units import Record, Type

Shape = tuple[Bound, ...]


class NotSplit(Exception):
    """Why something of a derived type is not modelled."""


class ComponentPath(Struct, frozen=True):
    """A component of an intrinsic type, perhaps of a component.

    Attributes:
        path: The names of the components that lead to it.
        shown: The same as the source writes it.
        type: Its type.
        parts: The shape of each component of the path; empty where that is a scalar.
        homes: The unit that defines each of them.
    """

    path: tuple[str, ...]
    shown: str
    type: Type
    parts: tuple[Shape, ...]
    homes: tuple[str, ...]

    @property
    def rank(self) -> int:
        """How many dimensions its components have together."""
        return sum(map(len, self.parts))


def leaves(record: Record) -> Iterator[ComponentPath]:
    """All of them, in the order of the definition.

    Raises:
        NotSplit: the type is not modelled.
    """
    if record.problem:
        raise NotSplit(record.problem)
    for each in record.fields:
        shape = each.shape or ()
        if each.type.record is None:
            yield ComponentPath((each.name,), each.shown, each.type, (shape,), (record.home,))
            continue
        for inner in leaves(each.type.record):
            yield ComponentPath(
                (each.name, *inner.path),
                f"{each.shown}%{inner.shown}",
                inner.type,
                (shape, *inner.parts),
                (record.home, *inner.homes),
            )


def leaf_name(variable: str, path: tuple[str, ...]) -> str:
    """The name of the variable that holds a component."""
    return "%".join((variable, *path))
