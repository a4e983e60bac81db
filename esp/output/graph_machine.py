"""The graph of a machine (SAG) as DOT, GraphML or Mermaid; that of a program is exported by `aag.graph.export`."""

from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from aag.visible import escaped
from esp.inspect.drawing import path_name, refined, states
from esp.output.machines import machine_json
from sag.describe import describe
from sag.unit import System, SystemUnit

Edge = tuple[str, str, str]
"""Path of a unit, path of one below it, and the components of the first that the second refines."""


def export(system: System, fmt: str) -> str:
    """The graph in a format: dot, graphml, json (as `esp system show --json`) or mermaid."""
    return _WRITERS[fmt](system)


def _units(system: System) -> list[tuple[str, SystemUnit]]:
    return [(path_name(unit, path), unit) for path, unit in system.root.walk()]


def _edges(system: System) -> list[Edge]:
    return [
        (path_name(unit, path), path_name(child, (*path, child.name)), refined(unit, child))
        for path, unit in system.root.walk()
        for child in unit.children
    ]


def _dot(system: System) -> str:
    lines = ["digraph sag {", "  node [shape=box];"]
    for name, unit in _units(system):
        text = "\\n".join(map(_dot_text, (f"{unit.id} {unit.name}", unit.title, states(unit))))
        lines.append(f'  "{_dot_text(name)}" [label="{text}"];')
    lines += [
        f'  "{_dot_text(above)}" -> "{_dot_text(below)}" [label="{letters}"];'
        for above, below, letters in _edges(system)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(text: str) -> str:
    return escaped(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


_KEYS = (
    ("id", "node"),
    ("name", "node"),
    ("title", "node"),
    ("role", "node"),
    ("components", "node"),
    ("refines", "edge"),
)


def _graphml(system: System) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [f'  <key id="{name}" for="{owner}" attr.name="{name}" attr.type="string"/>' for name, owner in _KEYS]
    lines.append('  <graph id="sag" edgedefault="directed">')
    for name, unit in _units(system):
        told = {"id": unit.id, "name": unit.name, "title": unit.title, "role": unit.role, "components": states(unit)}
        data = "".join(f'<data key="{key}">{escape(value)}</data>' for key, value in told.items())
        lines.append(f"    <node id={quoteattr(name)}>{data}</node>")
    lines += [
        f"    <edge source={quoteattr(above)} target={quoteattr(below)}>"
        f'<data key="refines">{escape(letters)}</data></edge>'
        for above, below, letters in _edges(system)
    ]
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _mermaid(system: System) -> str:
    number = {name: f"u{at}" for at, (name, _) in enumerate(_units(system))}
    lines = ["flowchart TD"]
    for name, unit in _units(system):
        text = "<br/>".join(map(_mermaid_text, (f"{unit.id} {unit.name}", unit.title, states(unit))))
        lines.append(f'  {number[name]}["{text}"]')
    for above, below, letters in _edges(system):
        label = f'|"{letters}"|' if letters else ""
        lines.append(f"  {number[above]} -->{label} {number[below]}")
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Text inside quotes: what Mermaid or HTML would read otherwise becomes a numeric entity."""
    return "".join(f"#{ord(char)};" if char in '"#<>&;`\\' or char < " " else char for char in escaped(text))


def _json(system: System) -> str:
    return machine_json(describe(system))


_WRITERS: Mapping[str, Callable[[System], str]] = {"dot": _dot, "graphml": _graphml, "mermaid": _mermaid, "json": _json}
