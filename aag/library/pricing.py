"""A program whose calls of procedures without source have costs.

A function becomes a call by itself before the statement that uses it, so that lowering meets it as what it is:
`x = ddot(n, a, 1, b, 1) / s` is a call into `ddot$1` and `x = ddot$1 / s`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir import statements as s
from aag.ir.costs import RoutineCost
from aag.ir.expressions import Call, Expr, ImpliedDo, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.nearest import did_you_mean
from aag.ir.spelling import spell
from aag.ir.units import Entity, Program, Type, Unit
from aag.ir.visitors import (
    bodies,
    calls_used,
    map_operands,
    map_own,
    mapped,
    names_in,
    own_expressions,
    walk_expressions,
)
from aag.library.binding import NotBound, bound
from aag.library.table import RANDOM, row
from aag.source.costs import OPTION, terms_of

SUBROUTINES = frozenset(
    "system_clock cpu_time secnds mpi_wtime etime dtime second dclock date_and_time random_number random_seed"
    " mvbits get_command get_command_argument get_environment_variable execute_command_line".split()
)
"""Intrinsic subroutines, which lowering handles."""

STATEMENTS = frozenset(("exit", "abort", "flush"))
"""Subroutines of most compilers that are statements of Fortran: STOP and FLUSH."""

_CLASSES = frozenset(("load", "store", "call", "assign", "convert"))
_KINDS = ("int", "r4", "r8")


class _Units:
    """The units of the table, which are operation classes as a machine has them."""

    def __contains__(self, word: object) -> bool:
        kind, dot, _ = str(word).partition(".")
        return word in _CLASSES or (bool(dot) and kind in _KINDS)


def cost_of_table(name: str) -> RoutineCost | None:
    """The cost of a well-known procedure."""
    found = row(name)
    if found is None:
        return None
    return RoutineCost(
        name=name,
        terms=terms_of(found.text, _Units()),
        text=found.text,
        origin="table",
        dummies=found.arguments,
        changes=found.changes,
        source=found.source,
        kind=found.kind,
        has_sequence=found.source == RANDOM,
    )


@lru_cache(maxsize=16)
def priced(program: Program) -> Program:
    """The program with the cost of each call whose procedure is not in the source, where it is known; as it is, where
    none of these is called.

    Raises:
        SourceError: costs that the program gives do not fit its calls; all of them at once.
    """
    own = {each.name for unit in program.units for each in _every(unit) if each.kind in ("subroutine", "function")}
    given = {each.name: each for each in program.costs}
    called = {name for unit in program.units for each in _every(unit) for name in calls_used(each.body)}
    findings = [*_unused(program.costs, own, called)]
    if not findings and not any(
        _is_outside(name, own) and (name in given or name in STATEMENTS or row(name)) for name in called
    ):
        return program
    modules = {each.name: each for each in program.units if each.kind == "module"}
    pricing = _Pricing(own, given, modules, findings)
    units = tuple(pricing.unit(each, ()) for each in program.units)
    if findings:
        raise SourceError(dict.fromkeys(findings))
    return replace(program, units=units)


def _every(unit: Unit) -> Iterator[Unit]:
    yield unit
    for each in unit.contains:
        yield from _every(each)


def _is_outside(name: str, own: set[str]) -> bool:
    return name not in own and name not in SUBROUTINES


def _unused(costs: Sequence[RoutineCost], own: set[str], called: set[str]) -> Iterator[Diagnostic]:
    """Costs of procedures that the program does not call, or has itself."""
    for number, each in enumerate(costs, 1):
        if each.name in own:
            what, hint = f"the source has the procedure {each.name}", "leave the cost out: the procedure is interpreted"
        elif each.name in SUBROUTINES:
            what, hint = f"{each.name} is an intrinsic subroutine, which has its own cost", "leave the cost out"
        elif each.name not in called:
            what = f"the program calls no procedure {each.name}"
            hint = did_you_mean(each.name, sorted(called)) or "leave the cost out"
        else:
            continue
        text = f"{each.name} = {each.text}"
        yield Diagnostic(
            code="E686", message=what, span=Span(OPTION, number, 1, number, 1), hint=hint, source_line=text
        )


def _as_statement(call: s.CallStmt) -> s.Stmt:
    """CALL EXIT and CALL ABORT end the program, CALL FLUSH empties the buffer of a unit, or of all units."""
    if call.name != "flush":
        return s.Stop(span=call.span, label=call.label)
    if not call.args:
        return s.Continue(span=call.span, label=call.label)
    return s.Io(span=call.span, label=call.label, kind="flush", items=(), control=f"UNIT = {spell(call.args[0])}")


class _Pricing:
    """Statements of a program that become priced."""

    def __init__(
        self, own: set[str], given: Mapping[str, RoutineCost], modules: Mapping[str, Unit], findings: list[Diagnostic]
    ) -> None:
        self._own = own
        self._given = given
        self._modules = modules
        self._findings = findings
        self._entities: dict[str, Entity] = {}
        self._open = False
        """Whether there are names that are not known."""
        self._made: list[Entity] = []
        self._priced: set[str] = set()
        self._count = 0

    def unit(self, unit: Unit, hosts: tuple[Unit, ...]) -> Unit:
        """A program unit and those that it contains."""
        contains = tuple(self.unit(each, (*hosts, unit)) for each in unit.contains)
        scope = (*hosts, unit)
        used = {name for each in scope for name in each.uses}
        self._open = bool(used - self._modules.keys())
        self._entities = {
            each.name: each for one in (*(self._modules[name] for name in used & self._modules.keys()), *scope)
            for each in one.entities
        }  # fmt: skip
        self._made = []
        body = self._body(unit.body)
        left = names_in(body) | {each.name for each in walk_expressions(body) if isinstance(each, Call)}
        kept = tuple(each for each in unit.entities if each.name in left or each.name not in self._priced)
        return replace(unit, body=body, entities=(*kept, *self._made), contains=contains)

    def _body(self, body: Iterable[s.Stmt]) -> tuple[s.Stmt, ...]:
        return tuple(made for each in body for made in self._statement(each))

    def _statement(self, statement: s.Stmt) -> Sequence[s.Stmt]:
        match statement:
            case s.Forall() | s.Where():
                return (statement,)
            case s.If(branches=(first, *rest)) if rest and any(self._calls(each.condition) for each in rest):
                inner = s.If(branches=tuple(rest), span=rest[0].span)
                last = s.Branch(condition=None, body=(inner,), span=rest[0].span)
                return self._statement(replace(statement, branches=(first, last)))
            case s.DoWhile(condition=condition, span=span) if condition is not None and self._calls(condition):
                before, test = self._hoisted(statement)
                assert isinstance(test, s.DoWhile)
                assert test.condition is not None
                stop = s.guarded(Unary(".not.", test.condition), (s.Exit(span=span),), span)
                return (replace(test, condition=None, body=(*before, stop, *self._body(statement.body))),)
            case s.CallStmt(name=name) if (
                name in STATEMENTS and _is_outside(name, self._own) and name not in self._given
            ):
                return (_as_statement(statement),)
        before, made = self._hoisted(statement)
        if isinstance(made, s.CallStmt) and _is_outside(made.name, self._own) and not made.reason:
            made = self._call(made)
        return (*before, mapped(made, self._body) if bodies(made) else made)

    # --- functions ---

    def _cost(self, name: str, *, function: bool) -> RoutineCost | None:
        if not _is_outside(name, self._own):
            return None
        if name in self._given:
            return self._given[name]
        return None if function and name in INTRINSICS else cost_of_table(name)

    def _calls(self, expr: Expr | None) -> bool:
        return expr is not None and any(
            isinstance(each, Call) and self._cost(each.name, function=True) is not None
            for each in walk_expressions(expr)
        )

    def _hoisted(self, statement: s.Stmt) -> tuple[list[s.Stmt], s.Stmt]:
        """The calls of functions before a statement, and the statement with their results."""
        before: list[s.Stmt] = []

        def one(expr: Expr) -> Expr:
            if isinstance(expr, ImpliedDo):
                return expr
            made = map_operands(expr, one)
            if not isinstance(made, Call) or self._cost(made.name, function=True) is None:
                return made
            span = made.span if made.span.line == statement.span.line else statement.span
            result = self._result(made.name, span)
            call = s.CallStmt(span=span, name=made.name, args=made.args, keywords=made.keywords, into=result)
            priced_call = self._call(call)
            if priced_call.cost is None:
                return made
            before.append(priced_call)
            return result

        if not any(self._calls(whole) for whole in own_expressions(statement)):
            return before, statement
        return before, map_own(statement, one)

    def _result(self, name: str, span: Span) -> Var:
        self._count += 1
        known = self._entities.get(name)
        kind = Type(base="integer" if name[0] in "ijklmn" else "real", bytes=4) if known is None else known.type
        made = Entity(
            name=f"{name}${self._count}",
            shown=name,
            type=kind,
            shape=None,
            attributes=frozenset(),
            initial=None,
            span=span,
        )
        self._made.append(made)
        return Var(made.name, span=span)

    # --- calls ---

    def _call(self, call: s.CallStmt) -> s.CallStmt:
        cost = self._cost(call.name, function=call.into is not None)
        if cost is None:
            return call
        visible = None if self._open else frozenset(self._entities)
        try:
            made, args = bound(cost, (call.args, call.keywords), self._is_array, visible)
        except NotBound as problem:
            if cost.origin == "table":
                return replace(call, reason=f"the cost of {call.name} does not fit: {problem}")
            self._findings.append(
                Diagnostic(
                    code="E687",
                    message=f"the cost of {call.name} does not fit this call: {problem}",
                    span=call.span,
                    hint=problem.hint or f"the cost is {cost.text}; write it in the arguments of the call",
                )
            )
            return call
        self._priced.add(call.name)
        return replace(call, args=args, keywords=(), cost=made)

    def _is_array(self, name: str) -> bool:
        entity = self._entities.get(name)
        return entity is not None and entity.shape is not None
