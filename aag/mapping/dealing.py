"""DISTRIBUTE as data: which grid a template is dealt over, and how each dimension of it."""

from collections.abc import Mapping

from msgspec import Struct

from aag.diagnostics import NOWHERE, Span
from aag.ir.directives import INSTEAD_OF_INDIRECT, NO_INDIRECT, Distribute, Format
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Constructor, Expr
from aag.mapping.arrangements import REARRANGED, Arrangements
from aag.mapping.distribution import Distribution
from aag.mapping.grid import Grid
from aag.mapping.report import Report, place
from aag.mapping.scope import LARGEST_EXTENT, Bounds
from aag.wording import plural


class Dealt(Struct, frozen=True, kw_only=True):
    """A distributed template or array: one entry for each dimension, None where it is collapsed.

    The distributed dimensions belong to the axes of `grid` in order.
    """

    grid: Grid
    dims: tuple[Distribution | None, ...]
    span: Span

    def axes(self) -> list[int]:
        """The dimension that belongs to each axis of the grid."""
        return [dim for dim, distribution in enumerate(self.dims) if distribution is not None]


def dealt(
    directive: Distribute, bounds: Bounds, arrangements: Arrangements, env: Mapping[str, Value], report: Report
) -> Dealt | None:
    """What a DISTRIBUTE directive says about a template with these bounds.

    None: it is not distributed (all formats are ``*``, or a scalar arrangement), or a problem was reported.
    """
    onto: Grid | None = None
    if directive.onto is not None:
        if directive.onto not in arrangements.named:
            report.unknown_name("PROCESSORS arrangement", directive.onto, directive.span, arrangements.named.keys())
            return None
        onto = arrangements.named[directive.onto]
        if onto is None:
            return None
    formats = _formats(directive, len(bounds), onto, report)
    if formats is None or _refused(directive, formats, report):
        return None
    spread = sum(each.kind != "*" for each in formats)
    if onto is not None and len(onto.shape) != spread:
        report.add(
            "E302",
            f"{_said(directive)} distributes {spread} of its dimensions, but {directive.onto} has {len(onto.shape)}",
            directive.span,
            "each dimension that is not * needs one dimension of the processors",
        )
        return None
    if spread == 0:
        if onto is not None:
            report.add(
                "W306",
                f"{directive.distributee} is distributed onto the scalar arrangement {directive.onto}: "
                "every processor has a copy",
                directive.span,
            )
        return None
    grid = onto if onto is not None else arrangements.ours(spread)
    given = arrangements.shape
    if onto is None and given and len(given) != spread > 1:
        report.add(
            REARRANGED,
            f"using grid {grid} for {directive.distributee}: ‹grid {Grid('', given)}› has "
            f"{plural(len(given), 'dimension')}",
            directive.span,
            "write PROCESSORS for each number of dimensions",
        )
    return _spread(directive, bounds, formats, grid, env, report)


def _said(directive: Distribute) -> str:
    """What decides the distribution: a directive, or the user, for whom no line of the source stands."""
    return f"{'DISTRIBUTE' if directive.span.line else '‹distribute›'} {directive.distributee}"


def _formats(directive: Distribute, rank: int, onto: Grid | None, report: Report) -> tuple[Format, ...] | None:
    name, formats = directive.distributee, directive.formats
    if formats is None:
        blocks = min(rank, len(onto.shape) if onto is not None else rank)
        if blocks:
            which = "every dimension" if blocks == rank else f"the last {blocks} of {rank} dimensions"
            report.add(
                "W303",
                f"DISTRIBUTE {name} has no formats: using BLOCK for {which}",
                directive.span,
                f"choose others with ‹distribute '{name}=(...)'›",
            )
        return (Format(kind="*"),) * (rank - blocks) + (Format(kind="block"),) * blocks
    if len(formats) != rank:
        report.add(
            "E302",
            f"{_said(directive)} has {plural(len(formats), 'format')}, but {name} has {plural(rank, 'dimension')}",
            directive.span,
            f"write one format for each dimension of {name}",
        )
        return None
    return formats


def _refused(directive: Distribute, formats: tuple[Format, ...], report: Report) -> bool:
    indirect = any(each.kind == "indirect" for each in formats)
    if indirect:
        report.add("E314", f"{_said(directive)}: {NO_INDIRECT}", directive.span, INSTEAD_OF_INDIRECT)
    return indirect


def _spread(
    directive: Distribute,
    bounds: Bounds,
    formats: tuple[Format, ...],
    grid: Grid,
    env: Mapping[str, Value],
    report: Report,
) -> Dealt | None:
    extents = iter(grid.shape)
    dims: list[Distribution | None] = []
    complete = True
    for dim, (form, dimension) in enumerate(zip(formats, bounds, strict=True)):
        if form.kind == "*":
            dims.append(None)
            continue
        what = f"{_said(directive)}, dimension {dim + 1}"
        one = _distribution(what, form, dimension, next(extents), directive.span, env, report)
        complete = complete and one is not None
        dims.append(one)
    return Dealt(grid=grid, dims=tuple(dims), span=directive.span) if complete else None


def _distribution(
    what: str, form: Format, bounds: tuple[int, int], procs: int, span: Span, env: Mapping[str, Value], report: Report
) -> Distribution | None:
    lower, upper = bounds
    extent = max(0, upper - lower + 1)
    if form.kind == "gen_block":
        return _general(what, form, lower, extent, procs, span, env, report)
    least = max(1, -(-extent // procs))
    kind = form.kind.upper()
    block = least if form.kind == "block" else 1
    if form.size is not None:
        given = _size(what, form.size, span, env, report)
        if given is None:
            return None
        block = given
    here = place(form.size.span if form.size is not None else NOWHERE, span)
    if block < 1:
        way_out = f"write BLOCK({least}) or BLOCK" if form.kind == "block" else "write CYCLIC(1) or CYCLIC"
        report.add("E308", f"{what}: the size in {kind}({block}) must be positive", here, way_out)
        return None
    if block > LARGEST_EXTENT:
        report.add("E308", f"{what}: {kind}({block}) is too large", here, "the largest size is 2**31")
        return None
    if form.kind == "block" and block < least:
        report.add(
            "E307",
            f"{what}: BLOCK({block}) on {plural(procs, 'processor')} holds {block * procs} of {extent} indices",
            here,
            f"write BLOCK or BLOCK({least}), or distribute the dimension over {-(-extent // block)} processors",
        )
        return None
    return Distribution(
        kind="block" if form.kind == "block" else "cyclic", block=block, procs=procs, lower=lower, extent=extent
    )


def _general(
    what: str, form: Format, lower: int, extent: int, procs: int, span: Span, env: Mapping[str, Value], report: Report
) -> Distribution | None:
    """GEN_BLOCK: one size for each coordinate, in order; together they hold the dimension (HPF 2.0, section 8.2.2)."""
    here = place(form.size.span if form.size is not None else NOWHERE, span)
    if not isinstance(form.size, Constructor):
        way_out = "give GEN_BLOCK a PARAMETER array, such as INTEGER, PARAMETER :: M(2) = (/ 3, 5 /)"
        report.add("E314", f"{what}: the sizes of GEN_BLOCK are not constant", here, way_out)
        return None
    given = [_size(what, each, span, env, report) for each in form.size.values]
    sizes = [each for each in given if each is not None]
    if len(sizes) < len(given):
        return None
    many = f"{plural(len(sizes), 'size')} for {plural(procs, 'processor')}"
    if len(sizes) != procs:
        report.add("E308", f"{what}: GEN_BLOCK has {many}", here, "give one size for each processor of the dimension")
        return None
    if min(sizes) < 0 or max(sizes) > LARGEST_EXTENT:
        wrong = next(each for each in sizes if not 0 <= each <= LARGEST_EXTENT)
        report.add("E308", f"{what}: {wrong} cannot be the size of a block", here, "sizes are from 0 to 2**31")
        return None
    if sum(sizes) < extent:
        held = f"the sizes of GEN_BLOCK hold {sum(sizes)} of {extent} indices"
        report.add("E307", f"{what}: {held}", here, "make their sum at least the extent of the dimension")
        return None
    return Distribution(kind="block", block=max(1, *sizes), procs=procs, lower=lower, extent=extent, sizes=tuple(sizes))


def _size(what: str, size: Expr, span: Span, env: Mapping[str, Value], report: Report) -> int | None:
    try:
        return evaluate_int(size, env)
    except Unknown as error:
        report.unknown_value(what, error, place(size.span, span))
        return None
