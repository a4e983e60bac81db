"""PRINT, WRITE and READ: rank 0 talks to the host; distributed data are gathered before or scattered after (Def 15)."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from aag.ir import statements as ir
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Binary, Element, Expr, ImpliedDo, IntLit, Var
from aag.spmd.elementwise import Position
from aag.spmd.linear import multiply
from aag.spmd.names import calls_any, comm_names, scalars
from aag.spmd.needs import Use
from aag.spmd.nests import uses_of
from aag.spmd.nodes import Communicate, Gather, HostIo, Index, Local, Need, Reference
from aag.spmd.symbols import Unsupported

if TYPE_CHECKING:
    from aag.spmd.lower import Lowering

_TEXT_BYTES = {"int": 12, "r4": 17, "r8": 26, "c8": 36, "c16": 54, "logical": 2}
"""Characters that list-directed output takes for a value of each kind (gfortran's field widths)."""


class _Item(Struct, frozen=True):
    """Values of one kind in an I/O list: how many, their size as text and in memory, and the distributed arrays."""

    count: Expr
    characters: int
    bytes: int
    uses: tuple[Use, ...]
    scalar: bool


def lower_io(lowering: "Lowering", statement: ir.Io) -> None:
    """Lower one I/O statement."""
    if statement.kind not in ("print", "write", "read"):
        lowering.emit(Local(span=statement.span, assigns=()))
        return
    if any(calls_any(each, lowering.impure) for each in statement.items):
        raise Unsupported("a list of values calls a function that may have side effects")
    kind: Literal["read", "write"] = "read" if statement.kind == "read" else "write"
    items = [found for item in statement.items for found in _items(lowering, item, ())]
    if kind == "write":
        for item in items:
            _gather(lowering, item, statement)
    count: Expr = IntLit(0)
    size: Expr = IntLit(0)
    spread: Expr = IntLit(0)
    for item in items:
        count = _sum(count, item.count)
        size = _sum(size, multiply(item.count, IntLit(item.characters)))
        if kind == "read" and not item.uses:
            spread = _sum(spread, multiply(item.count, IntLit(item.bytes)))
    names = frozenset(each.name for each in statement.items if isinstance(each, Var))
    lowering.emit(
        HostIo(
            span=statement.span,
            kind=kind,
            items=count,
            bytes=size,
            spread=spread,
            uses=scalars(lowering.symbols, count),
            defines=names if kind == "read" else frozenset(),
        )
    )
    if kind == "read":
        for item in items:
            _scatter(lowering, item, statement)


def _items(lowering: "Lowering", item: Expr, around: tuple[Index, ...]) -> list[_Item]:
    """The values of one entry of the list; an implied DO is a loop around its entries."""
    if isinstance(item, ImpliedDo):
        index = lowering.index(item.var, item.lower, item.upper, item.step)
        return [found for each in item.values for found in _items(lowering, each, (*around, index))]
    symbols = lowering.symbols
    inner, positions = lowering.elementwise.context(symbols.shape(item))
    indices = around + inner
    element = _element(lowering, item, positions, indices)
    uses = tuple(
        use for use in uses_of(element, indices, symbols) if lowering.is_distributed(use.element.name)
    )
    kind = symbols.type_of(item)
    characters = kind.bytes if kind.base == "character" else _TEXT_BYTES[kind.operation_kind]
    return [_Item(_elements(lowering, indices), characters, kind.bytes, uses, not indices)]


def _element(lowering: "Lowering", item: Expr, positions: Sequence[Position], indices: Sequence[Index]) -> Expr:
    return lowering.elementwise.element(item, positions, frozenset(index.name for index in indices))


def _gather(lowering: "Lowering", item: _Item, statement: ir.Io) -> None:
    """What is written must be on rank 0: one element is brought to all, more are gathered."""
    if item.scalar:
        lowering.communicate(list(item.uses), None)
        return
    for use in item.uses:
        _emit(lowering, use, statement, "gather")


def _scatter(lowering: "Lowering", item: _Item, statement: ir.Io) -> None:
    """What was read goes to its owners; an element of a distributed array, too."""
    for use in item.uses:
        _emit(lowering, use, statement, "scatter")


def _emit(lowering: "Lowering", use: Use, statement: ir.Io, pattern: Literal["gather", "scatter"]) -> None:
    element: Element = use.element
    reference = Reference(array=element.name, subscripts=element.subscripts, indices=use.indices)
    operation = Gather(array=element.name, needs=(Need(reference=reference, home=None),), pattern=pattern)
    uses = comm_names(lowering.symbols, operation)
    lowering.emit(Communicate(span=statement.span, operation=operation, uses=uses))


def _elements(lowering: "Lowering", indices: Sequence[Index]) -> Expr:
    """How many values a set of loops goes through."""
    steps = [each.step or IntLit(1) for each in indices]
    try:
        bounds = [
            tuple(evaluate_int(part, lowering.env) for part in (each.lower, each.upper, step))
            for each, step in zip(indices, steps, strict=True)
        ]
    except Unknown:
        whole: Expr = IntLit(1)
        for each, step in zip(indices, steps, strict=True):
            length = Binary("-", Binary("+", each.upper, step), each.lower)
            whole = multiply(whole, length if each.step is None else Binary("/", length, step))
        return whole
    return IntLit(prod(max(0, (upper - lower + step) // step) for lower, upper, step in bounds if step))


def _sum(left: Expr, right: Expr) -> Expr:
    match left, right:
        case IntLit(value=a), IntLit(value=b):
            return IntLit(a + b)
        case _:
            return Binary("+", left, right)
