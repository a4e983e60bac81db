"""What a nest does step by step, in the order of the emitted program, and which nests have to be looked at so."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from aag.ir.expressions import Binary, Element, Expr, Unary, Var
from aag.ir.statements import Assign
from aag.ir.visitors import elements_in, names_in
from aag.mapping.layout import Layouts
from aag.spmd.acts import COUNTER, Act, Count, Given, Mine, Repeat, Step
from aag.spmd.branches import GuardedBranch, chained, levels_of, may_change
from aag.spmd.nodes import Nest, Reference, assigns_of
from aag.spmd.touches import AccessSweep, elements_of


def is_uneven(nest: Nest) -> bool:
    """Whether start and step of each reference do not say all that the nest touches."""
    if isinstance(nest, AccessSweep):
        return bool(nest.steps)
    if nest.mask is not None or _touches_at_times(nest):
        return True
    names = frozenset(index.name for index in nest.indices)
    if any(index.reads & names for index in nest.indices):
        return True
    assigns = assigns_of(nest)
    sides = (side for assign in assigns for side in (assign.target, assign.value))
    return any(is_bent(part, names) for each in elements_in(*sides) for part in each.subscripts)


def _touches_at_times(nest: Nest) -> bool:
    """Whether branches touch what the iterations do not touch anyway."""
    if not nest.guarded:
        return False
    always, at_times = set[tuple[Element, bool]](), set[tuple[Element, bool]]()
    for _, assigns in levels_of(nest):
        for step in chained(nest, assigns):
            if isinstance(step, Assign):
                always.update(elements_of([step], None))
                continue
            for number, branch in enumerate(step.branches):
                tested = at_times if number else always
                tested.update((each, False) for each in elements_in(branch.test))
                at_times.update(elements_of(branch.assigns, None))
    seen = {element for element, _ in always}
    return any((element, True) not in always if write else element not in seen for element, write in at_times)


def is_bent(subscript: Expr, names: frozenset[str]) -> bool:
    """Whether a subscript does not move by the same with each step of an index among `names`."""
    match subscript:
        case Var():
            return False
        case Unary(operand=operand):
            return is_bent(operand, names)
        case Binary(op="+" | "-", left=left, right=right):
            return is_bent(left, names) or is_bent(right, names)
        case Binary(op="*", left=left, right=right):
            both = bool(names_in(left) & names) and bool(names_in(right) & names)
            return both or is_bent(left, names) or is_bent(right, names)
        case _:
            return bool(names_in(subscript) & names)


def steps_of(nest: Nest, layouts: Layouts) -> tuple[Step, ...]:
    """What a nest does, in the order of the emitted program."""
    if isinstance(nest, AccessSweep):
        return nest.steps
    if nest.copies:
        return tuple(_through_temporary(nest, layouts))
    return _loops(nest, layouts, lambda assigns: _executed(nest, assigns))


def _executed(nest: Nest, assigns: Sequence[Assign]) -> tuple[Step, ...]:
    reduced = bool(nest.reduce) and assigns == nest.assigns
    own = acts(assigns, reduced=reduced) if not nest.guarded else _steps_of(nest, assigns)
    return _masked(nest, own)


def _steps_of(nest: Nest, assigns: Sequence[Assign]) -> tuple[Step, ...]:
    """The references of assignments, those under conditions of their own where these hold."""
    found: list[Step] = []
    direct: list[Assign] = []
    for step in chained(nest, assigns):
        if isinstance(step, Assign):
            direct.append(step)
            continue
        found += [*acts(direct), *_branches(nest, step.branches)]
        direct.clear()
    return (*found, *acts(direct))


def _branches(nest: Nest, branches: Sequence[GuardedBranch]) -> tuple[Step, ...]:
    if not branches:
        return ()
    first, *others = branches
    tests = () if first.test is None else reads(first.test)
    body = acts(first.assigns)
    if first.test is None:
        return body
    followed = not may_change(nest, first.holds)
    otherwise = _branches(nest, others)
    return (*tests, Given(mask=first.holds, test=first.test, body=body, otherwise=otherwise, followed=followed))


def acts(assigns: Sequence[Assign], *, reduced: bool = False, source: int = 0) -> tuple[Step, ...]:
    """The references of assignments that follow each other."""
    return tuple(Act(element=each, write=write, source=source) for each, write in elements_of(assigns, None, reduced))


def reads(expr: Expr, *, source: int = 0) -> tuple[Step, ...]:
    """The references of an expression."""
    return tuple(Act(element=each, write=False, source=source) for each in dict.fromkeys(elements_in(expr)))


def _masked(nest: Nest, body: tuple[Step, ...]) -> tuple[Step, ...]:
    if nest.mask is None or not body:
        return body
    return (*reads(nest.mask), Given(mask=nest.mask, body=body))


def _loops(nest: Nest, layouts: Layouts, execute: Callable[[Sequence[Assign]], tuple[Step, ...]]) -> tuple[Step, ...]:
    """The loops of a nest around what `execute` makes of its assignments, each processor for its own iterations."""
    guards = guards_of(nest.home, [index.name for index in nest.indices], layouts)
    depth = len(nest.indices)
    body = guarded(execute(nest.assigns), guards.get(depth, []))
    for at in reversed(range(depth)):
        before, after = nest.around(at)
        inside = (*execute(before), Repeat(index=nest.indices[at], body=body), *execute(after))
        body = guarded(inside, guards.get(at, []))
    return body


def guarded(body: tuple[Step, ...], guards: Sequence[Mine]) -> tuple[Step, ...]:
    """Steps under conditions."""
    for guard in guards:
        body = (replace(guard, body=body),)
    return body


def guards_of(home: Reference | None, names: Sequence[str], layouts: Layouts) -> dict[int, list[Mine]]:
    """The conditions under which an iteration is mine, by the number of loops around them."""
    found: dict[int, list[Mine]] = {}
    layout = None if home is None else layouts.arrays.get(home.array)
    if home is None or layout is None or layouts.procs == 1:
        return found
    for axis, meaning in enumerate(layout.axes):
        if meaning.role == "replicated" or layout.grid.shape[axis] == 1:
            continue
        subscript = home.subscripts[meaning.dim] if meaning.role == "dim" else None
        used = [at + 1 for at, name in enumerate(names) if subscript is not None and name in names_in(subscript)]
        guard = Mine(array=layout.array, axis=axis, subscript=subscript, body=())
        found.setdefault(max(used, default=0), []).append(guard)
    return found


def _through_temporary(nest: Nest, layouts: Layouts) -> Iterator[Step]:
    """All values first: the emitted program marks which it has taken, keeps them, and assigns them in loops of their
    own (`aag.spmd.emit.nests`)."""
    every = assigns_of(nest)
    stored = next(each for each in every if isinstance(each.target, Element))
    at = (Var(COUNTER),)
    values, taken = (Element(name, at) for name in temporaries(nest))
    kept = Act(element=values, write=True)
    mark = (Act(element=taken, write=True),) if nest.mask is not None else ()

    def numbered(make: Callable[[], tuple[Step, ...]]) -> tuple[Step, ...]:
        return _loops(nest, layouts, lambda assigns: (Count(), *make()) if stored in assigns else ())

    def computed(assigns: Sequence[Assign]) -> tuple[Step, ...]:
        others = _masked(nest, acts([each for each in assigns if each is not stored]))
        if stored not in assigns:
            return others
        return (*others, Count(), *_masked(nest, (*mark, *reads(stored.value), kept)))

    def assigned() -> tuple[Step, ...]:
        assert isinstance(stored.target, Element)
        move = (
            replace(kept, write=False),
            *(Act(element=each, write=False) for each in elements_in(*stored.target.subscripts)),
            Act(element=stored.target, write=True),
        )
        if nest.mask is None:
            return move
        return (Act(element=taken, write=False), Given(mask=nest.mask, body=move))

    if mark:
        yield from numbered(lambda: mark)
    yield from _loops(nest, layouts, computed)
    yield from numbered(assigned)


def temporaries(nest: Nest) -> tuple[str, str]:
    """Names for the temporaries of a FORALL that reads what it writes: values, and which of them were taken."""
    return f"values@{nest.span.line}", f"taken@{nest.span.line}"
