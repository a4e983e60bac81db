"""Four other views of how a program scales, each against one processor at a given size.

With T(p, n) the time and W(n) the work:

- fixed size (G. Amdahl): T(1, n) / T(p, n);
- fixed time (J. Gustafson): W(n') / W(n) for the largest size n' whose time on p processors is at most T(1, n);
- memory-bounded (X.-H. Sun and L. Ni): the speed W(n*) / T(p, n*) over W(n) / T(1, n) for the largest size n* with
  which no processor holds more than one processor does with n;
- isoefficiency (A. Grama, A. Gupta and V. Kumar): the work W of the smallest size with which T(1, n) / (p T(p, n)) is
  at least an efficiency.
"""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

from msgspec import Struct

from esp.api import Request
from esp.errors import PredictionError
from esp.explore.scaling import check_work, subject
from esp.explore.sized import Progress, SizedPredictions
from esp.prediction import Prediction
from esp.sources import Source
from interpreter.scalability.search import largest_of, smallest_lasting
from sag.unit import System

EFFICIENCY = 0.5
"""The efficiency of the isoefficiency, unless another one is given."""

GROWTH = 64
"""Sizes are tried up to so many times the given one, times the number of processors."""


class ScaledSize(Struct, frozen=True, kw_only=True):
    """A size, its time on the processors of its row, and the speedup."""

    size: int
    time_s: float
    speedup: float
    fits: bool | None
    """Whether data and copies fit in the memory of a node; None: that is not known."""


class EfficientSize(Struct, frozen=True, kw_only=True):
    """The smallest size with an efficiency."""

    size: int
    work: float
    """Flops of the sequential program."""
    efficiency: float


class SpeedupRow(Struct, frozen=True, kw_only=True):
    """All views of a number of processors; None: no size has it."""

    processors: int
    fixed_size: ScaledSize
    fixed_time: ScaledSize | None
    memory_bounded: ScaledSize | None
    isoefficiency: EfficientSize | None


class Speedups(Struct, frozen=True, kw_only=True):
    """How a program scales by four definitions."""

    file: str
    system: str
    parameter: str
    """The PARAMETER that is the size."""
    size: int
    """The given size."""
    time_s: float
    """Its time on one processor."""
    memory_bytes: int
    """What one processor holds with it."""
    efficiency: float
    """The efficiency to keep (isoefficiency)."""
    work: str
    """Whose flops are the work."""
    most: int
    """The largest size that was considered."""
    rows: tuple[SpeedupRow, ...]
    warnings: tuple[Any, ...] = ()


def speedups_of(
    source: Source,
    system: System,
    request: Request,
    procs: Sequence[int],
    *,
    efficiency: float = EFFICIENCY,
    size: str = "",
    work: str = "",
    progress: Progress | None = None,
) -> Speedups:
    """Compute the four views.

    Args:
        source: the program.
        system: the machine.
        request: what is asked for; one scenario.
        procs: numbers of processors, ascending.
        efficiency: the efficiency to keep, between 0 and 1.
        size: the PARAMETER to vary (default: the one that sizes the distributed arrays).
        work: the flops of the best sequential program, such as ``"2*n**3"``; default: those of this program on one
            processor.
        progress: called after each prediction.

    Raises:
        UsageError: an argument does not fit the program.
        PredictionError: no work is done, or a prediction is incomplete.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine does.
    """
    request, name, current = subject(source, system, request, procs, size)
    tries = SizedPredictions(source, system, request, name, work, progress)
    alone = tries.prediction(1, current)
    time_s, held = tries.time_s(alone), _held(alone)
    if not time_s > 0:
        raise PredictionError("the program takes no time.")
    check_work(tries.work(current), 1.0, work, f"{name} = {current}")
    most = GROWTH * max(1, current) * procs[-1]
    rows: list[SpeedupRow] = []
    for at, number in enumerate(procs):
        tries.share = at / len(procs)
        rows.append(_row(tries, number, current, time_s, held, efficiency, rows[-1] if rows else None, most))
    return Speedups(
        file=source.program.file,
        system=system.name,
        parameter=name,
        size=current,
        time_s=time_s,
        memory_bytes=held,
        efficiency=efficiency,
        work=work or "this program on one processor",
        most=most,
        rows=tuple(rows),
        warnings=tries.warnings,
    )


def _row(
    tries: SizedPredictions,
    number: int,
    current: int,
    time_s: float,
    held: int,
    efficiency: float,
    before: SpeedupRow | None,
    most: int,
) -> SpeedupRow:
    work = tries.work(current)

    def scaled(found: int | None, speedup: Callable[[int, float], float]) -> ScaledSize | None:
        if found is None:
            return None
        made = tries.prediction(number, found)
        own_s = tries.time_s(made)
        return ScaledSize(size=found, time_s=own_s, speedup=speedup(found, own_s), fits=made.fits)

    def guess(latest: ScaledSize | EfficientSize | None) -> int:
        if before is None or latest is None:
            return current
        return max(1, ceil(latest.size * number / before.processors))

    in_time = largest_of(
        lambda n: tries.time_s(tries.prediction(number, n)) <= time_s,
        1,
        guess(None if before is None else before.fixed_time),
        most,
    )
    in_memory = largest_of(
        lambda n: _held(tries.prediction(number, n)) <= held,
        1,
        guess(None if before is None else before.memory_bounded),
        most,
    )
    fixed = scaled(current, lambda _, own_s: time_s / own_s)
    assert fixed is not None
    return SpeedupRow(
        processors=number,
        fixed_size=fixed,
        fixed_time=scaled(in_time, lambda n, _: tries.work(n) / work),
        memory_bounded=scaled(in_memory, lambda n, own_s: tries.work(n) / own_s / (work / time_s)),
        isoefficiency=_isoefficiency(
            tries, number, guess(None if before is None else before.isoefficiency), efficiency, most
        ),
    )


def _isoefficiency(
    tries: SizedPredictions, number: int, guess: int, efficiency: float, most: int
) -> EfficientSize | None:
    def reached(n: int) -> float:
        alone_s = tries.time_s(tries.prediction(1, n))
        together_s = number * tries.time_s(tries.prediction(number, n))
        return alone_s / together_s if together_s > 0 else 0.0

    found = smallest_lasting(lambda n: reached(n) >= efficiency, 1, guess, most, 2 * number)
    if found is None:
        return None
    return EfficientSize(size=found, work=tries.work(found), efficiency=reached(found))


def _held(made: Prediction) -> int:
    """Bytes of data and copies on the fullest processor."""
    return made.memory_bytes + made.memory_copies_bytes
