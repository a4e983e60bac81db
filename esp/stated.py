"""The model error of a prediction (Def 19), and whether it has shares of conditions that data decide."""

import numpy as np
from numpy.typing import NDArray

from esp.prediction import Prediction, first
from interpreter.models.asking import COMPUTED

ERROR = 0.02
"""The error stated for a program of no class (Def 19)."""

CONTENDED = 0.085
"""The worst error of docs/accuracy.md for communication in which messages meet."""


def has_shares(prediction: Prediction) -> bool:
    """Whether conditions that data decide hold as often as was computed for its size (`esp.conditions`)."""
    return any(each.text.endswith(COMPUTED) for each in prediction.assumptions)


def meeting(prediction: Prediction) -> bool:
    """Whether some message waits for another one on a link."""
    return any(each.comm is not None and each.comm.contended for each in prediction.aaus)


def stated_error(prediction: Prediction) -> float:
    """The relative error stated for a prediction; `stated_errors` of its first scenario."""
    return first(stated_errors(prediction))


def stated_errors(prediction: Prediction) -> NDArray[np.float64]:
    """The relative error stated for a prediction, in each of its scenarios.

    The classes of docs/accuracy.md are those of communication alone, so that of messages that meet counts with the
    share of the time that goes to messages. The other classes are better than the 2 % that always remain.
    """
    parts = prediction.parts
    least = np.full(np.shape(parts.time_s), ERROR)
    if not meeting(prediction):
        return least
    messages_s = np.asarray(parts.communication_s + parts.waiting_s)
    share = np.divide(messages_s, parts.time_s, out=np.zeros_like(messages_s), where=np.asarray(parts.time_s) > 0)
    found: NDArray[np.float64] = np.maximum(least, CONTENDED * share)
    return found
