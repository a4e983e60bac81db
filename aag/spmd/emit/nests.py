"""Parallel nests: every processor runs the iterations that live with it (owner-computes)."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, Var
from aag.ir.intrinsics import REDUCTIONS
from aag.ir.linear import linear
from aag.ir.spelling import spell
from aag.ir.statements import Assign
from aag.ir.visitors import names_in
from aag.spmd.branches import GuardedBranch, GuardedChain, chained
from aag.spmd.elementwise import INNER
from aag.spmd.emit.context import Context, is_own
from aag.spmd.emit.moves import combine
from aag.spmd.emit.text import indented
from aag.spmd.nodes import Combine, Index, Nest, Reference, assigns_of

Execute = Callable[[Sequence[Assign]], list[str]]


class Narrowing(Struct):
    """How the home narrows a nest: bounds of loops (low, high), and guards by the number of loops around them."""

    low: dict[str, list[str]]
    high: dict[str, list[str]]
    guards: dict[int, list[str]]


def nest(context: Context, node: Nest, following: Combine | None) -> Iterator[str]:
    """The nest, and the combination of a reduction's partial results where one follows."""
    if node.reduce:
        yield from _reduction(context, node, following)
    elif node.copies:
        yield from _copied(context, node)
    else:
        yield from loops(context, node, lambda assigns: _masked(context, node, _plain(context, node, assigns)))
    yield from poison(context, node, assigns_of(node))


def loops(context: Context, node: Nest, execute: Execute) -> Iterator[str]:
    """The loops of a nest around what `execute` makes of its assignments."""
    share = narrowing(context, node.home, node.indices, node.span.line)
    yield from _level(context, node, share, 0, execute)


def _level(context: Context, node: Nest, share: Narrowing, depth: int, execute: Execute) -> Iterator[str]:
    yield from guarded(share.guards.get(depth, ()), _inside(context, node, share, depth, execute))


def guarded(guards: Sequence[str], lines: Iterable[str]) -> Iterator[str]:
    """Lines that run only where all guards hold."""
    if not guards:
        yield from lines
        return
    yield f"if ({' .and. '.join(guards)}) then"
    yield from indented(lines)
    yield "end if"


def _inside(context: Context, node: Nest, share: Narrowing, depth: int, execute: Execute) -> Iterator[str]:
    if depth == len(node.indices):
        yield from execute(node.assigns)
        return
    before, after = node.around(depth)
    if before:
        yield from execute(before)
    index, line = node.indices[depth], node.span.line
    yield context.do(index, line, *own_bounds(context, share, index, line))
    yield from indented(_level(context, node, share, depth + 1, execute))
    yield "end do"
    if after:
        yield from execute(after)


def own_bounds(context: Context, share: Narrowing, index: Index, line: int) -> tuple[str, str]:
    """The bounds of a loop as far as they are this processor's; empty: those of the source."""
    if not share.low.get(index.name):
        return "", ""
    if index.step == IntLit(-1):
        first = _narrowed("min", context.as_index(index.lower, line), share.high[index.name], index, context, line)
        return first, f"max({', '.join([context.as_index(index.upper, line), *share.low[index.name]])})"
    low = _narrowed("max", context.as_index(index.lower, line), share.low[index.name], index, context, line)
    return low, f"min({', '.join([context.as_index(index.upper, line), *share.high[index.name]])})"


def _narrowed(what: str, given: str, bounds: list[str], index: Index, context: Context, line: int) -> str:
    if index.step is None or index.step in (IntLit(1), IntLit(-1)):
        return f"{what}({', '.join([given, *bounds])})"
    least = bounds[0] if len(bounds) == 1 else f"max({', '.join(bounds)})"
    return f"esp_first({given}, {context.as_index(index.step, line)}, {least})"


def narrowing(context: Context, home: Reference | None, indices: Sequence[Index], line: int) -> Narrowing:
    """How loops become those of this processor's iterations."""
    share = Narrowing({}, {}, {})
    layout = None if home is None else context.distributed(home.array)
    if home is None or layout is None:
        return share
    names = [index.name for index in indices]
    for axis, meaning in enumerate(layout.axes):
        if meaning.role == "replicated" or layout.grid.shape[axis] == 1:
            continue
        if meaning.role == "fixed":
            share.guards.setdefault(0, []).append(f"esp_here({context.map_of(layout.array)}, {axis + 1})")
            continue
        subscript = home.subscripts[meaning.dim]
        used = [at for at, name in enumerate(names) if name in names_in(subscript)]
        block = meaning.distribution is not None and meaning.distribution.kind == "block"
        narrows = used and block
        if not narrows or not _narrow(context, share, indices[max(used)], subscript, layout.array, meaning.dim):
            guard = f"esp_mine({context.map_of(layout.array)}, {axis + 1}, {context.as_index(subscript, line)})"
            share.guards.setdefault(max(used) + 1 if used else 0, []).append(guard)
    return share


def _narrow(context: Context, share: Narrowing, index: Index, subscript: Expr, array: str, dim: int) -> bool:
    """Narrow the bounds of a loop so that index + constant is mine; whether that is possible."""
    form = linear(subscript, context.layouts.environment)
    rest = form.without(index.name)
    stepped = index.step is None or (isinstance(index.step, IntLit) and index.step.value >= -1)
    if form.coefficient(index.name) != 1 or not rest.is_constant or not stepped:
        return False
    shift = rest.constant
    sign = f" {'-' if shift > 0 else '+'} {abs(shift)}" if shift else ""
    share.low.setdefault(index.name, []).append(context.bound_of(array, dim, "lo") + sign)
    share.high.setdefault(index.name, []).append(context.bound_of(array, dim, "hi") + sign)
    return True


# --- assignments ------------------------------------------------------------------------------------------------


def assignment(context: Context, each: Assign) -> str:
    """One assignment; one that may keep the old value is a condition, so that nothing is read where it fails."""
    line = each.span.line
    match each.value:
        case Call(name="merge", args=(value, old, condition)) if old == each.target:
            target = context.spell(each.target, line)
            return f"if ({context.spell(condition, line)}) {target} = {context.spell(value, line)}"
    return f"{context.spell(each.target, line)} = {context.spell(each.value, line)}"


def _plain(context: Context, node: Nest, assigns: Sequence[Assign]) -> list[str]:
    started = [_started(context, node, each) for each in assigns]
    return [line for each in chained(node, started) for line in step(context, each)]


def step(context: Context, one: Assign | GuardedChain) -> Iterator[str]:
    """An assignment, or IF blocks."""
    if isinstance(one, Assign):
        yield assignment(context, one)
        return
    first = one.branches[0]
    if len(one.branches) == len(first.assigns) == 1:
        yield f"if ({_tested(context, first)}) {assignment(context, first.assigns[0])}"
        return
    for number, branch in enumerate(one.branches):
        otherwise = "else " if number else ""
        yield "else" if branch.test is None else f"{otherwise}if ({_tested(context, branch)}) then"
        yield from indented(assignment(context, each) for each in branch.assigns)
    yield "end if"


def _tested(context: Context, branch: GuardedBranch) -> str:
    assert branch.test is not None
    return context.spell(branch.test, branch.assigns[0].span.line)


def _started(context: Context, node: Nest, each: Assign) -> Assign:
    """The start of an inner MAXVAL or MINVAL is the least or greatest number, which lowering leaves to us."""
    for inner in assigns_of(node):
        value = inner.value
        masked = isinstance(value, Call) and value.name == "merge"
        if isinstance(value, Call) and masked:
            value = value.args[0]
        match value:
            case Call(name="max" | "min" as op, args=(Var(name=name) as first, _)) if (
                first == each.target == inner.target and is_own(first) and isinstance(each.value, IntLit)
            ):
                of, start = context.type_of(name), REDUCTIONS[op].start
                none = start(first, of, some=False)
                depth = next((at for at, beside in enumerate(node.outer, start=1) if each in beside), 0)
                if masked or not depth:
                    return replace(each, value=none)
                return replace(each, value=_first(start(first, of, some=True), none, node.indices[depth:]))
            case _:
                pass
    return each


def _masked(context: Context, node: Nest, lines: list[str]) -> list[str]:
    if node.mask is None:
        return lines
    return [f"if ({context.spell(node.mask, node.span.line)}) then", *indented(lines), "end if"]


def _copied(context: Context, node: Nest) -> Iterator[str]:
    """All right-hand sides first: count the iterations, compute into a temporary, then assign."""
    line = node.span.line
    counter = context.helper("at")
    context.declare(f"integer :: {counter}")
    targets = [each for each in assigns_of(node) if _stores(each)]
    assert len(targets) == 1, "a FORALL assigns to one array"
    (stored,) = targets
    assert isinstance(stored.target, Element)
    values = context.numbered("values")
    context.declare(f"{context.declared(stored.target.name, line)}, allocatable :: {values}(:)")
    taken = ""
    if node.mask is not None:
        taken = context.numbered("taken")
        context.declare(f"logical, allocatable :: {taken}(:)")
    step = f"{counter} = {counter} + 1"
    target = context.spell(stored.target, line)
    value = context.spell(stored.value, line)
    marked = [f"{taken}({counter}) = .true."] if taken else []
    kept = _masked(context, node, [*marked, f"{values}({counter}) = {value}"])
    where = f"if ({taken}({counter})) " if taken else ""

    def counted(assigns: Sequence[Assign]) -> list[str]:
        return [step] if stored in assigns else []

    def computed(assigns: Sequence[Assign]) -> list[str]:
        others = _plain(context, node, [each for each in assigns if each is not stored])
        lines = _masked(context, node, others) if others else []
        return [*lines, *([step, *kept] if stored in assigns else [])]

    def assigned(assigns: Sequence[Assign]) -> list[str]:
        return [step, f"{where}{target} = {values}({counter})"] if stored in assigns else []

    yield f"{counter} = 0"
    yield from loops(context, node, counted)
    yield f"allocate({values}({counter}))"
    if taken:
        yield f"allocate({taken}({counter}))"
        yield f"{taken} = .false."
    yield f"{counter} = 0"
    yield from loops(context, node, computed)
    yield f"{counter} = 0"
    yield from loops(context, node, assigned)
    yield f"deallocate({values}{f', {taken}' if taken else ''})"


def _stores(each: Assign) -> bool:
    return isinstance(each.target, Element)


# --- reductions -------------------------------------------------------------------------------------------------


def _reduction(context: Context, node: Nest, following: Combine | None) -> Iterator[str]:
    (accumulated,) = node.assigns
    target, line = accumulated.target, node.span.line
    assert isinstance(target, Var | Element)
    name = context.names.of(target.name)
    before = ""
    if isinstance(target, Var) and node.continues:
        before = context.helper("before")
        context.declare(f"{context.declared(target.name, line)} :: {before}")
        yield f"{before} = {name}"
    how = REDUCTIONS[node.reduce]
    some, kind_of = bool(before) or _accumulates(context, node, target), context.type_of(target.name)
    first = how.start(Var(name), kind_of, some=some)
    if not some and node.mask is None:
        first = _first(how.start(Var(name), kind_of, some=True), first, node.indices)
    yield f"{name} = {context.spell(first, line)}"
    if how.located:
        step = _better(context, context.spell(target, line), accumulated.value, node)
    else:
        step = assignment(context, replace(accumulated, value=how.accumulated(target, accumulated.value)))
    yield from loops(context, node, lambda _: _masked(context, node, [step]))
    if following is not None:
        yield from context.at(following)
        yield combine(context, following, target.name, owned=isinstance(target, Element))
    if before:
        yield f"{name} = {spell(how.combined(Var(name), Var(before)))}"


def _better(context: Context, best: str, pair: Expr, node: Nest) -> str:
    """Keep a value and its place where it is better than the best so far, or as good and earlier."""
    assert isinstance(pair, Call)
    value, place = (context.spell(each, node.span.line) for each in pair.args)
    sign = ">" if node.reduce == "maxloc" else "<"
    earlier = f"({value}) == {best}%value .and. {place} < {best}%place"
    target = node.assigns[0].target
    assert isinstance(target, Var | Element)
    kind = context.kind(target.name, node.span.line)
    better = f"{best}%place == 0 .or. ({value}) {sign} {best}%value .or. ({earlier})"
    return f"if ({better}) {best} = esp_{kind}({value}, {place})"


def _accumulates(context: Context, node: Nest, target: Var | Element) -> bool:
    """Whether the source says ``a(i) = a(i) op ...``, so that the result is combined with the old value."""
    statement = context.statement(node.assigns[0].span) or context.statement(node.span)
    if not isinstance(statement, Assign) or not isinstance(statement.target, Var | Element):
        return False
    return target.name.startswith(f"{statement.target.name}{INNER}")


def _first(some: Expr, none: Expr, indices: Iterable[Index]) -> Expr:
    """What to begin a reduction with: the one where its loops have an iteration, else the other."""
    if some == none:
        return none
    found: Expr | None = None
    for index in indices:
        if isinstance(index.lower, IntLit) and isinstance(index.upper, IntLit) and index.step is None:
            if index.lower.value > index.upper.value:
                return none
            continue
        entered = Binary("<=", index.lower, index.upper)
        found = entered if found is None else Binary(".and.", found, entered)
    return some if found is None else Call("merge", (some, none, found))


# --- debugging --------------------------------------------------------------------------------------------------


def poison(context: Context, node: Nest, assigns: Sequence[Assign]) -> Iterator[str]:
    """Where asked for, copies of what was just written elsewhere become NaN: who reads one gets a wrong answer."""
    if not context.poisons:
        return
    calls: dict[tuple[Index, ...], list[str]] = {}
    for each in assigns:
        if not isinstance(each.target, Element) or not context.holds_copies(each.target.name):
            continue
        # All loops around: where one of them has no iteration, nothing is written.
        depth = next((at for at, level in enumerate(node.outer, start=1) if each in level), len(node.indices))
        name, line = each.target.name, node.span.line
        subscripts = context.names.subscripts(each.target.subscripts)
        kind = context.kind(name, line)
        call = f"call esp_poison_{kind}({context.map_of(name)}, {subscripts}, {context.names.of(name)})"
        calls.setdefault(node.indices[:depth], []).append(call)
    if calls:
        yield "! copies elsewhere are stale now"
    for indices, lines in calls.items():
        for depth, index in enumerate(indices):
            yield from indented([context.do(index, node.span.line)], depth)
        yield from indented(dict.fromkeys(lines), len(indices))
        for depth in range(len(indices) - 1, -1, -1):
            yield from indented(["end do"], depth)
