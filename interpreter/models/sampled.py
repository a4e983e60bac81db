"""A first estimate of a long loop whose iterations all differ: a few of them stand for those around them.

To walk such a loop takes as long as it has iterations. Who waits for a first answer asks for a few of them
(`Setting.few`). They lie at the nodes of a quadrature formula, so that costs that grow or shrink smoothly are met.
Before each of them its predecessor is walked, as who is the last to finish one iteration is the last to begin the next.
An iteration that is left out costs each processor what the one that stands for it costs processors in the mean, and all
of them as much as brings on the last one: the others wait, at the latest at the end.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aag.graph.aau import AAU
from interpreter.metrics import WAITING, Ledger, Tally
from interpreter.models.period import Watched
from interpreter.reduce import largest, mean
from interpreter.state import Run

Ints = NDArray[np.int64]
Array = NDArray[np.float64]

SAMPLED = "sampled"
"""Code of the assumption that a prediction rests on which is an estimate."""
WORTH = 8
"""A loop of fewer iterations than this times `Setting.few` is walked whole."""


def worth(run: Run, trips: int) -> bool:
    """Whether an estimate is asked for, and this loop long enough."""
    few = run.setting.few
    return few > 0 and trips >= WORTH * few and run.ledger.shape.detail and not run.setting.force_unroll


def chosen(trips: int, few: int) -> tuple[Ints, Array]:
    """Numbers of the iterations that stand for others, ascending, and each for how many.

    They are next to the nodes of the Gauss-Legendre formula, and weighted so that the sum over all iterations of every
    polynomial of a degree below `few` is met.
    """
    number = np.rint((np.polynomial.legendre.leggauss(few)[0] + 1) / 2 * trips - 0.5).astype(np.int64)
    scaled = (2 * np.arange(trips) + 1) / trips - 1
    power = np.arange(few)[:, None]
    return number, np.linalg.solve(scaled[number] ** power, (scaled**power).sum(axis=1))


def iterations(trips: int, few: int) -> dict[int, float]:
    """The iterations to walk, ascending, and for how many each stands: one that stands for others has its predecessor
    before it, which stands for itself."""
    numbers, stand_for = chosen(trips, few)
    pairs = zip(numbers.tolist(), stand_for.tolist(), strict=True)
    return {one: often for number, whole in pairs for one, often in ((number - 1, 1.0), (number, whole - 1.0))}


def sample(run: Run, aau: AAU, trips: int, step: Callable[[int], str]) -> str:
    """Run `step(number)` for a few of `trips` iterations of a loop; answers how it was left ("" at its end)."""
    run.assume(
        SAMPLED,
        f"{2 * run.setting.few} of the {trips:,} iterations of {aau.label} stand for all: a first estimate",
        aau.span,
    )
    if run.tape is not None:  # what is done here cannot be done again from a tape
        run.tape.entries.append(None)
    watched, left = Watched(run, aau, trips), ""
    for number, stands_for in iterations(trips, run.setting.few).items():
        watched.at(number)
        run.walked += 1
        before = run.clock + run.origin
        books, run.ledger = run.ledger, Ledger(run.ledger.shape)
        run.count(aau.id, Tally.ITERATIONS, 1.0)
        left = step(number)
        own, run.ledger = run.ledger, books
        _repeat(run, aau, own, stands_for - 1.0, before)
        run.ledger.add(own)
        if left:
            break
    watched.end()
    return left


def _repeat(run: Run, aau: AAU, own: Ledger, times: float, before: Array) -> None:
    """Add iterations like the one that has just been walked and cost `own`, from the clocks `before` (S, P) on."""
    after = run.clock + run.origin
    spent = mean(after) - mean(before)
    progress = np.maximum(largest(after) - largest(before), spent)
    often = np.full(run.scenarios, times)
    run.ledger.add_linear(own.in_the_mean(), own, often, np.zeros(often.size, np.bool_), np.zeros(often.size))
    run.note(aau.id, WAITING, times * (progress - spent)[:, None])
    run.origin = run.origin + times * progress[:, None]
