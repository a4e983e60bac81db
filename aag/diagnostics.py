"""Where something stands in the source, and what is wrong with it.

A `Span` is a place in a file, a `Diagnostic` one finding with its place, and `SourceError` the error that
carries one or more of them out of this room. Rendering (file, line, caret, hint) is done in `esp.output`.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from aag.wording import is_name


class Span(Struct, frozen=True):
    """A stretch of source text. Lines and columns count from 1; column 0 means that only the line is known.

    `end_column` is the column behind the last character; an end of 0 is not known. `call`: the call through which a
    statement of a procedure is reached; None: it is of the main program, or of no call in particular. Spans of one
    place are equal, whatever calls lead there.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    call: "CallSite | None" = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self._place() == other._place()

    def __hash__(self) -> int:
        return hash(self._place())

    def _place(self) -> tuple[str, int, int, int, int]:
        return self.file, self.line, self.column, self.end_line, self.end_column

    @property
    def is_option(self) -> bool:
        """Whether it is a place in the text of an option, such as an alignment, and not in the source."""
        return self.file.startswith("‹")

    def line_from(self, other: "Span") -> str:
        """``line 3``, with its file where `other` is in another one.

        >>> Span("a.f", 3).line_from(Span("b.f", 1))
        'line 3 of a.f'
        """
        return f"line {self.line}" + (f" of {self.file}" if self.file != other.file else "")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


class CallSite(Struct, frozen=True, eq=False):
    """A call that the statements of its procedure replace: the name of the procedure as the source writes it, and where
    the call is, which may itself be reached through a call. One object for each call, so it compares by identity."""

    procedure: str
    at: Span


def chain(site: CallSite | None) -> Iterator[CallSite]:
    """The calls that lead to a statement, innermost first."""
    while site is not None:
        yield site
        site = site.at.call


NOWHERE = Span("", 0)
"""The span of what no source line asked for (for example a command-line override)."""


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One finding: `code` such as ``E102`` (error) or ``W201`` (warning), what, where, and a way out.

    Message and hint name what a user can give as ``‹procs›`` or ``‹set N=4›``: name and value of a parameter of a
    prediction. Who shows them spells it: the command as options, Python as arguments.
    """

    code: str
    message: str
    span: Span = NOWHERE
    hint: str = ""
    source_line: str = ""

    @property
    def is_error(self) -> bool:
        """Whether the finding prevents a prediction."""
        return self.code.startswith("E")

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span.file or self.span.line else ""
        return f"{place}{self.code} {self.message}" + (f" ({self.hint})" if self.hint else "")


class SourceError(Exception):
    """The program, its directives or its values prevent a result (exit code 1, Def 20)."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(each) for each in self.diagnostics))


class UnresolvedError(SourceError):
    """Variables that decide shapes, mappings or the flow of the program have no value (D8).

    `names`: the variable that each of `diagnostics` needs. `assumable`: something can be assumed instead, where they
    cannot be computed.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], names: Iterable[str], *, assumable: bool = False) -> None:
        self.names, self.assumable = tuple(names), assumable
        super().__init__(diagnostics)

    @property
    def missing(self) -> dict[str, Diagnostic]:
        """The variables, and the first place that needs each of them, for a prompt; without functions."""
        first: dict[str, Diagnostic] = {}
        for name, found in zip(self.names, self.diagnostics, strict=True):
            if is_name(name):
                first.setdefault(name, found)
        return first
