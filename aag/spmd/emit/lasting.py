"""Loop indices whose values the program still wants after the loop.

The index of a FORALL is its own: a scalar of the same name keeps its value. That of a DO loop has a certain value
afterwards, also on a processor that runs but its share of the iterations.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from aag.diagnostics import Span
from aag.ir import statements as s
from aag.ir.expressions import IntLit
from aag.ir.liveness import Liveness
from aag.ir.visitors import bodies, names_in
from aag.spmd.emit.context import Context
from aag.spmd.emit.text import indented
from aag.spmd.nodes import Index, Local, Nest, Node, walk

Chain = tuple[s.Stmt, ...]


class Wanted(Struct, frozen=True):
    """Names that are wanted: indices of FORALL, and of DO loops."""

    of_forall: frozenset[str] = frozenset()
    of_do: frozenset[str] = frozenset()


class Lasting:
    """Knows the loops around each statement of a program unit."""

    def __init__(self, body: Sequence[s.Stmt], live: Liveness, nodes: Sequence[Node]) -> None:
        self._live = live
        self._assigned: dict[tuple[int, int], set[str]] = {}
        """Place of an END DO -> indices that the node program assigns there (`aag.spmd.afterwards`)."""
        for node in walk(nodes):
            for each in node.assigns if isinstance(node, Local) else ():
                self._assigned.setdefault(_place(each.span), set()).update(names_in(each.target))
        self._around: dict[tuple[int, int], Chain] = {}
        self._walk(body, ())

    def _walk(self, body: Sequence[s.Stmt], around: Chain) -> None:
        for each in body:
            chain = (*around, each)
            self._around[_place(each.span)] = chain
            for inner in bodies(each):
                self._walk(inner, chain)

    def wanted(self, node: Nest) -> Wanted:
        """What is wanted of the indices of a nest."""
        names = {index.name for index in node.indices}
        root: s.Stmt | None = None
        of_forall: set[str] = set()
        of_do: set[str] = set()
        for each in reversed(self._around.get(_place(node.span), ())):
            match each:
                case s.Forall(indices=indices):
                    of_forall |= {index.name for index in indices} & names
                case s.Do(var=var) if var in names - of_forall - of_do:
                    of_do.add(var)
                case s.Do() | s.DoWhile():
                    break
                case _:
                    continue
            root = each
        if root is None:
            return Wanted()
        wanted = self._live.wanted_after(root, frozenset(of_forall | of_do))
        done = self._assigned.get(_place(root.end), set()) if isinstance(root, s.Do) else set()
        return Wanted(wanted & of_forall, wanted & of_do - done)


def last_values(context: Context, indices: Sequence[Index], wanted: frozenset[str], line: int) -> Iterator[str]:
    """The lines that give indices of DO loops the values that they have afterwards, outermost loop first."""
    if not any(index.name in wanted for index in indices):
        return
    first, rest = indices[0], indices[1:]
    name = context.index(first.name)
    lower, upper = context.as_index(first.lower, line), context.as_index(first.upper, line)
    if first.step in (None, IntLit(1)):
        runs, last, behind = f"{lower} <= {upper}", upper, f"max({lower}, {upper} + 1)"
    else:
        step = context.as_index(first.step, line)
        trips = f"max(0, ({upper} - ({lower}) + ({step})) / ({step}))"
        runs, behind = f"{trips} > 0", f"{lower} + {trips} * ({step})"
        last = f"{behind} - ({step})"
    inner = list(last_values(context, rest, wanted, line))
    if inner:
        yield from (f"if ({runs}) then", f"  {name} = {last}")
        yield from indented(inner)
        yield "end if"
    yield f"{name} = {behind}"


def _place(span: Span) -> tuple[int, int]:
    return span.line, span.column
