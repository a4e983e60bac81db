"""Where lowering is: the loops around a statement, and whether the program certainly gets there."""

from collections.abc import Iterator
from contextlib import contextmanager

from aag.ir import statements as ir
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import IntLit
from aag.ir.visitors import walk_statements
from aag.spmd.nodes import Index

_LEAVING = ir.Stop | ir.Return | ir.Exit | ir.Cycle


class Reach:
    """Follows the lowering of one program unit.

    `around`: the counted loops around the statement that is being lowered, as far as their ranges are known.
    """

    def __init__(self) -> None:
        self.around: tuple[Index, ...] = ()
        self._doubts = 0

    @property
    def is_certain(self) -> bool:
        """Whether that statement is certainly reached, if these loops have iterations."""
        return not self._doubts

    def left(self) -> None:
        """A statement that leaves a loop or the program: what follows may not be reached."""
        self._doubts += 1

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """While statements are lowered that may not be reached."""
        self._doubts += 1
        try:
            yield
        finally:
            self._doubts -= 1

    @contextmanager
    def inside(self, statement: ir.Do, env: Environment) -> Iterator[None]:
        """While the body of a counted loop is lowered; one that may be left early counts for its first iteration."""
        around, known = self.around, True
        try:
            lower, upper = (evaluate_int(each, env) for each in (statement.lower, statement.upper))
            step = None if statement.step is None else evaluate_int(statement.step, env)
        except Unknown:
            known = False
        else:
            if any(isinstance(each, _LEAVING) for each in walk_statements(statement.body)):
                known = lower <= upper if step is None or step > 0 else lower >= upper
                upper = lower
            whole = None if step is None else IntLit(step)
            self.around = (*around, Index(name=statement.var, lower=IntLit(lower), upper=IntLit(upper), step=whole))
        self._doubts += not known
        try:
            yield
        finally:
            self._doubts -= not known
            self.around = around
