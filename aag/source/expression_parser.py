"""Our own parser of expressions: for directives, and for what is too deeply nested for fparser.

    expr     = operands and operators with Fortran's precedence (see _LEVELS)
    primary  = literal | name { "(" args ")" | "%" name } [ part ] | "(" expr ")" | "(/" values "/)" | "[" values "]"
    part     = "(" [expr] ":" [expr] ")", of a text
    args     = one of: expr, keyword "=" expr, [expr] ":" [expr] [":" expr]

A name with arguments becomes `Call`; `aag.source.resolving` turns it into `Element` once declarations are
known.
"""

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir.nearest import did_you_mean
from aag.source.joining import Text
from aag.source.literals import too_large
from aag.source.tokens import Token, tokenize

_LEVELS: tuple[dict[str, str], ...] = ({".eqv.": ".eqv.", ".neqv.": ".neqv."}, {".or.": ".or."}, {".and.": ".and."})
MODERN = {".eq.": "==", ".ne.": "/=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">="}
"""The old spelling of the relational operators and the modern one."""
_RELATIONAL = {**MODERN, **{op: op for op in MODERN.values()}}


_INTRINSIC = frozenset((".true.", ".false.", ".not.", *_RELATIONAL, *(op for level in _LEVELS for op in level)))
"""The operators of the language that dots enclose, and what looks like them."""


def operator(word: str) -> str:
    """The name of what an operator calls."""
    return f"operator({word})"


class SyntaxProblem(Exception):
    """What was expected and what stands at `token` instead."""

    def __init__(self, message: str, token: Token, hint: str = "") -> None:
        self.message = message
        self.token = token
        self.hint = hint
        super().__init__(message)


def join_spans(first: Span, last: Span) -> Span:
    """The span from the beginning of `first` to the end of `last`."""
    return Span(first.file, first.line, first.column, last.end_line, last.end_column)


def real_literal(text: str, span: Span) -> e.RealLit:
    """The literal that `text` spells: ``1.5``, ``1d0``, ``1.0_8``."""
    body, _, kind = text.lower().partition("_")
    return e.RealLit(value=float(body.replace("d", "e")), text=text, double="d" in body or kind == "8", span=span)


def string_value(text: str) -> str:
    """A character literal without its quotes."""
    return text[1:-1].replace(text[0] * 2, text[0])


class Parser:
    """Tokens of one text, read from left to right. The base of the directive parser.

    `defined`: whether the text may have operators that the program defines; such an operator becomes a call.
    """

    def __init__(self, text: Text, start: int = 0, end: int | None = None, *, defined: bool = False) -> None:
        self.source = text
        self._defined = defined
        tokens = tokenize(text.text if end is None else text.text[:end])
        self.tokens = [token for token in tokens if token.start >= start]
        self.at = 0

    # --- tokens ---

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def advance(self) -> Token:
        """Take the next token."""
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is `text`."""
        if self.token.text == text and self.token.kind in ("op", "name"):
            self.at += 1
            return True
        return False

    def expect(self, text: str, why: str = "") -> Token:
        """Take `text`, or complain."""
        if self.token.text != text or self.token.kind == "string":
            hint = did_you_mean(self.token.text.upper(), [text.upper()]) if text.isalpha() else ""
            raise SyntaxProblem(f"expected '{text.upper()}'{why}{self.found()}", self.token, hint)
        return self.advance()

    def expect_name(self, what: str) -> str:
        """Take a name, or complain that `what` is missing."""
        if self.token.kind != "name":
            raise SyntaxProblem(f"expected {what}{self.found()}", self.token)
        return self.advance().text

    def found(self) -> str:
        """The end of a message: what stands here instead."""
        token = self.token
        shown = self.source.text[token.start : token.end]
        return " but the text ends" if token.kind == "end" else f" but found '{shown}'"

    def span(self, first: Token, last: Token | None = None) -> Span:
        """The span from `first` to `last`, the token taken last if not given."""
        last = last or self.tokens[max(0, self.at - 1)]
        return self.source.span(first.start, max(last.end, first.start + 1))

    # --- expressions ---

    def expression(self) -> e.Expr:
        """One expression."""
        left = self._logical(0)
        while self._at_defined():
            name = operator(self.advance().text)
            right = self._logical(0)
            left = e.Call(name, (left, right), span=join_spans(left.span, right.span))
        return left

    def _at_defined(self) -> bool:
        """Whether an operator of the program comes next."""
        text = self.token.text
        return self._defined and self.token.kind == "op" and len(text) > 1 and text[0] == "." and text not in _INTRINSIC

    def _logical(self, level: int) -> e.Expr:
        if level == len(_LEVELS):
            return self._negation()
        left = self._logical(level + 1)
        while self.token.kind == "op" and self.token.text in _LEVELS[level]:
            op = self.advance().text
            left = self._binary(op, left, self._logical(level + 1))
        return left

    def _negation(self) -> e.Expr:
        first = self.token
        if self.accept(".not."):
            operand = self._negation()
            return e.Unary(".not.", operand, span=self.span(first))
        left = self._concatenation()
        if self.token.kind == "op" and self.token.text in _RELATIONAL:
            op = _RELATIONAL[self.advance().text]
            left = self._binary(op, left, self._concatenation())
        return left

    def _concatenation(self) -> e.Expr:
        left = self._sum()
        while self.accept("//"):
            left = self._binary("//", left, self._sum())
        return left

    def _sum(self) -> e.Expr:
        first = self.token
        if first.kind == "op" and first.text in "+-":
            self.advance()
            left: e.Expr = e.Unary(first.text, self._product(), span=self.span(first))
        else:
            left = self._product()
        while self.token.kind == "op" and self.token.text in ("+", "-"):
            op = self.advance().text
            left = self._binary(op, left, self._product())
        return left

    def _product(self) -> e.Expr:
        left = self._power()
        while self.token.kind == "op" and self.token.text in ("*", "/"):
            op = self.advance().text
            left = self._binary(op, left, self._power())
        return left

    def _power(self) -> e.Expr:
        first = self.token
        if first.text in ("+", "-") and first.kind == "op":  # a common extension: a * -b, 2**-1
            self.advance()
            return e.Unary(first.text, self._power(), span=self.span(first))
        left = self._primary()
        return self._binary("**", left, self._power()) if self.accept("**") else left

    def _binary(self, op: str, left: e.Expr, right: e.Expr) -> e.Expr:
        return e.Binary(op, left, right, span=join_spans(left.span, right.span))

    def _primary(self) -> e.Expr:
        token = self.token
        why = too_large(token.kind, token.text)
        if why:
            raise SyntaxProblem(why, token)
        match token.kind, token.text:
            case "int", text:
                self.advance()
                digits, _, kind = text.partition("_")
                size = 4 if not kind else int(kind) if kind.isdigit() else 0
                return e.IntLit(int(digits), size, span=self.span(token))
            case "real", _:
                self.advance()
                return real_literal(self.source.text[token.start : token.end], self.span(token))
            case "string", text:
                self.advance()
                return e.StringLit(string_value(text), span=self.span(token))
            case "op", ".true." | ".false.":
                self.advance()
                return e.LogicalLit(token.text == ".true.", span=self.span(token))
            case "op", "(/" | "[":
                self.advance()
                values = self._values("/)" if token.text == "(/" else "]")
                return e.Constructor(values, span=self.span(token))
            case "op", "(":
                return self._parenthesis()
            case "name", _:
                return self._designator()
            case "op", _ if self._at_defined():
                self.advance()
                return e.Call(operator(token.text), (self._primary(),), span=self.span(token))
        raise SyntaxProblem(f"expected an expression{self.found()}", token)

    def _parenthesis(self) -> e.Expr:
        first = self.advance()
        inner = self.expression()
        if self.accept(","):
            imag = self.expression()
            self.expect(")")
            return e.ComplexLit(inner, imag, span=self.span(first))
        self.expect(")")
        return inner

    def _values(self, closing: str) -> tuple[e.Expr, ...]:
        values: list[e.Expr] = []
        while not self.accept(closing):
            values.append(self._value())
            if not self.accept(","):
                self.expect(closing)
                break
        return tuple(values)

    def _value(self) -> e.Expr:
        """One value of a constructor: an expression or ``(values, i = 1, n)``."""
        start = self.at
        first = self.token
        if not self.accept("("):
            return self.expression()
        values: list[e.Expr] = []
        while True:
            if self.token.kind == "name" and self.tokens[self.at + 1].text == "=" and values:
                return self._implied_do(tuple(values), first)
            values.append(self._value())
            if not self.accept(","):
                self.at = start
                return self.expression()

    def _implied_do(self, values: tuple[e.Expr, ...], first: Token) -> e.Expr:
        name = self.advance().text
        self.advance()
        lower = self.expression()
        self.expect(",")
        upper = self.expression()
        step = self.expression() if self.accept(",") else None
        self.expect(")")
        return e.ImpliedDo(values, name, lower, upper, step, span=self.span(first))

    def _designator(self) -> e.Expr:
        first = self.advance()
        expr: e.Expr = e.Var(first.text, span=self.span(first))
        if self.token.text == "(" and self.token.kind == "op":
            expr = self._reference(first)
            if self.token.text == "(" and self.token.kind == "op":
                return self._part(expr, first)
        while self.accept("%"):
            field = self.expect_name("a component")
            subscripts: tuple[e.Expr, ...] = ()
            if self.token.text == "(" and self.token.kind == "op":
                inner = self._reference(first)
                assert isinstance(inner, e.Call)
                subscripts = inner.args
            expr = e.Component(expr, field, subscripts, span=self.span(first))
        return expr

    def _part(self, base: e.Expr, first: Token) -> e.Expr:
        """Characters of an element, which is a call until the declarations are known."""
        opening = self.advance()
        limits = self.subscript()
        if not isinstance(limits, e.Section) or limits.step is not None:
            raise SyntaxProblem("expected characters of a text, as in (1:2)", opening)
        self.expect(")")
        return e.Substring(base, limits.lower, limits.upper, span=self.span(first))  # type: ignore[arg-type]  # a call

    def _reference(self, first: Token) -> e.Expr:
        self.expect("(")
        args: list[e.Expr] = []
        keywords: list[tuple[str, e.Expr]] = []
        while not self.accept(")"):
            if self.token.kind == "name" and self.tokens[self.at + 1].text == "=":
                key = self.advance().text
                self.advance()
                keywords.append((key, self.expression()))
            else:
                args.append(self.subscript())
            if not self.accept(","):
                self.expect(")")
                break
        return e.Call(first.text, tuple(args), tuple(keywords), span=self.span(first))

    def subscript(self) -> e.Expr:
        """An expression or a triplet."""
        first = self.token
        lower = None if self._at_colon() else self.expression()
        if not self._at_colon():
            assert lower is not None
            return lower
        step = None
        if self.accept("::"):
            upper = None
            step = self.expression()
        else:
            self.advance()
            upper = None if self.token.text in (",", ")", ":") else self.expression()
            if self.accept(":"):
                step = self.expression()
        return e.Section(lower, upper, step, span=self.span(first))

    def _at_colon(self) -> bool:
        return self.token.kind == "op" and self.token.text in (":", "::")
