"""The System Abstraction Graph as a networkx graph, for analysis and export. Imports networkx on use only."""

from typing import Any

from sag.unit import COMPONENTS, LETTERS, Compound, System


def to_networkx(system: System) -> Any:
    """A `networkx.DiGraph`: one node for each SAU (by its path), an edge from each unit to those below it.

    Node attributes: id, name, title, role, and for each component its state under its letter (``P``, ``M``,
    ``C/S``, ``I/O``). Edge attribute `refines`: letters of the parent's components that the child refines.
    """
    import networkx as nx

    graph = nx.DiGraph(name=system.name)
    for path, unit in system.root.walk():
        states = {LETTERS[name]: type(unit.components[name]).__name__.lower() for name in COMPONENTS}
        node = ".".join(path) or unit.name
        graph.add_node(node, id=unit.id, name=unit.name, title=unit.title, role=unit.role, **states)
    for path, unit in system.root.walk():
        for child in unit.children:
            refined = [LETTERS[name] for name in COMPONENTS if _refines(unit.components[name], child.name)]
            below = ".".join((*path, child.name))
            graph.add_edge(".".join(path) or unit.name, below, refines=" ".join(refined))
    return graph


def _refines(component: object, name: str) -> bool:
    return isinstance(component, Compound) and name in component.units
