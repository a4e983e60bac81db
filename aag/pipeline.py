"""The map of this room: text -> program -> layouts -> node program -> graph, one typed line a stage."""

from aag.diagnostics import Diagnostic, SourceError, Span, UnresolvedError
from aag.functional.contents import with_contents
from aag.functional.run import NO_LIMITS
from aag.functional.tables import RunLimits
from aag.graph.aau import Graph
from aag.graph.build import build_graph
from aag.graph.synchronize import synchronize
from aag.ir.array_functions import with_array_functions
from aag.ir.elements import with_elements
from aag.ir.index_arrays import with_index_arrays
from aag.ir.overridden import with_scalars
from aag.ir.units import Program, Unit
from aag.library.pricing import priced
from aag.mapping.layout import Layouts
from aag.mapping.resolve import Overrides, resolve_mapping
from aag.mapping.scope import visible_to
from aag.procedures.expand import expanded
from aag.procedures.pointers import without_pointers
from aag.source.read import read_program
from aag.spmd.lower import lower as lower_unit
from aag.spmd.optimize import optimize
from aag.spmd.program import NodeProgram, Options
from aag.spmd.uncalled import refused
from aag.spmd.verify import verify

# text -> Program          aag.source      directives and Fortran as data
# Program -> Layouts       aag.mapping     who owns what
# Program -> NodeProgram   aag.spmd        what every processor runs
# NodeProgram -> Graph     aag.graph       what it costs is decided by whoever interprets it


UNREAD = frozenset({"W101", "W102", "W107", "W109"})
"""Findings of reading that leave something of the source out."""


def main_unit(program: Program) -> Unit:
    """The main program with the bodies of the procedures that it calls, with other statements for PACK and its like,
    and with index arrays for computed subscripts.

    Raises:
        SourceError: there is none, or there are several.
    """
    mains = [unit for unit in program.units if unit.kind == "program"]
    if len(mains) > 1:
        first, second = mains[:2]
        raise SourceError(
            [
                Diagnostic(
                    code="E403",
                    message=f"a second main program; the first is {first.name} in {first.span.line_from(second.span)}",
                    span=second.span,
                    hint="a program has one: make the other a SUBROUTINE, or put it in a file of its own",
                )
            ]
        )
    if program.main is None:
        raise SourceError(
            [
                Diagnostic(
                    code="E401",
                    message="found no main program, so nothing can be predicted",
                    span=Span(program.file, 1),
                    hint="give the file with the PROGRAM statement, too",
                )
            ]
        )
    program = priced(program)
    assert program.main is not None
    whole = with_elements(without_pointers(expanded(program, program.main)), program.elements)
    whole = with_scalars(whole, program.given)
    procedures = frozenset(each.name for each in (*program.units, *whole.contains))
    return with_index_arrays(with_array_functions(whole, procedures))


def map_arrays(program: Program, overrides: Overrides, default_procs: int) -> Layouts:
    """Program -> Layouts: a layout for every array of the main program.

    Raises:
        SourceError: directives or values prevent it; what reading found and deferred is told with it.
        UnresolvedError: nothing but values is missing.
    """
    main = main_unit(program)
    found = [each for each in program.diagnostics if each.is_error]
    left_out = [*(each for each in program.diagnostics if each.code in UNREAD), *refused(program, main)]
    try:
        layouts = resolve_mapping(
            main, overrides, default_procs, visible=visible_to(main, program), comments=program.unrecognised
        )
    except SourceError as problem:
        if isinstance(problem, UnresolvedError) and not found:
            raise
        places = {(each.span.file, *_place(each)) for each in found}
        others = (each for each in problem.diagnostics if (each.span.file, *_place(each)) not in places)
        raise SourceError(sorted((*found, *others, *left_out), key=_place)) from None
    if found:
        raise SourceError(sorted((*found, *left_out), key=_place))
    return layouts


def _place(finding: Diagnostic) -> tuple[int, int]:
    return finding.span.line, finding.span.column


def lower(
    program: Program,
    overrides: Overrides,
    default_procs: int,
    options: Options | None = None,
    limits: RunLimits = NO_LIMITS,
) -> NodeProgram:
    """Program -> NodeProgram: mapped, lowered, optimised and verified. `limits`: of computing what index arrays hold.

    Raises:
        SourceError: directives, values or statements prevent it; all problems at once.
    """
    unit = main_unit(program)
    layouts = with_contents(unit, map_arrays(program, overrides, default_procs), overrides.values, limits)
    node_program = lower_unit(program, unit, layouts, options or Options())
    optimized = optimize(node_program)
    verify(optimized)
    return optimized


def abstract(program: NodeProgram) -> Graph:
    """NodeProgram -> SAAG: the application abstraction graph with its communication edges."""
    return synchronize(build_graph(program))


__all__ = ["Options", "Overrides", "abstract", "lower", "main_unit", "map_arrays", "read_program"]
