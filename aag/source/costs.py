"""Costs of procedures as text: ``dgemm(ta, tb, m, n, k) = 2*m*n*k flop + 8*m*n byte, changes c``.

    cost   = name [ "(" dummies ")" ] "=" term { "+" term } [ "," "changes" ( "nothing" | dummies ) ]
    term   = expression unit

Amounts are computed in double precision: 1/3 is a third.
"""

import re
from collections.abc import Container
from dataclasses import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.costs import BYTE, FLOP, RELATIVE, SECOND, CostTerm, RoutineCost
from aag.ir.expressions import Binary, Call, Expr, IntLit, RealLit, StringLit, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.nearest import did_you_mean
from aag.source.expression_parser import Parser, SyntaxProblem
from aag.source.joining import Text

OPTION = "‹cost›"
"""What stands for a file in the places of costs that are no part of the source."""

_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_SPELLINGS = {"flops": FLOP, "bytes": BYTE, "b": BYTE}
_UNIT = re.compile(r"(?<=[\w).])\s+([a-z]\w*(?:\.[a-z0-9]+)?)\s*(?=[+-]|$)", re.IGNORECASE)
"""A word behind an operand with no operator between them."""
_HEAD = re.compile(r"\s*([a-z]\w*)\s*(\(([^()=]*)\))?\s*=(?!=)", re.IGNORECASE)
_CHANGES = re.compile(r"\s*changes\s+([\w\s,]+?)\s*", re.IGNORECASE)
_WRITE = "write for example 'dgemm(ta,tb,m,n,k)=2*m*n*k flop' or 'solve=2*n**3/3 flop'"


def read_cost(text: str, units: Container[str], number: int = 1) -> RoutineCost:
    """The cost that a user gives for a procedure.

    Args:
        text: What the user wrote.
        units: The operation classes that a machine may have times for.
        number: The number of the option, for its place.

    Raises:
        SourceError: it cannot be read.
    """
    return _Reader(text, units, number).cost()


def terms_of(text: str, units: Container[str] = ()) -> tuple[CostTerm, ...]:
    """The terms of a cost of the table."""
    return _Reader(text, units, 1).terms(0, len(text))


class _Reader:
    """One text."""

    def __init__(self, text: str, units: Container[str], number: int) -> None:
        self._text = text
        self._units = units
        self._source = Text(text, ((0, OPTION, number, 1),))

    def cost(self) -> RoutineCost:
        """The whole text."""
        head = _HEAD.match(self._text)
        if head is None:
            raise self._problem("expected the name of a procedure and '='", 0, len(self._text), _WRITE)
        end = self._comma(head.end())
        dummies = None if head[2] is None else self._names(head[3], head.start(3))
        changes = None if end < 0 else self._changed(end + 1, dummies)
        return RoutineCost(
            name=head[1].lower(),
            terms=self.terms(head.end(), len(self._text) if end < 0 else end),
            text=self._text[head.end() : None if end < 0 else end].strip(),
            origin="option",
            written=self._text,
            dummies=dummies,
            changes=changes,
        )

    def _comma(self, start: int) -> int:
        """The place of the comma behind the terms; -1: there is none."""
        depth = 0
        for at, letter in enumerate(self._text[start:], start):
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth == 0:
                return at
        return -1

    def _names(self, text: str, start: int) -> tuple[str, ...]:
        names = tuple(each.strip().lower() for each in text.split(",")) if text.strip() else ()
        for each in names:
            if not re.fullmatch(r"[a-z]\w*", each):
                raise self._problem(f"{each!r} is not a name of an argument", start, start + len(text), _WRITE)
        if len(set(names)) < len(names):
            raise self._problem("two arguments have the same name", start, start + len(text), "give each its own")
        return names

    def _changed(self, start: int, dummies: tuple[str, ...] | None) -> tuple[str, ...]:
        found = _CHANGES.fullmatch(self._text, start)
        if found is None:
            hint = "write for example ', changes a, b' or ', changes nothing'"
            raise self._problem("expected 'changes' behind ','", start, len(self._text), hint)
        if found[1].lower() == "nothing":
            return ()
        names = self._names(found[1], found.start(1))
        for each in names:
            if each not in (dummies or ()):
                hint = did_you_mean(each, dummies or ()) or "list the arguments: 'name(a, n) = 2*n flop, changes a'"
                raise self._problem(f"{each} is not an argument of the cost", found.start(1), found.end(1), hint)
        return names

    def terms(self, start: int, end: int) -> tuple[CostTerm, ...]:
        """The terms between two places of the text."""
        found: list[CostTerm] = []
        whole = self._text[:end]
        at = start
        for match in _UNIT.finditer(whole, start):
            if self._is_inside(at, match.start(1)):
                continue
            amount = self._amount(at, match.start(1))
            unit, factor = self._unit(match)
            found.append(CostTerm(unit=unit, amount=amount, factor=factor))
            at = match.end()
        if not found or whole[at:].strip():
            hint = "each term ends with its unit: flop, r8.add, s, ms, us or byte; " + _WRITE
            raise self._problem("expected a unit at the end of the cost", at, end, hint)
        return tuple(found)

    def _is_inside(self, start: int, at: int) -> bool:
        """Whether a place is inside parentheses that begin at `start` or later."""
        part = self._text[start:at]
        return part.count("(") > part.count(")")

    def _unit(self, match: "re.Match[str]") -> tuple[str, float]:
        word = match[1].lower()
        if word in _TIMES:
            return SECOND, _TIMES[word]
        unit = _SPELLINGS.get(word, word)
        if unit not in (FLOP, BYTE, *RELATIVE) and unit not in self._units:
            hint = "units are flop, add, mul, div, operation classes such as r8.add, byte, s, ms and us"
            raise self._problem(f"there is no unit {match[1]!r}", match.start(1), match.end(1), hint)
        return unit, 1.0

    def _amount(self, start: int, end: int) -> Expr:
        sign = self._text[start:end].lstrip()[:1]
        parser = Parser(self._source, start, end)
        if sign == "+":
            parser.advance()
        try:
            expr = parser.expression()
        except SyntaxProblem as problem:
            token = problem.token
            raise self._problem(problem.message, token.start, max(token.end, token.start + 1), problem.hint) from None
        if parser.token.kind != "end":
            at = parser.token.start
            raise self._problem(f"expected a unit or an operator{parser.found()}", at, parser.token.end, _WRITE)
        return self._double(expr)

    def _double(self, expr: Expr) -> Expr:
        """An amount in double precision; powers keep whole exponents."""
        match expr:
            case IntLit(value=value):
                return RealLit(float(value), f"{value}.0d0", double=True, span=expr.span)
            case RealLit():
                return expr
            case Var():
                return Call("dble", (expr,), span=expr.span)
            case Unary(op="-" | "+", operand=operand):
                return replace(expr, operand=self._double(operand))
            case Binary(op="**", left=left, right=IntLit()):
                return replace(expr, left=self._double(left))
            case Binary(op="+" | "-" | "*" | "/" | "**", left=left, right=right):
                return replace(expr, left=self._double(left), right=self._double(right))
            case Call(name="merge", args=(one, other, Binary() as test), keywords=()):
                return replace(expr, args=(self._double(one), self._double(other), self._test(test)))
            case Call(name="log2", args=(operand,), keywords=()):
                return Binary("/", self._logarithm(operand), self._logarithm(IntLit(2)), span=expr.span)
            case Call(name=name, args=args, keywords=()) if name in INTRINSICS and INTRINSICS[name].value is not None:
                return replace(expr, args=tuple(map(self._double, args)))
            case Call(name=name):
                place = expr.span.column - 1
                hint = "functions such as max, min, log, log2, sqrt and merge are"
                raise self._problem(f"the function {name} is not known here", place, place + len(name), hint)
            case _:
                place = max(0, expr.span.column - 1)
                raise self._problem("this is not an amount", place, place + 1, "use numbers, names and + - * / **")

    def _logarithm(self, operand: Expr) -> Expr:
        return Call("log", (self._double(operand),), span=operand.span)

    def _test(self, test: Binary) -> Binary:
        sides = (test.left, test.right)
        if any(isinstance(each, StringLit) for each in sides):
            return test
        return replace(test, left=self._double(test.left), right=self._double(test.right))

    def _problem(self, message: str, start: int, end: int, hint: str) -> SourceError:
        span: Span = self._source.span(start, max(end, start + 1))
        return SourceError([Diagnostic(code="E685", message=message, span=span, hint=hint, source_line=self._text)])
