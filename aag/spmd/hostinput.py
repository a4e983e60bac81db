"""Nests of DO loops that hold nothing but READs of one unit: rank 0 reads all of it, then the values go where they
belong, once for each item (Def 15)."""

from collections.abc import Sequence

from aag.ir import statements as ir
from aag.ir.control import control_of
from aag.ir.expressions import Element, Expr, IntLit, Var
from aag.ir.linear import add
from aag.ir.visitors import names_in
from aag.spmd import hostio
from aag.spmd.amounts import amount
from aag.spmd.lowering import Lowering
from aag.spmd.needs import uses_of
from aag.spmd.nodes import Index
from aag.spmd.symbols import Unsupported

Read = tuple[ir.Io, tuple[ir.Do, ...]]
"""A READ and the loops around it, outermost first."""


def lower_input(lowering: Lowering, statement: ir.Do) -> bool:
    """Lower a nest of READs as one; False where the loop is another one."""
    reads = _reads(statement, ())
    if not reads or not _stands_alone(reads):
        return False
    return not lowering.attempt(lambda: _lower(lowering, statement, reads))


def _reads(statement: ir.Do, around: tuple[ir.Do, ...]) -> list[Read] | None:
    """All READs of a nest; None where it holds anything else."""
    loops = (*around, statement)
    found: list[Read] = []
    for each in statement.body:
        match each:
            case ir.Continue():
                continue
            case ir.Io(kind="read"):
                found.append((each, loops))
            case ir.Do():
                inner = _reads(each, loops)
                if inner is None:
                    return None
                found += inner
            case _:
                return None
    return found


def _stands_alone(reads: Sequence[Read]) -> bool:
    """Whether nothing that is read decides what is read where, and all comes from one unit."""
    controls = [control_of(statement) for statement, _ in reads]
    if len({each.unit for each in controls}) > 1 or any(each.sets or each.jumps for each in controls):
        return False
    targets = {name for statement, _ in reads for item in statement.items for name in _targets(item)}
    loops = list(dict.fromkeys(loop for _, around in reads for loop in around))
    variables = [loop.var for loop in loops]
    bounds = [part for loop in loops for part in (loop.lower, loop.upper, loop.step) if part is not None]
    deciding = set(names_in(*bounds))
    deciding |= {name for statement, _ in reads for item in statement.items for name in _deciding(item)}
    deciding |= {name for each in controls for name in each.names}
    return len(set(variables)) == len(variables) and not targets & (deciding | set(variables))


def _targets(item: Expr) -> frozenset[str]:
    match item:
        case Var(name=name) | Element(name=name):
            return frozenset((name,))
        case _:
            return frozenset().union(*(_targets(each) for each in getattr(item, "values", ())))


def _deciding(item: Expr) -> frozenset[str]:
    """Names in subscripts and in the bounds of implied DO loops."""
    match item:
        case Element(subscripts=subscripts):
            return names_in(*subscripts)
        case _:
            parts = [getattr(item, name, None) for name in ("lower", "upper", "step")]
            inner = [_deciding(each) for each in getattr(item, "values", ())]
            return frozenset().union(names_in(*parts), *inner)


def _lower(lowering: Lowering, nest: ir.Do, reads: Sequence[Read]) -> None:
    """Lower it.

    Raises:
        Unsupported: a form that is not modelled in this way.
    """
    indices = {loop: _index(lowering, loop) for _, around in reads for loop in around}
    items: list[hostio.Item] = []
    records: Expr = IntLit(0)
    moves = []
    for statement, around in reads:
        if hostio.is_internal(lowering, hostio.checked(lowering, statement)):
            raise Unsupported("an internal file")
        loops = tuple(indices[loop] for loop in around)
        found = [one for item in statement.items for one in hostio.items_of(lowering, item, loops)]
        records = add(records, amount(loops, lowering.env))
        items += found
        moves.append((statement, found))
    first = reads[0][0]
    changed = frozenset(index.name for index in indices.values()).union(
        *(hostio.loop_names(statement.items) for statement, _ in reads)
    )
    hostio.emit_host(lowering, first, "read", items, records=records, nest=nest, changed=changed)
    for statement, found in moves:
        hostio.scatter(lowering, found, statement)


def _index(lowering: Lowering, loop: ir.Do) -> Index:
    index = lowering.index(loop.var, loop.lower, loop.upper, loop.step)
    if any(uses_of(part, (), lowering.symbols) for part in index.bounds):
        raise Unsupported("a bound that is an element of an array")
    return index
