"""`esp validate`: run the node program and hold the prediction against it."""

import argparse
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from esp.cli.compile import add_looks, add_switches, build, call, emitted, tool, write
from esp.cli.console import console_for
from esp.cli.options import add_program, pairs, procs_of, request_of
from esp.errors import CheckFailedError, UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp validate --help` need not wait for
    from esp.api import Request, Source
    from interpreter.listeners import Array, Ints
    from sag.unit import System

EXAMPLES = """\
examples:
  esp validate laplace.hpf --procs 1,2,4
  esp validate laplace.hpf --procs 6 --set n=50 --distribute 'TEMP=(CYCLIC,BLOCK)'

Builds the node program for each number of processors, runs it with mpirun, and compares what it prints with the
serial program (gfortran) and the messages that it sends with the prediction, processor by processor.
"""

SERIAL_FLAGS = ("-O2", "-w", "-ffp-contract=off", "-ffree-line-length-none", "-ffixed-line-length-none")
TOLERANCE = 1e-12
"""Of reals, relative; single precision is printed with nine digits at most and gets `SINGLE`."""
SINGLE = 1e-5

RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""More ranks than cores, also in a container: Open MPI must be told, others need not."""

Counts = dict[tuple[int, int], tuple[int, int]]
"""(rank, source line) -> messages, bytes that the rank sent on behalf of the line."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One run against the serial program and the prediction."""

    procs: int
    difference: str
    """How the answer differs from the serial one; empty where it does not."""
    predicted: Counts
    counted: Counts

    @property
    def same_messages(self) -> bool:
        """Whether every processor sent what was predicted, line by line."""
        return self.predicted == self.counted


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.epilog = EXAMPLES
    parser.usage = "esp validate PROG [options]"
    add_program(parser, "numbers of processors, such as 1,2,4 (default: what the program says)")
    add_switches(parser)
    group = parser.add_argument_group("how")
    group.add_argument("--against", choices=("mpi",), default="mpi", help="what is run: native MPI")
    group.add_argument("--keep", metavar="FOLDER", help="keep sources and executables there")
    add_looks(group)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        CheckFailedError: an answer or the messages are not as they should be.
    """
    for each in ("gfortran", "mpif90", "mpirun", "make"):
        tool(each)
    console = console_for(options.color, quiet=options.quiet)
    if options.program == "-":
        raise UsageError("validate needs a file: the serial program is compiled from it.")
    from esp import api
    from esp.cli.reading import source_of

    source = source_of(options.program, options.form)
    system = api.load_machine(options.system)
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.keep or scratch)
        text = with_values("\n".join(source.program.lines) + "\n", pairs("--set", options.set, lower=True))
        fixed = options.form == "fixed" or Path(options.program).suffix in (".f", ".for", ".F")
        expected = serial_answer(text, folder / "serial", fixed=fixed)
        for procs in procs_of(options.procs) or (None,):
            outcomes.append(validated(source, system, request_of(options, procs), expected, folder))
    console.deliver(table(outcomes))
    wrong = [each for each in outcomes if each.difference]
    if wrong:
        raise CheckFailedError(f"on {wrong[0].procs} processors the answer differs: {wrong[0].difference}.")
    if not all(each.same_messages for each in outcomes):
        raise CheckFailedError("the messages that were sent are not those that were predicted.")
    return 0


def validated(source: "Source", system: "System", request: "Request", expected: str, folder: Path) -> Outcome:
    """Build and run one node program, and compare."""
    emission = emitted(source, system, request)
    place = folder / f"{emission.name}-{emission.procs}"
    write(emission, place)
    build(place)
    answer, counted = run(place / emission.name, emission.procs)
    return Outcome(
        procs=emission.procs,
        difference=difference(expected, answer),
        predicted=predicted_counts(source, system, request),
        counted=counted,
    )


# --- the serial program ----------------------------------------------------------------------------------------


def with_values(text: str, values: dict[str, str]) -> str:
    """The source text with other values of its PARAMETERs; everything else stays as it was written."""
    lines = []
    for line in text.splitlines():
        changed = line
        if re.search(r"\bparameter\b", line, re.IGNORECASE) and not line.lstrip().startswith("!"):
            for name, value in values.items():
                pattern = rf"(?i)(\b{re.escape(name)}\s*=\s*)((?:[^,!()]|\([^()]*\))+)"
                changed = re.sub(pattern, rf"\g<1>{value}", changed)
        lines.append(changed)
    return "\n".join(lines) + "\n"


def serial_answer(text: str, folder: Path, *, fixed: bool = False) -> str:
    """What the serial program prints: HPF directives are comments to gfortran.

    Raises:
        esp.errors.PredictionError: it does not compile or run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = "serial.f" if fixed else "serial.f90"
    (folder / name).write_text(text)
    call([tool("gfortran"), *SERIAL_FLAGS, name, "-o", "serial"], "the serial program does not compile", folder)
    return call([str(folder / "serial")], "the serial program fails", folder)


# --- running and comparing --------------------------------------------------------------------------------------


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
    counts: Counts = {}
    for line in counters.read_text().splitlines():
        rank, at, messages, size = map(int, line.split())
        counts[rank, at] = (messages, size)
    return answer, counts


def difference(expected: str, found: str) -> str:
    """How two outputs differ: integers, logicals and words exactly, reals by `TOLERANCE`; empty where they agree."""
    left, right = expected.split(), found.split()
    if len(left) != len(right):
        return f"{len(right)} items instead of {len(left)}"
    for one, other in zip(left, right, strict=True):
        if one != other and not _close(one, other):
            return f"{other} instead of {one}"
    return ""


def _close(one: str, other: str) -> bool:
    if "." not in one or "." not in other:
        return False
    try:
        first, second = float(one), float(other)
    except ValueError:
        return False
    digits = len(re.sub(r"[eE].*|\D", "", one))
    tolerance = TOLERANCE if digits > 9 else SINGLE
    return abs(first - second) <= tolerance * max(abs(first), abs(second))


def predicted_counts(source: "Source", system: "System", request: "Request") -> Counts:
    """The messages and bytes that a prediction lets each processor send, by source line."""
    from aag.graph.aau import walk
    from esp import api
    from interpreter.engine import interpret
    from interpreter.setting import Setting
    from sag.scenario import export

    stages = api.lower_source(source, system, request)
    tally = Tally({aau.id: aau.span.line for aau in walk(stages.graph.body)})
    setting = Setting(io=False, force_unroll=True, values=request.values)
    interpret(stages.node_program, stages.graph, export(system, request.scenario), setting, tally)
    return tally.counts


class Tally:
    """A listener that counts messages by sender and line."""

    def __init__(self, line_of: dict[int, int]) -> None:
        self._line_of = line_of
        self.counts: Counts = {}

    def entered(self, aau: object, clock: object) -> None:
        """Nothing to count."""

    def left(self, aau: object, clock: object) -> None:
        """Nothing to count."""

    def skipped(self, aau: object, iterations: object) -> None:
        """Nothing is skipped where every iteration is walked."""

    def messages(
        self,
        aau: int,
        name: str,  # noqa: ARG002 (the protocol says what a listener is told)
        source: "Ints",
        destination: "Ints",  # noqa: ARG002 (as above)
        size_bytes: "Ints",
        sent: "Array",  # noqa: ARG002 (as above)
        received: "Array",  # noqa: ARG002 (as above)
    ) -> None:
        """Count the messages of one phase."""
        line = self._line_of[aau]
        for rank, size in zip(source, size_bytes, strict=True):
            messages, total = self.counts.get((int(rank), line), (0, 0))
            self.counts[int(rank), line] = (messages + 1, total + int(size))


def table(outcomes: Sequence[Outcome]) -> str:
    """One line for each number of processors."""
    head = ["procs", "answer", "messages", "counted", "bytes", "counted", "each processor"]
    rows = [head]
    for each in outcomes:
        sums = [
            str(sum(value[part] for value in counts.values()))
            for part in (0, 1)
            for counts in (each.predicted, each.counted)
        ]
        answer = "differs" if each.difference else "same"
        rows.append([str(each.procs), answer, *sums, "same" if each.same_messages else "differs"])
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    return "".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) + "\n" for row in rows)
