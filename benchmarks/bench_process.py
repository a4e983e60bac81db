"""The whole process, as a person meets it, beside what its libraries take for themselves."""

from collections.abc import Iterator

from benchmarks.measure import LAPLACE, Figure, processes

BARE = """
import msgspec, numpy, yaml
from fparser.common.readfortran import FortranStringReader
from fparser.two.parser import ParserFactory
text = open({path!r}).read()
ParserFactory().create(std='f2008')(FortranStringReader(text, ignore_comments=True))
"""
"""What cannot be saved: Python's start, the libraries that a prediction needs, and fparser's parse of the program."""

IMPORTS = "import esp.cli.run, esp.api, esp.output.profile"


def figures() -> Iterator[Figure]:
    """Start, `esp run`, and the share of imports and parse."""
    path = str(LAPLACE)
    nothing, version, imports, bare, run = processes(
        15,
        ("-c", "pass"),
        ("-m", "esp", "--version"),
        ("-c", IMPORTS),
        ("-c", BARE.format(path=path)),
        ("-m", "esp", "run", path, "--procs", "8"),
    )
    yield Figure("python that does nothing", 1e3 * nothing.cpu_s, "ms")
    yield Figure("esp --version", 1e3 * version.cpu_s, "ms", 60)
    yield Figure("python, imports of libraries, parse of laplace_bb", 1e3 * bare.cpu_s, "ms")
    yield Figure("python, imports of esp and libraries", 1e3 * imports.cpu_s, "ms")
    yield Figure("esp run laplace_bb --procs 8", 1e3 * run.cpu_s, "ms", 300)
    yield Figure("  the same on the wall", 1e3 * run.wall_s, "ms")
    yield Figure("  over imports of libraries and parse", run.cpu_s / bare.cpu_s, "x", 1.5)
