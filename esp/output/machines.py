"""Machines as text: the list, and one machine with its units, figures and their sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from esp.output.columns import Column, TableRow, table
from esp.output.json import text_of
from esp.output.numbers import count, plural
from esp.output.screen import Screen, flow, paragraph, shorten
from sag.describe import ComponentView, FigureView, SystemView, UnitView


class MachineRow(Struct, frozen=True, kw_only=True):
    """A machine of the list. `fault`: why it cannot be read, where it cannot."""

    name: str
    title: str
    processors: int
    fault: str = ""


def machine_list(machines: Iterable[MachineRow], default: str, screen: Screen) -> str:
    """One line a machine. `default`: the one that is taken if none is named."""
    columns = [Column("name", "<"), Column("procs"), Column("what it is", "<")]
    rows = [TableRow((each.name, count(each.processors), each.fault or each.title)) for each in machines]
    note = paragraph("procs", f"without --procs; {default} is the machine without --system", screen.columns)
    return f"{table(columns, rows, screen, flexible=True)}\n\n{note}\n"


def machine(view: SystemView, screen: Screen) -> str:
    """All units of a machine with their figures; the paths are those of ``--system-set``."""
    head = flow([view.name, view.title], screen.columns, "  ", "  ")
    sizes = f"{plural(view.default_processors, 'processor')} by default, {view.largest_built:,} at most"
    sure = ", ".join(f"{number} {name}" for name, number in sorted(view.certainties.items()))
    blocks = [screen.paint("strong", head) + f"\n{sizes}\nfigures: {sure}"]
    if view.compiler:
        head = screen.paint("strong", "compiler: what it does to a program (--opt NAME=on|off overrides it)")
        blocks.append(f"{head}\n{_figures(view.compiler, 'transformation', screen)}")
    blocks += [_unit(unit, depth, screen) for depth, unit in _walk(view.root, 0)]
    blocks.append("\n".join(paragraph(key, text, screen.columns, 12) for key, text in view.sources.items()))
    if view.notes:
        blocks.append("\n".join(paragraph("note", each, screen.columns) for each in view.notes))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _walk(unit: UnitView, depth: int) -> Iterator[tuple[int, UnitView]]:
    yield depth, unit
    for child in unit.children:
        yield from _walk(child, depth + 1)


def _unit(unit: UnitView, depth: int, screen: Screen) -> str:
    states = "  ".join(f"{each.letter} {_state(each)}" for each in unit.components)
    lines = [screen.paint("strong", f"{'  ' * depth}{unit.id} {unit.name}: {unit.title}")]
    lines.append(f"{'  ' * depth}  {states}")
    figures = [each for component in unit.components for each in component.figures]
    if figures:
        lines.append(_figures(figures, "parameter", screen))
    return "\n".join(lines)


def _figures(figures: Sequence[FigureView], what: str, screen: Screen) -> str:
    rows = [
        TableRow((f"  {each.path}", each.text, each.certainty, shorten(f"{each.source} {each.remark}".strip(), 400)))
        for each in figures
    ]
    columns = [Column(f"  {what}", "<"), Column("value"), Column("certainty", "<"), Column("source", "<")]
    return table(columns, rows, screen, flexible=True)


def _state(component: ComponentView) -> str:
    if component.state == "compound":
        return f"of {', '.join(component.refined_by)}"
    return plural(len(component.figures), "figure") if component.state == "simple" else "none"


def machine_json(view: SystemView) -> str:
    """The same as JSON."""
    told: dict[str, Any] = _data(view)
    return text_of(told)


def figure_rows(unit: UnitView) -> Iterator[dict[str, object]]:
    """One row for each figure of a unit and of those inside of it."""
    for component in unit.components:
        for each in component.figures:
            yield {"sau": unit.id, "component": component.letter, **_data(each)}
    for child in unit.children:
        yield from figure_rows(child)


def _data(value: Any) -> Any:
    if isinstance(value, Struct):
        return {each.name: _data(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: _data(each) for name, each in value.items()}
    return [_data(each) for each in value] if isinstance(value, tuple) else value
