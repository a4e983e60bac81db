"""Builds the kernels and counts their misses: `count(kernel, n, offsets) -> Counted`.

Counts are exact and repeatable, because the program is static and starts with an empty environment. The cold start
is subtracted: the misses of a repetition are (those of 1 + MORE repetitions - those of 1) / MORE. Of the out file
only the lines of the kernel itself and of the C library's copy routines count (gfortran turns the copy loop into
memcpy); so the driver, its stack and the constants of the exponential function are left out, though not the lines
that they throw out of the cache.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_SOURCES = (_HERE / "driver.f90", _HERE / "kernels.f90")
_FLAGS = ("-O2", "-static")
_COUNTED = re.compile(r"(lfk\d\d|lfk22_libm|jacobi|jacobi_copy)_$|_*(mem(cpy|move)(_|$))")
MORE = 2
SIZE_BYTES, LINE_BYTES, WAYS = 8192, 32, 2
TURN_BYTES = SIZE_BYTES // WAYS
"""Addresses this far apart share a set."""


class CachegrindError(RuntimeError):
    """gfortran, nm or valgrind is missing or fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Misses of the data cache per repetition, in lines."""

    read: float
    write: float


def count(kernel: str, n: int, offsets: tuple[int, ...]) -> Counted:
    """Misses per repetition of `kernel` of size `n` on arrays at `offsets` (numbers of 8 bytes) of the COMMON block."""
    few, many = (_misses(kernel, n, repetitions, offsets) for repetitions in (1, 1 + MORE))
    return Counted(read=(many[0] - few[0]) / MORE, write=(many[1] - few[1]) / MORE)


@cache
def common_address() -> int:
    """Byte address of the COMMON block in the program."""
    for line in _run(_tool("nm"), str(_driver())).splitlines():
        if line.endswith(" store_"):
            return int(line.split()[0], 16)
    raise CachegrindError("the driver has no COMMON block `store`")


def _misses(kernel: str, n: int, repetitions: int, offsets: tuple[int, ...]) -> tuple[int, int]:
    driver, valgrind = str(_driver()), _tool("valgrind")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        _run(
            valgrind,
            "--tool=cachegrind",
            "--cache-sim=yes",
            "--I1=4096,2,32",
            f"--D1={SIZE_BYTES},{WAYS},{LINE_BYTES}",
            "--LL=1048576,16,32",
            f"--cachegrind-out-file={out}",
            driver,
            kernel,
            str(n),
            str(repetitions),
            *map(str, offsets),
        )
        return _sum(out.read_text())


def _sum(text: str) -> tuple[int, int]:
    """Data read and write misses of the counted functions in a cachegrind out file."""
    read = write = 0
    columns: list[str] = []
    counted = False
    for line in text.splitlines():
        if line.startswith("events:"):
            columns = line.split()[1:]
        elif line.startswith("fn="):
            counted = _COUNTED.match(line[3:]) is not None
        elif counted and line[:1].isdigit():
            values = dict(zip(columns, map(int, line.split()[1:]), strict=False))
            read += values.get("D1mr", 0)
            write += values.get("D1mw", 0)
    if not {"D1mr", "D1mw"} <= set(columns):
        raise CachegrindError("cachegrind counted no data misses")
    return read, write


@cache
def _driver() -> Path:
    """The program, built once for each state of its sources and put in place in one step."""
    state = hashlib.sha256(" ".join(_FLAGS).encode())
    for source in _SOURCES:
        state.update(source.read_bytes())
    driver = _HERE / "build" / f"driver-{state.hexdigest()[:16]}"
    if not driver.exists():
        driver.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=driver.parent) as folder:
            fresh = Path(folder) / "driver"
            _run(_tool("gfortran"), *_FLAGS, "-o", str(fresh), *map(str, _SOURCES), cwd=Path(folder))
            fresh.replace(driver)
    return driver


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise CachegrindError(
            f"{name} is not installed: the cache truth needs gfortran, binutils (nm) and valgrind; "
            "`make test` after `.ci/run` on Debian has them"
        )
    return found


def _run(*command: str, cwd: Path | None = None) -> str:
    """Output of a command that starts with an empty environment but for what a compiler needs to find its parts."""
    environment = {} if "valgrind" in command[0] else {"PATH": os.environ.get("PATH", "")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False)
    if done.returncode:
        raise CachegrindError(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout
