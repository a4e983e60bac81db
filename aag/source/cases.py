"""SELECT CASE."""

from typing import Any

from aag.ir import expressions as e
from aag.ir import statements as s
from aag.source.expressions import Reader


def case_values(selector: Any, reader: Reader) -> tuple[e.Expr, ...] | None:
    """The values and ranges of one CASE; None: CASE DEFAULT."""
    ranges = selector.items[0] if hasattr(selector, "items") else None
    if ranges is None:
        return None
    items = ranges.items if type(ranges).__name__ == "Case_Value_Range_List" else (ranges,)
    values: list[e.Expr] = []
    for item in items:
        if type(item).__name__ == "Case_Value_Range":
            lower, upper = (reader.read_or_none(part) for part in item.items)
            span = next(each.span for each in (lower, upper) if each is not None)
            values.append(e.Section(lower, upper, None, span=span))
        else:
            values.append(reader.read(item))
    return tuple(values)


def chosen(selector: e.Expr, cases: list[s.Case], place: dict[str, Any]) -> s.If:
    """SELECT CASE of a LOGICAL, as IF."""
    branches = []
    for case in sorted(cases, key=lambda case: case.values is None):
        values = {each.value for each in case.values or () if isinstance(each, e.LogicalLit)}
        condition = None if case.values is None or len(values) == 2 else selector
        if values == {False}:
            condition = e.Unary(".not.", selector, span=selector.span)
        branches.append(s.Branch(condition=condition, body=case.body, span=case.span))
    return s.If(branches=tuple(branches), **place)
