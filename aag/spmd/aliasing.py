"""Names that share storage: a node that writes one of them changes the value of the others (EQUIVALENCE).

Node programs hold unmapped data only under several names; mapped data that share storage are refused by name.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.ir.storage import member_names, sharing
from aag.ir.units import Unit
from aag.mapping.layout import Layout
from aag.spmd.nodes import DoNode, Local, Node, bodies, mapped, written

Sharing = Mapping[str, frozenset[str]]


def mapped_members(unit: Unit, layouts: Mapping[str, Layout]) -> Iterator[Diagnostic]:
    """A finding for each EQUIVALENCE set of an object that has mapped data in it."""
    shared = sharing(unit)
    mapped = {name for name, layout in layouts.items() if layout.rank and layout.template}
    for each in unit.equivalences:
        names = frozenset().union(*(shared.get(name, frozenset()) for name in member_names(each.members)))
        for name in sorted(names & mapped):
            others = ", ".join(sorted(names - {name})).upper()
            yield Diagnostic(
                code="W207",
                message=f"EQUIVALENCE of the mapped array {name.upper()} with {others} is not modelled",
                span=each.span,
                hint="map none of them, or give each its own storage",
            )


def with_aliases(body: Sequence[Node], unit: Unit) -> tuple[Node, ...]:
    """The nodes with all names of the storage that they write in `defines`."""
    shared = sharing(unit)
    return _body(body, shared) if shared else tuple(body)


def _body(body: Sequence[Node], shared: Sharing) -> tuple[Node, ...]:
    return tuple(_node(each, shared) for each in body)


def _node(node: Node, shared: Sharing) -> Node:
    own = written((node,)) if not bodies(node) else node.defines
    node = mapped(node, lambda body: _body(body, shared))
    if isinstance(node, DoNode) and node.var in shared:  # each iteration changes the other names
        others = shared[node.var] - {node.var}
        node = replace(node, body=(Local(span=node.span, assigns=(), defines=others), *node.body))
    changed = frozenset().union(*(shared.get(name, frozenset()) for name in own))
    return replace(node, defines=node.defines | changed) if changed else node
