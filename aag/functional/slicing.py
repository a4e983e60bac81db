"""The statements that compute what is wanted: a slice by names, whatever the order of statements."""

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from aag.functional.tables import NotComputable, WantedValues
from aag.ir import statements as s
from aag.ir.control import control_of
from aag.ir.expressions import Call, Element, Expr, ImpliedDo, Section, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.statements import is_block
from aag.ir.steady import all_passed, assigned_by_call
from aag.ir.storage import sharing
from aag.ir.units import Entity, Unit
from aag.ir.visitors import bodies, names_in, own_expressions, walk_expressions

LOOPS = (s.Do, s.DoWhile)
_NAME = re.compile(r"[a-z][\w$]*", re.IGNORECASE)


class Slice(Struct, frozen=True):
    """A part of a unit: `names` whose values are followed, `kept` statements by identity, the wanted names that are
    looked at just before a statement (`seen`), those that conditions test there (`tested`), and those that a loop
    changes whose own condition tests them (`moving`)."""

    names: frozenset[str]
    kept: frozenset[int]
    seen: Mapping[int, tuple[str, ...]]
    tested: Mapping[int, tuple[str, ...]]
    moving: frozenset[str]

    def keeps(self, statement: s.Stmt) -> bool:
        """Whether the statement, or a look at names before it, is part of the slice."""
        return id(statement) in self.kept or id(statement) in self.seen or id(statement) in self.tested


class _Node(Struct, frozen=True, eq=False):
    """A statement, its number in the order of the text, the number behind the last statement inside it, and what is
    around it."""

    statement: s.Stmt
    number: int
    behind: int
    parent: "_Node | None"

    def around(self) -> Iterator["_Node"]:
        """The statement, and those around it, innermost first."""
        node: _Node | None = self
        while node is not None:
            yield node
            node = node.parent


def slice_of(unit: Unit, wanted: WantedValues, given: Iterable[str]) -> Slice:
    """The part of a unit that computes what is wanted.

    Args:
        unit: A program unit without calls of other units of the source.
        wanted: What to find.
        given: Names whose values are known; their definitions are not followed.

    Raises:
        NotComputable: a name that is needed has storage or a type that is not followed.
    """
    return _Slicer(unit, frozenset(given)).slice(wanted)


class _Slicer:
    """The growing slice."""

    def __init__(self, unit: Unit, given: frozenset[str]) -> None:
        self._unit = unit
        self._given = given | {each.name for each in unit.entities if _is_constant(each)}
        self._entities = {each.name: each for each in unit.entities}
        self._shared = sharing(unit)
        self._pointers = any("pointer" in each.attributes for each in unit.entities)
        self._commons = frozenset(name for each in unit.commons for name in each.names)
        self._nodes: list[_Node] = []
        self._leaving: dict[int, list[_Node]] = {}
        self._flatten(unit.body, None)
        self._defining: dict[str, list[_Node]] = {}
        for node in self._nodes:
            for name in self._defines(node.statement):
                self._defining.setdefault(name, []).append(node)
        self._names: set[str] = set()
        self._kept: set[int] = set()
        self._pending: list[_Node] = []
        self._seen: dict[int, dict[str, None]] = {}

    def slice(self, wanted: WantedValues) -> Slice:
        counted = frozenset[str]().union(*(_bounds(each.statement) for each in self._nodes))
        counts = (wanted.arrays | wanted.scalars) & counted
        indices = frozenset().union(*(_indices(each.statement) for each in self._nodes))
        for node in self._nodes:
            statement, line = node.statement, node.statement.span.line
            if (isinstance(statement, LOOPS) and line in wanted.loops and not is_block(statement)) or (
                isinstance(statement, s.If | s.SelectCase | s.Where | s.Forall) and line in wanted.branches
            ):
                self._keep(node)
            # What counts may be a subscript while it grows; what it holds in bounds of loops and sections matters.
            compared = _compared(statement, indices) & wanted.scalars
            deciding = (wanted.scalars | wanted.arrays) & _deciding(statement)
            deciding -= {name for name in counts & deciding - _bounds(statement) if self._grows(name, node)}
            for name in sorted(compared | deciding):
                self._look(name, node)
        self._grow()
        tested, moving = self._tests(wanted.scalars & self._names)
        return Slice(
            names=frozenset(self._names),
            kept=frozenset(self._kept),
            seen={key: tuple(names) for key, names in self._seen.items()},
            tested={key: tuple(sorted(names)) for key, names in tested.items()},
            moving=moving,
        )

    def _tests(self, wanted: frozenset[str]) -> tuple[dict[int, set[str]], frozenset[str]]:
        """Where conditions test scalars, and the scalars that a loop changes whose condition tests them."""
        tested: dict[int, set[str]] = {}
        moving: set[str] = set()
        for node in self._nodes:
            if not isinstance(node.statement, s.If | s.SelectCase | s.DoWhile):
                continue
            for name in names_in(*own_expressions(node.statement)) & wanted:
                place = self._place(name, node)
                if isinstance(node.statement, s.DoWhile) and self._defined_in(name, node):
                    moving.add(name)
                elif place.parent is None or id(place.parent.statement) in self._kept:
                    tested.setdefault(id(place.statement), set()).add(name)
        return tested, frozenset(moving)

    def _defined_in(self, name: str, node: _Node) -> bool:
        return any(node.number <= one.number < node.behind for one in self._defining.get(name, ()))

    def _grows(self, name: str, node: _Node) -> bool:
        """Whether a loop around a statement gives a name new values."""
        return any(isinstance(each.statement, LOOPS) and self._defined_in(name, each) for each in node.around())

    def _flatten(self, body: Iterable[s.Stmt], parent: _Node | None) -> None:
        for statement in body:
            at = len(self._nodes)
            node = _Node(statement, at, at + 1 + _size(statement), parent)
            self._nodes.append(node)
            for loop in self._left(node):
                self._leaving.setdefault(id(loop.statement), []).append(node)
            for inner in bodies(statement):
                self._flatten(inner, node)

    def _left(self, node: _Node) -> Iterator[_Node]:
        """The loops that a statement may leave, or whose iteration it ends."""
        for each in node.around():
            if not isinstance(each.statement, LOOPS):
                continue
            match node.statement:
                case s.Stop() | s.Return():
                    yield each
                case s.Exit(name=name) | s.Cycle(name=name):
                    yield each
                    if name in ("", each.statement.name):
                        return
                case _:
                    return

    def _defines(self, statement: s.Stmt) -> Iterator[str]:
        """Names to which a statement may give values."""
        match statement:
            case s.Assign(target=Var(name=name) | Element(name=name)) | s.Do(var=name):
                yield name
            case s.Assign(target=target):
                yield from names_in(target)
            case s.Allocate(items=items):
                yield from (each.name for each in items if isinstance(each, Var | Element))
            case s.Io(kind=kind, items=items):
                yield from control_of(statement).sets
                yield from (names_in(*items) - statement.known if kind == "read" else ())
            case s.CallStmt(cost=cost):
                yield from assigned_by_call(statement, all_passed)
                yield from self._commons if cost is None else ()
            case s.Opaque(text=text):
                named = {each.lower() for each in _NAME.findall(text)}
                yield from (each for each in self._entities if each.partition("%")[0] in named)
        for whole in own_expressions(statement):
            for each in walk_expressions(whole):
                if isinstance(each, Call) and each.name not in INTRINSICS:
                    yield from all_passed(each.name, each.args, each.keywords)

    def _look(self, name: str, node: _Node) -> None:
        """See the value of a name before a statement."""
        place = self._place(name, node)
        self._seen.setdefault(id(place.statement), {})[name] = None
        self._need((name,))
        if place.parent is not None:
            self._keep(place.parent)

    def _place(self, name: str, node: _Node) -> _Node:
        """A statement, or the outermost one around it that leaves the value of a name as it is."""
        place = node
        for each in node.around():
            if self._defined_in(name, each):
                break
            place = each
        return place

    def _need(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._names or name in self._given:
                continue
            self._check(name)
            self._names.add(name)
            for node in self._defining.get(name, ()):
                self._keep(node)
            entity = self._entities.get(name)
            if entity is not None:
                parts = [part for bound in entity.shape or () for part in (bound.lower, bound.upper)]
                self._need(names_in(*parts, entity.initial))

    def _check(self, name: str) -> None:
        """Refuse names whose storage or type is not followed."""
        entity = self._entities.get(name)
        if entity is None:
            return
        if name in self._shared:
            other = min(self._shared[name] - {name})
            raise NotComputable(f"{entity.shown} shares its storage with {other}", entity.span.line)
        if "pointer" in entity.attributes or ("target" in entity.attributes and self._pointers):
            raise NotComputable(f"{entity.shown} may be changed through a pointer", entity.span.line)
        if entity.type.base in ("derived", "complex", "character"):
            what = "a derived type" if entity.type.base == "derived" else entity.type.base.upper()
            raise NotComputable(f"{entity.shown} is of {what}", entity.span.line)
        if entity.type.bytes > 8:
            raise NotComputable(f"{entity.shown} has {entity.type.bytes} bytes", entity.span.line)

    def _keep(self, node: _Node) -> None:
        for each in node.around():
            if id(each.statement) in self._kept:
                return
            self._kept.add(id(each.statement))
            self._pending.append(each)

    def _grow(self) -> None:
        while self._pending:
            node = self._pending.pop()
            statement = node.statement
            if isinstance(statement, LOOPS):
                for leaving in self._leaving.get(id(statement), ()):
                    self._keep(leaving)
            if not isinstance(statement, s.Io | s.CallStmt | s.Opaque):
                around = frozenset().union(*(_counted(each.statement) for each in node.around() if each is not node))
                self._need(names_in(*own_expressions(statement)) - _local(statement) - around)


def _counted(statement: s.Stmt) -> frozenset[str]:
    """The variables of a loop, which have their values from it wherever its body uses them."""
    match statement:
        case s.Do(var=var):
            return frozenset((var,))
        case s.Forall(indices=indices):
            return frozenset(each.name for each in indices)
        case _:
            return frozenset()


def _is_constant(entity: Entity) -> bool:
    return "parameter" in entity.attributes and entity.shape is None


def _local(statement: s.Stmt) -> frozenset[str]:
    """Names of indices that belong to an expression or to FORALL."""
    inner = {
        each.var
        for whole in own_expressions(statement)
        for each in walk_expressions(whole)
        if isinstance(each, ImpliedDo)
    }
    return frozenset(inner) | (_counted(statement) if isinstance(statement, s.Forall) else frozenset())


def _size(statement: s.Stmt) -> int:
    """Statements inside a statement."""
    return sum(1 + _size(each) for inner in bodies(statement) for each in inner)


def _bounds(statement: s.Stmt) -> frozenset[str]:
    """Names in the bounds of a loop, FORALL or section."""
    parts: list[Expr | None] = []
    match statement:
        case s.Do(lower=lower, upper=upper, step=step):
            parts += (lower, upper, step)
        case s.Forall(indices=indices):
            parts += (part for each in indices for part in (each.lower, each.upper, each.step))
        case _:
            pass
    for expr in own_expressions(statement):
        sections = (each for each in walk_expressions(expr) if isinstance(each, Section))
        parts += (end for each in sections for end in (each.lower, each.upper, each.step))
    return names_in(*parts)


def _indices(statement: s.Stmt) -> frozenset[str]:
    """The indices of a loop or FORALL."""
    match statement:
        case s.Do(var=var):
            return frozenset((var,))
        case s.Forall(indices=indices):
            return frozenset(each.name for each in indices)
        case _:
            return frozenset()


def _compared(statement: s.Stmt, indices: frozenset[str]) -> frozenset[str]:
    """Names in conditions on loop indices: they are bounds of the iterations for which these hold."""
    if not isinstance(statement, s.If | s.SelectCase | s.Where | s.Forall):
        return frozenset()
    conditions = (names_in(each) for each in own_expressions(statement))
    return frozenset().union(*(names for names in conditions if names & indices))


def _deciding(statement: s.Stmt) -> frozenset[str]:
    """Names in the bounds of a statement, in its subscripts, and in arguments of its functions."""
    whole: tuple[Expr, ...] = ()
    match statement:
        case s.Do() | s.Allocate():
            whole = own_expressions(statement)
        case s.Forall(indices=indices):
            whole = tuple(part for each in indices for part in (each.lower, each.upper))
        case s.Io() | s.CallStmt():
            return frozenset()
    inner: list[Expr] = []
    for expr in own_expressions(statement):
        for each in walk_expressions(expr):
            match each:
                case Element(subscripts=parts):
                    inner += parts
                case Call(name=name, args=(_, *parts), keywords=keywords) if name in _PLACES:
                    inner += (*parts, *(value for _, value in keywords))
                case ImpliedDo(lower=lower, upper=upper):
                    inner += (lower, upper)
    return names_in(*whole, *inner)


_PLACES = frozenset(("cshift", "eoshift", "spread", "reshape"))
"""Functions with arguments that say where values go."""
