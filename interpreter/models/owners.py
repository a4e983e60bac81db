"""Loops whose iterations processors share: who runs them (owner-computes).

Where iterations are alike one of them is walked for all, and a processor pays for as much of it as it runs of all
iterations. Where they differ only the owner of each pays.
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
    def running(self, *, each: bool) -> Iterator[None]:
        """An iteration: in general, or (`each`) the one that the loop variable says."""
        run = self._run
        before = run.books.share
        if each:
            share = run.application.trips(self._single, run.env).count.astype(np.float64)
        else:
            share = run.application.trips(self._whole, run.env).count / max(1, self._count)
        run.books.share = share if before is None else before * share
        try:
            yield
        finally:
            run.books.share = before


@remembered(of_aau)
def _nests(_: Run, _aau: AAU, loop: DoNode, home: Reference) -> tuple[Nest, Nest]:
    """The iterations of a loop as a nest, and one of them."""
    names = names_in(*home.subscripts) | loop.uses
    whole = Nest(span=loop.span, indices=(loop.index,), home=home, assigns=(), uses=names - {loop.var})
    return whole, replace(whole, indices=(), home=replace(home, indices=()), uses=names)
