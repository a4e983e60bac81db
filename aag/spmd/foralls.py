"""FORALL, WHERE and array syntax: one assignment for all combinations of some indices."""

from collections.abc import Sequence

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.expressions import Call, Element, Expr, Section, Unary, Var
from aag.ir.visitors import map_expression, walk_statements
from aag.spmd.elementwise import Position
from aag.spmd.evaluable import have_ranges, is_evaluable
from aag.spmd.guards import both, entry_condition
from aag.spmd.lowering import Lowering
from aag.spmd.masks import first_target, must_be_kept, section_of, temporary
from aag.spmd.names import nest_names
from aag.spmd.needs import Use, uses_of
from aag.spmd.nests import as_value, conflicts, has_inner_loop, inner_loops, inner_reductions, reduced_type
from aag.spmd.nodes import Index, Nest, Reference
from aag.spmd.order import in_order
from aag.spmd.symbols import Unsupported, assigned


def lower_forall(lowering: Lowering, statement: ir.Forall) -> None:
    """Lower a FORALL statement or construct."""
    indices = tuple(lowering.index(each.name, each.lower, each.upper, each.step) for each in statement.indices)
    _forall_body(lowering, indices, _once(lowering, indices, None, statement), statement.body)


def lower_where(lowering: Lowering, statement: ir.Where) -> None:
    """Lower a WHERE statement or construct."""
    _where(lowering, statement, (), None)


def forall(
    lowering: Lowering,
    indices: tuple[Index, ...],
    mask: Expr | None,
    target: Var | Element,
    value: Expr,
    positions: Sequence[Position] = (),
    entry: Expr | None = None,
) -> None:
    """One assignment for all combinations of the indices: communication, then the nest. `entry`: the condition under
    which a FORALL around reaches it at all."""
    names = frozenset(index.name for index in indices)
    with lowering.only_if(entry):
        element = assigned(lowering.elementwise.element(target, positions, names), target.span)
        computed = lowering.elementwise.element(value, positions, names)
        condition = None if mask is None else lowering.elementwise.element(mask, positions, names)
    computed = _one_reduction(lowering, indices, condition, element, as_value(computed, element))
    _store(lowering, indices, condition, element, computed)


def _one_reduction(
    lowering: Lowering, indices: tuple[Index, ...], condition: Expr | None, element: Element, value: Expr
) -> Expr:
    """A value with one reduction over a loop of its own at most: the others, as in ``matmul(a, b) + matmul(b, a)``, are
    computed into temporaries before, where each index selects elements of the target."""
    for call in inner_reductions(value)[:-1]:
        found = section_of(lowering, indices, element)
        if found is None:
            return value
        section, place = found
        kept = Element(temporary(lowering, section, reduced_type(lowering, call)).name, place)
        _store(lowering, indices, condition, kept, call)
        value = _replaced(value, call, kept)
    return value


def _replaced(expr: Expr, call: Expr, other: Expr) -> Expr:
    return map_expression(expr, lambda each: other if each == call else each)


def _store(
    lowering: Lowering, indices: tuple[Index, ...], condition: Expr | None, element: Element, computed: Expr
) -> None:
    if condition is not None and has_inner_loop(condition):
        computed, condition = Call("merge", (computed, element, condition)), None
    home = Reference(array=element.name, subscripts=element.subscripts, indices=indices)
    indices, inner, outer = inner_loops(lowering, element, computed, indices)
    uses = [use for assign in inner for use in uses_of(assign.value, indices, lowering.symbols)]
    for depth, assigns in enumerate(outer, start=1):
        uses += [use for assign in assigns for use in uses_of(assign.value, indices[:depth], lowering.symbols)]
    uses += uses_of(condition, indices, lowering.symbols)
    distributed = lowering.is_distributed(element.name)
    nest = Nest(
        span=lowering.span,
        indices=indices,
        home=home if distributed else None,
        assigns=inner,
        outer=outer,
        leading=tuple(min(1, len(level)) for level in outer),
        mask=condition,
        copies=conflicts(home, uses, lowering.env)
        or _shares(lowering, element.name, uses)
        or element.name in lowering.read_by_calls(computed, condition),
    )
    lowering.bring(nest, uses)
    nest = in_order(nest, home, lowering.options)
    lowering.emit(replace(nest, uses=nest_names(lowering.symbols, nest)))


def _shares(lowering: Lowering, array: str, uses: Sequence[Use]) -> bool:
    """Whether an array is read by another name of its storage."""
    return any(use.element.name != array for use in uses if use.element.name in lowering.sharing.get(array, ()))


def _forall_body(lowering: Lowering, indices: tuple[Index, ...], mask: Expr | None, body: Sequence[ir.Stmt]) -> None:
    for statement in body:
        lowering.span = statement.span
        match statement:
            case ir.Assign(target=Var() | Element() as target, value=value):
                shape = lowering.symbols.shape(target)
                inner, positions = lowering.elementwise.context(shape)
                entry = entry_condition(
                    indices, mask, frozenset(each.name for each in indices), lowering.symbols, lowering.env
                )
                forall(lowering, indices + inner, mask, target, value, positions, entry)
            case ir.Forall(indices=more, body=nested):
                added = tuple(lowering.index(each.name, each.lower, each.upper, each.step) for each in more)
                around = (
                    None
                    if mask is None
                    else lowering.elementwise.element(mask, (), frozenset(each.name for each in indices))
                )
                if not have_ranges(lowering, added, indices, around):
                    raise Unsupported("a FORALL whose range has no value where the mask around it does not hold")
                every = indices + added
                _forall_body(lowering, every, both(mask, _once(lowering, every, mask, statement)), nested)
            case ir.Where():
                _where(lowering, statement, indices, mask)
            case _:
                raise Unsupported(f"{type(statement).__name__} inside FORALL")


def _once(lowering: Lowering, indices: tuple[Index, ...], around: Expr | None, statement: ir.Forall) -> Expr | None:
    """The mask of a FORALL; computed into a temporary before its body changes what it reads. `around`: the masks of
    constructs around, outside of which it has no value."""
    mask = statement.mask
    if mask is None or not (must_be_kept(lowering, mask, statement.body) or _fails(lowering, mask, indices, around)):
        return mask
    targets = [each.target for each in walk_statements(statement.body) if isinstance(each, ir.Assign)]
    sections = (section_of(lowering, indices, each) for each in targets)
    found = next((each for each in sections if each is not None), None)
    if found is None:
        raise Unsupported("a FORALL that changes its own mask, without a target that each of its indices selects")
    section, place = found
    kept = Element(temporary(lowering, section).name, place)
    forall(lowering, indices, around, kept, mask)
    return kept


def _fails(lowering: Lowering, mask: Expr, indices: tuple[Index, ...], around: Expr | None) -> bool:
    """Whether a mask may have no value where the masks around it do not hold."""
    if around is None:
        return False
    names = frozenset(each.name for each in indices)
    inner, positions = lowering.elementwise.context(lowering.symbols.shape(mask))
    own, outer = (lowering.elementwise.element(each, positions, names) for each in (mask, around))
    return not is_evaluable(lowering, own, indices + inner, outer)


def _where(lowering: Lowering, statement: ir.Where, indices: tuple[Index, ...], mask: Expr | None) -> None:
    before: Expr | None = None
    for number, branch in enumerate(statement.branches):
        own = branch.mask
        later = [each for every in statement.branches[number:] for each in every.body]
        around = both(mask, before)
        if own is not None and (must_be_kept(lowering, own, later) or _fails(lowering, own, indices, around)):
            own = _kept(lowering, own, around, statement, indices)
        condition = both(before, own)
        for each in branch.body:
            lowering.span = each.span
            match each:
                case ir.Assign(target=Var() | Element() as target, value=value):
                    inner, positions = lowering.elementwise.context(lowering.symbols.shape(target))
                    forall(lowering, indices + inner, both(mask, condition), target, value, positions)
                case ir.Where():
                    _where(lowering, each, indices, both(mask, condition))
                case _:
                    raise Unsupported(f"{type(each).__name__} inside WHERE")
        if own is not None:
            before = both(before, Unary(".not.", own))


def _kept(lowering: Lowering, mask: Expr, around: Expr | None, statement: ir.Where, indices: tuple[Index, ...]) -> Expr:
    """A mask computed into a temporary, where the masks `around` it hold, before anything that it reads can change."""
    like = first_target(statement.branches)
    found = None if like is None else section_of(lowering, indices, _as_section(lowering, like), shaped=True)
    if found is None:
        raise Unsupported("a WHERE that changes its own mask, with a target that not each index around it selects")
    section, place = found
    kept = Element(temporary(lowering, section).name, place)
    inner, positions = lowering.elementwise.context(lowering.symbols.shape(kept))
    forall(lowering, indices + inner, around, kept, mask, positions)
    return kept


def _as_section(lowering: Lowering, target: Var | Element) -> Element:
    every = (Section(None, None, None),) * lowering.arrays[target.name].rank
    return target if isinstance(target, Element) else Element(target.name, every)
