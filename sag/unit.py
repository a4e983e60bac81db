"""System Abstraction Units (SAU): the nodes of the System Abstraction Graph, which is a tree.

Source: Parashar and Hariri, section 2.1: a unit exports its performance through four components, each simple
(figures), compound (refined by child units) or void (does not apply at this level).
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from sag.errors import NOWHERE, MachinePlace
from sag.joint import JointFit

CERTAINTIES = ("quoted", "cited", "estimated", "measured")
"""How sure a figure is: read in its source, taken from the named source without re-reading it, reasoned, or
measured for this description."""

ROLES = ("group", "node", "network", "link", "host")
"""What a unit is: a node, the interconnect, the link to the host, the host, or a group of units."""

COMPONENTS = ("processor", "memory", "network", "io")
"""P, M, C/S and I/O under the names that machine files use."""

LETTERS: Mapping[str, str] = {"processor": "P", "memory": "M", "network": "C/S", "io": "I/O"}
"""The paper's names of the components."""


class Figure(Struct, frozen=True, kw_only=True):
    """One number of a machine, in SI units of its `dimension`."""

    value: float
    dimension: str
    text: str
    source: str
    certainty: str
    span: tuple[float, float] | None = None
    """Its range: between which values it lies with 90 % (Def 19); None: none is given."""
    group: str = ""
    """Figures of one group move together, from the low ends of their ranges to the high ones."""
    remark: str = ""
    place: MachinePlace = NOWHERE

    @property
    def estimated(self) -> bool:
        """Whether it is no more than a reasoned guess."""
        return self.certainty == "estimated"

    @property
    def spread(self) -> tuple[float, float] | None:
        """Its range, that of a cited figure without one +-10 % (Def 19); None: it is taken to be sure."""
        if self.span is None and self.certainty == "cited" and self.value > 0:
            return 0.9 * self.value, 1.1 * self.value
        return self.span


class Choice(Struct, frozen=True, kw_only=True):
    """One property of a machine that is a word: an algorithm, a policy, a switch (``true`` or ``false``)."""

    value: str
    allowed: tuple[str, ...]
    source: str
    certainty: str
    remark: str = ""
    place: MachinePlace = NOWHERE

    @property
    def text(self) -> str:
        """As written."""
        return self.value

    @property
    def estimated(self) -> bool:
        """Whether it is no more than a reasoned guess."""
        return self.certainty == "estimated"


Parameter: TypeAlias = Figure | Choice


class Simple(Struct, frozen=True):
    """A component given by figures; keys are dotted (``r8.add``, ``long.startup``)."""

    figures: Mapping[str, Parameter]


class Compound(Struct, frozen=True):
    """A component refined by the components of these children."""

    units: tuple[str, ...]


class Void(Struct, frozen=True):
    """A component that does not apply at this level."""


VOID = Void()

Component: TypeAlias = Simple | Compound | Void


class SystemUnit(Struct, frozen=True, kw_only=True):
    """One SAU. `id` is the paper's number (``SAU-11``), `name` what paths call it (``cube``)."""

    id: str
    name: str
    title: str
    role: str
    components: Mapping[str, Component]
    children: tuple["SystemUnit", ...] = ()

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], "SystemUnit"]]:
        """This unit and all below it, each with the names that lead to it (the root's name is left out)."""
        yield path, self
        for child in self.children:
            yield from child.walk((*path, child.name))


class System(Struct, frozen=True, kw_only=True):
    """A machine as described: its SAG and what concerns the whole."""

    name: str
    title: str
    root: SystemUnit
    default_processors: int
    largest_built: int
    sources: Mapping[str, str]
    notes: tuple[str, ...]
    compiler: Mapping[str, Parameter]
    """Optimisation -> yes, no or undecided, for those of which the file says something."""
    fit: JointFit | None
    """How groups of figures vary together, where they come from one fit."""
    file: str

    def find(self, role: str) -> tuple[str, SystemUnit] | None:
        """The path and the unit of a role; None where the description has no such unit."""
        for path, unit in self.root.walk():
            if unit.role == role:
                return ".".join(path), unit
        return None

    def parameters(self) -> Mapping[str, Parameter]:
        """Every parameter under its path, in the order of the file.

        A path is unit.component.key; the component is left out where it is the only simple one of its unit:
        ``cube.network.long.startup``, ``cube.node.processor.r8.add``.
        """
        found: dict[str, Parameter] = {}
        for path, unit in self.root.walk():
            for component, content in unit.components.items():
                if isinstance(content, Simple):
                    prefix = ".".join((*path, *component_path(unit, component)))
                    for key, value in content.figures.items():
                        found[f"{prefix}.{key}" if prefix else key] = value
        return found


def component_path(unit: SystemUnit, component: str) -> tuple[str, ...]:
    """The part of a path that names the component: nothing where the unit has no other simple one."""
    simple = [name for name, content in unit.components.items() if isinstance(content, Simple)]
    return () if simple == [component] else (component,)
