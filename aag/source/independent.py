"""INDEPENDENT and its clauses.

independent = INDEPENDENT ["(" index { "," index } ")"] { "," clause }
clause      = NEW "(" names ")" | REDUCTION "(" [operator ":"] names ")" | (ON [HOME] | ONHOME) "(" reference ")"
            | RESIDENT ["(" names ")"]
"""

from aag.ir.directives import Independent
from aag.ir.expressions import Expr
from aag.ir.nearest import did_you_mean
from aag.source.expression_parser import SyntaxProblem
from aag.source.mapping_clauses import ClauseParser

_CLAUSES = ("NEW", "REDUCTION", "ON", "RESIDENT")


def parse_independent(parser: ClauseParser) -> Independent:
    """The directive, whose keyword is the next token."""
    parser.advance()
    indices: tuple[str, ...] = ()
    if parser.token.text == "(":
        indices = _names(parser)
    new: tuple[str, ...] = ()
    reductions: tuple[str, ...] = ()
    home: Expr | None = None
    while parser.accept(",") or parser.token.kind == "name":
        token = parser.token
        match parser.expect_name("a clause of INDEPENDENT"):
            case "new":
                new += _names(parser)
            case "reduction":
                reductions += _reduction(parser)
            case "on" | "onhome":
                home = parse_home(parser)
            case "resident":
                if parser.token.text == "(":
                    _names(parser)
            case word:
                hint = did_you_mean(word.upper(), _CLAUSES)
                raise SyntaxProblem(f"unknown clause {word.upper()} of INDEPENDENT", token, hint)
    return Independent(span=parser.source.span(), indices=indices, new=new, reductions=reductions, home=home)


def parse_on(parser: ClauseParser) -> None:
    """The directive ``ON HOME (reference) [, RESIDENT ...] [BEGIN]``, whose keyword is the next token."""
    parser.advance()
    parse_home(parser)


def parse_home(parser: ClauseParser) -> Expr:
    """``[HOME] (reference)``, the parentheses being often left out."""
    parser.accept("home")
    if parser.token.kind == "name":
        return parser.expression()
    parser.expect("(")
    home = parser.expression()
    parser.expect(")")
    return home


def _names(parser: ClauseParser) -> tuple[str, ...]:
    parser.expect("(")
    found = parser.names() if parser.token.text != ")" else ()
    parser.expect(")")
    return found


def _reduction(parser: ClauseParser) -> tuple[str, ...]:
    """The variables of REDUCTION; an operator in front (``+:``, ``MAX:``) is what the statement says
    anyway."""
    parser.expect("(")
    at = parser.at
    if parser.token.kind in ("op", "name"):
        parser.advance()
        if not parser.accept(":"):
            parser.at = at
    found = parser.names()
    parser.expect(")")
    return found
