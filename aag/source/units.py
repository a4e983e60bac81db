"""fparser's program units to aag.ir.units."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from aag.budget import Budget
from aag.diagnostics import Diagnostic, Span
from aag.ir.directives import Directive
from aag.ir.expressions import Expr, OpaqueExpr
from aag.ir.statements import Opaque, Stmt
from aag.ir.units import Concurrent, Unit
from aag.ir.visitors import walk_expressions, walk_statements
from aag.source.declarations import Declarations
from aag.source.derived_types import of_type
from aag.source.expressions import Locator
from aag.source.files import MPI, WITHOUT_MPI
from aag.source.homonyms import contained, homonyms, name_of
from aag.source.intrinsic_modules import INTRINSIC_MODULES
from aag.source.localities import Surroundings, with_localities
from aag.source.mentions import free_names
from aag.source.namelists import with_groups
from aag.source.outline import Outline, Row
from aag.source.parsing import SYNTAX
from aag.source.resolving import resolve_directive
from aag.source.specification import SpecificationReader
from aag.source.statements import BodyReader
from aag.source.uses import Module, UseStatement, hidden_constants

UNKNOWN_MODULE = "E135"
"""The code of a USE without its module: what depends on its names is not reported."""

_KINDS = {
    "Main_Program": "program",
    "Main_Program0": "program",
    "Subroutine_Subprogram": "subroutine",
    "Function_Subprogram": "function",
    "Module": "module",
    "Block_Data": "block_data",
    "Submodule": "module",
}


_NAMED = frozenset(("Program_Stmt", "Module_Stmt", "Submodule_Stmt", "Subroutine_Stmt", "Function_Stmt"))
"""Statements that name a unit."""


class ReadUnit(Struct, frozen=True):
    """A unit with what is known of its names, for the checks that need the whole source."""

    unit: Unit
    names: Declarations
    inner: tuple["ReadUnit", ...]


class UnitReader(Struct):
    """Reads the units of one source. `seen` collects the rows that came out of the tree."""

    outline: Outline
    rows: tuple[Row, ...]
    formats: Mapping[int, dict[str, str]]
    cuts: dict[str, Expr]
    operands: Budget
    seen: set[int] = field(default_factory=set)
    modules: dict[str, Module] = field(default_factory=dict)
    uses: list[tuple[str, Span]] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    complete: bool = True
    concurrent: list[Concurrent] = field(default_factory=list)
    homonyms: frozenset[str] = frozenset()
    """Names that several procedures have."""

    def program(self, tree: Any) -> tuple[ReadUnit, ...]:
        """All units at the top of the tree."""
        self.homonyms = homonyms(tree)
        found = tuple(self.unit(node, None) for node in tree.content if type(node).__name__ in _KINDS)
        for module, span in self.uses:
            if module not in self.modules and module not in INTRINSIC_MODULES:
                message = f"found no module {module}"
                hint = WITHOUT_MPI if module in MPI else "put it before the program, or name its file, too"
                self.diagnostics.append(Diagnostic(code=UNKNOWN_MODULE, message=message, span=span, hint=hint))
        return found

    def _row(self, node: Any) -> int:
        index = int(node.item.span[0]) - 1
        self.seen.add(index)
        return index

    def locate(self, node: Any) -> Locator:
        """A locator for the statement `node`; a construct is found at its first statement."""
        while not getattr(node, "item", None) and getattr(node, "content", None):
            node = node.content[0]
        return Locator(self.rows[self._row(node)].statement.text)

    def unit(self, node: Any, host: Declarations | None) -> ReadUnit:
        """One program unit with those that it contains."""
        opening, closing = node.content[0], node.content[-1]
        index = self._row(opening)
        end = self.rows[self._row(closing)].span
        names = Declarations(operands=self.operands)
        names.unit = str(opening.items[1]).lower() if type(opening).__name__ in _NAMED else ""
        if host is not None:
            names.implicit = dict(host.implicit)
            names.implicit_none = host.implicit_none
            names.unit = host.contained.get(names.unit, names.unit)
            names.adopt_host(host)
        names.contained = {
            each: f"{each}${names.unit or 'main'}" for each in map(name_of, contained(node)) if each in self.homonyms
        }
        name, arguments, result, prefixes = self._header(opening, index, names)
        specification = [part for part in node.content if type(part).__name__ == "Specification_Part"]
        execution = [part for part in node.content if type(part).__name__ == "Execution_Part"]
        self._specification(specification, names)
        for part in execution:
            for statement in part.content:
                if type(statement).__name__ == "Data_Stmt":  # which may stand anywhere
                    SpecificationReader(names, self.locate, self.cuts).read(statement)
        self._result_type(opening, index, names, result)
        at = Locator(self.rows[index].statement.text)
        for argument in arguments:
            if argument != "*":  # an alternate return
                names.entry(argument, at)
        formats = self.formats.get(index, {})
        reader = BodyReader(self.outline, self.rows, names, formats, self.cuts, self.seen)
        body = with_groups(reader.unit_body(child for part in execution for child in part.content), names.namelists)
        if type(node).__name__ == "Module":
            last = self._row(closing)
            texts = (row.statement.text.text for row in self.rows[index : last + 1])
            self.modules[name] = Module.of(names, texts, self.modules)
        inner = tuple(self._inner(node, names))
        body = self._localities(
            body, names, host, inner, {*arguments, result}, directives := self._directives(index, names)
        )
        self._note(body, names)
        unit = Unit(
            kind=_KINDS[type(node).__name__],  # type: ignore[arg-type]  # the values of _KINDS are the literals
            name=name if host is None else names.unit,
            arguments=arguments,
            result=result,
            prefixes=prefixes,
            uses=tuple(names.uses),
            entities=names.entities(),
            commons=tuple(names.commons),
            directives=directives,
            body=body,
            contains=tuple(each.unit for each in inner),
            span=self.rows[index].span,
            end=end,
            equivalences=tuple(names.equivalences),
            records=dict(names.derived),
        )
        return ReadUnit(unit, names, inner)

    def _localities(
        self,
        body: tuple[Stmt, ...],
        names: Declarations,
        host: Declarations | None,
        inner: tuple[ReadUnit, ...],
        visible: set[str],
        directives: tuple[Directive, ...],
    ) -> tuple[Stmt, ...]:
        """A body with the localities of its DO CONCURRENTs. `visible`: its arguments and its result."""
        if not names.opened:
            return body
        modules = [self.modules[each].names for each in names.uses if each in self.modules]
        around = Surroundings(
            names=names,
            outer=[*modules, *([] if host is None else [host])],
            elsewhere=frozenset().union(*map(_from_outside, inner)),
            visible=frozenset(visible).union(*(each.names for each in names.commons)),
            directives=directives,
        )
        found, concurrent = with_localities(body, around)
        self.concurrent += concurrent
        return found

    def _note(self, body: tuple[Stmt, ...], names: Declarations) -> None:
        self.diagnostics += [*names.diagnostics, *hidden_constants(names)]
        self.complete = self.complete and not names.incomplete
        for expr in walk_expressions(body):
            if isinstance(expr, OpaqueExpr):
                self.complete = False
                self.diagnostics.append(_not_modelled(expr))
        for stmt in walk_statements(body):
            if not isinstance(stmt, Opaque):
                continue
            self.complete = False
            if stmt.reason != SYNTAX:  # that one has been reported when it was found
                self.diagnostics.append(
                    Diagnostic(
                        code="W102",
                        message=f"{stmt.reason}; this statement is left out",
                        span=stmt.span,
                        hint=stmt.hint or "write it in another form, as assignments, IF or loops",
                    )
                )

    def _directives(self, index: int, names: Declarations) -> tuple[Directive, ...]:
        reads = self.outline.mapping.get(index, ())
        found = (resolve_directive(each, names) for read in reads for each in read.mapping)
        return tuple(of_type(each, names.ranges) for each in found)

    def _inner(self, node: Any, names: Declarations) -> Iterable[ReadUnit]:
        for part in node.content:
            if type(part).__name__ in ("Internal_Subprogram_Part", "Module_Subprogram_Part"):
                for child in part.content:
                    if type(child).__name__ in _KINDS:
                        yield self.unit(child, names)
                    else:
                        self._row(child)

    # --- headers ---

    def _header(
        self, opening: Any, index: int, names: Declarations
    ) -> tuple[str, tuple[str, ...], str, frozenset[str]]:
        kind = type(opening).__name__
        extrinsic = self.rows[index].extrinsic
        marks = frozenset({f"extrinsic({extrinsic})"} if extrinsic else set[str]())
        del names
        if kind in ("Program_Stmt", "Module_Stmt"):
            return str(opening.items[1]).lower(), (), "", marks
        if kind not in ("Subroutine_Stmt", "Function_Stmt"):
            name = opening.items[-1] if kind != "Submodule_Stmt" else opening.items[1]
            return ("" if name is None else str(name).lower()), (), "", marks
        prefix, name, arguments, suffix = opening.items
        words = {
            str(each).lower()
            for each in (prefix.items if prefix is not None else ())
            if type(each).__name__ == "Prefix_Spec"
        }
        listed = () if arguments is None else tuple(str(each).lower() for each in arguments.items)
        result = ""
        if kind == "Function_Stmt":
            result = str(name).lower()
            if suffix is not None and hasattr(suffix, "items"):
                result = str(suffix.items[0] or result).lower()
        return str(name).lower(), listed, result, marks | frozenset(words)

    def _result_type(self, opening: Any, index: int, names: Declarations, result: str) -> None:
        """The type in front of FUNCTION is that of its result."""
        if not result:
            return
        at = Locator(self.rows[index].statement.text)
        prefix = opening.items[0]
        known = names.entry(result, at)
        specs = [
            each
            for each in (prefix.items if prefix is not None else ())
            if type(each).__name__ in ("Intrinsic_Type_Spec", "Declaration_Type_Spec")
        ]
        if specs and known.type is None:
            reader = SpecificationReader(names, self.locate, self.cuts)
            known.type = reader.type_spec(specs[0], reader.reader(at))

    # --- specification ---

    def _specification(self, parts: Iterable[Any], names: Declarations) -> None:
        reader = SpecificationReader(names, self.locate, self.cuts)
        for part in parts:
            for statement in part.content:
                self._mark(statement)
                reader.read(statement)
                if type(statement).__name__ == "Use_Stmt":
                    at = self.locate(statement)
                    use = UseStatement.of(statement, at.whole)
                    self.uses.append((use.module, at.span(use.module)))
                    use.bring_in(names, self.modules)

    def _mark(self, node: Any) -> None:
        """Note all rows below `node` as seen: a declaration is read as a whole."""
        if getattr(node, "item", None) is not None:
            self._row(node)
        for child in getattr(node, "content", None) or ():
            self._mark(child)


def _from_outside(read: ReadUnit) -> frozenset[str]:
    """The names in a procedure that are not its own."""
    mentioned = free_names(read.unit.body, read.names.opened).union(*map(_from_outside, read.inner))
    return mentioned - read.names.names.keys()


def _not_modelled(expr: OpaqueExpr) -> Diagnostic:
    return Diagnostic(
        code="W109",
        message=f"the reference {expr.text} is not modelled: what it reads or writes is unknown",
        span=expr.span,
        hint="use a variable or an array instead",
    )
