"""What resolving finds: problems and notes are collected, so that one run reports them all."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aag.diagnostics import NOWHERE, Diagnostic, SourceError, Span, UnresolvedError
from aag.ir.evaluate import NUMBER_OF_PROCESSORS, Unknown
from aag.ir.expressions import Var
from aag.ir.nearest import did_you_mean
from aag.ir.statements import Assign, Do
from aag.ir.units import Unit
from aag.ir.visitors import walk_statements
from aag.wording import is_name


class Report:
    """Collects the findings of one resolution, of a `unit`."""

    def __init__(self, comments: Mapping[str, int] = MappingProxyType({}), unit: Unit | None = None) -> None:
        self._comments = comments
        self._unit = unit
        self._found: list[Diagnostic] = []
        self._missing: dict[Diagnostic, str] = {}
        self._said: set[tuple[str, str]] = set()

    def add(self, code: str, message: str, span: Span = NOWHERE, hint: str = "") -> None:
        """Note one finding."""
        self._found.append(Diagnostic(code=code, message=message, span=span, hint=hint))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Note the findings of someone else."""
        self._found.extend(diagnostics)

    def unknown_name(self, what: str, name: str, span: Span, candidates: Iterable[str]) -> None:
        """A name that is not declared as `what`, once."""
        if (what, name) in self._said:
            return
        self._said.add((what, name))
        self.add("E301", f"there is no {what} {name}", span, self.known(name, candidates))

    def known(self, name: str, candidates: Iterable[str]) -> str:
        """A hint about an unknown name: the comment that would declare it, else what is spelled like it."""
        if name in self._comments:
            return f"line {self._comments[name]} would declare it, but is a comment: begin it with !HPF$"
        return nearest(name, candidates)

    def unknown_value(self, what: str, error: Unknown, span: Span) -> None:
        """A value that `what` needs and that cannot be computed, once."""
        if ("value", error.name) in self._said:
            return
        self._said.add(("value", error.name))
        settable = is_name(error.name) and not error.why
        way_out = f"give it with ‹set {error.name}=VALUE›" if settable else ""
        if error.name == NUMBER_OF_PROCESSORS:
            way_out, settable = "give the number of processors with ‹procs›", False
        elif settable and self._counts(error.name):
            way_out, settable = f"{error.name} is the variable of a loop: give bounds that do not depend on it", False
        elif settable and self._computes(error.name):
            way_out = f"the program computes it: ‹set {error.name}=VALUE› overrides its value"
        self.add("E312", as_written(f"{what}: {error}"), span, way_out)
        if settable:
            self._missing[self._found[-1]] = error.name

    def declares(self, name: str) -> bool:
        """Whether the unit declares a name, as far as it is known."""
        return self._unit is None or self._unit.entity(name) is not None

    def _computes(self, name: str) -> bool:
        """Whether the unit assigns a value to a variable."""
        statements = () if self._unit is None else walk_statements(self._unit.body)
        targets = (each.target for each in statements if isinstance(each, Assign))
        return any(isinstance(each, Var) and each.name == name for each in targets)

    def _counts(self, name: str) -> bool:
        """Whether a name is the variable of a loop."""
        statements = () if self._unit is None else walk_statements(self._unit.body)
        return any(isinstance(each, Do) and each.var == name for each in statements)

    def without_value(self, names: Iterable[str]) -> None:
        """Names whose values are missing for a reason that is reported already."""
        self._said |= {("value", name) for name in names}

    def notes(self) -> tuple[Diagnostic, ...]:
        """The findings, once.

        Raises:
            SourceError: there are errors among them; it carries these alone.
            UnresolvedError: nothing but values is missing.
        """
        unique = tuple(dict.fromkeys(self._found))
        errors = [each for each in unique if each.is_error]
        errors.sort(key=lambda each: (each.span.line, each.span.column))
        if errors and all(each in self._missing for each in errors):
            raise UnresolvedError(errors, (self._missing[each] for each in errors))
        if errors:
            raise SourceError(errors)
        return unique


def as_written(text: str) -> str:
    """A text with names of procedures that took the place of their calls, as the source has them: ``m$work`` is m in
    work, ``a$2`` another a."""
    return re.sub(r"\b(\w+)\$([a-z]\w*)", r"\1 in \2", re.sub(r"\b(\w+)\$\d+\b", r"\1", text))


def nearest(name: str, candidates: Iterable[str]) -> str:
    """A hint: the candidate that is spelled most like `name`; else the candidates, if they are few."""
    known = sorted(set(candidates))
    return did_you_mean(name, known) or (f"known: {', '.join(known)}" if 0 < len(known) <= 8 else "")


def place(expr_span: Span, directive_span: Span) -> Span:
    """The more exact of two places."""
    return expr_span if expr_span.line else directive_span
