"""What USE makes known in a program unit."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from aag.diagnostics import Diagnostic, Span
from aag.ir.expressions import IntLit, Var
from aag.ir.nearest import did_you_mean
from aag.source.declarations import Declarations
from aag.source.intrinsic_modules import INTRINSIC_CONSTANTS, INTRINSIC_MODULES

_WORD = re.compile(r"[a-z]\w*")


class Module(Struct, frozen=True):
    """A module of the source: its declarations, and all words of its text and of the modules that it uses."""

    names: Declarations
    words: frozenset[str]

    @staticmethod
    def of(names: Declarations, texts: Iterable[str], modules: Mapping[str, "Module"]) -> "Module":
        """The module with these statements."""
        words = {word for text in texts for word in _WORD.findall(text.lower())}
        used = [modules[name].words for name in names.uses if name in modules]
        return Module(names, frozenset(words).union(*used))


class UseStatement(Struct, frozen=True):
    """A USE statement. `named`: the names of the module in its list; `only`: those that ONLY admits, None without it;
    `renamed`: new names and what they stand for."""

    module: str
    named: tuple[str, ...]
    only: frozenset[str] | None
    renamed: Mapping[str, str]
    span: Span

    @staticmethod
    def of(node: Any, span: Span) -> "UseStatement":
        """The statement as fparser reads it."""
        items = () if node.items[4] is None else getattr(node.items[4], "items", (node.items[4],))
        plain = [str(each).lower() for each in items if type(each).__name__ == "Name"]
        renames = [each.items for each in items if type(each).__name__ == "Rename" and each.items[0] is None]
        renamed = {str(local).lower(): str(name).lower() for _, local, name in renames}
        only = frozenset(plain) if "ONLY" in str(node.items[3]).upper() else None
        return UseStatement(str(node.items[2]).lower(), (*plain, *renamed.values()), only, renamed, span)

    def bring_in(self, names: Declarations, modules: Mapping[str, Module]) -> None:
        """Make known in `names` what the statement brings from a module of the language or of the source."""
        module = modules.get(self.module)
        if module is not None:
            names.adopt_module(module.names, self.only)
            self._check(module, names)
        elif self.module not in INTRINSIC_MODULES:
            names.open = True
        else:
            known = INTRINSIC_CONSTANTS.get(self.module, {})
            names.aliases |= {name: IntLit(value) for name, value in known.items()}
        for new, old in self.renamed.items():
            if module is not None:
                self._rename(new, old, module.names, names)
            elif old in names.aliases:
                names.aliases[new] = names.aliases[old]
                names.constants[new] = names.constants[old]
            else:
                names.open = True

    def _rename(self, new: str, old: str, module: Declarations, names: Declarations) -> None:
        known = module.names.get(old)
        if old in module.aliases:
            names.aliases[new] = module.aliases[old]
        elif old in module.constants:
            names.aliases[new] = Var(old)
        elif known is not None and old not in module.procedures:
            self._report(
                names, "E119", f"USE gives the variable {old} another name, {new}", f"write {old} in place of {new}"
            )
            names.open = True
        else:
            names.callees[new] = module.specific(old)
            names.open = True
        if old in module.constants:
            names.constants[new] = module.constants[old]

    def _check(self, module: Module, names: Declarations) -> None:
        if module.names.open:
            return
        for name in self.named:
            if name not in module.words and name not in module.names.aliases:
                hint = did_you_mean(name, sorted(module.names.names)) or "correct the name, or declare it in the module"
                self._report(names, "E118", f"the module {self.module} has no name {name}", hint)

    def _report(self, names: Declarations, code: str, message: str, hint: str) -> None:
        names.diagnostics.append(Diagnostic(code=code, message=message, span=self.span, hint=hint))


def hidden_constants(names: Declarations) -> Iterable[Diagnostic]:
    """An error for each constant of a module that has another name in a unit that declares its first name anew."""
    for new, old in names.aliases.items():
        if isinstance(old, Var) and old.name in names.names and new not in names.names:
            yield Diagnostic(
                code="E119",
                message=f"USE gives the constant {old.name} another name, {new}, and {old.name} is declared here, too",
                span=names.names[old.name].span,
                hint=f"use another name than {old.name} here",
            )
