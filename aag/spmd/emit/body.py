"""The statements of the node program, in order."""

from collections.abc import Iterator, Sequence
from functools import singledispatchmethod

from aag.ir import statements as ir
from aag.ir.printer import print_statement
from aag.ir.spelling import spell_type
from aag.spmd import nodes as n
from aag.spmd.calls import EMITTED_CLOCKS
from aag.spmd.emit.context import Context
from aag.spmd.emit.host import host_io, on_host
from aag.spmd.emit.lasting import Lasting, last_values
from aag.spmd.emit.moves import combine, communicate
from aag.spmd.emit.nests import assignment, guarded, narrowing, nest, own_bounds
from aag.spmd.emit.owned import owned_loop
from aag.spmd.emit.refusals import refused
from aag.spmd.emit.renaming import Renaming
from aag.spmd.emit.text import comment, indented


class Body:
    """Turns nodes into lines; each source line is quoted once before what became of it."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._lasting = Lasting(context.program.unit.body, context.live, context.program.body)
        self._quoted = 0
        self._running: tuple[str, ...] = ()
        """Variables of the DO loops around."""

    def lines(self, body: Sequence[n.Node]) -> Iterator[str]:
        """The lines of a node list."""
        waiting = False
        for at, node in enumerate(body):
            if waiting:
                waiting = False
                continue
            following = body[at + 1] if at + 1 < len(body) else None
            if node.span.line != self._quoted and not (isinstance(node, n.Local) and not node.assigns):
                self._quoted = node.span.line
                yield ""
                yield comment(f"{node.span.line:4}  {self.context.source(node.span)}")
            yield from self.context.at(node)
            reduces = isinstance(node, n.Nest) and node.reduce
            combination = following if reduces and isinstance(following, n.Combine) else None
            waiting = combination is not None
            with self.context.refusals.noting(node.span):
                if isinstance(node, n.Nest):
                    yield from self._nest(node, combination)
                else:
                    yield from self._node(node)

    def _nest(self, node: n.Nest, combination: n.Combine | None) -> Iterator[str]:
        wanted = self._lasting.wanted(node)
        kept = wanted.of_forall.union(self._running)
        clashing = [index.name for index in node.indices if index.name in kept]
        reading = self.context.reading(node)
        assert isinstance(reading, n.Nest)
        yield from nest(self.context, Renaming(clashing).nest(reading) if clashing else reading, combination)
        yield from last_values(self.context, node.indices, wanted.of_do, node.span.line)

    @singledispatchmethod
    def _node(self, node: n.Node) -> Iterator[str]:
        raise refused(f"{type(node).__name__} cannot be written as Fortran", node.span)

    @_node.register
    def _(self, node: n.Local) -> Iterator[str]:
        yield from (assignment(self.context, each) for each in self.context.reading(node).assigns)
        statement = self.context.statement(node.span)
        if isinstance(statement, ir.Io) and not node.assigns:
            yield from on_host(statement)

    @_node.register
    def _(self, node: n.Communicate) -> Iterator[str]:
        yield from communicate(self.context, node)

    @_node.register
    def _(self, node: n.Combine) -> Iterator[str]:
        if node.kept is None:
            yield combine(self.context, node, node.result)
        else:
            yield combine(self.context, node, node.kept.array, owned=True)

    @_node.register
    def _(self, node: n.OwnedLoop) -> Iterator[str]:
        yield from owned_loop(self.context, node)

    @_node.register
    def _(self, node: n.DoNode) -> Iterator[str]:
        context, line = self.context, node.span.line
        name = f"{node.name}: " if node.name else ""
        share = narrowing(context, node.home, (node.index,), line)
        head = context.do(node.index, line, *own_bounds(context, share, node.index, line))
        outside = self._running
        self._running = (*outside, node.var)
        inside = guarded(share.guards.get(1, ()), self.lines(node.body))
        loop = (f"{name}{head}", *indented((*inside, *context.at(node))), f"end do {node.name}".rstrip())
        yield from guarded(share.guards.get(0, ()), loop)
        self._running = outside

    @_node.register
    def _(self, node: n.WhileNode) -> Iterator[str]:
        name = f"{node.name}: " if node.name else ""
        test = "" if node.condition is None else f" while ({self.context.spell(node.condition, node.span.line)})"
        yield f"{name}do{test}"
        yield from indented((*self.lines(node.body), *self.context.at(node)))
        yield f"end do {node.name}".rstrip()

    @_node.register
    def _(self, node: n.IfNode) -> Iterator[str]:
        word = "if"
        for branch in node.branches:
            if branch.condition is None:
                yield "else" if word != "if" else "if (.true.) then"
            else:
                yield f"{word} ({self.context.spell(branch.condition, branch.span.line)}) then"
            yield from indented(self.lines(branch.body))
            word = "else if"
        yield "end if"

    @_node.register
    def _(self, node: n.ClockMark) -> Iterator[str]:
        statement = self.context.statement(node.span)
        if not isinstance(statement, ir.CallStmt) or statement.name not in EMITTED_CLOCKS:
            raise refused("a call of a clock that not every compiler has", node.span)
        yield print_statement(statement)

    @_node.register
    def _(self, node: n.Leave) -> Iterator[str]:
        if node.kind in ("stop", "return"):
            yield "call esp_finish()"
            # All processors of a simulation are one process, and the main program is a subroutine of it.
            yield "return" if self.context.simulated else "stop"
        else:
            yield f"{node.kind} {node.name}".rstrip()

    @_node.register
    def _(self, node: n.CallNode) -> Iterator[str]:
        if node.library is not None:
            yield self._library(node, node.library)
        elif node.entered:
            called = self.context.names.fresh("called$own", "called")
            self.context.declare(f"integer :: {called}")
            yield f"{called} = esp_call"
        else:
            raise refused(f"the call of the subroutine {node.name}", node.span)

    def _library(self, node: n.CallNode, call: n.LibraryCall) -> str:
        """The call of a procedure that is linked."""
        listed = f"{node.name}({', '.join(self.context.spell(each, node.span.line) for each in call.args)})"
        if call.into is None:
            self.context.declare(f"external :: {node.name}")
            return f"call {listed}"
        kind = spell_type(self.context.type_of(call.into.name))
        self.context.declare(f"{kind}, external :: {node.name}")
        return f"{self.context.spell(call.into, node.span.line)} = {listed}"

    @_node.register
    def _(self, node: n.Unmodelled) -> Iterator[str]:
        raise refused(node.reason, node.span)

    @_node.register
    def _(self, node: n.HostIo) -> Iterator[str]:
        yield from host_io(self.context, node)
