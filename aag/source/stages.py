"""From statements to units, with fparser in the middle."""

from collections.abc import Iterable, Iterator, Sequence

from aag.budget import OPERANDS
from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.directives import INSTEAD_OF_INDIRECT, NO_INDIRECT, Distribute
from aag.ir.units import Unit
from aag.records.split import split_records
from aag.source.block_data import with_block_data
from aag.source.directives import read_directive, with_example
from aag.source.forms import Reading
from aag.source.generics import resolve_generics
from aag.source.joining import Joined, combined
from aag.source.literals import excessive
from aag.source.names import finish_names
from aag.source.nesting import cut_deep
from aag.source.outline import outline
from aag.source.parsing import parse_rows
from aag.source.punctuation import mispunctuated
from aag.source.purity import impure_calls
from aag.source.real_loops import with_integer_loops
from aag.source.typecheck import check_types
from aag.source.units import UNKNOWN_MODULE, UnitReader


def read_units(files: Sequence[Joined], source: dict[tuple[str, int], str], file: str) -> Reading:
    """The units of all files, and what was found on the way, sorted. `file`: the one whose findings come first.

    Raises:
        SourceError: an error of Fortran's syntax, or something that got lost.
    """
    found: list[Diagnostic] = []
    for one in files:
        found += [each for each in one.diagnostics if each.is_error]
        found += excessive(one.statements, source)
        found += mispunctuated(one.statements, source, free=one.free)
    statements, directives = combined(files)
    if not statements:
        raise SourceError([_empty(file)])
    if found:
        raise SourceError(found)
    reads = tuple(with_example(read_directive(each, source)) for each in directives)
    structure = outline(statements, reads, source)
    found = [each for one in files for each in one.diagnostics]
    found += [*(each for read in reads for each in read.diagnostics), *structure.diagnostics]
    rows, cuts = cut_deep(structure.rows, source)
    tree, rows, warnings = parse_rows(rows, cuts, source)
    reader = UnitReader(structure, rows, structure.formats, cuts, OPERANDS.of(len(rows)))
    parts = reader.program(tree)
    units, unknown = finish_names(parts, source)
    resolved = resolve_generics(units, parts)
    units = resolved.units
    units, deleted = with_integer_loops(with_block_data(units, parts), parts)
    found += [*warnings, *reader.diagnostics, *unknown, *resolved.diagnostics, *deleted]
    found += check_types(units, parts, source)
    found += impure_calls(units, parts)
    split = split_records(units, defined=resolved.defined)
    missing = any(each.code == UNKNOWN_MODULE for each in reader.diagnostics)
    if missing:  # nothing is mapped, so what mapping refuses for certain is said here
        found += _indirect(units)
    else:  # types of that module are not known
        found += split.diagnostics
    lost = [row for index, row in enumerate(rows) if index not in reader.seen]
    if lost:
        found.append(_lost(lost[0].span))
    found.sort(key=lambda each: (each.span.file != file, each.span.file, each.span.line, each.span.column))
    if lost:
        raise SourceError(found)
    complete = reader.complete and resolved.complete and split.complete and not warnings
    return Reading(split.units, found, complete, tuple(reader.concurrent))


def _indirect(units: Iterable[Unit]) -> Iterator[Diagnostic]:
    """The errors of INDIRECT distributions."""
    for unit in units:
        yield from _indirect(unit.contains)
        for each in unit.directives:
            if isinstance(each, Distribute) and any(one.kind == "indirect" for one in each.formats or ()):
                message = f"DISTRIBUTE {each.distributee}: {NO_INDIRECT}"
                yield Diagnostic(code="E314", message=message, span=each.span, hint=INSTEAD_OF_INDIRECT)


def _empty(file: str) -> Diagnostic:
    return Diagnostic(
        code="E102",
        message="there is no Fortran statement in this source",
        span=Span(file, 1),
        hint="is the file complete, and in the right source form? (‹form free›, ‹form fixed›)",
    )


def _lost(span: Span) -> Diagnostic:
    return Diagnostic(
        code="E122",
        message="the parser dropped this statement",
        span=span,
        hint="rewrite the construct around it in a simpler way",
    )
