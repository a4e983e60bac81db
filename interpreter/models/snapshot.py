"""The state between two iterations of a loop, and when two of them are alike: clocks, links, messages, caches.

What an iteration does is a function of the state at its start, and that function commutes with moving all times.
"""

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.events import Window
from interpreter.metrics import Ledger
from interpreter.reduce import all_of, every, largest, least
from interpreter.state import Equatable, Recorder, Run

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

ROUNDING = 256 * np.finfo(np.float64).eps


class Snapshot(Struct, eq=False):
    """The state at the end of an iteration, and what the iteration cost and decided."""

    clock: Array
    links: Array | None
    """(S, 2, 2 (L + 1)) when they are free, and when they were taken (`Network.times`)."""
    under_way: tuple[Array, ...]
    """Of each scenario, the messages under way, from its earliest clock (`Window.under_way`). Empty: no window."""
    window: tuple[Window | None, int]
    """The latest operations, and how many messages they have."""
    cache: Equatable | None
    values: tuple[object, ...]
    ledger: Ledger | None
    decisions: Recorder | None

    def nbytes(self) -> int:
        """Memory it holds."""
        return (
            self.clock.nbytes
            + (0 if self.links is None else self.links.nbytes)
            + (0 if self.ledger is None else self.ledger.nbytes())
            + (0 if self.decisions is None else self.decisions.nbytes())
        )


def take(
    run: Run, base: Array, values: tuple[object, ...], ledger: Ledger | None = None, decisions: Recorder | None = None
) -> Snapshot:
    """The state now, with times from an origin (S, 1)."""
    window = run.network.window
    under_way = () if window is None else window.under_way(least(run.clock) + run.origin[:, 0])
    sent = (window, 0 if window is None else len(window.aaus))
    return Snapshot(*times_of(run, base), under_way, sent, run.cache, values, ledger, decisions)


def times_of(run: Run, base: Array) -> tuple[Array, Array | None]:
    """Clocks and links from an origin (S, 1), as copies."""
    since = run.origin - base
    return run.clock + since, run.network.times(since)


def noise_of(clock: Array) -> Array:
    """(S,) differences of times up to which they are equal."""
    return ROUNDING * np.maximum(largest(clock), -least(clock))


def same_inside(now: Snapshot, then: Snapshot) -> bool:
    """Whether caches and scalars are the same."""
    if now.values != then.values:
        return False
    if now.cache is None or then.cache is None or now.cache is then.cache:
        return now.cache is then.cache
    return now.cache.same_as(then.cache)


def links_used(now: Array, then: Array) -> Bools:
    """(S, 1, 2 (L + 1)) links that some message took in the latest period."""
    used: Bools = np.isfinite(now[:, :1]) & (now[:, :1] != then[:, :1])
    return used


def links_moved(late: Array, early: Array, clock: Array, drifting: Bools) -> Array:
    """How far the times of a link move in a period in which it is used: as the clocks, where all of them move alike."""
    own = np.where(np.isfinite(early), late - np.where(np.isfinite(early), early, 0.0), 0.0)
    return np.where(drifting[:, None, None], own, clock[:, :1, None])


def links_steady(now: Array | None, then: Array | None, before: Array | None, noise: Array) -> Bools:
    """(S,) whether every link moved by the same in two periods, or was not used in the latest."""
    if now is None or then is None or before is None:
        return np.full(noise.size, now is None)
    with np.errstate(invalid="ignore"):
        same = np.abs(now - 2.0 * then + before) <= noise[:, None, None]
    return every((same | ~links_used(now, then)).reshape(noise.size, -1))


def links_moved_alike(now: Snapshot, then: Snapshot, moved: Array, noise: Array) -> Bools:
    """(S,) whether every link moved as the clocks did, or has long been free."""
    if now.links is None or then.links is None:
        return np.full(noise.size, now.links is None)
    with np.errstate(invalid="ignore"):
        alike = np.abs(now.links - then.links - moved[:, :1, None]) <= noise[:, None, None]
    free = [each.links[:, 0] <= least(each.clock)[:, None] for each in (now, then) if each.links is not None]
    return every(alike.all(axis=1) | (free[0] & free[1]))


def same_under_way(now: Snapshot, then: Snapshot, noise: Array) -> Bools:
    """(S,) whether messages are under way as they were."""
    if not now.under_way and not then.under_way:
        return np.ones(noise.size, np.bool_)
    none = (np.empty((0, 4)),) * noise.size
    pairs = zip(now.under_way or none, then.under_way or none, noise.tolist(), strict=True)
    return np.array([one.shape == other.shape and all_of(np.abs(one - other) <= eps) for one, other, eps in pairs])


def nothing_sent(snapshots: Iterable[Snapshot]) -> bool:
    """Whether no message is sent between these moments. Those that are under way then arrive when they do, wherever
    clocks are."""
    (window, messages), *others = (each.window for each in snapshots)
    return all(other is window and number == messages for other, number in others)


def nothing_under_way(snapshots: Iterable[Snapshot]) -> Bools | bool:
    """(S,) whether at none of these moments messages are under way."""
    listed = [np.array([not each.size for each in one.under_way]) for one in snapshots if one.under_way]
    return np.logical_and.reduce(listed) if listed else True
