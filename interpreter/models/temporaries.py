"""Nests that read what they write, as the caches see them: all values go to temporaries first (`aag.spmd.course`)."""

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.spmd.course import temporaries
from aag.spmd.nodes import Nest
from interpreter.models.cache import CachedNest

Ints = NDArray[np.int64]

TEMPORARIES = 1 << 44
"""A pretended address, far from those that arrays have."""


def through_temporaries(shape: CachedNest, nest: Nest, addresses: Mapping[str, int]) -> tuple[CachedNest, CachedNest]:
    """A nest that reads what it writes: its values go to temporaries, and from there to their places in a sweep of
    their own. A temporary is as long as there are iterations, and the next execution finds it at the same address."""
    begin = addresses.get(temporaries(nest)[0], TEMPORARIES) if shape.addresses_known else TEMPORARIES
    inside = np.cumprod(shape.extents[:, :0:-1], axis=1, dtype=np.int64)[:, ::-1]
    apart = np.concatenate([inside, np.ones_like(shape.extents[:, :1])], axis=1)
    reads = tuple(each for each in shape.accesses if not each.write)
    writes = tuple(each for each in shape.accesses if each.write)
    filled = tuple(
        replace(
            each,
            array=f"{each.array}$copy",
            start=np.full_like(each.start, begin + (number << 40)),
            strides=each.element_bytes * (apart if each.depth is None else _outside(shape.extents, each.depth)),
        )
        for number, each in enumerate(writes)
    )
    return (
        replace(shape, accesses=(*reads, *filled)),
        replace(shape, accesses=(*(replace(each, write=False) for each in filled), *writes)),
    )


def _outside(extents: Ints, depth: int) -> Ints:
    """Elements by which a temporary moves with each loop, one for each iteration of the `depth` outer loops."""
    apart = np.zeros_like(extents)
    apart[:, :depth] = np.cumprod(
        np.concatenate([np.ones_like(extents[:, :1]), extents[:, depth - 1 : 0 : -1]], axis=1), axis=1
    )[:, ::-1]
    return apart
