"""The receive law: what a processor waits for, and how long a message keeps it (Def 6).

    sender    |--call--|======= transmission =======|            blocking: busy until the bytes have left
              s                                     a
    receiver        r |..waiting..|==transmission==|             arrives at a = s + t(m, h) if no link is busy

Formula: waiting = max(0, s - r) + time spent for links, transmission = rest of max(0, a - r).
Formula: T(Comm) = (1 - f) * t_comm, applied to the transmission part only.
Source: Parashar and Hariri, section 2.3; Def 6, Def 11.

The overlap factor f hides a fraction of each transmission behind computation: a transmission that would take x
takes (1 - f) x of its processor's time, once, also where a processor sends and receives at the same time.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Times = TypeVar("Times", Array, float)


def receive(
    gap: Times, reach: Times, delayed: Times | None, largest: Callable[..., Times] = np.maximum
) -> tuple[Times, Times, Times]:
    """Return how long processors wait, how long they receive, and both together.

    Args:
        gap: How long after its receive is called the send of each message is called.
        reach: How long after its send a message arrives on free links.
        delayed: The same on the links as they are; None: they are free.
        largest: The maximum; that of Python where times are single numbers.
    """
    waiting = largest(gap, 0.0)
    exposed = largest(gap + reach, 0.0)
    if delayed is None:
        return waiting, exposed - waiting, exposed
    kept = largest(gap + delayed, 0.0)
    return waiting + (kept - exposed), exposed - waiting, kept


def busy_time(call: Array, time: Array, f: Array | None) -> Array:
    """How long a blocking send keeps its processor."""
    return time if f is None else call + (1.0 - f) * (time - call)


def arrival_time(call: Times, time: Times, f: Times, early: Times, largest: Callable[..., Times] = np.maximum) -> Times:
    """How long after its send a message reaches its receiver, if a fraction f of its transmission is hidden.

    `early`: how long after the end of the call overhead the receiver came to this communication. What had passed of
    the transmission by then was not the receiver's time and is not shortened, so that a receiver that was there
    first pays (1 - f) of all of it, one that comes later (1 - f) of the rest, and one that sends at the same time
    pays for the two transmissions once:

        call + (1 - f) * (time - call) + f * max(0, early)

    A message that waits for links is later as a whole: the wait adds to `call` and `time` and is taken from `early`.
    It is never shortened, but a receiver that comes after it pays nothing for it.
    """
    return call + (1.0 - f) * (time - call) + f * largest(early, 0.0)
