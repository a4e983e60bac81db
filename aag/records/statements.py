"""Statements without derived types."""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.ir import directives as d
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.printer import print_statement
from aag.ir.spelling import spell
from aag.ir.visitors import bodies, map_own, mapped, own_expressions
from aag.records.assignments import assigned
from aag.records.directives import Mappings
from aag.records.leaves import NotSplit
from aag.records.lists import allocations, transferred
from aag.records.values import ExpressionSplitter

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_LEFT_OUT = "write it in another form, as assignments, IF or loops"


class BodySplitter:
    """Splits the statements of one unit. What is not modelled becomes an `Opaque` statement, or the condition or bound
    of a construct an `OpaqueExpr`, and `complete` False."""

    def __init__(self, values: ExpressionSplitter, mappings: Mappings, *, defined: bool) -> None:
        self._values = values
        self._mappings = mappings
        self._defined = defined
        """Whether the program defines assignments of its own."""
        self._simple = 0
        """How many FORALL and WHERE stand around."""
        self.complete = True

    def body(self, body: Iterable[s.Stmt]) -> tuple[s.Stmt, ...]:
        """All statements of a body."""
        return tuple(made for each in body for made in self._statement(each))

    def _statement(self, statement: s.Stmt) -> Sequence[s.Stmt]:
        values, outer = self._values, self._values.before
        hoists = not self._simple and not isinstance(statement, s.DoWhile | s.Forall | s.Where)
        values.before = [] if hoists else None
        made = set(values.made)
        try:
            found = self._made(statement)
            calls: list[s.Stmt] = values.before or []
            first, *rest = [*calls, *found]
            if statement.label and first is not found[0]:
                first = replace(first, label=statement.label)
                rest = [replace(each, label="") if each is found[0] else each for each in rest]
            result = [first, *rest]
        except NotSplit as problem:
            values.before = None
            result = [self._refused(statement, str(problem))]
        finally:
            values.before = outer
        return [self._private(each, values.made.keys() - made) for each in result]

    def _made(self, statement: s.Stmt) -> Sequence[s.Stmt]:
        values = self._values
        match statement:
            case s.Assign(target=target) if values.is_record(target):
                if self._defined:
                    raise NotSplit("assignments that the program defines are not modelled")
                return assigned(values, statement, simple=self._simple > 0)
            case s.Assign():
                return [self._text(statement)]
            case s.CallStmt(args=args, keywords=keywords):
                given, named = values.arguments(args, keywords)
                return [replace(statement, args=given, keywords=named)]
            case s.Io(items=items, span=span, control=control):
                if "%" in _QUOTED.sub("", control):
                    raise NotSplit("a component in the control list of input or output is not modelled")
                listed = tuple(part for each in items for part in transferred(values, each, span))
                return [replace(statement, items=listed)]
            case s.Allocate(items=items):
                return [replace(statement, items=tuple(part for each in items for part in allocations(values, each)))]
            case s.Remap(directive=directive):
                found = [each for each in self._mappings.split(directive) if isinstance(each, d.Align | d.Distribute)]
                return [replace(statement, directive=each) for each in found]
            case s.If(branches=branches):
                first = branches[0].condition
                tested = None if first is None else values.value(first)
                calls, values.before = values.before, None  # none can stand before the other branches
                others = [each.condition and values.value(each.condition) for each in branches[1:]]
                values.before = calls
                made = (replace(each, condition=test) for each, test in zip(branches, (tested, *others), strict=True))
                return [mapped(replace(statement, branches=tuple(made)), self.body)]
        return [self._inside(self._claimed(map_own(statement, values.value)))]

    def _text(self, statement: s.Assign) -> s.Stmt:
        """An assignment of another type; one to a part of a text is not modelled."""
        made = map_own(statement, self._values.value)
        if isinstance(made, s.Assign) and isinstance(made.target, e.Substring):
            raise NotSplit(f"an assignment to a part of {spell(made.target.base)} is not modelled")
        return made

    def _inside(self, statement: s.Stmt) -> s.Stmt:
        simple = isinstance(statement, s.Forall | s.Where)
        self._simple += simple
        made = mapped(statement, self.body)
        self._simple -= simple
        return made

    def _claimed(self, statement: s.Stmt) -> s.Stmt:
        """A loop whose INDEPENDENT names components."""
        if not isinstance(statement, s.Do | s.Forall) or statement.independent is None:
            return statement
        claim = statement.independent
        home = claim.home
        if home is not None:
            if self._values.is_record(home):
                (_, home), *_ = self._values.argument(home)
            else:
                home = self._values.value(home)
        new, reductions = self._mappings.names(claim.new), self._mappings.names(claim.reductions)
        return replace(statement, independent=replace(claim, home=home, new=new, reductions=reductions))

    def _private(self, statement: s.Stmt, made: set[str]) -> s.Stmt:
        """Variables that were made inside of a loop are NEW in it."""
        if not isinstance(statement, s.Do) or statement.independent is None or not made:
            return statement
        claim = statement.independent
        return replace(statement, independent=replace(claim, new=(*claim.new, *sorted(made - set(claim.new)))))

    def _refused(self, statement: s.Stmt, reason: str) -> s.Stmt:
        self.complete = False
        span = statement.span
        if not bodies(statement):
            if reason:
                message = f"{reason}; this statement is left out"
                self._values.found.append(Diagnostic(code="W102", message=message, span=span, hint=_LEFT_OUT))
            text = print_statement(statement)
            return s.Opaque(span=span, label=statement.label, text=text, reason=reason or "it has an error")
        if reason:
            shown = "; ".join(map(spell, own_expressions(statement)))
            message = f"{reason}, so the value of {shown} is unknown"
            self._values.found.append(Diagnostic(code="W109", message=message, span=span, hint=_LEFT_OUT))
        return self._inside(map_own(statement, self._unknown))

    def _unknown(self, expr: e.Expr) -> e.Expr:
        try:
            return self._values.value(expr)
        except NotSplit:
            return e.OpaqueExpr(spell(expr), span=expr.span)
