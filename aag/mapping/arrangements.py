"""How many processors there are, and how they are arranged (Def 12, Def 13)."""

from collections.abc import Mapping
from math import prod

from msgspec import Struct

from aag.diagnostics import NOWHERE, Diagnostic, Span
from aag.ir.directives import Processors
from aag.ir.evaluate import NUMBER_OF_PROCESSORS, Unknown, Value, evaluate_int
from aag.ir.expressions import Call
from aag.mapping.grid import LARGEST, Grid, squarest
from aag.mapping.report import Report, place
from aag.mapping.scope import Scope
from aag.wording import is_name

REARRANGED = "W301"
"""The code of a grid that is not the one that PROCESSORS says."""

UNSIZED = "W302"
"""The code of a number of processors that the machine gives."""


class Arrangements(Struct, frozen=True, kw_only=True):
    """The processors of a run: `named`: those of the source (None: broken); `shape`: the user's grid."""

    procs: int
    named: Mapping[str, Grid | None]
    assumed: Mapping[str, Diagnostic]
    """Where the grid of a named one is not that of its directive: what is said of it if it is used."""
    shape: tuple[int, ...] | None

    def ours(self, rank: int) -> Grid:
        """The grid that stands where the source names none."""
        return Grid("", self.shape if self.shape and len(self.shape) == rank else squarest(self.procs, rank))


def arrangements_of(
    scope: Scope,
    env: Mapping[str, Value],
    *,
    procs: int | None,
    shape: tuple[int, ...] | None,
    default: int,
    report: Report,
) -> Arrangements:
    """The processors of a run, from the user's number and grid, the PROCESSORS directives and the machine's default."""
    directives = [each for each in scope.directives if isinstance(each, Processors)]
    shape = _valid_shape(shape, report)
    number = _number(directives, env, procs=procs, shape=shape, default=default, report=report)
    if shape and prod(shape) != number:
        report.add(
            "E310",
            f"‹grid {Grid('', shape)}› has {prod(shape)} processors, but there are {number}",
            hint=f"for example ‹grid {squarest_text(number, len(shape))}›",
        )
        shape = None
    counted = {**env, NUMBER_OF_PROCESSORS: number}
    assumed: dict[str, Diagnostic] = {}
    named = {each.name: _grid(each, env, counted, shape, report, assumed) for each in directives}
    return Arrangements(procs=number, named=named, assumed=assumed, shape=shape)


def _valid_shape(shape: tuple[int, ...] | None, report: Report) -> tuple[int, ...] | None:
    if shape is None:
        return None
    if shape and all(extent >= 1 for extent in shape):
        return shape
    written = "x".join(map(str, shape))
    report.add("E309", f"‹grid {written}›: each extent must be at least 1", hint="for example ‹grid 4x2›")
    return None


def _number(
    directives: list[Processors],
    env: Mapping[str, Value],
    *,
    procs: int | None,
    shape: tuple[int, ...] | None,
    default: int,
    report: Report,
) -> int:
    """Def 12: what the user says, else PROCESSORS, else the machine's default; a grid alone counts as the number."""
    if procs is not None and _in_range(procs, f"‹procs {procs}›", NOWHERE, report):
        return procs
    if shape and _in_range(prod(shape), f"‹grid {Grid('', shape)}›", NOWHERE, report):
        return prod(shape)
    for each in directives:
        try:
            extents = _extents(each, env)
        except Unknown:
            continue
        if extents and all(extent >= 1 for extent in extents):
            size = prod(extents)
            if _in_range(size, f"PROCESSORS {each.name} has {size} processors:", each.span, report):
                return size
    report.add(
        UNSIZED,
        f"no processor count given: using the machine's {default}",
        directives[0].span if directives else NOWHERE,
        "set it with ‹procs›",
    )
    return default


def _in_range(number: int, what: str, span: Span, report: Report) -> bool:
    if 1 <= number <= LARGEST:
        return True
    report.add("E309", f"{what} must be between 1 and {LARGEST}", span, "for example ‹procs 8›")
    return False


def _extents(directive: Processors, env: Mapping[str, Value]) -> tuple[int, ...]:
    """The extents of a PROCESSORS shape.

    Raises:
        Unknown: a value is missing.
    """
    extents = []
    for bound in directive.shape:
        if bound.upper is None:
            raise Unknown("*", "PROCESSORS needs extents")
        lower = 1 if bound.lower is None else evaluate_int(bound.lower, env)
        extents.append(evaluate_int(bound.upper, env) - lower + 1)
    return tuple(extents)


def _grid(
    directive: Processors,
    env: Mapping[str, Value],
    counted: Mapping[str, Value],
    shape: tuple[int, ...] | None,
    report: Report,
    assumed: dict[str, Diagnostic],
) -> Grid | None:
    """The grid of one directive in a run with the number of processors of `counted`."""
    name, rank = directive.name, len(directive.shape)
    procs = evaluate_int(Call("number_of_processors", ()), counted)
    if rank == 0:
        return Grid(name, ())
    try:
        extents = _extents(directive, counted)
    except Unknown as error:
        assumed[name] = Diagnostic(
            code=REARRANGED,
            message=f"using grid {squarest_text(procs, rank)} for {name.upper()}: {error}",
            span=directive.span,
            hint=f"give it with ‹set {error.name}=VALUE›" if is_name(error.name) else "",
        )
        return Grid(name, squarest(procs, rank))
    written = "x".join(map(str, extents))
    if any(extent < 1 for extent in extents):
        upper = directive.shape[0].upper
        report.add(
            "E309",
            f"PROCESSORS {name} has the shape {written}: each extent must be at least 1",
            place(upper.span, directive.span) if upper else directive.span,
            "an arrangement has at least one processor",
        )
        return None
    if shape and len(shape) == rank:
        return Grid(name, shape)
    if prod(extents) == procs:
        return Grid(name, extents)
    if _depends_on_number(directive, env):
        report.add(
            "E310",
            f"PROCESSORS {name} is {written} = {prod(extents)} processors, but there are {procs}",
            directive.span,
            f"choose a ‹procs› that matches, or ‹grid {squarest_text(procs, rank)}›",
        )
        return None
    assumed[name] = Diagnostic(
        code=REARRANGED,
        message=f"using grid {squarest_text(procs, rank)} instead of {name.upper()}({','.join(map(str, extents))})",
        span=directive.span,
        hint="choose another with ‹grid›",
    )
    return Grid(name, squarest(procs, rank))


def squarest_text(procs: int, rank: int) -> str:
    """The squarest grid as the user writes it, such as 4x2."""
    return str(Grid("", squarest(procs, rank)))


def _depends_on_number(directive: Processors, env: Mapping[str, Value]) -> bool:
    """Whether the shape follows NUMBER_OF_PROCESSORS(); `env` does not know the number."""
    try:
        _extents(directive, env)
    except Unknown as error:
        return error.name == NUMBER_OF_PROCESSORS
    return False
