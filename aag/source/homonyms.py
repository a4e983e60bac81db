"""Procedures of the same name in several hosts: each has a name of its own, ``work$host``, wherever it is used."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

_OPENINGS = ("Subroutine_Stmt", "Function_Stmt")
_PARTS = ("Internal_Subprogram_Part", "Module_Subprogram_Part")


def homonyms(tree: Any) -> frozenset[str]:
    """The names that several procedures of a parsed source have."""
    count = Counter(_names(tree))
    return frozenset(name for name, times in count.items() if times > 1)


def contained(node: Any) -> Iterator[Any]:
    """The procedures inside of a module, a procedure or a main program."""
    for part in getattr(node, "content", None) or ():
        if type(part).__name__ in _PARTS:
            yield from (child for child in part.content if name_of(child))


def name_of(node: Any) -> str:
    """The name of a procedure, of another node none."""
    opening: Any = node.content[0] if getattr(node, "content", None) else None
    return str(opening.items[1]).lower() if type(opening).__name__ in _OPENINGS else ""


def _names(tree: Any) -> Iterator[str]:
    for child in tree.content:
        if name := name_of(child):
            yield name
        for inner in contained(child):
            yield name_of(inner)
            yield from map(name_of, contained(inner))
