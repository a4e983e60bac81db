"""The application graph as a networkx graph, for analysis and drawing. networkx is loaded by the first call."""

from typing import Any

from aag.graph.aau import Graph
from aag.graph.links import links, places
from aag.graph.tally import add_work, works


def to_networkx(graph: Graph, *, synchronized: bool = True) -> Any:
    """A `networkx.DiGraph` of the AAG, or of the SAAG with its communication edges.

    Nodes are the ids of the AAUs, with `class`, `line`, `label` and `counts` (operation class -> how often, all
    levels and branches once, overhead included). Edges have `kind`: contains, next or communication, or several of
    them joined by blanks where they connect the same two AAUs, and `label`: what is moved.
    """
    import networkx as nx

    view = nx.DiGraph()
    for place in places(graph):
        aau = place.aau
        whole = add_work(*(work for _, work in works(aau)))
        counts = dict(whole.computation)
        for name, number in whole.overhead:
            counts[name] = counts.get(name, 0.0) + number
        known_as = {"class": type(aau).__name__, "line": aau.span.line, "label": aau.label, "counts": counts}
        view.add_node(aau.id, **known_as)
    for link in links(graph, synchronized=synchronized):
        known = view.get_edge_data(link.source, link.target, {"kind": "", "label": ""})
        kinds = dict.fromkeys([*known["kind"].split(), link.kind])
        labels = dict.fromkeys(each for each in (*known["label"].split(", "), link.label) if each)
        view.add_edge(link.source, link.target, kind=" ".join(kinds), label=", ".join(labels))
    return view
