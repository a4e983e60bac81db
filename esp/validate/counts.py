"""Messages and bytes of each processor and source line, as predicted and as counted by a node program."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aag.graph.aau import walk
from esp import api
from esp.computed import Computed
from esp.validate.flow import undecided_lines
from esp.validate.guesses import lines_by_contents
from interpreter.engine import interpret
from interpreter.listeners import Array, Ints, Latest, Listener
from interpreter.result import Assumption, Result
from interpreter.setting import Setting
from sag.scenario import export
from sag.unit import System

Counts = dict[tuple[int, int], tuple[int, int]]
"""(rank, source line) -> messages, bytes that the rank sent on behalf of the line."""


def counted(file: Path) -> Counts:
    """What a node program wrote to its file of counters."""
    counts: Counts = {}
    for line in file.read_text().splitlines():
        rank, at, messages, size = map(int, line.split())
        counts[rank, at] = (messages, size)
    return counts


class PredictedCounts(Struct, frozen=True):
    """Predicted messages, and why those of some lines may rightly be others in a run: data decide the flow."""

    counts: Counts
    unknown: tuple[Assumption, ...] = ()
    undecided: frozenset[int] = frozenset()
    """The lines that run as often as data decide."""
    told: tuple[Assumption, ...] = ()
    """Loops whose trip count is what the user says: where the program does it another number of times, they differ."""


def predicted(source: api.Source, system: System, request: api.Request) -> PredictedCounts:
    """The messages and bytes that a prediction lets each processor send, by source line, and what it had to assume."""
    stages = api.lower_source(source, system, request)
    lines = {aau.id: aau.span.line for aau in walk(stages.graph.body)}
    machine = export(system, request.scenario)

    def attempt(setting: Setting) -> tuple[Result, MessageTally]:
        tally = Latest(lambda: MessageTally(lines))
        setting = replace(setting, io=False, force_unroll=True, memory=False)  # misses move no message
        return interpret(stages.node_program, stages.graph, machine, setting, tally), tally.made

    (found, tally), computed = api.interpreted(stages, request, attempt)
    unknown, undecided = undecided_of(stages, request, found, computed)
    told = tuple(each for each in found.assumptions if each.code == "while" and each not in unknown)
    return PredictedCounts(tally.counts, unknown, undecided, told)


def undecided_of(
    stages: api.Stages, request: api.Request, found: Result, computed: Computed
) -> tuple[tuple[Assumption, ...], frozenset[int]]:
    """What a prediction assumes of the way that a run takes, and the lines that run as often as data decide.

    Args:
        stages: the program.
        request: for what it is predicted.
        found: the prediction.
        computed: what it had to compute for that.
    """
    known = (*found.assumptions, *computed.assumptions)
    unknown = tuple(each for each in known if _is_of_flow(each, request))
    undecided = undecided_lines(stages.graph, unknown, computed.taken)
    layouts = stages.node_program.layouts
    if chosen := lines_by_contents(stages.node_program.unit, layouts.guessed):
        undecided |= chosen
        notes = (each for each in layouts.notes if each.code == "W214")
        unknown += tuple(Assumption(code="contents", text=each.message, span=each.span) for each in notes)
    return unknown, undecided


def _is_of_flow(assumption: Assumption, request: api.Request) -> bool:
    """Whether it is about which way a run takes, and not what the user said."""
    line = 0 if assumption.span is None else assumption.span.line
    return assumption.code in ("branch", "selected") or (
        assumption.code == "while" and f"trips_{line}" not in request.values
    )


class MessageTally(Listener):
    """A listener that counts messages by sender and line."""

    def __init__(self, line_of: dict[int, int]) -> None:
        self._line_of = line_of
        self.counts: Counts = {}

    def messages(
        self,
        aau: int,
        name: str,  # noqa: ARG002 (the protocol says what a listener is told)
        source: Ints,
        destination: Ints,  # noqa: ARG002 (as above)
        size_bytes: Ints,
        sent: Array,  # noqa: ARG002 (as above)
        received: Array,  # noqa: ARG002 (as above)
    ) -> None:
        """Count the messages of one phase."""
        line = self._line_of[aau]
        for rank, size in zip(source, size_bytes, strict=True):
            messages, total = self.counts.get((int(rank), line), (0, 0))
            self.counts[int(rank), line] = (messages + 1, total + int(size))
