"""A prediction of esp in the shape of a simulation: what each processor did, message by message."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aag.graph.aau import AAU
from esp.api import Request, Stages, load_machine, lower_source, read_source
from interpreter.engine import interpret
from interpreter.listeners import Latest, Listener
from interpreter.result import Result
from interpreter.setting import Setting
from sag.scenario import Scenario, export

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PROGRAMS = Path(__file__).parent / "programs"

SPEED = 1e9
"""Factor by which processor and memory are made faster where communication alone is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """Of one prediction, arrays with one entry for each processor."""

    result: Result
    end_s: Floats
    waiting_s: Floats
    """Waiting before the own end: for partners and links."""
    sent: Integers
    sent_bytes: Integers

    @property
    def time_s(self) -> float:
        return float(self.result.time_s[0])

    @property
    def messages(self) -> int:
        return self.result.messages

    @property
    def bytes(self) -> int:
        return self.result.bytes


class _Sent(Listener):
    """Counts what each processor sends, which is all of it only if no iterations are skipped."""

    def __init__(self, procs: int) -> None:
        self.complete = True
        self.messages_of = np.zeros(procs, np.int64)
        self.bytes_of = np.zeros(procs, np.int64)

    def messages(
        self,
        aau: int,
        name: str,
        source: Integers,
        destination: Integers,
        size_bytes: Integers,
        sent: Floats,
        received: Floats,
    ) -> None:
        np.add.at(self.messages_of, source, 1)
        np.add.at(self.bytes_of, source, size_bytes)

    def skipped(self, aau: AAU, iterations: Integers) -> None:
        self.complete = False


def lowered(
    program: str,
    procs: int,
    *,
    grid: tuple[int, ...] | None = None,
    distribute: Mapping[str, str] | None = None,
    **values: Any,
) -> Stages:
    """A program of this folder, or one that comes with esp, with its PARAMETERs."""
    own = PROGRAMS / f"{program}.hpf"
    request = Request(procs=procs, grid=grid, distribute=dict(distribute or {}), values=values)
    return lower_source(read_source(own if own.exists() else program), load_machine("ipsc860"), request)


def predict(
    stages: Stages, *, speed: float = SPEED, sets: Mapping[str, Any] | None = None, timed: bool = False
) -> Predicted:
    """Interpret on the iPSC/860 without input and output; once more where loops jumped, to count messages.

    `timed`: the result tells of the timed region only.
    """
    scenario = Scenario(processor_speed=speed, memory_speed=speed, io=False, sets=tuple((sets or {}).items()))
    machine = export(load_machine("ipsc860"), scenario)
    procs = stages.node_program.layouts.procs
    latest = Latest(lambda: _Sent(procs))
    result = interpret(stages.node_program, stages.graph, machine, Setting(io=False, timed=timed), latest)
    if not latest.made.complete:
        every = Setting(io=False, force_unroll=True, timed=timed)
        walked = interpret(stages.node_program, stages.graph, machine, every, latest)
        assert latest.made.complete
        assert np.allclose(walked.time_s, result.time_s, rtol=1e-9)
    books = latest.made
    each = result.per_processor
    end_s = each.end_s[0]
    return Predicted(
        result=result,
        end_s=end_s,
        waiting_s=each.waiting_s[0] - (result.time_s[0] - end_s),
        sent=books.messages_of,
        sent_bytes=books.bytes_of,
    )
