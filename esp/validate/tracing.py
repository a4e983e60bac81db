"""Executed and predicted traces of what is validated, side by side in a folder, and their messages compared."""

from collections import Counter
from pathlib import Path

from aag.spmd.emit import Emission
from esp import api
from esp.traces.read import read_trace
from esp.traces.record import predicted_trace
from esp.traces.text import text_of
from esp.traces.trace import RECEIVE, SEND, Trace
from esp.validate.job import Job
from esp.writing import write_whole


def told(job: Job, emission: Emission) -> dict[str, str]:
    """The environment in which a node program writes its trace, if it shall."""
    return {} if job.traces is None else {"ESP_TRACE": str(_file(job.traces, emission, "executed"))}


def same_partners(job: Job, request: api.Request, emission: Emission) -> bool:
    """Keep the predicted trace beside the executed one: are all messages the same, by rank, line, partner and size?"""
    if job.traces is None:
        return True
    predicted, _ = predicted_trace(api.lower_source(job.source, job.system, request), job.system, request)
    write_whole(_file(job.traces, emission, "predicted"), text_of(predicted))
    executed = read_trace(_file(job.traces, emission, "executed"))
    return all(messages_of(executed, kind) == messages_of(predicted, kind) for kind in (SEND, RECEIVE))


def messages_of(trace: Trace, kind: int) -> Counter[tuple[int, ...]]:
    """(rank, source line, partner, bytes) of the messages that are sent, or received, and how often."""
    some = trace.is_kind(kind)
    columns = (trace.rank, trace.lines(), trace.partner, trace.size_bytes)
    return Counter(zip(*(column[some].tolist() for column in columns), strict=True))


def _file(folder: Path, emission: Emission, origin: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{emission.name}-{emission.procs}.{origin}.trace"
