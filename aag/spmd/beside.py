"""Elements that a nest reads a few places beside those where it runs, as if it owned them all (`Nest.near`).

Elements are stored packed. In a cyclic distribution the storage of a processor has no place for a neighbour that
another processor owns. The model places it beside the owned element, at the distance of the two subscripts.
"""

from msgspec.structs import replace

from aag.ir.evaluate import Environment
from aag.ir.expressions import Expr
from aag.ir.linear import linear
from aag.mapping.layout import Layout, Layouts
from aag.spmd.nodes import Nest


def beside_home(
    nest: Nest, layouts: Layouts, layout: Layout, dim: int, subscript: Expr, env: Environment
) -> tuple[Expr, int]:
    """The subscript of the owned element beside which a reference lies, and how many places on it is; the subscript
    itself, and 0, where it is not beside one."""
    axis = layout.axis_of_dim(dim)
    if not nest.near or nest.home is None or axis is None:
        return subscript, 0
    home = layouts.arrays[nest.home.array]
    mine, theirs = layout.axes[axis], home.axes[axis] if axis < len(home.axes) else None
    if theirs is None or theirs.role != "dim" or replace(mine, dim=theirs.dim) != theirs:
        return subscript, 0
    owned = nest.home.subscripts[theirs.dim]
    form, other = linear(subscript, env), linear(owned, env)
    if form.terms != other.terms or layout.bounds[dim] != home.bounds[theirs.dim]:
        return subscript, 0
    return owned, form.constant - other.constant
