"""The node program run with MPI: does it print what the serial program prints, and send what is predicted?"""

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from msgspec import Struct

from aag.ir.statements import CallStmt
from aag.ir.units import Program
from aag.ir.visitors import walk_statements
from aag.pipeline import main_unit
from aag.spmd.emit import Emission
from aag.spmd.names import CLOCKS
from aag.wording import plural
from esp import api
from esp.building import build, compiler_of_mpi, emitted, launcher_of_mpi, write
from esp.tools import call, tool
from esp.validate.answer import difference, unsteady_items
from esp.validate.counts import Counts, PredictedCounts, counted, predicted
from esp.validate.flow import lines_text
from esp.validate.given import NOTHING, GivenInput
from esp.validate.job import Job, Validation, check_processors, computed_names
from esp.validate.serial import Serial
from esp.validate.tracing import other_partners, told

RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""More ranks than cores, also in a container: Open MPI must be told, others need not."""


class Executed(Struct, frozen=True, kw_only=True):
    """One run against the serial program and the prediction."""

    procs: int
    difference: str
    """How the answer differs from the serial one; empty where it does not."""
    predicted: PredictedCounts
    counted: Counts
    other_partners: frozenset[int] = frozenset()
    """Lines whose messages are not those predicted, by the partners that traces tell; empty without traces."""
    unsteady: int = 0
    """How many items two runs of the serial program print differently; they are not compared."""
    reads_clock: bool = False
    computed: tuple[str, ...] = ()
    """Names that the user says a value of, though the program computes them."""
    native: bool = False
    """Whether collectives are MPI's own, so that there is nothing to compare."""

    @property
    def different(self) -> frozenset[int]:
        """Source lines on whose behalf some processor did not send what was predicted."""
        one, other = self.predicted.counts, self.counted
        counts = {line for rank, line in one.keys() | other.keys() if one.get((rank, line)) != other.get((rank, line))}
        return self.other_partners | counts

    @property
    def excused(self) -> frozenset[int]:
        """Those of them that run as often as data decide."""
        return self.different & self.predicted.undecided

    @property
    def wrong(self) -> frozenset[int]:
        """Those of them that should be the same."""
        return frozenset() if self.native else self.different - self.predicted.undecided


def validate(job: Job) -> Validation:
    """Build and run the node program for each number of processors, and compare.

    Raises:
        esp.errors.PredictionError: a tool is missing, or a program does not compile or run.
    """
    for each in ("gfortran", compiler_of_mpi(), launcher_of_mpi(), "make"):
        tool(each)
    check_processors(job, max(256, 32 * (os.cpu_count() or 1)), "each is a process of this computer")
    # All is lowered and predicted before anything is built, and built before anything runs.
    emissions = [_emission(job, procs) for procs in job.procs]
    expectations = [predicted(job.source, job.system, job.request(procs)) for procs in job.procs]
    before: Path | None = None
    for emission in emissions:
        place = _place(job, emission)
        write(emission, place, before)
        build(place)
        before = place
    serial = Serial(job, [each.procs for each in emissions])
    outcomes = [
        _outcome(job, job.request(procs), emission, expectation, serial)
        for procs, emission, expectation in zip(job.procs, emissions, expectations, strict=True)
    ]
    return Validation(found=tuple(outcomes), faults=faults(outcomes), remarks=remarks(outcomes))


def _emission(job: Job, procs: int | None) -> Emission:
    return emitted(job.source, job.system, job.request(procs), traces=job.traces is not None, native=job.native)


def _place(job: Job, emission: Emission) -> Path:
    return job.folder / f"{emission.name}-{emission.procs}"


def _outcome(
    job: Job, request: api.Request, emission: Emission, expectation: PredictedCounts, serial: Serial
) -> Executed:
    expected = serial.answer(emission.procs)
    executable = _place(job, emission) / emission.name
    answer, counts = run(executable, emission.procs, job.limit_s, job.given, **told(job, emission))
    differs, unsteady = difference(expected, answer, allowed=job.tolerance), frozenset[int]()
    if differs:
        unsteady = unsteady_items(expected, serial.again(emission.procs))
        differs = difference(expected, answer, unsteady, allowed=job.tolerance)
    return Executed(
        procs=emission.procs,
        difference=differs,
        unsteady=len(unsteady),
        reads_clock=reads_clock(job.source.program),
        computed=computed_names(job),
        predicted=expectation,
        counted=counts,
        other_partners=other_partners(job, request, emission),
        native=job.native,
    )


def reads_clock(program: Program) -> bool:
    """Whether the main program asks what time it is."""
    return any(isinstance(each, CallStmt) and each.name in CLOCKS for each in walk_statements(main_unit(program).body))


def run(
    executable: Path, procs: int, limit_s: float = 0.0, given: GivenInput = NOTHING, **environment: str
) -> tuple[str, Counts]:
    """Run a node program: what it prints, and what each processor sent.

    Raises:
        esp.errors.PredictionError: it fails, or not at its end after `limit_s` seconds.
    """
    counters = executable.parent / "counters"
    counters.unlink(missing_ok=True)
    words = [tool(launcher_of_mpi()), "-np", str(procs), str(executable)]
    told = {**RANKS, "ESP_COUNTERS": str(counters), **environment}
    fault = f"the node program fails on {plural(procs, 'processor')}"
    given.put(executable.parent)
    answer = call(words, fault, executable.parent, environment=told, limit_s=limit_s, text=given.text)
    return answer, counted(counters)


def faults(outcomes: Sequence[Executed]) -> tuple[str, ...]:
    """What is not as it should be."""
    found = [
        f"on {plural(each.procs, 'processor')} the answer differs: {each.difference}."
        + " The program reads the clock; times that it prints differ in every run." * each.reads_clock
        for each in outcomes
        if each.difference
    ]
    if wrong := frozenset[int]().union(*(each.wrong for each in outcomes)):
        found.append(f"the messages of {lines_text(wrong)} differ from the prediction.")
    return tuple(found)


def remarks(outcomes: Sequence[Executed]) -> tuple[str, ...]:
    """What explains messages that are not the same."""
    if any(each.native for each in outcomes):
        return ("messages are not compared: collectives are MPI's own.",)
    told: dict[str, None] = {}
    if items := max(outcome.unsteady for outcome in outcomes):
        what = "1 item is" if items == 1 else f"{items} items are"
        told[f"{what} not compared: two runs of the serial program print them differently."] = None
    for name in (name for outcome in outcomes if outcome.wrong for name in outcome.computed):
        told[
            f"- {name.upper()} is not a PARAMETER: the prediction uses the value of --set, the program computes it; "
            "if the values differ, messages differ"
        ] = None
    if may := frozenset[int]().union(*(each.excused for each in outcomes)):
        told[f"the messages of {lines_text(may)} may differ from the prediction: the flow depends on data."] = None
    for each in (each for outcome in outcomes if outcome.wrong for each in outcome.predicted.told):
        trips = f"TRIPS_{each.span.line}" if each.span is not None else "the trip count"
        told[f"- {each.text}; if the program runs it otherwise, {trips} is wrong and messages differ"] = None
    for each in (each for outcome in outcomes if outcome.excused for each in outcome.predicted.unknown):
        told[f"- {each.text}"] = None
        if each.code == "while" and each.span is not None:
            told[f"- --set TRIPS_{each.span.line}=N gives its real trip count; then the messages must agree"] = None
    return tuple(fill(each, 80, subsequent_indent="  " * each.startswith("-")) for each in told)
