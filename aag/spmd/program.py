"""The node program as a whole, and the compiler optimisations that can be switched off."""

from collections.abc import Mapping

from msgspec import Struct

from aag.diagnostics import Diagnostic
from aag.ir.units import Type, Unit
from aag.mapping.layout import Layouts
from aag.spmd.nodes import Node

OPTIMISATIONS = ("hoist", "coalesce", "redundant", "interchange", "invariant")
"""Names for ``--opt NAME=off`` (Def 9) that this compiler has: hoist communication out of loops, coalesce the
references to one array into one message, drop redundant messages, order loops for stride 1, and move loop-invariant
operations outwards."""


class Options(Struct, frozen=True, kw_only=True):
    """Which optimisations are off, and whether INDEPENDENT, NEW and REDUCTION are trusted without a check."""

    disabled: frozenset[str] = frozenset()
    trusts_directives: bool = False

    def on(self, name: str) -> bool:
        """Whether an optimisation is on."""
        return name not in self.disabled


class NodeProgram(Struct, frozen=True, kw_only=True, eq=False, weakref=True):
    """What every processor runs. `layouts` include those of temporaries; `types` those of all scalars and arrays.

    `notes` are assumptions and warnings of lowering; `complete` is False where something could not be modelled.
    """

    unit: Unit
    layouts: Layouts
    types: Mapping[str, Type]
    body: tuple[Node, ...]
    options: Options
    file: str
    lines: tuple[str, ...]
    notes: tuple[Diagnostic, ...]
    complete: bool
