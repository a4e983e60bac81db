"""Several caches, one behind the other.

Each is asked for every reference, as if it were alone. A larger cache then misses less than a nearer one, as it does in
a machine, where it sees only what the nearer one misses: those references are the ones that decide, but for the age of
lines that the nearer cache keeps finding (`tests/truth/test_cache_levels.py` compares both).
"""

from collections.abc import Sequence

from msgspec import Struct

from interpreter.models.cache.listed import ListedNest, interpret_listed
from interpreter.models.cache.nests import Cache, CachedNest, CacheState, Misses, Traces, interpret_even


class CacheStates(Struct, frozen=True, eq=False):
    """What is cached after the nests so far, in each cache, the nearest first."""

    each: tuple[CacheState, ...]

    @staticmethod
    def cold(procs: int, caches: int) -> "CacheStates":
        """Nothing cached on any of `procs` processors."""
        return CacheStates((CacheState.cold(procs),) * caches)

    def nbytes(self) -> int:
        """Memory they hold."""
        return sum(state.nbytes() for state in self.each)

    def same_as(self, other: "CacheStates") -> bool:
        """Whether every nest behaves from here as it does from `other`."""
        return all(one is two or one.same_as(two) for one, two in zip(self.each, other.each, strict=True))


def interpret_levels(
    nest: CachedNest | ListedNest, caches: Sequence[Cache], states: CacheStates, traces: dict[Cache, Traces]
) -> tuple[tuple[Misses, ...], CacheStates]:
    """Return what one execution of `nest` misses in each cache on each processor, and what is cached after it.

    Args:
        nest: The loops and references, with arrays over the P processors.
        caches: Geometry and policy of each, the nearest first; the same for all nests of a program.
        states: What is cached before.
        traces: Memo of the references looked at on caches of these geometries; it grows.

    Raises:
        ValueError: The states come from caches of another geometry or another number of processors.
    """
    found = [
        interpret_listed(nest, cache, state)
        if isinstance(nest, ListedNest)
        else interpret_even(nest, cache, state, traces.setdefault(cache, {}))
        for cache, state in zip(caches, states.each, strict=True)
    ]
    return tuple(misses for misses, _ in found), CacheStates(tuple(after for _, after in found))
