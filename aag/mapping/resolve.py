"""Directives and the user's overrides -> a layout for every array of a program unit."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import NOWHERE, Span
from aag.ir.directives import Align, Directive, Distribute, Template, mapped_name
from aag.ir.evaluate import NUMBER_OF_PROCESSORS, Value
from aag.ir.expressions import Element
from aag.ir.statements import Remap
from aag.ir.steady import all_passed, steady
from aag.ir.units import Entity, Unit
from aag.ir.visitors import names_in, walk_expressions, walk_statements
from aag.mapping.alignment import Placement, itself
from aag.mapping.arrangements import Arrangements, arrangements_of
from aag.mapping.configuration import Configuration, Dynamics, Mapper, place_of
from aag.mapping.constants import WITHOUT_VALUE, constants_of
from aag.mapping.grid import Grid
from aag.mapping.layout import Layout, Layouts
from aag.mapping.report import Report
from aag.mapping.scope import Scope, scope_of, written_bounds
from aag.mapping.settable import Settable, settable
from aag.mapping.tables import EVERYTHING, TableReader, Tables, tables_of
from aag.wording import plural

NOT_DYNAMIC = "W309"
CONTRADICTED = "W290"
OVERRIDDEN = "W291"
UNMAPPED = "W313"
UNDISTRIBUTED = "W311"
"""The code of the note that no array is distributed, where there are arrays."""
NO_ARRAY = "W312"
"""The code of the note that there is no array to distribute."""

NO_ASSUMPTIONS = frozenset({NOT_DYNAMIC, UNDISTRIBUTED, NO_ARRAY, UNMAPPED})
"""Codes of notes on what the source says, so that nothing is assumed."""

_MOST_SHOWN = 4
"""Arrays that a note names."""


class Overrides(Struct, frozen=True, kw_only=True):
    """What the user decides instead of the source: number of processors, grid, distributions and values.

    `align` replaces whatever maps its alignees: an ALIGN or a DISTRIBUTE. `computed`: the names of those values that
    come from a run of a part of the program.
    """

    procs: int | None = None
    grid: tuple[int, ...] | None = None
    distribute: Mapping[str, str] = field(default_factory=dict)
    align: tuple[Align, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()


def resolve_mapping(
    unit: Unit,
    overrides: Overrides,
    default_procs: int,
    *,
    visible: tuple[Unit, ...] = (),
    comments: Mapping[str, int] = MappingProxyType({}),
) -> Layouts:
    """The layouts of all arrays of a unit (Def 12, 13), with notes on what was assumed.

    Args:
        unit: Any program unit; mapping directives of dummy arguments count as prescriptive.
        overrides: The user's decisions.
        default_procs: The number of processors where neither the user nor the source says one.
        visible: Units whose names the unit sees (modules it uses, its host), outermost first.
        comments: Templates and arrangements that only comments would declare, with their lines.

    Raises:
        SourceError: carries every problem of the unit, not just the first.
    """
    report = Report(comments, unit)
    scope = scope_of(unit, visible)
    outer: dict[str, Value] = {}
    inherited: dict[str, Value] = {}
    for each in visible:
        inherited |= constants_of(each, overrides.values, outer)[0]
        outer |= inherited
    for entity in unit.entities:  # a name that the unit declares itself hides that of its host
        inherited.pop(entity.name, None)
    allowed = settable(unit, visible) if overrides.values.keys() - overrides.computed else None
    if allowed is not None:
        allowed = replace(allowed, why={**allowed.why, **dict.fromkeys(overrides.computed, "")})
    constants, problems = constants_of(unit, overrides.values, outer, settable=allowed)
    report.extend(problems)
    _note_overridden(allowed, overrides, scope, report)
    places = {each.span for each in problems if each.code == WITHOUT_VALUE}
    report.without_value(entity.name for entity in unit.entities if entity.span in places)
    given = {name.lower(): value for name, value in overrides.values.items()}
    arrangements = arrangements_of(
        scope,
        {**given, **outer, **constants},
        procs=overrides.procs,
        shape=overrides.grid,
        default=default_procs,
        report=report,
    )
    outer[NUMBER_OF_PROCESSORS] = arrangements.procs
    constants, _ = constants_of(unit, overrides.values, outer)
    known = {**given, **outer, **constants}
    env = {**steady(unit, known, all_passed), **known}
    tables = tables_of(scope, overrides.distribute, env, report, align=overrides.align)
    resolution = _Resolution(tables, arrangements, env, report)
    resolution.check(scope)
    grid = resolution.first_grid()
    report.extend(note for name, note in arrangements.assumed.items() if name in {grid.name, *resolution.used})
    found = {entity.name: resolution.layout(entity, grid) for entity in scope.arrays()}
    arrays = {
        name: replace(layout, written=written_bounds(scope.entities[name], scope, constants, layout.bounds))
        for name, layout in found.items()
        if layout is not None
    }
    for again in unit.repeated:
        if mapped_name(again) in arrays and not _is_overridden(mapped_name(again), overrides):
            resolution.compare(scope.entities[mapped_name(again)], again, grid)
    if arrangements.procs > 1 and unit.kind == "program":
        _note_undistributed(arrays, scope, report)
    _note_empty([layout for layout in arrays.values() if not layout.elements], scope, report)
    return Layouts(
        notes=report.notes(),
        procs=arrangements.procs,
        grid=grid,
        arrays=MappingProxyType(arrays),
        constants=MappingProxyType({**inherited, **constants}),
        known=MappingProxyType(env),
        dynamics=resolution.dynamics(grid) if resolution.remaps else None,
    )


def _note_overridden(allowed: Settable | None, overrides: Overrides, scope: Scope, report: Report) -> None:
    """Notes that a given value stands for what the program computes."""
    for name, value in overrides.values.items():
        lines = () if allowed is None or name in overrides.computed else allowed.computed.get(name.lower(), ())
        if lines and (entity := scope.entities.get(name.lower())) is not None:
            where = _lines(sorted(set(lines)))
            assign = f"assign{'s' * (len(set(lines)) == 1)}"
            shown = f".{str(value).lower()}." if isinstance(value, bool) else value
            told = f"{entity.shown} = {shown} as given, although {where} {assign} it"
            report.add(OVERRIDDEN, told, entity.span)


def _lines(numbers: Sequence[int]) -> str:
    """``line 5``, or ``lines 5, 6 and 7``."""
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _is_overridden(name: str, overrides: Overrides) -> bool:
    """Whether the user decides how an array is mapped."""
    distributed = {each.lower() for each in overrides.distribute}
    return bool({name, EVERYTHING} & distributed) or any(each.alignee == name for each in overrides.align)


class _Resolution:
    """Placements and distributions by name. None stands for what was reported or is not distributed."""

    def __init__(self, tables: Tables, arrangements: Arrangements, env: Mapping[str, Value], report: Report) -> None:
        self._tables = tables
        self._arrangements = arrangements
        self._env = env
        self._report = report
        self._mapper = Mapper(bounds=tables.bounds, arrangements=arrangements, env=env)
        self._spans: dict[str, Span] = {
            name: each.span for name, each in (*tables.aligns.items(), *tables.distributes.items())
        }
        self._dealt = {name: self._mapper.dealt(each, report) for name, each in tables.distributes.items()}
        self.used = {each.grid.name for each in self._dealt.values() if each is not None}
        """Processor arrangements over which something is dealt."""
        self._ranks = {len(each.grid.shape) for each in self._dealt.values() if each is not None}
        """The numbers of dimensions of these."""
        self._placements: dict[str, Placement | None] = self._cycles()
        for name in tables.bounds:
            self._place(name)
        self._start = Configuration(placements=self._placements, distributed=self._dealt)
        self.remaps = False
        """Whether something is realigned or redistributed."""

    def first_grid(self) -> Grid:
        """The grid that places ranks on nodes (Def 14): of the first DISTRIBUTE, else the first PROCESSORS.

        Reports a grid of the user's that has the rank of none over which something is dealt.
        """
        used = [each.grid for each in self._dealt.values() if each is not None]
        named = [each for each in self._arrangements.named.values() if each is not None and each.shape]
        shape = self._arrangements.shape
        candidates = [*used, *named]
        if not candidates:
            return Grid("", shape) if shape else self._arrangements.ours(1)
        ranks = sorted(self._ranks or {len(each.shape) for each in candidates})
        if shape and len(shape) not in ranks:
            self._report.add(
                "E311",
                f"‹grid {Grid('', shape)}› has {plural(len(shape), 'dimension')}, but the grids of the program have "
                f"{' or '.join(map(str, ranks))}",
                NOWHERE,
                "give one extent for each distributed dimension",
            )
        return candidates[0]

    def check(self, scope: Scope) -> None:
        """Reports what is wrong with the REALIGN and REDISTRIBUTE statements of the unit."""
        names = TableReader(scope, {}, self._report)
        for statement in walk_statements(scope.unit.body):
            if isinstance(statement, Remap) and names.accepts(statement.directive):
                self.remaps, directive = True, statement.directive
                name = directive.alignee if isinstance(directive, Align) else directive.distributee
                found = self._mapper.remapped(self._start, directive, self._report).distributed.get(name)
                if found is not None:
                    self.used.add(found.grid.name)
                    self._ranks.add(len(found.grid.shape))
                if name not in self._tables.dynamic and not statement.keeps:
                    hint = "HPF requires !HPF$ DYNAMIC for what a directive remaps"
                    message = f"{name} is remapped but not declared DYNAMIC"
                    self._report.add(NOT_DYNAMIC, message, directive.span, hint)

    def dynamics(self, first: Grid) -> Dynamics:
        """What REALIGN and REDISTRIBUTE mean in this unit."""
        return Dynamics(start=self._start, mapper=self._mapper, first=first)

    def compare(self, entity: Entity, again: Directive, first: Grid) -> None:
        """Notes where a directive of another unit maps an array of a common block otherwise: HPF asks for one mapping
        in all units, and this one is taken for all."""
        name, tables = entity.name, self._tables
        aligns = {each: found for each, found in tables.aligns.items() if each != name}
        distributes = {each: found for each, found in tables.distributes.items() if each != name}
        if isinstance(again, Align):
            aligns[name] = again
        elif isinstance(again, Distribute):
            distributes[name] = again
        changed = replace(tables, aligns=aligns, distributes=distributes)
        other = _Resolution(changed, self._arrangements, self._env, Report()).layout(entity, first)
        mine = self.layout(entity, first)
        if mine is None or (other is not None and mine.is_placed_as(other)):
            return
        there, kept = again.span, self._spans.get(name, entity.span)
        self._report.add(
            CONTRADICTED,
            f"{entity.shown} has another mapping in {kept.line_from(there)}, which is used everywhere",
            there,
            "write the same mapping in all units that declare the common block",
        )

    def layout(self, entity: Entity, first: Grid) -> Layout | None:
        """The layout of one array; None where a problem was reported."""
        found, bounds = self._start.axes(entity.name, first), self._tables.bounds.get(entity.name)
        if found is None or bounds is None:
            return None
        span = self._spans.get(entity.name)
        placement = self._placements[entity.name]
        return Layout(
            array=entity.name,
            element_bytes=entity.type.bytes,
            bounds=bounds,
            grid=found[0],
            axes=found[1],
            template=placement.root if placement is not None and span is not None else "",
            span=place_of(entity.span, span),
        )

    def _cycles(self) -> dict[str, Placement | None]:
        """Reports each cycle of alignments once; its members have no placement."""
        aligns = self._tables.aligns
        visited: set[str] = set()
        members: dict[str, Placement | None] = {}
        for name in aligns:
            path: dict[str, None] = {}
            at = name
            while at in aligns and at not in visited:
                visited.add(at)
                path[at] = None
                at = aligns[at].target
            if at in path:
                whole = list(path)
                cycle = whole[whole.index(at) :]
                self._report.add(
                    "E304",
                    f"these alignments form a cycle: {' -> '.join([*cycle, at])}",
                    aligns[at].span,
                    "distribute one of them, or align it with a template",
                )
                members |= dict.fromkeys(cycle)
        return members

    def _place(self, name: str) -> None:
        """Finds where a template or array lies in its ultimate align target, and all on the way to it."""
        aligns, bounds = self._tables.aligns, self._tables.bounds
        chain = [name]
        while chain[-1] in aligns and aligns[chain[-1]].target not in self._placements:
            chain.append(aligns[chain[-1]].target)
        for each in reversed(chain):
            own = bounds.get(each)
            if each in self._placements or own is None:
                self._placements.setdefault(each, None)
            elif each in aligns:
                self._placements[each] = self._mapper.placed(aligns[each], self._placements, self._report)
            else:
                self._placements[each] = itself(each, len(own))


def _note_undistributed(arrays: Mapping[str, Layout], scope: Scope, report: Report) -> None:
    """Notes that every processor has all the data and does all the work."""
    remapped = any(isinstance(each, Remap) for each in walk_statements(scope.unit.body))
    if remapped or any(each.is_distributed for each in arrays.values()):
        _note_unmapped(arrays, scope, report)
        return
    work = "each processor does all the work"
    if arrays:
        templates = [each.name for each in scope.directives if isinstance(each, Template)]
        done = {each.distributee for each in scope.directives if isinstance(each, Distribute)}
        undone = [name for name in templates if name not in done]
        hint = f"write DISTRIBUTE for {_one_of(undone or _largest(arrays, scope))}"
        if templates and not undone:
            hint = f"write ALIGN for {_one_of(_largest(arrays, scope))}, with {_one_of(templates)}"
        report.add(UNDISTRIBUTED, f"no array is distributed: {work}", scope.unit.span, hint)
    else:
        hint = "only operations on distributed arrays are divided among processors"
        report.add(NO_ARRAY, f"there is no array to distribute: {work}", scope.unit.span, hint)


def _largest(arrays: Mapping[str, Layout], scope: Scope) -> list[str]:
    """The names of the largest arrays."""
    most = max(each.elements for each in arrays.values())
    named = (scope.entities[name].shown.partition("$")[0] for name, each in arrays.items() if each.elements == most)
    return list(dict.fromkeys(named))


def _one_of(names: Sequence[str]) -> str:
    """A choice of names: ``a, b or 3 more``."""
    more = [f"{len(names) - _MOST_SHOWN} more"] if len(names) > _MOST_SHOWN else []
    *first, last = [*names[:_MOST_SHOWN], *more]
    return f"{', '.join(first)} or {last}" if first else last


def _note_unmapped(arrays: Mapping[str, Layout], scope: Scope, report: Report) -> None:
    """Notes large arrays that no directive names: one that was forgotten costs more than any other mistake.

    Index arrays are left out; they are often meant to be on every processor.
    """
    largest = max((each.elements for each in arrays.values() if each.is_distributed), default=0)
    forgotten = [each.array for each in arrays.values() if not each.template and each.elements >= largest > 1]
    if forgotten:
        elements = (each for each in walk_expressions(scope.unit.body) if isinstance(each, Element))
        meant = names_in(*(part for each in elements for part in each.subscripts))  # index arrays
        forgotten = [name for name in forgotten if name not in meant]
    if not forgotten:
        return
    shown = list(dict.fromkeys(scope.entities[name].shown.partition("$")[0] for name in forgotten))
    named = _one_of(shown)
    whole, them = ("all of it", "it") if len(shown) == 1 else ("all of them", "them")
    report.add(
        UNMAPPED,
        f"no directive maps {named}: every processor holds and computes {whole}",
        scope.entities[forgotten[0]].span,
        f"distribute {them}, or align {them} with an array that is distributed",
    )


def _note_empty(layouts: list[Layout], scope: Scope, report: Report) -> None:
    """Notes arrays of size zero: they are legal Fortran, but a size that is 0 or negative may be a mistake."""
    if not layouts:
        return
    shown = [f"{each.array}({','.join(f'{lower}:{upper}' for lower, upper in each.bounds)})" for each in layouts]
    more = [f"{len(shown) - _MOST_SHOWN} more"] if len(shown) > _MOST_SHOWN else []
    report.add(
        "W310",
        f"{', '.join([*shown[:_MOST_SHOWN], *more])} {'has' if len(shown) == 1 else 'have'} no elements, "
        f"so nothing is done to {'it' if len(shown) == 1 else 'them'}",
        scope.entities[layouts[0].array].span,
        "if this is unintended, give the sizes with ‹set NAME=VALUE›",
    )
