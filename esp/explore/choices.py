"""Which DISTRIBUTE choices a program has: formats for what it distributes, and processor grids for them.

    distributed = distributed_by(source, system, request)   templates and arrays, with their extents
    choices = choices_of(distributed)                       BLOCK, CYCLIC and * in every dimension, every grid that fits

Sensible is a choice in which each distributed dimension is spread over two processors or more and has at least one
element for each of them. (BLOCK,BLOCK) on 8x1 is therefore missing: it is (BLOCK,*).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import log, prod

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import SourceError, Span
from aag.ir.directives import Align, Distribute, Format, Processors
from aag.ir.evaluate import Value
from aag.ir.expressions import Constructor, Expr
from aag.ir.spelling import spell
from aag.mapping.arrangements import REARRANGED, UNSIZED
from aag.mapping.formats import parse_formats, split_formats
from aag.mapping.grid import squarest
from aag.mapping.layout import Layouts
from aag.mapping.report import Report
from aag.mapping.scope import Scope, scope_of, visible_to
from aag.mapping.tables import distributed_names, extents_of, tables_of
from aag.pipeline import main_unit
from aag.wording import plural
from esp.api import Request, Source, map_source
from esp.errors import PredictionError, UsageError
from esp.explore.places import Elsewhere, PastePlace, away, places_of
from esp.sizing import names_in_shape, shape_of
from interpreter.result import Assumption
from sag.unit import System

FORMATS = ("BLOCK", "CYCLIC", "*")

MOST_GRIDS = 4
"""Grids tried for each list of formats, the squarest first: flatter ones send longer edges."""

MOST_CHOICES = 48
"""More than anybody reads; what lies beyond is named with --distribute."""

_MOST_NAMES = 12
"""Names that an error lists."""

_UNFIT = ("E307", "E311")
"""Errors of a mapping whose blocks do not hold everything on so few processors, or that a grid does not fit."""

_FREE = ("procs", "esp_procs", "esp_grid")
"""Names for an arrangement where the source has none; the first that is free is taken."""


class Target(Struct, frozen=True, kw_only=True):
    """A template or array that is distributed, or could be."""

    name: str
    shown: str
    extents: tuple[int, ...]
    written: str
    """Its formats in the source; empty where it has none."""
    sizes: tuple[str, ...]
    """Names of the constants, and of variables that the user set, that its shape is made of, in order of appearance."""


class Distributed(Struct, frozen=True, kw_only=True):
    """What a program distributes, and over what."""

    targets: tuple[Target, ...]
    procs: int
    grid: tuple[int, ...]
    """The grid of the source's own mapping."""
    rearranged: bool
    """Whether the source needs another PROCESSORS for this number of processors or this grid."""
    ranks: Mapping[str, int]
    """The number of dimensions of every template and array that may be distributed."""
    onto: str
    """A name for a processor arrangement: that of the source, else one that is free."""
    places: tuple[PastePlace, ...]
    """The program units in which a choice replaces directives of the source: PROCESSORS and DISTRIBUTE."""
    away: frozenset[str]
    """Arrays that no ALIGN in the first of these can align anew."""
    alignments: Mapping[str, Span]
    """The places of the ALIGN directives in the source."""
    assumptions: tuple[Assumption, ...]
    """That the machine gives the number of processors, if neither the source nor the user does."""


class MappingChoice(Struct, frozen=True, kw_only=True):
    """Formats by name, and the grid; `grid` None: that of Def 13."""

    formats: Mapping[str, str]
    grid: tuple[int, ...] | None
    shown: str
    """The formats as a table shows them: ``(BLOCK,*)``; with names where targets differ."""
    directives: tuple[str, ...]
    """Lines to paste in place of those of the source."""
    replaced: tuple[Span, ...] = ()
    """Where those of the source are."""
    elsewhere: tuple[Elsewhere, ...] = ()
    """Lines for further program units, which have directives of their own."""

    @property
    def pasted(self) -> tuple[str, ...]:
        """All lines, those for further units below a comment that names the unit."""
        return with_elsewhere(self.directives, self.elsewhere)

    def applied(self, request: Request) -> dict[str, object]:
        """The fields of a request that this choice replaces."""
        return {"distribute": {**request.distribute, **self.formats}, "grid": self.grid}


def distributed_by(source: Source, system: System, request: Request) -> Distributed:
    """What the main program distributes, over how many processors.

    Where it has no DISTRIBUTE, these are what arrays are aligned with, else all arrays of the shape of the largest.

    The source's own mapping need not fit this number of processors.

    Raises:
        aag.diagnostics.SourceError: its directives or the values given prevent any mapping.
        PredictionError: it has no array that could be distributed.
    """
    layouts = layouts_of(source, system, request)
    unit = main_unit(source.program)
    scope = scope_of(unit, visible_to(unit, source.program))
    known = environment_of(layouts, request)
    tables = tables_of(scope, request.distribute, layouts.known, Report(), align=request.align)
    extents = {name: extents_of(bounds) for name, bounds in tables.bounds.items() if bounds is not None}
    names = distributed_names(tables.aligns, tables.distributes, tables.bounds, scope)
    if not names:
        whole = ", ".join(_shown(scope, each) for each in sorted(scope.passed_whole() & extents.keys()))
        hint = f"A library procedure gets {whole} as a whole." if whole else "The program needs an array."
        raise PredictionError("there is nothing to distribute.", where=source.program.file, hint=hint)
    directives = {each.distributee: each for each in scope.directives if isinstance(each, Distribute)}
    found = tuple(
        Target(
            name=name,
            shown=_shown(scope, name),
            extents=extents[name],
            written=_written(directives[name].formats if name in directives else None),
            sizes=tuple(each for each in names_in_shape(shape_of(scope, name)) if each in known),
        )
        for name in names
    )
    arrangements = [each.name for each in scope.directives if isinstance(each, Processors) and each.shape]
    onto = next(iter(arrangements), next(name for name in _FREE if name not in extents and name not in scope.entities))
    moved = {each.alignee for each in request.align}
    places = places_of(source.program, unit, scope, dict.fromkeys((*names, *moved)))
    alignments = {each.alignee: each.span for each in scope.directives if isinstance(each, Align)}
    ranks = {name: len(extent) for name, extent in extents.items() if name not in tables.aligns}
    return Distributed(
        targets=found,
        procs=layouts.procs,
        grid=layouts.grid.shape,
        rearranged=_rearranged(source, system, request, layouts),
        ranks=ranks,
        onto=onto.upper(),
        places=places,
        away=away(source.program, unit, scope, places[0]),
        alignments=alignments,
        assumptions=machine_sized(layouts),
    )


def _rearranged(source: Source, system: System, request: Request, layouts: Layouts) -> bool:
    """Whether a mapping with the formats of the source has another arrangement than its PROCESSORS gives."""
    if any(each.code == REARRANGED for each in layouts.notes):
        return True
    if request.grid is None:
        return False
    try:
        own = layouts_of(source, system, replace(request, procs=layouts.procs, grid=None))
    except SourceError:  # the directives alone give none
        return True
    return own.grid.shape != layouts.grid.shape or any(each.code == REARRANGED for each in own.notes)


def with_elsewhere(directives: Sequence[str], elsewhere: Iterable[Elsewhere]) -> tuple[str, ...]:
    """Directives, and below a comment those for further program units."""
    further = (line for each in elsewhere for line in (f"! in {each.unit}:", *each.directives))
    return (*directives, *further)


def machine_sized(layouts: Layouts) -> tuple[Assumption, ...]:
    """That the machine gives the number of processors, where it does: a choice names its grid and so its processors."""
    told = (each for each in layouts.notes if each.code == UNSIZED)
    return tuple(Assumption(code=each.code, text=each.message, span=each.span) for each in told)


def layouts_of(source: Source, system: System, request: Request) -> Layouts:
    """The layouts of the main program's arrays; where blocks of the source are too small for this number of processors,
    or a grid is for other formats, those with blocks and grids that fit: what else could be chosen hangs on neither.

    Raises:
        aag.diagnostics.SourceError: its directives or the values given prevent any mapping.
    """
    try:
        return map_source(source, system, request)
    except SourceError as error:
        if any(each.code not in _UNFIT for each in error.diagnostics if each.is_error):
            raise
        procs = prod(request.grid) if request.procs is None and request.grid else request.procs
        unit = main_unit(source.program)
        free = {
            each.distributee: f"({','.join(part.kind for part in each.formats)})"
            for each in scope_of(unit, visible_to(unit, source.program)).directives
            if isinstance(each, Distribute) and each.formats
        }
        fitting = replace(request, procs=procs, grid=None, distribute={**free, **request.distribute})
        try:
            return map_source(source, system, fitting)
        except SourceError:  # it is not these blocks alone
            raise error from None


def environment_of(layouts: Layouts, request: Request) -> Mapping[str, Value]:
    """The values that a user can change: constants, and variables that the user set."""
    return {**{name.lower(): value for name, value in request.values.items()}, **layouts.environment}


def _shown(scope: Scope, name: str) -> str:
    entity = scope.entities.get(name)
    return name if entity is None else entity.shown


def _written(formats: Iterable[Format] | None) -> str:
    """Formats as a source has them, without blanks and in capitals; nothing where there are none."""
    if formats is None:
        return ""
    sizes = ((each, "" if each.size is None else f"({_sizes(each.size)})") for each in formats)
    return f"({','.join(each.kind.upper() + size for each, size in sizes)})"


def _sizes(size: Expr) -> str:
    if isinstance(size, Constructor):  # of GEN_BLOCK
        return f"(/{','.join(spell(each).replace(' ', '') for each in size.values)}/)".upper()
    return spell(size).upper()


def choices_of(
    distributed: Distributed, *, named: Sequence[Mapping[str, str]] = (), grid: tuple[int, ...] | None = None
) -> tuple[tuple[MappingChoice, ...], int]:
    """The choices, in the order of formats and squareness, and how many more were left out.

    Args:
        distributed: what is distributed. Targets of one rank get the same formats.
        named: formats by name that are to be compared, instead of all; a name ``""`` stands for all targets whose
            rank fits.
        grid: the grid of all choices, instead of all that fit.

    Raises:
        UsageError: formats that cannot be read, or that fit nothing that the program has.
    """
    targets, procs = distributed.targets, distributed.procs
    wanted = [_for_targets(each, targets, distributed.ranks) for each in named]
    if not wanted:
        wanted = all_formats(targets)
        fitting = [each for each in wanted if grid is None or _rank(each, targets) == len(grid)]
        wanted = fitting or wanted
    found: list[MappingChoice] = []
    skipped = 0
    for formats in wanted:
        grids, more = ([grid], 0) if grid is not None else _grids(formats, targets, procs, bool(named))
        skipped += more
        found += [_choice(formats, each, distributed) for each in grids]
    if not found:  # the arrays are smaller than any grid: some processors will have nothing
        found = [_choice(formats, None, distributed) for formats in wanted]
    unique = list({(tuple(each.formats.items()), each.grid): each for each in found}.values())
    return tuple(unique[:MOST_CHOICES]), skipped + max(0, len(unique) - MOST_CHOICES)


def normal(formats: str) -> str:
    """Formats as this module writes them: ``(block, cyclic( 4 ))`` is ``(BLOCK,CYCLIC(4))``.

    Raises:
        UsageError: they cannot be read.
    """
    try:
        parsed = parse_formats(formats)
    except ValueError as error:
        raise UsageError(f"{error}.", where=f"--distribute {formats}", hint="Write for example '(BLOCK,*)'.") from None
    return _written(parsed)


def _for_targets(named: Mapping[str, str], targets: Sequence[Target], ranks: Mapping[str, int]) -> dict[str, str]:
    formats: dict[str, str] = {}
    for name, text in named.items():
        written = normal(text)
        rank = len(split(written))
        if name:
            _refuse_strangers(name, text, rank, ranks)
            formats[name] = written
            continue
        fitting = [each.name for each in targets if len(each.extents) == rank]
        if not fitting:
            theirs = " or ".join(str(each) for each in sorted({len(target.extents) for target in targets}))
            told = f"this is for {plural(rank, 'dimension')}, but what the program distributes has {theirs}."
            raise UsageError(told, where=f"--distribute {text}", hint="Write one format for each dimension.")
        formats |= dict.fromkeys(fitting, written)
    return formats


def _refuse_strangers(name: str, text: str, rank: int, ranks: Mapping[str, int]) -> None:
    where = f"--distribute {name}={text}"
    if name not in ranks:
        told = f"there is no array or template {name} that could be distributed."
        known = ", ".join(list(ranks)[:_MOST_NAMES]) + (", ..." if len(ranks) > _MOST_NAMES else "")
        raise UsageError(told, where=where, hint=f"There {'is' if len(ranks) == 1 else 'are'} {known}.")
    if rank != ranks[name]:
        told = f"this is for {plural(rank, 'dimension')}, but {name} has {ranks[name]}."
        raise UsageError(told, where=where, hint="Write one format for each dimension.")


def all_formats(targets: Sequence[Target]) -> list[dict[str, str]]:
    """Formats for all targets: the same for all of one rank, all combinations over ranks."""
    ranks = list(dict.fromkeys(len(each.extents) for each in targets))
    lists = [[each for each in product(FORMATS, repeat=rank) if set(each) != {"*"}] for rank in ranks]
    found = []
    for combined in product(*lists):
        by_rank = {rank: f"({','.join(formats)})" for rank, formats in zip(ranks, combined, strict=True)}
        found.append({each.name: by_rank[len(each.extents)] for each in targets})
    return found


def _grids(
    formats: Mapping[str, str], targets: Sequence[Target], procs: int, whatever: bool
) -> tuple[list[tuple[int, ...] | None], int]:
    """The grids for formats, the squarest first, and how many were left out; `whatever`: at least one."""
    spread = [_spread(target, formats[target.name]) for target in targets if target.name in formats]
    most = max(map(len, spread), default=0)
    least = [min(column) for column in zip(*(each for each in spread if len(each) == most), strict=True)]
    shapes = [each for each in _factorings(procs, most) if most == 1 or min(each, default=1) > 1]
    fitting = [each for each in shapes if all(p <= extent for p, extent in zip(each, least, strict=True))]
    ordered = sorted(fitting, key=lambda shape: (_flatness(shape), tuple(-extent for extent in shape)))
    if not ordered and whatever:
        return [None], 0
    kept = ordered[:MOST_GRIDS]
    return list(kept), len(ordered) - len(kept)


def _rank(formats: Mapping[str, str], targets: Sequence[Target]) -> int:
    """The number of dimensions of the grid for formats."""
    return max((len(_spread(each, formats[each.name])) for each in targets if each.name in formats), default=0)


def _spread(target: Target, formats: str) -> list[int]:
    """The extents of the dimensions that formats distribute."""
    return [extent for extent, part in zip(target.extents, split(formats), strict=False) if part != "*"]


def _factorings(number: int, rank: int) -> list[tuple[int, ...]]:
    """All ordered products of `rank` extents."""
    if rank == 0:
        return [()] if number == 1 else []
    if rank == 1:
        return [(number,)]
    found = []
    for extent in range(1, number + 1):
        if number % extent == 0:
            found += [(extent, *rest) for rest in _factorings(number // extent, rank - 1)]
    return found


def _flatness(shape: tuple[int, ...]) -> float:
    return round(log(max(shape) / min(shape)), 9) if shape else 0.0


def written_choice(distributed: Distributed, directives: tuple[str, ...] = ()) -> MappingChoice | None:
    """The mapping of the source as a choice, to which `directives` are added; None where it has none. Those of the
    source are to be pasted only if its PROCESSORS does not fit."""
    formats = {each.name: each.written for each in distributed.targets if each.written}
    if not formats:
        return None
    found = _choice(formats, distributed.grid, distributed)
    named = " ".join(dict.fromkeys(formats.values()))
    if not distributed.rearranged:
        return MappingChoice(formats=formats, grid=None, shown=named, directives=directives)
    return replace(found, grid=None, shown=named, directives=(*found.directives, *directives))


def is_written(choice: MappingChoice, written: MappingChoice, distributed: Distributed) -> bool:
    """Whether a choice is what the source says, `written`."""
    if choice is written:
        return True
    return dict(choice.formats) == dict(written.formats) and choice.grid in (None, distributed.grid)


def _choice(formats: Mapping[str, str], grid: tuple[int, ...] | None, distributed: Distributed) -> MappingChoice:
    targets = distributed.targets
    every = {each.name: each.written for each in targets if each.written} | dict(formats)
    return MappingChoice(
        formats=dict(formats),
        grid=grid,
        shown=shown(formats, targets),
        directives=_directives_of(distributed.places[0], every, grid, distributed),
        replaced=distributed.places[0].replaced,
        elsewhere=tuple(
            Elsewhere(unit=each.unit, directives=lines, replaced=each.replaced)
            for each in distributed.places[1:]
            if (lines := _directives_of(each, every, grid, distributed))
        ),
    )


def _directives_of(
    place: PastePlace, formats: Mapping[str, str], grid: tuple[int, ...] | None, distributed: Distributed
) -> tuple[str, ...]:
    """The lines for one program unit: what it distributes, in the names that it has there."""
    placed = {name for each in distributed.places for name in each.names}
    by_formats: dict[str, list[str]] = {}
    for name, text in formats.items():
        if name in place.names or (place is distributed.places[0] and name not in placed):
            by_formats.setdefault(text, []).append(place.names.get(name, name).upper())
    return _directives(by_formats, grid, distributed.procs, place.onto.upper() or distributed.onto)


def shown(formats: Mapping[str, str], targets: Sequence[Target]) -> str:
    """Formats as a table shows them; with names only where they differ."""
    by_formats = _names(formats, targets)
    if len(by_formats) == 1:
        return next(iter(by_formats))
    return " ".join(f"{'/'.join(names)}{text}" for text, names in by_formats.items())


def _names(formats: Mapping[str, str], targets: Sequence[Target]) -> dict[str, list[str]]:
    """Formats -> the names that have them, as the source writes them."""
    known = {each.name: each.shown for each in targets}
    found: dict[str, list[str]] = {}
    for name, text in formats.items():
        found.setdefault(text, []).append(known.get(name, name).upper())
    return found


def _directives(
    by_formats: Mapping[str, Sequence[str]], grid: tuple[int, ...] | None, procs: int, onto: str
) -> tuple[str, ...]:
    """PROCESSORS and DISTRIBUTE lines that say in the source what the choice says beside it."""
    shapes: dict[tuple[int, ...], str] = {}
    lines = []
    for text, names in by_formats.items():
        spread = sum(1 for each in split(text) if each != "*")
        if not spread:
            lines.append(f"!HPF$ DISTRIBUTE ({text.strip('()')}) :: {', '.join(names)}")
            continue
        shape = grid if grid is not None and len(grid) == spread else squarest(procs, spread)
        arrangement = shapes.setdefault(shape, onto if not shapes else f"{onto}{len(shapes) + 1}")
        if len(names) == 1:
            lines.append(f"!HPF$ DISTRIBUTE {names[0]}{text} ONTO {arrangement}")
        else:
            lines.append(f"!HPF$ DISTRIBUTE {text} ONTO {arrangement} :: {', '.join(names)}")
    arrangements = [f"!HPF$ PROCESSORS {name}({','.join(map(str, shape))})" for shape, name in shapes.items()]
    return (*arrangements, *lines)


def split(formats: str) -> list[str]:
    """The formats of a list: ``(BLOCK,CYCLIC(4))`` is BLOCK and CYCLIC(4)."""
    return list(split_formats(formats))
