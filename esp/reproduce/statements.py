"""What is stated about the experiments, as functions of what was predicted."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import Protocol

from msgspec import Struct


class Times(Protocol):
    """The times of a sweep, by the labels of its axes."""

    def at(self, **labels: str) -> float:
        """Seconds of one prediction."""

    def values(self, axis: str) -> tuple[str, ...]:
        """The labels of an axis."""


class PhaseProfile(Struct, frozen=True, kw_only=True):
    """A part of a program, and what it costs; seconds are means over processors (Def 4)."""

    name: str
    first: int
    """Its first source line."""
    last: int
    time_s: float
    computation_s: float
    communication_s: float
    waiting_s: float
    overhead_s: float
    messages: int
    bytes: int


OfTimes = Callable[[Times], bool]
OfPhases = Callable[[Mapping[str, PhaseProfile]], bool]

BB, BX, XB = "laplace_bb.hpf", "laplace_bx.hpf", "laplace_xb.hpf"


def speed_up(times: Times, procs: str, **labels: str) -> float:
    """How many times as fast as one processor."""
    return times.at(procs="1", **labels) / times.at(procs=procs, **labels)


def _rises(values: Sequence[float]) -> bool:
    return all(late >= early for early, late in pairwise(values))


# --- distributions ---


def within(share: float, n: str | None = None) -> OfTimes:
    """The three distributions differ by no more, at one size or at all."""

    def holds(times: Times) -> bool:
        for size in times.values("n") if n is None else (n,):
            found = [times.at(n=size, program=each) for each in (BB, BX, XB)]
            if max(found) > (1 + share) * min(found):
                return False
        return True

    return holds


def columns_before_rows_before_both(times: Times) -> bool:
    """From 32 to 128 points (*,BLOCK) is faster than (BLOCK,*), and that is not 2 % slower than (BLOCK,BLOCK)."""
    for n in ("32", "64", "128"):
        bb, bx, xb = (times.at(n=n, program=each) for each in (BB, BX, XB))
        if not (xb < bx and xb < bb and bb >= bx / 1.02):
            return False
    return True


# --- phases ---


def shifts_alike(times: Mapping[str, PhaseProfile]) -> bool:
    """A shift of one array: seven arrays travel in phase 1, three in phase 2."""
    one, two = times["phase 1"].communication_s / 7, times["phase 2"].communication_s / 3
    return abs(one - two) <= 0.01 * two


def first_computes_more(times: Mapping[str, PhaseProfile]) -> bool:
    """PhaseProfile 1 computes for longer than phase 2."""
    return times["phase 1"].computation_s > times["phase 2"].computation_s


def second_sends_nothing(times: Mapping[str, PhaseProfile]) -> bool:
    """PhaseProfile 2 has no message."""
    return times["phase 2"].messages == 0


def first_is_most(times: Mapping[str, PhaseProfile]) -> bool:
    """PhaseProfile 1 takes at least nine tenths of both, more than half of it for messages."""
    one, two = times["phase 1"], times["phase 2"]
    messages_s = one.communication_s + one.waiting_s
    return one.time_s >= 0.9 * (one.time_s + two.time_s) and messages_s > 0.5 * one.time_s


# --- numbers of processors and sizes ---


def larger_scale_better(times: Times) -> bool:
    """For each number of processors the speed-up rises with the size."""
    return all(
        _rises([speed_up(times, procs, n=n) for n in times.values("n")])
        for procs in times.values("procs")
        if procs != "1"
    )


def speed_up_between(least: float, most: float, *, procs: str, n: str) -> OfTimes:
    """A speed-up within bounds."""
    return lambda times: least <= speed_up(times, procs, n=n) < most


def fastest_alone(*sizes: str) -> OfTimes:
    """One processor is the fastest for these sizes."""
    return lambda times: all(_fastest(times, n) == 0 for n in sizes)


def every_doubling_helps(n: str) -> OfTimes:
    """Each number of processors is at least as fast as the one before."""
    return lambda times: _rises([-times.at(n=n, procs=each) for each in times.values("procs")])


def slower_beyond(most: str, n: str) -> OfTimes:
    """From `most` processors on each larger system is slower."""

    def holds(times: Times) -> bool:
        procs = times.values("procs")
        found = [times.at(n=n, procs=each) for each in procs[procs.index(most) :]]
        return all(late > early for early, late in pairwise(found))

    return holds


def best_system_grows(times: Times) -> bool:
    """The fastest number of processors rises with the size."""
    best = [_fastest(times, n) for n in times.values("n")]
    return _rises(best) and best[-1] > best[0]


def _fastest(times: Times, n: str) -> int:
    """Which number of processors is the fastest."""
    found = [times.at(n=n, procs=each) for each in times.values("procs")]
    return found.index(min(found))


# --- parameters of the machine ---


def faster_processors_help_less_than_proportionally(times: Times) -> bool:
    """Never slower, and with messages twice the speed never halves the time."""
    for procs in times.values("procs"):
        found = [times.at(procs=procs, processor_speed=each) for each in ("x0.5", "x1", "x2", "x4")]
        if not _rises([-each for each in found]):
            return False
        if procs != "1" and not all(fast > slow / 2 for slow, fast in pairwise(found)):
            return False
    return True


def faster_processors_help_large_systems_less(times: Times) -> bool:
    """The gain falls with the number of processors."""
    for speed in ("x2", "x4"):
        ratios = [
            times.at(procs=procs, processor_speed=speed) / times.at(procs=procs, processor_speed="x1")
            for procs in times.values("procs")
        ]
        if not (_rises(ratios) and ratios[-1] > ratios[0]):
            return False
    return True


def load_saturates(times: Times) -> bool:
    """Each step of load costs more than the one before."""
    for procs in times.values("procs"):
        steps = [late - early for early, late in pairwise(times.at(procs=procs, load=e) for e in times.values("load"))]
        if not (steps[0] > 0 and _rises(steps)):
            return False
    return True


def load_changes_large_systems_more(times: Times) -> bool:
    """The relative change rises with the number of processors."""
    first, *others = times.values("load")
    return all(
        _rises([times.at(procs=each, load=load) / times.at(procs=each, load=first) for each in times.values("procs")])
        for load in others
    )


def bandwidth_changes_as_expected(times: Times) -> bool:
    """Less bandwidth costs, more saves."""
    return all(
        (times.at(procs=procs, bandwidth=factor) > times.at(procs=procs, bandwidth="x1"))
        == (factor in ("x0.25", "x0.5"))
        for procs, factor in product(times.values("procs"), ("x0.25", "x0.5", "x2", "x4"))
    )


def bandwidth_changes_large_systems_more(times: Times) -> bool:
    """The relative change, up or down, rises with the number of processors."""
    for factor in ("x0.25", "x0.5", "x2", "x4"):
        changes = [
            abs(times.at(procs=each, bandwidth=factor) / times.at(procs=each, bandwidth="x1") - 1)
            for each in times.values("procs")
        ]
        if not _rises(changes):
            return False
    return bandwidth_changes_as_expected(times)
