"""How often conditions hold that data decide: esp runs the part of the program that decides them (D8).

An interpretation that comes to such a condition goes on with an assumption, and asks at its end: ``if_LINE`` for the
branches of an IF, ``mask_LINE_INDEX`` for the mask of a nest, by the line of its first assignment and the variable of
its outermost loop. All that is asked for is then found by one run. A share that the user gives
(``holds_LINE``) takes the place of what that run would find.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, structs

from aag.functional.run import computed as run
from aag.functional.tables import BUDGET_USED, RunLimits, WantedValues
from aag.ir import statements as s
from aag.ir.cases import in_turn
from aag.ir.cycles import without_cycle
from aag.ir.evaluate import Value
from aag.ir.units import Program, Unit
from aag.ir.visitors import bodies, names_in, walk_statements
from aag.mapping.constants import constants_of
from aag.mapping.settable import HOLDS, condition_lines, is_made_up
from aag.pipeline import main_unit
from esp.errors import UsageError
from interpreter.models.asking import WAY_OUT
from interpreter.result import Assumption
from interpreter.setting import SHARE_PARTS

ASKED = re.compile(r"(if|mask|set|test)_(\d+)(?:_([\w$]*))?")
"""Names of what is asked for."""

PART = 10
"""By what the budget is divided: a prediction without these shares is only less exact, so that nobody waits long."""

_Condition = s.If | s.SelectCase | s.Where | s.Forall
_Weights = tuple[float | None, ...]
"""The share of each branch, then of none; None: not known."""
_Path = tuple[tuple[s.Stmt, int], ...]
"""The statements around one, outermost first, each with the number of the body in which it lies; -N: what is
done behind the first N conditions of an IF."""


class Shares(Struct, frozen=True, kw_only=True):
    """How often conditions hold.

    `branches`: line of an IF -> the share of each of its branches, then of none. `masks`: asked name -> share of the
    iterations for which it holds. `unknown`: asked names for which nothing was found. `given`: asked name -> the lines
    of the given shares that its own rest on. `left`: those of them that have only what the given ones leave.
    """

    branches: Mapping[int, tuple[float, ...]] = {}
    masks: Mapping[str, float] = {}
    unknown: frozenset[str] = frozenset()
    given: Mapping[str, frozenset[int]] = {}
    left: frozenset[str] = frozenset()
    spent: bool = False
    """Whether some are unknown because the budget was used up."""

    @property
    def known(self) -> frozenset[str]:
        """The asked names that have an answer, be it none."""
        return frozenset((*(f"if_{line}" for line in self.branches), *self.masks, *self.unknown))

    def joined(self, other: "Shares") -> "Shares":
        """Both."""
        return Shares(
            branches={**self.branches, **other.branches},
            masks={**self.masks, **other.masks},
            unknown=self.unknown | other.unknown,
            given={**self.given, **other.given},
            left=self.left | other.left,
            spent=self.spent or other.spent,
        )


def has_conditions(program: Program) -> bool:
    """Whether a program has conditions that data may decide."""
    return any(_decides(each) for unit in program.units for each in walk_statements(unit.body))


@lru_cache(maxsize=64)
def asked_before(_: Program) -> set[str]:
    """What interpretations of a program have asked for so far, so that the next one need not ask again."""
    return set()


@lru_cache(maxsize=64)
def shares_of(program: Program, given: tuple[tuple[str, Value], ...], names: frozenset[str], operations: int) -> Shares:
    """The shares that are asked for: as they are given, else by one run within a part of the budget.

    Raises:
        UsageError: given shares of the branches of a statement are more than all.
    """
    unit = main_unit(program)
    values = {name: value for name, value in given if not is_made_up(name)}
    tests, said = _tests(unit), given_shares(dict(given))
    constants, _ = constants_of(unit, values)
    paths = {name: _conditions(unit, name) for name in names}
    lines = frozenset(line for path in paths.values() for line, _ in path) & tests.keys()
    told = {line for line in lines if said.keys() & set(tests[line])}
    open_ = frozenset(line for line in lines if not (tests[line] and said.keys() >= set(tests[line])))
    wanted, limits = WantedValues(branches=open_), RunLimits(operations=operations // PART)
    made_by = run(unit, wanted, constants, values, limits) if open_ and operations else None
    found: dict[int, _Weights] = {} if made_by is None else {**made_by.frequencies}
    found |= {line: _as_said(tests[line], said, found.get(line)) for line in told}
    branches: dict[int, tuple[float, ...]] = {}
    masks: dict[str, float] = {}
    resting: dict[str, frozenset[int]] = {}
    left: set[str] = set()
    for name, path in paths.items():
        on = frozenset(test for line, _ in path if line in told for test in tests[line] if test in said)
        if on:
            resting[name] = on
        weights = {line: found[line] for line, _ in path if line in found}
        if on and not all(_is_known(weights.get(line), at, whole=name.startswith("if_")) for line, at in path):
            left.add(name)
        if on:
            weights = {line: _filled(weights.get(line) or _nothing(tests.get(line, (line,)))) for line, _ in path}
        if not path:
            continue
        if name.startswith("if_"):
            branches |= {line: _filled(each) for line, each in weights.items()}
            continue
        share: float | None = 1.0
        for line, at in path:  # what is inside a branch that is never taken is not reached
            if share:
                share = share * _weight(weights[line], at) if line in weights else None
        if share is not None:
            masks[name] = round(share * SHARE_PARTS) / SHARE_PARTS
    made = Shares(branches=branches, masks=masks, given=resting, left=frozenset(left))
    spent = made_by is not None and any(BUDGET_USED in why for why in made_by.missing.values())
    return structs.replace(made, unknown=names - made.known, spent=spent)


def given_shares(values: Mapping[str, Value]) -> dict[int, float]:
    """Line of a condition -> the share of the executions of its statement that take its branch, as the user says."""
    named = ((HOLDS.fullmatch(name.lower()), value) for name, value in values.items())
    return {int(match[1]): float(value) for match, value in named if match and isinstance(value, int | float)}


def _tests(unit: Unit) -> dict[int, tuple[int, ...]]:
    """Line of a statement with conditions -> the lines of these, in turn; without lines in which there are several."""
    own = _unambiguous(unit)
    statements = (each for each in walk_statements(unit.body) if isinstance(each, _Condition))
    found = ((each.span.line, condition_lines(each)) for each in statements)
    return {line: lines for line, lines in found if line in own and len(set(lines)) == len(lines)}


@lru_cache(maxsize=64)
def givable(program: Program) -> frozenset[int]:
    """The lines of conditions whose shares can be given."""
    every = Counter(line for lines in _tests(main_unit(program)).values() for line in lines)
    return frozenset(line for line, often in every.items() if often == 1)


def with_ways_out(assumptions: Iterable[Assumption], program: Program) -> tuple[Assumption, ...]:
    """Assumptions that offer to give a share only where that can be given."""
    can_be = givable(program)
    return tuple(
        each
        if each.span is None or each.span.line in can_be
        else structs.replace(each, text=each.text.removesuffix(WAY_OUT))
        for each in assumptions
    )


def _as_said(conditions: Sequence[int], said: Mapping[int, float], computed: _Weights | None) -> _Weights:
    """The given shares of branches, then of none of them. What these leave is for the others as they are computed; None
    where they are not.

    Raises:
        UsageError: the given ones are more than all.
    """
    given = {at: said[line] for at, line in enumerate(conditions) if line in said}
    left = 1.0 - sum(given.values())
    if left < -1e-9:
        names = " + ".join(f"HOLDS_{conditions[at]}" for at in given)
        hint = "Give shares of the executions of the whole statement, of which each takes one branch at most."
        raise UsageError(f"{names} is {1.0 - left:g}, more than 1.", where="--set", hint=hint)
    others = [at for at in range(len(conditions) + 1) if at not in given]
    if len(others) == 1:
        weights: dict[int, float | None] = {others[0]: max(0.0, left)}
    elif computed is None:
        weights = dict.fromkeys(others)
    else:
        own = {at: (computed[at] if at < len(computed) else 0.0) or 0.0 for at in others}
        total = sum(own.values())
        weights = {at: left * (each / total if total else 1.0 / len(own)) for at, each in own.items()}
    return tuple({**given, **weights}[at] for at in range(len(conditions) + 1))


def _is_known(weights: _Weights | None, at: int, *, whole: bool) -> bool:
    """Whether the share of a branch is known, as `_weight` takes it; `whole`: those of all branches."""
    if weights is None:
        return False
    return None not in (weights if whole else weights[:-at] if at < 0 else weights[at : at + 1])


def _nothing(conditions: Sequence[int]) -> _Weights:
    """The shares of the branches of a statement of which nothing is known."""
    return (None,) * (len(conditions) + 1)


def _filled(weights: _Weights) -> tuple[float, ...]:
    """Weights, where those that are not known share alike what the others leave."""
    known = [each for each in weights if each is not None]
    return tuple((1.0 - sum(known)) / (len(weights) - len(known)) if each is None else each for each in weights)


def _weight(weights: _Weights, at: int) -> float:
    """The share of a branch; where it is negative, that of all executions in which none of the first ones is taken."""
    shares = [each or 0.0 for each in weights]
    if at < 0:
        return max(0.0, 1.0 - sum(shares[:-at]))
    return shares[at] if at < len(shares) else 0.0


def _conditions(unit: Unit, name: str) -> tuple[tuple[int, int], ...]:
    """The conditions that decide what is asked for: line and number of the branch, outermost first; none where the
    source has no such condition, or assignments in one line have several."""
    asked = ASKED.fullmatch(name)
    assert asked is not None
    kind, line, index = asked[1], int(asked[2]), asked[3] or ""
    if kind == "if":
        found = (each for each in walk_statements(unit.body) if isinstance(each, s.If | s.SelectCase))
        return ((line, 0),) if any(each.span.line == line for each in found) else ()
    several: set[tuple[tuple[int, int], ...]] = set()
    for path in _paths_to(unit.body, kind, line):
        inside = _inside(path, index)
        if _is_uneven(inside):
            return ()
        several.add(tuple((each.span.line, at) for each, at in inside if _decides(each)))
    several.discard(())
    return next(iter(several)) if len(several) == 1 else ()


def _inside(path: _Path, index: str) -> _Path:
    """The part of a path that a nest stands for: from the loop over its outermost index on, else the WHEREs around the
    assignment."""
    for at, (statement, _) in enumerate(path):
        if isinstance(statement, s.Do) and statement.var == index:
            return path[at:]
        if isinstance(statement, s.Forall) and any(each.name == index for each in statement.indices):
            return path[at:]
    at = len(path)
    while at and isinstance(path[at - 1][0], s.Where):
        at -= 1
    return path[at:]


def _is_uneven(path: _Path) -> bool:
    """Whether a condition decides on iterations of which each has another number of iterations inside: then shares
    cannot be multiplied."""
    decided, outer = False, set[str]()
    for statement, _ in path:
        if isinstance(statement, s.Do):
            if decided and names_in(statement.lower, statement.upper, statement.step) & outer:
                return True
            outer.add(statement.var)
        decided = decided or _decides(statement)
    return False


def _decides(statement: s.Stmt) -> bool:
    """Whether a statement lets only some of what is inside happen."""
    return isinstance(statement, s.If | s.SelectCase | s.Where) or (
        isinstance(statement, s.Forall) and statement.mask is not None
    )


def _paths_to(body: tuple[s.Stmt, ...], kind: str, line: int, path: _Path = ()) -> Iterator[_Path]:
    """What is around each assignment in a line; of a ``test`` around that of each branch that begins there, of a
    ``set`` around the IF of that branch."""
    for each in body:
        if kind == "mask" and isinstance(each, s.Assign) and each.span.line == line:
            yield path
        if kind != "mask" and isinstance(each, s.If | s.SelectCase):
            spans = [part.span for part in (each.branches if isinstance(each, s.If) else in_turn(each))]
            found = (at for at, span in enumerate(spans) if span.line == line)
            yield from (((*path, (each, -at)) if at and kind == "test" else path) for at in found)
        inside: Sequence[Sequence[s.Stmt]] = bodies(each)
        match each:
            case s.SelectCase():
                inside = [case.body for case in in_turn(each)]
            case s.Do() | s.DoWhile():
                inside = [without_cycle(each, each.body)]
            case _:
                pass
        for number, inner in enumerate(inside):
            yield from _paths_to(tuple(inner), kind, line, (*path, (each, number)))


def _unambiguous(unit: Unit) -> frozenset[int]:
    """The lines with conditions that name just one statement of the source."""
    places: dict[int, set[tuple[str, int]]] = {}
    for each in walk_statements(unit.body):
        if isinstance(each, _Condition):
            places.setdefault(each.span.line, set()).add((each.span.file, each.span.column))
    return frozenset(line for line, found in places.items() if len(found) == 1)
