"""A time that a prediction cannot fall below, and the search that predicts no more than such bounds leave open.

The bound is the prediction itself without cache misses and without waiting for links, which are what costs most to
predict. Why it is one: without waits for links, the engine's clocks are made of three operations, none of which gives
less where it is given more: adding a time that is not negative, the larger of two clocks, and the average of branches
whose condition is not known. Who sends what to whom, how often a loop runs and which branch is taken are found without
looking at a clock. So leaving a cache miss out makes no clock larger. A wait for a link is a time that is added, so
without it no clock is larger, either; and that step comes first, because with links the order of messages on them may
depend on the clocks, and then nothing of this holds.

Where transmission hides behind computation, less computation hides less: there messages are left out, too.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from esp.api import Request, Stages, interpreted
from esp.prediction import first
from interpreter.engine import interpret
from interpreter.result import Result
from interpreter.setting import Setting
from sag.scenario import export
from sag.unit import System

ROUNDING = 1e-9
"""Loops are closed to this (D5), so a bound is taken to be that much less."""

UNKNOWN, BOUND, EXACT = range(3)
"""What is known of a choice."""


def lower_bound(stages: Stages, system: System, request: Request) -> float:
    """Seconds that `interpret_stages` cannot fall below for the same arguments.

    It is 0 for the time between two readings of the clock: processors do parts of that before the last one has come
    to the first reading, so what they compute does not bound it.

    Raises:
        aag.diagnostics.SourceError: values prevent it.
    """
    if request.timed:
        return 0.0
    machine = export(system, request.scenario)
    if machine.network is not None and machine.network.overlap.any():
        machine = replace(machine, network=None)

    def attempt(setting: Setting) -> Result:
        return interpret(stages.node_program, stages.graph, machine, replace(setting, memory=False, contention=False))

    found, _ = interpreted(stages, request, attempt)
    return first(found.time_s) * (1.0 - ROUNDING)


class Search(Struct, kw_only=True):
    """A search under way, or over: what is known of each choice."""

    floor: list[float]
    """What each cannot fall below, or is."""
    known: list[int]
    """`UNKNOWN`, `BOUND` or `EXACT`."""
    found: list[int]
    """The best ones, in order: nothing that is not among them is smaller."""
    interrupted: bool = False

    @property
    def exact(self) -> list[int]:
        """Choices whose figure is known, the smallest first; impossible ones not."""
        done = [at for at, known in enumerate(self.known) if known == EXACT and self.floor[at] < inf]
        return sorted(done, key=lambda at: (self.floor[at], at))

    @property
    def rest(self) -> float:
        """What all that is not known exactly cannot fall below; infinite where nothing is left."""
        return min((floor for floor, known in zip(self.floor, self.known, strict=True) if known != EXACT), default=inf)


def smallest(
    count: int, bound: Callable[[int], float], figure: Callable[[int], float], top: int, *, wanted: Sequence[int] = ()
) -> Search:
    """Find the smallest of some figures, knowing as few of them as their bounds allow; Ctrl-C ends it early.

    What might be the smallest, as far as is known, is looked at more closely; so whatever comes up with its figure
    known is smaller than all that is left. Equal ones come in the order of their numbers.

    Args:
        count: how many choices there are.
        bound: what the figure of a choice cannot fall below.
        figure: the figure of a choice; infinite where it is impossible.
        top: how many of the smallest are wanted, in order.
        wanted: choices whose figure is wanted in any case.
    """
    state = Search(floor=[0.0] * count, known=[UNKNOWN] * count, found=[])
    steps = {UNKNOWN: bound, BOUND: figure}
    try:
        for at in wanted:
            state.floor[at] = figure(at)
            state.known[at] = EXACT
        heap = [(state.floor[at], at) for at in range(count)]
        heapify(heap)
        while heap and heap[0][0] < inf and len(state.found) < top:
            at = heappop(heap)[1]
            if state.known[at] == EXACT:
                state.found.append(at)
                continue
            state.floor[at] = steps[state.known[at]](at)
            state.known[at] += 1
            heappush(heap, (state.floor[at], at))
    except KeyboardInterrupt:
        state.interrupted = True
    return state
