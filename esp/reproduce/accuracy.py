"""Table 3: how far predictions are from executions, for each program over sizes and numbers of processors.

The paper compares with times measured on an iPSC/860. Here the emitted node program runs in SimGrid on the machine of
the description, and its computation takes the time that is predicted. So the errors are those of communication and
waiting.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from aag.running import scratch
from esp.api import Request, load_machine, lower_source, read_source
from esp.errors import PredictionError
from esp.explore.axes import values_of
from esp.reproduce.experiments import TABLE3, TABLE3_PROCS, TABLE3_WORST, AccuracyRow
from esp.tools import tool
from esp.validate.simgrid import TOOLS, prepared_of
from esp.values import value_of

Progress = Callable[[int, int, str], None]
"""Called with executions done, executions in all, and what runs next."""


class SimulatedExecution(Struct, frozen=True, kw_only=True):
    """One program with one size on some processors, predicted and executed."""

    program: str
    size: str
    procs: int
    predicted_s: float
    executed_s: float

    @property
    def error(self) -> float:
        """Absolute, in percent of the executed time."""
        return 100 * abs(self.predicted_s / self.executed_s - 1.0) if self.executed_s else 0.0


class RowErrors(Struct, frozen=True, kw_only=True):
    """A row of the table with its executions."""

    row: AccuracyRow
    executions: tuple[SimulatedExecution, ...]

    @property
    def least(self) -> float:
        """Percent."""
        return min(each.error for each in self.executions)

    @property
    def worst(self) -> SimulatedExecution:
        """The execution with the largest error."""
        return max(self.executions, key=lambda each: each.error)

    @property
    def most(self) -> float:
        """Percent."""
        return self.worst.error


class TableStatement(Struct, frozen=True, kw_only=True):
    """A statement about the table, and whether it holds."""

    text: str
    paper: bool
    holds: bool


class Accuracy(Struct, frozen=True, kw_only=True):
    """Table 3."""

    rows: tuple[RowErrors, ...]
    interrupted: bool = False

    @property
    def checked(self) -> tuple[TableStatement, ...]:
        """What is stated about it."""
        worst = max(each.most for each in self.rows)
        return (
            TableStatement(
                text=f"In the worst case the prediction is within {TABLE3_WORST:g} % of the execution.",
                paper=True,
                holds=worst <= TABLE3_WORST,
            ),
            TableStatement(
                text="For each program the largest error is at most the paper's.",
                paper=False,
                holds=all(each.most <= each.row.most for each in self.rows),
            ),
        )


def needed() -> None:
    """Check that everything is installed that executes programs on a simulated machine.

    Raises:
        PredictionError: something is missing.
    """
    for each in TOOLS:
        try:
            tool(each)
        except PredictionError as error:
            raise PredictionError(
                f"table3 executes node programs on a simulated machine, and {each} is not installed.",
                hint=f"{error.hint} The figures need nothing: `esp reproduce fig18`.",
            ) from None


def accuracy(
    rows: Sequence[AccuracyRow] = TABLE3,
    procs: Sequence[int] = TABLE3_PROCS,
    most: int | None = None,
    progress: Progress | None = None,
) -> Accuracy:
    """Predict and execute all programs, sizes and numbers of processors.

    Args:
        rows: those of the table that are wanted.
        procs: numbers of processors.
        most: sizes beyond it are left out.
        progress: called before each execution.

    Raises:
        PredictionError: a tool is missing, or a program does not compile or run.
    """
    needed()
    cases = [(row, size, each) for row in rows for size in _sizes(row, most) for each in procs]
    executions: dict[str, list[SimulatedExecution]] = {row.name: [] for row in rows}
    interrupted = False
    try:
        with scratch() as folder:
            before: Path | None = None
            for done, (row, size, number) in enumerate(cases):
                if progress is not None:
                    progress(done, len(cases), f"{row.name}, {_text(size)}, {number} processor{'s' * (number > 1)}")
                place = Path(folder) / f"{row.program}-{done}"
                executions[row.name].append(_executed(row, size, number, place, before))
                if before is not None:
                    shutil.rmtree(before)  # the run-time library has been taken over
                before = place
    except KeyboardInterrupt:
        interrupted = True
    found = tuple([RowErrors(row=row, executions=tuple(executions[row.name])) for row in rows if executions[row.name]])
    return Accuracy(rows=found, interrupted=interrupted)


Sizes = tuple[tuple[str, str], ...]


def _sizes(row: AccuracyRow, most: int | None) -> Iterator[Sizes]:
    """The sizes of a row: the PARAMETERs go up together."""
    names = [text.partition("=")[0] for text in row.sizes]
    for values in zip(*(values_of(text.partition("=")[2], row.name) for text in row.sizes), strict=True):
        if most is None or max(map(int, values)) <= most:
            yield tuple(zip(names, values, strict=True))


def _text(size: Sizes) -> str:
    return " ".join(f"{name}={value}" for name, value in size)


def _executed(row: AccuracyRow, size: Sizes, procs: int, place: Path, before: Path | None) -> SimulatedExecution:
    source, system = read_source(row.program), load_machine("ipsc860")
    request = Request(procs=procs, values={name: value_of(name, value) for name, value in size})
    made = prepared_of(lower_source(source, system, request), system, request, place)
    made.build(before)
    found = made.outcome()
    return SimulatedExecution(
        program=row.program,
        size=_text(size),
        procs=procs,
        predicted_s=float(found.predicted_s.max()),
        executed_s=float(found.simulated_s.max()),
    )
