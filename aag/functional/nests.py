"""Loops whose iterations NumPy computes together: statement by statement, each for all iterations.

That is right if nothing that a statement reads or writes depends on a statement behind it, or on itself, in an earlier
iteration (`aag.spmd.dependence`). Scalars are values of the iteration (assigned before they are read), or are combined
from all iterations (``s = s + x``, ``err = max(err, x)``). Elements that many iterations combine
(``y(i) = y(i) + x``) are taken in the order of the iterations, so sums are rounded as in the program.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from aag.functional.slicing import Slice
from aag.functional.terms import Terms
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.visitors import elements_in, names_in, own_expressions, walk_expressions
from aag.spmd.dependence import Access, Dependence
from aag.spmd.nodes import Index

MOST_PAIRS = 600
"""Pairs of references that are tested for one loop."""

Kind = Literal["element", "gather", "value", "segment", "total"]
"""What an assignment does in a nest: elements of its own for each iteration; elements combined from several; a scalar
of the iteration; such a scalar combined from inner iterations; a scalar or an element combined from all."""


class NestStep(Struct, frozen=True, eq=False):
    """An assignment of a nest. `function` and `value`: what is combined, and with what; `home`: the loops and branches
    around the first assignment of a scalar."""

    kind: Kind
    function: str
    value: e.Expr
    home: tuple[int, ...] = ()


class NestPlan(Struct, frozen=True, eq=False):
    """How a nest runs: `box`: all combinations of the values of its loops; `steps`: by the identity of assignments."""

    box: bool
    steps: Mapping[int, NestStep]


class _Use(Struct, frozen=True, eq=False):
    """A place of a nest where names are read."""

    expr: e.Expr
    place: int
    context: tuple[int, ...]
    loops: tuple[s.Do, ...]


class _Given(Struct, frozen=True, eq=False):
    """An assignment of a nest and where it stands."""

    statement: s.Assign
    place: int
    context: tuple[int, ...]
    loops: tuple[s.Do, ...]


class _Unfit(Exception):
    """The iterations cannot be computed together."""


def step_of(loop: s.Do, constants: Environment) -> int:
    """The step of a loop.

    Raises:
        Unknown: it is not constant.
    """
    return 1 if loop.step is None else evaluate_int(loop.step, constants)


def planned(loop: s.Do, part: Slice, terms: Terms, around: Sequence[s.Do], alone: Container[int]) -> NestPlan | None:
    """How to compute all iterations of a loop together; None: it is not possible.

    Args:
        loop: A loop.
        part: What of it is kept.
        terms: Expressions of its unit.
        around: The DO loops around it, outermost first.
        alone: Statements, by identity, before which something else happens.
    """
    try:
        return _Nest(loop, part, terms, around, alone).plan()
    except (_Unfit, Unknown):
        return None


class _Nest:
    """A loop that is examined."""

    def __init__(self, loop: s.Do, part: Slice, terms: Terms, around: Sequence[s.Do], alone: Container[int]) -> None:
        self._part, self._terms, self._around, self._alone = part, terms, around, alone
        self._uses: list[_Use] = []
        self._given: list[_Given] = []
        self._bounds: list[e.Expr] = []
        self._loops: list[s.Do] = []
        self._branches = 0
        self._place = 0
        self._collect(loop, (), ())

    def plan(self) -> NestPlan:
        if not self._given:
            raise _Unfit
        steps = {**self._scalars(), **self._arrays()}
        assigned = self._assigned()
        assigned |= {each.var for each in self._loops}
        inner = names_in(*self._bounds)
        plain = not self._branches and all(each.kind in ("element", "value", "total") for each in steps.values())
        return NestPlan(box=plain and inner.isdisjoint(assigned), steps=steps)

    def _assigned(self) -> set[str]:
        targets = (each.statement.target for each in self._given)
        return {each.name for each in targets if isinstance(each, e.Var | e.Element)}

    # --- what stands in the nest ---

    def _collect(self, statement: s.Stmt, context: tuple[int, ...], loops: tuple[s.Do, ...]) -> None:
        if not self._part.keeps(statement):
            return
        if loops and (id(statement) in self._part.seen or id(statement) in self._alone):
            raise _Unfit
        match statement:
            case s.Do(var=var, lower=lower, upper=upper, body=body):
                if step_of(statement, self._terms.constants) == 0 or any(var == each.var for each in loops):
                    raise _Unfit
                self._read((lower, upper), context, loops)
                if loops:
                    self._bounds += (lower, upper)
                self._loops.append(statement)
                for each in body:
                    self._collect(each, (*context, id(statement)), (*loops, statement))
            case s.If(branches=branches):
                self._branches += 1
                self._read([each.condition for each in branches if each.condition is not None], context, loops)
                for branch in branches:
                    for each in branch.body:
                        self._collect(each, (*context, id(branch)), loops)
            case s.Assign(target=target, value=value):
                if isinstance(target, e.Element):
                    self._read(target.subscripts, context, loops)
                elif not isinstance(target, e.Var) or target.name in self._terms.arrays:
                    raise _Unfit
                self._read((value,), context, loops)
                self._given.append(_Given(statement, self._place + 1, context, loops))
                self._place += 2
            case s.Continue() | s.Enter():
                pass
            case _:
                raise _Unfit

    def _read(self, exprs: Sequence[e.Expr], context: tuple[int, ...], loops: tuple[s.Do, ...]) -> None:
        for expr in exprs:
            for each in walk_expressions(expr):
                if isinstance(each, e.Section | e.Constructor) or (
                    isinstance(each, e.Var) and each.name in self._terms.arrays
                ):
                    raise _Unfit
            self._uses.append(_Use(expr, self._place, context, loops))

    # --- scalars ---

    def _scalars(self) -> dict[int, NestStep]:
        found: dict[int, NestStep] = {}
        counted = {each.var for each in self._loops}
        for name in {each.statement.target.name for each in self._given if isinstance(each.statement.target, e.Var)}:
            own = [each for each in self._given if each.statement.target == e.Var(name)]
            reads = [each for each in self._uses if name in names_in(each.expr)]
            if name in counted:
                raise _Unfit
            total = accumulation(own[0].statement)
            if len(own) == 1 and total is not None and len(reads) == 1:
                found[id(own[0].statement)] = NestStep("total", total[0], total[1])
                continue
            found |= self._values(own, reads)
        for name in counted:
            for use in self._uses:
                if name in names_in(use.expr) and not any(name == each.var for each in use.loops):
                    raise _Unfit  # the value of a loop variable after its loop
        return found

    def _values(self, own: list[_Given], reads: list[_Use]) -> dict[int, NestStep]:
        """A scalar of the iteration: assigned before it is read, or combined from inner iterations."""
        found: dict[int, NestStep] = {}
        home = own[0].context
        narrow: dict[int, _Given] = {}
        for each in own:
            if each.context == home:
                found[id(each.statement)] = NestStep("value", "", each.statement.value, home)
                continue
            combined = accumulation(each.statement)
            if each.context[: len(home)] != home or combined is None:
                raise _Unfit
            found[id(each.statement)] = NestStep("segment", combined[0], combined[1], home)
            narrow[each.place - 1] = each
        for use in reads:
            if use.place < own[0].place or use.context[: len(home)] != home:
                raise _Unfit
            if use.place in narrow and use.expr is narrow[use.place].statement.value:
                continue
            if narrow and use.context != home:
                raise _Unfit
        return found

    # --- arrays ---

    def _arrays(self) -> dict[int, NestStep]:
        found: dict[int, NestStep] = {}
        stores = [each for each in self._given if isinstance(each.statement.target, e.Element)]
        written = {each.statement.target.name for each in stores if isinstance(each.statement.target, e.Element)}
        reads = [(use, element) for use in self._uses for element in elements_in(use.expr) if element.name in written]
        pairs = 0
        for store in stores:
            target = store.statement.target
            assert isinstance(target, e.Element)
            mine = self._access(target, store)
            others = [self._access(element, use) for use, element in reads if element.name == target.name]
            others += [
                self._access(each.statement.target, each)
                for each in stores
                if isinstance(each.statement.target, e.Element) and each.statement.target.name == target.name
            ]
            pairs += len(others)
            if pairs > MOST_PAIRS:
                raise _Unfit
            combined = accumulation(store.statement)
            met = [each for each in others if not self._is_free(mine, each)]
            if not met:
                found[id(store.statement)] = NestStep("element", "", store.statement.value)
            elif combined is not None and all(mine.order - 1 <= each.order <= mine.order for each in met):
                kind: Kind = "gather" if self._moves(target) or len(others) > 2 else "total"
                found[id(store.statement)] = NestStep(kind, combined[0], combined[1])
            else:
                raise _Unfit
        return found

    def _moves(self, target: e.Element) -> bool:
        """Whether the nest may change the subscripts of an element."""
        changed = self._assigned()
        changed |= {each.var for each in self._loops}
        return not changed.isdisjoint(names_in(*target.subscripts))

    def _access(self, element: e.Expr, where: _Use | _Given) -> Access:
        assert isinstance(element, e.Element)
        return Access(
            array=element.name,
            subscripts=element.subscripts,
            indices=tuple(map(_index, where.loops)),
            loops=tuple(map(id, where.loops)),
            order=where.place,
        )

    def _is_free(self, store: Access, other: Access) -> bool:
        """Whether no earlier iteration may touch what a statement in front, or the same one, touches later."""
        varying = frozenset(self._assigned())
        around = [_index(each) for each in self._around]
        for first, second in ((store, other), (other, store)):
            if first.order < second.order:
                continue
            dependence = Dependence(first, second, self._terms.constants, varying, around)
            if any(dependence.is_carried(level) for level in range(dependence.common)):
                return False
        return True


def _index(loop: s.Do) -> Index:
    return Index(name=loop.var, lower=loop.lower, upper=loop.upper, step=loop.step)


def accumulation(statement: s.Assign) -> tuple[str, e.Expr] | None:
    """How an assignment combines its target with a value: add, mul, max, min, and, or; None: it does not."""
    target = statement.target
    match statement.value:
        case e.Binary(op=op, left=left, right=right):
            pass
        case e.Call(name="max" | "min" as op, args=(left, right), keywords=()):
            pass
        case _:
            return None
    function = {"+": "add", "-": "add", "*": "mul", "max": "max", "min": "min", ".and.": "and", ".or.": "or"}.get(op)
    if function is None:
        return None
    if left == target:
        value = right
    elif right == target and op != "-":
        value = left
    else:
        return None
    name = target.name if isinstance(target, e.Var | e.Element) else ""
    if name in names_in(value) or (isinstance(target, e.Element) and name in names_in(*target.subscripts)):
        return None
    return function, e.Unary("-", value) if op == "-" else value


def reading(body: Sequence[s.Stmt]) -> frozenset[str]:
    """All names in the expressions of a body."""
    return frozenset().union(*(names_in(*own_expressions(each)) for each in _all(body)))


def _all(body: Sequence[s.Stmt]) -> Iterator[s.Stmt]:
    for each in body:
        yield each
        match each:
            case s.Do(body=inner):
                yield from _all(inner)
            case s.If(branches=branches):
                for branch in branches:
                    yield from _all(branch.body)


def nested(loop: s.Do) -> bool:
    """Whether there are loops inside a loop."""
    return any(isinstance(each, s.Do) for each in loop.body)
