"""What pointers point to before each statement, found by following the flow.

A state has a variable for each pointer, "" where it points to nothing or is not read before it points elsewhere. A
program that references a pointer has it point to something, so states in which it does not are none.
"""

from collections.abc import Mapping, Sequence

from aag.ir import statements as s
from aag.ir.expressions import Call, Element, Expr, LogicalLit, OpaqueExpr, Section, Var
from aag.ir.spelling import spell
from aag.ir.units import Unit
from aag.ir.visitors import Body, bodies, map_expression, map_own, names_in, own_expressions, walk_statements
from aag.procedures.names import truth

State = tuple[str, ...]
States = frozenset[State]
UNKNOWN = "?"
"""What a pointer points to that esp does not follow."""

_MOST = 64
"""States that are distinguished."""
_ALLOCATIONS = 4
"""Variables that ALLOCATE of one pointer may give it at the same time."""


def reshaped(unit: Unit) -> frozenset[str]:
    """The ALLOCATABLE arrays to which different ALLOCATE statements give different extents; they are handled as
    pointers."""
    shapes: dict[str, set[tuple[Expr, ...]]] = {}
    for each in walk_statements(unit.body):
        if isinstance(each, s.Allocate) and not each.deallocate:
            for item in each.items:
                if isinstance(item, Element):
                    shapes.setdefault(item.name, set()).add(item.subscripts)
    several = {name for name, found in shapes.items() if len(found) > 1}
    return frozenset(each.name for each in unit.entities if each.name in several and "allocatable" in each.attributes)


class TooManyStates(Exception):
    """More states than are distinguished."""


class Pointers:
    """The pointers of a unit, and what ALLOCATE gives them."""

    def __init__(self, unit: Unit) -> None:
        self.entities = {each.name: each for each in unit.entities}
        pointers = {each.name for each in unit.entities if "pointer" in each.attributes}
        self.names = tuple(sorted(pointers | reshaped(unit)))
        self.place = {name: at for at, name in enumerate(self.names)}
        self.allocated: dict[str, list[str]] = {}
        """The variables that ALLOCATE gives each pointer."""
        self.shapes: dict[str, tuple[Expr, ...]] = {}
        """Their extents."""

    @property
    def start(self) -> State:
        """Nothing points to anything."""
        return ("",) * len(self.names)

    def in_(self, *exprs: Expr | None) -> frozenset[str]:
        """The pointers in some expressions."""
        return names_in(*exprs) & self.place.keys()

    def is_moved_by(self, statement: s.Stmt) -> bool:
        """Whether a statement itself changes what pointers point to."""
        if isinstance(statement, s.Allocate):
            return any(_name(each) in self.place for each in statement.items)
        return isinstance(statement, s.Point)

    def known(self, expr: Expr, state: State) -> Expr:
        """An expression with the values of ASSOCIATED in a state."""

        def one(part: Expr) -> Expr:
            match part:
                case Call(name="associated", args=(Var(name=name), *others)) if name in self.place:
                    there = state[self.place[name]]
                    target = self.target(others[0], state) if others else there
                    if UNKNOWN in (there, target):
                        return OpaqueExpr(spell(part), span=part.span)
                    return LogicalLit(bool(there) and there == target, span=part.span)
            return part

        return map_expression(expr, one)

    def target(self, target: Expr | None, state: State) -> str:
        """The variable that a target is in a state."""
        match target:
            case None:
                return ""
            case Var(name=name) if name in self.place:
                return state[self.place[name]]
            case Var(name=name) if name in self.entities:
                return name
            case Element(name=name, subscripts=subscripts) if all(each == _EVERY for each in subscripts):
                there = self.target(Var(name), state)
                return there if self._begins_at_one(there) else UNKNOWN
        return UNKNOWN

    def _begins_at_one(self, name: str) -> bool:
        if name in self.shapes:
            return not any(isinstance(each, Section) for each in self.shapes[name])
        entity = self.entities.get(name)
        return entity is not None and all(each.lower is None and each.upper is not None for each in entity.shape or ())

    def moved(self, statement: s.Stmt, state: State) -> State:
        """The state after a statement that changes it."""
        found = list(state)
        match statement:
            case s.Point(pointer=Var(name=name), target=target) if name in self.place:
                found[self.place[name]] = self.target(target, state)
            case s.Allocate(items=items, deallocate=True):
                gone = {state[self.place[name]] for each in items if (name := _name(each)) in self.place}
                found = ["" if each in gone else each for each in found]
            case s.Allocate(items=items):
                for each in items:
                    if (name := _name(each)) in self.place:
                        found[self.place[name]] = self._new(name, each, found)
        return tuple(found)

    def _new(self, name: str, item: Expr, state: Sequence[str]) -> str:
        """The variable that ALLOCATE gives a pointer: one to which nothing points, and with these extents."""
        shape = item.subscripts if isinstance(item, Element) else ()
        known = self.allocated.setdefault(name, [])
        freed = state[self.place[name]] if "allocatable" in self.entities[name].attributes else ""
        alike = [each for each in known if self.shapes[each] == shape]
        for each in alike:
            if each not in state or each == freed:
                return each
        if len(alike) == _ALLOCATIONS:
            return UNKNOWN
        made = f"{name}${len(known) + 1}" if known else name
        known.append(made)
        self.shapes[made] = shape
        return made


_EVERY = Section(None, None, None)


def _name(item: Expr) -> str:
    return item.name if isinstance(item, Var | Element) else ""


class Live:
    """The pointers whose targets are read behind each statement before they point elsewhere."""

    def __init__(self, pointers: Pointers, body: Body) -> None:
        self._pointers = pointers
        self._loops: list[tuple[str, frozenset[str], frozenset[str]]] = []
        self.behind: dict[s.Stmt, frozenset[str]] = {}
        self._body(body, frozenset())

    def _body(self, body: Body, after: frozenset[str]) -> frozenset[str]:
        for each in reversed(body):
            self.behind[each] = self.behind.get(each, frozenset()) | after
            after = self._before(each, after)
        return after

    def _before(self, statement: s.Stmt, after: frozenset[str]) -> frozenset[str]:
        own = mentioned(self._pointers, statement)
        match statement:
            case s.Point(pointer=Var(name=name), target=target):
                return (after - {name}) | self._pointers.in_(target)
            case s.Allocate(items=items, deallocate=False):
                parts = (part for each in items if isinstance(each, Element) for part in each.subscripts)
                return (after - {_name(each) for each in items}) | self._pointers.in_(*parts)
            case s.Do() | s.DoWhile():
                return self._loop(statement, own, after)
            case s.If() | s.SelectCase():
                return own.union(*(self._body(each, after) for each in bodies(statement)), after)
            case s.Exit(name=name) | s.Cycle(name=name):
                found = next((each for each in reversed(self._loops) if name in ("", each[0])), ("", after, after))
                return found[2] if isinstance(statement, s.Cycle) else found[1]
            case s.Stop() | s.Return():
                return frozenset()
        return own | after

    def _loop(self, loop: s.Do | s.DoWhile, own: frozenset[str], after: frozenset[str]) -> frozenset[str]:
        head = own | after
        while True:
            self._loops.append((loop.name, after, head))
            again = head | self._body(loop.body, head)
            self._loops.pop()
            if again == head:
                return head
            head = again


def mentioned(pointers: Pointers, statement: s.Stmt) -> frozenset[str]:
    """The pointers that a statement itself names; FORALL and WHERE with what is inside of them."""
    found = names_in(*own_expressions(statement))
    match statement:
        case s.Forall() | s.Where():
            found |= names_in(statement)
        case s.Do(var=var, independent=claim):
            found |= {var, *(() if claim is None else (*claim.new, *claim.reductions))}
        case s.Remap(directive=directive):
            found |= {getattr(directive, key, "") for key in ("alignee", "target", "distributee")}
        case s.Restore(array=array):
            found |= {array}
    return found & pointers.place.keys()


class Flow:
    """Which states may hold before each statement, and the state that each statement makes of another one."""

    def __init__(self, pointers: Pointers, body: Body, refused: Mapping[s.Stmt, str]) -> None:
        self._pointers = pointers
        self._refused = refused
        self._live = Live(pointers, body).behind
        self._loops: list[_Loop] = []
        self.numbers: dict[State, int] = {}
        self.before: dict[s.Stmt, States] = {}
        self.after: dict[tuple[s.Stmt, State], State] = {}
        self.problems: dict[s.Stmt, str] = dict(refused)
        """Why statements cannot be followed."""
        self._number(pointers.start)
        self._follow(body, frozenset((pointers.start,)))

    def _number(self, state: State) -> None:
        if self.numbers.setdefault(state, len(self.numbers)) > _MOST:
            raise TooManyStates

    def _follow(self, body: Body, states: States) -> States:
        for each in body:
            if not states:
                return states
            there = self._possible(each, states)
            self.before[each] = self.before.get(each, frozenset()) | there
            states = self._after(each, there)
        return states

    def _possible(self, statement: s.Stmt, states: States) -> States:
        """The states in which all pointers that a statement references point to something."""
        read = self._read(statement)
        found = frozenset(each for each in states if all(each[self._pointers.place[name]] for name in read))
        if not found:
            lost = next(name for name in sorted(read) if not any(each[self._pointers.place[name]] for each in states))
            entity = self._pointers.entities[lost]
            pointer = f"the pointer {entity.shown} points to nothing here"
            self.problems[statement] = (
                f"{entity.shown} is not allocated here" if "allocatable" in entity.attributes else pointer
            )
            return states
        for name in sorted(read):
            if any(each[self._pointers.place[name]] == UNKNOWN for each in found):
                shown = self._pointers.entities[name].shown
                self.problems.setdefault(statement, f"what the pointer {shown} points to is not followed")
        return found

    def _read(self, statement: s.Stmt) -> frozenset[str]:
        match statement:
            case s.Point():
                return frozenset()
            case s.Allocate(items=items, deallocate=deallocate):
                parts = (part for each in items if isinstance(each, Element) for part in each.subscripts)
                return frozenset() if deallocate else self._pointers.in_(*parts)
        read = map_own(statement, lambda whole: map_expression(whole, _without_associated))
        return mentioned(self._pointers, read)

    def _after(self, statement: s.Stmt, states: States) -> States:
        pointers = self._pointers
        if pointers.is_moved_by(statement):
            return frozenset(self._moved(statement, each) for each in states)
        match statement:
            case s.Do() | s.DoWhile():
                return self._after_loop(statement, states)
            case s.If(branches=branches):
                return frozenset().union(*(self._after_if(branches, each) for each in states))
            case s.SelectCase(cases=cases):
                found = [self._follow(each.body, states) for each in cases]
                complete = any(each.values is None for each in cases)
                return frozenset().union(*found, *(() if complete else (states,)))
            case s.Exit(name=name):
                self._loop(name).exits |= states
            case s.Cycle(name=name):
                self._loop(name).cycles |= states
            case s.Stop() | s.Return():
                pass
            case _:
                return states
        return frozenset()

    def _moved(self, statement: s.Stmt, state: State) -> State:
        made = self._pointers.moved(statement, state)
        if isinstance(statement, s.Point):
            made = self._checked(statement, made)
        elif isinstance(statement, s.Allocate) and any(
            each == UNKNOWN != old for each, old in zip(made, state, strict=True)
        ):
            self.problems[statement] = "too many variables of one pointer are allocated at the same time"
        live = self._live.get(statement, frozenset())
        made = tuple(each if name in live else "" for name, each in zip(self._pointers.names, made, strict=True))
        self._number(made)
        self.after[statement, state] = made
        return made

    def _checked(self, statement: s.Point, made: State) -> State:
        """The state, with a problem noted where the target is not followed."""
        pointer = statement.pointer
        if not isinstance(pointer, Var) or pointer.name not in self._pointers.place:
            named = isinstance(pointer, Var) and pointer.name in self._pointers.entities
            self.problems[statement] = (
                f"{self._pointers.entities[pointer.name].shown} is not a POINTER"
                if named and isinstance(pointer, Var)
                else "pointers that are components or parts of arrays are not modelled"
            )
            return made
        at, shown = self._pointers.place[pointer.name], self._pointers.entities[pointer.name].shown
        if statement in self._refused:
            return (*made[:at], UNKNOWN, *made[at + 1 :])
        if made[at] != UNKNOWN:
            return made
        match statement.target:
            case Element(name=name):
                self.problems[statement] = f"{shown} points to a part of {name}, which is not modelled"
            case Var():
                self.problems[statement] = f"what {shown} points to here is not followed"
            case _:
                self.problems[statement] = f"what {shown} points to here is not modelled"
        return made

    def _after_if(self, branches: Sequence[s.Branch], state: State) -> States:
        found: States = frozenset()
        for each in branches:
            holds = True if each.condition is None else truth(self._pointers.known(each.condition, state))
            if holds is False:
                continue
            found |= self._follow(each.body, frozenset((state,)))
            if holds:
                return found
        return found | {state}

    def _after_loop(self, loop: s.Do | s.DoWhile, states: States) -> States:
        while True:  # the states at its head only grow
            self._loops.append(_Loop(loop.name))
            ended = self._follow(loop.body, states)
            left = self._loops.pop()
            again = self._possible(loop, ended | left.cycles) if ended | left.cycles else frozenset()
            if again <= states:
                break
            states |= again
        self.before[loop] |= states
        endless = isinstance(loop, s.DoWhile) and loop.condition is None
        return left.exits if endless else left.exits | states

    def _loop(self, name: str) -> "_Loop":
        return next((each for each in reversed(self._loops) if not name or each.name == name), _Loop(""))


def _without_associated(part: Expr) -> Expr:
    return LogicalLit(True) if isinstance(part, Call) and part.name == "associated" else part


class _Loop:
    """The states with which a loop is left, and those with which its next iteration begins."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.exits: States = frozenset()
        self.cycles: States = frozenset()
