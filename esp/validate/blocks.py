"""What each processor is predicted to do between messages, for a simulator to repeat.

A listener of the walk adds up the time that a processor spends on anything but messages, and writes down each message
that it sends or receives together with what was added up until then. The walk takes every iteration.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import walk
from esp import api
from esp.errors import PredictionError
from interpreter.engine import interpret
from interpreter.listeners import Correctable, Latest, Traffic
from interpreter.metrics import WAITING, Index
from interpreter.result import Result
from interpreter.setting import Setting
from sag.machine import Machine

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STAGGER_S = 1e-11
"""By how much sends are late, times the rank: of messages of the same instant the lower rank enters first, in the model
as in the simulation, which otherwise decides by an accident of its data structures."""

_EVENT = np.dtype([("before", "<f8"), ("after", "<f8"), ("sends", "<i8"), ("partner", "<i8"), ("bytes", "<i8")])


class Blocks(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of all processors, those of a processor in the order in which it sends or receives them: (E,) each."""

    procs: int
    rank: Ints
    before_s: Floats
    """Computation since the message before."""
    busy_s: Floats
    """Of a send: how long it keeps its caller."""
    sends: NDArray[np.bool_]
    partner: Ints
    size_bytes: Ints
    called_s: Floats
    """When a send is called, or from when on a receive takes the message."""
    rest_s: Floats
    """(P,) computation after the last message."""

    def sizes(self) -> Ints:
        """The sizes that occur."""
        return np.array(sorted(set(self.size_bytes.tolist())), dtype=np.int64)

    def pairs(self) -> tuple[Ints, Ints]:
        """Who sends to whom."""
        found = sorted(set(zip(self.rank[self.sends].tolist(), self.partner[self.sends].tolist(), strict=True)))
        ends = np.array(found, dtype=np.int64).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]

    def write(self, file: Path, after_s: Floats, seed: int | None = None) -> None:
        """The file that a simulated node program reads (`esp_simulation.f90`). `after_s` (E,): how long each message
        keeps its caller beyond what the simulator does by itself. `seed`: sends of the same instant come in an order by
        lot, not the lower rank first."""
        late = self.rank if seed is None else self.procs * np.random.default_rng(seed).random(self.rank.size)
        events = np.zeros(self.rank.size, _EVENT)
        events["before"] = self.before_s + np.where(self.sends, late * STAGGER_S, 0.0)
        events["after"] = after_s
        events["sends"], events["partner"], events["bytes"] = self.sends, self.partner, self.size_bytes
        count, ends, start = self._places()
        with file.open("wb") as out:
            out.write(start.astype("<i8").tobytes())
            for rank in range(self.procs):
                out.write(count[rank].astype("<i8").tobytes() + self.rest_s[rank].astype("<f8").tobytes())
                out.write(events[ends[rank] - count[rank] : ends[rank]].tobytes())

    def moments(self, file: Path) -> tuple[Floats, Floats]:
        """(E,) when each message was called, and when it was done, from the file that the program leaves."""
        data = file.read_bytes() if self.rank.size else b""
        pairs = [
            np.frombuffer(data, "<f8", 2 * count, start - 1)
            for count, _, start in zip(*self._places(), strict=True)
            if count
        ]
        both = np.concatenate([np.zeros(0), *pairs]).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def _places(self) -> tuple[Ints, Ints, Ints]:
        """(P,) how many events a processor has, the first event after its own, and the byte where its part begins."""
        count = np.bincount(self.rank, minlength=self.procs)
        ends = np.cumsum(count)
        return count, ends, 1 + 8 * self.procs + 16 * np.arange(self.procs) + _EVENT.itemsize * (ends - count)


def predicted_blocks(stages: api.Stages, machine: Machine, request: api.Request) -> tuple[Result, Blocks]:
    """Predict without input and output, every iteration walked.

    Raises:
        PredictionError: a branch is weighted by its probability, which nobody can run.
    """
    line_of = {aau.id: aau.span.line for aau in walk(stages.graph.body)}

    def attempt(setting: Setting) -> tuple[Result, _Recorder]:
        recorder = Latest(lambda: _Recorder(stages.node_program.layouts.procs, line_of))
        setting = replace(setting, io=False, force_unroll=True)
        return interpret(stages.node_program, stages.graph, machine, setting, recorder), recorder.made

    (prediction, recorder), _ = api.interpreted(stages, request, attempt)
    if recorder.weighted is not None:
        where = f"{stages.node_program.file}:{recorder.weighted}"
        raise PredictionError(
            "a branch is taken with a probability here, which cannot be simulated.",
            where=where,
            hint="Give the value that its condition depends on with --set.",
        )
    return prediction, recorder.blocks()


class _Event(Struct, frozen=True, eq=False):
    """Messages of one phase that are sent or received, one entry for each: columns as in `Blocks`."""

    rank: Ints
    before_s: Floats
    busy_s: Floats
    sends: NDArray[np.bool_]
    partner: Ints
    size_bytes: Ints
    called_s: Floats


class _Recorder(Correctable):
    """The listener. Corrections change neither computation nor what the simulator finds by itself: who waits."""

    def __init__(self, procs: int, line_of: Mapping[int, int]) -> None:
        self.procs = procs
        self.line_of = line_of
        self.weighted: int | None = None
        """A line with a branch that is taken with a probability."""
        self.pending = np.zeros(procs)
        self.events: list[_Event] = []

    def spent(
        self,
        aau: int,
        category: int,
        began: Floats,
        seconds: Floats,
        ranks: Index,
        traffic: Traffic | None,
        weight: float,
    ) -> None:
        """Add up, or write down a message."""
        if weight != 1.0 and self.weighted is None:
            self.weighted = self.line_of[aau]
        if category == WAITING:
            return
        where = slice(None) if ranks is None else ranks
        if traffic is None or traffic.partner is None or traffic.size_bytes is None:
            self.pending[where] += seconds[0]
            return
        who = np.arange(self.procs)[where]
        busy, partner, size, called, sends = (
            np.broadcast_to(np.asarray(each), who.shape)
            for each in (seconds[0], traffic.partner, traffic.size_bytes, began[0], traffic.kind == "send")
        )
        self.events.append(_Event(who, self.pending[who], busy, sends, partner, size, called))
        self.pending[who] = 0.0

    def blocks(self) -> Blocks:
        """All of it, processor by processor."""
        columns = {
            name: np.concatenate([getattr(each, name) for each in self.events]) if self.events else np.zeros(0, kind)
            for name, kind in _COLUMNS.items()
        }
        order = np.argsort(columns["rank"], kind="stable")
        return Blocks(
            procs=self.procs, rest_s=self.pending, **{name: column[order] for name, column in columns.items()}
        )


_COLUMNS = {
    "rank": np.int64,
    "before_s": np.float64,
    "busy_s": np.float64,
    "sends": np.bool_,
    "partner": np.int64,
    "size_bytes": np.int64,
    "called_s": np.float64,
}
