"""Which communication fills a buffer of its own, and which references read it.

A temporary shift, a multicast, a concatenation or a transfer brings elements that lie far from the own part. They go to
a buffer with global subscripts, as large as the box of what this processor needs, where every reader of them can be
told for certain: the reader asks for just what the operation brought, and between the two nothing writes the array and
no path brings it anew. An array with any other reader keeps all that it receives in its own storage (`storage`).
"""

from collections.abc import Sequence

from msgspec.structs import replace

from aag.ir.expressions import Call, Element, Expr
from aag.ir.statements import Assign, Io
from aag.ir.visitors import elements_in, map_operands, names_in, walk_expressions, walk_statements
from aag.mapping.layout import Layout
from aag.spmd.needs import need_of
from aag.spmd.nodes import (
    Communicate,
    Concatenate,
    DoNode,
    Exchange,
    Gather,
    HostIo,
    IfNode,
    Index,
    Local,
    Multicast,
    Need,
    Nest,
    Node,
    OwnedLoop,
    Reference,
    WhileNode,
    assigns_of,
    walk,
    written,
)
from aag.spmd.program import NodeProgram

Key = tuple[str, tuple[Expr, ...]]
Known = dict[Need, Communicate]


class Buffers:
    """`of_node`: for each reader, by identity, which references read the buffer of which communication."""

    def __init__(self, program: NodeProgram, statements: dict[tuple[int, int], object]) -> None:
        self._program = program
        self._statements = statements
        self._layouts = program.layouts
        self._readers: list[tuple[Node, Key, Communicate]] = []
        self.inside: set[str] = set()
        """Arrays whose received elements lie in their own storage."""
        self._body(program.body, {})
        self.of_node: dict[int, dict[Key, Communicate]] = {}
        for node, key, source in self._readers:
            if self.is_buffered(source):
                self.of_node.setdefault(id(node), {})[key] = source

    def is_buffered(self, node: Communicate) -> bool:
        """Whether a communication fills a buffer."""
        return _brings_far(node) and node.operation.array not in self.inside

    def _distributed(self, name: str) -> Layout | None:
        layout = self._layouts.arrays.get(name)
        return layout if layout is not None and layout.rank and layout.is_distributed else None

    # --- the walk -------------------------------------------------------------------------------------------

    def _body(self, body: Sequence[Node], known: Known) -> None:
        for node in body:
            match node:
                case Communicate():
                    self._communicate(node, known)
                case Nest():
                    self._nest(node, known)
                case Local(assigns=assigns):
                    for each in assigns:
                        self._inside(*_places(each))
                        self._reads(node, each.value, (), None, known)
                case OwnedLoop():
                    for each in node.assigns:
                        self._inside(each.value, *_places(each))
                case DoNode(home=Reference()):
                    self._alone(node)
                case DoNode(lower=lower, upper=upper, body=inner):
                    self._inside(lower, upper, node.step)
                    _forget(known, {node.var})
                    self._nested(inner, known, loop=True)
                case WhileNode(condition=condition, body=inner):
                    self._inside(condition)
                    self._nested(inner, known, loop=True)
                case IfNode(branches=branches):
                    for branch in branches:
                        self._inside(branch.condition)
                    for branch in branches:
                        self._nested(branch.body, dict(known), loop=False)
                    for branch in branches:
                        _forget(known, touched(branch.body))
                case _:
                    self._other(node)
            _forget(known, written((node,)))

    def _alone(self, node: DoNode) -> None:
        """A loop whose iterations are shared: what the body may read from elsewhere lies at its own place."""
        self._inside(node.lower, node.upper, node.step)
        for each in walk(node.body):
            parts: list[Expr | None] = []
            for assign in assigns_of(each):
                parts += (assign.value, *_places(assign))
            match each:
                case Nest(indices=indices, mask=mask):
                    parts += [mask, *(bound for index in indices for bound in index.bounds)]
                case DoNode(index=index):
                    parts += index.bounds
                case WhileNode(condition=condition):
                    parts.append(condition)
                case IfNode(branches=branches):
                    parts += [branch.condition for branch in branches]
            for read in elements_in(*parts):
                if self._distributed(read.name) and need_of(read, (node.index,), node.home, self._layouts) is not None:
                    self.inside.add(read.name)

    def _nested(self, inner: Sequence[Node], known: Known, *, loop: bool) -> None:
        if loop:
            _forget(known, touched(inner))
        self._body(inner, dict(known))
        _forget(known, touched(inner))

    def _other(self, node: Node) -> None:
        statement = self._statements.get((node.span.line, node.span.column))
        nest = node.nest if isinstance(node, HostIo) else None
        for each in (statement,) if nest is None else walk_statements((nest,)):
            for item in each.items if isinstance(each, Io) else ():
                self.inside |= {name for name in names_in(item) if self._distributed(name)}

    def _inside(self, *exprs: Expr | None) -> None:
        self.inside |= {each.name for each in elements_in(*exprs) if self._distributed(each.name)}

    def _communicate(self, node: Communicate, known: Known) -> None:
        operation = node.operation
        eoshift = any(
            isinstance(part, Call) and part.name == "eoshift$"
            for need in operation.needs
            for each in need.reference.subscripts
            for part in walk_expressions(each)
        )
        if operation.held or isinstance(operation, Gather) or (eoshift and _brings_far(node)):
            self.inside.add(operation.array)
        for need in operation.needs:
            known[need] = node

    def _nest(self, node: Nest, known: Known) -> None:
        self._inside(*(part for index in node.indices for part in index.bounds))
        self._inside(*(() if node.home is None else node.home.subscripts))
        for each in assigns_of(node):
            self._inside(*_places(each))
            self._reads(node, each.value, node.indices, node.home, known)
        if node.mask is not None:
            self._reads(node, node.mask, node.indices, node.home, known)

    def _reads(self, node: Node, expr: Expr, indices: tuple[Index, ...], home: Reference | None, known: Known) -> None:
        for read in elements_in(expr):
            if self._distributed(read.name) is None:
                continue
            wanted = need_of(read, indices, home, self._layouts)
            if wanted is None:
                continue
            found = [source for need, source in known.items() if _same(need, wanted)]
            if found:
                self._readers.append((node, (read.name, read.subscripts), found[-1]))
            else:
                self.inside.add(read.name)


def _places(assign: Assign) -> tuple[Expr, ...]:
    """The subscripts of the element that is assigned: what they read stays in its own storage."""
    return assign.target.subscripts if isinstance(assign.target, Element) else ()


def _same(need: Need, wanted: Need) -> bool:
    """Whether two needs are the same; their loops may stand in another order."""
    mine, theirs = need.reference, wanted.reference
    where = need.home == wanted.home or (
        need.home is not None
        and wanted.home is not None
        and (need.home.array, need.home.subscripts) == (wanted.home.array, wanted.home.subscripts)
    )
    same = (mine.array, mine.subscripts) == (theirs.array, theirs.subscripts)
    return same and where and set(mine.indices) == set(theirs.indices)


def _brings_far(node: Communicate) -> bool:
    match node.operation:
        case Exchange(pattern=pattern):
            return pattern != "overlap_shift"
        case Multicast() | Concatenate():
            return True
        case _:
            return False


def touched(body: Sequence[Node]) -> set[str]:
    """Arrays and scalars that a node list writes, and arrays that it brings."""
    return written(body) | {node.operation.array for node in walk(body) if isinstance(node, Communicate)}


def _forget(known: Known, names: set[str]) -> None:
    for need in [each for each in known if each.reference.array in names or _scalars(each) & names]:
        del known[need]


def _scalars(need: Need) -> frozenset[str]:
    """The scalars that decide what a need is."""
    home = frozenset() if need.home is None else names_in(*need.home.subscripts)
    return (need.reference.reads | home).difference(index.name for index in need.reference.indices)


def redirected(node: Nest | Local, names: dict[Key, str]) -> Nest | Local:
    """The node with references to elements from afar replaced by those to the buffers that hold them."""

    def new(each: Expr) -> Expr:
        inner = map_operands(each, new)
        if isinstance(each, Element) and isinstance(inner, Element) and (each.name, each.subscripts) in names:
            return Element(names[each.name, each.subscripts], inner.subscripts)
        return inner

    def all_of(assigns: Sequence[Assign]) -> tuple[Assign, ...]:
        return tuple(replace(each, value=new(each.value)) for each in assigns)

    if isinstance(node, Local):
        return replace(node, assigns=all_of(node.assigns))
    mask = None if node.mask is None else new(node.mask)
    return replace(node, assigns=all_of(node.assigns), outer=tuple(map(all_of, node.outer)), mask=mask)
