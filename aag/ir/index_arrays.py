"""Subscripts that each iteration of a loop computes from data become index arrays, filled by a loop before it.

    do i = 1, n                                  do i = 1, n
      k = int(x(i))                                k$at(i) = int(x(i))
      rho(k) = rho(k) + w             -->        end do
    end do                                       do i = 1, n
                                                   rho(k$at(i)) = rho(k$at(i)) + w
                                                 end do

An inspector does the same: where iterations write is known before they run. The index array has the mapping of the data
that decide it. ``rho(int(x(i)))`` is treated in the same way. Arrays without a mapping remain as they are.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import statements as s
from aag.ir.directives import Align, Bound, Distribute, Independent
from aag.ir.expressions import Call, Constructor, Element, Expr, ImpliedDo, IntLit, Section, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.liveness import Liveness
from aag.ir.result_types import INTEGER
from aag.ir.units import Entity, Unit
from aag.ir.visitors import (
    map_expression,
    map_own,
    mapped,
    names_in,
    own_expressions,
    walk_expressions,
    walk_statements,
)


class _Place(Struct, frozen=True):
    """What stands for a subscript: an expression of index arrays, and the statement that fills one before the loop."""

    expr: Expr
    fill: s.Assign | None = None


@lru_cache(maxsize=64)
def with_index_arrays(unit: Unit) -> Unit:
    """A unit whose loops compute no subscripts from data; the same object where none does."""
    changer = _Changer(unit)
    body = changer.body(unit.body)
    if not changer.found:
        return unit
    return replace(
        unit,
        body=body,
        entities=(*unit.entities, *changer.entities),
        directives=(*unit.directives, *changer.directives),
    )


class _Changer:
    """Changes the loops of a unit; declares the index arrays on the way."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._live = Liveness(unit.body)
        self._known = {each.name: each for each in unit.entities}
        placed = [each for each in unit.directives if isinstance(each, Align | Distribute)]
        self._placed = {each.alignee if isinstance(each, Align) else each.distributee for each in placed}
        self._shared = frozenset[str]().union(*(names_in(*each.members) for each in unit.equivalences))
        self.entities: list[Entity] = []
        self.directives: list[Align] = []
        self.found = False

    def body(self, body: Sequence[s.Stmt]) -> tuple[s.Stmt, ...]:
        """Statements with the loops inside them changed."""
        return tuple(made for each in body for made in self._statement(each))

    def _statement(self, statement: s.Stmt) -> Iterator[s.Stmt]:
        inside = mapped(statement, self.body)
        if isinstance(statement, s.Do) and isinstance(inside, s.Do) and _may_be_split(inside):
            yield from self._split(inside, statement)
        else:
            yield inside

    def _split(self, loop: s.Do, original: s.Do) -> Iterator[s.Stmt]:
        changed = frozenset(_changed(loop.body))
        body, at, fills = loop.body, 0, list[s.Assign]()
        certain = True  # each iteration comes here
        while at < len(body):
            each = body[at]
            certain = certain and not any(isinstance(inner, s.Cycle) for inner in walk_statements((each,)))
            if isinstance(each, s.Assign) and self._is_index(each, original, body, at):
                name = _name(each)
                place = self._filled(loop, name, each.value, changed - {name}, each.span, certain=certain)
                if place is not None:
                    fills += [place.fill] if place.fill else []
                    body = tuple(_with(one, each.target, place.expr) for one in (*body[:at], *body[at + 1 :]))
                    changed -= {name}
                    continue
            for value in dict.fromkeys(self._computed(each)):
                sure = certain and isinstance(each, s.Assign)
                place = self._filled(loop, "place", value, changed, each.span, certain=sure)
                if place is not None:
                    fills += [place.fill] if place.fill else []
                    body = tuple(_with(one, value, place.expr) for one in body)
            at += 1
        self.found |= body is not loop.body
        for fill in fills:
            claim = loop.independent and Independent(span=loop.independent.span)
            yield replace(loop, body=(fill,), independent=claim)
        yield replace(loop, body=body) if body is not loop.body else loop

    def _is_index(self, assign: s.Assign, original: s.Do, body: Sequence[s.Stmt], at: int) -> bool:
        """Whether an assignment sets an integer from data that is a subscript in the rest of the iteration only."""
        name, before, after = _name(assign), body[:at], body[at + 1 :]
        entity = self._known.get(name)
        if entity is None or entity.type.base != "integer" or entity.shape is not None or not _is_data(assign.value):
            return False
        if not any(name in names for names in self._subscripts(after)) or name in names_in(assign.value):
            return False
        return name not in _names(before) | set(_changed(after)) and not self._is_wanted(original, name)

    def _filled(
        self, loop: s.Do, name: str, value: Expr, changed: frozenset[str], span: Span, *, certain: bool
    ) -> _Place | None:
        """What has the value of each iteration; None where it cannot be there before the loop. `certain`: each
        iteration needs the value."""
        if names_in(value) & (changed - {loop.var} | self._shared) or not _is_pure(value):
            return None
        if not any(isinstance(each, Call) for each in walk_expressions(value)) and self._is_integer(value):
            return _Place(value)
        if not certain and not self._is_everywhere(loop, value):
            return None
        leader = self._leader(loop, value)
        bounds = self._bounds(loop, leader)
        if bounds is None:
            return None
        array = f"{name}$at{len(self.entities) + 1}"
        entity = Entity(
            name=array, shown=name, type=INTEGER, shape=(bounds,), attributes=frozenset(), initial=None, span=span
        )
        self.entities.append(entity)
        self._known[array] = entity
        if leader is not None and leader.name in self._placed:
            where = Align(span=span, alignee=array, axes=(loop.var,), target=leader.name, subscripts=leader.subscripts)
            self.directives.append(where)
        place = Element(array, (Var(loop.var),))
        return _Place(place, s.Assign(span=span, target=place, value=value))

    def _subscripts(self, body: Iterable[s.Stmt]) -> Iterator[frozenset[str]]:
        """The names in each subscript of mapped arrays in a body."""
        for statement in walk_statements(body):
            for each in self._mapped_elements(statement):
                yield from (names_in(part) for part in each.subscripts)

    def _computed(self, statement: s.Stmt) -> Iterator[Expr]:
        """What functions make of elements in subscripts of mapped arrays: these are no subscripts of index arrays."""
        for inner in walk_statements((statement,)) if not isinstance(statement, s.Do) else ():
            for each in self._mapped_elements(inner):
                for part in each.subscripts:
                    yield from (call for call in walk_expressions(part) if isinstance(call, Call) and _is_data(call))

    def _is_everywhere(self, loop: s.Do, value: Expr) -> bool:
        """Whether a value may be computed in each iteration of a loop, as all elements that it reads exist."""
        for each in walk_expressions(value):
            if isinstance(each, Element):
                shape = self._known[each.name].shape if each.name in self._known else None
                if shape is None or not all(
                    part == Var(loop.var) and _is_inside(loop, bound)
                    for part, bound in zip(each.subscripts, shape, strict=False)
                ):
                    return False
        return True

    def _mapped_elements(self, statement: s.Stmt) -> Iterator[Element]:
        for whole in own_expressions(statement):
            for each in walk_expressions(whole):
                if isinstance(each, Element) and each.name in self._placed:
                    yield each

    def _is_integer(self, value: Expr) -> bool:
        names = names_in(value)
        return all(name in self._known and self._known[name].type.base == "integer" for name in names)

    def _leader(self, loop: s.Do, value: Expr) -> Element | None:
        """The first element in a value of which the variable of the loop alone decides the place."""
        for each in walk_expressions(value):
            if isinstance(each, Element) and Var(loop.var) in each.subscripts:
                others = [part for part in each.subscripts if part != Var(loop.var)]
                if len(others) == len(each.subscripts) - 1 and not any(map(self._varies, others)):
                    return each
        return None

    def _varies(self, expr: Expr) -> bool:
        constants = (name for name in names_in(expr) if "parameter" not in self._attributes(name))
        return isinstance(expr, Section) or any(constants)

    def _attributes(self, name: str) -> frozenset[str]:
        return self._known[name].attributes if name in self._known else frozenset()

    def _bounds(self, loop: s.Do, leader: Element | None) -> Bound | None:
        """The bounds of the index array: those of the array that leads, or of the loop where they are constants."""
        if leader is not None:
            shape = self._known[leader.name].shape if leader.name in self._known else None
            at = leader.subscripts.index(Var(loop.var))
            if shape is not None and at < len(shape) and shape[at].upper is not None:
                return shape[at]
        if loop.step is not None or self._varies(loop.lower) or self._varies(loop.upper):
            return None
        return Bound(lower=loop.lower, upper=loop.upper)

    def _is_wanted(self, loop: s.Do, name: str) -> bool:
        """Whether the value of a scalar may be used after a loop, or stands for other storage."""
        shared = any(name in each.names for each in self._unit.commons)
        return shared or name in self._shared or bool(self._live.wanted_after(loop, frozenset((name,))))


def _may_be_split(loop: s.Do) -> bool:
    """Whether a loop runs to its end and holds only statements whose reads and writes are known."""
    statements = list(walk_statements(loop.body))
    plain = all(isinstance(each, s.Assign | s.If | s.Do | s.Continue | s.Cycle) for each in statements)
    return plain and not any(
        isinstance(part, ImpliedDo | Constructor)
        for each in statements
        for whole in own_expressions(each)
        for part in walk_expressions(whole)
    )


def _is_inside(loop: s.Do, bound: Bound) -> bool:
    """Whether the variable of a loop stays between two bounds, as far as their text says so."""
    first, last = bound.lower or IntLit(1), bound.upper
    if loop.step is not None or last is None:
        return False
    begins = loop.lower == first or (
        isinstance(loop.lower, IntLit) and isinstance(first, IntLit) and loop.lower.value >= first.value
    )
    ends = loop.upper == last or (
        isinstance(loop.upper, IntLit) and isinstance(last, IntLit) and loop.upper.value <= last.value
    )
    return begins and ends


def _name(assign: s.Assign) -> str:
    """The scalar that is assigned; empty: an element."""
    return assign.target.name if isinstance(assign.target, Var) else ""


def _changed(body: Iterable[s.Stmt]) -> Iterator[str]:
    for each in walk_statements(body):
        match each:
            case s.Assign(target=Var(name=name) | Element(name=name)):
                yield name
            case s.Assign(target=target):
                yield from names_in(target)
            case s.Do(var=var):
                yield var


def _names_of(statement: s.Stmt) -> frozenset[str]:
    own = names_in(*own_expressions(statement))
    return own | {statement.var} if isinstance(statement, s.Do) else own


def _names(body: Iterable[s.Stmt]) -> frozenset[str]:
    return frozenset().union(*map(_names_of, walk_statements(body)))


def _is_data(value: Expr) -> bool:
    """Whether elements of arrays decide a value."""
    return any(isinstance(each, Element) for each in walk_expressions(value))


def _is_pure(value: Expr) -> bool:
    calls = (each for each in walk_expressions(value) if isinstance(each, Call))
    return all(each.name in INTRINSICS and INTRINSICS[each.name].form == "elemental" for each in calls)


def _with(statement: s.Stmt, old: Expr, new: Expr) -> s.Stmt:
    """A statement with an expression in place of another one."""
    made = map_own(statement, lambda part: map_expression(part, lambda each: new if each == old else each))
    return mapped(made, lambda body: tuple(_with(each, old, new) for each in body))
