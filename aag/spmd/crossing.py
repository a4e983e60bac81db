"""In which iterations of a loop an exchange may move data, as far as the loop variable alone decides it."""

import numpy as np
from numpy.typing import NDArray

from aag.ir.evaluate import Environment, Unknown
from aag.ir.visitors import names_in
from aag.mapping.layout import Layout, Layouts
from aag.spmd.nodes import Exchange, Need, Reference
from aag.spmd.vector import Along, evaluate_vector

Bools = NDArray[np.bool_]


def may_move(operation: Exchange, layouts: Layouts, env: Environment, along: Along) -> Bools:
    """For each value of `along` (V,), whether an exchange may move anything. False where all that is read lives where
    it is used, as it lies at the same coordinates of the grid whatever the indices of the nest are."""
    moves = np.zeros(along.values.size, np.bool_)
    for need in operation.needs:
        try:
            moves |= _moves(need, layouts, env, along)
        except Unknown:
            return np.ones_like(moves)
    return moves


def _moves(need: Need, layouts: Layouts, env: Environment, along: Along) -> Bools:
    read, home = need.reference, need.home
    layout = layouts.arrays[read.array]
    moves = np.zeros(along.values.size, np.bool_)
    if home is None or layouts.arrays[home.array].grid.shape != layout.grid.shape:
        return ~moves
    there = layouts.arrays[home.array]
    for axis, mine in enumerate(layout.axes):
        if mine.role == "replicated":
            continue
        own, used = _coordinate(read, layout, axis, env, along), _coordinate(home, there, axis, env, along)
        if own is not None and used is not None:
            moves |= own != used
        elif mine != there.axes[axis] or mine.role != "dim" or read.subscripts[mine.dim] != home.subscripts[mine.dim]:
            return np.ones_like(moves)
    return moves


def _coordinate(
    reference: Reference, layout: Layout, axis: int, env: Environment, along: Along
) -> NDArray[np.int64] | int | None:
    """Where a reference lies on an axis of the grid, for each value or always; None: indices decide it, or it lies at
    all coordinates."""
    meaning = layout.axes[axis]
    if meaning.role == "fixed":
        return meaning.coordinate
    if meaning.role == "replicated":
        return None
    subscript = reference.subscripts[meaning.dim]
    if names_in(subscript) & {index.name for index in reference.indices}:
        return None
    return layout.owner_coordinate(axis, evaluate_vector(subscript, env, {along.name: along.values}))
