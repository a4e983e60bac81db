"""Misses of nests whose references are known one by one (`aag.spmd.stream`), in the order in which they are made.

`nests` counts those of nests that move evenly, from a few of their iterations. Both hand on the same cache contents.
"""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from aag.spmd.stream import Stream
from interpreter.models.cache.nests import (
    Cache,
    CacheState,
    Misses,
    by_first_appearance,
    fit,
    places_of,
    policy_of,
    replayed,
)
from interpreter.models.cache.sets import Sorted, by_set
from interpreter.models.cache.trace import AddressTrace, Policy


class ListedNest(Struct, frozen=True, kw_only=True, eq=False):
    """A nest with its references on each class of processors; processors may share a stream."""

    streams: tuple[Stream, ...]
    addresses: Mapping[str, int]
    """Where arrays begin; those not among them are at unknown addresses."""
    sources: int
    """Number of statements whose misses are to be told apart."""

    @property
    def nbytes(self) -> int:
        """Memory it holds."""
        return sum(each.nbytes() for each in {id(each): each for each in self.streams}.values())


def interpret_listed(nest: ListedNest, cache: Cache, state: CacheState) -> tuple[Misses, CacheState]:
    """Misses of one execution on each processor, and what is cached after it.

    Raises:
        ValueError: The state comes from a cache of another geometry or another number of processors.
    """
    state = fit(state, len(nest.streams), cache)
    names = [name for each in nest.streams for name in each.arrays if name not in nest.addresses]
    places = places_of((*state.arrays, *names), cache)
    first: dict[int, int] = {}
    number = np.array([first.setdefault(id(each), at) for at, each in enumerate(nest.streams)], np.int64)
    met = (state.class_of * len(nest.streams) + number).astype(np.uint64)
    class_of, leader = by_first_appearance(met)
    policy = policy_of(cache)
    met_in = number[leader].tolist()
    traces = {at: _sorted(nest.streams[at], {**places, **nest.addresses}, policy) for at in set(met_in)}
    counts, after = replayed(
        [traces[at] for at in met_in], policy, state.contents.take(state.class_of[leader]), nest.sources
    )
    label, first_of = by_first_appearance(after.fingerprint())
    read, write, writeback = counts.T[:3].take(class_of, axis=1)
    misses = Misses(read, write, writeback, counts[class_of, 3:] if nest.sources > 1 else None)
    return misses, replace(
        state, class_of=label[class_of].astype(np.int32), contents=after.take(first_of), arrays=tuple(places)
    )


def _sorted(stream: Stream, places: Mapping[str, int], policy: Policy) -> Sorted | None:
    """The references of a stream as the sets of the cache see them; None: there are none."""
    if not stream.offset.size:
        return None
    base = np.array([places[name] for name in stream.arrays], np.int64)
    line = (stream.offset + base[stream.storage]) // policy.line_bytes
    weight = np.ones(line.size) if stream.weight is None else stream.weight
    source = stream.source.astype(np.int64) if stream.source.any() else None
    return by_set(AddressTrace(line, stream.write, weight, weight, None, source), policy)
