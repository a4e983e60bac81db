"""The calls of a program, each replaced by the statements of the procedure that it calls."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from aag.diagnostics import CallSite, Span
from aag.ir import statements as s
from aag.ir.expressions import Binary, Call, Element, Expr, ImpliedDo, IntLit, RealLit, Unary, Var
from aag.ir.intrinsics import CALLED
from aag.ir.ranks import is_array
from aag.ir.units import Program, Type, Unit, shown_procedure
from aag.ir.visitors import (
    calls_used,
    map_expression,
    map_operands,
    map_own,
    mapped,
    names_in,
    own_expressions,
    walk_expressions,
    walk_statements,
)
from aag.procedures.allocated import Allocations
from aag.procedures.allocation import entered, with_flags
from aag.procedures.arguments import Binder
from aag.procedures.binding import actuals, assign, is_constant
from aag.procedures.declarations import FlatDeclarations
from aag.procedures.effects import AssignedNames
from aag.procedures.loops import calling_loops
from aag.procedures.names import CallNames, Refused
from aag.procedures.reached import reached, through
from aag.procedures.returns import without_returns
from aag.procedures.serial import model_of, on_one_processor, why_not
from aag.procedures.temporaries import whole_arrays

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
        return with_flags(main)
    return with_flags(expansion.unit())


class _Expansion:
    """The growing main program."""

    def __init__(self, program: Program, main: Unit) -> None:
        self._main = main
        modules = [each for each in program.units if each.kind == "module"]
        units = [*program.units, *(inner for host in (main, *modules) for inner in host.contains)]
        outer = [each for each in units if each.kind in ("subroutine", "function")]
        every = [*outer, *(inner for each in outer for inner in each.contains)]
        self._procedures = {each.name: each for each in every}
        effects = AssignedNames(self._procedures)
        hosts = {inner.name: host for host in (main, *modules, *outer) for inner in host.contains}
        self._declarations = FlatDeclarations(program, main, self._procedures, hosts, effects)
        self._effects = effects
        allocations = Allocations.of(main, modules, every, effects.passed)
        self._binder = Binder(self._declarations, effects, self._procedures, allocations=allocations)
        self._markers: dict[str, str] = {}
        self._refusals: dict[str, str] = {}
        """Functions whose calls stay calls, and why."""
        self._count = 0
        self._calls = 0
        self._loops = 0
        """How many DO loops stand around."""

    def is_needed(self) -> bool:
        """Whether the main program uses a module or a procedure of the source."""
        used = any(name in self._declarations.modules for name in self._main.uses)
        return used or bool(self._procedures.keys() & _called(self._main.body))

    def unit(self) -> Unit:
        """The whole program as one unit."""
        declarations = self._declarations
        names = declarations.names_of_modules(self._main.uses)
        own = {each.name for each in self._main.entities}
        body = CallNames(renamed={old: new for old, new in names.items() if old not in own}).statements(self._main.body)
        made = self.body(body, ())
        return replace(
            self._main,
            uses=tuple(each for each in self._main.uses if each not in declarations.modules),
            entities=tuple(declarations.entities.values()),
            directives=tuple(declarations.directives),
            repeated=tuple(declarations.repeated),
            equivalences=tuple(declarations.equivalences),
            contains=tuple(each for each in self._main.contains if each.name in self._left(made)),
            body=made,
            refusals=self._refusals,
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

    # --- statements ---

    def body(self, body: Iterable[s.Stmt], stack: tuple[str, ...]) -> tuple[s.Stmt, ...]:
        """Statements in the names of the main program, with their calls replaced.

        Args:
            body: The statements.
            stack: The procedures around them, outermost first.
        """
        return tuple(made for each in body for made in self._statement(each, stack))

    def _statement(self, statement: s.Stmt, stack: tuple[str, ...]) -> Sequence[s.Stmt]:
        self._count += 1
        match statement:
            case s.CallStmt(name=name) if name in self._procedures:
                before, hoisted = self._hoisted(statement, stack)
                assert isinstance(hoisted, s.CallStmt)
                return (*before, *self._call(hoisted, stack))
            case s.Assign(target=Var(name=name), value=Call() as call, span=span) if self._fills(call, name):
                try:
                    return self._inlined(self._procedures[call.name], call.args, call.keywords, span, stack, name)[1]
                except Refused as problem:
                    self._refusals.setdefault(call.name, str(problem))
                    return (statement,)
            case s.If(branches=branches) if len(branches) > 1 and self._calls_in(branches[1:]):
                return self._statement(_nested(statement), stack)
            case s.Forall() | s.Where():
                simple = self._simplified(statement)
                loops = self._as_loops(simple)
                return (simple,) if loops is None else self._statement(loops, stack)
            case s.Assign() if (loops := self._as_loops(statement)) is not None:
                return self._statement(loops, stack)
            case s.DoWhile(body=body, span=span):
                before, hoisted = self._hoisted(statement, stack)
                if before and isinstance(hoisted, s.DoWhile) and hoisted.condition is not None:
                    stop = s.Branch(condition=Unary(".not.", hoisted.condition), body=(s.Exit(span=span),), span=span)
                    inside = (*before, s.If(span=span, branches=(stop,)), *self.body(body, stack))
                    return (replace(hoisted, condition=None, body=inside),)
                return (mapped(hoisted, lambda inner: self.body(inner, stack)),)
            case _:
                before, hoisted = self._hoisted(statement, stack)
                self._loops += isinstance(statement, s.Do)
                made = mapped(hoisted, lambda inner: self.body(inner, stack))
                self._loops -= isinstance(statement, s.Do)
                return (*before, self._claimed(made, stack))

    def _as_loops(self, statement: s.Stmt) -> s.Stmt | None:
        """The loops of a statement for many values that calls functions of several statements; None: it is none."""
        entities = self._declarations.entities
        called = {
            each.name: each
            for whole in walk_expressions(statement)
            if isinstance(whole, Call) and (each := self._function(whole.name)) is not None
        }
        if isinstance(statement, s.Assign):
            scalar = not is_array(statement.target, entities)
            called = {name: each for name, each in called.items() if "elemental" in each.prefixes and not scalar}
        long = frozenset(name for name, each in called.items() if self._is_apart(each, {}))
        assigned = {
            each.target.name
            for each in walk_statements((statement,))
            if isinstance(each, s.Assign) and isinstance(each.target, Var | Element)
        }
        if long and any(self._may_be_read(each, names_in(statement) - {each}) for each in assigned):
            return None
        return calling_loops(statement, entities, long, self._declarations.integer) if long else None

    def _is_apart(self, unit: Unit, found: dict[str, bool]) -> bool:
        """Whether a function computes a scalar from scalars and reads no other variables, which a loop around it might
        assign; so must the procedures that it calls. `found`: which of them do."""
        if unit.name not in found:
            found[unit.name] = False  # it may call itself
            found[unit.name] = self._computes_a_scalar(unit, found)
        return found[unit.name]

    def _computes_a_scalar(self, unit: Unit, found: dict[str, bool]) -> bool:
        local = {each.name: each for each in unit.entities}
        result = (unit.result or unit.name,) if unit.kind == "function" else ()
        dummies = [local.get(name) for name in (*unit.arguments, *result)]
        if unit.commons or unit.contains or not all(each is not None and each.shape is None for each in dummies):
            return False
        try:
            names = self._declarations.visible(unit)
        except Refused:
            return False
        outer = (self._declarations.entities.get(names.get(name, name)) for name in names_in(unit.body) - local.keys())
        constant = all(each is not None and "parameter" in each.attributes for each in outer)
        inner = [self._procedures[name] for name in _called(unit.body) if name in self._procedures]
        return constant and all(self._is_apart(each, found) for each in inner)

    def _claimed(self, statement: s.Stmt, stack: tuple[str, ...]) -> s.Stmt:
        """A loop whose INDEPENDENT counts the variables of the procedures inside it as NEW."""
        if not isinstance(statement, s.Do) or statement.independent is None:
            return statement
        claim = statement.independent
        private = {name for name, owner in self._declarations.private.items() if owner not in stack}
        private |= self._declarations.aliases_of({*private, *claim.new})
        more = private & names_in(statement.body) - set(claim.new)
        return replace(statement, independent=replace(claim, new=(*claim.new, *sorted(more)))) if more else statement

    def _calls_in(self, branches: Sequence[s.Branch]) -> bool:
        exprs = [part for each in branches if each.condition is not None for part in walk_expressions(each.condition)]
        return any(isinstance(each, Call) and each.name in self._procedures for each in exprs)

    # --- functions ---

    def _fills(self, call: Call, array: str) -> bool:
        """Whether a function returns an array that can be computed where it is assigned: nothing there is read."""
        unit, target = self._function(call.name), self._declarations.entities.get(array)
        result = None if unit is None else unit.entity(unit.result)
        if unit is None or target is None or result is None or not result.shape or target.shape is None:
            return False
        local = {each.name for each in unit.entities}
        read = names_in(*call.args, *(value for _, value in call.keywords)) | (names_in(unit.body) - local)
        shared = bool(unit.commons) or bool(self._procedures.keys() & _called(unit.body))
        fits = len(result.shape) == len(target.shape) and array not in read and not shared
        return fits and not self._may_be_read(array, read)

    def _may_be_read(self, assigned: str, read: Iterable[str]) -> bool:
        """Whether a pointer may make an assigned variable one of those that are read."""
        entities = self._declarations.entities
        marks = [entities[each].attributes & {"pointer", "target"} for each in read if each in entities]
        own = entities[assigned].attributes & {"pointer", "target"} if assigned in entities else frozenset[str]()
        return any("pointer" in own | each for each in marks if own and each)

    def _hoisted(self, statement: s.Stmt, stack: tuple[str, ...]) -> tuple[list[s.Stmt], s.Stmt]:
        """The statements of functions computed before a statement, and the statement without the calls of these."""
        before: list[s.Stmt] = []

        def one(expr: Expr) -> Expr:
            if isinstance(expr, ImpliedDo):
                return map_expression(expr, self._formula)
            made = map_operands(expr, one)
            if not isinstance(made, Call) or self._function(made.name) is None:
                return made
            simple = self._simple(made)
            if simple is None:
                return self._value(made, statement, stack, before)
            site = CallSite(shown_procedure(made.name), statement.span)
            before.append(self._entered(self._procedures[made.name], made.args, site))
            return simple

        if not any(isinstance(each, Call) for whole in own_expressions(statement) for each in walk_expressions(whole)):
            return [], statement
        return before, map_own(statement, one)

    def _simplified(self, statement: s.Stmt) -> s.Stmt:
        """A statement for many index values: functions of a single formula become that."""
        inner = mapped(statement, lambda body: tuple(self._simplified(each) for each in body))
        return map_own(inner, lambda expr: map_expression(expr, self._formula))

    def _formula(self, expr: Expr) -> Expr:
        simple = self._simple(expr) if isinstance(expr, Call) and self._function(expr.name) else None
        return expr if simple is None else simple

    def _function(self, name: str) -> Unit | None:
        unit = self._procedures.get(name)
        return unit if unit is not None and unit.kind == "function" else None

    def _value(self, call: Call, statement: s.Stmt, stack: tuple[str, ...], before: list[s.Stmt]) -> Expr:
        """What a function returns, computed before the statement; the call itself where that cannot be."""
        unit = self._procedures[call.name]
        elemental = "elemental" in unit.prefixes and any(
            is_array(each, self._declarations.entities) for each in call.args
        )
        result = unit.entity(unit.result or unit.name)
        if elemental or result is None or any(each.upper is None for each in result.shape or ()):
            return call
        span = statement.span
        at = through(call.span, span.call) if call.span.line else span
        try:
            names, body = self._inlined(unit, call.args, call.keywords, at, stack)
        except Refused as problem:
            self._refusals.setdefault(unit.name, str(problem))
            return call
        if result.shape is not None:
            return self._array_value(names.of(result.name), unit, statement, body, before)
        kept = self._declarations.copy(result, f"{unit.name}$value", span, unit.name)
        before += [*body, assign(through(span, body[0].span.call), Var(kept), Var(names.of(result.name)))]
        return Var(kept, span=call.span)

    def _array_value(
        self, place: str, unit: Unit, statement: s.Stmt, body: tuple[s.Stmt, ...], before: list[s.Stmt]
    ) -> Expr:
        """What a function returned in an array, which another call in the same statement would fill again. Without a
        mapping of its own it goes with the array to which the statement assigns."""
        declarations, span = self._declarations, statement.span
        entity = declarations.entities[place]
        if isinstance(statement, s.Assign):
            like = whole_arrays(statement.target, len(entity.shape or ()), declarations.entities)
            declarations.place_beside(place, like, span)
        before += body
        inside = [each for whole in own_expressions(statement) for each in walk_expressions(whole)]
        if sum(isinstance(each, Call) and each.name == unit.name for each in inside) == 1:
            return Var(place, span=span)
        kept = declarations.copy(entity, f"{unit.name}$value", span, unit.name)
        declarations.place_beside(kept, (place,), span)
        before.append(assign(through(span, body[0].span.call), Var(kept), Var(place)))
        return Var(kept, span=span)

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
        if names_in(value) - set(unit.arguments) or calls_used(value) & set(unit.arguments):
            return None
        if _kind(value, {each.name: each.type for each in unit.entities}) != result.type:
            return None
        names = CallNames()
        for each, actual in zip(dummies, call.args, strict=True):
            if each is None or each.shape is not None:
                continue
            uses = sum(part == Var(each.name) for part in walk_expressions(value))
            cheap = isinstance(actual, Var | Element) or is_constant(actual, self._declarations.entities)
            if uses > 1 and not cheap:
                return None
            names.values[each.name] = actual
        try:
            self._binder.bind_parts(dummies, call.args, names)
            return names.expression(value)
        except Refused:
            return None

    # --- calls ---

    def _call(self, call: s.CallStmt, stack: tuple[str, ...]) -> Sequence[s.Stmt]:
        unit = self._procedures[call.name]
        try:
            return self._inlined(unit, call.args, call.keywords, call.span, stack)[1]
        except Refused as problem:
            return (replace(call, reason=str(problem)),)

    def _inlined(
        self,
        unit: Unit,
        args: Sequence[Expr],
        keywords: Sequence[tuple[str, Expr]],
        span: Span,
        stack: tuple[str, ...],
        into: str = "",
    ) -> tuple[CallNames, tuple[s.Stmt, ...]]:
        """The names of a procedure at one call, and its statements there.

        Raises:
            Refused: it cannot stand there.
        """
        if unit.name in stack:
            through_them = ", ".join(map(shown_procedure, stack[stack.index(unit.name) + 1 :]))
            raise Refused("it is recursive" + (f": it calls itself through {through_them}" if through_them else ""))
        if self._count > _MOST:
            raise Refused(f"the calls of the program become more than {_MOST:,} statements")
        model = model_of(unit)
        if model not in ("", "serial"):
            raise Refused(why_not(model))
        if model and not any(model_of(self._procedures[each]) for each in stack):
            unit = on_one_processor(unit, self._effects.assigned(unit), self._outer_constant(unit), span)
        self._calls += 1
        caller, self._declarations.called = self._declarations.called, unit.name
        try:
            names, copies = self._binder.bound(unit, actuals(unit, args, keywords), f"_call{self._calls}", span, into)
            self._declarations.frames[unit.name] = names
            body, looped = without_returns(unit.body, "leave")
            made = names.statements(body)
            if looped:
                made = self._numbered(made)
            site = CallSite(shown_procedure(unit.name), span)
            inside = self.body(reached(made, site), (*stack, unit.name))
            before = reached((*entered(unit, names, span), *copies.before), site)
        finally:
            self._declarations.called = caller
            self._declarations.frames.pop(unit.name, None)
        return names, (self._entered(unit, args, site), *before, *inside, *reached(copies.after, site))

    def _outer_constant(self, unit: Unit) -> Callable[[str], bool]:
        """Whether a name that a procedure does not declare is a constant."""
        names, entities = self._declarations.visible(unit), self._declarations.entities

        def constant(name: str) -> bool:
            found = entities.get(names.get(name, name))
            return found is not None and "parameter" in found.attributes

        return constant

    def _entered(self, unit: Unit, args: Sequence[Expr], site: CallSite) -> s.Stmt:
        """The call by itself: in a loop an assignment, so that the loops around stay a nest of assignments."""
        name, span = unit.name, through(site.at, site)
        if not self._loops:
            return s.Enter(span=span, name=site.procedure, arguments=len(args))
        if name not in self._markers:
            self._markers[name] = self._declarations.integer(f"called${name}", span)
        return assign(span, Var(self._markers[name]), Call(CALLED, (IntLit(0),)))

    def _numbered(self, body: tuple[s.Stmt, ...]) -> tuple[s.Stmt, ...]:
        """The loop that RETURN leaves, with a variable that nobody else has."""
        (loop,) = body
        assert isinstance(loop, s.Do)
        name = self._declarations.integer(s.RETURNED, loop.span)
        return (replace(loop, var=name),)


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


_ARITHMETIC = ("+", "-", "*", "/", "**")


def _kind(expr: Expr, types: Mapping[str, Type]) -> Type | None:
    """The type of a formula of numbers; None: it is not known here."""
    match expr:
        case Var(name=name) | Element(name=name):
            return types.get(name)
        case IntLit():
            return Type(base="integer", bytes=4)
        case RealLit(double=double):
            return Type(base="real", bytes=8 if double else 4)
        case Unary(op="+" | "-", operand=operand):
            return _kind(operand, types)
        case Call(name="abs" | "sqrt" | "exp" | "log" | "sin" | "cos" | "tan" | "max" | "min", args=(first, *_)):
            return _kind(first, types)
        case Binary(op=op, left=left, right=right) if op in _ARITHMETIC:
            found = {_kind(left, types), _kind(right, types)}
            reals = {each for each in found if each is not None and each.base == "real"}
            if None in found or len(reals) > 1 or any(each and each.base not in ("integer", "real") for each in found):
                return None
            return reals.pop() if reals else found.pop() if len(found) == 1 else None
        case _:
            return None
