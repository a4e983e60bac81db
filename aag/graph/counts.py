"""How many operations of which class an expression or a nest does: the words that the P component prices.

Counts add like numbers. In a nest each operation belongs to the loop level of the innermost index that it depends on:
with the optimisation `invariant` it is done there, without it where it is written. What holds constants only is folded
by every compiler and counts nothing. Scalars that are read are in registers; an array element is loaded once and its
address computed once at each level, however often it is written down there.

With the optimisation `strength` an address that is linear in the index of the innermost loop around it is computed
before that loop and stepped in it (``index.1d``), once for all references that differ by constants; without it each
address is computed where it is used.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from aag.graph.aau import Counts, GuardedWork, Work
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, OpaqueExpr, Section, Unary, Var
from aag.ir.intrinsics import CALLED, INTRINSICS, REDUCTIONS, charged
from aag.ir.linear import add, linear
from aag.ir.operations import combination, converts, operations, power_operations
from aag.ir.result_types import wider
from aag.ir.statements import Assign
from aag.ir.units import Type
from aag.ir.visitors import children, map_expression, names_in
from aag.spmd.branches import GuardedChain, chained, chains_of, levels_of
from aag.spmd.nodes import Nest
from aag.spmd.order import mask_level
from aag.spmd.symbols import Symbols

_COMPARE = frozenset(("==", "/=", "<", "<=", ">", ">="))
_LOGICAL = frozenset((".and.", ".or.", ".eqv.", ".neqv."))
_ARITHMETIC = {"+": "add", "-": "add", "*": "mul", "/": "div"}
Seen = tuple[set[tuple[int, Expr]], set[tuple[int, object]]]
_HARMLESS = frozenset(name for name, each in INTRINSICS.items() if each.is_pure)


class CountingContext(Struct, frozen=True, kw_only=True):
    """What counting has to know of the program, types and the values of named constants, and of its compiler: whether
    loop-invariant operations move outwards, addresses are stepped (but for those of reductions, where a
    library does them), masks are tested as far outside as they can be.
    `around` is the variable of the innermost DO loop around what is counted."""

    symbols: Symbols
    constants: Mapping[str, Value] = field(default_factory=dict)
    invariant: bool = True
    strength: bool = False
    library: bool = False
    masks: bool = False
    around: str = ""


class OperationCounter:
    """Operations by class, one Counter for each loop level (0: before the loops)."""

    def __init__(
        self,
        context: CountingContext,
        loops: Sequence[str] = (),
        assigned: Mapping[str, int] | None = None,
        conditional: int = 0,
    ) -> None:
        """`assigned`: scalars that iterations assign, with the level at which they do; `conditional`: how many more
        Counters there are behind those of the levels, for what is done under conditions."""
        self._context = context
        self._symbols = context.symbols
        self._level = {name: at for at, name in enumerate(loops, start=1)}
        self._assigned = assigned or {}
        self._inner = (context.around if not loops else "", *loops)
        self._loaded: set[tuple[int, Expr]] = set()
        self._addressed: set[tuple[int, object]] = set()
        self._under: dict[int, int] = {}
        self.levels = [Counter[str]() for _ in range(len(loops) + 1 + conditional)]

    def under(self, level: int, number: int) -> int:
        """Let what is done at a level count for the Counter of this number from now on, and tell the one before."""
        former = self._under.get(level, level)
        self._under[level] = number
        return former

    def seen(self) -> Seen:
        """What was loaded and addressed so far."""
        return set(self._loaded), set(self._addressed)

    def forget(self, since: Seen, level: int) -> None:
        """Behind a condition nobody knows whether what was loaded and addressed at a level since then was."""
        loaded, addressed = since
        self._loaded = {each for each in self._loaded if each in loaded or each[0] < level}
        self._addressed = {each for each in self._addressed if each in addressed or each[0] < level}

    def _at(self, level: int) -> "Counter[str]":
        return self.levels[self._under.get(level, level)]

    def level_of(self, expr: Expr, used: int) -> int:
        """The loop level at which an expression is evaluated whose value is used at level `used`."""
        return used if _has_effects(expr) else self._level_of_pure(expr, used)

    def _level_of_pure(self, expr: Expr, used: int) -> int:
        if not used or not self._context.invariant:
            return used
        levels = [max(self._level.get(name, 0), self._assigned.get(name, 0)) for name in names_in(expr)]
        return min(used, max(levels, default=0))

    def expression(self, expr: Expr, used: int, *, pure: bool = False) -> None:
        """Count an expression whose value is used at level `used`; `pure`: it is known to have no effects."""
        if self._is_constant(expr):
            return
        pure = pure or not _has_effects(expr)
        at = self._level_of_pure(expr, used) if pure else used
        count = self._at(at)
        match expr:
            case Element(name=name) if self._symbols.is_array(name):
                self._load(expr, at, used)
                return
            case Section():
                return
            case Call(name="merge$eoshift", args=(value, *_)):  # what BOUNDARY fills in costs no more than the element
                self.expression(value, used, pure=pure)
                return
            case Call(name="merge", args=(Binary(op="+", left=one, right=IntLit(value=1)), other, mask)) if (
                one == other
            ):
                count["int.add"] += 1  # a step of COUNT, as the reduction of a nest counts it
                self.expression(mask, used, pure=pure)
                return
            case Binary(op="+" | "-" as op, left=left, right=Unary(op="-", operand=right)):
                self._binary(expr, op, left, right, at)  # the negation turns one into the other
                self.expression(left, used, pure=pure)
                self.expression(right, used, pure=pure)
                return
            case Unary(op="-", operand=Call(name="infinity$")):  # a constant of the node program
                return
            case Unary(op=".not."):
                count["logical"] += 1
            case Unary(op="-"):
                count.update(operations(self._type(expr), "add"))
            case Binary(op=op, left=left, right=right):
                self._binary(expr, op, left, right, at)
            case Call(name=name, args=args):
                count.update(charged(name, [self._type(each) for each in args], self._type(expr)))
        for child in children(expr):
            self.expression(child, used, pure=pure)

    def assign(self, assign: Assign, level: int, *, copied: bool = False) -> None:
        """Count an assignment at a loop level. `copied`: all values go to a temporary first, and from there to their
        places in loops of their own."""
        target, value = assign.target, assign.value
        match value:
            case Call(name="merge", args=(new, old, condition)) if old == target:  # an IF of its own
                self.expression(condition, level)
                value = new
        self.expression(value, level)
        self._convert(value, self._type(target), level)
        if isinstance(target, Element) and self._symbols.is_array(target.name):
            self._at(level)["store"] += 1
            if copied:
                self._copy(target, level)
            self._address(target, level, level)
            self._loaded.add((self.level_of(target, level), target))  # what was just stored is still in a register
        elif isinstance(value, Call) and value.name == CALLED:
            pass  # it stands for a call, which assigns nothing
        elif not (self._level and isinstance(target, Var) and target.name in names_in(value)):
            self._at(level)["assign"] += 1  # a sum that a loop accumulates stays in a register

    def accumulate(self, assign: Assign, reduction: str, level: int) -> None:
        """Count one step of a reduction into `assign.target`: a scalar in a register, or an element that is loaded
        before and stored after the loops that do not move it."""
        match assign.value:
            case Unary(op="-", operand=taken) if reduction == "sum":  # a difference instead of the sum
                self.expression(taken, level)
            case _:
                self.expression(assign.value, level)
        how = REDUCTIONS[reduction]
        kind = self._type(assign.value if how.located else assign.target)
        self._at(level).update(combination(how.step_class(kind)))
        if isinstance(assign.target, Element):
            at = self.level_of(assign.target, level)
            self._load(assign.target, at, level)
            self._at(at)["store"] += 1
        else:
            self._at(0)["assign"] += 1

    def _copy(self, target: Element, level: int) -> None:
        """Count the loops that move values from a temporary to their places."""
        rank = 1 if self._context.strength else len(target.subscripts)
        self._at(level).update({"load": 1, "store": 1})
        for _ in range(2):
            self._at(level).update(_index(rank))
        for at in range(level):
            self._at(at)["loop.setup"] += 1
            self._at(at + 1)["loop.iteration"] += 1
        self._addressed.clear()

    def _load(self, element: Element, at: int, used: int) -> None:
        if (at, element) not in self._loaded:
            self._loaded.add((at, element))
            self._at(at)["load"] += 1
            self._address(element, at, used)

    def _address(self, element: Element, at: int, used: int) -> None:
        element = Element(element.name, tuple(map_expression(each, _unwrapped) for each in element.subscripts))
        if self._context.strength and self._inner[at] and self._stepped(element, at):
            return
        if (at, element) in self._addressed:
            return
        self._addressed.add((at, element))
        self._at(at).update(_index(len(element.subscripts)))
        for subscript in element.subscripts:
            if not self._is_offset(subscript):
                self.expression(subscript, used)

    def _stepped(self, element: Element, at: int) -> bool:
        """Count an address that the loop at hand steps or leaves alone; False: each iteration must compute it."""
        index = self._inner[at]
        if at and any(self._assigned.get(name, 0) >= at for each in element.subscripts for name in names_in(each)):
            return False
        forms = [linear(each, self._context.constants) for each in element.subscripts]
        if any(index in names_in(atom) and atom != Var(index) for form in forms for atom in form.terms):
            return False
        key = at, (element.name, *(frozenset(form.terms.items()) for form in forms))
        if key in self._addressed:
            return True
        self._addressed.add(key)
        if any(form.coefficient(index) for form in forms):
            self._at(at)["index.1d"] += 1
        start = at - 1, ("start", *key[1])
        if at and start not in self._addressed:
            self._addressed.add(start)
            self._at(at - 1).update(_index(len(forms)))
            for subscript in element.subscripts:
                if not self._is_offset(subscript):
                    self.expression(subscript, at - 1)
        return True

    def _type(self, expr: Expr) -> Type:
        return self._symbols.type_of(expr)

    def _convert(self, expr: Expr, wanted: Type, used: int) -> None:
        """The conversion of an operand to the type in which it is used; that of a constant is done when compiling."""
        if converts(self._type(expr), wanted) and not self._is_constant(expr):
            self._at(self.level_of(expr, used))["convert"] += 1

    def _binary(self, expr: Binary, op: str, left: Expr, right: Expr, at: int) -> None:
        count = self._at(at)
        if op in _LOGICAL:
            count["logical"] += 1
            return
        common = wider(self._type(left), self._type(right))
        self._convert(left, common, at)
        if op == "**":
            count.update(self._power(expr, right))
            return
        self._convert(right, common, at)
        if op in _COMPARE:
            count.update(operations(common, "cmp"))
        elif op in _ARITHMETIC:
            count.update(operations(common, _ARITHMETIC[op]))

    def _power(self, expr: Binary, exponent: Expr) -> "Counter[str]":
        value: int | None = None
        if self._type(exponent).base == "integer" and self._is_constant(exponent):
            try:
                value = evaluate_int(exponent, self._context.constants)
            except Unknown:
                value = None
        return power_operations(self._type(expr), self._type(exponent), value)

    def _is_constant(self, expr: Expr) -> bool:
        """Whether the compiler knows the value."""
        return self._is_constant_part(expr) and all(map(self._is_constant, children(expr)))

    def _is_offset(self, subscript: Expr) -> bool:
        """Whether a subscript is an index with a constant offset, which the addressing of the array absorbs."""
        match subscript:
            case Var():
                return True
            case Binary(op="+" | "-", left=left, right=right) if not self._is_constant(subscript):
                return self._is_offset(left) and self._is_offset(right)
            case _:
                return self._is_constant(subscript)

    def _is_constant_part(self, part: Expr) -> bool:
        match part:
            case Var(name=name):
                return name in self._context.constants
            case Element() | OpaqueExpr():
                return False
            case Call(name=name):
                return name in _HARMLESS
            case _:
                return True


def _unwrapped(subscript: Expr) -> Expr:
    """A subscript that goes round at the end of a dimension (CSHIFT) as one that does not: a loop is split there."""
    match subscript:
        case Call(name="cshift$" | "eoshift$", args=(place, shift, _, _)):
            return add(place, shift)
        case _:
            return subscript


def _has_effects(expr: Expr) -> bool:
    """Whether some function in the expression may do more than compute its result: then it stays where it is."""
    if isinstance(expr, Call) and expr.name not in _HARMLESS:
        return True
    return any(map(_has_effects, children(expr)))


def _index(rank: int) -> dict[str, int]:
    return {"index.1d": 1} if rank == 1 else {"index.2d": rank - 1}


def counts(counter: Mapping[str, float]) -> Counts:
    """A frozen form, sorted by class, without zeros."""
    return tuple(sorted((name, float(number)) for name, number in counter.items() if number))


def work_of(context: CountingContext, exprs: Iterable[Expr | None] = (), assigns: Iterable[Assign] = ()) -> Work:
    """Work of replicated statements outside any nest; an expression of None is absent."""
    counter = OperationCounter(context)
    for expr in exprs:
        if expr is not None:
            counter.expression(expr, 0)
    for assign in assigns:
        counter.assign(assign, 0)
    return Work(computation=counts(counter.levels[0]))


def nest_work(nest: Nest, context: CountingContext) -> tuple[tuple[Work, ...], Work, tuple[GuardedWork, ...]]:
    """Work of a nest, one entry for each level (before the loops, in loop 1, ..., in the innermost loop), what an
    innermost iteration does more where the mask holds, and what is done under conditions of their own."""
    *_, (_, _, counter) = nest_steps(nest, context)
    works = [Work(computation=counts(each)) for each in counter.levels]
    levels, (masked, *under) = works[: len(nest.indices) + 1], works[len(nest.indices) + 1 :]
    return tuple(levels), masked, _guarded(chains_of(nest), under)


def turn_work(nest: Nest, context: CountingContext) -> tuple[Work, tuple[GuardedWork, ...]]:
    """Work of one iteration of an owned loop, of which `nest` is what its owner does, and what is done under conditions
    of their own."""
    chains = chains_of(nest)
    counter = OperationCounter(context, conditional=2 * sum(len(chain.branches) for _, chain in chains))
    slot = 1
    for step in chained(nest, nest.assigns):
        if isinstance(step, GuardedChain):
            for _ in _chain(step, 0, slot, counter):
                pass
            slot += 2 * len(step.branches)
        else:
            counter.assign(step, 0)
    whole, *under = [Work(computation=counts(each)) for each in counter.levels]
    return whole, _guarded(chains, under)


def _guarded(chains: Sequence[tuple[int, GuardedChain]], under: Sequence[Work]) -> tuple[GuardedWork, ...]:
    """The branches of chains; `under`: of each its test where an earlier one comes first, and what it does."""
    spans = (each.assigns[0].span for _, chain in chains for each in chain.branches)
    return tuple(
        GuardedWork(span=span, test=test, work=work)
        for span, test, work in zip(spans, under[::2], under[1::2], strict=True)
    )


def nest_steps(nest: Nest, context: CountingContext) -> Iterator[tuple[Assign | None, int, OperationCounter]]:
    """The counter of a nest after its mask, and again after each assignment, with the assignment and the number of the
    Counter to which it belongs: its level; behind the levels where the mask holds; then of each guarded branch its test
    where an earlier branch comes first, and what it does."""
    if nest.reduce and context.library:
        context = replace(context, strength=False)
    innermost = len(nest.indices)
    chains = chains_of(nest)
    slots = 1 + 2 * sum(len(chain.branches) for _, chain in chains)
    counter = OperationCounter(context, [index.name for index in nest.indices], _assigned(nest), slots)
    for around, index in enumerate(nest.indices):
        for each in index.ends:
            if each is not None:
                counter.expression(each, around)
    if nest.mask is not None:
        counter.expression(nest.mask, tested := mask_level(nest) if context.masks else innermost)
        for level, assigns in enumerate(nest.outer, start=1):
            if assigns and level < tested and not context.invariant:  # it guards these, too, before and after the loops
                counter.expression(nest.mask, level)
                counter.expression(nest.mask, level)
        counter.under(innermost, innermost + 1)
    yield None, innermost, counter
    slot = innermost + 2
    for level, assigns in levels_of(nest):
        for step in chained(nest, assigns):
            if isinstance(step, GuardedChain):
                yield from _chain(step, level, slot, counter)
                slot += 2 * len(step.branches)
                continue
            if nest.reduce and level == innermost:
                counter.accumulate(step, nest.reduce, innermost)
            else:
                counter.assign(step, level, copied=nest.copies and level == innermost)
            yield step, innermost + 1 if nest.mask is not None and level == innermost else level, counter


def _chain(
    chain: GuardedChain, level: int, slot: int, counter: OperationCounter
) -> Iterator[tuple[Assign, int, OperationCounter]]:
    """Count a chain. What a branch has loaded is not there for what follows the chain."""
    first = chain.branches[0]
    assert first.test is not None
    counter.expression(first.test, level)
    outside = counter.seen()
    for number, branch in enumerate(chain.branches):
        former = counter.under(level, slot + 2 * number)
        if number and branch.test is not None:
            counter.expression(branch.test, level)
        tested = counter.seen()
        counter.under(level, slot + 2 * number + 1)
        for assign in branch.assigns:
            counter.assign(assign, level)
            yield assign, slot + 2 * number + 1, counter
        counter.under(level, former)
        counter.forget(tested, level)
    counter.forget(outside, level)


def _assigned(nest: Nest) -> dict[str, int]:
    """The scalars that iterations of a nest assign, and the innermost level at which they do."""
    levels = [*enumerate(nest.outer, start=1), *([] if nest.reduce else [(len(nest.indices), nest.assigns)])]
    return {each.target.name: at for at, assigns in levels for each in assigns if isinstance(each.target, Var)}
