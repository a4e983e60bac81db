"""Lines of a program: the statement that one belongs to, and the line that has its time."""

import re
from collections.abc import Iterator

from aag.graph.aau import AAU, IterD, IterSync, walk
from aag.ir.statements import Assign
from aag.source.joining import first_fixed_line
from aag.spmd.nodes import Nest, OwnedLoop, assigns_of
from esp import api
from esp.errors import UsageError

_COMMENT = re.compile(r"\s*(!|$)")
_LOOP = re.compile(r"\s*(\w+\s*:)?\s*do\b", re.IGNORECASE)


def known_line(source: api.Source, file: str, line: int) -> None:
    """Refuse a line that a program does not have.

    Raises:
        UsageError: it has no such line, or no such file.
    """
    last = len(source.program.lines_of(file))
    if not last:
        names = ", ".join([source.program.file, *source.program.others])
        raise UsageError(f"the program has no file {file}.", where=f"line {line}", hint=f"Its files are {names}.")
    if not 1 <= line <= last:
        raise UsageError(f"{file} has lines 1 to {last}.", where=f"line {line}")


def placed_in(stages: api.Stages, file: str) -> Iterator[AAU]:
    """The AAUs of statements in a file."""
    main = stages.source.program.file
    return (each for each in walk(stages.graph.body) if (each.span.file or main) == file)


def statement_line(source: api.Source, line: int, file: str = "") -> int:
    """The first line of the statement that a line continues; the line itself where it continues none."""
    program = source.program
    lines = program.lines_of(file or program.file)
    form = next((each.form for each in program.sources if each.file == file), program.form)
    if form != "free":
        return first_fixed_line(lines, line)
    codes = [each.split("!")[0].rstrip() for each in lines[: line - 1]]
    above = [number for number, code in enumerate(codes, 1) if code]  # comments may come between
    while above and codes[above[-1] - 1].endswith("&"):
        line = above.pop()
    return line


def charged_line(source: api.Source, stages: api.Stages, line: int, file: str = "") -> int:
    """The line that has the time of a line: a loop that is lowered as a whole carries that of its body."""
    file = file or source.program.file
    line, lines = statement_line(source, line, file), source.program.lines_of(file)
    inner = {each.span.line: {assign.span.line for assign in assigns_in(each)} for each in placed_in(stages, file)}
    text = lines[line - 1]
    if line in inner or _COMMENT.match(text):
        return line
    if _LOOP.match(text):  # the loops of a nest have no time of their own
        codes = enumerate(lines[line:], line + 1)
        body = next((number for number, code in codes if not _COMMENT.match(code) and not _LOOP.match(code)), line)
        return body if inner.get(body) else line
    return max((at for at, lines in inner.items() if lines and at < line <= max(lines)), default=line)


def assigns_in(aau: AAU) -> tuple[Assign, ...]:
    """The assignments of a nest."""
    match aau:
        case IterD(nest=Nest() as node) | IterSync(owned=OwnedLoop() as node):
            return assigns_of(node)
        case _:
            return ()
