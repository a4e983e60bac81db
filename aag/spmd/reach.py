"""Where lowering is: the loops around a statement, and whether the program certainly gets there."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Call, Expr, IntLit, Var
from aag.ir.linear import linear
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
    def proving(self) -> tuple[Index, ...]:
        """The loops around whose iterations certainly come if the statement is reached: none where a condition may
        choose some of them."""
        return self.surely if self.is_certain else ()

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
        outer, known = (self.around, self.surely), False
        index = self._index(statement, env)
        if index is not None:
            self.around = (*self.around, index)
            if any(isinstance(each, _LEAVING) for each in walk_statements(statement.body)):
                known = _has_first(index)
                index = replace(index, upper=index.lower)
            else:
                known = True
            self.surely = (*self.surely, index)
        self._doubts += not known
        try:
            yield
        finally:
            self._doubts -= not known
            self.around, self.surely = outer

    def _index(self, statement: ir.Do, env: Environment) -> Index | None:
        """The range of a loop, if numbers and the loops around it decide it."""
        names = {each.name for each in self.around}
        try:
            lower, upper = (_decided(each, names, env) for each in (statement.lower, statement.upper))
            step = None if statement.step is None else IntLit(evaluate_int(statement.step, env))
        except Unknown:
            return None
        return Index(name=statement.var, lower=lower, upper=upper, step=step)


def _decided(bound: Expr, names: Collection[str], env: Environment) -> Expr:
    """A bound as a number, or as it is where these loop indices decide it."""
    try:
        return IntLit(evaluate_int(bound, env))
    except Unknown:
        if _is_decided(bound, names, env):
            return bound
        raise


def _is_decided(bound: Expr, names: Collection[str], env: Environment) -> bool:
    """Whether these loop indices decide a bound."""
    if isinstance(bound, Call) and bound.name in ("min", "max") and not bound.keywords:
        return all(_is_decided(each, names, env) for each in bound.args)
    return all(isinstance(each, Var) and each.name in names for each in linear(bound, env).terms)


def _has_first(index: Index) -> bool:
    """Whether a loop certainly has an iteration."""
    match index:
        case Index(lower=IntLit(value=lower), upper=IntLit(value=upper), step=None | IntLit() as step):
            return lower <= upper if step is None or step.value > 0 else lower >= upper
        case _:
            return False
