"""The grammar of HPF directives.

    directive  = PROCESSORS | TEMPLATE | ALIGN | DISTRIBUTE | REALIGN | REDISTRIBUTE | DYNAMIC | INHERIT
               | [NO] SEQUENCE | INDEPENDENT | combined          ("::" is allowed before names)
    combined   = attribute { "," attribute } "::" entity { "," entity }
    attribute  = PROCESSORS | TEMPLATE | DIMENSION "(" shape ")" | DYNAMIC | INHERIT | [NO] SEQUENCE
               | ALIGN [axes] WITH target | DISTRIBUTE [formats] [ONTO arrangement]      (also with RE in front)
               | SHADOW [...] | RANGE [...]
    entity     = name [shape]; behind ALIGN: name [axes]

`mapping_clauses` holds axes, targets, formats and arrangements, `independent` the loop directive. Directives
of HPF 2.0 that do not change what is predicted are read, named in a warning, and passed over.
"""

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import directives as d
from aag.ir.nearest import did_you_mean
from aag.source.expression_parser import SyntaxProblem
from aag.source.independent import parse_independent, parse_on
from aag.source.joining import DirectiveText
from aag.source.keywords import KEYWORDS, WITHOUT_EFFECT
from aag.source.mapping_clauses import ClauseParser, align_clause, distribute_clause, replicated
from aag.source.tokens import Token

_CLAUSES = {
    **dict.fromkeys(("new", "reduction"), "it is a clause: write INDEPENDENT, {}(...)"),
    **dict.fromkeys(("onto", "with"), "{} continues a directive: end the line before it with &"),
}
"""Words that begin no directive -> where they belong."""

_EXAMPLES = {
    "processors": "PROCESSORS P(2,2)",
    "template": "TEMPLATE T(N,N)",
    "align": "ALIGN A(I,J) WITH T(I,J)",
    "distribute": "DISTRIBUTE T(BLOCK,*) ONTO P, or DISTRIBUTE (BLOCK,*) ONTO P :: A",
    "independent": "INDEPENDENT, NEW(X), REDUCTION(S)",
    "dynamic": "DYNAMIC A",
}


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
    align: d.Align | None = None
    distribute: d.Distribute | None = None
    again: bool = False
    dynamic: bool = False
    inherit: bool = False
    sequential: bool | None = None
    without_effect: list[str] = field(default_factory=list)


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


def with_example(read: Read) -> Read:
    """`read` with an example of the directive where a finding has no hint."""
    word = read.text.text.text.split("(")[0].split()
    example = _EXAMPLES.get(word[0].lower() if word else "", "DISTRIBUTE A(BLOCK)")
    hinted = tuple(replace(each, hint=each.hint or f"for example !HPF$ {example}") for each in read.diagnostics)
    return replace(read, diagnostics=hinted)


class _DirectiveParser(ClauseParser):
    """One directive, from its first keyword to its last token."""

    def directive(self, text: DirectiveText) -> Read:
        first = self.token
        if first.kind != "name":
            raise SyntaxProblem(f"expected a directive{self.found()}", first)
        if first.text == "independent":
            return self.ended(Read(text, independent=parse_independent(self)))
        if first.text in ("on", "onhome"):
            parse_on(self)
            return self._passed_over(text, first)
        if first.text in WITHOUT_EFFECT:
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
            belongs = _CLAUSES.get(word.text, "").format(word.text.upper())
            hint = belongs or did_you_mean(word.text.upper(), KEYWORDS)
            raise SyntaxProblem(f"unknown directive {word.text.upper()}", word, hint)

    def _passed_over(self, text: DirectiveText, first: Token) -> Read:
        name = " ".join(t.text for t in self.tokens[:2]) if first.text == "end" else first.text
        return Read(text, diagnostics=(self._ignored(name),))

    def _ignored(self, name: str) -> Diagnostic:
        return Diagnostic(
            code="W105",
            message=f"the prediction ignores the directive {name.upper()}",
            span=self.source.span(),
            hint="the owners compute, as without it",
        )

    def _is_combined(self) -> bool:
        if self.tokens[1].text == "::":  # DISTRIBUTE :: a(BLOCK)
            return False
        if self.token.text in ("distribute", "redistribute") and self.tokens[1].text == "(":
            return True  # DISTRIBUTE (BLOCK) a, where :: is often left out
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
        if self.token.kind != "name" or attributes.distribute is None:
            self.expect("::")
        mapping: list[d.Directive] = []
        aligns: list[d.Align] = []
        distributes: list[d.Distribute] = []
        names: list[str] = []
        while True:
            first = self.token
            name = self.name_or_block()
            axes, shape = None, attributes.shape
            if self.token.text == "(" and attributes.align:
                axes = self.axes()
            elif self.token.text == "(":
                shape = self.shape()
            names.append(name)
            span = self.span(first)
            mapping += self._declared(attributes, name, shape, span)
            if attributes.align:
                align = attributes.align
                aligns.append(replace(align, alignee=name, axes=align.axes if axes is None else axes, span=span))
            if attributes.distribute:
                distributes.append(replace(attributes.distribute, distributee=name, span=span))
            if not self.accept(","):
                break
        mapping += self._listed(attributes, tuple(names))
        said = [*map(self._ignored, attributes.without_effect)]
        return self._mapped(text, mapping, aligns, distributes, said, again=attributes.again)

    def _mapped(
        self,
        text: DirectiveText,
        mapping: list[d.Directive],
        aligns: list[d.Align],
        distributes: list[d.Distribute],
        said: list[Diagnostic],
        *,
        again: bool,
    ) -> Read:
        """What a directive says, with the alignments of its list completed. `again`: it remaps."""
        aligned = replicated(aligns)
        for before, after in zip(aligns, aligned, strict=True):
            if before.subscripts != after.subscripts:
                said.append(
                    Diagnostic(
                        code="W112",
                        message=f"replicating {after.alignee} along {after.target}: it lacks an index of the list",
                        span=after.span,
                        hint=f"align {after.alignee} in a directive of its own, with * in {after.target}",
                    )
                )
        if again:
            return Read(text, tuple(mapping), (*aligned, *distributes), diagnostics=tuple(said))
        return Read(text, (*mapping, *aligned, *distributes), diagnostics=tuple(said))

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
            case "shadow" | "range" as kind:
                into.without_effect.append(kind)
                self.skip_groups()
            case _:
                hint = did_you_mean(word.text.upper(), KEYWORDS)
                raise SyntaxProblem(f"unknown attribute {word.text.upper()}", word, hint)

    # --- statement form ---

    def _statement(self, text: DirectiveText) -> Read:
        word = self.advance()
        match word.text:
            case "processors" | "template" as kind:
                return Read(text, tuple(self._shaped(kind)))
            case "align" | "realign" as kind:
                return self._mapped(text, [], self._aligns(), [], [], again=kind == "realign")
            case "distribute" | "redistribute" as kind:
                return self._mapped(text, [], [], self._distributes(), [], again=kind == "redistribute")
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
        self.accept("::")
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
        alignees: list[tuple[str, tuple[str, ...] | None]] = []
        self.accept("::")
        while True:
            name = self.expect_name("the array to align")
            alignees.append((name, self.axes() if self.token.text == "(" else None))
            if not self.accept(","):
                break
        clause = align_clause(self, with_axes=False)
        span = self.source.span()
        return [replace(clause, alignee=name, axes=axes, span=span) for name, axes in alignees]

    def _distributes(self) -> list[d.Distribute]:
        """``a(BLOCK) ONTO p``, ``a *``, and the list extension ``a(BLOCK), b(CYCLIC)``."""
        found: list[d.Distribute] = []
        self.accept("::")
        while True:
            first = self.token
            name = self.expect_name("the array or template to distribute")
            found.append(replace(distribute_clause(self), distributee=name, span=self.span(first)))
            if not self.accept(","):
                return found
