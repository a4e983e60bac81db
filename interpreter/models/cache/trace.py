"""Which iterations of a nest have to be looked at, so that the misses of all of them follow.

Two observations keep the cost independent of trip counts:

* References that step less than a line bring a new line only every few iterations; those between touch what is there
  already, unless more references than the cache has ways share a set (then every iteration is looked at).
* After the cache has filled, a nest whose references move on together misses the same in each iteration, as all its
  lines move to other sets by the same step. So a few iterations after that stand for the rest, and what is left in the
  cache moves on by the step of the iterations left out (in inner loops, those at the end are looked at instead). Where
  references move apart, four blocks of iterations stand for their surroundings; the first half of each block fills the
  cache, and in the later blocks it is not counted.
"""

from functools import lru_cache, reduce
from math import gcd, prod

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.distinct import distinct

FEW = 1 << 10
"""References that are all looked at in any case."""
BUDGET = 6 << 10
"""References looked at per nest and shape before iterations are left out."""


class Policy(Struct, frozen=True, kw_only=True):
    """The cache as the replay needs it; `random` replacement instead of LRU."""

    line_bytes: int
    sets: int
    ways: int
    write_allocate: bool
    random: bool

    @property
    def companions(self) -> int:
        """References that can move through a set beside another without throwing its line out."""
        return 0 if self.random else self.ways - 1


class TracedBody(Struct, frozen=True, kw_only=True):
    """The R references of a nest on one processor, in program order, loops outermost first."""

    start: NDArray[np.int64]
    """(R,) byte address when all loop counters are 0."""
    strides: NDArray[np.int64]
    """(R, D) bytes per step of each loop."""
    write: NDArray[np.bool_]
    fraction: NDArray[np.float64]
    """(R,) share of iterations that perform the reference."""
    around: NDArray[np.int64]
    """(R,) loops around the reference: D in the innermost."""
    after: NDArray[np.bool_]
    """(R,) whether one further out follows on the loop inside its own; else it comes before."""
    source: NDArray[np.int64]
    """(R,) number of the statement whose it is."""


class TracedNest(Struct, frozen=True, kw_only=True):
    """A nest on one processor; `extents` (D,) are its trip counts."""

    extents: NDArray[np.int64]
    body: TracedBody


class AddressTrace(Struct, frozen=True):
    """T references in order of time."""

    line: NDArray[np.int64]
    """Number of the line touched: byte address / line size."""
    write: NDArray[np.bool_]
    weight: NDArray[np.float64]
    """Number of lines for which this one stands."""
    charge: NDArray[np.float64]
    """Number of misses counted if this one misses: the same, but for writes without allocation that of the writes."""
    certain: NDArray[np.bool_] | None = None
    """None: all; False where most executions do not make the reference: it is asked for, but moves nothing."""
    source: NDArray[np.int64] | None = None
    """Number of the statement; None: there is only one."""
    moved: int = 0
    """Lines by which what is cached at the end still moves on: the nest ends that much later than the trace."""


NOTHING = AddressTrace(np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros(0), np.zeros(0))
"""No references."""


class Sample(Struct, frozen=True):
    """Iterations looked at of one loop."""

    index: NDArray[np.int64]
    weight: NDArray[np.float64]
    """Number of iterations for which each stands."""
    left_out: int = 0
    """Iterations at the end, behind the last one looked at."""


class Moves(Struct, frozen=True):
    """What of a shape decides which of its iterations have to be looked at."""

    extents: NDArray[np.int64]
    start: NDArray[np.int64]
    """(R,) bytes behind the first reference."""
    strides: NDArray[np.int64]
    write: NDArray[np.bool_]


Plan = tuple[int, list[Sample]]
"""In how many iterations of the innermost loop no reference passes over a line, and the iterations of all loops."""


def trace(shape: TracedNest, policy: Policy) -> AddressTrace:
    """The references of one execution of the nest to look at."""
    body = shape.body
    if not body.start.size or not shape.extents.all():
        return NOTHING
    step, samples = _plan(shape, policy, shortened=True)
    found = _look(shape, policy, step, samples)
    if samples and samples[0].left_out:
        if _turned_over(found, policy):
            moved = samples[0].left_out * int(body.strides[0, 0]) // policy.line_bytes
            return replace(found, moved=moved)
        return _look(shape, policy, *_plan(shape, policy, shortened=False))
    return found


def _plan(shape: TracedNest, policy: Policy, *, shortened: bool) -> Plan:
    """The iterations to look at. Where the nest starts does not matter to them, but how far apart its references do."""
    body = shape.body
    return _planned(
        shape.extents.tobytes(),
        (body.start - body.start[0]).tobytes(),
        body.strides.tobytes(),
        body.write.tobytes(),
        policy,
        shortened,
    )


@lru_cache(maxsize=256)
def _planned(extents: bytes, start: bytes, strides: bytes, write: bytes, policy: Policy, shortened: bool) -> Plan:
    """The same, kept: processors and loops alike ask it again and again."""
    moves = Moves(
        np.frombuffer(extents, np.int64),
        np.frombuffer(start, np.int64),
        np.frombuffer(strides, np.int64).reshape(len(write), -1),
        np.frombuffer(write, np.bool_),
    )
    step = _inner_step(moves, policy)
    return step, _samples(moves, policy, step, shortened=shortened)


def _look(shape: TracedNest, policy: Policy, step: int, samples: list[Sample]) -> AddressTrace:
    """The references of the iterations to look at."""
    body = shape.body
    address = body.start
    weight: NDArray[np.float64] = np.ones(())
    partial = [weight]
    for loop, sample in enumerate(samples):
        address = address[..., None, :] + sample.index[:, None] * body.strides[:, loop]
        weight = weight[..., None] * sample.weight
        partial.append(weight)
    line = _lines(address, policy.line_bytes)
    outside = (body.around < len(samples)).nonzero()[0]
    if step == 1 and not outside.size:
        return _every_reference(shape, policy, line, weight)
    kept = _kept(line, body) if step > 1 else np.ones(line.shape, np.bool_)
    _once(kept, body, outside)
    touch = kept.reshape(-1).nonzero()[0]
    iteration = touch // body.start.size
    reference = touch - iteration * body.start.size
    weight = weight.reshape(-1)
    write, weights, certain = body.write[reference], weight[iteration], None
    for number in outside:
        mine = (reference == number).nonzero()[0]
        own = partial[body.around[number]]
        weights[mine] = own.reshape(-1)[iteration[mine] // (weight.size // own.size)]
    if (body.fraction < 1.0).any():
        share = _touched_share(shape, policy.line_bytes)
        weights, certain = weights * share[reference], (share >= 0.5)[reference]
    charges = weights
    if not policy.write_allocate and write.any():
        charges = weights.copy()
        for number in body.write.nonzero()[0]:
            mine = (reference == number).nonzero()[0]
            if number in outside:
                charges[mine] *= min(1.0, body.fraction[number])
                continue
            when = iteration[mine]
            until = np.empty_like(when)
            np.subtract(when[1:], when[:-1], out=until[:-1])
            until[-1:] = weight.size - when[-1:]
            charges[mine] = weight[when] * until * min(1.0, body.fraction[number])
    source = body.source[reference] if body.source.any() else None
    return AddressTrace(line.reshape(-1)[touch], write, weights, charges, certain, source)


def _every_reference(
    shape: TracedNest, policy: Policy, line: NDArray[np.int64], weight: NDArray[np.float64]
) -> AddressTrace:
    """The lines (loops..., R) of iterations of some weight, where each of them counts."""
    body = shape.body
    weights, certain = np.broadcast_to(weight[..., None], line.shape).reshape(-1), None
    charges = weights
    if (body.fraction < 1.0).any():
        share = _touched_share(shape, policy.line_bytes)
        charges = weights = (weight[..., None] * share).reshape(-1)
        certain = np.broadcast_to(share >= 0.5, line.shape).reshape(-1)
        if not policy.write_allocate:
            charges = (weight[..., None] * np.where(body.write, np.minimum(1.0, body.fraction), share)).reshape(-1)
    source = np.broadcast_to(body.source, line.shape).reshape(-1) if body.source.any() else None
    return AddressTrace(
        line.reshape(-1), np.broadcast_to(body.write, line.shape).reshape(-1), weights, charges, certain, source
    )


def _once(kept: NDArray[np.bool_], body: TracedBody, outside: NDArray[np.intp]) -> None:
    """References outside the innermost loop (`outside`) are made in the first or last iteration of the loops inside
    their own."""
    inner = kept.ndim - 1
    for number in outside:
        around = int(body.around[number])
        kept[..., number] = False
        kept[(..., *(inner - around) * [-1 if body.after[number] else 0], number)] = True


def _turned_over(found: AddressTrace, policy: Policy) -> bool:
    """Whether the trace brings as many lines into each set as it holds, so that nothing older is left."""
    line = found.line
    if not policy.write_allocate or found.certain is not None:
        brings = ~found.write | np.bool_(policy.write_allocate)
        line = line[brings if found.certain is None else brings & found.certain]
    per_set = np.bincount(distinct(line) % policy.sets, minlength=policy.sets)
    return bool(per_set.min() >= policy.ways)


def _kept(line: NDArray[np.int64], body: TracedBody) -> NDArray[np.bool_]:
    """Which touches (loops..., R) matter: those that enter a line, and those of slower references beside them."""
    kept = np.ones(line.shape, np.bool_)
    np.not_equal(line[..., 1:, :], line[..., :-1, :], out=kept[..., 1:, :])
    speed = np.abs(body.strides[:, -1])
    slower = speed < speed.max()
    if slower.any():
        # One reference after the other: NumPy is slow at axes as short as theirs.
        entered = reduce(np.logical_or, np.moveaxis(kept, -1, 0))
        kept |= entered[..., None] & slower
    return kept


def _lines(address: NDArray[np.int64], line_bytes: int) -> NDArray[np.int64]:
    if line_bytes & (line_bytes - 1):
        return address // line_bytes
    return address >> (line_bytes.bit_length() - 1)


def _touched_share(shape: TracedNest, line_bytes: int) -> NDArray[np.float64]:
    """Share of its lines that a masked reference touches: a line offers it as many chances as it has elements."""
    fraction = shape.body.fraction
    if (fraction >= 1).all() or not shape.extents.size:
        return np.minimum(fraction, 1.0)
    own = np.maximum(shape.body.around - 1, 0)
    step = np.abs(shape.body.strides[np.arange(own.size), own])
    inner = shape.extents[own]
    chances = np.where(step > 0, np.maximum(1, line_bytes // np.maximum(step, 1)), inner)
    return 1.0 - (1.0 - np.minimum(fraction, 1.0)) ** np.minimum(chances, inner)


def _samples(moves: Moves, policy: Policy, step: int, *, shortened: bool) -> list[Sample]:
    """Iterations to look at of each loop, outermost first; `shortened`: the end of the outermost may be left out."""
    extents = [int(n) for n in moves.extents]
    strides = moves.strides
    counts = [*extents[:-1], *(-(-inner // step) for inner in extents[-1:])]
    together = bool((strides == strides[:1]).all())
    left = BUDGET if together else 2 * BUDGET
    plans: list[Sample] = []
    for loop, count in enumerate(counts):
        inside = moves.start.size * prod(counts[loop + 1 :])
        room = left // inside
        early = shortened and together and loop == 0 and count * inside > FEW
        if count <= room and not early:
            plans += [_every(n) for n in extents[loop:]]
            break
        stride, trips = strides[:, loop], extents[loop]
        fill = _iterations_to_fill(moves, loop, policy)
        period = _period(stride, policy.line_bytes)
        if early:
            plans.append(_start(trips, fill, period))
            if count <= room or plans[0].index.size * inside * count // trips <= left:
                plans += [_every(n) for n in extents[1:]]
                break
            left //= -(-plans[-1].index.size * count // trips)
            continue
        plans.append(
            _ends(trips, fill, period) if together else _blocks(trips, max(room * trips // count, 8 * fill), 4, period)
        )
        left //= -(-plans[-1].index.size * count // trips)
    return plans


def _iterations_to_fill(moves: Moves, loop: int, policy: Policy) -> int:
    """Iterations of a loop that bring in twice what the cache holds (4, if none brings anything new)."""
    loads = ~moves.write if not policy.write_allocate and not moves.write.all() else np.ones_like(moves.write)
    stride, inner = moves.strides[:, loop], np.abs(moves.strides[:, loop + 1 :])
    trips = moves.extents[loop + 1 :]
    reach = (inner * (trips - 1)).sum(axis=1) + policy.line_bytes
    touched = np.minimum(np.prod(np.where(inner > 0, trips, 1), axis=1), reach / policy.line_bytes)
    dense = (np.where(inner > 0, inner, policy.line_bytes) <= policy.line_bytes).any(axis=1)
    moved = np.abs(stride) / np.where(dense, reach, policy.line_bytes)
    fresh = touched * np.minimum(1.0, moved) * loads
    order = np.lexsort((moves.start, *moves.strides.T))
    follows = (np.diff(moves.strides[order], axis=0) == 0).all(axis=1) & (
        np.diff(moves.start[order]) <= 4 * np.abs(stride[order][1:])
    )
    leads = np.concatenate([[True], ~follows])
    lines = float(np.maximum.reduceat(fresh[order], np.flatnonzero(leads)).sum())
    wanted = 2 * policy.sets * policy.ways
    return max(2, int(np.ceil(wanted / lines))) if lines > 0 else 4


def _inner_step(moves: Moves, policy: Policy) -> int:
    """Iterations of the innermost loop in which no reference passes over a line; 1 if each has to be looked at."""
    if not moves.extents.size:
        return 1
    fastest = int(np.abs(moves.strides[:, -1]).max())
    step = policy.line_bytes // fastest if fastest else int(moves.extents[-1])
    if step <= 1:
        return 1
    apart = np.abs(moves.start[:, None] - moves.start)
    alike = (moves.strides[:, None, :] == moves.strides).all(axis=2)
    late = not policy.write_allocate and _fetched_late(moves, policy, apart, alike)
    return 1 if late or _crowded(moves, policy, apart, alike) else step


def _fetched_late(moves: Moves, policy: Policy, apart: NDArray[np.int64], alike: NDArray[np.bool_]) -> bool:
    """Whether a line may be brought in by a read after the first of its writes, which missed for want of allocation."""
    fetched = moves.write[:, None] & ~moves.write & alike & (apart < policy.line_bytes)
    if not fetched.any():
        return False
    before = np.tri(moves.start.size, dtype=np.bool_)
    return bool((fetched & ~(before & (apart == 0))).any())


def _crowded(moves: Moves, policy: Policy, apart: NDArray[np.int64], alike: NDArray[np.bool_]) -> bool:
    """Whether references that move through the same set at the same time throw out lines in use."""
    line_bytes, turn = policy.line_bytes, policy.sets * policy.line_bytes
    rivals = alike & (apart >= line_bytes)
    if not rivals.any():
        return False
    within = apart % turn
    rivals &= np.minimum(within, turn - within) < line_bytes
    if not policy.write_allocate:
        # A write holds no line, unless the nest reads the same lines.
        reach = (np.abs(moves.strides) * (moves.extents - 1)).sum(axis=1) + line_bytes
        holds = ~moves.write | (alike & ~moves.write & (apart <= reach)).any(axis=1)
        rivals &= holds & holds[:, None]
    if not rivals.any():
        return False
    return any(_streams(moves.start[row], line_bytes) > policy.companions for row in rivals if row.any())


def _streams(start: NDArray[np.int64], line_bytes: int) -> int:
    """Number of groups of references that are at least a line apart."""
    return 1 + int((np.diff(np.sort(start)) >= line_bytes).sum())


def _period(stride: NDArray[np.int64], line_bytes: int) -> int:
    """Iterations after which all references stand at the same place of their lines again."""
    return max(line_bytes // gcd(int(s), line_bytes) for s in stride)


@lru_cache(maxsize=256)
def _every(count: int) -> Sample:
    return Sample(np.arange(count), np.ones(count))


def _start(count: int, fill: int, period: int) -> Sample:
    """Iterations at the start, until each misses like the next."""
    tail = period * -(-4 // period)
    fill += (count - fill - tail) % period
    if fill + tail >= count:
        return _every(count)
    weight = np.concatenate([np.ones(fill), np.full(tail, (count - fill) / tail)])
    return Sample(np.arange(fill + tail), weight, left_out=count - fill - tail)


def _ends(count: int, fill: int, period: int) -> Sample:
    """Iterations at the start, until each misses like the next, and at the end, which leave their lines behind."""
    tail = period * -(-4 // period)
    if 2 * fill + tail >= count:
        return _every(count)
    weight = np.concatenate([np.ones(fill), np.full(tail, (count - fill) / tail), np.zeros(fill)])
    index = np.concatenate([np.arange(fill + tail), np.arange(count - fill, count)])
    return Sample(index, weight)


def _blocks(count: int, taken: int, blocks: int, period: int) -> Sample:
    """About `taken` of `count` iterations in `blocks` blocks; the second half of each stands for its surroundings."""
    half = taken // (2 * blocks)
    half -= half % period if half >= period else 0
    if taken >= count or half == 0:
        return _every(count)
    first = np.linspace(0, count - 2 * half, blocks).round().astype(np.int64)
    index = (first[:, None] + np.arange(2 * half)).reshape(-1)
    middle = first + half
    border = np.concatenate([[half], (first[:-1] + 2 * half + middle[1:]) / 2, [count]])
    weight = np.zeros((blocks, 2 * half))
    weight[0, :half] = 1.0
    weight[:, half:] = (np.diff(border) / half)[:, None]
    return Sample(index, weight.reshape(-1))
