"""Mapping directives, checked and sorted by name, with the user's distributions applied."""

from collections.abc import Mapping
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import NOWHERE, Span
from aag.ir.directives import Align, Distribute, Dynamic, Inherit, Processors, Sequence, Template
from aag.ir.evaluate import Value
from aag.ir.intrinsics import SERIAL
from aag.mapping.formats import parse_formats
from aag.mapping.report import Report, nearest
from aag.mapping.scope import Bounds, Scope, bounds_of_array, bounds_of_template
from aag.wording import plural


class Tables(Struct, frozen=True, kw_only=True):
    """What the directives say, by name. A name is aligned or distributed or neither.

    `bounds` has every template and array; None stands for what was reported.
    """

    aligns: Mapping[str, Align]
    distributes: Mapping[str, Distribute]
    bounds: Mapping[str, Bounds | None]
    dynamic: frozenset[str]


def tables_of(
    scope: Scope,
    distribute: Mapping[str, str],
    env: Mapping[str, Value],
    report: Report,
    *,
    align: tuple[Align, ...] = (),
) -> Tables:
    """The tables of a scope, where `distribute` replaces formats and `align` the mapping of its alignees.

    Formats of the name ``""`` are for everything that the program distributes and that has as many dimensions. Every
    problem goes to the report."""
    named = {name: formats for name, formats in distribute.items() if name}
    reader = TableReader(scope, named, report, align)
    reader.read()
    bounds = _bounds(scope, reader, env, report)
    if EVERYTHING in distribute:
        ranks = {name: len(found) for name, found in bounds.items() if found is not None}
        wanted = distributed_names(reader.aligns, reader.distributes, bounds, scope)
        reader.distribute_all({name: ranks[name] for name in wanted if name not in named}, distribute[EVERYTHING])
    return Tables(
        aligns=reader.aligns,
        distributes=reader.distributes,
        bounds=bounds,
        dynamic=frozenset(name for each in scope.directives if isinstance(each, Dynamic) for name in each.names),
    )


EVERYTHING = ""
"""The name of everything that a program distributes."""


def distributed_names(
    aligns: Mapping[str, Align],
    distributes: Mapping[str, Distribute],
    bounds: Mapping[str, Bounds | None],
    scope: Scope,
) -> list[str]:
    """What a program distributes. Without a DISTRIBUTE: what its arrays are aligned with, else all arrays of the shape
    of the largest, but for those that library procedures get."""
    known = {name for name, found in bounds.items() if found is not None and not name.startswith(SERIAL)}
    names = [name for name in distributes if name in known]
    if not names:
        names = sorted({align.target for align in aligns.values()} - aligns.keys() & known)
    if not names:
        known -= scope.passed_whole()
        free = {each.name: extents_of(bounds[each.name]) for each in scope.arrays() if each.name in known}
        free = {name: extents for name, extents in free.items() if name not in aligns and extents}
        largest = max(free.values(), key=prod, default=())
        names = [name for name, extents in free.items() if extents == largest]
    return names


def extents_of(bounds: Bounds | None) -> tuple[int, ...]:
    """The extent of each dimension."""
    return tuple(max(0, upper - lower + 1) for lower, upper in bounds or ())


def _bounds(
    scope: Scope, reader: "TableReader", env: Mapping[str, Value], report: Report
) -> Mapping[str, Bounds | None]:
    bounds = {name: bounds_of_template(template, env, report) for name, template in reader.templates.items()}
    targets = {align.target for align in reader.aligns.values()}
    mapped = reader.aligns.keys() | reader.distributes.keys() | targets
    mapped -= scope.unused() - targets
    for entity in scope.arrays():
        bounds[entity.name] = bounds_of_array(entity, scope, env, report, mapped=entity.name in mapped)
    return bounds


class TableReader:
    """Reads the directives of a scope; `aligns` and `distributes` grow."""

    def __init__(
        self, scope: Scope, distribute: Mapping[str, str], report: Report, align: tuple[Align, ...] = ()
    ) -> None:
        self._scope = scope
        self._sequential = scope.sequential()
        self._options = {name.lower(): (name, text) for name, text in distribute.items()}
        self._realigned = align
        self._report = report
        self.templates = {each.name: each for each in scope.directives if isinstance(each, Template)}
        self.aligns: dict[str, Align] = {}
        self.distributes: dict[str, Distribute] = {}

    def read(self) -> None:
        """Fills the tables."""
        self._check_declarations()
        self._read_directives()
        for directive in self._realigned:
            if self.accepts(directive):
                self.distributes.pop(directive.alignee, None)
                self.aligns[directive.alignee] = directive
        for folded, (name, text) in self._options.items():
            self._apply_option(folded, name, text)

    def accepts(self, directive: Align | Distribute) -> bool:
        """Whether the names of a directive exist and can be mapped; otherwise it is reported."""
        match directive:
            case Align(alignee=name):
                return self._is_mappable(name, directive.span, array=True) and self._is_known_target(directive)
            case Distribute(distributee=name):
                return self._is_mappable(name, directive.span)

    def _check_declarations(self) -> None:
        seen = set(self._scope.entities)
        for directive in self._scope.directives:
            if isinstance(directive, Processors | Template):
                if directive.name in seen:
                    self._report.add(
                        "E303",
                        f"{directive.name} is declared twice",
                        directive.span,
                        "a template or processors arrangement needs a name of its own",
                    )
                seen.add(directive.name)

    def _read_directives(self) -> None:
        for directive in self._scope.directives:
            match directive:
                case Align(alignee=name):
                    if self.accepts(directive) and self._is_first(name, directive.span):
                        self.aligns[name] = directive
                case Distribute(distributee=name):
                    if self.accepts(directive) and self._is_first(name, directive.span):
                        self._distribute(name, directive)
                case Dynamic(names=names) | Sequence(names=names):
                    for name in names:
                        if not name.startswith("/"):  # a common block
                            self._is_known(name, directive.span)
                case Inherit(names=names):
                    for name in names:
                        if self._is_known(name, directive.span):
                            self._inherited(name, directive.span)
                case _:
                    pass

    def _distribute(self, name: str, directive: Distribute) -> None:
        if directive.form == "transcriptive" and name not in self._options:
            self._inherited(name, directive.span)
        else:
            self.distributes[name] = directive

    def _inherited(self, name: str, span: Span) -> None:
        self._report.add(
            "W307",
            f"{name} inherits the mapping of its actual argument, which is unknown: assuming it is replicated",
            span,
        )

    def _names(self) -> list[str]:
        """What can be mapped or aligned with."""
        return [*self.templates, *(entity.name for entity in self._scope.arrays())]

    def _is_known(self, name: str, span: Span) -> bool:
        known = name in self._scope.entities or name in self.templates
        if not known:
            self._report.unknown_name("array or template", name, span, self._names())
        return known

    def _is_mappable(self, name: str, span: Span, *, array: bool = False) -> bool:
        entity = self._scope.entities.get(name)
        if entity is None:
            if array and name in self.templates:
                self._report.add("E303", f"{name} is a template and cannot be aligned", span, "align arrays with it")
                return False
            return self._is_known(name, span)
        if entity.shape is None:
            self._report.add("W305", f"{name} is not an array: every processor keeps a copy", span)
            return False
        if name in self._sequential:
            self._report.add(
                "E313", f"{name} is sequential (SEQUENCE) and cannot be mapped", span, "remove one of the two"
            )
            return False
        return True

    def _is_known_target(self, align: Align) -> bool:
        if align.target == align.alignee:
            self._report.add(
                "E304", f"{align.alignee} is aligned with itself", align.span, "align it with another array"
            )
            return False
        entity = self._scope.entities.get(align.target)
        if entity is None or entity.shape is not None:
            return self._is_known(align.target, align.span)
        if align.target in self.templates:  # declared twice, which is what there is to tell
            return False
        self._report.add(
            "E301",
            f"{align.alignee} is aligned with {align.target}, which is neither a template nor an array",
            align.span,
            self._report.known(align.target, self._names()),
        )
        return False

    def _is_first(self, name: str, span: Span) -> bool:
        earlier = self.aligns.get(name) or self.distributes.get(name)
        if earlier is None:
            return True
        self._report.add(
            "E303",
            f"{name} is mapped twice, first in line {earlier.span.line}",
            span,
            "align or distribute an array only once",
        )
        return False

    def distribute_all(self, ranks: Mapping[str, int], text: str) -> None:
        """Replace the formats of all names of the rank that fits; `ranks`: the number of dimensions of each."""
        option = f"‹distribute '{text}'›"
        try:
            rank = len(parse_formats(text))
        except ValueError as error:
            self._report.add("E315", f"{option}: {error}", NOWHERE, "for example ‹distribute '(BLOCK,*)'›")
            return
        fitting = [name for name, its in ranks.items() if its == rank]
        for name in fitting:
            self._replace_formats(name, text, option)
        if not fitting:
            theirs = " or ".join(str(each) for each in sorted(set(ranks.values()))) or "none"
            told = f"{option}: found {plural(rank, 'dimension')}, expected {theirs}"
            self._report.add("E315", told, NOWHERE, "write one format for each dimension")

    def _apply_option(self, folded: str, name: str, text: str) -> None:
        option = f"‹distribute {name}={text}›"
        if folded in self.aligns:
            target = self.aligns[folded].target
            hint = f"distribute {target} instead"
            self._report.add("E303", f"{option}: {name} is aligned with {target}", NOWHERE, hint)
        elif folded not in self._names():
            hint = nearest(folded, self._names())
            self._report.add("E301", f"{option}: there is no array or template {name}", NOWHERE, hint)
        else:
            self._replace_formats(folded, text, option)

    def _replace_formats(self, name: str, text: str, option: str) -> None:
        try:
            formats = parse_formats(text)
        except ValueError as error:
            hint = f"for example ‹distribute '{name}=(BLOCK,*)'›"
            self._report.add("E315", f"{option}: {error}", NOWHERE, hint)
            return
        written = self.distributes.get(name)
        if written is None:
            written = Distribute(span=NOWHERE, distributee=name, formats=formats, onto=None)
        self.distributes[name] = replace(written, formats=formats, onto=None, span=NOWHERE)
