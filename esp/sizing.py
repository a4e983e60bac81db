"""Which PARAMETER sizes the distributed arrays of a program."""

from collections.abc import Iterable, Sequence

from aag.ir.directives import Bound, Template
from aag.ir.expressions import Expr, Var
from aag.ir.units import Program
from aag.ir.visitors import walk_expressions
from aag.mapping.scope import Scope, scope_of, visible_to
from aag.pipeline import main_unit
from esp.api import map_source
from esp.request import Request
from esp.sources import Source
from sag.unit import System

USUAL = "n"
"""The size where no PARAMETER sizes a distributed array."""


def default_size(source: Source, system: System, request: Request) -> str:
    """The PARAMETER that sizes what is distributed, or all arrays where nothing is; `USUAL` where there is none.

    Raises:
        aag.diagnostics.SourceError: the directives or the values given prevent any mapping.
    """
    layouts = map_source(source, system, request)
    unit = main_unit(source.program)
    scope = scope_of(unit, visible_to(unit, source.program))
    given = {name.lower(): value for name, value in request.values.items()}
    whole = [name for name, value in {**given, **layouts.constants}.items() if type(value) is int]
    distributed = [name for name, layout in layouts.arrays.items() if layout.is_distributed]
    names = [each for name in distributed or layouts.arrays for each in names_in_shape(shape_of(scope, name))]
    return sizing_parameter(source.program, names, whole) or USUAL


def sizing_parameter(program: Program, names: Iterable[str], whole: Sequence[str]) -> str | None:
    """Return the size among names, or the PARAMETER that the size is computed from; None where there is none.

    Args:
        program: the program.
        names: names in the shapes of what is distributed, in order.
        whole: names of its integer constants and of variables that are given integer values.
    """
    name = next((each for each in names if each in whole), None)
    unit = main_unit(program)
    for _ in whole if name is not None else ():
        entity = unit.entity(name or "")
        initial = None if entity is None else entity.initial
        inside = set() if initial is None else {e.name for e in walk_expressions(initial) if isinstance(e, Var)}
        if len(inside) != 1 or not inside <= set(whole):
            break
        (name,) = inside  # computed from another one: that is the size
    return name


def shape_of(scope: Scope, name: str) -> tuple[Bound, ...]:
    """The bounds of a template or array; those of ALLOCATE where its declaration has none."""
    templates = {each.name: each.shape for each in scope.directives if isinstance(each, Template)}
    entity = scope.entities.get(name)
    shape = templates.get(name) or (entity.shape if entity is not None else None) or ()
    return shape if all(each.upper is not None for each in shape) else scope.allocated.get(name, shape)


def names_in_shape(shape: Iterable[Bound]) -> list[str]:
    """The names in bounds, each once, in order of appearance."""
    bounds: list[Expr] = [end for bound in shape for end in (bound.lower, bound.upper) if end is not None]
    inside = [part for bound in bounds for part in walk_expressions(bound)]
    return list(dict.fromkeys(part.name for part in inside if isinstance(part, Var)))
