"""The parts of mapping directives: shapes, axes, targets, formats, arrangements.

shape      = "(" [lower ":"] upper { "," ... } ")"
axes       = "(" (name | ":" | "*") { "," ... } ")"
target     = ["*"] name ["(" (subscript | "*") { "," ... } ")"]
formats    = ["*"] "(" (BLOCK ["(" n ")"] | CYCLIC ["(" n ")"] | GEN_BLOCK "(" a ")" | INDIRECT "(" a ")"
             | "*") ... ")"
onto       = ONTO ["*"] [name]
"""

from msgspec.structs import replace

from aag.ir import directives as d
from aag.ir.expressions import Expr
from aag.ir.nearest import did_you_mean
from aag.ir.visitors import names_in
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

    def skip_groups(self) -> None:
        """Pass over ``(...)``, and more of them behind commas."""
        depth = 0
        while self.token.text == "(" or depth:
            if self.token.kind == "end":
                self.expect(")")
            depth += (self.token.text == "(") - (self.token.text == ")")
            self.advance()
            if not depth and self.token.text == "," and self.tokens[self.at + 1].text == "(":
                self.advance()

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


def align_clause(parser: ClauseParser, *, with_axes: bool = True) -> d.Align:
    """``[(axes)] WITH target``; the alignee is added later."""
    span = parser.source.span()
    axes = parser.axes() if with_axes and parser.token.text == "(" else None
    parser.expect("with", " and the target of the alignment")
    descriptive = parser.accept("*")
    if descriptive and parser.token.kind == "end":
        raise SyntaxProblem("expected the target of the alignment after '*'", parser.token)
    target = parser.expect_name("the target of the alignment")
    subscripts = _targets(parser) if parser.token.text == "(" else None
    form: d.Descriptive = "descriptive" if descriptive else "prescriptive"
    return d.Align(span=span, alignee="", axes=axes, target=target, subscripts=subscripts, form=form)


def replicated(aligns: list[d.Align]) -> list[d.Align]:
    """The alignments of a list, whose alignees may differ in their dimensions. Where one lacks an index of the
    others, as ``k(*)`` does in ``ALIGN a(i), k(*) WITH t(i)``, it is replicated along that dimension of the target."""
    indices = {axis for each in aligns for axis in each.axes or () if axis not in (":", "*")}
    found = []
    for each in aligns:
        missing = indices - set(each.axes or indices)
        subscripts = each.subscripts
        if missing and subscripts:
            subscripts = tuple(
                s if isinstance(s, d.Star) or not missing & names_in(s) else d.Star() for s in subscripts
            )
        found.append(replace(each, subscripts=subscripts))
    return found


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


def distribute_clause(parser: ClauseParser) -> d.Distribute:
    """``[[*] (formats)] [ONTO arrangement]``; the distributee is added later."""
    form: d.Descriptive = "prescriptive"
    span = parser.source.span()
    formats: tuple[d.Format, ...] | None = None
    if parser.accept("*"):
        form = "descriptive" if parser.token.text == "(" else "transcriptive"
    if parser.token.text == "(":
        formats = _formats(parser)
    onto = _onto(parser) if parser.accept("onto") else None
    return d.Distribute(span=span, distributee="", formats=formats, onto=onto, form=form)


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
