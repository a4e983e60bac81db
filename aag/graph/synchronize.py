"""AAG -> SAAG: communication edges superimposed on the control structure.

An edge says which AAU last produced the data, which Comm (or SyncSeq) moves or combines it, and which AAU needs it
first. The tree is walked in program order. In a loop a later AAU may be the producer of the next iteration, so a body
is walked twice; after a conditional what any branch wrote may be there. A loop is taken to run at least once.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from aag.graph import aau as g
from aag.ir.expressions import Element, Expr, Var
from aag.ir.statements import Assign
from aag.ir.visitors import names_in
from aag.spmd.nodes import assigns_of

_Producers = dict[str, frozenset[int]]


def synchronize(graph: g.Graph) -> g.Graph:
    """The graph with its communication edges, in program order of the communication."""
    state = _State()
    _walk(graph.body, state)
    state.flush()
    order = sorted(dict.fromkeys(state.edges), key=lambda edge: edge.comm)
    return replace(graph, edges=tuple(order))


class _Moved(Struct, frozen=True, kw_only=True):
    """Data under way: who brought them, under which `name` they are read, and who gets them if nobody reads them."""

    comm: int
    name: str
    array: str
    pattern: str
    sources: frozenset[int]
    otherwise: int | None = None


class _State:
    """Where the walk stands: who produced each array last, what is under way, and the edges found so far."""

    def __init__(self) -> None:
        self.producers: _Producers = {}
        self.pending: list[_Moved] = []
        self.edges: list[g.CommEdge] = []
        self.partial: tuple[int, str] | None = None
        """The last nest that reduced, and the name of its partial result."""
        self.ends: dict[tuple[object, ...], tuple[_Producers, tuple[_Moved, ...], tuple[int, str] | None]] = {}
        """Where a body that was walked from some state ended."""

    def arrive(self, moved: _Moved, target: int) -> None:
        """Data reach the AAU that needs them."""
        sources: list[int | None] = [*sorted(moved.sources)] or [None]
        for source in sources:
            self.edges.append(
                g.CommEdge(comm=moved.comm, source=source, target=target, array=moved.array, pattern=moved.pattern)
            )

    def reads(self, number: int, names: frozenset[str], *, output: bool = False) -> None:
        """An AAU reads these names: what is under way to it arrives. The `output` of a program reads what was moved
        just before, whatever its name."""
        left = []
        for moved in self.pending:
            if moved.name in names or (output and moved.pattern != "reduction"):
                self.arrive(moved, number)
            else:
                left.append(moved if moved.otherwise is not None else replace(moved, otherwise=number))
        self.pending = left

    def flush(self) -> None:
        """What nobody was seen to read goes to the AAU after the communication."""
        for moved in self.pending:
            self.arrive(moved, moved.comm if moved.otherwise is None else moved.otherwise)
        self.pending = []

    def writes(self, number: int, assigns: Iterable[Assign]) -> None:
        for assign in assigns:
            if isinstance(assign.target, Var | Element):
                self.producers[assign.target.name] = frozenset((number,))


def _walk(body: tuple[g.AAU, ...], state: _State) -> None:
    for aau in body:
        _visit(aau, state)


def _iterate(number: int, body: tuple[g.AAU, ...], state: _State) -> None:
    """One iteration of a loop. A body that was walked from the same state has told its edges: with two iterations of
    each loop an innermost body would otherwise be walked 2**depth times."""
    start = (number, frozenset(state.producers.items()), tuple(state.pending), state.partial)
    if start not in state.ends:
        _walk(body, state)
        state.ends[start] = dict(state.producers), tuple(state.pending), state.partial
    producers, pending, state.partial = state.ends[start]
    state.producers, state.pending = dict(producers), [*pending]


def _visit(aau: g.AAU, state: _State) -> None:
    match aau:
        case g.Comm(operation=operation) if operation is not None:
            array = operation.array
            sources = state.producers.get(array, frozenset())
            state.pending.append(
                _Moved(comm=aau.id, name=array, array=array, pattern=operation.pattern, sources=sources)
            )
        case g.Comm():  # it prints what was gathered for it
            state.reads(aau.id, aau.uses, output=True)
        case g.SyncSeq():
            _reduction(aau, state)
        case g.CondtD(branches=branches) | g.CondtSync(branches=branches):
            _branches(aau.id, branches, state)
        case g.IterND(condition=condition, body=body):
            for _ in range(2):
                state.reads(aau.id, names_in(condition))
                _iterate(aau.id, body, state)
            state.reads(aau.id, names_in(condition))
        case _:
            if state.pending:
                state.reads(aau.id, _own_reads(aau))
            _compute(aau, state)


def _compute(aau: g.AAU, state: _State) -> None:
    """Computation: what it writes; for a loop, what its body does in two iterations."""
    match aau:
        case g.IterD(nest=nest) if nest is not None:
            state.writes(aau.id, [*(each for level in nest.outer for each in level), *nest.assigns])
            if nest.reduce:
                target = nest.assigns[0].target
                state.partial = (aau.id, target.name if isinstance(target, Var | Element) else "")
        case g.IterSync(owned=owned) if owned is not None:
            state.writes(aau.id, owned.assigns)
            needed = (need.reference.array for need in owned.needs)
            for array in dict.fromkeys((*needed, *(each.name for each in owned.carried))):
                own = _Moved(comm=aau.id, name=array, array=array, pattern="transfer", sources=frozenset((aau.id,)))
                state.arrive(own, aau.id)  # from one owner to the next, inside the loop
        case g.Seq(assigns=assigns):
            state.writes(aau.id, assigns)
        case g.IterD(body=body) | g.IterSync(body=body):
            for _ in range(2):
                _iterate(aau.id, body, state)
        case _:
            _walk(g.children(aau), state)


def _reduction(aau: g.SyncSeq, state: _State) -> None:
    """Partial results of the nest before are combined; whoever reads the result needs them. No reader: itself."""
    source, name = state.partial or (None, "")
    sources = frozenset[int]() if source is None else frozenset((source,))
    array = aau.combine.home.array
    state.pending.append(
        _Moved(comm=aau.id, name=name, array=array, pattern="reduction", sources=sources, otherwise=aau.id)
    )


def _branches(number: int, branches: tuple[g.AauBranch, ...], state: _State) -> None:
    before = state.producers
    after: _Producers = dict(before) if all(each.condition is not None for each in branches) else {}
    for branch in branches:
        state.reads(number, names_in(branch.condition))
    for branch in branches:
        state.producers = dict(before)
        _walk(branch.body, state)
        for name, sources in state.producers.items():
            after[name] = after.get(name, frozenset()) | sources
    state.producers = after


def _own_reads(aau: g.AAU) -> frozenset[str]:
    """Names that an AAU itself reads, without the AAUs inside it."""
    assigns: list[Assign] = []
    exprs: list[Expr | None] = []
    match aau:
        case g.IterD(nest=nest) if nest is not None:
            assigns = list(assigns_of(nest))
            exprs = [nest.mask, *(bound for index in nest.indices for bound in (index.lower, index.upper))]
        case g.IterSync(owned=owned) if owned is not None:
            assigns = list(owned.assigns)
        case g.IterD(loop=loop) | g.IterSync(loop=loop) if loop is not None:
            exprs = [loop.lower, loop.upper, loop.step]
        case g.Seq(assigns=found):
            assigns = list(found)
    exprs += [each.value for each in assigns]
    exprs += [part for each in assigns if isinstance(each.target, Element) for part in each.target.subscripts]
    return names_in(*exprs)
