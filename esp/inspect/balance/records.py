"""Results of `esp balance`."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from esp.shown import Printed

COUNTED = "counted"
"""The law of X(p) where start-ups are counted on each number of processors."""

NEGLECTED = ("bytes", "hops", "packing", "waiting", "cache", "operations", "startups")
"""What the model neglects, in the order in which it is shown."""


class EngineRun(Struct, frozen=True, kw_only=True):
    """The prediction of the engine, beside the model."""

    time_s: float
    model_time_s: float
    """tau(p) T_phi."""
    speedup: float
    """The time on one processor over `time_s`."""
    deviation: float
    """By which share of it the speedup of the model is higher."""
    neglected_s: Mapping[str, float]
    """Seconds by which `time_s` exceeds `model_time_s`, by cause (`NEGLECTED`): means over processors."""


class BalanceRun(Struct, frozen=True, kw_only=True):
    """The model on some processors."""

    processors: int
    startups: float
    """X(p): start-ups of a processor."""
    speedup: float
    utilisation: float
    reached: bool
    """Whether the utilisation is at least the one that is asked for."""
    highest: float
    """The utilisation with start-ups that cost nothing."""
    largest_startup: float | None
    """The largest C_c that keeps the utilisation; below 0: none does; None: there are no start-ups."""
    grain: float | None
    """Operations of a processor for each start-up; None: there are no start-ups."""
    least_grain: float | None
    """The least number of them that keeps the utilisation; None: no number does, or there are no start-ups."""
    engine: EngineRun | None


class SweepPoint(Struct, frozen=True, kw_only=True):
    """The model on a machine with other start-ups or miss penalties."""

    processors: int
    startup: float
    """C_c."""
    miss: float
    """C_m."""
    speedup: float
    utilisation: float
    speed: float
    """Of all processors together, operations in a second."""
    dollars: float | None
    """The price of the machine; None: no formula is given."""
    speed_per_dollar: float | None


class StartupCost(Struct, frozen=True, kw_only=True):
    """A start-up of the machine: for messages of at most `upto_bytes` bytes over at most `upto_hops` links (None: any),
    in units of T_phi."""

    upto_bytes: float | None
    upto_hops: float | None
    cost: float


class Balance(Printed, Struct, frozen=True, kw_only=True):
    """Speedup, utilisation and balance by the static model."""

    file: str | None
    """None: the counts are given, or there are none."""
    system: str
    utilisation: float
    """The one to keep."""
    t_phi_s: float
    """T_phi: the unit of the costs, the time of a floating-point instruction."""
    c_phi: float
    """C_phi: an operation with what the compiler makes of it."""
    c_m: float
    """C_m: a cache miss."""
    c_c: float
    """C_c: the start-up of a message."""
    ranges: tuple[StartupCost, ...]
    """The start-ups of the machine file."""
    given: tuple[str, ...]
    """Costs that the user gave instead of those of the machine."""
    x_s: float | None
    """X_s: operations that each processor executes. None, as the other counts: without program and counts."""
    x_p: float | None
    """X_p: operations that are divided among the processors."""
    x_m: float | None
    """X_m: cache misses."""
    x_lambda: float | None
    """X_lambda: operations for loops over virtual processors, on each processor."""
    law: str
    """X(p) as text."""
    base: int | None
    """The number of processors whose prediction gave the counts."""
    least_grain: float
    """Operations for each start-up that keep the utilisation where nothing else takes time, without misses."""
    runs: tuple[BalanceRun, ...]
    points: tuple[SweepPoint, ...] = ()
    warnings: tuple[Any, ...] = ()
