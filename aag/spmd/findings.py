"""How the DO loops of a program run, for people: which are divided among the processors, which are not, and why."""

from collections.abc import Sequence

from aag.ir import statements as ir
from aag.ir.expressions import Element
from aag.ir.spelling import spell
from aag.ir.visitors import walk_statements
from aag.spmd.loops import NestOutcome
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Nest, Node, OwnedLoop
from aag.spmd.program import LoopFinding


def find_nest(lowering: Lowering, statement: ir.Do, outcome: NestOutcome, nodes: Sequence[Node]) -> None:
    """Note how the loops of a nest run that was lowered as a whole, from what it became."""
    assert outcome.runs
    homes = [node.home for node in nodes if isinstance(node, Nest | OwnedLoop) and node.home is not None]
    home = spell(Element(homes[0].array, homes[0].subscripts)) if homes else ""
    loops = (each for each in walk_statements((statement,)) if isinstance(each, ir.Do))
    for loop in loops:
        lowering.loops.append(
            LoopFinding(
                span=loop.span,
                var=loop.var,
                runs="alone" if lowering.is_alone else outcome.runs if homes else "everywhere",
                nest=statement.span.line,
                home=home,
                why=outcome.why,
            )
        )


def find_loop(lowering: Lowering, statement: ir.Do, why: str, *, shared: bool, at: int) -> None:
    """Note how a single loop runs, before what was noted of the loops in it from `at` on. `shared`: its iterations are
    divided among the processors."""
    found = LoopFinding(
        span=statement.span,
        var=statement.var,
        runs="alone" if lowering.is_alone else "parallel" if shared else "everywhere",
        nest=statement.span.line,
        why=why,
    )
    lowering.loops.insert(at, found)
