"""The node program run with MPI: does it print what the serial program prints, and send what is predicted?"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill

from msgspec import Struct

from esp.building import build, compiler_of_mpi, emitted, launcher_of_mpi, write
from esp.tools import call, tool
from esp.validate.answer import difference
from esp.validate.counts import Counts, counted, predicted
from esp.validate.job import Job, Report, check_processors, columns
from esp.validate.serial import expected_of
from esp.validate.tracing import same_partners, told
from interpreter.result import Assumption

RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""More ranks than cores, also in a container: Open MPI must be told, others need not."""


class Outcome(Struct, frozen=True, kw_only=True):
    """One run against the serial program and the prediction."""

    procs: int
    difference: str
    """How the answer differs from the serial one; empty where it does not."""
    predicted: Counts
    counted: Counts
    same_partners: bool = True
    """Whether traces, if they are asked for, say so of each message and its partner."""
    unknown: tuple[Assumption, ...] = ()
    """What the prediction assumes of a flow that data decide."""
    told: tuple[Assumption, ...] = ()
    """Loops whose trip count the user has told."""
    native: bool = False
    """Whether collectives are MPI's own, so that there is nothing to compare."""

    @property
    def same_messages(self) -> bool:
        """Whether every processor sent what was predicted, line by line."""
        return self.predicted == self.counted and self.same_partners

    @property
    def may_differ(self) -> bool:
        """Whether messages differ, and nobody can say that they should not."""
        return bool(self.unknown) and not self.native and not self.same_messages


def validate(job: Job) -> Report:
    """Build and run the node program for each number of processors, and compare.

    Raises:
        esp.errors.PredictionError: a tool is missing, or a program does not compile or run.
    """
    for each in ("gfortran", compiler_of_mpi(), launcher_of_mpi(), "make"):
        tool(each)
    check_processors(job, max(256, 32 * (os.cpu_count() or 1)), "each is a process of this computer")
    expected = expected_of(job)
    outcomes: list[Outcome] = []
    before: Path | None = None
    for procs in job.procs:
        found, before = _outcome(job, procs, expected, before)
        outcomes.append(found)
    return Report(table=table(outcomes), faults=faults(outcomes), remarks=remarks(outcomes))


def _outcome(
    job: Job, procs: int | None, expected: Callable[[int], str], like: Path | None
) -> tuple[Outcome, Path]:
    request = job.request(procs)
    emission = emitted(job.source, job.system, request, traces=job.traces is not None, native=job.native)
    place = job.folder / f"{emission.name}-{emission.procs}"
    write(emission, place, like)
    build(place)
    answer, counts = run(place / emission.name, emission.procs, **told(job, emission))
    expectation = predicted(job.source, job.system, request)
    found = Outcome(
        procs=emission.procs,
        difference=difference(expected(emission.procs), answer),
        predicted=expectation.counts,
        counted=counts,
        same_partners=same_partners(job, request, emission),
        unknown=expectation.unknown,
        told=expectation.told,
        native=job.native,
    )
    return found, place


def run(executable: Path, procs: int, **environment: str) -> tuple[str, Counts]:
    """Run a node program: what it prints, and what each processor sent.

    Raises:
        esp.errors.PredictionError: it fails.
    """
    counters = executable.parent / "counters"
    counters.unlink(missing_ok=True)
    words = [tool(launcher_of_mpi()), "-np", str(procs), str(executable)]
    told = {**RANKS, "ESP_COUNTERS": str(counters), **environment}
    answer = call(words, f"the node program fails on {procs} processors", executable.parent, **told)
    return answer, counted(counters)


def faults(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What is not as it should be."""
    found = [
        f"on {each.procs} processors the answer differs: {each.difference}." for each in outcomes if each.difference
    ]
    if not all(each.same_messages or each.may_differ or each.native for each in outcomes):
        found.append("the messages that were sent are not those that were predicted.")
    return tuple(found)


def remarks(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What explains messages that are not the same."""
    if any(each.native for each in outcomes):
        return ("messages are not compared: collectives are MPI's own.",)
    found = [each for each in outcomes if not each.same_messages and (each.unknown or each.told)]
    if not found:
        return ()
    lines = sorted({line for each in found for _, line in different(each)})
    which = f"messages of line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}" if lines else "messages"
    may = any(each.may_differ for each in found)
    why = "and need not be: data decide the flow" if may else "but the flow is as --set says"
    told = {f"{which} are not those predicted, {why}.": None}
    for each in (each for outcome in found for each in outcome.told):
        trips = f"TRIPS_{each.span.line}" if each.span is not None else "the trip count"
        told[f"- {each.text}; if the program runs it otherwise, {trips} is wrong and messages differ"] = None
    for each in (each for outcome in found for each in outcome.unknown):
        told[f"- {each.text}"] = None
        if each.code == "while" and each.span is not None:
            told[f"- --set TRIPS_{each.span.line}=N says how often it really runs; then they must be the same"] = None
    return tuple(fill(each, 80, subsequent_indent="  " * each.startswith("-")) for each in told)


def different(outcome: Outcome) -> set[tuple[int, int]]:
    """(rank, source line) of messages that are not as predicted."""
    one, other = outcome.predicted, outcome.counted
    return {each for each in one.keys() | other.keys() if one.get(each) != other.get(each)}


HEAD = ("procs", "answer", "messages", "counted", "bytes", "counted", "each processor")


def cells(outcome: Outcome) -> list[str]:
    """One line of the table."""
    sums = [
        str(sum(value[part] for value in counts.values()))
        for part in (0, 1)
        for counts in (outcome.predicted, outcome.counted)
    ]
    answer = "differs" if outcome.difference else "same"
    if outcome.native:
        sums[1] = sums[3] = "-"
    return [str(outcome.procs), answer, *sums, _verdict(outcome)]


def _verdict(outcome: Outcome) -> str:
    if outcome.native:
        return "not compared"
    if outcome.may_differ:
        return "may differ"
    return "same" if outcome.same_messages else "differs"


def table(outcomes: Sequence[Outcome]) -> str:
    """One line for each number of processors."""
    return columns([list(HEAD), *map(cells, outcomes)])
