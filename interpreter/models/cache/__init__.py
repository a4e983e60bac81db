"""The memory hierarchy: how many cache lines each processor misses in a loop nest, and what is cached after it.

The method is the heuristic of Parashar and Hariri ("Interpretive performance prediction for parallel application
development", section "Modeling access to the memory hierarchy"): a reference is still cached if little enough was
brought in since its last use. Where the paper keeps one miss counter for the program, this model keeps one for
each set of the cache, because addresses are known; that is what separates 3 (L - 256) misses from L in a sweep
that only partly fits. Figures are those of the whole nest (Def 17), and the contents go on to the next nest.

The model knows neither programs nor machines: `interpret_nest` turns a nest and the state of a cache into misses
and the next state, `interpret_levels` does so for several caches, `page_misses` turns a nest into missing translations.
`interpreter.models.misses` describes nests to it and charges what it counts. The files, in the order in which a nest
passes them:

| file     | idea                                                                                           |
| -------- | ---------------------------------------------------------------------------------------------- |
| `nests`  | the records; processors that see the same share one replay                                     |
| `listed` | nests whose references are given one by one, because they do not move evenly                   |
| `trace`  | a few iterations of each loop stand for the others                                             |
| `sets`   | references sorted by the set of the cache that they touch, direct repetitions left out         |
| `order`  | the references of all processors behind what was cached before; contents of caches             |
| `lru`    | least recently used replacement: which references find their line                              |
| `chance` | random replacement: how likely references find their line                                      |
| `replay` | counts misses and write-backs, and makes the contents after the nest                           |
| `pages`  | translations of pages (TLB), in closed form                                                    |
| `levels` | several caches, one behind the other                                                           |
"""

from interpreter.models.cache.levels import CacheStates, interpret_levels
from interpreter.models.cache.listed import ListedNest, interpret_listed
from interpreter.models.cache.nests import (
    MAX_CLASSES,
    Cache,
    CachedAccess,
    CachedNest,
    CacheState,
    Misses,
    Traces,
    interpret_even,
)
from interpreter.models.cache.pages import page_misses

__all__ = [
    "MAX_CLASSES",
    "CachedAccess",
    "Cache",
    "CacheState",
    "CacheStates",
    "ListedNest",
    "Misses",
    "CachedNest",
    "Traces",
    "interpret_levels",
    "interpret_nest",
    "page_misses",
]


def interpret_nest(
    nest: CachedNest | ListedNest, cache: Cache, state: CacheState, traces: Traces | None = None
) -> tuple[Misses, CacheState]:
    """Return the misses of one execution of `nest` on each processor, and what is cached after it.

    Args:
        nest: The loops and references, with arrays over the P processors.
        cache: Geometry and policy; the same for all nests of a program.
        state: What is cached before.
        traces: Memo of the references looked at on a cache of this geometry; it grows.

    Raises:
        ValueError: The state comes from a cache of another geometry or another number of processors.
    """
    if isinstance(nest, ListedNest):
        return interpret_listed(nest, cache, state)
    return interpret_even(nest, cache, state, traces)
