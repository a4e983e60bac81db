"""The kernels as nests, written by hand as the engine would lower them, and where their arrays lie."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from esp.validate.cachegrind import aliased
from interpreter.models.cache import Cache, CachedAccess, CachedNest, CacheState, interpret_nest

from .runner import GEOMETRY, MORE, Counted

CACHEGRIND = Cache(size_bytes=GEOMETRY.size_bytes, line_bytes=GEOMETRY.line_bytes, associativity=GEOMETRY.ways)
"""cachegrind replaces LRU and allocates on write misses."""
PADDING = 13
"""Numbers between two arrays in the padded variants: not a multiple of a line, nor of the sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kernel at a size, with its arrays directly behind each other or `padding` numbers apart."""

    kernel: str
    n: int
    padding: int

    @property
    def name(self) -> str:
        return f"{self.kernel}-{self.n}-{'padded' if self.padding else 'contiguous'}"

    @property
    def lengths(self) -> tuple[int, ...]:
        """Numbers in each array, in the order of the COMMON block."""
        n = self.n
        return {
            "lfk01": (n, n, n + 11),
            "lfk03": (n, n),
            "lfk09": (25 * n,),
            "lfk22": (n,) * 5,
            "lfk22+libm": (n,) * 5,
        }.get(self.kernel, (n * n,) * 2)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each array starts, in numbers of 8 bytes."""
        starts = np.cumsum([0, *(length + self.padding for length in self.lengths)])
        return tuple(int(start) for start in starts[:-1])

    @property
    def aliased(self) -> bool:
        """Whether more arrays than there are ways start within a line of each other modulo the sets."""
        return bool(aliased({str(offset): 8 * offset for offset in self.offsets}, GEOMETRY))

    @property
    def reused_bytes(self) -> tuple[int, ...]:
        """What must stay cached for reuse: that of a repetition, and for Jacobi the columns between two uses."""
        swept = 8 * 25 * self.n if self.kernel == "lfk09" else 8 * sum(self.lengths)
        return (swept, 8 * 4 * self.n) if self.kernel.startswith("jacobi") else (swept,)

    @property
    def in_band(self) -> bool:
        """Whether that is about the size of the cache."""
        return any(0.6 <= size / GEOMETRY.size_bytes <= 1.6 for size in self.reused_bytes)


def predict(case: Case, address: int) -> Counted:
    """Misses per repetition after the first, for a COMMON block at `address`."""
    nests = tuple(_nests(case, [address + 8 * offset for offset in case.offsets]))
    state = CacheState.cold(1)
    read = write = 0.0
    for repetition in range(1 + MORE):
        for nest in nests:
            misses, state = interpret_nest(nest, CACHEGRIND, state)
            if repetition:
                read += misses.read[0] / MORE
                write += misses.write[0] / MORE
    return Counted(read=read, write=write)


def _nests(case: Case, at: list[int]) -> Iterable[CachedNest]:
    n = case.n
    match case.kernel:
        case "lfk01":
            x, y, z = at
            yield _nest([n], [8], ("y", y), ("z", z + 80), ("z", z + 88), ("x=", x))
        case "lfk03":
            x, z = at
            yield _nest([n], [8], ("z", z), ("x", x))
        case "lfk09":
            rows = (13, 12, 11, 10, 9, 8, 7, 5, 6, 3)
            yield _nest([n], [200], *(("px", at[0] + 8 * (row - 1)) for row in rows), ("px=", at[0]))
        case "lfk22" | "lfk22+libm":
            u, v, w, x, y = at
            yield _nest([n], [8], ("u", u), ("v", v), ("y=", y), ("x", x), ("w=", w))
        case _:
            a, b = (start + 8 * (n + 1) for start in at)
            inner = [n - 2, n - 2], [8 * n, 8]
            yield _nest(*inner, ("a", a - 8), ("a", a + 8), ("a", a - 8 * n), ("a", a + 8 * n), ("b=", b))
            if case.kernel.endswith("copy"):
                yield _nest(*inner, ("b", b), ("a=", a))


def _nest(extents: list[int], strides: list[int], *references: tuple[str, int]) -> CachedNest:
    """A nest whose references all move together; a name that ends in = is written."""
    return CachedNest(
        extents=np.array([extents]),
        accesses=tuple(
            CachedAccess(
                array=name.rstrip("="),
                element_bytes=8,
                start=np.array([start]),
                strides=np.array([strides]),
                write=name.endswith("="),
            )
            for name, start in references
        ),
    )
