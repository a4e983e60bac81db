"""cachegrind (valgrind): the data misses of a static program, by source line.

    valgrind --tool=cachegrind --D1=8192,2,32 ./program

cachegrind replaces the line least recently used and allocates on writes. Its counts are exact and repeat, if the
program is static and starts with an empty environment from its own folder: else its stack moves.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from aag.running import Limits, run, scratch
from esp.errors import PredictionError
from esp.tools import check_limits, tool

LEAST_LINE = 16
"""Bytes; cachegrind simulates no shorter lines."""


class Geometry(Struct, frozen=True, kw_only=True):
    """A data cache. `nearer`: the one in front of it; None: it is the first."""

    size_bytes: int
    line_bytes: int
    ways: int
    nearer: "Geometry | None" = None

    @property
    def turn_bytes(self) -> int:
        """Addresses so far apart share a set."""
        return self.size_bytes // self.ways


class CountedMisses(Struct, frozen=True, kw_only=True):
    """Data misses of one line of a source file, as part of one function."""

    file: str
    function: str
    line: int
    read: int
    write: int


class CachegrindRun(Struct, frozen=True, kw_only=True):
    """A run that was watched: the misses, and what the program wrote to its error channel."""

    misses: tuple[CountedMisses, ...]
    errors: str


def watched(
    program: Path, arguments: Sequence[str], geometry: Geometry, limit_s: float = 0.0, text: str = ""
) -> CachegrindRun:
    """Run a static program with an empty environment and count what it misses in a cache.

    Raises:
        PredictionError: valgrind is missing, cannot simulate the cache, or the program fails or needs more than
            `limit_s` seconds (0: no limit).
    """
    _check(geometry)
    first, last = geometry.nearer or geometry, _last(geometry)
    valgrind = tool("valgrind")
    with scratch() as folder:
        out = folder / "out"
        words = [
            valgrind,
            "--quiet",
            "--vgdb=no",
            "--tool=cachegrind",
            "--cache-sim=yes",
            f"--I1=4096,2,{first.line_bytes}",
            f"--D1={first.size_bytes},{first.ways},{first.line_bytes}",
            f"--LL={last.size_bytes},{last.ways},{last.line_bytes}",
            f"--cachegrind-out-file={out}",
            f"./{program.name}",
            *arguments,
        ]
        done = run(words, folder=program.parent, bare=True, text=text, limits=Limits(seconds=limit_s))
        check_limits(done, "the program fails under valgrind", limit_s)
        if done.code or not out.is_file():
            told = "\n".join((done.errors.strip() or done.output.strip()).splitlines()[-12:])
            refused = re.search(r"Cachegrind: cannot continue:(.*?)(?:Exiting|$)", told, re.DOTALL)
            if refused:
                why = " ".join(re.sub(r"==\d+==", " ", refused[1]).split())
                raise PredictionError("cachegrind cannot simulate the machine's data cache:", why=why)
            raise PredictionError("the program fails under valgrind:", why=told)
        return CachegrindRun(
            misses=tuple(parsed(out.read_text(), "DL" if geometry.nearer else "D1")), errors=done.errors
        )


def _last(geometry: Geometry) -> Geometry:
    """The last cache of a simulation: the one that is asked for, or one so large that it does not matter."""
    if geometry.nearer is not None:
        return geometry
    return Geometry(size_bytes=max(1 << 20, 4 * geometry.size_bytes), line_bytes=geometry.line_bytes, ways=16)


def _check(geometry: Geometry) -> None:
    """cachegrind's own conditions, said before it is asked."""
    sets, rest = divmod(geometry.size_bytes, geometry.line_bytes * geometry.ways)
    if rest or sets & (sets - 1) or geometry.line_bytes & (geometry.line_bytes - 1):
        raise PredictionError(
            "cachegrind cannot simulate the machine's data cache.",
            why=f"It has {geometry.size_bytes} bytes, {geometry.ways} ways and lines of {geometry.line_bytes} bytes; "
            "the number of sets and the length of lines must be powers of two.",
        )
    if geometry.line_bytes < LEAST_LINE:
        raise PredictionError(f"cachegrind simulates no lines shorter than {LEAST_LINE} bytes.")


def parsed(text: str, cache: str = "D1") -> Iterator[CountedMisses]:
    """The data misses of a cache (``D1``, or the last: ``DL``) in a file that cachegrind wrote.

    Raises:
        PredictionError: it counted none.
    """
    columns: list[str] = []
    file = function = ""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if line.startswith("events:"):
            columns = line.split()
        elif key == "fl":
            file = value
        elif key == "fn":
            function = value
        elif line[:1].isdigit():
            counts = dict(zip(columns, line.split(), strict=False))
            read, write = int(counts.get(f"{cache}mr", 0)), int(counts.get(f"{cache}mw", 0))
            if read or write:
                yield CountedMisses(file=file, function=function, line=int(counts["events:"]), read=read, write=write)
    if not {f"{cache}mr", f"{cache}mw"} <= set(columns):
        raise PredictionError("cachegrind counted no data misses.")
