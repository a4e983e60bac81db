"""Checks of a lowered program: what the engine and the emitter rely on. A failure is a bug of the lowering."""

from collections.abc import Iterable

from aag.ir.expressions import Expr
from aag.mapping.layout import Layouts
from aag.spmd import nodes as n
from aag.spmd.names import elements
from aag.spmd.needs import classify
from aag.spmd.program import NodeProgram


class LoweringError(Exception):
    """The node program breaks a rule that lowering promises; the text says which and where."""


def verify(program: NodeProgram) -> None:
    """Check every node of the program.

    Raises:
        LoweringError: a node has no place in the source, a distributed operand of a nest has no communication before
            it that could bring it, a reference has the wrong number of subscripts.
    """
    _verify(program.body, program.layouts, set(), program)


def _verify(body: Iterable[n.Node], layouts: Layouts, moved: set[str], program: NodeProgram) -> None:
    for node in body:
        if not node.span.line:
            raise LoweringError(f"{type(node).__name__} has no place in the source")
        match node:
            case n.Communicate(operation=operation):
                moved.add(operation.array)
                for need in operation.needs:
                    _ranks(need.reference, layouts, node)
            case n.Nest():
                _nest(node, layouts, moved, program)
            case n.DoNode(body=inner) | n.WhileNode(body=inner):
                _verify(inner, layouts, moved, program)
            case n.IfNode(branches=branches):
                for branch in branches:
                    _verify(branch.body, layouts, moved, program)


def _ranks(reference: n.Reference, layouts: Layouts, node: n.Node) -> None:
    rank = layouts.arrays[reference.array].rank
    if len(reference.subscripts) != rank:
        raise LoweringError(f"{node.span}: {reference.array} has rank {rank}, not {len(reference.subscripts)}")


def _nest(nest: n.Nest, layouts: Layouts, moved: set[str], program: NodeProgram) -> None:
    if nest.home is not None:
        _ranks(nest.home, layouts, nest)
    exprs: list[Expr] = [each.value for each in nest.assigns] + [each.value for level in nest.outer for each in level]
    if nest.mask is not None:
        exprs.append(nest.mask)
    for expr in exprs:
        for element in elements(expr):
            layout = layouts.arrays.get(element.name)
            if layout is None or not layout.rank or not layout.is_distributed or element.name in moved:
                continue
            reference = n.Reference(array=element.name, subscripts=element.subscripts, indices=nest.indices)
            need = n.Need(reference=reference, home=nest.home)
            if classify(need, layouts, program.layouts.environment) is not None:
                raise LoweringError(f"{nest.span}: nothing brings {element.name} to where it is needed")
