"""Builds the kernels and counts their misses: `count(kernel, n, offsets) -> Counted`.

The cold start is subtracted: the misses of a repetition are (those of 1 + MORE repetitions - those of 1) / MORE. Of the
out file only the lines of the kernel itself and of the C library's copy routines count (gfortran turns the copy loop
into memcpy); so the driver, its stack and the constants of the exponential function are left out, though not the lines
that they throw out of the cache.
"""

import hashlib
import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from esp.tools import call, tool
from esp.validate.valgrind import Geometry, watched

_HERE = Path(__file__).parent
_SOURCES = (_HERE / "driver.f90", _HERE / "kernels.f90")
_FLAGS = ("-O2", "-static")
_COUNTED = re.compile(r"(lfk\d\d|lfk22_libm|jacobi|jacobi_copy)_$|_*(mem(cpy|move)(_|$))")
MORE = 2
GEOMETRY = Geometry(size_bytes=8192, line_bytes=32, ways=2)
"""The data cache of the i860."""


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
    symbols = call([tool("nm"), str(_driver())], "nm cannot read the driver")
    (line,) = (line for line in symbols.splitlines() if line.endswith(" store_"))
    return int(line.split()[0], 16)


def _misses(kernel: str, n: int, repetitions: int, offsets: tuple[int, ...]) -> tuple[int, int]:
    """Data read and write misses of the counted functions."""
    run = watched(_driver(), (kernel, str(n), str(repetitions), *map(str, offsets)), GEOMETRY)
    found = [each for each in run.misses if _COUNTED.match(each.function)]
    return sum(each.read for each in found), sum(each.write for each in found)


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
            words = [tool("gfortran"), *_FLAGS, "-o", str(fresh), *map(str, _SOURCES)]
            call(words, "the kernels do not compile", Path(folder))
            fresh.replace(driver)
    return driver
