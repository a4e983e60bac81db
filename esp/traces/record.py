"""The trace that a prediction implies: a listener of the walk that notes every piece of time that is spent.

Loops that repeat themselves are walked all the same: a trace shows every iteration (D5).
"""

import numpy as np
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.graph.aau import Graph, walk
from esp import api
from esp.errors import PredictionError
from esp.traces.trace import (
    COMPUTE,
    IO,
    KINDS,
    LIBRARY,
    NOBODY,
    OVERHEAD,
    RECEIVE,
    SEND,
    WAIT,
    Trace,
    TraceAbout,
    TracePlace,
)
from esp.version import __version__
from interpreter.listeners import Array, Ints, Timekeeper, Traffic, Watch
from interpreter.metrics import COMMUNICATION, COMPUTATION, WAITING, Category, Index
from sag.unit import System

MOST = 5_000_000
"""Events of a trace, unless the user wants more."""

CATEGORY = {
    COMPUTE: Category.COMPUTATION,
    OVERHEAD: Category.OVERHEAD,
    SEND: Category.COMMUNICATION,
    RECEIVE: Category.COMMUNICATION,
    LIBRARY: Category.COMMUNICATION,
    IO: Category.COMMUNICATION,
    WAIT: Category.WAITING,
}
"""Kind of event -> the category of its time in a prediction (Def 2)."""

_OF_TRAFFIC = {"send": SEND, "receive": RECEIVE, "host": IO}


def predicted_trace(
    stages: api.Stages, system: System, request: api.Request, *, most: int = MOST, watch: Watch | None = None
) -> tuple[Trace, api.Prediction]:
    """The trace of a prediction, every iteration walked, and the prediction itself.

    Args:
        stages: the program as lowered for the request.
        system: the machine.
        request: what else the user decides.
        most: events that the trace may have.
        watch: is told how far the walk has come.

    Raises:
        PredictionError: it has more events, or a branch is weighted, so that there is no single course of events.
        aag.diagnostics.SourceError: values prevent the prediction.
    """
    recorders: list[TraceRecorder] = []

    def recording() -> TraceRecorder:
        recorders.append(TraceRecorder(stages.graph, stages.node_program.layouts.procs, most))
        return recorders[-1]

    prediction = api.interpret_stages(stages, system, replace(request, unroll=True), recording, watch)
    about = about_of(stages, "predicted", prediction.system)
    return recorders[-1].trace(about), prediction


def about_of(stages: api.Stages, origin: str, system: str) -> TraceAbout:
    """The header of a trace of a program."""
    layouts = stages.node_program.layouts
    return TraceAbout(
        writer=f"esp {__version__}",
        origin="predicted" if origin == "predicted" else "executed",
        program=stages.node_program.unit.name,
        file=stages.node_program.file,
        system=system,
        procs=layouts.procs,
        grid=layouts.grid.shape or (layouts.procs,),
        places=tuple(
            TracePlace(id=each.id, kind=type(each).__name__, line=each.span.line, label=" ".join(each.label.split()))
            for each in walk(stages.graph.body)
        ),
    )


class TraceRecorder(Timekeeper):
    """A listener that keeps what it hears as columns, one piece for each call."""

    def __init__(self, graph: Graph, procs: int, most: int) -> None:
        self._spans: dict[int, Span] = {each.id: each.span for each in walk(graph.body)}
        self._ranks = np.arange(procs, dtype=np.int64)
        self._most = most
        self._count = 0
        self._pieces: list[tuple[Ints, Array, Array, int, int, Ints | None, Ints | None]] = []

    def spent(
        self,
        aau: int,
        category: int,
        began: Array,
        seconds: Array,
        ranks: Index,
        traffic: Traffic | None,
        weight: float,
    ) -> None:
        """Note one piece for each processor; those without length are left out, unless they are messages."""
        if weight != 1.0:
            raise self._no_course(aau)
        which = self._ranks if ranks is None else self._ranks[ranks]
        kind, partner, size = _kind(category, traffic)
        begin, duration = began[0], np.broadcast_to(seconds[0], which.shape)
        if kind not in (SEND, RECEIVE):
            some = np.flatnonzero(duration)
            if some.size < which.size:
                which, begin, duration = which[some], begin[some], duration[some]
                partner = None if partner is None else partner[some]
        if not which.size:
            return
        self._count += which.size
        if self._count > self._most:
            raise self._too_many(aau)
        self._pieces.append((which, begin, np.array(duration), aau, kind, partner, size))

    def trace(self, about: TraceAbout) -> Trace:
        """All that was noted: in order for each rank, as nothing is noted late."""
        pieces = self._pieces
        lengths = [piece[0].size for piece in pieces]
        rank = np.concatenate([self._ranks[:0], *(piece[0] for piece in pieces)])
        order = np.argsort(rank, kind="stable")
        rank = rank[order]
        begin = np.concatenate([np.zeros(0), *(piece[1] for piece in pieces)])[order]
        return Trace(
            about=about,
            rank=rank,
            begin=_ascending(begin, rank),
            duration=np.concatenate([np.zeros(0), *(piece[2] for piece in pieces)])[order],
            aau=np.repeat(np.array([piece[3] for piece in pieces], np.int64), lengths)[order],
            kind=np.repeat(np.array([piece[4] for piece in pieces], np.int8), lengths)[order],
            partner=_column([piece[5] for piece in pieces], lengths, NOBODY)[order],
            size_bytes=_column([piece[6] for piece in pieces], lengths, 0)[order],
        )

    def _no_course(self, aau: int) -> PredictionError:
        return PredictionError(
            "a branch here is taken with some probability, and a trace shows one course of events.",
            where=self._place(aau),
            hint="Give the value that its condition depends on with --set NAME=VALUE.",
        )

    def _too_many(self, aau: int) -> PredictionError:
        return PredictionError(
            f"the trace would have more than {self._most:,} events, one for each iteration and processor.",
            where=self._place(aau),
            hint="Choose fewer iterations or processors; `esp trace --events N` allows more.",
        )

    def _place(self, aau: int) -> str:
        span = self._spans[aau]
        return f"{span.file}:{span.line}"


def _kind(category: int, traffic: Traffic | None) -> tuple[int, Ints | None, Ints | None]:
    """Kind, partners and sizes of an event."""
    partner = None if traffic is None else traffic.partner
    if category == WAITING:
        return WAIT, partner, None
    if category == COMMUNICATION:
        if traffic is None:
            return LIBRARY, None, None
        return _OF_TRAFFIC[traffic.kind], partner, traffic.size_bytes
    return (COMPUTE if category == COMPUTATION else OVERHEAD), None, None


def _column(pieces: list[Ints | None], lengths: list[int], otherwise: int) -> Ints:
    return np.concatenate(
        [
            np.zeros(0, np.int64),
            *(
                np.full(length, otherwise) if piece is None else np.broadcast_to(piece, (length,))
                for piece, length in zip(pieces, lengths, strict=True)
            ),
        ]
    )


def _ascending(begin: Array, rank: Ints) -> Array:
    """Times of a rank never go back: they are sums of a clock and its origin, which may round by a unit in the last
    place."""
    back = np.flatnonzero((begin[1:] < begin[:-1]) & (rank[1:] == rank[:-1]))
    while back.size:
        begin[back + 1] = begin[back]
        back = np.flatnonzero((begin[1:] < begin[:-1]) & (rank[1:] == rank[:-1]))
    return begin


assert len(KINDS) == len(CATEGORY)
