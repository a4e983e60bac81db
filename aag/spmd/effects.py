"""What nodes write: array elements and scalars."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from aag.ir.expressions import Element
from aag.ir.statements import Assign
from aag.spmd.nodes import (
    CallNode,
    DoNode,
    HostIo,
    Index,
    LibraryCall,
    Local,
    Nest,
    Node,
    OwnedLoop,
    Reference,
    Unmodelled,
    walk,
)


class Effects(Struct, frozen=True):
    """What a node list changes: array elements (None: unknown elements of the array) and scalars."""

    arrays: tuple[tuple[str, Reference | None], ...]
    scalars: frozenset[str]
    everything: bool = False


def effects(nodes: Iterable[Node]) -> Effects:
    """The effects of a node list, inner bodies included."""
    arrays: list[tuple[str, Reference | None]] = []
    names: set[str] = set()
    everything = False
    for node in walk(nodes):
        names |= node.defines
        match node:
            case Nest():
                levels = (*node.outer, node.assigns)
                for depth, assigns in enumerate(levels, start=1 + len(node.indices) - len(levels)):
                    arrays += _stored(assigns, node.indices[:depth] if node.outer else node.indices)
            case Local(assigns=assigns):
                arrays += _stored(assigns, ())
            case OwnedLoop(assigns=assigns, index=index):
                arrays += _stored(assigns, (index,))
            case DoNode(var=var):
                names.add(var)
            case HostIo(defines=read):
                arrays += [(name, None) for name in read]
            case CallNode(library=LibraryCall(changes=changes)):
                arrays += [(name, None) for name in changes]
            case CallNode(entered=False) | Unmodelled():
                everything = True
    return Effects(tuple(arrays), frozenset(names), everything)


def _stored(assigns: Sequence[Assign], space: tuple[Index, ...]) -> list[tuple[str, Reference]]:
    """The elements that assignments write in the space of some indices, by array."""
    targets = [each.target for each in assigns if isinstance(each.target, Element)]
    return [(each.name, Reference(array=each.name, subscripts=each.subscripts, indices=space)) for each in targets]
