"""The trace of a simulated run: messages when the simulation had them, everything else as it was predicted.

On a simulated machine a program computes for as long as is predicted, all of it that lies between two messages at once.
When these begin and end the program notes itself; the pieces in between, and the AAUs that they belong to, are those
of the prediction, and follow on each other as they do there.
"""

import numpy as np
from msgspec.structs import replace

from esp.traces.trace import RECEIVE, SEND, WAIT, Floats, Trace


def retimed(predicted: Trace, called_s: Floats, done_s: Floats) -> Trace:
    """The executed trace.

    Args:
        predicted: without input and output.
        called_s: (E,) when each message of the trace is called, those of a rank together and in order.
        done_s: (E,) when the call returns. A receive that waits does so within it.

    Raises:
        ValueError: these are not the messages of the trace.
    """
    kept = np.flatnonzero(predicted.kind != WAIT)
    rank, kind = predicted.rank[kept], predicted.kind[kept]
    message = (kind == SEND) | (kind == RECEIVE)
    if int(message.sum()) != called_s.size:
        raise ValueError(f"{called_s.size} messages were simulated, and {int(message.sum())} are in the trace")
    computed = np.where(message, 0.0, predicted.duration[kept])
    before = np.cumsum(computed) - computed  # by all events before, of all ranks
    # An event that is no message begins so long after the last message of its rank, or after its start.
    first = np.ones(kept.size, np.bool_)
    first[1:] = rank[1:] != rank[:-1]
    anchor = np.maximum.accumulate(np.where(message | first, np.arange(kept.size), 0))
    at = np.zeros(kept.size)
    at[message] = done_s
    begin = at[anchor] + (before - before[anchor])
    duration = computed
    begin[message], duration[message] = called_s, done_s - called_s
    return Trace(
        about=replace(predicted.about, origin="executed"),
        rank=rank,
        begin=begin,
        duration=duration,
        aau=predicted.aau[kept],
        kind=kind,
        partner=predicted.partner[kept],
        size_bytes=predicted.size_bytes[kept],
    )
