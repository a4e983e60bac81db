"""Looks at the values of names before a statement, as lines that report to the watch of a run."""

from aag.functional.lines import Lines
from aag.functional.slicing import Slice
from aag.functional.terms import Terms, array, variable
from aag.ir import statements as s


def look(statement: s.Stmt, part: Slice, terms: Terms, lines: Lines) -> None:
    """Add the looks before a statement: at what bounds and subscripts use, and at what conditions test."""
    line = statement.span.line
    for name in part.seen.get(id(statement), ()):
        storage = terms.arrays.get(name)
        if storage is not None:
            with lines.block(f"if {array(name)} is not None"):
                lines.add(f"watch.table({name!r}, {array(name)}, {storage.lowers}, {line}, meter)")
        elif name not in terms.constants:
            _scalar(
                lines, f"watch.scalar({name!r}, {variable(name)}, {line})", f"watch.unset.setdefault({name!r}, {line})"
            )
    for name in part.tested.get(id(statement), ()):
        if name not in terms.constants and name not in terms.arrays:
            _scalar(lines, f"watch.test({name!r}, {variable(name)})", "pass")


def _scalar(lines: Lines, seen: str, unset: str) -> None:
    with lines.block("try"):
        lines.add(seen)
    with lines.block("except NameError"):
        lines.add(unset)
