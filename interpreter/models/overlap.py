"""Overlap of communication and computation: a fraction f of each transmission is hidden.

Formula: T(Comm) = (1 - f) * t_comm, applied to the transmission part only (Def 6).
Source: Parashar and Hariri, section 2.3.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def busy_time(call: Array, time: Array, f: Array | None) -> Array:
    """How long a blocking send keeps its processor."""
    return time if f is None else call + (1.0 - f) * (time - call)


def arrival_time(call: Array, time: Array, f: Array, early: Array) -> Array:
    """How long after its send a message reaches its receiver, if a fraction f of its transmission is hidden.

    `early`: how long after the end of the call overhead the receiver came to this communication. What had passed of
    the transmission by then was not the receiver's time and is not shortened, so that a receiver that was there
    first pays (1 - f) of all of it, one that comes later (1 - f) of the rest, and one that sends at the same time
    pays for the two transmissions once:

        call + (1 - f) * (time - call) + f * max(0, early)

    A message that waits for links is later as a whole: the wait adds to `call` and `time` and is taken from `early`.
    It is never shortened, but a receiver that comes after it pays nothing for it.
    """
    arrival: Array = call + (1.0 - f) * (time - call) + f * np.maximum(early, 0.0)
    return arrival
