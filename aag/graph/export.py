"""The application graph as text, DOT, GraphML, JSON or Mermaid; the same graph gives the same bytes.

The JSON document has these fields (lines count from 1, ids from 0 in program order; a missing value is null):

    format      "esp-graph", version 1
    graph       "aag", or "saag" where there are communication edges
    critical    names of scalars whose values decide the flow
    aaus        list of {id, class, label, file, line, parent, branch, uses, defines, work}
                    parent: id of the AAU around it
                    branch: in which branch of a conditional it is, from 1; 0: in none
                    work: list of {of, computation, overhead}: `of` names the loop level, the test or "once"; the other
                    two map operation classes to how often one execution does them
    links       list of {source, target, kind, label}; kind is contains, next or communication
    edges       list of {comm, source, target, array, pattern}: AAU `source` produces what `comm` moves for `target`
"""

import json
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from xml.sax.saxutils import escape, quoteattr

from aag.graph import aau as g
from aag.graph.links import Link, LinkPlace, links, places
from aag.graph.tally import works
from aag.visible import escaped

_WIDTH = 100
_SHAPES = {"Comm": "parallelogram", "SyncSeq": "parallelogram", "Start": "oval", "End": "oval"}
_STYLES = {
    "next": "",
    "contains": "style=dotted, arrowhead=odiamond",
    "communication": 'style=dashed, color="blue", constraint=false',
}
_ARROWS = {"next": "-->", "contains": "-.->", "communication": "==>"}


def export(graph: g.Graph, fmt: str) -> str:
    """The graph in a format: text, dot, graphml, json or mermaid.

    Raises:
        ValueError: there is no such format.
    """
    if fmt not in FORMATS:
        raise ValueError(f"export: no format {fmt!r}; there are {', '.join(FORMATS)}")
    return _WRITERS[fmt](graph)


# --- text -------------------------------------------------------------------------------------------------------


def _text(graph: g.Graph) -> str:
    """A tree: id, class, line and label of each AAU, its work below it; then the communication edges."""
    digits = len(str(max(0, graph.count - 1)))
    lines: list[str] = []
    branch: tuple[int | None, int] = (None, 0)
    for place in places(graph):
        here = (place.parent, place.branch)
        if place.branch and here != branch:
            lines.append(" " * (digits + 2 * place.depth) + f"branch {place.branch}")
        branch = here
        lines += _tree_lines(place, digits)
    if graph.edges:
        lines += ["", "communication: producer -> through -> consumer"]
        lines += [f"  {_edge_text(edge)}" for edge in graph.edges]
    return "\n".join(lines) + "\n"


def _tree_lines(place: LinkPlace, digits: int) -> Iterator[str]:
    aau = place.aau
    indent = "  " * place.depth
    name = type(aau).__name__
    head = f"{aau.id:{digits}} {indent}{name:<9}{aau.span.line:>5}  "
    label = wrap(aau.label, max(20, _WIDTH - len(head))) or [""]
    yield (head + label[0]).rstrip()
    yield from (" " * len(head) + each for each in label[1:])
    margin = " " * (digits + 3 + len(indent))
    for of, work in works(aau):
        for counts, kind in ((work.computation, ""), (work.overhead, " overhead")):
            if counts:
                text = ", ".join(f"{number:g} {operation}" for operation, number in counts)
                yield from wrap(f"{of + kind}: {text}", _WIDTH, initial_indent=margin, subsequent_indent=margin + "  ")


def _edge_text(edge: g.CommEdge) -> str:
    source = "?" if edge.source is None else str(edge.source)
    return f"{source} -> {edge.comm} -> {edge.target}  {edge.pattern} {edge.array}"


# --- json -------------------------------------------------------------------------------------------------------


def _json(graph: g.Graph) -> str:
    document = {
        "format": "esp-graph",
        "version": 1,
        "graph": "saag" if graph.edges else "aag",
        "critical": sorted(graph.critical),
        "aaus": [_json_aau(place) for place in places(graph)],
        "links": [
            {"source": each.source, "target": each.target, "kind": each.kind, "label": each.label}
            for each in links(graph)
        ],
        "edges": [
            {
                "comm": each.comm,
                "source": each.source,
                "target": each.target,
                "array": each.array,
                "pattern": each.pattern,
            }
            for each in graph.edges
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _json_aau(place: LinkPlace) -> Mapping[str, object]:
    aau = place.aau
    return {
        "id": aau.id,
        "class": type(aau).__name__,
        "label": aau.label,
        "file": aau.span.file,
        "line": aau.span.line,
        "parent": place.parent,
        "branch": place.branch,
        "uses": sorted(aau.uses),
        "defines": sorted(aau.defines),
        "work": [
            {"of": of, "computation": dict(work.computation), "overhead": dict(work.overhead)}
            for of, work in works(aau)
            if work.computation or work.overhead
        ],
    }


# --- dot --------------------------------------------------------------------------------------------------------


def _dot(graph: g.Graph) -> str:
    """A digraph; communication edges are dashed and blue."""
    lines = ["digraph aag {", "  node [shape=box];"]
    for place in places(graph):
        aau = place.aau
        name = type(aau).__name__
        shape = f", shape={_SHAPES[name]}" if name in _SHAPES else ""
        text = _dot_text(f"{aau.id} {name}, line {aau.span.line}") + "\\n" + _dot_text(aau.label)
        lines.append(f'  a{aau.id} [label="{text}"{shape}];')
    for link in links(graph):
        label = f'label="{_dot_text(link.label)}"' if link.label else ""
        attributes = ", ".join(each for each in (label, _STYLES[link.kind]) if each)
        lines.append(f"  a{link.source} -> a{link.target}" + (f" [{attributes}];" if attributes else ";"))
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(text: str) -> str:
    return escaped(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


# --- graphml ----------------------------------------------------------------------------------------------------

_KEYS = (
    ("class", "node", "string"),
    ("line", "node", "int"),
    ("label", "node", "string"),
    ("work", "node", "string"),
    ("kind", "edge", "string"),
    ("what", "edge", "string"),
)


def _graphml(graph: g.Graph) -> str:
    """GraphML: nodes with class, line, label and work (as text), edges with kind and what they move."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [
        f'  <key id="{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>' for name, owner, kind in _KEYS
    ]
    lines.append('  <graph id="aag" edgedefault="directed">')
    for place in places(graph):
        lines += _graphml_node(place.aau)
    for number, link in enumerate(links(graph)):
        lines += _graphml_edge(number, link)
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _graphml_node(aau: g.AAU) -> Iterator[str]:
    spelled = "; ".join(
        f"{of}: " + ", ".join(f"{number:g} {name}" for name, number in (*work.computation, *work.overhead))
        for of, work in works(aau)
        if work.computation or work.overhead
    )
    values = {"class": type(aau).__name__, "line": str(aau.span.line), "label": aau.label, "work": spelled}
    yield f"    <node id={quoteattr(f'a{aau.id}')}>"
    yield from _data(values)
    yield "    </node>"


def _graphml_edge(number: int, link: Link) -> Iterator[str]:
    yield f'    <edge id="e{number}" source="a{link.source}" target="a{link.target}">'
    yield from _data({"kind": link.kind, "what": link.label})
    yield "    </edge>"


def _data(values: Mapping[str, str]) -> Iterator[str]:
    return (f"      <data key={quoteattr(key)}>{escape(value)}</data>" for key, value in values.items() if value)


# --- mermaid ----------------------------------------------------------------------------------------------------


def _mermaid(graph: g.Graph) -> str:
    """A flowchart; containment is dotted, communication is thick."""
    lines = ["flowchart TD"]
    for place in places(graph):
        aau = place.aau
        head = f"{aau.id} {type(aau).__name__}, line {aau.span.line}"
        lines.append(f'  a{aau.id}["{_mermaid_text(head)}<br/>{_mermaid_text(aau.label)}"]')
    for link in links(graph):
        label = f'|"{_mermaid_text(link.label)}"|' if link.label else ""
        lines.append(f"  a{link.source} {_ARROWS[link.kind]}{label} a{link.target}")
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Text inside quotes: what Mermaid or HTML would read otherwise becomes a numeric entity."""
    return "".join(f"#{ord(char)};" if char in '"#<>&;`\\' or char < " " else char for char in escaped(text))


_WRITERS: Mapping[str, Callable[[g.Graph], str]] = {
    "text": _text,
    "dot": _dot,
    "graphml": _graphml,
    "json": _json,
    "mermaid": _mermaid,
}

FORMATS = tuple(_WRITERS)
"""The names that `export` knows."""
