"""READ and WRITE of NAMELIST groups: their items are the variables of the group."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from aag.ir import statements as s
from aag.ir.control import control_of
from aag.ir.expressions import Var
from aag.ir.visitors import Body, mapped

Groups = Mapping[str, tuple[str, ...]]
"""The variables of each group."""


def with_groups(body: Body, groups: Groups) -> Body:
    """The statements of a unit, with items for each READ and WRITE of a group."""
    return tuple(_with_items(each, groups) for each in body) if groups else body


def _with_items(statement: s.Stmt, groups: Groups) -> s.Stmt:
    if not isinstance(statement, s.Io) or statement.kind not in ("read", "write") or statement.items:
        return mapped(statement, lambda body: with_groups(body, groups))
    control = control_of(statement)
    name = (control.namelist or control.format).lower()
    if name not in groups:
        return statement
    text = statement.control
    if not control.namelist:
        text = re.sub(rf"(,\s*)(fmt\s*=\s*)?{name}\b", rf"\1nml={name}", text, count=1, flags=re.IGNORECASE)
    items = tuple(Var(each, span=statement.span) for each in groups[name])
    return replace(statement, items=items, control=text, group=groups[name])
