"""Loops of any contents whose iterations belong to processors: each runs its own, without messages inside.

    do j = 1, m            the home is x(:, j): what an iteration writes lives there
      call fft(x(:, j))    loops, conditions, procedures and library calls inside run as in the serial program
    end do

That is right where each iteration writes nothing but its own part of distributed arrays, reads nothing else of these
arrays, and works with scalars and arrays that no other iteration and nothing after the loop reads. Other arrays are
brought before the loop, wherever their owners are. INDEPENDENT is not needed for that.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.expressions import Call, Element, Expr, IntLit, Section, Var
from aag.ir.linear import linear
from aag.ir.liveness import exposed
from aag.ir.spelling import spell
from aag.ir.steady import all_passed, assigned_by_call
from aag.ir.visitors import (
    bodies,
    children,
    elements_in,
    map_expression,
    map_own,
    mapped,
    names_in,
    own_expressions,
    walk_expressions,
    walk_statements,
)
from aag.spmd import claims
from aag.spmd.dependence import Access, may_leave
from aag.spmd.leaves import Leaf, reduced_names, reduction
from aag.spmd.lowering import Lowering
from aag.spmd.names import calls_any
from aag.spmd.needs import Use, classify
from aag.spmd.nodes import Index, Need, Reference
from aag.spmd.partials import Partial
from aag.spmd.symbols import Unsupported

_PLAIN = (
    ir.Assign,
    ir.Do,
    ir.DoWhile,
    ir.If,
    ir.SelectCase,
    ir.Forall,
    ir.Where,
    ir.Continue,
    ir.Enter,
    ir.Exit,
    ir.Cycle,
)


class SharedLoop(Struct, frozen=True):
    """Where the iterations of a loop run, and what they read from elsewhere."""

    home: Reference
    reads: tuple[Use, ...]
    partials: tuple[Partial, ...]
    """Reductions, each into a variable of its own."""
    body: tuple[ir.Stmt, ...]
    """That of the loop, with these variables."""


class _Mention(Struct, frozen=True):
    """A reference to a distributed array in the body: sections stay, the loops around it are `indices`."""

    element: Element
    indices: tuple[Index, ...]
    conditional: bool
    is_target: bool


def shared(lowering: Lowering, statement: ir.Do) -> SharedLoop:
    """How the iterations of a loop are shared among the owners of what it writes.

    Raises:
        Unsupported: they cannot be; it says why.
    """
    inside = list(walk_statements(statement.body))
    _check(lowering, statement, inside)
    index = lowering.index(statement.var, statement.lower, statement.upper, statement.step)
    assigned = frozenset(_changed(inside))
    if statement.var in assigned or index.reads & assigned:
        raise Unsupported("the body changes the bounds of the loop")
    changes = assigned | {one.name for each in inside if isinstance(each, ir.Forall) for one in each.indices}
    mentions = list(_Mentions(lowering, changes, index).of(statement.body, (index,), conditional=False))
    written = {each.element.name for each in mentions if each.is_target}
    if not written:
        raise Unsupported("the loop writes no distributed data")
    names = _reduced(lowering, statement, inside)
    home = _home(lowering, mentions, index, changes, reduces=bool(names))
    for each in mentions:
        if each.element.name in written and not _is_own(lowering, each.element, home):
            raise Unsupported(f"an iteration uses elements of {each.element.name} that are not its own")
    _check_private(lowering, statement, assigned - written - names.keys())
    reads = [_use(lowering, each, home, changes, index) for each in mentions if each.element.name not in written]
    partials = tuple(Partial.of(lowering, into, operation) for into, operation in names.values())
    own = {each.into.name: each.name for each in partials}
    body = _renamed(statement.body, own) if own else statement.body
    return SharedLoop(home, tuple(dict.fromkeys(each for each in reads if each is not None)), partials, body)


def _reduced(lowering: Lowering, statement: ir.Do, inside: Sequence[ir.Stmt]) -> dict[str, tuple[Var | Element, str]]:
    """The scalars, and arrays of REDUCTION, into which the loop does nothing but reduce, each with its operation."""
    claimed = statement.independent.reductions if statement.independent is not None else ()
    if not claimed and not lowering.options.on("reductions"):
        return {}
    leaves = [Leaf((), (), None, each) for each in inside if isinstance(each, ir.Assign)]
    others = names_in(*(part for each in inside if not isinstance(each, ir.Assign) for part in own_expressions(each)))
    names = reduced_names(lowering, leaves, claimed) - others
    found: dict[str, tuple[Var | Element, str]] = {}
    for leaf in leaves:
        update, target = reduction(leaf, names), leaf.assign.target
        if update is not None and isinstance(target, Var | Element) and not lowering.is_distributed(target.name):
            found[target.name] = target, update[0]
    private = frozenset(found) - exposed(statement.body, frozenset(found))
    private -= lowering.live.wanted_after(statement, private)
    return {name: each for name, each in found.items() if name not in private}


def _renamed(body: tuple[ir.Stmt, ...], names: Mapping[str, str]) -> tuple[ir.Stmt, ...]:
    def new(expr: Expr) -> Expr:
        match expr:
            case Var(name=name) if name in names:
                return Var(names[name], span=expr.span)
            case Element(name=name, subscripts=subscripts) if name in names:
                return Element(names[name], subscripts, span=expr.span)
            case _:
                return expr

    def statement(each: ir.Stmt) -> ir.Stmt:
        return map_own(mapped(each, lambda inner: _renamed(inner, names)), lambda part: map_expression(part, new))

    return tuple(map(statement, body))


def _check(lowering: Lowering, statement: ir.Do, inside: Sequence[ir.Stmt]) -> None:
    """Only statements that one processor can run by itself, and that stay in the loop."""
    for each in inside:
        if isinstance(each, ir.CallStmt) and each.cost is not None:
            if each.cost.has_sequence:
                raise Unsupported(f"{each.name} returns a sequence of numbers that all iterations share")
            _check_elements(lowering, each)
        elif not isinstance(each, _PLAIN):
            raise Unsupported("the loop contains more than assignments, loops and conditions")
        if any(calls_any(part, lowering.impure) for part in own_expressions(each)):
            raise Unsupported("the loop calls functions that may have side effects")
    if any(_leaves(each, statement) for each in _own(statement.body)):
        raise Unsupported("the loop may be left early")
    named = {each.name for each in inside if isinstance(each, ir.Do | ir.DoWhile)} | {statement.name}
    jumps = {each.name for each in inside if isinstance(each, ir.Exit | ir.Cycle)} - {""}
    if not jumps <= named or (statement.name and _exits(inside, statement.name)):
        raise Unsupported("the loop may be left early")


def _check_elements(lowering: Lowering, call: ir.CallStmt) -> None:
    """A library procedure that gets an element may use those behind it in memory, which may be of other iterations."""
    for each in call.args:
        if not isinstance(each, Element) or any(isinstance(part, Section) for part in each.subscripts):
            continue
        if lowering.is_distributed(each.name):
            where = f"{each.name}, and {call.name} may use others behind it: pass a section"
            raise Unsupported(f"the loop passes an element of {where}")


def _own(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a body but for those in loops inside it."""
    for each in body:
        yield each
        if not isinstance(each, ir.Do | ir.DoWhile):
            for inner in bodies(each):
                yield from _own(inner)


def _leaves(statement: ir.Stmt, loop: ir.Do) -> bool:
    return isinstance(statement, ir.Exit) and statement.name in ("", loop.name)


def _exits(inside: Sequence[ir.Stmt], name: str) -> bool:
    return any(isinstance(each, ir.Exit) and each.name == name for each in inside)


def _changed(inside: Sequence[ir.Stmt]) -> Iterator[str]:
    for each in inside:
        match each:
            case ir.Assign(target=Var(name=name) | Element(name=name)):
                yield name
            case ir.Assign():
                raise Unsupported("assignment to a part of a variable")
            case ir.Do(var=name):
                yield name
            case ir.CallStmt():
                yield from assigned_by_call(each, all_passed)


def _check_private(lowering: Lowering, statement: ir.Do, names: frozenset[str]) -> None:
    """What an iteration changes besides distributed arrays must be its own: nothing else reads it."""
    names = names.union(*(lowering.sharing.get(name, ()) for name in names))
    new = frozenset(statement.independent.new) if statement.independent is not None else frozenset()
    claimed = names & new
    wanted = lowering.live.wanted_after(statement, names - claimed)
    if wanted:
        raise Unsupported(f"{min(wanted)} may be read after the loop")
    body, single = _elements_apart(statement.body, names)
    first = exposed(body, names | single.keys())
    first = frozenset(single.get(name, name) for name in first)
    if first - claimed:
        raise Unsupported(f"an iteration may read {min(first - claimed)} before it sets it")
    if first and statement.lower != statement.upper:
        claims.filled(lowering, sorted(first))


def _elements_apart(body: tuple[ir.Stmt, ...], names: frozenset[str]) -> tuple[tuple[ir.Stmt, ...], dict[str, str]]:
    """The body of a loop with a scalar for each element of small arrays that it uses by elements with constant
    subscripts alone (``r(1)``, ``r(2)``); scalar -> array. An iteration that sets such an element before it reads it
    has it for itself."""
    inside = list(walk_statements(body))
    parts = [part for each in inside for part in own_expressions(each)]
    every = [each for part in parts for each in walk_expressions(part) if isinstance(each, Element | Var)]
    plain = {each.name for each in every if isinstance(each, Element)} & names
    plain -= {each.name for each in every if not (isinstance(each, Element) and _is_fixed(each))}
    plain -= {
        one.name for each in inside if isinstance(each, ir.CallStmt) for one in each.args if isinstance(one, Element)
    }
    single: dict[str, str] = {}

    def scalar(expr: Expr) -> Expr:
        if not isinstance(expr, Element) or expr.name not in plain:
            return expr
        name = spell(expr)
        single[name] = expr.name
        return Var(name, span=expr.span)

    def statement(each: ir.Stmt) -> ir.Stmt:
        inner = mapped(each, lambda statements: tuple(map(statement, statements)))
        return map_own(inner, lambda part: map_expression(part, scalar))

    return (tuple(map(statement, body)), single) if plain else (body, single)


def _is_fixed(element: Element) -> bool:
    return all(isinstance(each, IntLit) for each in element.subscripts)


# --- where the iterations run -----------------------------------------------------------------------------------


def _home(
    lowering: Lowering, mentions: Sequence[_Mention], index: Index, changes: frozenset[str], *, reduces: bool
) -> Reference:
    """The first part of a distributed array that each iteration has for itself, as an element of it."""
    targets = [each for each in mentions if each.is_target]
    apart = [each for each in targets if _is_apart(lowering, each.element, index, changes)]
    if not apart:
        raise Unsupported("an iteration writes elements of several processors")
    for each in apart:
        layout, subscripts = lowering.arrays[each.element.name], each.element.subscripts
        decisive = {axis.dim for axis in layout.axes if axis.role == "dim"}
        places = tuple(
            subscript if dim in decisive else layout.declared[dim][0] for dim, subscript in enumerate(subscripts)
        )
        alone = not reduces and all(_ranges(lowering, one) == _ranges(lowering, each) for one in targets)
        if alone or _exists(lowering, Element(layout.array, places), each, mentions, index):
            return Reference(array=layout.array, subscripts=places, indices=(index,))
    raise Unsupported("no element that the loop writes exists in all iterations")


def _ranges(lowering: Lowering, mention: _Mention) -> list[tuple[Expr, tuple[int, int]]]:
    """The subscripts that decide who owns an element, with the bounds of their dimensions."""
    layout = lowering.arrays[mention.element.name]
    dims = [axis.dim for axis in layout.axes if axis.role == "dim"]
    return [(mention.element.subscripts[dim], layout.bounds[dim]) for dim in dims]


def _exists(lowering: Lowering, place: Element, mention: _Mention, mentions: Sequence[_Mention], index: Index) -> bool:
    """Whether an element that is mentioned exists in each iteration of a loop, whatever it does."""
    sure = [each for each in mentions if not each.conditional and each.indices == (index,)]
    if mention in sure:
        return True
    known = [
        (Access(each.name, each.subscripts, (index,), ()), lowering.arrays[each.name].bounds)
        for each in (one.element for one in sure)
        if not any(isinstance(part, Section) for part in each.subscripts)
    ]
    access = Access(place.name, place.subscripts, (index,), ())
    return not may_leave(access, lowering.arrays[place.name].bounds, lowering.env, lowering.reach.around, known)


def _is_apart(lowering: Lowering, element: Element, index: Index, changes: frozenset[str]) -> bool:
    """Whether the loop variable and constants decide who owns an element, and no two iterations share one."""
    decisive = list(_decisive(lowering, element))
    if any(isinstance(each, Section) or names_in(each) & changes or elements_in(each) for each in decisive):
        return False
    return any(
        linear(each, lowering.env).coefficient(index.name) and _is_linear(each, index.name, lowering)
        for each in decisive
    )


def _is_linear(subscript: Expr, name: str, lowering: Lowering) -> bool:
    """Whether nothing but a factor stands at the loop variable in a subscript."""
    return not any(name in names_in(atom) for atom in linear(subscript, lowering.env).terms if atom != Var(name))


def _decisive(lowering: Lowering, element: Element) -> Iterator[Expr]:
    """The subscripts that decide who owns an element."""
    for axis in lowering.arrays[element.name].axes:
        if axis.role == "dim":
            yield element.subscripts[axis.dim]


def _is_own(lowering: Lowering, element: Element, home: Reference) -> bool:
    """Whether just those who run an iteration have an element."""
    decisive = [*_decisive(lowering, element)]
    if any(isinstance(each, Section) or elements_in(each) for each in decisive):
        return False
    own = Reference(array=element.name, subscripts=element.subscripts, indices=home.indices)
    return _is_there(lowering, own, home) and _is_there(lowering, home, own)


def _is_there(lowering: Lowering, read: Reference, home: Reference) -> bool:
    return classify(Need(reference=read, home=home), lowering.layouts, lowering.env) is None


# --- what they read ---------------------------------------------------------------------------------------------


class _Mentions:
    """Finds the references to distributed arrays in a body."""

    def __init__(self, lowering: Lowering, changes: frozenset[str], index: Index) -> None:
        self.lowering = lowering
        self.changes = changes
        self.index = index

    def of(self, body: Sequence[ir.Stmt], around: tuple[Index, ...], *, conditional: bool) -> Iterator[_Mention]:
        """Those of some statements, inside the loops `around`."""
        for each in body:
            if isinstance(each, ir.Assign):
                target = each.target
                if isinstance(target, Var | Element):
                    found = self._of(target, around, conditional=conditional)
                    yield from (replace(one, is_target=one.element.name == target.name) for one in found)
                yield from self._of(each.value, around, conditional=conditional)
                continue
            if isinstance(each, ir.CallStmt):
                yield from self._of_call(each, around)
                continue
            inner = around
            match each:
                case ir.Do():
                    inner = (*around, *self._index(each.var, each.lower, each.upper, each.step, around))
                case ir.Forall(indices=indices):
                    for one in indices:
                        inner = (*inner, *self._index(one.name, one.lower, one.upper, one.step, inner))
            for part in own_expressions(each):
                yield from self._of(part, inner, conditional=True)
            # CYCLE and EXIT make conditions of all that follows them.
            decides = isinstance(each, ir.If | ir.SelectCase | ir.Where | ir.DoWhile) or _masked(each)
            for part_body in bodies(each):
                yield from self.of(part_body, inner, conditional=conditional or decides)
            conditional |= any(isinstance(one, ir.Cycle | ir.Exit) for one in walk_statements((each,)))

    def _of_call(self, call: ir.CallStmt, around: tuple[Index, ...]) -> Iterator[_Mention]:
        """The arguments of a library procedure, which has no messages brought for it: those that it only reads count as
        targets, too, so that they are the iteration's own."""
        for each in call.args:
            for one in self._of(each, around, conditional=True):
                yield replace(one, is_target=True)

    def _index(
        self, name: str, lower: Expr, upper: Expr, step: Expr | None, around: tuple[Index, ...]
    ) -> tuple[Index, ...]:
        """The index of an inner loop, if its range is known before the loop."""
        made = Index(name=name, lower=lower, upper=upper, step=step)
        known = {index.name for index in around}
        plain = not elements_in(*made.bounds) and not any(map(self._is_called, made.bounds))
        return (made,) if plain and not made.reads & (self.changes - known) and name not in known else ()

    def _is_called(self, expr: Expr) -> bool:
        return any(isinstance(each, Call) for each in (expr, *children(expr)))

    def _of(self, expr: Expr, around: tuple[Index, ...], *, conditional: bool) -> Iterator[_Mention]:
        match expr:
            case Var(name=name) if self.lowering.is_distributed(name):
                layout = self.lowering.arrays[name]
                whole = Element(name, (Section(None, None, None),) * layout.rank, span=expr.span)
                yield _Mention(whole, around, conditional, is_target=False)
                return
            case Element(name=name) if self.lowering.is_distributed(name):
                yield _Mention(expr, around, conditional, is_target=False)
            case Call():
                found = self.lowering.symbols.intrinsic(expr.name)
                if found is not None and found.form in ("bounds", "type"):
                    return
            case _:
                pass
        for child in children(expr):
            yield from self._of(child, around, conditional=conditional)


def _masked(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.Forall) and statement.mask is not None


def _use(lowering: Lowering, mention: _Mention, home: Reference, changes: frozenset[str], index: Index) -> Use | None:
    """What has to be brought for a reference; None: nothing. Where the text does not say which elements are read, it is
    all that a dimension has."""
    element = mention.element
    layout = lowering.arrays[element.name]
    if not any(isinstance(each, Section) for each in _decisive(lowering, element)) and _is_there(
        lowering, Reference(array=element.name, subscripts=element.subscripts, indices=(index,)), home
    ):
        return None
    known = frozenset(each.name for each in mention.indices)
    subscripts: list[Expr] = []
    more: list[Index] = []
    for (lower, upper), each in zip(layout.declared, element.subscripts, strict=True):
        names = names_in(each)
        exact = not isinstance(each, Section) and not elements_in(each) and not names & (changes - known)
        if exact and not (mention.conditional and names) and not lowering.symbols.shape(each):
            subscripts.append(each)
            continue
        name = lowering.elementwise.fresh("all")
        more.append(Index(name=name, lower=lower, upper=upper, step=None))
        subscripts.append(Var(name))
    used = names_in(*subscripts) | {index.name}
    kept: list[Index] = []
    for each_index in reversed(mention.indices):
        if each_index.name in used:
            kept.insert(0, each_index)
            used |= each_index.reads
    return Use(Element(element.name, tuple(subscripts), span=element.span), (*kept, *more))
