"""Predictions made by hand, with round figures that a reader can add up."""

import numpy as np

from aag.diagnostics import Span
from esp.prediction import Prediction
from interpreter.counts import COMPUTATION, CountColumn
from interpreter.result import (
    AauMetrics,
    Assumption,
    CallMetrics,
    CallShare,
    CountEntry,
    CountTable,
    LineMetrics,
    MessageSummary,
    Parts,
    PerProcessor,
)
from sag.figures import MachineFigure

SOURCE = """\
program laplace
  integer, parameter :: n = 256, k = 50
  double precision :: a(n, n), b(n, n), err
!HPF$ PROCESSORS p(4,2)
!HPF$ DISTRIBUTE (BLOCK,BLOCK) ONTO p :: a, b
  do it = 1, k
    forall (i = 2:n-1, j = 2:n-1) b(i, j) = 0.25d0 * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
    a = b
    err = maxval(abs(a - b))
  end do
end program laplace
""".splitlines()


def array(*values):
    return np.array(values, dtype=np.float64)


def parts(computation=0.0, communication=0.0, waiting=0.0, overhead=0.0):
    return Parts(
        computation_s=array(computation),
        communication_s=array(communication),
        waiting_s=array(waiting),
        overhead_s=array(overhead),
    )


def line(number, shares, messages=0, sent=0, aaus=(), file="laplace.hpf", max_s=None):
    return LineMetrics(
        file=file,
        line=number,
        parts=parts(*shares),
        max_s=None if max_s is None else array(max_s),
        max_processor=None if max_s is None else 3,
        messages=messages,
        bytes=sent,
        hidden_s=array(0.0),
        aaus=aaus,
    )


def aau(number, kind, label, at, shares, comm=None, parent=None, executions=50, misses=0.0):
    own = parts(*shares)
    return AauMetrics(
        id=number,
        kind=kind,
        label=label,
        span=Span("laplace.hpf", at, 5),
        parent=parent,
        parts=own,
        total_s=own.time_s,
        max_s=own.time_s * 1.01,
        max_processor=3,
        clock_s=array(0.282),
        executions=executions,
        comm=comm,
        hidden_s=array(0.0),
        misses=misses,
        division=(CallShare(call=0, parts=own),),
    )


SHIFT = MessageSummary(
    array="a",
    pattern="overlap_shift",
    executions=50,
    messages=1000,
    bytes=819200,
    sizes=((1024, 12), (512, 8)),
    hops=1,
    contended=False,
)

REDUCTION = MessageSummary(
    array="err", pattern="reduction", executions=50, messages=1200, bytes=9600, sizes=((8, 24),), hops=1, contended=True
)

LINES = (
    line(7, (0.2, 0.07, 0.005, 0.0044), 1000, 819200, (3, 4), max_s=0.281),
    line(8, (0.0012, 0.0, 0.0, 0.0), aaus=(5,)),
    line(9, (0.0001, 0.0006, 0.0001, 0.0001), 1200, 9600, (6, 7)),
    line(11, (0.0, 0.0, 0.0, 0.0)),
)

AAUS = (
    aau(2, "IterSync", "do it", 6, (0.0, 0.0, 0.0, 0.0), executions=1),
    aau(3, "Comm", "overlap shift of a", 7, (0.0, 0.07, 0.005, 0.002), SHIFT, parent=2),
    aau(4, "IterD", "forall (i, j)", 7, (0.2, 0.0, 0.0, 0.0024), parent=2, misses=12345.0),
    aau(5, "IterD", "a = b", 8, (0.0012, 0.0, 0.0, 0.0), parent=2),
    aau(6, "IterD", "maxval", 9, (0.0001, 0.0, 0.0, 0.0001), parent=2),
    aau(7, "SyncSeq", "reduction of err", 9, (0.0, 0.0006, 0.0001, 0.0), REDUCTION, parent=2),
)


def counts(processors):
    """AAU 4 adds, more on some processors than on others."""
    column = CountColumn(fees=((COMPUTATION, "processor.r8.add", 2.0),), moved=32.0)
    figure = MachineFigure(path="cube.node.processor.r8.add", unit="r8.add", seconds=array(1e-7), estimated=True)
    entry = CountEntry(aau=4, columns=(column,), often=np.arange(1.0, 1.0 + processors)[None, :])
    return CountTable(entries=(entry,), figures={"processor.r8.add": figure}, procs=processors)


def prediction(lines=LINES, **changes):
    """A Laplace solver on 4 x 2 processors; the total is the sum of its lines."""
    sums = [
        sum(float(getattr(each.parts, name)[0]) for each in lines)
        for name in ("computation_s", "communication_s", "waiting_s", "overhead_s")
    ]
    processors = changes.get("processors", 8)
    even = np.full((1, processors), 1.0)
    made = {
        "program": "laplace",
        "file": "laplace.hpf",
        "lines_text": tuple(SOURCE),
        "system": "ipsc860",
        "processors": processors,
        "grid": (4, 2),
        "scenarios": 1,
        "constants": {"n": 256, "k": 50, "tol": 1e-4},
        "time_s": array(sum(sums)),
        "timed_s": array(0.2701),
        "load_s": array(1.25),
        "hidden_s": array(0.0),
        "counts": counts(processors),
        "parts": parts(*sums),
        "io_s": array(0.0),
        "messages": sum(each.messages for each in lines),
        "bytes": sum(each.bytes for each in lines),
        "lines": tuple(lines),
        "aaus": AAUS,
        "calls": (
            CallMetrics(
                id=0,
                parent=None,
                procedure="laplace",
                span=Span("laplace.hpf", 1, 1),
                calls=1.0,
                parts=parts(*sums),
                total=parts(*sums),
                messages=sum(each.messages for each in lines),
                bytes=sum(each.bytes for each in lines),
            ),
        ),
        "per_processor": PerProcessor(
            end_s=even * (sum(sums) - sums[2]),
            computation_s=even * sums[0],
            communication_s=even * sums[1],
            overhead_s=even * sums[3],
            waiting_s=even * sums[2],
        ),
        "imbalance": array(1.02),
        "memory_bytes": 131072,
        "memory_copies_bytes": 0,
        "memory_usable_bytes": 7.5 * 2**20,
        "estimated_share": array(0.18),
        "iterations": 50,
        "iterations_walked": 4,
        "assumptions": (
            Assumption(code="A101", text="50 iterations, the bound of the loop", span=Span("laplace.hpf", 6, 3)),
            Assumption(code="A201", text="no network load"),
        ),
        "complete": True,
    }
    return Prediction(**(made | changes))
