"""Where arrays of unknown contents decide the flow: the lines whose messages a prediction cannot know."""

from collections.abc import Iterable

from aag.ir import statements as s
from aag.ir.units import Unit
from aag.ir.visitors import bodies, children, names_in, own_expressions, walk_statements


def lines_by_contents(unit: Unit, guessed: frozenset[str]) -> frozenset[int]:
    """Source lines that run as often as arrays of unknown contents decide, or that assign elements that these choose.

    Args:
        unit: The program, its calls replaced.
        guessed: Arrays that may hold something else than the prediction takes.
    """
    if not guessed:
        return frozenset()
    reached = _Reached(guessed)
    known = -1
    while known < len(reached.names):
        known = len(reached.names)
        reached.body(unit.body, (), inside=False)
    if reached.ends:
        reached.lines |= {each.span.line for each in walk_statements(unit.body)}
    return frozenset(reached.lines)


class _Reached:
    """What depends on arrays: variables, and lines. `ends`: whether the end of the program does."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = set(names)
        self.lines: set[int] = set()
        self.ends = False

    def body(self, body: Iterable[s.Stmt], loops: tuple[s.Stmt, ...], *, inside: bool) -> None:
        """The statements of a body. `loops`: those around; `inside`: whether it may run another number of times."""
        for each in body:
            self._statement(each, loops, inside=inside)

    def _statement(self, statement: s.Stmt, loops: tuple[s.Stmt, ...], *, inside: bool) -> None:
        match statement:
            case s.Assign(target=target, value=value):
                chosen = bool(names_in(*children(target)) & self.names)
                if inside or chosen or names_in(value) & self.names:
                    self.names |= names_in(target) - names_in(*children(target))
                if chosen:
                    self.lines.add(statement.span.line)
            case s.Exit() | s.Cycle() if inside:
                self._all_of(loops)
            case s.Return() | s.Stop() if inside:
                self.ends = True
        within = bodies(statement)
        decided = bool(within and names_in(*own_expressions(statement)) & self.names)
        inside = inside or decided
        if inside:
            self._all_of((statement,))
        around = (*loops, statement) if isinstance(statement, s.Do | s.DoWhile) else loops
        counter = {statement.var} if isinstance(statement, s.Do) else set()
        before = self.names & counter
        self.names -= set() if decided else counter  # the loop gives it other values
        for each in within:
            self.body(each, around, inside=inside)
        self.names |= counter if inside else before

    def _all_of(self, statements: tuple[s.Stmt, ...]) -> None:
        self.lines |= {each.span.line for each in walk_statements(statements)}
