"""PRINT, WRITE and READ: rank 0 talks to the host (Def 15). Distributed data are gathered before or scattered after,
replicated data that are read go to all in a broadcast; all processors write to and read from internal files.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from aag.ir import statements as ir
from aag.ir.control import Control, control_of
from aag.ir.evaluate import Environment
from aag.ir.expressions import Call, Constructor, Element, Expr, ImpliedDo, IntLit, Var
from aag.ir.linear import add, multiply
from aag.ir.visitors import map_operands, names_in, walk_expressions
from aag.spmd.amounts import amount
from aag.spmd.lowering import Lowering
from aag.spmd.names import comm_names, scalars
from aag.spmd.needs import Use, reference_to, uses_of
from aag.spmd.nodes import Communicate, Gather, HostIo, Index, Local, Need, SharedValues, Value, deciding_indices
from aag.spmd.symbols import Unsupported, inquired

TEXT_BYTES = {"int": 12, "r4": 17, "r8": 26, "c8": 36, "c16": 54, "logical": 2}
"""Characters that list-directed output takes for a value of each kind (gfortran's field widths)."""


class Item(Struct, frozen=True):
    """Values of one kind in an I/O list, an element inside loops: how many, their size as text and in memory, and the
    distributed arrays."""

    element: Expr
    indices: tuple[Index, ...]
    count: Expr
    characters: int
    bytes: int
    uses: tuple[Use, ...]

    @property
    def scalar(self) -> bool:
        """Whether it is a single value."""
        return not self.indices


def lower_io(lowering: Lowering, statement: ir.Io) -> None:
    """Lower one I/O statement.

    Raises:
        Unsupported: a form that is not modelled.
    """
    lowering.results.clear()
    control = checked(lowering, statement)
    extra = tuple(_set_value(lowering, name) for name in control.sets)
    if statement.kind not in ("print", "write", "read"):
        if extra:
            emit_host(lowering, statement, "control", (), extra=extra)
        else:
            lowering.emit(Local(span=statement.span, assigns=()))
        return
    called = {each.name for each in walk_expressions(statement) if isinstance(each, Call)} & lowering.impure.keys()
    for name in sorted(called):
        why = "is not in the source" if lowering.impure[name] is None else "may have side effects"
        raise Unsupported(f"the list calls the function {name}, which {why}")
    items = [found for item in statement.items for found in items_of(lowering, item, ())]
    if is_internal(lowering, control):
        _internal(lowering, statement, control, items)
    elif statement.kind == "read":
        emit_host(lowering, statement, "read", items, extra=extra)
        scatter(lowering, items, statement)
    else:
        for item in items:
            _gather(lowering, item, statement)
        emit_host(lowering, statement, "write", items, extra=extra)


def checked(lowering: Lowering, statement: ir.Io) -> Control:
    """The control list of a statement whose form is modelled.

    Raises:
        Unsupported: it is not.
    """
    control = control_of(statement)
    types = lowering.symbols.types()
    form = control.format.lower()
    named = form.isidentifier() and (form not in types or types[form].base == "derived")
    if not statement.group and (control.namelist or (named and statement.kind in ("read", "write"))):
        raise Unsupported("found no NAMELIST of this name")
    far = sorted(name for name in control.names if lowering.is_distributed(name))
    if far:
        raise Unsupported(f"the control list depends on the distributed array {far[0]}")
    for name in control.sets:
        if name not in types or lowering.symbols.is_array(name):
            raise Unsupported(f"the statement sets {name}, which is not a scalar variable")
    if control.jumps:
        lowering.note("W208", f"the statement succeeds: its {' and '.join(control.jumps)} branch is not taken")
    return control


def is_formatted(statement: ir.Io) -> bool:
    """Whether values are text outside: PRINT, NAMELIST, and what has a format."""
    control = control_of(statement)
    return statement.kind == "print" or bool(control.format or control.namelist or statement.group)


def is_internal(lowering: Lowering, control: Control) -> bool:
    """Whether the unit is a character variable."""
    name = control.unit.partition("(")[0].strip().lower()
    kind = lowering.symbols.types().get(name)
    return kind is not None and kind.base == "character"


def _set_value(lowering: Lowering, name: str) -> Item:
    kind = lowering.symbols.type_of(Var(name))
    return Item(Var(name), (), IntLit(1), 0, kind.bytes, ())


def emit_host(
    lowering: Lowering,
    statement: ir.Io,
    kind: Literal["write", "read", "format", "control"],
    items: Sequence[Item],
    *,
    extra: Sequence[Item] = (),
    records: Expr | None = None,
    nest: ir.Do | None = None,
    changed: frozenset[str] = frozenset(),
) -> None:
    """Emit the node of rank 0's part. `extra`: values that the control list sets; `records`: how many statements are
    executed; `nest`: the loops that hold nothing but READs; `changed`: further names that get another value."""
    count: Expr = IntLit(0)
    size: Expr = IntLit(0)
    formatted = is_formatted(statement)
    for item in items:
        count = add(count, item.count if formatted else IntLit(0))
        size = add(size, multiply(item.count, IntLit(item.characters if formatted else item.bytes)))
    records = IntLit(1) if records is None else records
    shared = share(lowering.env, [*(items if kind == "read" else ()), *extra])
    targets = (*(items if kind == "read" else ()), *extra)
    defines = {item.element.name for item in targets if isinstance(item.element, Var | Element)}
    defines |= set(loop_names(statement.items))
    amounts = [count, size, records, *(each.bytes for each in shared)]
    lowering.emit(
        HostIo(
            span=statement.span,
            kind=kind,
            items=count,
            bytes=size,
            records=records,
            shared=shared,
            nest=nest,
            listed=tuple(_listed(lowering, each) for each in statement.items),
            uses=scalars(lowering.symbols, *amounts),
            defines=frozenset(defines) | changed,
        )
    )


def _listed(lowering: Lowering, expr: Expr) -> Expr:
    """An expression with variables for reductions and products that are computed before."""
    if expr in lowering.results:
        return lowering.results[expr]
    found = lowering.symbols.intrinsic(expr.name) if isinstance(expr, Call) and expr.args else None
    if isinstance(expr, Call) and found is not None and found.form == "expanded":
        return _listed(lowering, lowering.symbols.expanded(expr, found))
    if isinstance(expr, Call) and found is not None and found.form == "bounds":
        return inquired(lowering.symbols, expr, found.bound(expr))
    return map_operands(expr, lambda each: _listed(lowering, each))


def loop_names(items: Iterable[Expr]) -> list[str]:
    """The variables of implied DO loops, which have another value afterwards; those of array constructors do not."""
    loops = [each for each in items if isinstance(each, ImpliedDo)]
    return [name for each in loops for name in (each.var, *loop_names(each.values))]


def share(env: Environment, items: Sequence[Item]) -> tuple[SharedValues, ...]:
    """The broadcasts of replicated values that were read. How many values there are may depend on those before them in
    the same list; these are then known to all beforehand."""
    groups: list[list[Item]] = []
    known: set[str] = set()
    for item in items:
        if item.uses or not isinstance(item.element, Var | Element):
            continue
        if not groups or known & _places(item):
            groups.append([])
            known = set()
        groups[-1].append(item)
        known.add(item.element.name)
    found = []
    for group in groups:
        size: Expr = IntLit(0)
        values = []
        for item in group:
            indices = _moving(item)
            size = add(size, multiply(amount(indices, env), IntLit(item.bytes)))
            if isinstance(item.element, Var | Element):
                values.append(Value(element=item.element, indices=indices))
        found.append(SharedValues(values=tuple(values), bytes=size))
    return tuple(found)


def _places(item: Item) -> frozenset[str]:
    """Names that decide which values an item has."""
    subscripts = item.element.subscripts if isinstance(item.element, Element) else ()
    return names_in(*subscripts).union(*(index.reads for index in item.indices))


def _moving(item: Item) -> tuple[Index, ...]:
    """The loops that decide the place of a value: those around whose index nothing mentions bring it once."""
    subscripts = item.element.subscripts if isinstance(item.element, Element) else ()
    return deciding_indices(item.indices, names_in(*subscripts))


def items_of(lowering: Lowering, item: Expr, around: tuple[Index, ...]) -> list[Item]:
    """The values of one entry of the list; an implied DO is a loop around its entries."""
    if isinstance(item, ImpliedDo):
        index = lowering.index(item.var, item.lower, item.upper, item.step)
        return [found for each in item.values for found in items_of(lowering, each, (*around, index))]
    if isinstance(item, Constructor):
        return [found for each in item.values for found in items_of(lowering, each, around)]
    symbols = lowering.symbols
    inner, positions = lowering.elementwise.context(symbols.shape(item))
    indices = around + inner
    element = lowering.elementwise.element(item, positions, frozenset(index.name for index in around))
    uses = tuple(use for use in uses_of(element, indices, symbols) if lowering.is_distributed(use.element.name))
    kind = symbols.type_of(item)
    characters = kind.bytes if kind.base == "character" else TEXT_BYTES[kind.operation_kind]
    return [Item(element, indices, amount(indices, lowering.env), characters, kind.bytes, uses)]


def _internal(lowering: Lowering, statement: ir.Io, control: Control, items: Sequence[Item]) -> None:
    """A character variable as a file: every processor has one of its own."""
    far = [use for item in items for use in item.uses]
    if far and (statement.kind == "read" or not all(item.scalar for item in items)):
        raise Unsupported(f"an internal file with the distributed array {far[0].element.name}")
    lowering.communicate(far, None)
    unit = control.unit.partition("(")[0].strip().lower()
    changed = frozenset((*control.sets, unit) if statement.kind == "write" else control.sets)
    targets = frozenset(item.element.name for item in items if isinstance(item.element, Var | Element))
    emit_host(
        lowering, statement, "format", items, changed=changed | (targets if statement.kind == "read" else frozenset())
    )


def _gather(lowering: Lowering, item: Item, statement: ir.Io) -> None:
    """What is written must be on rank 0."""
    for use in item.uses:
        _move(lowering, use, statement, "gather")


def scatter(lowering: Lowering, items: Sequence[Item], statement: ir.Io) -> None:
    """What was read goes to its owners; an element of a distributed array, too."""
    for item in items:
        for use in item.uses:
            _move(lowering, use, statement, "scatter")


def _move(lowering: Lowering, use: Use, statement: ir.Io, pattern: Literal["gather", "scatter"]) -> None:
    element: Element = use.element
    reference = reference_to(element, use.indices, lowering.arrays)
    operation = Gather(array=element.name, needs=(Need(reference=reference, home=None),), pattern=pattern)
    uses = comm_names(lowering.symbols, operation)
    lowering.emit(Communicate(span=statement.span, operation=operation, uses=uses))
