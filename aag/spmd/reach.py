"""Where lowering is: the loops around a statement, and whether the program certainly gets there."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import IntLit
from aag.ir.visitors import walk_statements
from aag.spmd.nodes import Index

_LEAVING = ir.Stop | ir.Return | ir.Exit | ir.Cycle


class Reach:
    """Follows the lowering of one program unit.

    `around`: the counted loops around the statement that is being lowered, as far as their ranges are known: what may
    happen, happens in these iterations. `surely`: the same loops with iterations that certainly come, if the statement
    is reached at all: the first alone of a loop that may be left early. Who proves that two iterations meet asks for
    these, who proves that none do for the others.
    """

    def __init__(self) -> None:
        self.around: tuple[Index, ...] = ()
        self.surely: tuple[Index, ...] = ()
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
        """While the body of a counted loop is lowered."""
        outer, known = (self.around, self.surely), True
        try:
            lower, upper = (evaluate_int(each, env) for each in (statement.lower, statement.upper))
            step = None if statement.step is None else evaluate_int(statement.step, env)
        except Unknown:
            known = False
        else:
            whole = None if step is None else IntLit(step)
            index = Index(name=statement.var, lower=IntLit(lower), upper=IntLit(upper), step=whole)
            self.around = (*self.around, index)
            if any(isinstance(each, _LEAVING) for each in walk_statements(statement.body)):
                known = lower <= upper if step is None or step > 0 else lower >= upper
                index = replace(index, upper=index.lower)
            self.surely = (*self.surely, index)
        self._doubts += not known
        try:
            yield
        finally:
            self._doubts -= not known
            self.around, self.surely = outer
