"""The node program run with MPI: does it print what the serial program prints, and send what is predicted?"""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from esp.building import build, emitted, write
from esp.tools import call, tool
from esp.validate.answer import difference
from esp.validate.counts import Counts, counted, predicted_counts
from esp.validate.job import Job, Report, columns
from esp.validate.serial import expected_of
from esp.validate.tracing import same_partners, told

TOOLS = ("gfortran", "mpif90", "mpirun", "make")

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

    @property
    def same_messages(self) -> bool:
        """Whether every processor sent what was predicted, line by line."""
        return self.predicted == self.counted and self.same_partners


def validate(job: Job) -> Report:
    """Build and run the node program for each number of processors, and compare.

    Raises:
        esp.errors.PredictionError: a tool is missing, or a program does not compile or run.
    """
    for each in TOOLS:
        tool(each)
    expected = expected_of(job)
    outcomes: list[Outcome] = []
    before: Path | None = None
    for procs in job.procs:
        found, before = _outcome(job, procs, expected, before)
        outcomes.append(found)
    return Report(table=table(outcomes), faults=faults(outcomes))


def _outcome(
    job: Job, procs: int | None, expected: Callable[[int], str], like: Path | None
) -> tuple[Outcome, Path]:
    request = job.request(procs)
    emission = emitted(job.source, job.system, request, traces=job.traces is not None)
    place = job.folder / f"{emission.name}-{emission.procs}"
    write(emission, place, like)
    build(place)
    answer, counts = run(place / emission.name, emission.procs, **told(job, emission))
    found = Outcome(
        procs=emission.procs,
        difference=difference(expected(emission.procs), answer),
        predicted=predicted_counts(job.source, job.system, request),
        counted=counts,
        same_partners=same_partners(job, request, emission),
    )
    return found, place


def run(executable: Path, procs: int, **environment: str) -> tuple[str, Counts]:
    """Run a node program: what it prints, and what each processor sent.

    Raises:
        esp.errors.PredictionError: it fails.
    """
    counters = executable.parent / "counters"
    counters.unlink(missing_ok=True)
    words = [tool("mpirun"), "-np", str(procs), str(executable)]
    told = {**RANKS, "ESP_COUNTERS": str(counters), **environment}
    answer = call(words, f"the node program fails on {procs} processors", executable.parent, **told)
    return answer, counted(counters)


def faults(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What is not as it should be."""
    found = [
        f"on {each.procs} processors the answer differs: {each.difference}." for each in outcomes if each.difference
    ]
    if not all(each.same_messages for each in outcomes):
        found.append("the messages that were sent are not those that were predicted.")
    return tuple(found)


HEAD = ("procs", "answer", "messages", "counted", "bytes", "counted", "each processor")


def cells(outcome: Outcome) -> list[str]:
    """One line of the table."""
    sums = [
        str(sum(value[part] for value in counts.values()))
        for part in (0, 1)
        for counts in (outcome.predicted, outcome.counted)
    ]
    answer = "differs" if outcome.difference else "same"
    return [str(outcome.procs), answer, *sums, "same" if outcome.same_messages else "differs"]


def table(outcomes: Sequence[Outcome]) -> str:
    """One line for each number of processors."""
    return columns([list(HEAD), *map(cells, outcomes)])
