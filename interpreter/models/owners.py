"""Loops whose iterations processors share: who runs them (owner-computes).

Where the loop variable decides what an iteration does, each is walked, and only its owner pays. Else a few are walked
for all, and a processor pays for as much of them as it runs of all iterations: an iteration waits for nobody, so times
add up.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import AAU
from aag.ir.visitors import names_in
from aag.spmd.nodes import DoNode, Nest, Reference
from interpreter.remembered import of_aau, remembered
from interpreter.state import Run

Array = NDArray[np.float64]


class Owners:
    """The owners of the iterations of a loop."""

    def __init__(self, run: Run, aau: AAU, loop: DoNode, home: Reference, count: int) -> None:
        self._run = run
        self._count = count
        self._whole, self._single = _nests(run, aau, loop, home)

    @contextmanager
    def running(self, times: float | None) -> Iterator[None]:
        """An iteration that stands for so many; None: for the one that the loop variable says."""
        books, application, env = self._run.books, self._run.application, self._run.env
        before = books.share, books.times
        share: Array
        if times is None:
            share = application.trips(self._single, env).count.astype(np.float64)
        else:
            share = application.trips(self._whole, env).count.astype(np.float64) * (times / max(1, self._count))
            books.times *= times
        books.share = share if before[0] is None else before[0] * share
        try:
            yield
        finally:
            books.share, books.times = before


def samples(count: int) -> tuple[tuple[int, float], ...]:
    """Iterations that stand for all: the first, which finds the caches cold, the second, one in the middle and the
    last; each with how many it stands for."""
    if count <= 4:
        return tuple((number, 1.0) for number in range(count))
    between = (count - 2) / 2
    return (0, 1.0), (1, between), (count // 2, between), (count - 1, 1.0)


@remembered(of_aau)
def _nests(_: Run, _aau: AAU, loop: DoNode, home: Reference) -> tuple[Nest, Nest]:
    """The iterations of a loop as a nest, and one of them."""
    names = names_in(*home.subscripts) | loop.uses
    whole = Nest(span=loop.span, indices=(loop.index,), home=home, assigns=(), uses=names - {loop.var})
    return whole, replace(whole, indices=(), home=replace(home, indices=()), uses=names)
