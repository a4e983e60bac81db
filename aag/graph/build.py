"""Node program -> Application Abstraction Graph (model: Parashar and Hariri, section 2.2 and Table 1).

Each node becomes one AAU of the class that its communication decides: a loop with communication inside is IterSync,
without IterD. Ids count in program order, so two runs give the same graph.
"""

from collections.abc import Collection, Iterable, Sequence
from types import EllipsisType
from typing import TypedDict

from msgspec.structs import replace

from aag.diagnostics import CallSite, Span
from aag.graph import aau as g
from aag.graph.counts import CountingContext, counts, nest_work, turn_work, work_of
from aag.graph.labels import label_of
from aag.graph.shares import own_call, shares_of
from aag.graph.sweeps import Swept, beside, is_simple, sweeps_of
from aag.graph.tally import add_counts
from aag.ir.operations import combination
from aag.ir.storage import sharing
from aag.ir.visitors import backward_slice, names_in
from aag.spmd import nodes as n
from aag.spmd.order import mask_level
from aag.spmd.program import NodeProgram
from aag.spmd.symbols import Symbols

_GUARD = g.Work(overhead=(("guard", 1.0),))
_BOUND = (("int.add", 4.0), ("int.cmp", 2.0))
"""Local bounds of one partitioned loop: offset by the coordinate, clipped at both ends."""

_BOUND_CALL = (("call", 1.0), ("int.add", 8.0), ("int.cmp", 4.0), ("int.div", 2.0), ("int.mul", 2.0))
"""The same by a call of a run-time library, for any distribution: block and place in it of both ends."""


def build_graph(program: NodeProgram) -> g.Graph:
    """The AAG of a node program, communication edges not yet superimposed (`aag.graph.synchronize`)."""
    symbols = Symbols(program.unit, program.layouts.arrays)
    for name, kind in program.types.items():
        symbols.declare(name, kind)
    done = program.options.on
    context = CountingContext(
        symbols=symbols,
        constants=program.layouts.constants,
        invariant=done("invariant"),
        strength=done("strength"),
        library=done("library"),
        masks=done("masks"),
    )
    builder = _Builder(program, context)
    body = builder.spawn()
    return g.Graph(
        body=(body,),
        count=builder.count,
        critical=_critical(program.body),
        untraced=frozenset(sharing(program.unit)),
        unknown=program.layouts.unknown,
    )


class _Common(TypedDict):
    """What every AAU has."""

    id: int
    span: Span
    label: str
    uses: frozenset[str]
    defines: frozenset[str]


def _common(
    number: int, node: n.Node, inside: Iterable[g.AAU] = (), *, own: CallSite | EllipsisType | None = ...
) -> _Common:
    """What the AAU of a node has; the names of a compound one include those of the AAUs `inside` it. `own`: the call
    that it belongs to, where that is not the one of the node."""
    body = tuple(inside)
    return _Common(
        id=number,
        span=node.span if isinstance(own, EllipsisType) else replace(node.span, call=own),
        label=label_of(node),
        uses=node.uses | _union(each.uses for each in body),
        defines=node.defines | _union(each.defines for each in body),
    )


class _Builder:
    """Makes AAUs and counts them."""

    def __init__(self, program: NodeProgram, context: CountingContext) -> None:
        self.program = program
        self.context = context
        self.count = 0
        self.numbers: dict[n.Node, int] = {}
        """The AAU of each node."""
        self.inside = False
        """Whether the nodes at hand stand in a loop whose sweeps are found as a whole."""

    def _id(self) -> int:
        self.count += 1
        return self.count - 1

    def spawn(self) -> g.Spawn:
        unit = self.program.unit
        number = self._id()
        start = g.Start(id=self._id(), span=unit.span, label=f"{unit.kind} {unit.name}")
        body = self.body(self.program.body)
        end = g.End(id=self._id(), span=unit.end, label=f"end {unit.name}")
        whole = (start, *body, end)
        return g.Spawn(
            id=number,
            span=unit.span,
            label=f"spawn {unit.name}",
            body=whole,
            uses=_union(each.uses for each in whole),
            defines=_union(each.defines for each in whole),
        )

    def body(self, nodes: Sequence[n.Node]) -> tuple[g.AAU, ...]:
        return tuple(self.node(each) for each in nodes)

    def node(self, node: n.Node) -> g.AAU:
        """The AAU of one node."""
        self.numbers[node] = self.count
        match node:
            case n.Nest():
                return self._nest(node)
            case n.DoNode():
                return self._loop(node)
            case n.WhileNode():
                return self._while(node)
            case n.IfNode():
                return self._conditional(node)
            case n.OwnedLoop():
                return self._owned(node)
            case n.CallNode():
                return self._call(node)
            case _:
                return self._simple(node)

    def _simple(self, node: n.Node) -> g.AAU:
        common = _common(self._id(), node)
        match node:
            case n.Local(assigns=assigns, overhead=overhead):
                work = work_of(self.context, assigns=assigns)
                work = g.Work(overhead=work.computation) if overhead else work
                return g.Seq(**common, work=work, assigns=assigns, shares=shares_of(node, node.span.call, self.context))
            case n.Communicate(operation=operation):
                return g.Comm(**common, operation=operation)
            case n.HostIo():
                return g.Comm(**common, host=node)
            case n.Combine(operation_class=operation, prefix=prefix):
                steps = [counts(combination(operation))] * (2 if prefix else 1)  # a scan: what it passes on, its result
                work = g.Work(computation=add_counts(*steps))
                return g.SyncSeq(**common, combine=node, work=work)
            case n.ClockMark():
                work = g.Work(computation=(("call", 1.0),))
                return g.Seq(**common, work=work, clock_mark=True)
            case n.Leave(kind=kind, name=name):
                return g.Seq(**common, work=g.Work(), leave=kind, leave_name=name)
            case n.Unmodelled(reason=reason):
                return g.Seq(**common, work=g.Work(), unmodelled=reason)
        raise TypeError(f"build_graph: no AAU for {type(node).__name__} at {node.span}")

    def _nest(self, nest: n.Nest) -> g.IterD:
        number, own = self._id(), own_call(nest)
        works, masked, guarded = nest_work(nest, self.context)
        depth = len(nest.indices)
        setup = works[0] if depth else g.Work()
        overhead = self._bounds(nest.home, {index.name for index in nest.indices})
        if nest.copies:  # the loops that bring the values to their places have bounds, too
            overhead = add_counts(overhead, overhead)
        tested = mask_level(nest) if nest.mask is not None and self.context.masks else depth
        return g.IterD(
            **_common(number, nest, own=own),
            nest=nest,
            work=works[depth],
            masked=masked,
            guarded=guarded,
            tested=tested,
            outer=works[1:depth],
            setup=replace(setup, overhead=add_counts(setup.overhead, overhead)),
            shares=shares_of(nest, own, self.context),
        )

    def _bounds(self, home: n.Reference | None, names: Collection[str]) -> g.Counts:
        """What only the node program does: local bounds of partitioned loops with some indices, the guard of a single
        element."""
        layout = self.program.layouts.arrays.get(home.array) if home else None
        if home is None or layout is None:
            return ()
        overhead: g.Counts = ()
        for axis, extent in zip(layout.axes, layout.grid.shape, strict=True):
            if extent == 1:
                continue
            if axis.role == "dim" and names_in(home.subscripts[axis.dim]).intersection(names):
                overhead = add_counts(overhead, _BOUND_CALL if self.context.library else _BOUND)
            elif axis.role != "replicated":
                overhead = add_counts(overhead, _GUARD.overhead)
        return overhead

    def _loop(self, loop: n.DoNode) -> g.AAU:
        number = self._id()
        layouts = self.program.layouts
        whole, former = is_simple(loop), self.inside
        self.inside = former or whole
        outside, self.context = self.context, replace(self.context, around=loop.var)
        body = self.body(loop.body)
        self.inside, self.context = former, outside
        swept = Swept()
        if not former:
            swept = (
                sweeps_of(loop, self.numbers, layouts, self.context.constants)
                if whole
                else Swept(unswept=beside(loop.body, layouts.arrays.__contains__))
            )
        common = _common(number, loop, body)
        setup = replace(work_of(self.context, loop.index.ends), overhead=self._bounds(loop.home, {loop.var}))
        if _synchronised(body):
            return g.IterSync(**common, loop=loop, body=body, setup=setup, unswept=swept.unswept)
        return g.IterD(**common, loop=loop, body=body, setup=setup, sweeps=swept.sweeps, unswept=swept.unswept)

    def _owned(self, loop: n.OwnedLoop) -> g.IterSync:
        number, own = self._id(), own_call(loop)
        context = replace(self.context, around=loop.index.name)
        work, guarded = turn_work(loop.own_part, context)
        return g.IterSync(
            **_common(number, loop, own=own),
            owned=loop,
            work=g.Work(computation=work.computation, overhead=_GUARD.overhead),
            guarded=guarded,
            setup=work_of(self.context, loop.index.ends),
            shares=shares_of(loop, own, context),
        )

    def _while(self, loop: n.WhileNode) -> g.IterND:
        number = self._id()
        body = self.body(loop.body)
        return g.IterND(
            **_common(number, loop, body),
            condition=loop.condition,
            work=work_of(self.context, (loop.condition,)),
            body=body,
            name=loop.name,
            unswept=beside(loop.body, self.program.layouts.arrays.__contains__),
        )

    def _conditional(self, node: n.IfNode) -> g.AAU:
        number = self._id()
        branches = tuple(
            g.AauBranch(
                condition=each.condition,
                work=work_of(self.context, (each.condition,)),
                body=self.body(each.body),
                span=each.span,
            )
            for each in node.branches
        )
        inside = tuple(each for branch in branches for each in branch.body)
        common = _common(number, node, inside)
        kind = g.CondtSync if _synchronised(inside) else g.CondtD
        return kind(**common, branches=branches)

    def _call(self, node: n.CallNode) -> g.Call:
        work = g.Work(computation=(("call", 1.0),))
        called = node.span.call is not None
        return g.Call(
            **_common(self._id(), node),
            name=node.name,
            work=work,
            body=(),
            assumption=node.assumption,
            charges=() if node.library is None else node.library.charges,
            shares=(g.WorkShare(site=node.span.call, works=(work,), calls=(1,)),) if called else (),
        )


def _synchronised(body: Iterable[g.AAU]) -> bool:
    """Whether some AAU inside communicates or synchronises."""
    return any(
        isinstance(each, g.Comm | g.SyncSeq) or (isinstance(each, g.IterSync) and each.owned is not None)
        for each in g.walk(tuple(body))
    )


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _critical(body: Sequence[n.Node]) -> frozenset[str]:
    """Names whose values decide the flow, and the names that their definitions read (D8)."""
    nodes = list(n.walk(body))
    assigns = (assign for node in nodes if isinstance(node, n.Local) for assign in node.assigns)
    return backward_slice(_union(node.uses for node in nodes), assigns)
