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


def call(words: list[str], fault: str, folder: Path | None = None, **environment: str) -> str:
    """Run a tool; returns what it prints.

    Raises:
        PredictionError: it fails.
    """
    done = subprocess.run(  # noqa: S603 (a tool of the user's path, no shell)
        words, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, check=False
    )
    if done.returncode:
        told = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[:12])
        raise PredictionError(f"{fault}:", why=told)
    return done.stdout
