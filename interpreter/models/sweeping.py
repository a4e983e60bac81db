"""DO nests that every processor runs whole: their cache misses, charged when the outermost loop begins.

Operations are charged as the walk comes to them. Misses are those of all loops together (Def 17), as of a
parallel nest.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from aag.graph.aau import IterD, IterND, IterSync
from aag.ir.evaluate import Unknown
from aag.spmd.touches import AccessSweep
from aag.spmd.vector import TooLarge
from interpreter.models.misses import charge_sweep
from interpreter.remembered import remembered, values_of
from interpreter.state import Run

FOLLOWED = 10_000
"""Iterations of loops around sweeps that are walked one by one only because they touch other memory in each."""


class Followed(Struct, frozen=True):
    """Iterations walked for the sake of sweeps, and names whose values are not followed for want of more."""

    walks: int = 1
    lost: frozenset[str] = frozenset()


@remembered()
def _around(_: Run) -> list[Followed]:
    """What holds inside each loop that the walk is in, innermost last."""
    return [Followed()]


def followed_of(run: Run) -> Followed:
    """What holds for the loops around."""
    return _around(run)[-1]


@contextmanager
def following(run: Run, now: Followed) -> Iterator[None]:
    """What holds for the loops inside."""
    _around(run).append(now)
    try:
        yield
    finally:
        _around(run).pop()


def sweep(run: Run, aau: IterD | IterSync | IterND) -> None:
    """Charge the misses of a loop with all loops inside; tell what cannot be counted."""
    if run.machine.memory is None or not run.setting.memory:
        return
    for text, span in aau.unswept:
        run.books.assume("cache", text, span)
    for number, each in enumerate(aau.sweeps if isinstance(aau, IterD) else ()):
        assert isinstance(aau, IterD)
        if _charged(run, aau, str(number), each):
            continue
        near = [_charged(run, aau, f"{number}.{at}", one) for at, one in enumerate(each.instead)]
        for text, span in each.told:
            run.books.assume("cache", text, span)
        if not (near and all(near)):
            run.books.assume(
                "cache", "cache misses of this loop are not counted: the elements it accesses are unknown", aau.span
            )


def _charged(run: Run, aau: IterD, number: str, each: AccessSweep) -> bool:
    if each.uses & followed_of(run).lost:
        return False
    key = (f"sweep {number}", aau.id, values_of(tuple(sorted(each.uses)), run.env))
    try:
        trips = run.application.trips(each, run.env)
        charge_sweep(run, aau, each, key, lambda: trips)
    except (Unknown, TooLarge):
        return False
    return True
