"""Programs of others that esp calls: compilers, MPI, simulators."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

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
) -> str:
    """Run a tool; returns what it prints. `environment` is set besides what is set already.

    Raises:
        PredictionError: it fails, or is not at its end after `limit_s` seconds; then it is ended.
    """
    with subprocess.Popen(  # noqa: S603 (a tool of the user's path, no shell)
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env={**os.environ, **(environment or {})},
    ) as running:  # fmt: skip
        try:
            answer, told = running.communicate(timeout=limit_s or None)
        except subprocess.TimeoutExpired:
            _end(running)
            hint = "It may never end, or need longer: --timeout 3600 waits for an hour, --timeout 0 for ever."
            raise PredictionError(f"{fault}: it is not at its end after {limit_s:g} s.", hint=hint) from None
        except BaseException:
            _end(running)
            raise
    if running.returncode:
        said = "\n".join((told.strip() or answer.strip()).splitlines()[:12])
        raise PredictionError(f"{fault}:", why=said)
    return answer


def _end(running: "subprocess.Popen[str]") -> None:
    """End a program in a way that lets it end its own (mpirun its processes); if it does not, at once."""
    running.terminate()
    try:
        running.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate()
