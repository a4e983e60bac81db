"""The parts of mapping directives: shapes, axes, targets, formats, arrangements.

shape      = "(" [lower ":"] upper { "," ... } ")"
axes       = "(" (name | ":" | "*") { "," ... } ")"
target     = ["*"] name ["(" (subscript | "*") { "," ... } ")"]
formats    = ["*"] "(" (BLOCK ["(" n ")"] | CYCLIC ["(" n ")"] | GEN_BLOCK "(" a ")" | INDIRECT "(" a ")"
| "*") ... ")" onto       = ONTO ["*"] [name]
"""

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import directives as d
from aag.ir.expressions import Expr
from aag.ir.nearest import did_you_mean
from aag.source.expression_parser import Parser, SyntaxProblem

_FORMATS = ("BLOCK", "CYCLIC", "GEN_BLOCK", "INDIRECT")


class ClauseParser(Parser):
    """A parser that knows the parts that several directives share."""

    def names(self) -> tuple[str, ...]:
        """``a, b, /block/`` with an optional ``::`` in front; a common block keeps its slashes."""
        self.accept("::")
        found: list[str] = []
        while True:
            found.append(self.name_or_block())
            if not self.accept(","):
                return tuple(found)

    def name_or_block(self) -> str:
        """A name, or the name of a common block in its slashes."""
        if not self.accept("/"):
            return self.expect_name("a name")
        block = self.expect_name("the name of a common block")
        self.expect("/")
        return f"/{block}/"

    def shape(self) -> tuple[d.Bound, ...]:
        """Explicit bounds."""
        self.expect("(")
        bounds: list[d.Bound] = []
        if self.accept(")"):
            return ()
        while True:
            lower, upper = None, self.expression()
            if self.accept(":"):
                lower, upper = upper, self.expression()
            bounds.append(d.Bound(lower=lower, upper=upper))
            if not self.accept(","):
                self.expect(")")
                return tuple(bounds)

    def axes(self) -> tuple[str, ...]:
        """The dimensions of an alignee: dummies, ``:`` and ``*``."""
        self.expect("(")
        found: list[str] = []
        while True:
            token = self.token
            if token.kind != "name" and token.text not in (":", "*"):
                raise SyntaxProblem(f"expected a dummy index, ':' or '*'{self.found()}", token)
            if token.kind == "name" and token.text in found:
                raise SyntaxProblem(f"the dummy index {token.text} occurs twice", token)
            found.append(self.advance().text)
            if not self.accept(","):
                self.expect(")")
                return tuple(found)


class Clause(Struct, frozen=True):
    """An ALIGN or DISTRIBUTE whose array is not known yet (its name stands after ``::``)."""

    align: d.Align | None = None
    distribute: d.Distribute | None = None

    def bound_to(self, name: str, span: Span) -> d.Align | d.Distribute:
        """The directive for the array `name`, which stands at `span`."""
        if self.align is not None:
            return replace(self.align, alignee=name, span=span)
        assert self.distribute is not None
        return replace(self.distribute, distributee=name, span=span)


def align_clause(parser: ClauseParser, *, with_axes: bool = True) -> Clause:
    """``[(axes)] WITH target``."""
    span = parser.source.span()
    axes = parser.axes() if with_axes and parser.token.text == "(" else None
    parser.expect("with", " and the target of the alignment")
    descriptive = parser.accept("*")
    if descriptive and parser.token.kind == "end":
        raise SyntaxProblem("expected the target of the alignment after '*'", parser.token)
    target = parser.expect_name("the target of the alignment")
    subscripts = _targets(parser) if parser.token.text == "(" else None
    form: d.Descriptive = "descriptive" if descriptive else "prescriptive"
    return Clause(d.Align(span=span, alignee="", axes=axes, target=target, subscripts=subscripts, form=form))


def _targets(parser: ClauseParser) -> tuple[Expr | d.Star, ...]:
    parser.expect("(")
    found: list[Expr | d.Star] = []
    while True:
        if parser.token.text == "*" and parser.token.kind == "op":
            parser.advance()
            found.append(d.Star())
        else:
            found.append(parser.subscript())
        if not parser.accept(","):
            parser.expect(")")
            return tuple(found)


def distribute_clause(parser: ClauseParser) -> Clause:
    """``[[*] (formats)] [ONTO arrangement]``."""
    form: d.Descriptive = "prescriptive"
    span = parser.source.span()
    formats: tuple[d.Format, ...] | None = None
    if parser.accept("*"):
        form = "descriptive" if parser.token.text == "(" else "transcriptive"
    if parser.token.text == "(":
        formats = _formats(parser)
    onto = _onto(parser) if parser.accept("onto") else None
    return Clause(distribute=d.Distribute(span=span, distributee="", formats=formats, onto=onto, form=form))


def _onto(parser: ClauseParser) -> str | None:
    starred = parser.accept("*")
    if starred and parser.token.kind != "name":
        return None
    name = parser.expect_name("the name of a processor arrangement")
    if parser.token.text == "(":
        raise SyntaxProblem(
            "ONTO a part of a processor arrangement is not supported", parser.token, f"write ONTO {name.upper()}"
        )
    return name


def _formats(parser: ClauseParser) -> tuple[d.Format, ...]:
    parser.expect("(")
    found: list[d.Format] = []
    while True:
        found.append(_format(parser))
        if not parser.accept(","):
            parser.expect(")")
            return tuple(found)


def _format(parser: ClauseParser) -> d.Format:
    token = parser.token
    if parser.accept("*"):
        return d.Format(kind="*")
    if token.kind != "name" or token.text.upper() not in _FORMATS:
        hint = did_you_mean(token.text.upper(), _FORMATS) if token.kind == "name" else ""
        raise SyntaxProblem(f"expected BLOCK, CYCLIC or '*'{parser.found()}", token, hint)
    parser.advance()
    size = None
    if parser.accept("("):
        size = parser.expression()
        parser.expect(")")
    match token.text:
        case "block":
            return d.Format(kind="block", size=size)
        case "cyclic":
            return d.Format(kind="cyclic", size=size)
        case "gen_block":
            return d.Format(kind="gen_block", size=size)
        case _:
            return d.Format(kind="indirect", size=size)
