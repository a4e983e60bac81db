"""Executed and predicted traces of what is validated, side by side in a folder, and their messages compared."""

from collections import Counter
from pathlib import Path

from aag.spmd.emit import Emission
from aag.wording import plural
from esp import api
from esp.errors import PredictionError, UnreadableFileError, reason
from esp.traces.read import read_trace
from esp.traces.record import predicted_trace
from esp.traces.text import text_of
from esp.traces.trace import RECEIVE, SEND, Trace
from esp.validate.job import Job
from esp.writing import write_whole


def told(job: Job, emission: Emission) -> dict[str, str]:
    """The environment in which a node program writes its trace, if it shall; one of an earlier run is removed.

    Raises:
        UnreadableFileError: the folder cannot be written to.
    """
    if job.traces is None:
        return {}
    file = _file(job.traces, emission, "executed")
    try:
        job.traces.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=str(job.traces)) from None
    return {"ESP_TRACE": str(file)}


def other_partners(job: Job, request: api.Request, emission: Emission) -> frozenset[int]:
    """Keep the predicted trace beside the executed one.

    Returns:
        the source lines with messages that are not the same in both, by rank, partner and size.

    Raises:
        PredictionError: there is no trace, because it would be too long.
    """
    if job.traces is None:
        return frozenset()
    if not _file(job.traces, emission, "executed").exists():
        raise PredictionError(
            f"the node program has too many events on {plural(emission.procs, 'processor')}, and wrote no trace.",
            hint="Choose fewer iterations or processors, or let ESP_TRACE_EVENTS=N allow more.",
        )
    predicted, _ = predicted_trace(api.lower_source(job.source, job.system, request), job.system, request)
    keep(job.traces, emission, "predicted", predicted)
    executed = read_trace(_file(job.traces, emission, "executed"))
    pairs = [(messages_of(executed, kind), messages_of(predicted, kind)) for kind in (SEND, RECEIVE)]
    return frozenset(line for one, other in pairs for _, line, *_ in (one - other) + (other - one))


def keep(folder: Path, emission: Emission, origin: str, trace: Trace) -> None:
    """Write a trace to the folder.

    Raises:
        UnreadableFileError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=str(folder)) from None
    write_whole(_file(folder, emission, origin), text_of(trace))


def messages_of(trace: Trace, kind: int) -> Counter[tuple[int, ...]]:
    """(rank, source line, partner, bytes) of the messages that are sent, or received, and how often."""
    some = trace.is_kind(kind)
    columns = (trace.rank, trace.lines(), trace.partner, trace.size_bytes)
    return Counter(zip(*(column[some].tolist() for column in columns), strict=True))


def _file(folder: Path, emission: Emission, origin: str) -> Path:
    return folder / f"{emission.name}-{emission.procs}.{origin}.trace"
