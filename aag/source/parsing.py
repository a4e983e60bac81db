"""Rows to fparser's tree. Statements that fparser refuses are isolated; nothing it says leaves this module
raw."""

import logging
import re
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from fparser.common.readfortran import FortranStringReader
from fparser.common.sourceinfo import FortranFormat
from fparser.two import Fortran2003, Fortran2008
from fparser.two.parser import ParserFactory
from fparser.two.symbol_table import SYMBOL_TABLES
from fparser.two.utils import Base, FortranSyntaxError, InternalError, InternalSyntaxError
from msgspec.structs import replace

from aag.budget import READINGS
from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.expressions import Expr
from aag.ir.intrinsics import INTRINSICS
from aag.ir.scan import scanned
from aag.source.causes import cause, misspelt
from aag.source.nesting import read_assignment, read_bounds
from aag.source.outline import Row, opaque_row
from aag.source.punctuation import wrong_parenthesis

BITS = re.compile(r"\b(x)('[0-9a-f]+'|\"[0-9a-f]+\")|('[0-9a-f]+'|\"[0-9a-f]+\")([boxz])\b", re.IGNORECASE)
"""Constants in the spelling of other compilers: ``'ff'x``, ``x'ff'``."""
_MOST_ERRORS = 20
_MOST_PATIENCE = 100
_PATIENCE_WITH_WHOLE = 10
_STANDARD = "f2008"
SYNTAX = "a syntax error"
"""The reason of an `Opaque` statement that fparser refuses."""
NOT_UNDERSTOOD = "the parser returns an unknown form"
"""The reason of an `Opaque` statement whose tree has another shape than the translation expects."""
UNFORESEEN = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What walking over a tree of another shape raises; such a statement is set aside and named."""

_ONE_AT_A_TIME = threading.Lock()
"""fparser keeps the scopes of the program that it reads in a global table."""

# fparser reports through logging what it also raises.
logging.getLogger("fparser").setLevel(logging.CRITICAL + 1)


class _Refused(Exception):
    """fparser does not accept the text; `row` is where it stopped (-1: unknown). `spent`: its budget was."""

    def __init__(self, row: int, *, spent: bool = False) -> None:
        self.row = row
        self.spent = spent
        super().__init__(row)


class _TooIntricateError(Exception):
    """The budget of `_count` is spent."""


class _Count:
    """Counts what fparser tries: its readings of one statement can double with each level of parentheses."""

    def __init__(self) -> None:
        self.budget = READINGS.of(0)
        original = Base.__new__

        def counted(kind: type, string: object, parent_cls: Any = None, _deepcopy: bool = False) -> Any:
            if not self.budget.spend():
                raise _TooIntricateError
            return original(kind, string, parent_cls, _deepcopy)

        Base.__new__ = staticmethod(counted)


_count = _Count()


@cache
def _parser() -> Any:
    """fparser, which accepts as many arguments of an intrinsic function as our table has."""
    for known in (Fortran2003.Intrinsic_Name, Fortran2008.Intrinsic_Name):
        for name, counts in known.generic_function_names.items():
            row = INTRINSICS.get(name.lower())
            if row is not None and counts["max"] is not None:
                counts["max"] = max(counts["max"], len(row.arguments))
    return ParserFactory().create(std=_STANDARD)


def _tree(text: str, patience: int = 1) -> Any:
    """fparser's tree of plain free form, which may cost `patience` times its budget."""
    with _ONE_AT_A_TIME:
        SYMBOL_TABLES.clear()
        _count.budget = READINGS.of(patience * text.count("\n"))
        reader = FortranStringReader(text, ignore_comments=True)
        reader.set_format(FortranFormat(True, False))
        try:
            return _parser()(reader)
        except FortranSyntaxError as error:
            line = str(error).partition("at line ")[2].partition("\n")[0]
            raise _Refused(int(line) - 1 if line.strip().isdigit() else -1) from error
        except (InternalError, InternalSyntaxError, RecursionError, SystemExit) as error:
            raise _Refused(-1) from error
        except _TooIntricateError as error:
            raise _Refused(-1, spent=True) from error
        except (AssertionError, *UNFORESEEN) as error:
            # Mutated sources reach corners of fparser that fail like this: refused all the same.
            raise _Refused(-1) from error
        finally:
            SYMBOL_TABLES.clear()


def tree_of(text: str) -> Any:
    """fparser's tree of free form that is taken as a whole, such as a node program.

    It may cost more than a source of as many lines: its expressions are longer.

    Raises:
        ValueError: fparser does not accept it, or the budget is spent.
    """
    try:
        return _tree(text, _PATIENCE_WITH_WHOLE)
    except _Refused as refused:
        if refused.spent:
            raise ValueError("its expressions are too intricate") from None
        where = f", see line {refused.row + 1}" if refused.row >= 0 else ""
        raise ValueError(f"not Fortran in free form{where}") from None


def parse_rows(
    rows: tuple[Row, ...], cuts: dict[str, Expr], source: dict[tuple[str, int], str]
) -> tuple[Any, tuple[Row, ...], tuple[Diagnostic, ...]]:
    """The tree, the rows it was made from (what could not be read replaced), and a warning for each
    replacement. `cuts` grows by what our own parser has read instead.

    Raises:
        SourceError: an error that cannot be isolated, or more than 20 that can.
    """
    found: list[Diagnostic] = []
    patience = 1
    for attempt in range(2 * _MOST_ERRORS):
        try:
            return _tree("\n".join(row.text for row in rows) + "\n", patience), rows, tuple(found)
        except _Refused as refused:
            if attempt == 0:
                rows = _repaired(rows, cuts)
            bad = _bad_rows(rows, refused.row)
            if any(not rows[index].simple for index in bad):
                first = next(index for index in bad if not rows[index].simple)
                raise SourceError([*found, _error(rows[first], source, found)]) from refused
            if not bad and refused.spent and patience < _MOST_PATIENCE:
                patience *= 10  # each row by itself is not too intricate: there are many
                continue
            if not bad and attempt > 0:
                index = min(max(refused.row, 0), len(rows) - 1)
                raise SourceError([*found, _error(rows[index], source, found)]) from refused
            found += [_warning(rows[index], source) for index in bad]
            if len(found) > _MOST_ERRORS:
                break
            rows = tuple(opaque_row(row, index, SYNTAX) if index in bad else row for index, row in enumerate(rows))
    last = found[-1] if found else None
    raise SourceError([*found, _too_many(last.span if last else rows[0].span, source)])


def _repaired(rows: tuple[Row, ...], cuts: dict[str, Expr]) -> tuple[Row, ...]:
    """`rows` with assignments and loops that fparser refuses and our own parser reads, and with `BITS` as Fortran
    writes them."""
    return tuple(_repaired_row(row, cuts) for row in rows)


def _repaired_row(row: Row, cuts: dict[str, Expr]) -> Row:
    if BITS.search(row.text):
        plain = replace(row, text=BITS.sub(lambda found: _base(found) + (found[2] or found[3]), row.text))
        row = plain if _readable(plain) else row
    repair = read_bounds if row.what.kind == "do" else read_assignment
    wanted = row.what.kind == "do" or (row.simple and row.what.word == "assignment")
    return (repair(row, cuts) or row) if wanted and not _readable(row) else row


def _base(found: re.Match[str]) -> str:
    letter = (found[1] or found[4]).lower()
    return "z" if letter == "x" else letter


def _bad_rows(rows: tuple[Row, ...], suspect: int) -> list[int]:
    """The rows that fparser refuses each by itself: the suspect, else all that do not stand the test."""
    if 0 <= suspect < len(rows) and rows[suspect].simple and not _readable(rows[suspect]):
        return [suspect]
    return [index for index, row in enumerate(rows) if not _readable(row)]


def _readable(row: Row) -> bool:
    frame = _SIMPLE if row.simple else _FRAMES.get(row.what.kind, _SIMPLE)
    if not frame:
        return True
    try:
        _tree(frame.format(row.text, row.what.name))
    except _Refused:
        return False
    return True


_SIMPLE = "subroutine s\n{}\nend subroutine\n"
_FRAMES: dict[str, str] = {
    "unit": "",
    "contains": "",
    "end": "",
    "interface": "",
    "type": "",
    "enum": "",
    "block": "",
    "do": "subroutine s\n{}\nend do {}\nend subroutine\n",
    "if": "subroutine s\n{}\nend if {}\nend subroutine\n",
    "else": "",
    "case": "",
    "where": "subroutine s\n{}\nend where {}\nend subroutine\n",
    "forall": "subroutine s\n{}\nend forall {}\nend subroutine\n",
    "select": "subroutine s\n{}\nend select {}\nend subroutine\n",
}


def _why(row: Row, source: dict[tuple[str, int], str]) -> tuple[str, str, Span, str]:
    """What is wrong with the statement, if that is plain to see; what to write, where, and the line."""
    text = row.statement.text
    quote = next((quote for _, _, _, quote in reversed(list(scanned(text.text)))), "")
    why, hint, span = "", "", row.span
    if (found := wrong_parenthesis(text, source)) is not None:
        why, hint, span = found
    if quote and not why.startswith("one"):
        why, hint, span = f"the quotation mark {quote} is not closed", "close it in the same line", row.span
    if not why and (plain := cause(text.text, fixed=row.statement.fixed)) is not None:
        why, hint, span = plain.why, plain.hint, text.span(plain.start, plain.end)
    return f": {why}" if why else "", hint, span, source.get((span.file, span.line), "")


def _warning(row: Row, source: dict[tuple[str, int], str]) -> Diagnostic:
    why, hint, span, line = _why(row, source)
    return Diagnostic(
        code="W101",
        message=f"this statement cannot be read as Fortran{why}; it is left out",
        span=span,
        hint=hint or misspelt(row.statement.text.text) or "check its spelling",
        source_line=line,
    )


def _error(row: Row, source: dict[tuple[str, int], str], unread: Sequence[Diagnostic] = ()) -> Diagnostic:
    """Why `row` is not Fortran. `unread`: what was left out before; a declaration below it only seems to be late."""
    why, hint, span, line = _why(row, source)
    message = f"this statement cannot be read as Fortran{why}"
    if row.what.kind == "spec" and not why and _readable(row):
        message = "this declaration comes after an executable statement"
        hint = "move it in front of the first executable statement"
        before = [each for each in unread if each.span.file == span.file and each.span.line < span.line]
        if before:
            message = f"this declaration comes after {before[-1].span.line_from(span)}, which cannot be read"
            hint = f"correct {before[-1].span.line_from(span)} first"
    return Diagnostic(
        code="E120",
        message=message,
        span=span,
        hint=hint or misspelt(row.statement.text.text) or "check its spelling and its place",
        source_line=line,
    )


def _too_many(span: Span, source: dict[tuple[str, int], str]) -> Diagnostic:
    return Diagnostic(
        code="E121",
        message=f"more than {_MOST_ERRORS} statements cannot be read as Fortran",
        span=span,
        hint="is the source form right? (‹form free›, ‹form fixed›)",
        source_line=source.get((span.file, span.line), ""),
    )
