"""Checks of a lowered program: what the engine and the emitter rely on. A failure is a bug of the lowering."""

from collections.abc import Iterator

from aag.ir.visitors import elements_in
from aag.mapping.layout import Layouts
from aag.spmd import nodes as n
from aag.spmd.needs import need_of
from aag.spmd.program import NodeProgram


class LoweringError(Exception):
    """The node program breaks a rule that lowering promises; the text says which and where."""


def verify(program: NodeProgram) -> None:
    """Check every node of the program.

    Raises:
        LoweringError: a node has no place in the source, a distributed operand of a nest has no communication before
            it that could bring it, a reference has the wrong number of subscripts.
    """
    layouts = program.layouts
    moved: set[str] = set()
    alone = {id(inner) for node in n.walk(program.body) for inner in _alone(node)}
    for node in n.walk(program.body):
        if not node.span.line:
            raise LoweringError(f"{type(node).__name__} has no place in the source")
        match node:
            case n.Communicate(operation=operation):
                moved.add(operation.array)
                for need in operation.needs:
                    _ranks(need.reference, layouts, node)
            case n.Nest() if id(node) not in alone:
                _nest(node, layouts, moved)


def _alone(node: n.Node) -> Iterator[n.Node]:
    """What a processor runs by itself, on data that are there."""
    if isinstance(node, n.DoNode) and node.home is not None:
        yield from n.walk(node.body)


def _ranks(reference: n.Reference, layouts: Layouts, node: n.Node) -> None:
    rank = layouts.arrays[reference.array].rank
    if len(reference.subscripts) != rank:
        raise LoweringError(f"{node.span}: {reference.array} has rank {rank}, not {len(reference.subscripts)}")


def _nest(nest: n.Nest, layouts: Layouts, moved: set[str]) -> None:
    if nest.home is not None:
        _ranks(nest.home, layouts, nest)
    for element in elements_in(*(each.value for each in n.assigns_of(nest)), nest.mask):
        layout = layouts.arrays.get(element.name)
        if layout is None or not layout.rank or not layout.is_distributed or element.name in moved:
            continue
        if need_of(element, nest.indices, nest.home, layouts) is not None:
            raise LoweringError(f"{nest.span}: nothing brings {element.name} to where it is needed")
