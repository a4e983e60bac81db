"""The node program as a whole, and the compiler optimisations that can be switched off."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from aag.diagnostics import Diagnostic, Span
from aag.ir.units import Type, Unit
from aag.mapping.layout import Layouts
from aag.spmd.nodes import Node

OPTIMISATIONS = (
    "hoist",
    "coalesce",
    "redundant",
    "reductions",
    "remaps",
    "interchange",
    "invariant",
    "masks",
    "strength",
    "library",
    "pack",
)
"""Names for optimisations (Def 9) that this compiler has: hoist communication out of loops, coalesce the
references to one array into one message, drop redundant messages, recognise reductions in DO loops without
REDUCTION, leave out remappings of values that are not needed or still there, order loops for stride 1, move
loop-invariant operations outwards, test masks in outer loops, and step addresses by induction variables (strength
reduction). Two cost time: calling a run-time library for reductions, which knows no array but by its descriptor, and
packing contiguous sections, too."""

ON_REQUEST = frozenset(("masks", "strength", "library", "pack"))
"""Those that are off unless the compiler of the machine has them, or the user asks for them."""


class Options(Struct, frozen=True, kw_only=True):
    """Which optimisations are off, which of `ON_REQUEST` are on, and whether INDEPENDENT, NEW and REDUCTION are trusted
    without a check."""

    disabled: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()
    trusts_directives: bool = False

    def on(self, name: str) -> bool:
        """Whether an optimisation is on."""
        return name in self.enabled or (name not in self.disabled and name not in ON_REQUEST)


class LoopFinding(Struct, frozen=True, kw_only=True):
    """How one DO loop of the source runs, and why not in parallel.

    ``parallel``: each processor runs its own iterations; ``in turn``: the owners run theirs one after the other;
    ``alone``: inside an iteration that one processor runs by itself; ``everywhere``: every processor runs all of it.
    `nest`: the line of the outermost loop that was divided with it.
    """

    span: Span
    var: str
    runs: Literal["parallel", "in turn", "alone", "everywhere"]
    nest: int
    home: str = ""
    """Whose owner runs an iteration."""
    why: str = ""


class NodeProgram(Struct, frozen=True, kw_only=True, eq=False, weakref=True):
    """What every processor runs. `layouts` include those of temporaries; `types` those of all scalars and arrays.

    `notes` are assumptions of lowering; `complete` is False where something could not be modelled. `loops`: how the DO
    loops of the source run.
    """

    unit: Unit
    layouts: Layouts
    types: Mapping[str, Type]
    body: tuple[Node, ...]
    options: Options
    file: str
    lines: tuple[str, ...]
    others: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """The lines of the other files, by file and number."""
    notes: tuple[Diagnostic, ...]
    warnings: tuple[Diagnostic, ...] = ()
    """Mistakes of the program that leave it predictable."""
    complete: bool
    loops: tuple[LoopFinding, ...] = ()
