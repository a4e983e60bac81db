"""When two predictions are too close to be told apart (Def 19)."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from esp.prediction import Prediction, first

ERROR = 0.02
"""The error stated for a program of no class (Def 19)."""

CONTENDED = 0.085
"""The worst error of docs/accuracy.md for communication in which messages meet."""


def stated_error(prediction: Prediction) -> float:
    """The relative error stated for a prediction: what counts as a tie.

    The classes of docs/accuracy.md are those of communication alone, so that of messages that meet counts with the
    share of the time that goes to messages. The other classes are better than the 2 % that always remain.
    """
    if not any(each.comm is not None and each.comm.contended for each in prediction.aaus):
        return ERROR
    parts = prediction.parts
    whole_s = first(parts.time_s)
    share = (first(parts.communication_s) + first(parts.waiting_s)) / whole_s if whole_s > 0 else 0.0
    return max(ERROR, CONTENDED * share)


def fitting_ties(times_s: Sequence[float], predictions: Sequence[Prediction]) -> tuple[int | None, ...]:
    """As `ties`, where what does not fit in memory comes last: it ties with nothing."""
    number = sum(each.fits for each in predictions)
    return (*ties(times_s[:number], predictions[:number]), *[None] * (len(predictions) - number))


def ties(times_s: Sequence[float], predictions: Sequence[Prediction]) -> tuple[int | None, ...]:
    """For each of the times, in ascending order, the position of the one it ties with; None where it stands alone.

    The first of a group leads it: who is within the larger of both errors of the leader ties with it, the next one
    leads a group of its own. So a tie never runs through a chain of small steps. Incomplete predictions do not tie.
    """
    if not all(each.complete for each in predictions):
        return (None,) * len(times_s)
    errors = [stated_error(each) for each in predictions]
    found: list[int | None] = []
    leader = 0
    for i, (time_s, error) in enumerate(zip(times_s, errors, strict=True)):
        if i and time_s <= times_s[leader] * (1.0 + max(error, errors[leader])):
            found.append(leader)
        else:
            leader = i
            found.append(None)
    return tuple(found)


def runs(times: NDArray[np.float64]) -> list[tuple[int, int, list[int]]]:
    """Rows of times (row, choice) next to each other with a choice that is the best of all, or tied with it: first
    row, last row, all such choices. As few as possible, so that a change is never one inside a tie.

    >>> runs(np.array([[1.0, 2.0], [2.0, 2.01], [3.0, 2.9], [4.0, 3.0]]))
    [(0, 1, [0]), (2, 3, [1])]
    """
    tied = times <= times.min(axis=1, keepdims=True) * (1 + ERROR)
    tied &= np.isfinite(times)
    number, still = 0, np.ones(times.shape[1], np.bool_)
    numbers = []
    for row in tied:
        if not (still & row).any():
            number, still = number + 1, np.ones_like(row)
        still = still & row
        numbers.append(number)
    found = []
    for _, group in groupby(range(len(numbers)), key=numbers.__getitem__):
        rows = list(group)
        common = tied[rows].all(axis=0)
        if common.any():
            ratios = (times[rows] / times[rows].min(axis=1, keepdims=True)).sum(axis=0)
            order = np.argsort(np.where(common, ratios, np.inf), kind="stable")
            found.append((rows[0], rows[-1], order[: int(common.sum())].tolist()))
    return found
