"""DATA: the variables and parts of arrays that it names, and their values, in order."""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Call, Constructor, Element, Expr, IntLit, RealLit, Section
from aag.ir.units import Type
from aag.ir.values import Value
from aag.source.declarations import Declarations, Known
from aag.source.expressions import Locator, Reader

_MOST_VALUES = 1_000_000
_MOST_DIFFERENT = 10_000
"""Elements of an array whose values differ."""

Constants = Mapping[str, Value]


class _Part(Struct, frozen=True):
    """An element of an array, or with no subscripts all of a variable."""

    name: str
    subscripts: tuple[Expr, ...] | None


class _Loop(Struct, frozen=True):
    """An implied DO."""

    items: tuple["_Part | _Loop", ...]
    var: str
    lower: Expr
    upper: Expr
    step: Expr


def give(node: Any, into: Declarations, reader: Reader, at: Locator) -> bool:
    """Give variables the values of one set of DATA, ``objects / values /``; False where this is not possible."""
    objects, values = node.items
    try:
        items = [_item(each, into, reader, at) for each in getattr(objects, "items", (objects,))]
        given = _values(values, into.constants, reader)
        touched: dict[str, Known] = {}
        for item in items:
            for name, offset in _places(item, into, into.constants):
                touched[name] = into.names[name]
                touched[name].parts[offset] = next(given)
        return next(given, None) is None and all(_initial(name, into) for name in touched)
    except (Unknown, StopIteration, RuntimeError):
        return False


def size_of(known: Known, constants: Constants) -> int:
    """Elements of a variable.

    Raises:
        Unknown: they are not known here.
    """
    total = 1
    for extent, _ in _extents(known, constants):
        total *= extent
    return total


def _item(node: Any, into: Declarations, reader: Reader, at: Locator) -> _Part | _Loop:
    kind = type(node).__name__
    if kind == "Name":
        into.entry(str(node), at)
        return _Part(str(node).lower(), None)
    if kind == "Data_Implied_Do":
        objects, var, lower, upper, step = node.items
        items = tuple(_item(each, into, reader, at) for each in getattr(objects, "items", (objects,)))
        first, last = reader.read(lower), reader.read(upper)
        return _Loop(items, str(var).lower(), first, last, reader.read_or_none(step) or IntLit(1))
    read = reader.read(node)
    if isinstance(read, Element):
        return _Part(read.name, read.subscripts)
    raise Unknown(read.name if isinstance(read, Call) else kind)


def _places(item: _Part | _Loop, into: Declarations, constants: Constants) -> Iterator[tuple[str, int]]:
    """The elements that an item names: the variable, and the place in it."""
    if isinstance(item, _Loop):
        bounds = (evaluate_int(each, constants) for each in (item.lower, item.upper, item.step))
        first, last, step = bounds
        if step == 0:
            raise Unknown(item.var)
        for index in range(first, last + (1 if step > 0 else -1), step):
            for each in item.items:
                yield from _places(each, into, ChainMap({item.var: index}, dict(constants)))
        return
    known = into.names[item.name]
    if item.subscripts is None:
        size = size_of(known, constants)
        if size > _MOST_VALUES:
            raise Unknown(item.name)
        yield from ((item.name, offset) for offset in range(size))
        return
    extents = list(_extents(known, constants))
    if len(extents) != len(item.subscripts) or any(isinstance(each, Section) for each in item.subscripts):
        raise Unknown(item.name)
    offset, stride = 0, 1
    for subscript, (extent, lower) in zip(item.subscripts, extents, strict=True):
        index = evaluate_int(subscript, constants) - lower
        if not 0 <= index < extent:
            raise Unknown(item.name)
        offset += stride * index
        stride *= extent
    yield item.name, offset


def _extents(known: Known, constants: Constants) -> Iterator[tuple[int, int]]:
    """Extent and lower bound of each dimension."""
    for bound in known.shape or ():
        if bound.upper is None:
            raise Unknown(known.shown)
        lower = 1 if bound.lower is None else evaluate_int(bound.lower, constants)
        yield max(0, evaluate_int(bound.upper, constants) - lower + 1), lower


def _values(node: Any, constants: Constants, reader: Reader) -> Iterator[Expr]:
    """The values with repetitions spelled out."""
    pairs: list[tuple[int, Expr]] = []
    for item in getattr(node, "items", (node,)) if type(node).__name__.endswith("_List") else (node,):
        count, value = 1, item
        if type(item).__name__ == "Data_Stmt_Value" and item.items[0] is not None:
            count, value = evaluate_int(reader.read(item.items[0]), constants), item.items[1]
        pairs.append((count, reader.read(value)))
    if sum(count for count, _ in pairs) > _MOST_VALUES:
        raise Unknown("")
    return (value for count, value in pairs for _ in range(count))


def _initial(name: str, into: Declarations) -> bool:
    """Make the initial value of a variable from those of its parts; elements without one are zero."""
    known = into.names[name]
    size = size_of(known, into.constants)
    first = next(iter(known.parts.values()))
    if len(known.parts) == size and all(each == first for each in known.parts.values()):
        known.initial = first
        return True
    zero = _zero(into.type_of(name))
    if size > _MOST_DIFFERENT or (len(known.parts) < size and zero is None):
        return False
    values = [known.parts.get(offset, zero) for offset in range(size)]
    listed = Constructor(tuple(each for each in values if each is not None), span=first.span)
    extents = tuple(IntLit(extent) for extent, _ in _extents(known, into.constants))
    known.initial = listed
    if len(extents) > 1:
        known.initial = Call("reshape", (listed, Constructor(extents)), span=first.span)
    return True


def _zero(of: Type) -> Expr | None:
    match of.base:
        case "integer":
            return IntLit(0)
        case "real":
            return RealLit(0.0, "0.0d0" if of.bytes > 4 else "0.0", of.bytes > 4)
        case _:
            return None
