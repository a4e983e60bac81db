"""The engine's questions about a node program, answered by `aag`."""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from aag.ir.evaluate import Environment, Value
from aag.spmd.access import ArrayAccess, accesses
from aag.spmd.communication import combine_call, steps
from aag.spmd.nodes import Combine, Nest, Operation, OwnedLoop
from aag.spmd.partition import Segments, Trips, segments, shape_classes, trips
from aag.spmd.program import NodeProgram
from aag.spmd.steps import CollectiveCall, Step

Ints = NDArray[np.int64]


class Lowered(Struct, frozen=True):
    """`Services` of a node program."""

    program: NodeProgram
    known: list[tuple[Ints, Ints]] = field(default_factory=list)
    """The answer of `classes`, once it was asked for."""

    @property
    def procs(self) -> int:
        """P."""
        return self.program.layouts.procs

    @property
    def grid(self) -> tuple[int, ...]:
        """Extents of the first processor grid; P processors in a row where it is scalar."""
        return self.program.layouts.grid.shape or (self.procs,)

    @property
    def constants(self) -> Mapping[str, Value]:
        """PARAMETER values."""
        return self.program.layouts.constants

    def trips(self, nest: Nest, env: Environment) -> Trips:
        """Iterations of each processor."""
        return trips(nest, self.program.layouts, env)

    def segments(self, owned: OwnedLoop, env: Environment) -> Segments:
        """Runs of an owned loop."""
        return segments(owned, self.program.layouts, env)

    def classes(self) -> tuple[Ints, Ints]:
        """Processors with equal local shapes."""
        if not self.known:
            found = shape_classes(self.program.layouts)
            self.known.append((found.class_of, found.representative))
        return self.known[0]

    def accesses(self, nest: Nest, env: Environment) -> tuple[ArrayAccess, ...]:
        """Array references of a nest on the representatives of the classes."""
        return accesses(nest, self.program.layouts, env, self.classes()[1])

    def steps(self, operation: Operation, env: Environment) -> tuple[Step, ...]:
        """What a communication does."""
        return steps(operation, self.program.layouts, env)

    def combine_call(self, combine: Combine, env: Environment) -> CollectiveCall | None:
        """The global half of a reduction."""
        return combine_call(combine, self.program.layouts, env)

    def bytes_held(self) -> Ints:
        """Bytes of data that each processor holds."""
        total = np.zeros(self.procs, np.int64)
        for layout in self.program.layouts.arrays.values():
            total += layout.bytes_held()
        return total
