"""When two predictions are too close to be told apart (Def 19)."""

from collections.abc import Sequence

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
