"""What a procedure may assign."""

from collections.abc import Iterator, Mapping, Sequence

from aag.ir import statements as s
from aag.ir.expressions import Call, Element, Expr, Var
from aag.ir.steady import assigned_by_call
from aag.ir.units import Unit
from aag.ir.visitors import own_expressions, walk_expressions, walk_statements


class AssignedNames:
    """The names that procedures may assign; who calls what it does not know may assign its arguments."""

    def __init__(self, procedures: Mapping[str, Unit]) -> None:
        self._procedures = procedures
        self._known: dict[str, frozenset[str]] = {}

    def assigned(self, unit: Unit) -> frozenset[str]:
        """The names of a procedure that it may assign, its own and those that it shares; `/block/2` for the third
        variable of a common block."""
        if unit.name not in self._known:
            self._known[unit.name] = frozenset(each.name for each in unit.entities)  # it may call itself
            found = frozenset(self._names(unit))
            places = {name: f"/{each.block}/{at}" for each in unit.commons for at, name in enumerate(each.names)}
            self._known[unit.name] = found | {places[name] for name in found & places.keys()}
        return self._known[unit.name]

    def _names(self, unit: Unit) -> Iterator[str]:
        for statement in walk_statements(unit.body):
            match statement:
                case s.Assign(target=target):
                    yield from _base(target)
                case s.Do(var=var):
                    yield var
                case s.Io(kind="read" | "inquire" | "open", items=items) | s.Allocate(items=items):
                    for each in items:
                        yield from _base(each)
                case s.Point(pointer=pointer, target=target):  # what a pointer points to may be assigned through it
                    yield from _base(pointer)
                    yield from () if target is None else _base(target)
                case s.CallStmt():
                    yield from assigned_by_call(statement, self.passed)
                case s.Opaque():
                    yield from (each.name for each in unit.entities)
            for whole in own_expressions(statement):
                for each in walk_expressions(whole):
                    if isinstance(each, Call) and each.name in self._procedures:
                        yield from self.passed(each.name, each.args, each.keywords)

    def passed(self, name: str, args: Sequence[Expr], keywords: Sequence[tuple[str, Expr]]) -> Iterator[str]:
        """Arguments that a call may assign, and what the procedure assigns of what both share."""
        unit = self._procedures.get(name)
        assigned = None if unit is None else self.assigned(unit)
        dummies = () if unit is None else unit.arguments
        known = (*dummies, *("" for _ in args))[: len(args)]
        for dummy, each in (*zip(known, args, strict=True), *keywords):
            if assigned is None or unit is None or not dummy or dummy in assigned:
                yield from _base(each)
        if unit is not None and assigned is not None:
            yield from assigned - {each.name for each in unit.entities}


def _base(target: Expr) -> Iterator[str]:
    if isinstance(target, Var | Element):
        yield target.name
