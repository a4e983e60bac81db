"""ALLOCATE, DEALLOCATE and NULLIFY: what they allocate, and what they assign."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.visitors import Body, mapped
from aag.source.expressions import Reader


class Allocation(s.Allocate, frozen=True, kw_only=True, eq=False):
    """ALLOCATE or DEALLOCATE as it is read: `assigned` are the assignments that it makes, until `with_assignments`
    puts them behind it."""

    assigned: tuple[s.Assign, ...]


def allocation(node: Any, reader: Reader, place: dict[str, Any]) -> Allocation:
    """The statement that `node` stands for. It succeeds always, so STAT= is 0."""
    deallocate = type(node).__name__ == "Deallocate_Stmt"
    reader.at.find("deallocate" if deallocate else "allocate")
    listed, options = node.items if deallocate else node.items[1:]
    items = tuple(_item(each, reader) for each in listed.items)
    assigned: list[s.Assign] = []
    for option in getattr(options, "items", ()):
        word, value = str(option.items[0]).upper(), option.items[1]
        if word == "STAT":
            assigned.append(s.Assign(span=place["span"], target=reader.read(value), value=e.IntLit(0)))
        elif word == "SOURCE":
            source = reader.read(value)
            assigned += (s.Assign(span=place["span"], target=_whole(each), value=source) for each in items)
    return Allocation(items=items, deallocate=deallocate, assigned=tuple(assigned), **place)


class Nullification(s.Point, frozen=True, kw_only=True, eq=False):
    """NULLIFY as it is read: `others` are its further pointers, until `with_nullified` makes statements of them."""

    others: tuple[e.Expr, ...]


def nullified(node: Any, reader: Reader, place: dict[str, Any]) -> Nullification:
    """The statement that `node` stands for."""
    listed = node.items[1]
    first, *others = (reader.read(each) for each in getattr(listed, "items", (listed,)))
    return Nullification(pointer=first, target=None, others=tuple(others), **place)


def with_nullified(body: Iterable[s.Stmt]) -> Body:
    """The statements with one for each pointer of NULLIFY."""
    found: list[s.Stmt] = []
    for each in body:
        if isinstance(each, Nullification):
            found.append(s.Point(span=each.span, label=each.label, pointer=each.pointer, target=None))
            found += (s.Point(span=each.span, pointer=one, target=None) for one in each.others)
        else:
            found.append(mapped(each, with_nullified))
    return tuple(found)


def _whole(item: e.Expr) -> e.Expr:
    match item:
        case e.Element(name=name):
            return e.Var(name, span=item.span)
        case e.Component():
            return replace(item, subscripts=())
    return item


def _item(node: Any, reader: Reader) -> e.Expr:
    if type(node).__name__ != "Allocation":
        return reader.read(node)
    name, shape = node.items
    if shape is None or type(name).__name__ != "Name":
        return reader.read(name)
    span = reader.at.group(str(name))
    subscripts: list[e.Expr] = []
    for spec in shape.items if type(shape).__name__.endswith("_List") else (shape,):
        lower, upper = spec.items
        low = reader.read_or_none(lower)
        high = reader.read(upper)
        subscripts.append(high if low is None else e.Section(low, high, None, span=high.span))
    return e.Element(str(name).lower(), tuple(subscripts), span=span)


def with_assignments(body: Iterable[s.Stmt]) -> Body:
    """The statements with what ALLOCATE and DEALLOCATE assign behind them."""
    return tuple(_parts(body))


def _parts(body: Iterable[s.Stmt]) -> Iterator[s.Stmt]:
    for each in body:
        if isinstance(each, Allocation):
            yield s.Allocate(span=each.span, label=each.label, items=each.items, deallocate=each.deallocate)
            yield from each.assigned
        else:
            yield mapped(each, with_assignments)
