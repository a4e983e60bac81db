"""Searches for the largest or smallest element and its place: DO loops that keep a value and what belongs to it.

do i = k, n                              found = maxloc of abs(a(k:n, k)): own part, then one combination
  if (abs(a(i, k)) > big) then           better = found%place > 0 .and. found%value > big
    row = i                              row = merge(k + (found%place - 1), row, better)
    big = abs(a(i, k))                   big = merge(found%value, big, better)
  end if
end do
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import statements as ir
from aag.ir.cycles import without_cycle
from aag.ir.expressions import Binary, Call, Component, Expr, IntLit, LogicalLit, RealLit, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.linear import add
from aag.ir.liveness import wanted_after
from aag.ir.result_types import INTEGER, LOGICAL
from aag.ir.visitors import elements_in, map_expression, names_in
from aag.spmd.guards import both
from aag.spmd.lowering import Lowering
from aag.spmd.names import calls_any
from aag.spmd.nodes import Index, Local
from aag.spmd.reductions import element_place, pair_of, places_in, reduce_to
from aag.spmd.symbols import Unsupported

_BETTER = {">": "maxloc", "<": "minloc"}
_TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_OPPOSITE = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


class PlaceSearch(Struct, frozen=True):
    """A nest of loops that searches: the outermost first; `best` becomes `value` where `mask` holds and it is better,
    and `kept` is assigned then, too."""

    loops: tuple[ir.Do, ...]
    best: Var
    span: Span
    """Of the assignment of the best value."""
    value: Expr
    op: str
    mask: Expr | None
    kept: tuple[ir.Assign, ...]


def lower_search(lowering: Lowering, statement: ir.Do) -> list[ir.Stmt]:
    """Lower a loop that searches as a reduction of pairs; the statements that are left to do: assignments of scalars.

    Raises:
        Unsupported: the loop does not search, or reads no distributed array.
    """
    tried = not lowering.is_alone and lowering.options.on("reductions")
    found = _search(lowering, statement) if tried else None
    if found is None or not any(lowering.is_distributed(each.name) for each in elements_in(found.value, found.mask)):
        raise Unsupported("the loop searches nothing")
    indices = [lowering.index(loop.var, loop.lower, loop.upper, None) for loop in found.loops]
    inward = indices[::-1]  # iterations are numbered as elements of an array are, the innermost index first
    bound = frozenset(index.name for index in indices)
    value = lowering.elementwise.element(found.value, (), bound)
    mask = None if found.mask is None else lowering.elementwise.element(found.mask, (), bound)
    name = lowering.elementwise.fresh(found.op)
    kind = lowering.symbols.type_of(found.best)
    lowering.symbols.declare(name, pair_of(kind))
    lowering.span = found.span
    reduction = INTRINSICS[found.op].reduction
    assert reduction is not None
    pair = Call("pair$", (value, element_place(inward)))
    found_at = reduce_to(lowering, name, reduction, pair, mask, tuple(indices), None, written=True)
    place, best, better = (Var(f"{name}${each}") for each in ("at", "value", "better"))
    for each, of in ((place, INTEGER), (best, kind), (better, LOGICAL)):
        lowering.symbols.declare(each.name, of)
    sign = ">" if found.op == "maxloc" else "<"
    some = Binary(".and.", Binary(">", place, IntLit(0)), Binary(sign, best, found.best))
    made = (
        ir.Assign(span=found.span, target=target, value=each)
        for target, each in ((place, Component(found_at, "place")), (best, Component(found_at, "value")))
    )
    lowering.emit(Local(span=found.span, assigns=tuple(made), defines=frozenset((place.name, best.name))))
    return [ir.Assign(span=found.span, target=better, value=some), *_updates(found, inward, place, best, better)]


def _updates(found: PlaceSearch, indices: Sequence[Index], place: Var, best: Var, better: Var) -> Iterator[ir.Stmt]:
    """The assignments of scalars with what was found."""
    at = {
        Var(index.name): add(index.lower, Binary("-", sub, IntLit(1)))
        for index, sub in zip(indices, places_in(place, indices), strict=True)
    }
    for each in found.kept:
        value = map_expression(each.value, lambda part: at[part] if isinstance(part, Var) and part in at else part)
        yield replace(each, value=Call("merge", (value, each.target, better)))
    yield ir.Assign(span=found.span, target=found.best, value=Call("merge", (best, found.best, better)))


def _search(lowering: Lowering, statement: ir.Do) -> PlaceSearch | None:
    loops: list[ir.Do] = []
    body: Sequence[ir.Stmt] = (statement,)
    while len(body) == 1 and isinstance(body[0], ir.Do):
        loop = body[0]
        if loop.step not in (None, IntLit(1)) or loop.independent is not None:
            return None
        loops.append(loop)
        body = [each for each in without_cycle(loop, loop.body) if not isinstance(each, ir.Continue)]
    kept_in: ir.Assign | None = None
    match body:
        case (ir.Assign(target=Var(name=name)) as kept_in, _):
            body = body[1:]
            if wanted_after(statement, lowering.unit.body, frozenset((name,))):
                return None
        case _:
            pass
    branch = _only_branch(body)
    if not loops or branch is None or branch.condition is None or not branch.body:
        return None

    def put_in(expr: Expr) -> Expr:
        """The expression with what a scalar of the iteration holds."""
        if kept_in is None:
            return expr
        return map_expression(expr, lambda part: kept_in.value if part == kept_in.target else part)

    assigns = {}
    for each in branch.body:
        if not isinstance(each, ir.Assign) or not isinstance(each.target, Var) or each.target.name in assigns:
            return None
        assigns[each.target.name] = replace(each, value=put_in(each.value))
    *others, test = _conjuncts(put_in(branch.condition))
    compared = _comparison(test, assigns)
    if compared is None:
        return None
    best, op = compared
    update = assigns.pop(best.name)
    mask: Expr | None = None
    for part in others:
        mask = both(mask, part)
    found = PlaceSearch(tuple(loops), best, update.span, update.value, op, mask, tuple(assigns.values()))
    return found if _is_safe(lowering, found, kept_in) else None


def _only_branch(body: Sequence[ir.Stmt]) -> ir.Branch | None:
    """The branch of a body that is an IF of one branch; what is left by CYCLE or a jump has the rest in its ELSE."""
    match body:
        case (ir.If(branches=(branch,)),):
            return branch
        case (
            ir.If(branches=(ir.Branch(condition=Expr() as condition) as first, ir.Branch(condition=None, body=rest))),
        ):
            plain = all(isinstance(each, ir.Continue) for each in first.body)
            inside = tuple(each for each in rest if not isinstance(each, ir.Continue))
            return replace(first, condition=Unary(".not.", condition), body=inside) if plain else None
        case _:
            return None


def _conjuncts(condition: Expr) -> list[Expr]:
    """The parts of a condition, the comparison last."""
    match condition:
        case Binary(op=".and.", left=left, right=right):
            return [*_conjuncts(left), *_conjuncts(right)]
        case _:
            return [condition]


def _comparison(test: Expr, assigns: dict[str, ir.Assign]) -> tuple[Var, str] | None:
    """The variable that is compared with what it becomes, and the reduction that this is."""
    turned = False
    while isinstance(test, Unary) and test.op == ".not.":
        test, turned = test.operand, not turned
    if not isinstance(test, Binary) or test.op not in _OPPOSITE:
        return None
    op = _OPPOSITE[test.op] if turned else test.op
    for best, value, sign in ((test.right, test.left, op), (test.left, test.right, _TURNED[op])):
        if isinstance(best, Var) and best.name in assigns and assigns[best.name].value == value and sign in _BETTER:
            return best, _BETTER[sign]
    return None


def _is_safe(lowering: Lowering, found: PlaceSearch, kept_in: ir.Assign | None) -> bool:
    """Whether nothing that the search reads changes on the way, and its places are those of a rectangle."""
    symbols = lowering.symbols
    indices = {each.var for each in found.loops}
    changed = {found.best.name, *(each.target.name for each in found.kept if isinstance(each.target, Var))}
    changed |= set() if kept_in is None else names_in(kept_in.target)
    read = [found.value, found.mask, *(each.value for each in found.kept)]
    bounds = names_in(*(bound for each in found.loops for bound in (each.lower, each.upper)))
    shared = names_in(*(member for each in lowering.unit.equivalences for member in each.members))
    return (
        not shared & (changed | bounds | names_in(*read))
        and (kept_in is None or symbols.type_of(kept_in.target) == symbols.type_of(kept_in.value))
        and not any(symbols.is_array(name) for name in changed)
        and not changed & lowering.partials.keys()
        and not names_in(*read) & changed
        and not bounds & (changed | indices)
        and not changed & indices
        and not any(calls_any(each, lowering.impure) for each in read if each is not None)
        and all(_is_plain(each.value) for each in found.kept)
        and symbols.type_of(found.best) == symbols.type_of(found.value)
        and symbols.type_of(found.best).base in ("real", "integer")
    )


def _is_plain(value: Expr) -> bool:
    """Whether a value has a place in the iteration alone: no array, no function."""
    match value:
        case Var() | IntLit() | RealLit() | LogicalLit():
            return True
        case Binary(left=left, right=right):
            return _is_plain(left) and _is_plain(right)
        case Unary(operand=operand):
            return _is_plain(operand)
        case _:
            return False
