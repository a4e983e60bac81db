"""A machine as plain data for showing: units, components, figures, sources. Nothing here prints."""

from collections.abc import Mapping

from msgspec import Struct

from sag.unit import COMPONENTS, LETTERS, Compound, Figure, Parameter, Simple, System, SystemUnit, component_path


class FigureView(Struct, frozen=True, kw_only=True):
    """One row: its path, what the file says, and why to believe it."""

    path: str
    key: str
    text: str
    value: float | str
    """In SI units; a word where the figure is a choice."""
    unit: str
    """SI unit of `value` as in `SI`, empty for plain numbers and words."""
    source: str
    """Key into `SystemView.sources`."""
    certainty: str
    remark: str
    range: tuple[float, float] | None = None
    """The ends of its range in SI units, of a cited figure without one +-10 % (Def 19)."""
    group: str = ""
    """Figures of one group move together."""


class ComponentView(Struct, frozen=True, kw_only=True):
    """P, M, C/S or I/O of a unit: ``simple`` (figures), ``compound`` (refined by units below) or ``void``."""

    name: str
    letter: str
    state: str
    refined_by: tuple[str, ...]
    figures: tuple[FigureView, ...]


class UnitView(Struct, frozen=True, kw_only=True):
    """One SAU with its four components, always in the order P, M, C/S, I/O."""

    id: str
    name: str
    path: str
    title: str
    role: str
    components: tuple[ComponentView, ...]
    children: tuple["UnitView", ...]


class SystemView(Struct, frozen=True, kw_only=True):
    """A whole machine."""

    name: str
    title: str
    file: str
    default_processors: int
    largest_built: int
    root: UnitView
    sources: Mapping[str, str]
    certainties: Mapping[str, int]
    """How many figures have each certainty."""
    notes: tuple[str, ...]
    compiler: tuple[FigureView, ...]
    """What the compiler does; its paths are names of optimisations."""


SI: Mapping[str, str] = {
    "time": "s",
    "per_byte": "s/B",
    "size": "B",
    "bandwidth": "B/s",
    "frequency": "Hz",
    "rate": "flop/s",
}
"""Dimension -> the unit in which its figures are kept."""


def describe(system: System) -> SystemView:
    """The machine, ready to be shown or written as JSON."""
    counts: dict[str, int] = {}
    for parameter in system.parameters().values():
        counts[parameter.certainty] = counts.get(parameter.certainty, 0) + 1
    return SystemView(
        name=system.name,
        title=system.title,
        file=system.file,
        default_processors=system.default_processors,
        largest_built=system.largest_built,
        root=_unit(system.root, ()),
        sources=system.sources,
        certainties=counts,
        notes=system.notes,
        compiler=tuple(_figure(name, name, each) for name, each in system.compiler.items()),
    )


def _unit(unit: SystemUnit, path: tuple[str, ...]) -> UnitView:
    return UnitView(
        id=unit.id,
        name=unit.name,
        path=".".join(path),
        title=unit.title,
        role=unit.role,
        components=tuple(_component(unit, name, path) for name in COMPONENTS),
        children=tuple(_unit(child, (*path, child.name)) for child in unit.children),
    )


def _component(unit: SystemUnit, name: str, path: tuple[str, ...]) -> ComponentView:
    content = unit.components[name]
    figures: tuple[FigureView, ...] = ()
    if isinstance(content, Simple):
        prefix = (*path, *component_path(unit, name))
        figures = tuple(_figure(".".join((*prefix, key)), key, each) for key, each in content.figures.items())
    return ComponentView(
        name=name,
        letter=LETTERS[name],
        state=type(content).__name__.lower(),
        refined_by=content.units if isinstance(content, Compound) else (),
        figures=figures,
    )


def _figure(path: str, key: str, parameter: Parameter) -> FigureView:
    return FigureView(
        path=path,
        key=key,
        text=parameter.text,
        value=parameter.value,
        unit=SI.get(parameter.dimension, "") if isinstance(parameter, Figure) else "",
        source=parameter.source,
        certainty=parameter.certainty,
        remark=parameter.remark,
        range=parameter.spread if isinstance(parameter, Figure) else None,
        group=parameter.group if isinstance(parameter, Figure) else "",
    )
