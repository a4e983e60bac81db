"""The READ statements that run once, in their order: those outside of branches and loops, and those of loops that ask
again until a value is good (``10 read *, n``, ``if (n < 1) goto 10``), where the first value is."""

from collections.abc import Generator, Iterator, Mapping
from typing import Literal

from aag.ir import statements as s
from aag.ir.evaluate import Unknown, Value, evaluate
from aag.ir.expressions import Element, Var
from aag.ir.units import Unit
from aag.ir.values import ArrayValues
from aag.ir.visitors import Body, walk_statements
from esp.errors import UsageError
from esp.values import value_of

End = Literal["through", "left", "unknown"]
"""How an iteration ends: behind its last statement, by EXIT, or nobody knows."""


def certain_reads(unit: Unit, constants: Mapping[str, Value], found: dict[str, str]) -> Iterator[s.Io]:
    """The statements, up to the first that may not run once. `found`: the texts of the values so far, to which those of
    each statement are added; those of a loop that runs again are taken out."""
    for statement in unit.body:
        if isinstance(statement, s.DoWhile) and statement.condition is None and _reads(statement):
            before = dict(found)
            if (yield from _Iteration(constants, found).run(statement.body)) != "left":
                found.clear()
                found.update(before)
                return
        elif isinstance(statement, s.Io):
            if statement.kind == "read":
                yield statement
        elif _reads(statement):
            return


def _reads(statement: s.Stmt) -> bool:
    return any(isinstance(each, s.Io) and each.kind == "read" for each in walk_statements((statement,)))


class _Iteration:
    """The first iteration of a loop. What it assigns is not known."""

    def __init__(self, constants: Mapping[str, Value], found: Mapping[str, str]) -> None:
        self._constants: dict[str, Value | ArrayValues] = dict(constants)
        self._found = found
        self._changed: set[str] = set()

    def run(self, body: Body) -> Generator[s.Io, None, End]:
        for each in body:
            match each:
                case s.Io(kind="read"):
                    yield each
                case s.Io() | s.Continue():
                    pass
                case s.Assign(target=Var(name=name) | Element(name=name)):
                    self._changed.add(name)
                case s.If(branches=branches):
                    taken = self._taken(branches)
                    end = "unknown" if taken is None else (yield from self.run(taken))
                    if end != "through":
                        return end
                case s.Exit(name=""):
                    return "left"
                case _:
                    return "unknown"
        return "through"

    def _taken(self, branches: tuple[s.Branch, ...]) -> Body | None:
        """The branch that is taken; None: nobody knows which."""
        try:
            known = ((name, text) for name, text in self._found.items() if name not in self._changed)
            values = {**self._constants, **{name: value_of(name, text) for name, text in known}}
            for each in branches:
                if each.condition is None or evaluate(each.condition, values):
                    return each.body
        except (Unknown, UsageError):
            return None
        return ()
