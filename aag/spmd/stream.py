"""The references of a nest one by one, in the order of the emitted program, as one processor makes them.

`aag.spmd.access` says of each reference where it starts and how far each loop moves it. That is not enough where
references wrap around (CSHIFT), masks leave some out, bounds depend on outer indices, loops stand side by side, or
values go through a temporary under a mask. Here such nests are steps (`aag.spmd.course`), and the steps are enumerated:

    do j                Repeat(j)
      do i = j, n         Repeat(i)
        if (m) then         Given(m)
          b(i) = a(i, j)      Act(a(i, j)), Act(b(i), write)

Beyond a budget only some iterations of the outermost loop are enumerated. They stand for the others by their weight.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Element, Expr
from aag.ir.visitors import names_in
from aag.mapping.layout import Layout, Layouts
from aag.spmd.access import buffer_of, with_far
from aag.spmd.acts import COUNTER, MASK_SHARE, Act, Count, Given, Mine, Put, Repeat, Step, put_in, read_in
from aag.spmd.course import steps_of, temporaries
from aag.spmd.formulas import Known, mask_holds
from aag.spmd.local_parts import pitch_of
from aag.spmd.nodes import Nest, assigns_of
from aag.spmd.touches import AccessSweep
from aag.spmd.vector import Ints, TooLarge, evaluate_vector
from aag.spmd.wraps import is_shifted_off

MOST = 1 << 22
"""References that are enumerated at most, where even a few iterations of the outermost loop have many."""
THIN = 16
"""Iterations of the outermost loop from which the number of references is estimated."""
BLOCKS, FEWEST = 8, 3
"""Blocks of iterations that are enumerated where not all are, and at least."""
LARGE = 1 << 21
"""References that blocks of two iterations should not exceed together."""
LOGICAL_BYTES = 4

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Vectors = Mapping[str, NDArray[Any]]
"""Values of scalars in each execution: whole numbers, or numbers from 0 to 1 for one that is not followed."""
_WEIGHT = "$weight"
_ONCE = np.zeros(1, np.int64)


class Stream(Struct, frozen=True, eq=False):
    """T references in order of time: `storage` numbers the names of `arrays`, `offset` is in bytes from the begin of
    the local part, `weight` says for how many references each stands (None: for itself)."""

    arrays: tuple[str, ...]
    storage: NDArray[np.uint8]
    offset: Ints
    write: Bools
    source: NDArray[np.uint8]
    weight: Floats | None
    anywhere: tuple[str, ...] = ()
    """Arrays with subscripts that data decide: they are taken to be anywhere."""
    halved: bool = False
    """Whether a condition that data decide is taken to hold for half of the executions."""

    def nbytes(self) -> int:
        """Memory it holds."""
        own = self.storage.nbytes + self.offset.nbytes + self.write.nbytes + self.source.nbytes
        return own + (0 if self.weight is None else self.weight.nbytes)


# --- enumeration ----------------------------------------------------------------------------------------------------


class _Frame(Struct):
    """Executions of a body: which of the executions around holds each, and where in that one its references begin."""

    around: "_Frame | None"
    parent: Ints
    start: Ints
    begins: Ints | None = None

    def begin(self) -> Ints:
        """Where among all references those of each execution begin."""
        if self.begins is None:
            self.begins = self.start if self.around is None else self.start + self.around.begin()[self.parent]
        return self.begins


class _Piece(Struct):
    """The references that one step makes, one in each execution of a body, behind those of earlier steps: `before`
    of each execution, and `more` of all."""

    frame: _Frame
    before: Ints
    more: int
    storage: str
    at: Ints | tuple[Ints, ...]
    """Bytes, or in a buffer the subscripts."""
    write: bool
    source: int
    weight: Floats | None


def stream_of(
    nest: Nest,
    layouts: Layouts,
    env: Environment,
    rank: int,
    budget: int,
    known: Known | None = None,
    shares: Mapping[Expr, float] | None = None,
) -> Stream:
    """The references of a nest on a processor, about `budget` of them; `known`: values of data that masks read;
    `shares`: of the iterations for which conditions hold whose data are not known (default: half of them).

    Raises:
        Unknown: a bound has no value.
        TooLarge: there are too many even in a few iterations of the outermost loop.
    """
    steps = steps_of(nest, layouts)
    walk = _Enumeration(nest, layouts, env, rank, known or {}, shares or {})
    walk.read, walk.put = frozenset(read_in(steps)), frozenset(put_in(steps))
    if 2 * walk.at_most(steps) > budget:  # else an estimate could not exceed it by much
        walk.total = walk.estimated(steps)
        walk.sampled_by = max(1, -(-walk.total // budget))
    return walk.stream(steps)


class _Enumeration:
    """One processor's way through the steps."""

    def __init__(
        self, nest: Nest, layouts: Layouts, env: Environment, rank: int, known: Known, shares: Mapping[Expr, float]
    ) -> None:
        self.known, self.shares = known, shares
        self.halved = False
        self.drawn: set[int] = set()
        """Steps behind a condition of their chain that was drawn by lot."""
        self.nest, self.layouts, self.env = nest, layouts, env
        self.rank = np.array([rank], np.int64)
        self.whole = isinstance(nest, AccessSweep) and nest.home is None
        self.sampled_by = 1
        self.thin = self.total = 0
        self.anywhere: dict[str, None] = {}
        self.read: frozenset[str] = frozenset()
        self.put: frozenset[str] = frozenset()
        self.carried: dict[int, tuple[str, ...]] = {}
        self.element_bytes = 8
        stored = [each.target for each in assigns_of(nest) if isinstance(each.target, Element)]
        if stored and stored[0].name in layouts.arrays:
            self.element_bytes = layouts.arrays[stored[0].name].element_bytes
        self.temporaries = dict(zip(temporaries(nest), (self.element_bytes, LOGICAL_BYTES), strict=True))
        self.far = with_far(nest, layouts, list(layouts.arrays.values()))

    def at_most(self, steps: Sequence[Step]) -> float:
        """A number of references that is not exceeded: infinite where bounds depend on other loops."""
        total = 0.0
        for step in steps:
            match step:
                case Act():
                    total += 1
                case Given(body=body, otherwise=other):
                    total += max(self.at_most(body), self.at_most(other))
                case Mine(body=body):
                    total += self.at_most(body)
                case Repeat(index=index, body=body):
                    if index.reads & self.put:
                        return inf
                    _, _, inner, mine = self._repeated(step, {}, 1)
                    total += inner[index.name].size * self.at_most(mine)
        return total

    def estimated(self, steps: Sequence[Step]) -> int:
        """About how many references there are, from a few iterations of the outermost loop."""
        self.thin = THIN
        size, _ = self._body(steps, {}, _Frame(None, _ONCE, _ONCE))
        self.thin = 0
        return int(size[0])

    def stream(self, steps: Sequence[Step]) -> Stream:
        """All references, or those of the iterations looked at."""
        size, made = self._body(steps, {}, _Frame(None, _ONCE, _ONCE))
        total, pieces = int(size[0]), [each for each in made if each.before.size]
        names = tuple(dict.fromkeys(each.storage for each in pieces))
        boxes = _boxes(pieces)
        storage, source = np.empty(total, np.uint8), np.empty(total, np.uint8)
        offset, write = np.empty(total, np.int64), np.empty(total, np.bool_)
        weight = None if self.sampled_by == 1 else np.ones(total)
        sources = {number: at for at, number in enumerate(dict.fromkeys(self._sources(steps)))}
        for each in pieces:
            at = each.frame.begin() + (each.before + each.more)
            storage[at], source[at], write[at] = names.index(each.storage), sources[each.source], each.write
            offset[at] = self._in_buffer(each, boxes) if isinstance(each.at, tuple) else each.at
            if weight is not None and each.weight is not None:
                weight[at] = each.weight
        return Stream(names, storage, offset, write, source, weight, tuple(self.anywhere), self.halved)

    def _sources(self, steps: Sequence[Step]) -> Iterator[int]:
        for step in steps:
            match step:
                case Act(source=source):
                    yield source
                case Given(body=body, otherwise=other):
                    yield from self._sources((*body, *other))
                case Repeat(body=body) | Mine(body=body):
                    yield from self._sources(body)
                case _:
                    pass

    def _body(self, steps: Sequence[Step], vectors: Vectors, frame: _Frame) -> tuple[Ints, list[_Piece]]:
        """How many references each execution of the frame makes, and the references."""
        count = frame.parent.size
        size, more = np.zeros(count, np.int64), 0
        pieces: list[_Piece] = []
        vectors = dict(vectors)
        for step in steps:
            match step:
                case Act() if self._in_memory(step.element.name):
                    if not self.thin:
                        storage, at = self._storage(step, vectors, count)
                        weight = vectors.get(_WEIGHT)
                        pieces.append(_Piece(frame, size, more, storage, at, step.write, step.source, weight))
                    more += 1
                case Count():
                    vectors[COUNTER] = np.arange(count)
                case Put(name=name, value=value):
                    self._put(vectors, name, value, count)
                case Repeat():
                    scale, parent, inner, body = self._repeated(step, vectors, count)
                    size, more = self._inside(body, parent, inner, size + more, frame, pieces, scale), 0
                case Given():
                    holds = self._holds(step, vectors, count)
                    for body, where in ((step.body, holds), (step.otherwise, ~holds)):
                        if body:
                            parent = where.nonzero()[0]
                            inner = _taken(vectors, parent)
                            size, more = self._inside(body, parent, inner, size + more, frame, pieces), 0
                case Mine(body=body):
                    parent = self._mine(step, vectors, count).nonzero()[0]
                    size, more = self._inside(body, parent, _taken(vectors, parent), size + more, frame, pieces), 0
            if isinstance(step, Repeat | Given | Mine):
                for name in self._carried(step):
                    vectors[name] = self._draw(count, vectors)
        return size + more, pieces

    def _inside(
        self,
        body: Sequence[Step],
        parent: Ints,
        vectors: Vectors,
        size: Ints,
        frame: _Frame,
        pieces: list[_Piece],
        scale: float = 1.0,
    ) -> Ints:
        """Do what is inside, `parent` being the execution around each. Return how many references each execution of
        the frame, which has made `size`, has made after that."""
        inside = _Frame(frame, parent, parent)
        own, inner = self._body(body, vectors, inside)
        if scale != 1.0:
            return np.asarray(size + int(own.sum() * scale))
        total = np.bincount(parent, own, size.size).astype(np.int64)
        before = own.cumsum() - own
        inside.start = before + (size + total - total.cumsum())[parent]
        pieces += inner
        size = size + total
        if len(inner) and int(size.sum()) > MOST:
            raise TooLarge(f"it makes more than {MOST:,} references in a few iterations")
        return size

    def _carried(self, step: Step) -> Sequence[str]:
        """Scalars that get values in a step and are read outside the loops whose indices they are."""
        found = self.carried.get(id(step))
        if found is None:
            found = self.carried[id(step)] = tuple(name for name in put_in((step,)) if name in self.read)
        return found

    def _repeated(
        self, step: Repeat, vectors: Vectors, count: int
    ) -> tuple[float, Ints, dict[str, NDArray[Any]], Sequence[Step]]:
        """The iterations of a loop: how many more there are for each, whose they are, the values of indices, and what
        is done in each."""
        index, body = step.index, step.body
        drawn = {name: self._draw(count, vectors) for name in self._carried(step) if name != index.name}
        vectors = {**vectors, **drawn}
        lower, upper = (self._value(each, vectors) for each in (index.lower, index.upper))
        by = np.ones(1, np.int64) if index.step is None else self._value(index.step, vectors)
        if not by.all():
            raise Unknown(index.name, "its step is zero")
        each = np.maximum(0, (upper - lower + by) // by)
        trips = np.broadcast_to(each, (count,))
        total = int(trips.sum())
        if total > MOST:
            raise TooLarge(f"the loop over {index.name} has more than {MOST:,} iterations")
        weight, scale = None, 1.0
        if count == 1 and total > 1 and _WEIGHT not in vectors and (self.thin or self.sampled_by > 1):
            used = index.name in read_in(step.body)
            if self.thin:
                number = np.unique(np.linspace(0, total - 1, min(total, self.thin)).round().astype(np.int64))
                scale = total / number.size
            else:
                number, weight = _blocks(total, total // self.sampled_by, self._how_many(total) if used else 1)
            parent = np.zeros(number.size, np.int64)
        elif each.size == 1:
            number, body = self._own(body, index.name, lower + by * np.arange(each[0]), vectors)
            parent = np.repeat(np.arange(count), number.size)
            number = np.tile(number, count)
        else:
            parent = np.repeat(np.arange(count), trips)
            number = np.arange(total) - np.repeat(trips.cumsum() - trips, trips)
        inner = _taken(vectors, parent)
        inner[index.name] = _at(lower, parent) + _at(by, parent) * number
        if weight is not None:
            inner[_WEIGHT] = weight
        return scale, parent, inner, body

    def _own(self, body: tuple[Step, ...], name: str, values: Ints, vectors: Vectors) -> tuple[Ints, tuple[Step, ...]]:
        """Which of the values of an index are mine, and what is done for these: conditions on nothing but the index
        are asked once, not in each execution of the loop."""
        number = np.arange(values.size)
        while len(body) == 1 and isinstance(body[0], Mine) and body[0].subscript is not None:
            others = names_in(body[0].subscript) - {name}
            if others & vectors.keys() or others - self.env.keys() - self.layouts.arrays.keys():
                break  # loops around decide, too
            number = number[self._mine(body[0], {name: values[number]}, number.size)]
            body = body[0].body
        return number, body

    def _how_many(self, trips: int) -> int:
        """Blocks of iterations of a loop: fewer where already a few iterations make too many references."""
        return max(FEWEST, min(BLOCKS, LARGE * trips // (2 * max(1, self.total))))

    def _value(self, expr: Expr, vectors: Vectors) -> Ints:
        self._refuse_lost(expr, vectors)
        value = evaluate_vector(expr, self.env, vectors)
        return np.full(1, value, np.int64) if isinstance(value, int) else value

    def _refuse_lost(self, expr: Expr, vectors: Vectors) -> None:
        lost = _lost(expr, vectors)
        if lost:
            raise Unknown(lost[0], "esp does not follow its value")

    def _put(self, vectors: dict[str, NDArray[Any]], name: str, value: Expr, count: int) -> None:
        try:
            vectors[name] = np.broadcast_to(self._value(value, vectors), (count,))
        except Unknown:
            vectors[name] = self._draw(count, vectors)

    def _holds(self, step: Given, vectors: Vectors, count: int) -> Bools:
        """Where a mask holds. In a chain, what comes after a condition that is drawn by lot needs its whole mask."""
        behind = {id(each) for each in step.otherwise if isinstance(each, Given)}
        if id(step) in self.drawn:
            self.drawn |= behind
        if step.followed:
            with suppress(Unknown, TooLarge):
                self._refuse_lost(step.mask, vectors)
                followed = {name: each for name, each in vectors.items() if each.dtype == np.int64}
                test = step.mask if step.test is None or id(step) in self.drawn else step.test
                mask = mask_holds(test, self.known, self.env, {"": np.zeros(count, np.int64), **followed})
                return np.broadcast_to(mask, (count,))
        self.halved = self.halved or step.mask not in self.shares
        self.drawn |= behind
        return self._draw(count, vectors) < self.shares.get(step.mask, MASK_SHARE)

    def _draw(self, count: int, vectors: Vectors, salt: int = 0) -> Floats:
        """Numbers from 0 to 1 without visible pattern, the same for the same indices (SplitMix64's finalizer)."""
        mixed = np.full(count, salt, np.uint64)
        for name in sorted(vectors):
            each = vectors[name]
            if each.dtype == np.int64 and name != COUNTER:
                mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + each.astype(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (mixed ^ (mixed >> np.uint64(31))).astype(np.float64) / 2.0**64

    def _mine(self, step: Mine, vectors: Vectors, count: int) -> Bools:
        layout = self.layouts.arrays[step.array]
        here = layout.grid.coordinate_of(self.rank, step.axis)[0]
        if step.subscript is None:
            return np.full(count, layout.axes[step.axis].coordinate == here)
        owner = layout.owner_coordinate(step.axis, self._value(step.subscript, vectors))
        return np.broadcast_to(owner == here, (count,))

    # --- where elements lie ---------------------------------------------------------------------------------

    def _in_memory(self, name: str) -> bool:
        """Whether a reference to it is one to memory."""
        layout = self.layouts.arrays.get(name)
        return name in self.temporaries or (layout is not None and layout.rank > 0)

    def _storage(self, step: Act, vectors: Vectors, count: int) -> tuple[str, Ints | tuple[Ints, ...]]:
        """The storage of an element and where it lies there."""
        element = step.element
        layout = self.layouts.arrays.get(element.name)
        if layout is None:
            return element.name, vectors[COUNTER] * self.temporaries[element.name]
        subscripts = [
            self._subscript(element.name, each, dim, layout.bounds[dim], vectors, count)
            for dim, each in enumerate(element.subscripts)
        ]
        buffer = None if step.write or self.far is None else buffer_of(element, self.nest, self.far)
        if buffer is not None:
            return buffer, tuple(np.broadcast_to(each, (count,)) for each in subscripts)
        pitch = pitch_of(layout, self.rank, whole=self.whole)[0]
        at = np.zeros(count, np.int64)
        for dim, index in enumerate(subscripts):
            at = at + self._local(index, dim, layout) * pitch[dim]
        return element.name, at

    def _subscript(
        self, name: str, subscript: Expr, dim: int, bounds: tuple[int, int], vectors: Vectors, count: int
    ) -> Ints:
        """A subscript of an array in each execution; one that data decide is anywhere."""
        try:
            index = self._value(subscript, vectors)
        except Unknown:
            lost = _lost(subscript, vectors)
            low, high = bounds
            drawn = vectors[lost[0]] if lost else self._draw(count, vectors, salt=dim + 1)
            self.anywhere.setdefault(name)
            place: Ints = low + (drawn * max(1, high - low + 1)).astype(np.int64)
            return place
        inside: Ints = np.minimum(np.maximum(index, bounds[0]), bounds[1]) if is_shifted_off(subscript) else index
        return inside

    def _local(self, index: Ints, dim: int, layout: Layout) -> Ints:
        """The local position of a subscript (beyond the own block: in the overlap area)."""
        axis = layout.axis_of_dim(dim)
        if axis is None or self.whole:
            return index - layout.bounds[dim][0]
        distribution = layout.axes[axis].distribution
        if distribution is not None and distribution.kind == "block":
            here = layout.grid.coordinate_of(self.rank, axis)[0]
            return np.asarray(index - layout.held_interval(axis)[0][here], np.int64)
        return np.asarray(layout.local_index(dim, index), np.int64)

    def _in_buffer(self, piece: _Piece, boxes: Mapping[str, tuple[Ints, Ints]]) -> Ints:
        """Bytes from the begin of a buffer that is as large as what is read of it."""
        assert isinstance(piece.at, tuple)
        if not piece.before.size:  # a processor without a part of the loops reads no buffer
            return piece.before
        low, high = boxes[piece.storage]
        pitch = self.layouts.arrays[piece.storage.rpartition("$far")[0]].element_bytes
        at = np.zeros(piece.before.size, np.int64)
        for each, first, last in zip(piece.at, low, high, strict=True):
            at = at + (each - first) * pitch
            pitch *= int(last - first + 1)
        return at


def _lost(expr: Expr, vectors: Vectors) -> list[str]:
    """Scalars that are not followed: in the place of their values stand numbers from 0 to 1."""
    return [name for name in names_in(expr) if name in vectors and vectors[name].dtype != np.int64]


def _boxes(pieces: Sequence[_Piece]) -> dict[str, tuple[Ints, Ints]]:
    """The first and the last subscripts that are read of each buffer."""
    found: dict[str, tuple[Ints, Ints]] = {}
    for each in pieces:
        if isinstance(each.at, tuple):
            low, high = (np.array([side(part) for part in each.at]) for side in (np.min, np.max))
            one, other = found.get(each.storage, (low, high))
            found[each.storage] = np.minimum(one, low), np.maximum(other, high)
    return found


def _taken(vectors: Vectors, parent: Ints) -> dict[str, NDArray[Any]]:
    return {name: _at(each, parent) for name, each in vectors.items()}


def _at(values: Ints, parent: Ints) -> Ints:
    """The values of the executions around."""
    return values if values.size == 1 else values[parent]


def _blocks(count: int, taken: int, blocks: int) -> tuple[Ints, Floats]:
    """About `taken` of `count` iterations, and for how many each stands: the first ones, for themselves, and blocks in
    the middle of equal parts of the others, each for its part. The first half of a block fills the cache, and stands
    for none; of a single block nothing else does, as it follows on the first iterations."""
    half = max(1, taken // (2 * blocks + 1))
    if (2 * blocks + 1) * half >= count:
        return np.arange(count), np.ones(count)
    start = np.arange(half)
    if blocks == 1:
        return np.arange(2 * half), np.repeat([1.0, (count - half) / half], half)
    border = np.linspace(half, count, blocks + 1)
    middle = ((border[:-1] + border[1:] - half) / 2).round().astype(np.int64)
    number = (middle[:, None] + np.arange(-half, half)).reshape(-1)
    weight = np.zeros((blocks, 2 * half))
    weight[:, half:] = (np.diff(border) / half)[:, None]
    return np.concatenate([start, number]), np.concatenate([np.ones(half), weight.reshape(-1)])
