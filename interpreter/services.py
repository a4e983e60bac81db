"""What the engine asks of the application's side, behind one protocol so that a test can answer by hand.

`interpreter.lowered` asks `aag` about a node program. All answers depend on the environment only through the names
that a node uses; the engine caches on their values.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aag.ir.evaluate import Environment, Value
from aag.spmd.access import Touch
from aag.spmd.nodes import Combine, Nest, Operation, OwnedLoop
from aag.spmd.steps import CollectiveCall, Phase, Step
from aag.spmd.stream import Stream
from interpreter.kept import Kept

Ints = NDArray[np.int64]


class TripsLike(Protocol):
    """Iterations of a nest: `level` (P, D) in total at each level, `count` (P,) of the innermost."""

    @property
    def level(self) -> Ints:
        """(P, D) iterations at each level."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether the numbers are an upper bound (D2)."""
        ...

    @property
    def count(self) -> Ints:
        """Innermost executions (P,), or iterations of each run (R,)."""
        ...

    @property
    def masked(self) -> Ints | None:
        """(P,) those whose mask holds; None: not known."""
        ...

    def extents_of(self, ranks: Ints) -> Ints:
        """Trip counts (C, D) of each loop on some processors."""
        ...


class SegmentsLike(Protocol):
    """Runs of an owned loop: `owner` and `count` (R,), `messages` before each, `iterations` of the whole loop."""

    @property
    def owner(self) -> Ints:
        """(R,) ranks."""
        ...

    @property
    def count(self) -> Ints:
        """Innermost executions (P,), or iterations of each run (R,)."""
        ...

    @property
    def messages(self) -> tuple[Phase | None, ...]:
        """What must have arrived before each run."""
        ...

    @property
    def iterations(self) -> int:
        """Of the whole loop."""
        ...


class AccessLike(Protocol):
    """One array reference of a nest, addresses (C,) and strides (C, D) in the local part of the array, or in the buffer
    for what comes from afar."""

    @property
    def array(self) -> str:
        """Whose storage it is: the name of the array, or one for the buffer."""
        ...

    @property
    def element_bytes(self) -> int:
        """Size of an element."""
        ...

    @property
    def start_bytes(self) -> Ints:
        """(C,) offset of the first access."""
        ...

    @property
    def strides_bytes(self) -> Ints:
        """(C, D) step of each loop."""
        ...

    @property
    def write(self) -> bool:
        """Whether it is written."""
        ...

    @property
    def touch(self) -> Touch:
        """Which reference it is."""
        ...


class Services(Protocol):
    """Questions about a lowered program on P processors. Each raises `Unknown` where a value is missing."""

    @property
    def procs(self) -> int:
        """P."""
        ...

    @property
    def grid(self) -> tuple[int, ...]:
        """Extents of the first processor grid (Def 13, 14)."""
        ...

    @property
    def constants(self) -> Mapping[str, Value]:
        """PARAMETER values."""
        ...

    @property
    def kept(self) -> Kept:
        """Answers about the program that outlive an interpretation."""
        ...

    def expect(self, name: str, values: Sequence[int]) -> None:
        """A loop is about to give a scalar these values, one after the other; it depends on them what it does."""
        ...

    def trips(self, nest: Nest, env: Environment) -> TripsLike:
        """Iterations of each processor."""
        ...

    def segments(self, owned: OwnedLoop, env: Environment) -> SegmentsLike:
        """Runs of an owned loop."""
        ...

    def classes(self) -> tuple[Ints, Ints]:
        """Processors with equal local shapes: class of each (P,), and one rank of each class (C,)."""
        ...

    def accesses(self, nest: Nest, env: Environment) -> Sequence[AccessLike]:
        """Array references of a nest, as one processor of each class makes them."""
        ...

    def streams(self, nest: Nest, env: Environment, ranks: Ints, budget: int) -> Sequence[Stream]:
        """The references of a nest one by one, about `budget` of them, as each of some processors makes them."""
        ...

    def steps(self, operation: Operation, env: Environment) -> tuple[Step, ...]:
        """What a communication does; empty: nothing to move."""
        ...

    def combine_call(self, combine: Combine, env: Environment) -> CollectiveCall | None:
        """The global half of a reduction; None: no other processor takes part."""
        ...

    def bytes_held(self) -> Ints:
        """Bytes of data that each processor holds, (P,)."""
        ...
