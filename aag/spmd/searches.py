"""Searches for the largest or smallest element and its place: DO loops that keep a value and what belongs to it.

do i = k, n                              found = maxloc of abs(a(k:n, k)): own part, then one combination
  if (abs(a(i, k)) > big) then           better = found%place > 0 .and. found%value > big
    row = i                              row = merge(k + (found%place - 1), row, better)
    big = abs(a(i, k))                   big = merge(found%value, big, better)
  end if
end do

With ``>=`` the last one is kept: places are counted from the end.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import statements as ir
from aag.ir.cycles import without_cycle
from aag.ir.expressions import Binary, Call, Component, Expr, IntLit, LogicalLit, RealLit, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.linear import add, subtract
from aag.ir.result_types import INTEGER, LOGICAL
from aag.ir.visitors import elements_in, map_expression, names_in
from aag.spmd.evaluable import is_evaluable
from aag.spmd.guards import both
from aag.spmd.lowering import Lowering
from aag.spmd.names import calls_any
from aag.spmd.nodes import Index, Local
from aag.spmd.reductions import element_place, pair_of, places_in, reduce_to
from aag.spmd.symbols import Unsupported

_BETTER = {">": "maxloc", "<": "minloc", ">=": "maxloc", "<=": "minloc"}
_TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_OPPOSITE = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


class PlaceSearch(Struct, frozen=True):
    """A nest of loops that searches: the outermost first; `best` becomes `value` where `mask` holds and it is better as
    the relation `sign` says, and `kept` is assigned then, too."""

    loops: tuple[ir.Do, ...]
    best: Var
    span: Span
    """Of the innermost IF, where it does nothing but compare; else of the assignment of the best value."""
    value: Expr
    sign: str
    mask: Expr | None
    kept: tuple[ir.Assign, ...]
    guards: tuple[Expr, ...]
    """The conditions of the IFs, each inside the one before."""

    @property
    def op(self) -> str:
        """The reduction."""
        return _BETTER[self.sign]

    @property
    def keeps_last(self) -> bool:
        """Whether the last of equal elements is kept."""
        return "=" in self.sign


def lower_search(lowering: Lowering, statement: ir.Do) -> list[ir.Stmt]:
    """Lower a loop that searches as a reduction of pairs; the statements that are left to do: assignments of scalars.

    Raises:
        Unsupported: the loop does not search, or reads no distributed array.
    """
    tried = not lowering.is_alone and lowering.options.on("reductions")
    found = _search(lowering, statement) if tried else None
    if found is None or not any(lowering.is_distributed(each.name) for each in elements_in(found.value, found.mask)):
        raise Unsupported("the loop searches nothing")
    if any(elements_in(*each.subscripts) for each in elements_in(found.value, found.mask)):
        raise Unsupported("an index array decides which elements are searched")
    indices = [lowering.index(loop.var, loop.lower, loop.upper, None) for loop in found.loops]
    inward = indices[::-1]  # iterations are numbered as elements of an array are, the innermost index first
    bound = frozenset(index.name for index in indices)
    value = lowering.elementwise.element(found.value, (), bound)
    mask = None if found.mask is None else lowering.elementwise.element(found.mask, (), bound)
    _refuse_guarded(lowering, [lowering.elementwise.element(each, (), bound) for each in found.guards], indices)
    name = lowering.elementwise.fresh(found.op)
    kind = lowering.symbols.type_of(found.best)
    lowering.symbols.declare(name, pair_of(kind))
    lowering.span = found.span
    reduction = INTRINSICS[found.op].reduction
    assert reduction is not None
    pair = Call("pair$", (value, element_place(inward, from_end=found.keeps_last)))
    found_at = reduce_to(lowering, name, reduction, pair, mask, tuple(indices), None, written=True)
    place, best, better = (Var(f"{name}${each}") for each in ("at", "value", "better"))
    for each, of in ((place, INTEGER), (best, kind), (better, LOGICAL)):
        lowering.symbols.declare(each.name, of)
    some = Binary(".and.", Binary(">", place, IntLit(0)), Binary(found.sign, best, found.best))
    made = (
        ir.Assign(span=found.span, target=target, value=each)
        for target, each in ((place, Component(found_at, "place")), (best, Component(found_at, "value")))
    )
    lowering.emit(Local(span=found.span, assigns=tuple(made), defines=frozenset((place.name, best.name))))
    return [ir.Assign(span=found.span, target=better, value=some), *_updates(found, inward, place, best, better)]


def _refuse_guarded(lowering: Lowering, guards: Sequence[Expr], indices: Sequence[Index]) -> None:
    """All conditions are joined, so that each is evaluated where those around it do not hold, too.

    Raises:
        Unsupported: one may have no value there.
    """
    around: Expr | None = None
    for each in guards:
        if not is_evaluable(lowering, each, indices, around):
            raise Unsupported("a condition of the search keeps another one from being evaluated")
        around = both(around, each)


def _updates(found: PlaceSearch, indices: Sequence[Index], place: Var, best: Var, better: Var) -> Iterator[ir.Stmt]:
    """The assignments of scalars with what was found."""
    at: dict[Expr, Expr] = {}
    for index, sub in zip(indices, places_in(place, indices), strict=True):
        before = Binary("-", sub, IntLit(1))
        at[Var(index.name)] = subtract(index.upper, before) if found.keeps_last else add(index.lower, before)
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
    branches, kept_in, inside = _inside(body)
    if not loops or not branches or not inside:
        return None
    if kept_in is not None and lowering.live.wanted_after(statement, names_in(kept_in.target)):
        return None

    def put_in(expr: Expr) -> Expr:
        """The expression with what a scalar of the iteration holds."""
        if kept_in is None:
            return expr
        return map_expression(expr, lambda part: kept_in.value if part == kept_in.target else part)

    assigns = {}
    for each in inside:
        if not isinstance(each, ir.Assign) or not isinstance(each.target, Var) or each.target.name in assigns:
            return None
        assigns[each.target.name] = replace(each, value=put_in(each.value))
    guards = [put_in(each.condition) for each in branches if each.condition is not None]
    *others, test = (part for each in guards for part in _conjuncts(each))
    compared = _comparison(test, assigns)
    if compared is None:
        return None
    best, sign = compared
    update = assigns.pop(best.name)
    mask: Expr | None = None
    for part in others:
        mask = both(mask, part)
    found = PlaceSearch(
        tuple(loops), best, update.span, update.value, sign, mask, tuple(assigns.values()), tuple(guards)
    )
    return found if _is_safe(lowering, found, kept_in) else None


def _inside(body: Sequence[ir.Stmt]) -> tuple[list[ir.Branch], ir.Assign | None, Sequence[ir.Stmt]]:
    """The branches of IFs inside each other, the scalar that is assigned before one of them, and the statements that
    they guard."""
    found: list[ir.Branch] = []
    kept_in: ir.Assign | None = None
    while True:
        branch = _only_branch(body)
        if branch is not None and branch.condition is not None:
            found.append(branch)
            body = branch.body
            continue
        match body:
            case (ir.Assign(target=Var(name=name)) as first, ir.If() as test) if (
                kept_in is None and _only_branch((test,)) and name not in names_in(*(each.condition for each in found))
            ):
                kept_in, body = first, (test,)
            case _:
                return found, kept_in, body


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
    """The variable that is compared with what it becomes, and the relation of the new value to the old."""
    turned = False
    while isinstance(test, Unary) and test.op == ".not.":
        test, turned = test.operand, not turned
    if not isinstance(test, Binary) or test.op not in _OPPOSITE:
        return None
    op = _OPPOSITE[test.op] if turned else test.op
    for best, value, sign in ((test.right, test.left, op), (test.left, test.right, _TURNED[op])):
        if isinstance(best, Var) and best.name in assigns and assigns[best.name].value == value:
            return best, sign
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
