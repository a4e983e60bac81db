"""What a procedure may assign."""

from collections.abc import Iterator, Mapping

from aag.ir import statements as s
from aag.ir.expressions import Call, Element, Expr, Var
from aag.ir.units import Unit
from aag.ir.visitors import own_expressions, walk_expressions, walk_statements


class AssignedNames:
    """The names that procedures may assign; who calls what it does not know may assign its arguments."""

    def __init__(self, procedures: Mapping[str, Unit]) -> None:
        self._procedures = procedures
        self._known: dict[str, frozenset[str]] = {}

    def assigned(self, unit: Unit) -> frozenset[str]:
        """The names of a procedure that it may assign, its own and those that it shares."""
        if unit.name not in self._known:
            self._known[unit.name] = frozenset(each.name for each in unit.entities)  # it may call itself
            self._known[unit.name] = frozenset(self._names(unit))
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
                case s.CallStmt(name=name, args=args, keywords=keywords):
                    yield from self.passed(name, (*args, *(value for _, value in keywords)))
                case s.Opaque():
                    yield from (each.name for each in unit.entities)
            for whole in own_expressions(statement):
                for each in walk_expressions(whole):
                    if isinstance(each, Call) and each.name in self._procedures:
                        yield from self.passed(each.name, each.args)

    def passed(self, name: str, args: tuple[Expr, ...]) -> Iterator[str]:
        """Arguments that a call may assign, and what the procedure assigns of what both share."""
        unit = self._procedures.get(name)
        assigned = None if unit is None else self.assigned(unit)
        for at, each in enumerate(args):
            dummy = unit.arguments[at] if unit is not None and at < len(unit.arguments) else ""
            if assigned is None or unit is None or not dummy or dummy in assigned:
                yield from _base(each)
        if unit is not None and assigned is not None:
            yield from assigned - {each.name for each in unit.entities}


def _base(target: Expr) -> Iterator[str]:
    if isinstance(target, Var | Element):
        yield target.name
