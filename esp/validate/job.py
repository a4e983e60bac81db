"""What every method is given and gives back."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from aag.mapping.settable import is_made_up
from aag.pipeline import main_unit
from esp.api import Request, Source
from esp.errors import UsageError
from esp.validate.given import NOTHING, GivenInput
from sag.unit import System


class Job(Struct, frozen=True, kw_only=True):
    """A program, a machine, and the numbers of processors that are asked for."""

    source: Source
    texts: Mapping[str, str]
    """Values of PARAMETERs as they were given, for the text of the serial program."""
    system: System
    request: Callable[[int | None], Request]
    """Number of processors (None: what the program or machine says) -> the request."""
    procs: tuple[int | None, ...]
    folder: Path
    """For sources and executables."""
    traces: Path | None = None
    """Where executed and predicted traces are kept (docs/trace.md)."""
    tolerance: float | None = None
    """Relative error that passes: of the misses of a nest, or of a real number in the answer; None: the usual one."""
    native: bool = False
    """Whether collectives are MPI's own; then only the answer is compared."""
    given: GivenInput = NOTHING
    """What the program reads."""
    truth: System | None = None
    """The machine on which a program that counts is simulated; None: `system`."""
    noise: float = 0.0
    """How much the speed of its processors varies from run to run: the standard deviation of the logarithm."""
    seed: int = 0
    """For that."""
    limit_s: float = 600.0
    """How long one run of the program may take; 0: for ever."""


class Validation(Struct, frozen=True, kw_only=True):
    """What was found (`esp.output.validate` shows it), what is not as it should be, and what explains it."""

    found: object
    faults: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def computed_names(job: Job) -> tuple[str, ...]:
    """Names with a value of the user's that are no PARAMETERs: the program computes them, whatever the user says."""
    constants = {each.name for each in main_unit(job.source.program).entities if "parameter" in each.attributes}
    return tuple(name for name in job.texts if name not in constants and not is_made_up(name))


def check_processors(job: Job, most: int, why: str) -> None:
    """Refuse before anything is built what would bring the machine down.

    Raises:
        UsageError: a number of processors is larger than `most`.
    """
    for procs in job.procs:
        if procs is not None and procs > most:
            raise UsageError(
                f"{procs:,} processors are too many: {why}.", where="--procs", hint=f"Take at most {most:,}."
            )
