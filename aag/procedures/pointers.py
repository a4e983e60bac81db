"""Pointers become the variables that they point to.

    allocate(new(n, n))                        allocate(new(n, n))
    old => u                                   pointer$now = 1
    do k = 1, 10                               do k = 1, 10
      new = 0.5 * (old + 1)                      if (pointer$now == 1) then
      tmp => old                                   new = 0.5 * (u + 1)
      old => new                                   pointer$now = 2
      new => tmp                                 else
    end do                                         u = 0.5 * (new + 1)
                                                   pointer$now = 1

`pointing.py` finds what each pointer may point to before each statement. Where that is one variable, the variable takes
the place of the pointer. Where it is one of several, as in loops that exchange time levels, the scalar `pointer$now`
says which, and an IF chooses between copies of the statements.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.by_state import copies_by_state, set_state, state_entity
from aag.ir.expressions import Element, Expr, OpaqueExpr, Unary, Var
from aag.ir.spelling import spell
from aag.ir.units import Entity, Unit
from aag.ir.visitors import Body, map_own, mapped, walk_statements
from aag.procedures.names import CallNames, decided
from aag.procedures.pointing import UNKNOWN, Flow, Pointers, State, States, TooManyStates, mentioned, reshaped

_STATE = "pointer$now"
_MANY = "pointers may point to too many variables"
_PARALLEL = "it changes what pointers point to inside of an INDEPENDENT loop"


@lru_cache(maxsize=16)
def without_pointers(unit: Unit) -> Unit:
    """A program whose calls were replaced by their procedures, without pointers.

    Statements whose pointers cannot be followed become `Opaque`.
    """
    points = [each for each in walk_statements(unit.body) if isinstance(each, s.Point)]
    if not points and not any("pointer" in each.attributes for each in unit.entities) and not reshaped(unit):
        return unit
    try:
        return _written(unit, {})
    except TooManyStates:
        return _written(unit, dict.fromkeys(points, _MANY))


def _written(unit: Unit, refused: Mapping[s.Stmt, str]) -> Unit:
    """The unit without pointers. `refused`: pointer assignments that are not followed, and why."""
    pointers = Pointers(unit)
    flow = Flow(pointers, unit.body, refused)
    writer = _Writer(pointers, flow, tracked=False)
    body = writer.body(unit.body)
    made = _declared(unit, pointers)
    if not writer.asked:
        return replace(made, body=body)
    parallel = [each for each in _in_parallel(pointers, unit.body, inside=False) if each not in flow.problems]
    if parallel:
        return _written(unit, {**refused, **dict.fromkeys(parallel, _PARALLEL)})
    body = _Writer(pointers, flow, tracked=True).body(unit.body)
    start = set_state(_STATE, unit.span, flow.numbers[pointers.start])
    return replace(made, body=(start, *body), entities=(*made.entities, state_entity(_STATE, unit)))


def _in_parallel(pointers: Pointers, body: Body, *, inside: bool) -> Iterator[s.Stmt]:
    """The statements of INDEPENDENT loops that change what pointers point to."""
    for each in body:
        if inside and pointers.is_moved_by(each):
            yield each
        match each:
            case s.Do(independent=claim, body=inner):
                yield from _in_parallel(pointers, inner, inside=inside or claim is not None)
            case s.DoWhile(body=inner):
                yield from _in_parallel(pointers, inner, inside=inside)
            case s.If(branches=parts) | s.SelectCase(cases=parts):
                for part in parts:
                    yield from _in_parallel(pointers, part.body, inside=inside)


def _declared(unit: Unit, pointers: Pointers) -> Unit:
    """The unit with the variables that ALLOCATE gives pointers instead of these, with the mappings of these."""
    gone = frozenset(pointers.names) - pointers.shapes.keys()
    entities: list[Entity] = []
    for each in unit.entities:
        kept = each.attributes - {"pointer", "target"}
        if each.name in pointers.place:
            kept |= {"allocatable"} if each.shape is not None else frozenset()
            for name in pointers.allocated.get(each.name, ()):
                shown = each.shown if name == each.name else f"{each.shown}{name.removeprefix(each.name)}"
                entities.append(replace(each, name=name, shown=shown, attributes=kept))
        else:
            entities.append(replace(each, attributes=kept) if kept != each.attributes else each)
    return replace(
        unit,
        entities=tuple(entities),
        directives=tuple(_mapped(unit.directives, pointers, gone)),
        repeated=tuple(_mapped(unit.repeated, pointers, gone)),
        commons=tuple(replace(each, names=tuple(n for n in each.names if n not in gone)) for each in unit.commons),
    )


def _mapped(directives: Sequence[d.Directive], pointers: Pointers, gone: frozenset[str]) -> Iterator[d.Directive]:
    """Directives for the variables of pointers."""
    for each in directives:
        match each:
            case d.Align(alignee=name) | d.Distribute(distributee=name):
                if name in gone:
                    continue
                yield each
                for other in pointers.allocated.get(name, ())[1:]:
                    kind = "alignee" if isinstance(each, d.Align) else "distributee"
                    yield replace(each, **{kind: other})
            case d.Dynamic(names=names) | d.Inherit(names=names) | d.Sequence(names=names):
                more = (other for name in names for other in pointers.allocated.get(name, ())[1:])
                yield replace(each, names=(*(name for name in names if name not in gone), *more))
            case _:
                yield each


class _Writer:
    """Statements with the variables that pointers point to. `tracked`: the scalar of the state is kept."""

    def __init__(self, pointers: Pointers, flow: Flow, *, tracked: bool) -> None:
        self._pointers = pointers
        self._flow = flow
        self._tracked = tracked
        self._states = {number: state for state, number in flow.numbers.items()}
        self.asked = False
        """Whether some statement depends on the state."""

    def body(self, body: Body) -> Body:
        """A statement list; neighbours that depend on the state share one IF."""
        made: list[s.Stmt] = []
        run: list[s.Stmt] = []
        for each in (*body, None):
            if run and (each is None or self._kind(each) != self._kind(run[0])):
                made += self._neighbours(run)
                run = []
            if each is not None:
                run.append(each)
        return tuple(made)

    def _kind(self, statement: s.Stmt) -> object:
        """What neighbours have in common that are written together."""
        if isinstance(statement, s.Point):
            return "point"
        if self._pointers.is_moved_by(statement) or self._moves_inside(statement) or self._has_problem(statement):
            return statement
        return self._flow.before.get(statement)

    def _moves_inside(self, statement: s.Stmt) -> bool:
        return any(self._pointers.is_moved_by(each) for each in walk_statements((statement,)))

    def _has_problem(self, statement: s.Stmt) -> bool:
        return any(each in self._flow.problems for each in walk_statements((statement,)))

    def _neighbours(self, run: Sequence[s.Stmt]) -> Body:
        first = run[0]
        states = self._flow.before.get(first)
        if not states:  # nothing leads here
            return ()
        opaque = tuple(self._opaque(each) for each in run if each in self._flow.problems)
        if isinstance(first, s.Point):
            return (*opaque, *self._by_state(run, states, lambda state: self._pointed(run, state)))
        if self._pointers.is_moved_by(first):
            return (*opaque, *self._by_state(run, states, lambda state: self._allocated(first, state)))
        if opaque and isinstance(first, s.Do | s.DoWhile | s.If | s.SelectCase):
            return (*opaque, mapped(map_own(first, self._unknown), self.body))
        if opaque:
            return opaque
        if not self._moves_inside(first) and not self._has_problem(first):
            return self._by_state(run, states, lambda state: tuple(self._named(each, state) for each in run))
        inner = mapped(first, self.body)
        if isinstance(inner, s.DoWhile) and inner.condition is not None and len(self._heads(first, states)) > 1:
            test, loop = inner.condition, inner.name

            def leave(state: State) -> Body:
                stop = s.Exit(span=first.span, name=loop)
                return (self._named(s.guarded(Unary(".not.", test), (stop,), first.span), state),)

            return (replace(inner, condition=None, body=(*self._by_state(run, states, leave), *inner.body)),)
        return self._by_state(run, states, lambda state: (self._head(inner, state),))

    def _opaque(self, statement: s.Stmt) -> s.Stmt:
        return s.Opaque(span=statement.span, label=statement.label, text="", reason=self._flow.problems[statement])

    def _unknown(self, expr: Expr) -> Expr:
        return OpaqueExpr(spell(expr), span=expr.span) if self._pointers.in_(expr) else expr

    def _heads(self, statement: s.Stmt, states: States) -> set[tuple[str, ...]]:
        """What the pointers in the head of a statement point to."""
        places = [self._pointers.place[name] for name in sorted(mentioned(self._pointers, statement))]
        return {tuple(state[place] for place in places) for state in states}

    def _by_state(self, run: Sequence[s.Stmt], states: States, make: Callable[[State], Body]) -> Body:
        numbers = [self._flow.numbers[each] for each in states]
        made, asked = copies_by_state(_STATE, run[0].span, numbers, lambda number: make(self._states[number]))
        self.asked |= asked
        if made and run[0].label:
            made = (replace(made[0], label=run[0].label), *made[1:])
        return made

    def _pointed(self, run: Sequence[s.Stmt], state: State) -> Body:
        after = state
        for each in run:
            after = self._flow.after[each, after]
        return self._now(run[-1], after)

    def _now(self, statement: s.Stmt, after: State) -> Body:
        return (set_state(_STATE, statement.span, self._flow.numbers[after]),) if self._tracked else ()

    def _allocated(self, statement: s.Stmt, state: State) -> Body:
        assert isinstance(statement, s.Allocate)
        after = self._flow.after[statement, state]
        reached = state if statement.deallocate else self._pointers.moved(statement, state)
        items: list[Expr] = []
        for each in statement.items:
            if not isinstance(each, Var | Element) or each.name not in self._pointers.place:
                items.append(each)
                continue
            name = reached[self._pointers.place[each.name]]
            entity = self._pointers.entities[each.name]
            if name in ("", UNKNOWN) or entity.shape is None:  # scalars need no memory of their own
                continue
            if isinstance(each, Element):
                subscripts = tuple(self._names(state).expression(part) for part in each.subscripts)
                items.append(Element(name, subscripts, span=each.span))
            else:
                items.append(Var(name, span=each.span))
        kept = (replace(statement, items=tuple(items)),) if items else ()
        return (*kept, *self._now(statement, after))

    def _names(self, state: State) -> CallNames:
        pairs = zip(self._pointers.names, state, strict=True)
        return CallNames(renamed={name: target for name, target in pairs if target not in ("", UNKNOWN, name)})

    def _named(self, statement: s.Stmt, state: State) -> s.Stmt:
        """A statement that moves nothing, in a state."""
        made = self._head(statement, state)
        return mapped(made, lambda inner: tuple(self._named(each, state) for each in inner))

    def _head(self, statement: s.Stmt, state: State) -> s.Stmt:
        """A statement whose own expressions name variables in place of pointers; its bodies are as they are."""
        known = map_own(statement, lambda expr: self._pointers.known(expr, state))
        if isinstance(known, s.If):
            known = decided(known)
        names = self._names(state)
        if isinstance(known, s.Restore):
            return replace(known, array=names.of(known.array))
        return names.head(known)
