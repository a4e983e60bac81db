"""What a communication does once scalar values are known: phases of messages, or a collective call.

These are the values that `aag.spmd.communication.steps` computes for an `Operation` in an environment and that
the engine charges. Ranks are linear (column-major in the grid, Def 12).
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Phase(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of one direction: each rank is at most once a source and at most once a destination.

    In a phase every processor that has a partner sends, then receives (Def 7). `elements` > 0 for each message.
    `strided` (M,) each: whether what is sent does not lie contiguously where it comes from, and where it arrives; that
    is packed. None: everything lies contiguously.
    `bounded`: an upper bound, because the indices are coupled in too many combinations (D2).
    """

    source: Ints
    destination: Ints
    elements: Ints
    element_bytes: int
    name: str
    strided: tuple[Bools, Bools] | None = None
    bounded: bool = False


class CollectiveCall(Struct, frozen=True, kw_only=True, eq=False):
    """One collective in G disjoint groups at once.

    `kind`: broadcast, concatenation, transpose, gather, reduction, scan. `members` (G, p): the linear ranks of each
    group; the root is column `root[g]` (0 where the kind has none). `elements` (G, p): what each member
    contributes (broadcast: only the root's entry counts). `bounded`: as in `Phase`.
    """

    kind: str
    members: Ints
    root: Ints
    elements: Ints
    element_bytes: int
    name: str
    strided: tuple[Bools, Bools] | None = None
    """(G, p) each: whether what a member contributes is strided where it comes from, and where it arrives; None:
    nothing is."""
    bounded: bool = False


Step = Phase | CollectiveCall
