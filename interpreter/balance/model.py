"""Times, speedup and utilisation by the static model of Clement (section 3.3.6).

All times are in units of T_phi, the time of a floating-point instruction. It cancels in speedups and utilisations.

    T_1    = C_phi (X_s + X_p) + C_m X_m
    tau(p) = C_phi X_s + (C_phi X_p + C_m X_m) / p + sigma'(p) + C_phi X_lambda
    S(p)   = T_1 / tau(p),    u(p) = S(p) / p,    sigma'(p) = C_c X(p)
"""

from collections.abc import Callable

from msgspec import Struct

Startups = Callable[[float], float]
"""Number of processors -> X(p), the start-ups that each of them pays. One processor alone pays none."""


class Costs(Struct, frozen=True, kw_only=True):
    """Normalised costs of a machine, in units of T_phi."""

    operation: float
    """C_phi: an operation with all that the compiler makes of it."""
    miss: float
    """C_m: a cache miss."""
    startup: float
    """C_c: the start-up of a message."""


class Workload(Struct, frozen=True, kw_only=True):
    """What a program does."""

    sequential: float
    """X_s: operations that each processor executes."""
    parallel: float
    """X_p: operations that are divided among the processors."""
    misses: float
    """X_m: cache misses, divided among the processors as well."""
    loops: float
    """X_lambda: operations that emulate virtual processors, on each processor."""
    startups: Startups
    """X(p)."""

    @property
    def operations(self) -> float:
        """X_s + X_p."""
        return self.sequential + self.parallel


def time_on_one(work: Workload, costs: Costs) -> float:
    """T_1: the time of the whole work on one processor, without emulation of virtual processors."""
    return costs.operation * work.operations + costs.miss * work.misses


def startups_on(work: Workload, processors: float) -> float:
    """X(p), and 0 on one processor.

    Raises:
        ValueError: there is less than one processor.
    """
    if not processors >= 1:
        raise ValueError(f"{processors:g} is less than one processor")
    return 0.0 if processors == 1 else work.startups(processors)


def time_on(work: Workload, costs: Costs, processors: float) -> float:
    """tau(p): the time on so many processors.

    Raises:
        ValueError: there is less than one processor.
    """
    divided = costs.operation * work.parallel + costs.miss * work.misses
    on_each = costs.operation * (work.sequential + work.loops)
    return on_each + divided / processors + costs.startup * startups_on(work, processors)


def speedup(work: Workload, costs: Costs, processors: float) -> float:
    """S(p) = T_1 / tau(p).

    Raises:
        ValueError: there is less than one processor, or no work that takes time.
    """
    alone = time_on_one(work, costs)
    if not alone > 0:
        raise ValueError("there is no work that takes time")
    return alone / time_on(work, costs, processors)


def utilisation(work: Workload, costs: Costs, processors: float) -> float:
    """u(p) = S(p) / p, between 0 and 1.

    Raises:
        ValueError: there is less than one processor, or no work that takes time.
    """
    return speedup(work, costs, processors) / processors


def deviation(predicted: float, actual: float) -> float:
    """By which share of the actual speedup the predicted one is too high; below 0: too low.

    >>> round(deviation(25.0, 27.5), 4)
    -0.0909
    """
    return predicted / actual - 1
