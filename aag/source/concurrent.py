"""DO CONCURRENT: what the parser does not know of its head.

head     = DO CONCURRENT "(" [type "::"] controls ["," mask] ")" { locality }
type     = INTEGER [ "(" ["KIND" "="] kind ")" | "*" bytes ]
locality = (LOCAL | LOCAL_INIT | SHARED) "(" names ")" | REDUCE "(" operation ":" names ")" | DEFAULT "(" NONE ")"

The type and the localities are read here and blanked out of the text that the parser gets, so that offsets stay. The
type of a FORALL is blanked out, too: its indices are no variables of the program.
"""

import re

from msgspec import Struct

from aag.diagnostics import Diagnostic, Span
from aag.ir.nearest import did_you_mean
from aag.source.classify import after_group
from aag.source.expression_parser import SyntaxProblem
from aag.source.joining import Text
from aag.source.mapping_clauses import ClauseParser

RULE = "E680"
"""The code of a DO CONCURRENT that breaks a rule of the language."""
REDUCE_OPERATIONS = ("+", "*", ".and.", ".or.", ".eqv.", ".neqv.", "max", "min", "iand", "ior", "ieor")

_HEAD = re.compile(
    r"(?:[a-z_]\w*\s*:)?\s*(?:do\s*(?:\d+\s*,?)?\s*concurrent|(?P<forall>forall))\s*(?=\()", re.IGNORECASE
)
_TYPE = re.compile(
    r"\(\s*(?P<type>integer\s*(?:\*\s*(?P<bytes>\d+)|\(\s*(?:kind\s*=\s*)?(?P<kind>\w+)\s*\))?\s*::)", re.IGNORECASE
)
_CLAUSES = ("LOCAL", "LOCAL_INIT", "SHARED", "REDUCE", "DEFAULT")


class Named(Struct, frozen=True):
    """A variable in a locality, and where it is named."""

    name: str
    span: Span


class Reduced(Struct, frozen=True):
    """The variables of one REDUCE."""

    operation: str
    names: tuple[Named, ...]


class Head(Struct, frozen=True, kw_only=True):
    """What the head of a DO CONCURRENT says besides its controls. `type`: that of its indices, as written; `kind`: its
    kind, or its bytes; `controls`: the parenthesis without the type."""

    controls: str
    type: str = ""
    kind: str = ""
    local: tuple[Named, ...] = ()
    initial: tuple[Named, ...] = ()
    shared: tuple[Named, ...] = ()
    reduced: tuple[Reduced, ...] = ()
    no_default: Span | None = None

    @property
    def is_plain(self) -> bool:
        """Whether each compiler of Fortran 2008 reads it."""
        return not (self.type or self.local or self.initial or self.shared or self.reduced or self.no_default)

    @property
    def listed(self) -> tuple[Named, ...]:
        """All variables with a locality."""
        return (*self.local, *self.initial, *self.shared, *(each for part in self.reduced for each in part.names))


def is_concurrent(text: str) -> bool:
    """Whether a statement that opens a loop is DO CONCURRENT."""
    found = _HEAD.match(text)
    return found is not None and found["forall"] is None


def without_head(source: Text, text: str) -> tuple[str, Head | None, Diagnostic | None]:
    """`text`, which has the offsets of `source`, as the parser reads it; what has been taken out of a DO CONCURRENT,
    and what is wrong with that."""
    found = _HEAD.match(text)
    close = -1 if found is None else after_group(text, found.end())
    if found is None or close < 0:
        return text, None, None
    typed = _TYPE.match(text, found.end())
    kept = text if typed is None else _blanked(text, typed.start("type"), typed.end("type"))
    if found["forall"]:
        return kept, None, None
    parser = _HeadParser(source, close)
    head = Head(controls=f"({kept[found.end() + 1 : close].lstrip()}")
    if typed is not None:
        head = Head(controls=head.controls, type=_spelt(typed), kind=typed["kind"] or typed["bytes"] or "")
    problem: Diagnostic | None = None
    try:
        head = parser.localities(head)
    except SyntaxProblem as wrong:
        example = "for example LOCAL(x) SHARED(a) REDUCE(+: s)"
        span = parser.span(wrong.token, wrong.token)
        problem = Diagnostic(code=RULE, message=wrong.message, span=span, hint=wrong.hint or example)
    return _blanked(kept, close, len(kept)).rstrip(), head, problem


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _spelt(typed: re.Match[str]) -> str:
    return re.sub(r"\s+", "", typed["type"].lower()).removesuffix("::")


class _HeadParser(ClauseParser):
    """The localities behind the parenthesis of the head."""

    def localities(self, head: Head) -> Head:
        """`head` with them."""
        local, initial, shared, reduced = list[Named](), list[Named](), list[Named](), list[Reduced]()
        no_default = head.no_default
        while self.token.kind != "end":
            first = self.token
            match self.expect_name("a locality such as LOCAL"):
                case "local":
                    local += self._listed()
                case "local_init":
                    initial += self._listed()
                case "shared":
                    shared += self._listed()
                case "reduce":
                    reduced.append(self._reduce())
                case "default":
                    self.expect("(")
                    self.expect("none")
                    no_default = self.span(first)
                    self.expect(")")
                case word:
                    hint = did_you_mean(word.upper(), _CLAUSES)
                    raise SyntaxProblem(f"unknown locality {word.upper()} of DO CONCURRENT", first, hint)
        return Head(
            controls=head.controls,
            type=head.type,
            kind=head.kind,
            local=tuple(local),
            initial=tuple(initial),
            shared=tuple(shared),
            reduced=tuple(reduced),
            no_default=no_default,
        )

    def _listed(self) -> list[Named]:
        self.expect("(")
        found = self._names()
        self.expect(")")
        return found

    def _names(self) -> list[Named]:
        found = list[Named]()
        while True:
            token = self.token
            found.append(Named(self.expect_name("a variable"), self.span(token, token)))
            if not self.accept(","):
                return found

    def _reduce(self) -> Reduced:
        self.expect("(")
        token = self.advance()
        if token.text not in REDUCE_OPERATIONS:
            hint = f"the operations are {', '.join(each.upper() for each in REDUCE_OPERATIONS)}"
            raise SyntaxProblem(f"expected an operation of REDUCE but found '{token.text}'", token, hint)
        self.expect(":")
        names = tuple(self._names())
        self.expect(")")
        return Reduced(token.text, names)


class ConcurrentHead(Struct, frozen=True):
    """A DO CONCURRENT as it was read: its head, its indices, and whether it has a mask."""

    head: Head
    indices: tuple[str, ...]
    masked: bool
