"""DO nests that every processor runs whole, or its iterations of the outermost loop, as the references they make: what
a cache model can ask of them.

    do j                        Sweep (j, i)
      s = 0                       a(i, j)  in the innermost loop
      do i                        r(j)     once in each iteration of j, after the loop over i
        s = s + a(i, j)
      end do
      r(j) = s
    end do

Such a chain of loops with constant bounds is interpreted from a few of its iterations. Where loops stand side by side
in a loop, bounds or subscripts depend on others, or conditions leave something out, the sweep has the steps of the
loops (`aag.spmd.acts`) and is interpreted one reference after the other. Where those are too many, chains stand for it
that run one after the other. What cannot be a part of a sweep is described in `unswept`, so that nobody takes it for
a loop that touches nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir.evaluate import Environment
from aag.ir.expressions import Expr, Var
from aag.ir.linear import linear
from aag.ir.statements import Assign
from aag.ir.visitors import backward_slice, elements_in, names_in
from aag.mapping.layout import Layouts
from aag.spmd.acts import Act, Given, Put, Repeat, Step
from aag.spmd.course import acts, guarded, guards_of, reads
from aag.spmd.nodes import DoNode, IfNode, Index, Local, Node, NodeBranch, walk, written
from aag.spmd.touches import AccessSweep, Touch, elements_touched, touched

Arrays = Callable[[str], bool]
"""Whether a name is an array."""


class Swept(Struct, frozen=True):
    """The sweeps of a loop, in order, and what is not among them."""

    sweeps: tuple[AccessSweep, ...] = ()
    unswept: tuple[tuple[str, Span], ...] = ()


def is_simple(loop: DoNode) -> bool:
    """Whether a loop holds nothing but statements that every processor runs, conditions on them, and such loops."""
    return all(isinstance(node, Local | IfNode) or is_common(node) for node in walk(loop.body))


def is_common(node: Node) -> bool:
    """Whether a node is a loop of which every processor runs all iterations."""
    return isinstance(node, DoNode) and node.home is None


def sweeps_of(loop: DoNode, numbers: Mapping[Node, int], layouts: Layouts, constants: Environment) -> Swept:
    """A simple loop as sweeps; `numbers`: those of the AAUs of the nodes inside."""
    changed, is_array = frozenset(written((loop,))), layouts.arrays.__contains__
    finder = _Finder(numbers, is_array, constants, changed)
    chains = [each for each in finder.chains(loop, ()) if each.touches]
    sweeps = tuple(each.sweep(loop, is_array) for each in chains)
    told = tuple(dict.fromkeys(finder.told))
    if not told and len(sweeps) < 2:
        return Swept(sweeps)
    steps = _Steps(numbers, layouts)
    body = steps.of((loop,))
    if not steps.acts:
        return Swept()
    listed = _listed(loop, body, steps, Swept(sweeps, told), changed, is_array)
    return Swept((listed,))


def _listed(
    loop: DoNode, body: tuple[Step, ...], steps: "_Steps", near: Swept, changed: frozenset[str], is_array: Arrays
) -> AccessSweep:
    """A loop as one sweep of steps."""
    names = steps.names - changed
    return AccessSweep(
        span=loop.span,
        uses=frozenset(each for each in names if not is_array(each)),
        indices=(),
        home=loop.home,
        assigns=(),
        touches=tuple(steps.acts),
        steps=body,
        instead=near.sweeps,
        told=near.unswept,
        loop=loop,
    )


class _Steps:
    """Makes steps of the nodes of a simple loop; keeps its references and what decides about them."""

    def __init__(self, numbers: Mapping[Node, int], layouts: Layouts) -> None:
        self.numbers = numbers
        self.layouts = layouts
        self.is_array = layouts.arrays.__contains__
        self.acts: list[Touch] = []
        self.put: list[Assign] = []
        self._deciding: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The names that decide about the references, also by way of scalars that are assigned."""
        return backward_slice(self._deciding, self.put)

    def of(self, body: Sequence[Node]) -> tuple[Step, ...]:
        """The steps of some nodes."""
        return tuple(step for node in body for step in self._node(node))

    def _node(self, node: Node) -> Iterable[Step]:
        number = self.numbers.get(node, 0)
        match node:
            case DoNode(index=index, body=body, home=home):
                for each in index.bounds:
                    yield from self._reads(each, number)
                self._deciding |= index.reads
                guards = guards_of(home, (index.name,), self.layouts)
                loop = Repeat(index=index, body=guarded(self.of(body), guards.get(1, ())))
                yield from guarded((loop,), guards.get(0, ()))
            case Local(assigns=assigns):
                for assign in assigns:
                    yield from self._kept(acts((assign,), source=number))
                    if isinstance(assign.target, Var):
                        self.put.append(assign)
                        yield Put(name=assign.target.name, value=assign.value)
            case IfNode(branches=branches):
                yield from self._branches(branches, number)
            case _:
                pass

    def _branches(self, branches: Sequence[NodeBranch], number: int) -> Iterable[Step]:
        if not branches:
            return
        first, rest = branches[0], branches[1:]
        if first.condition is None:
            yield from self.of(first.body)
            return
        yield from self._reads(first.condition, number)
        self._deciding |= names_in(first.condition)
        body, otherwise = self.of(first.body), tuple(self._branches(rest, number))
        yield Given(mask=first.condition, body=body, otherwise=otherwise)

    def _reads(self, expr: Expr, number: int) -> Iterable[Step]:
        return self._kept(reads(expr, source=number))

    def _kept(self, found: Iterable[Step]) -> Iterable[Step]:
        """The references to arrays among them."""
        for each in found:
            if isinstance(each, Act) and self.is_array(each.element.name):
                self.acts.append(Touch(element=each.element, write=each.write, depth=0, source=each.source))
                self._deciding |= names_in(*each.element.subscripts)
                yield each


def beside(body: Sequence[Node], is_array: Arrays) -> tuple[tuple[str, Span], ...]:
    """What is told of the statements that stand in a loop beside communication, parallel loops, EXIT and the like."""
    text = (
        "cache misses of single statements are counted only in loops that contain nothing but assignments and DO loops"
    )
    return tuple((text, span) for span in islice(_spans(body, is_array), 1))


def _spans(body: Sequence[Node], is_array: Arrays) -> Iterable[Span]:
    for node in body:
        match node:
            case Local(assigns=assigns):
                if any(_varies(side, is_array) for assign in assigns for side in (assign.value, assign.target)):
                    yield node.span
            case IfNode(branches=branches):
                for branch in branches:
                    if branch.condition is not None and _varies(branch.condition, is_array):
                        yield branch.span
                    yield from _spans(branch.body, is_array)
            case _:
                pass


def _varies(expr: Expr, is_array: Arrays) -> bool:
    """Whether an expression has array elements with variables in their subscripts."""
    return any(is_array(each.name) and names_in(each) != {each.name} for each in elements_in(expr))


class _Chain(Struct, frozen=True):
    """A loop with at most one loop in each, and what they touch."""

    indices: tuple[Index, ...]
    touches: tuple[Touch, ...]

    def sweep(self, loop: DoNode, is_array: Arrays) -> AccessSweep:
        places = (each for touch in self.touches for each in touch.element.subscripts)
        bounds = [index.reads for index in self.indices]
        names = names_in(*places).union(*bounds) - {index.name for index in self.indices}
        return AccessSweep(
            span=loop.span,
            uses=frozenset(each for each in names if not is_array(each)),
            indices=self.indices,
            home=loop.home and replace(loop.home, indices=self.indices),
            assigns=(),
            touches=self.touches,
        )


class _Finder:
    """Finds the chains of a loop, and what cannot be in one; `changed`: scalars that the loop changes, its variables
    among them."""

    def __init__(
        self, numbers: Mapping[Node, int], is_array: Arrays, constants: Environment, changed: frozenset[str]
    ) -> None:
        self.numbers = numbers
        self.is_array = is_array
        self.constants = constants
        self.changed = changed
        self.told: list[tuple[str, Span]] = []

    def chains(self, loop: DoNode, around: tuple[Index, ...]) -> list[_Chain]:
        """The chains of a loop inside the loops `around`."""
        index = loop.index
        indices = (*around, index)
        inside = self.changed - {each.name for each in around}
        if index.reads & inside or elements_in(*index.bounds):
            self._tell(
                f"cache misses of the loop over {loop.var} are not counted: its trip count depends on data", loop.span
            )
            return []
        names = {each.name for each in around}
        if index.reads & names:
            self._tell(f"cache misses: assuming the loop over {loop.var} always runs its average trip count", loop.span)
        found: list[_Chain] = []
        before: list[Touch] = []
        for node in loop.body:
            if isinstance(node, DoNode):
                more = self.chains(node, indices)
                if more and found:
                    self._tell(
                        f"cache misses: assuming the loops inside the loop over {loop.var} run one after the other",
                        loop.span,
                    )
                found += more
            elif found:
                behind = self._touches(node, indices, after=True)
                found[-1] = replace(found[-1], touches=(*found[-1].touches, *behind))
            else:
                before += self._touches(node, indices, after=False)
        if not found:
            return [_Chain(indices, tuple(before))]
        found[0] = replace(found[0], touches=(*before, *found[0].touches))
        return found

    def _tell(self, text: str, span: Span) -> None:
        self.told.append((text, span))

    def _touches(self, node: Node, indices: tuple[Index, ...], *, after: bool, share: float = 1.0) -> list[Touch]:
        """What a statement touches; those under a condition for their share of the iterations."""
        number, depth = self.numbers.get(node, 0), len(indices)
        match node:
            case Local(assigns=assigns):
                found = touched(assigns, depth, after=after, source=number)
            case IfNode(branches=branches):
                found = []
                ways = len(branches) + (branches[-1].condition is not None)
                for branch in branches:
                    if branch.condition is not None:
                        found += elements_touched(branch.condition, depth, after=after, source=number)
                    for each in branch.body:
                        found += self._touches(each, indices, after=after, share=1 / ways)
                if any(self.is_array(each.element.name) for each in found):
                    self._tell(f"cache misses: assuming each branch is taken in one of {ways} iterations", node.span)
            case _:
                found = []
        kept = [each for each in found if self.is_array(each.element.name) and self._is_followed(each, indices, node)]
        return [replace(each, share=each.share * share) for each in kept]

    def _is_followed(self, touch: Touch, indices: tuple[Index, ...], node: Node) -> bool:
        names = frozenset(index.name for index in indices)
        for each in touch.element.subscripts:
            apart = [atom for atom in linear(each, self.constants).terms if not isinstance(atom, Var)]
            if (
                names_in(each) & (self.changed - names)
                or elements_in(each)
                or any(names_in(atom) & names for atom in apart)
            ):
                self._tell(
                    f"cache misses of {touch.element.name} are not counted here: "
                    "a subscript is not linear in the loop indices",
                    node.span,
                )
                return False
        return True
