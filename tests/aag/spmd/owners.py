"""Who owns what, found the slow way: one element and one processor after the other."""

from itertools import product

import numpy as np


def coordinates(rank, shape):
    """The coordinates of a linear rank; the first varies fastest (Def 12)."""
    found = []
    for extent in shape:
        found.append(rank % extent)
        rank //= extent
    return tuple(found)


def rank_of(coords, shape):
    rank, stride = 0, 1
    for at, extent in zip(coords, shape, strict=True):
        rank += at * stride
        stride *= extent
    return rank


def cell_owner(distribution, cell):
    """BLOCK(b) and CYCLIC(b) deal blocks of b cells in turn; GEN_BLOCK gives each coordinate a block of its own size.
    Beyond the cells the ends count."""
    if distribution.sizes:
        left = cell - distribution.lower
        for coordinate, size in enumerate(distribution.sizes):
            if left < size:
                return coordinate
            left -= size
        return len(distribution.sizes) - 1
    return (cell - distribution.lower) // distribution.block % distribution.procs


class Ownership:
    """All elements of one array, numbered in Fortran's order.

    `owned` (P, E): whether a rank holds an element. `source` (P, E): who sends an element to a rank (Def 8: the
    owner with the receiver's coordinates in replicated dimensions).
    """

    def __init__(self, layout):
        self.layout = layout
        self.shape = layout.grid.shape
        self.procs = int(np.prod(self.shape)) if self.shape else 1
        self.coords = [coordinates(rank, self.shape) for rank in range(self.procs)]
        self.lower = [lower for lower, _ in layout.bounds]
        self.extents = [max(0, upper - lower + 1) for lower, upper in layout.bounds]
        every = [range(lower, upper + 1) for lower, upper in reversed(layout.bounds)]
        self.elements = [subscripts[::-1] for subscripts in product(*every)]
        size = len(self.elements)
        self.owned = np.zeros((self.procs, size), dtype=bool)
        self.source = np.zeros((self.procs, size), dtype=np.int64)
        for at, subscripts in enumerate(self.elements):
            place = self.place(subscripts)
            for rank, coords in enumerate(self.coords):
                owner = tuple(c if p is None else p for c, p in zip(coords, place, strict=True))
                self.owned[rank, at] = owner == coords
                self.source[rank, at] = rank_of(owner, self.shape)

    def place(self, subscripts):
        """The coordinate of an element on each axis of the grid; None where every coordinate has it."""
        found = []
        for axis in self.layout.axes:
            if axis.role == "replicated":
                found.append(None)
            elif axis.role == "fixed":
                found.append(cell_owner(axis.distribution, axis.offset))
            else:
                found.append(cell_owner(axis.distribution, axis.stride * subscripts[axis.dim] + axis.offset))
        return tuple(found)

    def number(self, subscripts):
        """Element numbers of subscript vectors, and which of them lie inside the array."""
        columns = [np.asarray(each) for each in subscripts]
        code = np.zeros(np.broadcast_shapes(*(each.shape for each in columns)) if columns else (), dtype=np.int64)
        inside = np.ones(code.shape, dtype=bool)
        stride = 1
        for column, lower, extent in zip(columns, self.lower, self.extents, strict=True):
            inside = inside & (column >= lower) & (column < lower + extent)
            code = code + (column - lower) * stride
            stride *= extent
        return np.where(inside, code, 0), inside

    def gathered_at(self, special):
        """(P, E): where an element that a rank needs is before a collective along the `special` axes."""
        place = np.empty((self.procs, len(self.elements)), dtype=np.int64)
        for at, subscripts in enumerate(self.elements):
            owner = self.place(subscripts)
            for rank, coords in enumerate(self.coords):
                there = [(owner[axis] or 0) if axis in special else coords[axis] for axis in range(len(self.shape))]
                place[rank, at] = rank_of(there, self.shape)
        return place
