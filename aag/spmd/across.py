"""Reductions across a loop that all processors walk: each reduces what its own iterations inside contribute.

    do j = 2, n - 1                  err$1 = the least number, on each processor
      do i = 2, n - 1                do j ...
        r = ... - u(i, j)              do i ...   the owners in order, err$1 = max(err$1, abs(r))
        u(i, j) = u(i, j) + w * r    err = max(err, the largest err$1)
        err = max(err, abs(r))
      end do
    end do

The loops inside run in parallel or their owners take turns; were each of them to combine its results, or all to run
them for the sake of the reduction, that would cost a message or more in each iteration of the loop around.
"""

from collections.abc import Callable, Iterator, Sequence

from aag.ir import statements as ir
from aag.ir.expressions import Element, Var
from aag.ir.visitors import names_in
from aag.spmd.leaves import Leaf, leaves_of, reduced_names, reduction
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import DoNode, IfNode, Nest, Node, OwnedLoop, Reference, assigns_of, walk
from aag.spmd.partials import Partial
from aag.spmd.symbols import Unsupported
from aag.spmd.turns import of_data


def reduce_across(lowering: Lowering, statement: ir.Do, lower: Callable[[], None]) -> None:
    """Lower a loop with `lower`, each of its reductions into partial results that are combined once, after it.

    Raises:
        Unsupported: it has none, or what is in it does not run in parts that one processor has each.
    """
    parts = tuple(_partials(lowering, statement))
    if not parts:
        raise Unsupported("no reduction goes through all of the loop")
    with lowering.collecting() as nodes, lowering.reducing({each.into.name: each.name for each in parts}):
        lower()
    home = _home(lowering, nodes, parts)
    for each in parts:
        each.begin(lowering, home)
    for node in nodes:
        lowering.emit(node)
    for each in parts:
        each.end(lowering, home)


def _partials(lowering: Lowering, statement: ir.Do) -> Iterator[Partial]:
    """Partial results for the scalars into which the loop does nothing but reduce, in the loops inside it if there
    are any. One processor has no parts to combine."""
    if lowering.is_alone or lowering.layouts.procs == 1 or not lowering.options.on("reductions"):
        return
    with lowering.collecting():
        leaves = leaves_of(lowering, statement) or []
    names = reduced_names(lowering, leaves) - lowering.partials.keys() - lowering.sharing.keys()
    loops = [leaf.loops for leaf in leaves]
    outside = {
        leaf.assign.target.name
        for leaf in leaves
        if leaf.loops == (statement,) and isinstance(leaf.assign.target, Var) and loops.count((statement,)) < len(loops)
    }
    wanted = (names & (of_data(lowering, leaves) | _counted(lowering, leaves))) - outside
    found: set[str] = set()
    for leaf in leaves:
        target, update = leaf.assign.target, reduction(leaf, names)
        if update is not None and isinstance(target, Var) and target.name in wanted - found:
            found.add(target.name)
            yield Partial.of(lowering, target, update[0])


def _counted(lowering: Lowering, leaves: Sequence[Leaf]) -> frozenset[str]:
    """Scalars that are assigned under a condition beside elements of distributed arrays. All others that do not depend
    on distributed data every processor can compute by itself, in loops without such elements."""
    beside = {
        leaf.loops
        for leaf in leaves
        if isinstance(leaf.assign.target, Element) and lowering.is_distributed(leaf.assign.target.name)
    }
    return frozenset(
        leaf.assign.target.name
        for leaf in leaves
        if leaf.mask is not None and leaf.loops in beside and isinstance(leaf.assign.target, Var)
    )


def _home(lowering: Lowering, nodes: Sequence[Node], parts: Sequence[Partial]) -> Reference:
    """A home of the loops that reduce, which all divide their iterations among the processors along the same axes.

    Raises:
        Unsupported: there is none, or a variable that is reduced is used elsewhere.
    """
    own = {each.name for each in parts}
    used = own | {each.into.name for each in parts}
    homes: dict[object, Reference] = {}
    for node in walk(nodes):
        if not used & _names(node):
            continue
        if not isinstance(node, Nest | OwnedLoop) or node.home is None or used & _names(node) - own:
            raise Unsupported("a reduction in what every processor runs")
        layout = lowering.arrays[node.home.array]
        divided = tuple(axis.role != "replicated" for axis in layout.axes)
        homes.setdefault((layout.grid, divided), node.home)
    if len(homes) != 1:
        raise Unsupported("reductions among different processors")
    return next(iter(homes.values()))


def _names(node: Node) -> frozenset[str]:
    """The names in a node, those in the nodes inside it not among them."""
    parts = [part for each in assigns_of(node) for part in (each.target, each.value)]
    match node:
        case Nest(mask=mask):
            parts += [] if mask is None else [mask]
        case DoNode(lower=lower, upper=upper, step=step):
            parts += [lower, upper, *([] if step is None else [step])]
        case IfNode(branches=branches):
            parts += [each.condition for each in branches if each.condition is not None]
        case _:
            pass
    return names_in(*parts) | node.uses | node.defines
