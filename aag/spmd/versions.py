"""Each reference names the version of its array's mapping (design decision D12).

An array that REALIGN or REDISTRIBUTE moves has one version for each mapping that it takes: an array of its own, here
`a`, `a$2`, `a$3`. A remapping is then an assignment between two versions, lowered, priced and emitted like any other.
Where several paths lead to a statement with different mappings, both are kept: a scalar says which configuration
holds, and an IF chooses between copies of the statements.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import statements as ir
from aag.ir.by_state import copies_by_state, set_state, state_entity
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Element, Expr, Var
from aag.ir.units import Entity, Unit
from aag.ir.visitors import map_expression, map_own, mapped, names_in, own_expressions, walk_statements
from aag.mapping.configuration import Configuration, Dynamics
from aag.mapping.dealing import Dealt
from aag.mapping.layout import Layout, Layouts
from aag.mapping.report import Report
from aag.spmd.remaps import RemapCourse, unmoved

_STATE = "mapping$now"
"""The scalar that says which configuration holds."""

_MOST = 64
"""Configurations that are told apart."""

States = frozenset[int]
Body = tuple[ir.Stmt, ...]
Moving = ir.Remap | ir.Restore


def with_versions(unit: Unit, layouts: Layouts, *, lazy: bool) -> tuple[Unit, Layouts, list[Diagnostic]]:
    """A unit without REALIGN and REDISTRIBUTE: its references name versions of arrays, which the layouts have. `lazy`:
    values do not move where they are there already or not needed; the findings say where."""
    if layouts.dynamics is None:
        return unit, layouts, []
    flow = _Flow(layouts.dynamics, layouts)
    try:
        flow.follow(unit.body, frozenset({0}))
    except _TooManyError:
        return unit, layouts, []
    versions = _Versions(unit, layouts, flow)
    course = RemapCourse(
        body=unit.body, arrays=versions.several - _aliased(unit), after=flow.after, named=versions.named
    )
    still = unmoved(course) if lazy else {}
    rewriting = _Rewriting(versions, flow, still, tracked=False)
    body = rewriting.body(unit.body)
    entities = versions.entities
    if rewriting.asked:
        body = _Rewriting(versions, flow, still, tracked=True).body(unit.body)
        body = (set_state(_STATE, unit.span, 0), *body)
        entities = (*entities, state_entity(_STATE, unit))
    made = replace(unit, body=body, entities=(*unit.entities, *entities))
    contents = {
        each: layouts.contents[stem]
        for each in versions.layouts
        if (stem := each.partition("$")[0]) in layouts.contents
    }
    found = replace(layouts, arrays=MappingProxyType(versions.layouts), dynamics=None, contents=contents)
    return made, found, list(_told(versions, flow, still))


def _aliased(unit: Unit) -> frozenset[str]:
    """Arrays that other names share their elements with."""
    return frozenset(name for each in unit.equivalences for name in names_in(*each.members))


def _told(
    versions: "_Versions", flow: "_Flow", still: Mapping[tuple[Moving, int], Mapping[str, str]]
) -> Iterator[Diagnostic]:
    """A finding for each array that does not move at a remapping."""
    where: dict[tuple[Moving, str, str], set[int]] = {}
    for (statement, state), reasons in still.items():
        if state not in flow.before.get(statement, ()):
            continue
        moved = {old for old, _ in versions.moved(state, flow.after[statement, state])}
        for name, why in reasons.items():
            if versions.named(name, state) in moved:
                where.setdefault((statement, name, why), set()).add(state)
    for (statement, name, why), states in where.items():
        paths = "" if len(states) == len(flow.before[statement]) else " on some paths"
        yield Diagnostic(code="W281", message=f"{name} does not move{paths}: {why}", span=statement.span)


class _TooManyError(Exception):
    """More configurations than are told apart."""


class _Flow:
    """Which configurations may hold before each statement."""

    def __init__(self, dynamics: Dynamics, layouts: Layouts) -> None:
        self._dynamics = dynamics
        self._env = layouts.environment
        self.configurations = [dynamics.start]
        self.spans: list[Span | None] = [None]
        """The directive that made each configuration."""
        self.before: dict[ir.Stmt, States] = {}
        self.after: dict[tuple[Moving, int], int] = {}
        """The configuration that a remapping makes of another one."""
        self._loops: list[_Loop] = []

    def follow(self, body: Body, states: States) -> States:
        """The configurations that may hold after a statement list, with what holds before each statement noted."""
        for statement in body:
            self.before[statement] = self.before.get(statement, frozenset()) | states
            if states:
                states = self._after(statement, states)
        return states

    def _after(self, statement: ir.Stmt, states: States) -> States:
        match statement:
            case ir.Remap() | ir.Restore():
                return frozenset(self._remapped(statement, each) for each in states)
            case ir.Do() | ir.DoWhile():
                return self._after_loop(statement, states)
            case ir.If(branches=branches):
                return self._joined(states, branches, any(each.condition is None for each in branches))
            case ir.SelectCase(cases=cases):
                return self._joined(states, cases, any(each.values is None for each in cases))
            case ir.Exit(name=name):
                self._loop(name).exits |= states
            case ir.Cycle(name=name):
                self._loop(name).cycles |= states
            case ir.Stop() | ir.Return():
                pass
            case _:
                return states
        return frozenset()

    def _joined(self, states: States, branches: Sequence[ir.Branch | ir.Case], complete: bool) -> States:
        found = [self.follow(each.body, states) for each in branches]
        return frozenset().union(*found, *(() if complete else (states,)))

    def _after_loop(self, loop: ir.Do | ir.DoWhile, states: States) -> States:
        while True:  # the configurations at its head only grow
            self._loops.append(_Loop(loop.name))
            ended = self.follow(loop.body, states)
            left = self._loops.pop()
            again = ended | left.cycles
            if again <= states:
                break
            states |= again
        self.before[loop] |= states
        if isinstance(loop, ir.DoWhile) and loop.condition is None:
            return left.exits
        return left.exits | (again if self._surely_runs(loop) else states)

    def _surely_runs(self, loop: ir.Do | ir.DoWhile) -> bool:
        if isinstance(loop, ir.DoWhile) or loop.step is not None:
            return False
        try:
            return evaluate_int(loop.lower, self._env) <= evaluate_int(loop.upper, self._env)
        except Unknown:
            return False

    def _loop(self, name: str) -> "_Loop":
        return next((each for each in reversed(self._loops) if not name or each.name == name), _Loop(""))

    def _remapped(self, statement: Moving, state: int) -> int:
        known = self.after.get((statement, state))
        if known is not None:
            return known
        before = self.configurations[state]
        made = self._made(statement, before)
        found = next((at for at, each in enumerate(self.configurations) if _same(each, made)), None)
        if found is None:
            if len(self.configurations) == _MOST:
                raise _TooManyError
            found = len(self.configurations)
            self.configurations.append(made)
            self.spans.append(statement.span)
        self.after[statement, state] = found
        return found

    def _made(self, statement: Moving, before: Configuration) -> Configuration:
        mapper = self._dynamics.mapper
        match statement:
            case ir.Restore(array=array, kept=kept):
                return mapper.restored(before, array, kept)
            case ir.Remap(directive=directive, keeps=kept) if kept:
                return mapper.entered(before, directive, kept, Report())
            case ir.Remap(directive=directive):
                return mapper.remapped(before, directive, Report())


class _Loop:
    """The configurations with which a loop is left, and those with which its next iteration is begun."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.exits: States = frozenset()
        self.cycles: States = frozenset()


def _same(left: Configuration, right: Configuration) -> bool:
    """Whether everything lies at the same place, whichever directives say so."""

    def told(configuration: Configuration) -> object:
        found = {name: _plain(each) for name, each in configuration.distributed.items() if each is not None}
        kept = {name: (each.placement, _plain(each.dealt)) for name, each in configuration.kept.items()}
        return configuration.placements, found, kept

    return told(left) == told(right)


def _plain(dealt: Dealt | None) -> object:
    """A distribution without the directive that says so."""
    return None if dealt is None else (dealt.grid, dealt.dims)


class _Versions:
    """The versions of each array: their names, declarations and layouts."""

    def __init__(self, unit: Unit, layouts: Layouts, flow: _Flow) -> None:
        self.layouts = dict(layouts.arrays)
        self._made: list[Entity] = []
        self._names: list[Mapping[str, str]] = []
        declared = {each.name: each for each in unit.entities}
        for configuration, span in zip(flow.configurations, flow.spans, strict=True):
            names = {}
            for name, layout in layouts.arrays.items():
                found = configuration.axes(name, layouts.grid)
                if found is not None and name in declared:
                    placement = configuration.placements[name]
                    root = layout.template if span is None or placement is None else placement.root
                    wanted = replace(layout, grid=found[0], axes=found[1], template=root, span=span or layout.span)
                    names[name] = self._version(declared[name], wanted)
            self._names.append(names)
        self.several = frozenset(name for name in layouts.arrays if len({each.get(name) for each in self._names}) > 1)
        """Arrays of more than one version."""

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The declarations of all versions but the first of each array."""
        return tuple(self._made)

    def _version(self, entity: Entity, layout: Layout) -> str:
        """The name of the version that lies as a layout says."""
        number, name = 1, entity.name
        while name in self.layouts:
            if _alike(self.layouts[name], layout):
                return name
            number += 1
            name = f"{entity.name}${number}"
        self.layouts[name] = replace(layout, array=name)
        self._made.append(replace(entity, name=name, shown=f"{entity.shown}${number}", initial=None))
        return name

    def named(self, name: str, state: int) -> str:
        """The version of an array in a configuration."""
        return self._names[state].get(name, name)

    def of(self, names: Iterable[str], state: int) -> tuple[tuple[str, str], ...]:
        """What those of the names that have several versions are called in a configuration."""
        return tuple((name, self.named(name, state)) for name in sorted(self.several.intersection(names)))

    def moved(self, before: int, after: int) -> tuple[tuple[str, str], ...]:
        """The versions between which data move from one configuration to another."""
        pairs = ((self.named(name, before), self.named(name, after)) for name in sorted(self.several))
        return tuple((old, new) for old, new in pairs if old != new)


def _alike(left: Layout, right: Layout) -> bool:
    """Whether each processor holds the same elements of an array, whatever the grid is called."""
    return left.grid.size == 1 or (left.grid.shape, left.axes) == (right.grid.shape, right.axes)


class _Rewriting:
    """Statements with the versions that they name. `still`: the arrays whose values do not move at a remapping;
    `tracked`: the scalar of the configuration is kept."""

    def __init__(
        self, versions: _Versions, flow: _Flow, still: Mapping[tuple[Moving, int], Mapping[str, str]], *, tracked: bool
    ) -> None:
        self._versions = versions
        self._flow = flow
        self._still = still
        self._tracked = tracked
        self.asked = False
        """Whether some statement depends on the configuration that holds."""

    def body(self, body: Body) -> Body:
        """A statement list; neighbours that depend on the configuration share one IF."""
        made: list[ir.Stmt] = []
        run: list[ir.Stmt] = []
        for statement in body:
            held = not any(isinstance(each, Moving) for each in walk_statements((statement,)))
            if run and (not held or self._states(run[0]) != self._states(statement)):
                made += self._chosen(run)
                run = []
            if held:
                run.append(statement)
            elif isinstance(statement, Moving):
                made += self._moves(statement)
            else:
                made.append(self._around(statement))
        return (*made, *self._chosen(run))

    def _states(self, statement: ir.Stmt) -> States:
        return self._flow.before.get(statement) or frozenset({0})  # nothing leads here

    def _chosen(self, run: Sequence[ir.Stmt]) -> Sequence[ir.Stmt]:
        """Statements that remap nothing: a copy of them for each set of versions."""
        if not run:
            return ()
        names = names_in(run)
        return self._by_state(
            run[0].span, self._states(run[0]), lambda state: tuple(_renamed(run, dict(self._versions.of(names, state))))
        )

    def _moves(self, statement: Moving) -> Sequence[ir.Stmt]:
        """The assignments of a REALIGN or REDISTRIBUTE."""

        def moves(state: int) -> Body:
            after = self._flow.after[statement, state]
            still = {self._versions.named(name, state) for name in self._still.get((statement, state), ())}
            assigns: list[ir.Stmt] = [
                ir.Assign(span=statement.span, target=Var(new), value=Var(old))
                for old, new in (self._versions.moved(state, after) if statement.copies else ())
                if old not in still
            ]
            return (*assigns, *([set_state(_STATE, statement.span, after)] if self._tracked else ()))

        states = self._flow.before.get(statement)
        return self._by_state(statement.span, states, moves) if states else ()

    def _around(self, statement: ir.Stmt) -> ir.Stmt:
        """A statement that holds remappings."""
        names = names_in(*own_expressions(statement))
        found = {self._versions.of(names, state) for state in self._states(statement)}
        if len(found) > 1:
            text = ", ".join(sorted(self._versions.several & names))
            return ir.Opaque(span=statement.span, text="", reason=f"the mapping of {text} depends on the way here")
        return mapped(_own_renamed(statement, dict(found.pop())), self.body)

    def _by_state(self, span: Span, states: States, make: Callable[[int], Body]) -> Sequence[ir.Stmt]:
        """What `make` says for each configuration: once if it says the same for all, else under an IF."""
        made, asked = copies_by_state(_STATE, span, states, make)
        self.asked |= asked
        return made


def _renamed(body: Iterable[ir.Stmt], names: Mapping[str, str]) -> Iterable[ir.Stmt]:
    """Statements with other names for arrays."""
    for each in body:
        yield mapped(_own_renamed(each, names), lambda inner: tuple(_renamed(inner, names)))


def _own_renamed(statement: ir.Stmt, names: Mapping[str, str]) -> ir.Stmt:
    if all(new == old for old, new in names.items()):
        return statement

    def one(expr: Expr) -> Expr:
        return replace_name(expr, names[expr.name]) if isinstance(expr, Var | Element) and expr.name in names else expr

    made = map_own(statement, lambda expr: map_expression(expr, one))
    if isinstance(made, ir.Do | ir.Forall) and made.independent is not None:
        claim = made.independent
        home = None if claim.home is None else map_expression(claim.home, one)
        new = tuple(names.get(name, name) for name in claim.new)
        sums = tuple(names.get(name, name) for name in claim.reductions)
        made = replace(made, independent=replace(claim, home=home, new=new, reductions=sums))
    return made


def replace_name(expr: Var | Element, name: str) -> Expr:
    """A reference to another array of the same shape."""
    match expr:
        case Var():
            return Var(name, span=expr.span)
        case Element(subscripts=subscripts):
            return Element(name, subscripts, span=expr.span)
