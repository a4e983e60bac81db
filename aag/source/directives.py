"""The grammar of HPF directives.

    directive  = PROCESSORS | TEMPLATE | ALIGN | DISTRIBUTE | REALIGN | REDISTRIBUTE | DYNAMIC | INHERIT
               | [NO] SEQUENCE | INDEPENDENT | combined
    combined   = attribute { "," attribute } "::" entity { "," entity }
    attribute  = PROCESSORS | TEMPLATE | DIMENSION "(" shape ")" | DYNAMIC | INHERIT | [NO] SEQUENCE
               | ALIGN [axes] WITH target | DISTRIBUTE [formats] [ONTO arrangement]      (also with RE in
               front)

`mapping_clauses` holds axes, targets, formats and arrangements, `independent` the loop directive. Directives
of HPF 2.0 that do not change what is predicted are read, named in a warning, and passed over.
"""

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import directives as d
from aag.ir.nearest import did_you_mean
from aag.source.expression_parser import SyntaxProblem
from aag.source.independent import parse_independent, parse_on
from aag.source.joining import DirectiveText
from aag.source.mapping_clauses import Clause, ClauseParser, align_clause, distribute_clause
from aag.source.tokens import Token

KEYWORDS = (
    "PROCESSORS",
    "TEMPLATE",
    "ALIGN",
    "DISTRIBUTE",
    "REALIGN",
    "REDISTRIBUTE",
    "DYNAMIC",
    "INHERIT",
    "SEQUENCE",
    "NO SEQUENCE",
    "INDEPENDENT",
    "DIMENSION",
)
"""The directives that are read."""

_PASSED_OVER = ("shadow", "resident", "task_region", "end", "range", "hpf_local", "memory", "asynchronous", "assume")


class Read(Struct, frozen=True):
    """What one directive says. At most one kind of it: mapping directives, remappings, or a loop
    directive."""

    text: DirectiveText
    mapping: tuple[d.Directive, ...] = ()
    remaps: tuple[d.Align | d.Distribute, ...] = ()
    independent: d.Independent | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def span(self) -> Span:
        """The place of the whole directive."""
        return self.text.text.span()


class _Attributes(Struct):
    """The attributes of a combined directive, collected from the left of ``::``."""

    kind: str = ""
    shape: tuple[d.Bound, ...] = ()
    align: Clause | None = None
    distribute: Clause | None = None
    again: bool = False
    dynamic: bool = False
    inherit: bool = False
    sequential: bool | None = None


def read_directive(text: DirectiveText, lines: dict[tuple[str, int], str]) -> Read:
    """Parse one directive. A syntax error becomes a diagnostic of the answer; `lines` are shown with it."""
    parser = _DirectiveParser(text.text)
    try:
        return parser.directive(text)
    except SyntaxProblem as problem:
        span = parser.span(problem.token, problem.token)
        code = "E140" if problem.message.startswith("unknown directive") else "E141"
        finding = Diagnostic(
            code=code,
            message=problem.message,
            span=span,
            hint=problem.hint,
            source_line=lines.get((span.file, span.line), ""),
        )
        return Read(text, diagnostics=(finding,))


class _DirectiveParser(ClauseParser):
    """One directive, from its first keyword to its last token."""

    def directive(self, text: DirectiveText) -> Read:
        first = self.token
        if first.kind != "name":
            raise SyntaxProblem(f"expected a directive{self.found()}", first)
        if first.text == "independent":
            return self.ended(Read(text, independent=parse_independent(self)))
        if first.text == "on":
            parse_on(self)
            return self._passed_over(text, first)
        if first.text in _PASSED_OVER:
            return self._passed_over(text, first)
        self._known(first)
        if self._is_combined():
            return self.ended(self._combined(text))
        return self.ended(self._statement(text))

    def ended(self, read: Read) -> Read:
        """`read`, if nothing is left."""
        if self.token.kind != "end":
            raise SyntaxProblem(f"expected the end of the directive{self.found()}", self.token)
        return read

    def _known(self, word: Token) -> None:
        if word.text.upper() not in KEYWORDS and word.text not in ("no", "nosequence"):
            hint = did_you_mean(word.text.upper(), KEYWORDS)
            raise SyntaxProblem(f"unknown directive {word.text.upper()}", word, hint)

    def _passed_over(self, text: DirectiveText, first: Token) -> Read:
        name = " ".join(t.text for t in self.tokens[:2]) if first.text == "end" else first.text
        finding = Diagnostic(
            code="W105",
            message=f"the prediction ignores the directive {name.upper()}",
            span=self.source.span(),
            hint="the owners compute, as without it",
        )
        return Read(text, diagnostics=(finding,))

    def _is_combined(self) -> bool:
        depth = 0
        for token in self.tokens:
            if token.kind == "op":
                depth += (token.text in ("(", "(/")) - (token.text in (")", "/)"))
                if token.text == "::" and depth == 0:
                    return True
        return False

    # --- combined form ---

    def _combined(self, text: DirectiveText) -> Read:
        attributes = _Attributes()
        self._attribute(attributes)
        while self.accept(","):
            self._attribute(attributes)
        self.expect("::")
        mapping: list[d.Directive] = []
        remaps: list[d.Align | d.Distribute] = []
        names: list[str] = []
        while True:
            first = self.token
            name = self.name_or_block()
            shape = self.shape() if self.token.text == "(" else ()
            names.append(name)
            span = self.span(first)
            mapping += self._declared(attributes, name, shape or attributes.shape, span)
            clauses = [c.bound_to(name, span) for c in (attributes.align, attributes.distribute) if c]
            if attributes.again:
                remaps += clauses
            else:
                mapping += clauses
            if not self.accept(","):
                break
        return Read(text, (*mapping, *self._listed(attributes, tuple(names))), tuple(remaps))

    def _declared(self, a: _Attributes, name: str, shape: tuple[d.Bound, ...], span: Span) -> list[d.Directive]:
        if a.kind == "processors":
            return [d.Processors(span=span, name=name, shape=shape)]
        if a.kind == "template":
            return [d.Template(span=span, name=name, shape=shape)]
        return []

    def _listed(self, a: _Attributes, names: tuple[str, ...]) -> list[d.Directive]:
        span = self.source.span()
        found: list[d.Directive] = []
        if a.dynamic:
            found.append(d.Dynamic(span=span, names=names))
        if a.inherit:
            found.append(d.Inherit(span=span, names=names))
        if a.sequential is not None:
            found.append(d.Sequence(span=span, names=names, sequential=a.sequential))
        return found

    def _attribute(self, into: _Attributes) -> None:
        word = self.token
        self.expect_name("an attribute")
        match word.text:
            case "processors" | "template" as kind:
                into.kind = kind
            case "dimension":
                into.shape = self.shape()
            case "dynamic":
                into.dynamic = True
            case "inherit":
                into.inherit = True
            case "sequence":
                into.sequential = True
            case "nosequence":
                into.sequential = False
            case "no":
                self.expect("sequence")
                into.sequential = False
            case "align" | "realign" as kind:
                into.align = align_clause(self)
                into.again = kind == "realign"
            case "distribute" | "redistribute" as kind:
                into.distribute = distribute_clause(self)
                into.again = kind == "redistribute"
            case _:
                hint = did_you_mean(word.text.upper(), KEYWORDS)
                raise SyntaxProblem(f"unknown attribute {word.text.upper()}", word, hint)

    # --- statement form ---

    def _statement(self, text: DirectiveText) -> Read:
        word = self.advance()
        match word.text:
            case "processors" | "template" as kind:
                return Read(text, tuple(self._shaped(kind)))
            case "align":
                return Read(text, tuple(self._aligns()))
            case "realign":
                return Read(text, remaps=tuple(self._aligns()))
            case "distribute":
                return Read(text, tuple(self._distributes()))
            case "redistribute":
                return Read(text, remaps=tuple(self._distributes()))
            case "dynamic":
                return Read(text, (d.Dynamic(span=self.source.span(), names=self.names()),))
            case "inherit":
                return Read(text, (d.Inherit(span=self.source.span(), names=self.names()),))
            case "sequence" | "nosequence" | "no" as kind:
                if kind == "no":
                    self.expect("sequence")
                names = self.names() if self.token.kind != "end" else ()
                sequential = kind == "sequence"
                return Read(text, (d.Sequence(span=self.source.span(), names=names, sequential=sequential),))
        raise SyntaxProblem("DIMENSION needs '::' and names", self.token)

    def _shaped(self, kind: str) -> list[d.Directive]:
        found: list[d.Directive] = []
        while True:
            first = self.token
            what = "processor arrangement" if kind == "processors" else "template"
            name = self.expect_name(f"the name of a {what}")
            shape = self.shape() if self.token.text == "(" else ()
            span = self.span(first)
            if kind == "processors":
                found.append(d.Processors(span=span, name=name, shape=shape))
            else:
                found.append(d.Template(span=span, name=name, shape=shape))
            if not self.accept(","):
                return found

    def _aligns(self) -> list[d.Align]:
        """``a(i), b(i) WITH t(i)`` and ``a WITH t``."""
        alignees: list[tuple[str, tuple[str, ...] | None, Span]] = []
        while True:
            first = self.token
            name = self.expect_name("the array to align")
            axes = self.axes() if self.token.text == "(" else None
            alignees.append((name, axes, self.span(first)))
            if not self.accept(","):
                break
        clause = align_clause(self, with_axes=False)
        return [
            replace(clause.align, alignee=name, axes=axes, span=self.source.span())
            for name, axes, _ in alignees
            if clause.align
        ]

    def _distributes(self) -> list[d.Distribute]:
        """``a(BLOCK) ONTO p``, ``a *``, and the list extension ``a(BLOCK), b(CYCLIC)``."""
        found: list[d.Distribute] = []
        while True:
            first = self.token
            name = self.expect_name("the array or template to distribute")
            clause = distribute_clause(self)
            if clause.distribute:
                found.append(replace(clause.distribute, distributee=name, span=self.span(first)))
            if not self.accept(","):
                return found
