"""The indices of DO loops that ran as a nest, after it: the program may read them (`aag.spmd.emit.lasting`)."""

from collections.abc import Iterator

from msgspec import structs

from aag.ir import statements as ir
from aag.ir.expressions import Binary, Call, Expr, IntLit, Var
from aag.ir.linear import add, multiply, subtract
from aag.ir.visitors import names_in, walk_statements
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Local


def keep_indices(lowering: Lowering, statement: ir.Do) -> None:
    """Emit assignments that give the indices of a nest the values that they have behind it, the outermost first.

    Only those that the program reads. They are overhead: a serial program has these values for nothing. An index whose
    bounds an outer one decides is left out.
    """
    for each in _last_values(lowering, statement):
        assign = structs.replace(each, value=lowering.replicated(each.value))
        names = names_in(each.target)
        lowering.emit(Local(span=each.span, assigns=(assign,), defines=frozenset(names), overhead=True))


def _last_values(lowering: Lowering, statement: ir.Do) -> Iterator[ir.Assign]:
    if lowering.is_alone:
        return
    inside = [each for each in walk_statements(statement.body) if isinstance(each, ir.Do)]
    wanted = lowering.live.wanted_after(statement, frozenset(each.var for each in (statement, *inside)))
    changed = {each.var for each in inside} | {statement.var}
    changed |= {
        each.target.name
        for each in walk_statements(statement.body)
        if isinstance(each, ir.Assign) and isinstance(each.target, Var)
    }
    runs: Expr | None = None
    loop: ir.Do | None = statement
    while loop is not None and wanted:
        trips, behind = _ends(loop)
        if names_in(loop.lower, loop.upper, loop.step) & changed:
            return
        if loop.var in wanted:
            old = Var(loop.var)
            value = behind if runs is None else Call("merge", (behind, old, runs))
            yield ir.Assign(span=statement.end, target=old, value=value)
        ran = Binary(">", trips, IntLit(0))
        runs = ran if runs is None else Binary(".and.", runs, ran)
        further = [each for each in loop.body if isinstance(each, ir.Do)]
        loop = further[0] if len(further) == 1 else None


def _ends(loop: ir.Do) -> tuple[Expr, Expr]:
    """How often a loop runs, negative where its range is less than empty, and its index behind it."""
    step = loop.step or IntLit(1)
    if step == IntLit(1):
        return add(subtract(loop.upper, loop.lower), 1), Call("max", (loop.lower, add(loop.upper, 1)))
    trips = Binary("/", add(subtract(loop.upper, loop.lower), step), step)
    return trips, add(loop.lower, multiply(Call("max", (IntLit(0), trips)), step))
