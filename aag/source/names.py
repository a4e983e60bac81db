"""What is used but declared nowhere: implicit entities where the source allows them, errors where it does
not."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import directives as d
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.intrinsics import INTRINSICS
from aag.ir.nearest import did_you_mean
from aag.ir.units import Entity, Unit
from aag.ir.visitors import calls_used, own_expressions, walk_expressions, walk_statements
from aag.source.declarations import Declarations
from aag.source.intrinsic_modules import INTRINSIC_MODULES
from aag.source.units import ReadUnit

Lines = Mapping[tuple[str, int], str]

UNKNOWN_IN_DIRECTIVE = "E132"
"""The code of a mapping directive that names what does not exist."""


class _Scope(Struct, frozen=True):
    """What a unit sees: entities, procedures, processor arrangements, templates; `open`: a module is not
    known."""

    entities: frozenset[str]
    arrays: frozenset[str]
    procedures: frozenset[str]
    arrangements: frozenset[str]
    templates: frozenset[str]
    open: bool


class _Use(Struct, frozen=True):
    """One use of a name that is not declared in its unit."""

    name: str
    span: Span
    function: bool = False
    array: bool = False
    index: bool = False


def finish_names(units: Iterable[ReadUnit], lines: Lines) -> tuple[tuple[Unit, ...], list[Diagnostic]]:
    """The units with their implicit entities, and an error for each name that should have been declared."""
    listed = tuple(units)
    modules = {each.unit.name: each for each in listed if each.unit.kind == "module"}
    procedures = frozenset(name for each in listed for name in (each.unit.name, *each.names.entries))
    found = list(_twice(listed))
    outermost = _Scope(frozenset(), frozenset(), procedures, frozenset(), frozenset(), open=False)
    done = tuple(_finish(each, outermost, modules, lines, found) for each in listed)
    return done, found


def _twice(units: Iterable[ReadUnit]) -> Iterator[Diagnostic]:
    """An error for each second unit of a name. A second main program is reported where one is needed."""
    first: dict[str, Unit] = {}
    for unit in (each.unit for each in units if each.unit.name and each.unit.kind != "program"):
        other = first.setdefault(unit.name, unit)
        if other is not unit:
            what, shown = unit.kind.replace("_", " "), unit.name.partition("$")[0]
            hint = f"the first {shown} is in {other.span.line_from(unit.span)}"
            yield _error("E138", f"the {what} {shown} is defined twice", unit.span, hint)


def _finish(
    read: ReadUnit, outer: _Scope, modules: Mapping[str, ReadUnit], lines: Lines, found: list[Diagnostic]
) -> Unit:
    unit, names = read.unit, read.names
    scope = _scope(read, outer, modules, set())
    implicit: list[Entity] = []
    seen: set[tuple[str, bool]] = set()
    for use in () if scope.open else _uses(unit):
        if (use.name, use.array) in seen or _is_known(use, scope):
            continue
        seen.add((use.name, use.array))
        if names.implicit_none or use.array:
            found.append(_undeclared(use, scope, lines))
        else:
            implicit.append(_implicit(use, names))
    found += [*_directive_names(unit, scope, lines), *_twice(read.inner)]
    if names.implicit_none:
        found += _untyped(unit, scope, lines)
    inside = replace(scope, entities=scope.entities | {each.name for each in implicit})
    contains = tuple(_finish(each, inside, modules, lines, found) for each in read.inner)
    return replace(unit, entities=unit.entities + tuple(implicit), contains=contains)


def _untyped(unit: Unit, scope: _Scope, lines: Lines) -> Iterator[Diagnostic]:
    """Names that have attributes, stand in COMMON or are arguments, but have no type."""
    called = calls_used(unit.body)
    for entity in unit.entities:
        if "implicit" not in entity.attributes or entity.attributes & {"external", "intrinsic"}:
            continue
        if entity.name not in called and entity.name not in scope.procedures:
            yield _undeclared(_Use(entity.name, entity.span), scope, lines)


def _scope(read: ReadUnit, outer: _Scope, modules: Mapping[str, ReadUnit], visited: set[str]) -> _Scope:
    """The names that `read` declares, on top of those of `outer` and of the modules in use."""
    scope = outer
    for name in read.unit.uses:
        module = modules.get(name)
        if module is None:
            scope = replace(scope, open=scope.open or name not in INTRINSIC_MODULES)
        elif name not in visited:
            scope = _scope(module, scope, modules, visited | {name})
    directives = read.unit.directives
    return _Scope(
        entities=scope.entities | {each.name for each in read.unit.entities},
        arrays=scope.arrays | {each.name for each in read.unit.entities if each.shape is not None},
        procedures=scope.procedures
        | read.names.procedures
        | read.names.derived.keys()
        | {name for each in read.inner for name in (each.unit.name, *each.names.entries)}
        | {read.unit.name},
        arrangements=scope.arrangements | {each.name for each in directives if isinstance(each, d.Processors)},
        templates=scope.templates | {each.name for each in directives if isinstance(each, d.Template)},
        open=scope.open or read.names.open,
    )


def _is_known(use: _Use, scope: _Scope) -> bool:
    if use.array:
        return False
    if use.name in scope.entities or use.name in scope.procedures:
        return True
    return use.function and use.name in INTRINSICS


def _implicit(use: _Use, names: Declarations) -> Entity:
    attributes = {"implicit", "external"} if use.function else {"implicit"}
    return Entity(
        name=use.name,
        shown=use.name,
        type=names.implicit_type(use.name),
        shape=None,
        attributes=frozenset(attributes),
        initial=None,
        span=use.span,
    )


def _undeclared(use: _Use, scope: _Scope, lines: Lines) -> Diagnostic:
    what = "is neither a declared array nor a known function" if use.function else "is not declared"
    if use.array:
        what = "is used as an array and is not declared as one"
    candidates = scope.entities - scope.arrays if use.index else scope.entities
    if use.function or use.array:
        candidates = scope.arrays | scope.procedures | (INTRINSICS.keys() if use.function else frozenset())
    hint = did_you_mean(use.name, sorted(candidates - {use.name})) or f"declare {use.name}"
    return _error("E130", f"{use.name} {what}", _word(lines, use.span, use.name), hint)


def _error(code: str, message: str, span: Span, hint: str = "") -> Diagnostic:
    return Diagnostic(code=code, message=message, span=span, hint=hint)


def _word(lines: Lines, span: Span, name: str) -> Span:
    """The place of `name` inside of `span`, or `span` itself."""
    for number in range(span.line, max(span.line, span.end_line) + 1):
        text = lines.get((span.file, number), "").lower()
        start = span.column - 1 if number == span.line and span.column else 0
        at = text.find(name, start)
        while at >= 0:
            before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
            if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
                return Span(span.file, number, at + 1, number, at + 1 + len(name))
            at = text.find(name, at + 1)
    return span


# --- uses ---


def _uses(unit: Unit) -> Iterator[_Use]:
    """All uses of names in declarations, statements and loop directives, in the order of the text."""
    for entity in unit.entities:
        for bound in entity.shape or ():
            yield from _in_expressions(part for part in (bound.lower, bound.upper) if part is not None)
        if entity.initial is not None:
            yield from _in_expressions((entity.initial,))
    for stmt in walk_statements(unit.body):
        match stmt:
            case s.Do(var=var, independent=independent):
                yield _Use(var, stmt.span, index=True)
                yield from _of_loop(independent)
            case s.Forall(indices=indices, independent=independent):
                yield from (_Use(index.name, stmt.span, index=True) for index in indices)
                yield from _of_loop(independent)
            case s.Assign(target=e.Call(name=name) as target):
                yield _Use(name, target.span, array=True)
        if not isinstance(stmt, s.Remap):
            yield from _in_expressions(own_expressions(stmt))


def _in_expressions(exprs: Iterable[e.Expr]) -> Iterator[_Use]:
    for top in exprs:
        for expr in walk_expressions(top):
            match expr:
                case e.Var(name=name) | e.Element(name=name):
                    yield _Use(name, expr.span)
                case e.Call(name=name, args=args):
                    array = any(isinstance(each, e.Section) for each in args)
                    yield _Use(name, expr.span, function=True, array=array)
                case e.ImpliedDo(var=var):
                    yield _Use(var, expr.span)


def _of_loop(independent: d.Independent | None) -> Iterator[_Use]:
    if independent is None:
        return
    for name in (*independent.indices, *independent.new, *independent.reductions):
        yield _Use(name, independent.span)
    if independent.home is not None:
        yield from _in_expressions((independent.home,))


# --- directives ---


def _directive_names(unit: Unit, scope: _Scope, lines: Lines) -> Iterator[Diagnostic]:
    if scope.open:
        return
    remaps = tuple(stmt.directive for stmt in walk_statements(unit.body) if isinstance(stmt, s.Remap))
    mapped = scope.entities | scope.templates
    for directive in (*unit.directives, *remaps):
        match directive:
            case d.Align(alignee=alignee, target=target, subscripts=subscripts, axes=axes):
                yield from _check("ALIGN", alignee, scope.entities, directive.span, lines, "array")
                yield from _check("ALIGN", target, mapped, directive.span, lines, "array or template")
                used = [each for each in subscripts or () if not isinstance(each, d.Star)]
                yield from _check_values("ALIGN", used, scope, frozenset(axes or ()), directive.span, lines)
            case d.Distribute(distributee=name, formats=formats, onto=onto):
                yield from _check("DISTRIBUTE", name, mapped, directive.span, lines, "array or template")
                if onto is not None:
                    yield from _check("ONTO", onto, scope.arrangements, directive.span, lines, "processor arrangement")
                sizes = [each.size for each in formats or () if each.size is not None]
                yield from _check_values("DISTRIBUTE", sizes, scope, frozenset(), directive.span, lines)
            case d.Processors(shape=shape) | d.Template(shape=shape):
                bounds = [part for bound in shape for part in (bound.lower, bound.upper) if part is not None]
                word = type(directive).__name__.upper()
                yield from _check_values(word, bounds, scope, frozenset(), directive.span, lines)
            case d.Dynamic(names=listed) | d.Inherit(names=listed) | d.Sequence(names=listed):
                word = type(directive).__name__.upper()
                for name in listed:
                    if not name.startswith("/"):
                        yield from _check(word, name, mapped, directive.span, lines, "array or template")


def _check(word: str, name: str, known: frozenset[str], span: Span, lines: Lines, what: str) -> Iterator[Diagnostic]:
    if name not in known:
        hint = did_you_mean(name, sorted(known)) or f"declare the {what} {name}"
        yield _error(UNKNOWN_IN_DIRECTIVE, f"{word}: there is no {what} {name}", _word(lines, span, name), hint)


def _check_values(
    word: str, exprs: Iterable[e.Expr], scope: _Scope, dummies: frozenset[str], span: Span, lines: Lines
) -> Iterator[Diagnostic]:
    for use in _in_expressions(exprs):
        if use.name not in dummies and not _is_known(use, scope):
            yield from _check(
                word, use.name, scope.entities | dummies, use.span if use.span.line else span, lines, "name"
            )
