"""The calls of a program, each replaced by the statements of the procedure that it calls."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from aag.diagnostics import NOWHERE, Span
from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.expressions import Call, Element, Expr, LogicalLit, Unary, Var
from aag.ir.units import Entity, Program, Type, Unit
from aag.ir.visitors import map_operands, map_own, mapped, names_in, own_expressions, walk_expressions, walk_statements
from aag.procedures.binding import Copies, Refused, actuals, assign, is_array, is_constant, part_of
from aag.procedures.effects import Effects
from aag.procedures.names import Names, Part
from aag.procedures.returns import without_returns

_MOST = 100_000
"""Statements that the calls of a program may become."""


@lru_cache(maxsize=16)
def expanded(program: Program, main: Unit) -> Unit:
    """The main program with the statements of the procedures that it calls, and the names of modules as its own.

    A call stays where that is not possible, with the reason; a unit that calls nothing of the source and uses no module
    of it is returned as it is.
    """
    expansion = _Expansion(program, main)
    if not expansion.is_needed():
        return main
    return expansion.unit()


class _Expansion:
    """The growing main program."""

    def __init__(self, program: Program, main: Unit) -> None:
        self._main = main
        self._modules = {each.name: each for each in program.units if each.kind == "module"}
        hosts = [main, *self._modules.values()]
        units = [*program.units, *(inner for host in hosts for inner in host.contains)]
        callable_ = [each for each in units if each.kind in ("subroutine", "function")]
        self._procedures = {each.name: each for each in callable_}
        self._procedures |= {inner.name: inner for each in callable_ for inner in each.contains}
        self._hosts = {inner.name: host for host in hosts for inner in host.contains}
        self._hosts |= {inner.name: each for each in callable_ for inner in each.contains}
        self._effects = Effects(self._procedures)
        self._entities = {each.name: each for each in main.entities if each.name not in self._procedures}
        self._directives = list(main.directives)
        self._equivalences = list(main.equivalences)
        self._commons = {each.block: each.names for each in main.commons}
        self._initials = {
            (common.block, at): entity.initial
            for unit in program.units
            if unit.kind == "block_data"
            for common in unit.commons
            for at, name in enumerate(common.names)
            if (entity := unit.entity(name)) is not None and entity.initial is not None
        }
        self._taken = {*self._entities, *self._procedures}
        self._taken |= {each.name for each in main.directives if isinstance(each, d.Processors | d.Template)}
        self._of_modules: dict[str, dict[str, str]] = {}
        self._locals: dict[tuple[str, str, tuple[d.Bound, ...] | None], str] = {}
        self._count = 0
        self._calls = 0

    def is_needed(self) -> bool:
        """Whether the main program uses a module or a procedure of the source."""
        used = any(name in self._modules for name in self._main.uses)
        return used or bool(self._procedures.keys() & _called(self._main.body))

    def unit(self) -> Unit:
        """The whole program as one unit."""
        names = self._names_of_modules(self._main.uses)
        own = self._entities.keys()
        body = Names(renamed={old: new for old, new in names.items() if old not in own}).statements(self._main.body)
        self._fill_commons()
        made = self.body(body, ())
        return replace(
            self._main,
            uses=tuple(each for each in self._main.uses if each not in self._modules),
            entities=tuple(self._entities.values()),
            directives=tuple(self._directives),
            equivalences=tuple(self._equivalences),
            contains=tuple(each for each in self._main.contains if each.name in self._left(made)),
            body=made,
        )

    def _left(self, body: Iterable[s.Stmt]) -> frozenset[str]:
        """The procedures that are still called, and those that they call."""
        found: set[str] = set()
        pending = [body]
        while pending:
            for name in _called(pending.pop()) & self._procedures.keys() - found:
                found.add(name)
                pending.append(self._procedures[name].body)
        return frozenset(found)

    def _fill_commons(self) -> None:
        """Initial values from BLOCK DATA."""
        for block, names in self._commons.items():
            for at, name in enumerate(names):
                value, entity = self._initials.get((block, at)), self._entities.get(name)
                if value is not None and entity is not None and entity.initial is None:
                    self._entities[name] = replace(entity, initial=value)

    # --- statements ---

    def body(self, body: Iterable[s.Stmt], stack: tuple[str, ...]) -> tuple[s.Stmt, ...]:
        """Statements in the names of the main program, with their calls replaced.

        Args:
            body: The statements.
            stack: The procedures that they stand in.
        """
        return tuple(made for each in body for made in self._statement(each, stack))

    def _statement(self, statement: s.Stmt, stack: tuple[str, ...]) -> Sequence[s.Stmt]:
        self._count += 1
        match statement:
            case s.CallStmt(name=name) if name in self._procedures:
                before, hoisted = self._hoisted(statement, stack)
                assert isinstance(hoisted, s.CallStmt)
                return (*before, *self._call(hoisted, stack))
            case s.If(branches=branches) if len(branches) > 1 and self._calls_in(branches[1:]):
                return self._statement(_nested(statement), stack)
            case s.Forall() | s.Where():
                inner = mapped(statement, lambda body: tuple(self._simplified(each, stack) for each in body))
                return (self._simplified(inner, stack),)
            case s.DoWhile(body=body, span=span):
                before, hoisted = self._hoisted(statement, stack)
                if before and isinstance(hoisted, s.DoWhile) and hoisted.condition is not None:
                    stop = s.Branch(condition=Unary(".not.", hoisted.condition), body=(s.Exit(span=span),), span=span)
                    inside = (*before, s.If(span=span, branches=(stop,)), *self.body(body, stack))
                    return (replace(hoisted, condition=None, body=inside),)
                return (mapped(hoisted, lambda inner: self.body(inner, stack)),)
            case _:
                before, hoisted = self._hoisted(statement, stack)
                return (*before, mapped(hoisted, lambda inner: self.body(inner, stack)))

    def _calls_in(self, branches: Sequence[s.Branch]) -> bool:
        exprs = [part for each in branches if each.condition is not None for part in walk_expressions(each.condition)]
        return any(isinstance(each, Call) and each.name in self._procedures for each in exprs)

    # --- functions ---

    def _hoisted(self, statement: s.Stmt, stack: tuple[str, ...]) -> tuple[list[s.Stmt], s.Stmt]:
        """A statement without calls of functions whose bodies can stand before it, and these bodies."""
        before: list[s.Stmt] = []

        def one(expr: Expr) -> Expr:
            made = map_operands(expr, one)
            if not isinstance(made, Call) or self._function(made.name) is None:
                return made
            simple = self._simple(made)
            return self._value(made, statement, stack, before) if simple is None else simple

        if not any(isinstance(each, Call) for whole in own_expressions(statement) for each in walk_expressions(whole)):
            return [], statement
        return before, map_own(statement, one)

    def _simplified(self, statement: s.Stmt, stack: tuple[str, ...]) -> s.Stmt:
        """A statement for many index values: functions of a single formula become that."""

        def one(expr: Expr) -> Expr:
            made = map_operands(expr, one)
            simple = self._simple(made) if isinstance(made, Call) and self._function(made.name) else None
            return made if simple is None else simple

        return map_own(mapped(statement, lambda body: tuple(self._simplified(each, stack) for each in body)), one)

    def _function(self, name: str) -> Unit | None:
        unit = self._procedures.get(name)
        return unit if unit is not None and unit.kind == "function" else None

    def _value(self, call: Call, statement: s.Stmt, stack: tuple[str, ...], before: list[s.Stmt]) -> Expr:
        """What a function returns, computed before the statement; the call itself where that cannot be."""
        unit = self._procedures[call.name]
        elemental = "elemental" in unit.prefixes and any(is_array(each, self._entities) for each in call.args)
        result = unit.entity(unit.result or unit.name)
        if elemental or result is None or result.shape is not None:
            return call
        try:
            names, body = self._inlined(
                unit, call.args, call.keywords, call.span if call.span.line else statement.span, stack
            )
        except Refused:
            return call
        span = statement.span
        kept = self._unique(f"{unit.name}$value", "again")
        self._entities[kept] = replace(
            names.entity(result), name=kept, shown=kept, initial=None, attributes=frozenset(), span=span
        )
        before += [*body, assign(span, Var(kept), Var(names.of(result.name)))]
        return Var(kept, span=call.span)

    def _simple(self, call: Call) -> Expr | None:
        """The formula of a function that is a single assignment of its result; None: it is more than that."""
        unit = self._procedures[call.name]
        if len(unit.body) != 1 or not isinstance(unit.body[0], s.Assign) or call.keywords or unit.contains:
            return None
        target, value = unit.body[0].target, unit.body[0].value
        result = unit.entity(unit.result or unit.name)
        dummies = [unit.entity(name) for name in unit.arguments]
        if target != Var(unit.result or unit.name) or result is None or len(dummies) != len(call.args):
            return None
        if any(each is None or each.shape is not None for each in dummies) or names_in(value) - set(unit.arguments):
            return None
        if _kind(value, {each.name: each.type for each in unit.entities}) != result.type:
            return None
        for name, actual in zip(unit.arguments, call.args, strict=True):
            uses = sum(part == Var(name) for part in walk_expressions(value))
            if uses > 1 and not isinstance(actual, Var | Element) and not is_constant(actual, self._entities):
                return None
        return Names(values=dict(zip(unit.arguments, call.args, strict=True))).expression(value)

    # --- calls ---

    def _call(self, call: s.CallStmt, stack: tuple[str, ...]) -> Sequence[s.Stmt]:
        unit = self._procedures[call.name]
        try:
            return self._inlined(unit, call.args, call.keywords, call.span, stack)[1]
        except Refused as problem:
            return (replace(call, reason=str(problem)),)

    def _inlined(
        self, unit: Unit, args: Sequence[Expr], keywords: Sequence[tuple[str, Expr]], span: Span, stack: tuple[str, ...]
    ) -> tuple[Names, tuple[s.Stmt, ...]]:
        """The names of a procedure at one call, and its statements there.

        Raises:
            Refused: it cannot stand there.
        """
        if unit.name in stack:
            raise Refused("it is recursive")
        if self._count > _MOST:
            raise Refused(f"the calls of the program become more than {_MOST:,} statements")
        if any("extrinsic" in each for each in unit.prefixes):
            raise Refused("it is EXTRINSIC")
        self._calls += 1
        names, copies = self._bound(unit, actuals(unit, args, keywords), span)
        body, looped = without_returns(unit.body, "leave")
        made = names.statements(body)
        if looped:
            made = self._numbered(made)
        enter = s.Enter(span=span, name=unit.name, arguments=len(args))
        inside = self.body(made, (*stack, unit.name))
        return names, (enter, *copies.before, *inside, *copies.after)

    def _numbered(self, body: tuple[s.Stmt, ...]) -> tuple[s.Stmt, ...]:
        """The loop that RETURN leaves, with a variable that nobody else has."""
        (loop,) = body
        assert isinstance(loop, s.Do)
        name = self._unique("return$", "again")
        kind = Type(base="integer", bytes=4)
        self._entities[name] = Entity(
            name=name, shown=name, type=kind, shape=None, attributes=frozenset(), initial=None, span=loop.span
        )
        return (replace(loop, var=name),)

    def _bound(self, unit: Unit, given: Mapping[str, Expr], span: Span) -> tuple[Names, Copies]:
        names = Names(mark=f"_call{self._calls}")
        names.renamed |= self._visible(unit)
        for entity in unit.entities:
            names.renamed.pop(entity.name, None)
        copies, assigned = Copies(), self._effects.assigned(unit)
        declared = {each.name: each for each in unit.entities}
        arrays = [name for name in unit.arguments if declared[name].shape is not None]
        for name in unit.arguments:
            entity = declared[name]
            if "optional" in entity.attributes:
                names.present[name] = name in given
            if name not in given or name in arrays:
                continue
            if entity.name in self._procedures or "external" in entity.attributes:
                raise Refused(f"its argument {entity.shown} is a procedure")
            self._bind_scalar(unit, entity, given[name], names, copies, span)
        self._share(unit, names)
        constants = [each for each in unit.entities if "parameter" in each.attributes]
        self._declare(unit, constants, names)
        for name in arrays:
            if name in given:
                part = part_of(declared[name], given[name], self._entities, names)
                names.parts[name] = self._fixed(part, unit, names, assigned, copies, span)
        self._declare(unit, [each for each in unit.entities if "parameter" not in each.attributes], names)
        self._declare_shared(unit, names)
        self._direct(unit, names, frozenset(unit.arguments))
        return names, copies

    def _bind_scalar(self, unit: Unit, entity: Entity, actual: Expr, names: Names, copies: Copies, span: Span) -> None:
        """A scalar dummy: the actual variable itself, a constant, or a variable with a copy."""
        changes = entity.name in self._effects.assigned(unit) and "intent(in)" not in entity.attributes
        if isinstance(actual, Var) and actual.name in self._entities:
            known = self._entities[actual.name]
            if known.shape is not None:
                raise Refused(f"its argument {entity.shown} is a scalar, {known.shown} is an array")
            if "parameter" not in known.attributes:
                names.renamed[entity.name] = actual.name
                return
        if is_array(actual, self._entities):
            raise Refused(f"its argument {entity.shown} is a scalar, the actual one is an array")
        if not changes and is_constant(actual, self._entities):
            names.values[entity.name] = actual
            return
        copy = self._unique(f"{entity.name}${unit.name}", "arg")
        self._entities[copy] = replace(entity, name=copy, shown=copy, attributes=frozenset(), initial=None, span=span)
        names.renamed[entity.name] = copy
        if "intent(out)" not in entity.attributes:
            copies.before.append(assign(span, Var(copy), actual))
        if changes and isinstance(actual, Element):
            copies.after.append(assign(span, actual, Var(copy)))

    def _fixed(
        self, part: Part, unit: Unit, names: Names, assigned: frozenset[str], copies: Copies, span: Span
    ) -> Part:
        """A part whose subscripts keep their values while the procedure runs."""
        changed = {names.of(each) for each in assigned if each not in unit.arguments or each in names.renamed}

        def kept(expr: Expr) -> Expr:
            if not names_in(expr) & changed:
                return expr
            name = self._unique("place$", "again")
            kind = Type(base="integer", bytes=4)
            self._entities[name] = Entity(
                name=name, shown=name, type=kind, shape=None, attributes=frozenset(), initial=None, span=span
            )
            copies.before.append(assign(span, Var(name), expr))
            return Var(name)

        return Part(
            part.array,
            tuple(
                kept(each) if isinstance(each, Expr) else replace(each, start=kept(each.start)) for each in part.dims
            ),
        )

    # --- declarations ---

    def _visible(self, unit: Unit) -> dict[str, str]:
        """The names of modules and hosts that a procedure sees and that have other names in the main program."""
        found: dict[str, str] = {}
        host = self._hosts.get(unit.name)
        if host is not None and host.kind == "module":
            found |= self._names_of_module(host)
        elif host is not None and host is not self._main:
            raise Refused(f"it is inside of {host.name}")
        elif host is not None:
            found |= self._names_of_modules(host.uses)
        return found | self._names_of_modules(unit.uses)

    def _names_of_modules(self, uses: Iterable[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in uses:
            if each in self._modules:
                found |= self._names_of_module(self._modules[each])
        return found

    def _names_of_module(self, module: Unit) -> dict[str, str]:
        """What the names of a module are in the main program; they are declared when they are first asked for."""
        if module.name not in self._of_modules:
            self._of_modules[module.name] = {}
            outer = self._names_of_modules(module.uses)
            names = Names(renamed=dict(outer))
            for entity in module.entities:
                if entity.name not in self._procedures:
                    names.renamed[entity.name] = self._unique(entity.name, module.name)
            for entity in module.entities:
                if entity.name not in self._procedures:
                    self._entities[names.of(entity.name)] = names.entity(entity)
            self._direct(module, names, frozenset())
            self._of_modules[module.name] = outer | {
                each.name: names.of(each.name) for each in module.entities if each.name not in self._procedures
            }
        return self._of_modules[module.name]

    def _share(self, unit: Unit, names: Names) -> None:
        """The names of common blocks.

        Raises:
            Refused: a block is laid out otherwise than elsewhere.
        """
        for common in unit.commons:
            known = self._commons.get(common.block)
            if known is None:
                renamed = tuple(self._unique(name, common.block or "common") for name in common.names)
                names.renamed |= dict(zip(common.names, renamed, strict=True))
                self._commons[common.block] = renamed
                continue
            if len(common.names) > len(known):
                raise Refused(f"COMMON /{common.block}/ is longer in it than before")
            names.renamed |= dict(zip(common.names, known, strict=False))

    def _declare(self, unit: Unit, entities: Iterable[Entity], names: Names) -> None:
        """Local names of a procedure; each has one place for all calls, for each of its shapes."""
        shared = {name for common in unit.commons for name in common.names}
        dummies = set(unit.arguments)
        for entity in entities:
            if entity.name in dummies or (entity.name in self._procedures and entity.name != unit.name):
                continue
            if entity.name in shared:
                continue
            known = self._entities.get(entity.name)
            made = names.entity(entity)
            if known is not None and "parameter" in known.attributes and _alike(known, made):
                continue
            key = (unit.name, entity.name, made.shape)
            if key not in self._locals:
                self._locals[key] = self._unique(entity.name, unit.name)
            names.renamed[entity.name] = self._locals[key]
            self._entities.setdefault(names.of(entity.name), names.entity(entity))

    def _declare_shared(self, unit: Unit, names: Names) -> None:
        """The variables of common blocks.

        Raises:
            Refused: a block is laid out otherwise than elsewhere.
        """
        for common in unit.commons:
            for name in common.names:
                entity, place = unit.entity(name), names.of(name)
                if entity is None:
                    raise Refused(f"{name} of COMMON /{common.block}/ has no declaration")
                made = names.entity(entity)
                known = self._entities.setdefault(place, made)
                if (known.type, known.shape) != (made.type, made.shape):
                    raise Refused(f"COMMON /{common.block}/ is laid out differently in it: {name}")
        self._fill_commons()
        for each in unit.equivalences:
            made_set = replace(each, members=tuple(map(names.expression, each.members)))
            if made_set not in self._equivalences:
                self._equivalences.append(made_set)

    def _direct(self, unit: Unit, names: Names, dummies: frozenset[str]) -> None:
        """The mapping directives of a unit; equal declarations of two units are one.

        Raises:
            Refused: a dummy has a mapping of its own.
        """
        for each in unit.directives:
            if isinstance(each, d.Processors | d.Template):
                known = [old for old in self._directives if isinstance(old, type(each)) and old.name == each.name]
                if not any(_plain(old) == _plain(each) for old in known):
                    names.renamed[each.name] = self._unique(each.name, unit.name)
        mapped_ = {_mapped_name(each) for each in self._directives}
        for each in unit.directives:
            name = _mapped_name(each)
            if name in dummies or isinstance(each, d.Inherit):
                if isinstance(each, d.Inherit):
                    continue
                raise Refused(f"its argument {name} has a mapping of its own")
            made = names.directive(each)
            placed = _mapped_name(made)
            if placed in mapped_ or _plain(made) in map(_plain, self._directives):
                continue
            self._directives.append(made)

    def _unique(self, name: str, owner: str = "") -> str:
        """A name that nothing else has; `owner`: whose it is, where it cannot be kept."""
        found, number = name, 1
        while found in self._taken:
            found = f"{name}${owner}{number if number > 1 else ''}"
            number += 1
        self._taken.add(found)
        return found


def _called(body: Iterable[s.Stmt]) -> frozenset[str]:
    statements = tuple(walk_statements(body))
    calls = {each.name for each in statements if isinstance(each, s.CallStmt)}
    functions = {each.name for each in walk_expressions(statements) if isinstance(each, Call)}
    return frozenset(calls | functions)


def _nested(statement: s.If) -> s.If:
    """An IF whose further branches are an IF in ELSE."""
    first, *rest = statement.branches
    inner = s.If(span=rest[0].span, branches=tuple(rest))
    return replace(statement, branches=(first, s.Branch(condition=None, body=(inner,), span=rest[0].span)))


def _alike(one: Entity, other: Entity) -> bool:
    """Whether two declarations say the same."""
    return (one.type, one.shape, one.attributes, one.initial) == (
        other.type,
        other.shape,
        other.attributes,
        other.initial,
    )


def _plain(directive: d.Directive) -> d.Directive:
    return replace(directive, span=NOWHERE)


def _mapped_name(directive: d.Directive) -> str:
    match directive:
        case d.Align(alignee=name) | d.Distribute(distributee=name):
            return name
        case _:
            return ""


def _kind(expr: Expr, types: Mapping[str, Type]) -> Type | None:
    """The type of a formula of variables and literals of one type; None: it may be another."""
    found = {types[each.name] for each in walk_expressions(expr) if isinstance(each, Var) and each.name in types}
    if isinstance(expr, LogicalLit) or any(isinstance(each, Call) for each in walk_expressions(expr)):
        return None
    return found.pop() if len(found) == 1 else None
