"""Values that decide the flow and that only a run can tell: esp runs the statements that compute them (D8).

A stage that misses values raises `UnresolvedError` with their names. `settled` computes them and tries again. Values do
not depend on the mapping or on the machine, so they are remembered for each program and its given values.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct, structs

from aag.diagnostics import Diagnostic, Span, UnresolvedError
from aag.functional.run import NO_VALUE, UNUSED
from aag.functional.run import computed as run
from aag.functional.tables import BUDGET_USED, BY_INPUT, Found, LoopTrips, RunLimits, WantedValues
from aag.ir import statements as s
from aag.ir.elements import element_name
from aag.ir.evaluate import Value
from aag.ir.expressions import Section, Var
from aag.ir.overridden import computed_by
from aag.ir.units import Program, Unit
from aag.ir.visitors import backward_slice, elements_in, names_in, own_expressions, walk_statements
from aag.mapping.constants import constants_of, typed
from aag.mapping.settable import TRIPS, is_made_up
from aag.pipeline import main_unit
from aag.wording import plural
from esp.conditions import ASKED, Shares, asked_before, givable, given_shares, shares_of
from esp.elements import of_elements, with_given
from esp.read_later import also_assigned, literal, with_input
from esp.request import Request
from esp.selecting import selected
from esp.unread import unread
from interpreter.result import Assumption
from interpreter.setting import Setting

Made = TypeVar("Made")

_MORE = 10
"""By what a budget that is used up is multiplied in the hint."""


_SCALAR_STEP = 500
"""Operations of the budget for a statement that is carried out while the flow is followed."""


class Computed(Struct, frozen=True, kw_only=True):
    """What was computed so far: values of scalars, trip counts of while loops by line, and what is said about them."""

    values: Mapping[str, Value] = {}
    trips: Mapping[int, LoopTrips] = {}
    assumptions: tuple[Assumption, ...] = ()
    taken: frozenset[str] = frozenset()
    """Scalars whose values nobody knows."""
    unsteady: frozenset[str] = frozenset()
    """Scalars whose values do not hold in conditions."""
    uncomputed: Mapping[int, str] = {}
    """Lines of loops whose trip counts cannot be computed and are assumed -> why."""
    shares: Shares = Shares()
    """How often conditions hold that data decide."""

    def joined(self, other: "Computed") -> "Computed":
        """Both."""
        return Computed(
            values={**self.values, **other.values},
            trips={**self.trips, **other.trips},
            assumptions=tuple(dict.fromkeys((*self.assumptions, *other.assumptions))),
            taken=self.taken | other.taken,
            unsteady=self.unsteady | other.unsteady,
            uncomputed={**self.uncomputed, **other.uncomputed},
            shares=self.shares.joined(other.shares),
        )


NOTHING = Computed()


def settled(
    program: Program, request: Request, attempt: Callable[[Computed], Made], known: Computed = NOTHING
) -> tuple[Made, Computed]:
    """What an attempt makes, once the values that it misses are computed, and these values.

    Args:
        program: The program.
        request: The given values, which win, and the budget.
        attempt: Makes something with what is computed so far.
        known: What earlier stages have computed.

    Raises:
        UnresolvedError: values are missing that cannot be computed; it says why.
    """
    if _asks_shares(request) and (before := asked_before(program) - known.shares.known):
        known = known.joined(_shares(program, request, frozenset(before)))
    while True:
        try:
            return attempt(known), known
        except UnresolvedError as error:
            if shares := frozenset(each for each in error.names if ASKED.fullmatch(each)):
                asked_before(program).update(shares)
                known = known.joined(_shares(program, request, shares))
                continue
            names = error.missing.keys() - known.values.keys() - {f"trips_{line}" for line in known.trips}
            if not names or not request.budget or len(names) < len(error.missing):
                raise
            more, missing = _computed(program, given_values(program, request), frozenset(names), request.budget)
            if error.assumable:
                more, missing = more.joined(_assumed(missing, request.budget)), {}
            taken = _taken(program, given_values(program, request), tuple(sorted(missing)))
            if missing.keys() - taken.values.keys():
                raise _explained(error, missing, main_unit(program), request) from None
            known = known.joined(more).joined(taken)


def ask_first(program: Program, request: Request) -> None:
    """Ask for values that only input gives and that any execution needs: not after much was interpreted without them.

    Raises:
        UnresolvedError: there are such values, which are not given.
    """
    given = {name.lower() for name in request.values}
    found = {name: each for name, each in unread(program).items() if name not in given}
    if found:
        asked = [
            Diagnostic(
                code="E501",
                span=span,
                message=f"the flow depends on {name}, which cannot be computed",
                hint=f"give it with ‹set {name.upper()}=VALUE›",
            )
            for name, (span, _) in found.items()
        ]
        why = {name: each for name, (_, each) in found.items()}
        raise _explained(UnresolvedError(asked, tuple(found)), why, main_unit(program), request)


def _asks_shares(request: Request) -> bool:
    """Whether shares of conditions are looked for: in a run, or among the given ones."""
    return bool(request.budget or given_shares(request.values))


def _shares(program: Program, request: Request, names: frozenset[str]) -> Computed:
    found = shares_of(program, given_values(program, request), names, request.budget)
    text = f"how often conditions hold takes too long to compute (‹budget {request.budget * _MORE}› may be enough)"
    told = (Assumption(code="budget", text=text),) if found.spent else ()
    return Computed(shares=found, assumptions=told)


def _assumed(missing: Mapping[str, str], budget: int) -> Computed:
    """That trip counts cannot be computed, and why."""
    found = ((int(match[1]), why) for name, why in missing.items() if (match := TRIPS.fullmatch(name)))
    more = f" (‹budget {budget * _MORE}› allows more)"
    return Computed(uncomputed={line: why + (more if BUDGET_USED in why else "") for line, why in found})


def given_values(program: Program, request: Request) -> tuple[tuple[str, Value], ...]:
    """The given values that hold everywhere by name in lower case, in order; those of variables in their types, as an
    assignment leaves them: 100 for a real variable is 100.0."""
    later = frozenset() if program.main is None else also_assigned(program.main)
    return tuple((name, value) for name, value in _typed(program, request) if name not in later)


def as_given(program: Program, request: Request) -> Program:
    """The program, with the given values of elements, those that hold only from a READ on, and those of scalars that it
    computes.

    Raises:
        SourceError: an element cannot be given a value.
    """
    if not request.values:
        return program
    computed = _overridden(program, given_values(program, request))
    made, elements = with_input(program, _typed(program, request)), of_elements(request.values)
    if computed:
        made = structs.replace(made, given=tuple((name, literal(value)) for name, value in computed))
    return with_given(made, elements) if elements else made


@lru_cache(maxsize=64)
def _overridden(program: Program, given: tuple[tuple[str, Value], ...]) -> tuple[tuple[str, Value], ...]:
    """Those given values that hold instead of what the program computes; not of scalars that only select elements."""
    unit, values = main_unit(program), {name: value for name, value in given if not is_made_up(name)}
    constants, _ = constants_of(unit, values)
    computed = sorted(computed_by(unit, values))
    return tuple((name, values[name]) for name in computed if selected(unit, name, constants) is None)


def _typed(program: Program, request: Request) -> tuple[tuple[str, Value], ...]:
    entities = {each.name: each for each in main_unit(program).entities}
    found = ((name.lower(), value) for name, value in request.values.items() if not element_name(name))
    return tuple(sorted((name, typed(value, entities.get(name))) for name, value in found))


def setting_of(program: Program, request: Request, computed: Computed) -> Setting:
    """The options of an interpretation; given values win."""
    return Setting(
        io=request.scenario.io,
        timed=request.timed,
        force_unroll=request.unroll,
        values={**computed.values, **dict(given_values(program, request))},
        trips=computed.trips,
        asks_trips=bool(request.budget),
        scalar_steps=max(Setting().scalar_steps, request.budget // _SCALAR_STEP),
        uncomputed=computed.uncomputed,
        unsteady=computed.unsteady - {name for name, _ in given_values(program, request)},
        branches=computed.shares.branches,
        masks=computed.shares.masks,
        asks_shares=_asks_shares(request),
        unshared=computed.shares.unknown,
        given_shares=frozenset(computed.shares.given),
        left_shares=computed.shares.left,
    )


@lru_cache(maxsize=64)
def _computed(
    program: Program, given: tuple[tuple[str, Value], ...], names: frozenset[str], operations: int
) -> tuple[Computed, Mapping[str, str]]:
    """The values of names, ``trips_LINE`` among them, and why some have none."""
    lines = {name: int(found[1]) for name in names if (found := TRIPS.fullmatch(name))}
    wanted = WantedValues(scalars=names.difference(lines), loops=frozenset(lines.values()))
    unit = main_unit(program)
    values = {name: value for name, value in given if not is_made_up(name)}
    constants, _ = constants_of(unit, values)
    made = run(unit, wanted, constants, values, RunLimits(operations=operations))
    spans = {name: Span(program.file, line) for name, line in lines.items()}
    growing = _growing(unit)
    told = tuple(
        _told(name, made, lines.get(name), spans.get(name), counts=name in growing)
        for name in sorted(names - made.missing.keys())
    )
    taken = growing & made.scalars.keys()
    computed = Computed(
        values=made.scalars,
        trips=made.trips,
        assumptions=told,
        taken=taken,
        unsteady=made.unsteady & made.scalars.keys(),
    )
    return computed, made.missing


@lru_cache(maxsize=64)
def _taken(program: Program, given: tuple[tuple[str, Value], ...], names: tuple[str, ...]) -> Computed:
    """Values for those of some scalars that only select elements."""
    unit = main_unit(program)
    constants, _ = constants_of(unit, {name: value for name, value in given if not is_made_up(name)})
    found = {name: place for name in names if (place := selected(unit, name, constants)) is not None}
    told = (
        Assumption(
            code="selected",
            text=f"{name.upper()} is not known: taking {place.value}, in the middle of {place.array} "
            f"(--set {name.upper()}=VALUE takes another)",
            span=Span(program.file, place.line),
        )
        for name, place in found.items()
    )
    values = {name: place.value for name, place in found.items()}
    return Computed(values=values, assumptions=tuple(told), taken=frozenset(values))


def _growing(unit: Unit) -> frozenset[str]:
    """The scalars that select elements and get new values from their old ones: as a bound they have one value, but
    others on the way."""
    statements = tuple(walk_statements(unit.body))
    assigns = ((each.target, each.value) for each in statements if isinstance(each, s.Assign))
    changed = {into.name for into, value in assigns if isinstance(into, Var) and into.name in names_in(value)}
    elements = elements_in(*(each for statement in statements for each in own_expressions(statement)))
    single = (sub for each in elements for sub in each.subscripts if not isinstance(sub, Section))
    return names_in(*single) & changed


def _told(name: str, found: Found, line: int | None, span: Span | None, *, counts: bool) -> Assumption:
    how = f"computed by running part of the program ({found.operations:,} operations)"
    if line is None:
        more = ", also where it selects elements" if counts else ""
        return Assumption(code="computed", text=f"{name.upper()} = {found.scalars[name]}{more}, {how}")
    trips = found.trips[line]
    count, most, least = round(trips.mean), max(trips.counts), min(trips.counts)
    times = plural(count, "time") + (" and a part of one more" if trips.partial else "")
    if most > least:
        times = f"{plural(count, 'time')} in the mean of {len(trips.counts)} entries ({least} to {most})"
    return Assumption(code="computed", text=f"line {line}: the loop runs {times}, {how}", span=span)


def _explained(error: UnresolvedError, missing: Mapping[str, str], unit: Unit, request: Request) -> UnresolvedError:
    """The error with the reasons why values cannot be computed, and with what later stages would ask for."""
    named = zip(error.names, error.diagnostics, strict=True)
    found = [_with(each, name, missing.get(name, ""), unit, request.budget) for name, each in named]
    assigns = [each for each in walk_statements(unit.body) if isinstance(each, s.Assign)]
    known = backward_slice(error.names, assigns).union(name.lower() for name in request.values)
    later = {name: at for name, at in _wanted_by_loops(unit, assigns).items() if name not in known}
    found += [
        Diagnostic(
            code="E501",
            span=at,
            message=f"the flow depends on {name}, which is read from input",
            hint=f"give it with ‹set {name.upper()}=VALUE›",
        )
        for name, at in later.items()
    ]
    return UnresolvedError(found, (*error.names, *later))


def _wanted_by_loops(unit: Unit, assigns: Sequence[s.Assign]) -> dict[str, Span]:
    """The scalars that decide how often DO loops run and that only READ gives a value, with the first such loop."""
    statements = tuple(walk_statements(unit.body))
    changed = {each.target.name for each in assigns if isinstance(each.target, Var)}
    reads = (each.items for each in statements if isinstance(each, s.Io) and each.kind == "read")
    read = {item.name for items in reads for item in items if isinstance(item, Var)} - changed
    read -= {each.name for each in unit.entities if each.shape is not None}
    found: dict[str, Span] = {}
    for each in statements:
        if isinstance(each, s.Do):
            bounds = names_in(each.lower, each.upper, each.step)
            for name in sorted(backward_slice(bounds, assigns) & read):
                found.setdefault(name, each.span)
    return found


def _with(found: Diagnostic, name: str, why: str, unit: Unit, budget: int) -> Diagnostic:
    """The reason, and first among the ways out the variable that the program reads, where that suffices."""
    if not why or why.endswith((NO_VALUE, UNUSED)):
        return found
    hint = found.hint
    if BUDGET_USED in why:
        hint = f"raise the budget with ‹budget {_MORE * budget}›, or {hint}"
    read = BY_INPUT.search(why)
    entity = unit.entity(read.group(1)) if read else None
    if read and entity is not None and entity.shape is None and read.group(1) != name:
        if hint.endswith("overrides its value"):
            hint = f"override the computed value of {name} with ‹set {name.upper()}=VALUE›"
        way = f"give {read.group(1)} with ‹set {read.group(1).upper()}=VALUE›"
        hint = hint if way in hint else f"{way}, or {hint}"
    # Where a value is missing nobody knows whether the loop ends.
    unknown = "how often this loop runs is unknown" if read and found.code == "E502" else found.message
    return structs.replace(found, message=f"{unknown}: {why}", hint=hint)


def unused_shares(program: Program, request: Request, computed: Computed) -> tuple[Assumption, ...]:
    """That given shares of conditions have no effect, where they have none."""
    used = frozenset[int]().union(*computed.shares.given.values())
    can_be = givable(program)
    return tuple(
        Assumption(
            code="given",
            text=f"line {line}: HOLDS_{line} has no effect: "
            + ("no share of this condition is needed" if line in can_be else "the line has several conditions"),
            span=Span(program.file, line),
        )
        for line in sorted(given_shares(request.values).keys() - used)
    )
