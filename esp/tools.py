"""Programs of others that esp calls: compilers, MPI, simulators."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from aag.running import Ended, Limits, run
from esp.errors import PredictionError

PACKAGES: Mapping[str, str] = {
    "mpif90": "an MPI with its Fortran compiler, such as libopenmpi-dev or mpich",
    "mpirun": "an MPI, such as openmpi-bin or mpich",
    "gfortran": "gfortran",
    "make": "make",
    "smpif90": "SimGrid with SMPI, such as libsimgrid-dev",
    "smpirun": "SimGrid with SMPI, such as libsimgrid-dev",
    "nm": "binutils",
    "valgrind": "valgrind",
}
"""Tool -> the package that brings it."""

BUILD_S = 600.0
"""How long a compiler may take."""


def tool(name: str) -> str:
    """The path of a program that is installed.

    Raises:
        PredictionError: it is not; the text says which package brings it.
    """
    found = shutil.which(name)
    if found is None:
        raise PredictionError(f"{name} is not installed.", hint=f"Install {PACKAGES.get(name, 'it')}.")
    return found


def call(
    words: list[str],
    fault: str,
    folder: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
    text: str = "",
) -> str:
    """Run a tool; returns what it prints. `environment` is set besides what is set already; `text`: its standard input.

    Raises:
        PredictionError: it fails, or goes beyond a limit of time, memory or output. `limit_s`: seconds; 0: no limit;
            None: that of a compiler.
    """
    limits = Limits(seconds=BUILD_S if limit_s is None else limit_s)
    ended = run(words, folder=folder, environment=environment, text=text, limits=limits)
    check_limits(ended, fault, limit_s)
    if ended.code:
        said = "\n".join((ended.errors.strip() or ended.output.strip()).splitlines()[:12])
        raise PredictionError(f"{fault}:", why=said or _silent(ended.code))
    return ended.output


def check_limits(ended: Ended, fault: str, limit_s: float | None) -> None:
    """Refuse what a tool has left when it was ended at a limit.

    Raises:
        PredictionError: it was.
    """
    match ended.beyond:
        case "time":
            if limit_s is None:
                raise PredictionError(f"{fault}: it is still running after {BUILD_S:g} s.")
            hint = "It may never end, or need more time: --timeout 3600 waits for an hour, --timeout 0 forever."
            raise PredictionError(f"{fault}: it is still running after {limit_s:g} s.", hint=hint)
        case "memory":
            raise PredictionError(
                f"{fault}: it needs more memory than this computer can spare.",
                hint="Choose a smaller size or fewer processors.",
            )
        case "output":
            raise PredictionError(
                f"{fault}: it prints more than {Limits().output_bytes >> 20} MiB.", hint="Print less."
            )
        case _:
            pass


def _silent(code: int) -> str:
    """Why a tool failed that says nothing."""
    return f"signal {-code} ended it" if code < 0 else f"it ends with code {code} and prints nothing"
