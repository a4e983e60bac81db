"""How often conditions hold that data decide: esp runs the part of the program that decides them (D8).

An interpretation that comes to such a condition goes on with an assumption, and asks at its end: ``if_LINE`` for the
branches of an IF, ``mask_LINE_INDEX`` for the mask of a nest, by the line of its first assignment and the variable of
its outermost loop. All that is asked for is then found by one run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
from aag.mapping.settable import TRIPS
from aag.pipeline import main_unit
from interpreter.setting import SHARE_PARTS

ASKED = re.compile(r"(if|mask|set|test)_(\d+)(?:_([\w$]*))?")
"""Names of what is asked for."""

PART = 10
"""By what the budget is divided: a prediction without these shares is only less exact, so that nobody waits long."""

_Condition = s.If | s.SelectCase | s.Where | s.Forall
_Path = tuple[tuple[s.Stmt, int], ...]
"""The statements around one, outermost first, each with the number of the body in which it lies; -N: what is
done behind the first N conditions of an IF."""


class Shares(Struct, frozen=True, kw_only=True):
    """How often conditions hold.

    `branches`: line of an IF -> the share of each of its branches, then of none. `masks`: asked name -> share of the
    iterations for which it holds. `unknown`: asked names for which nothing was found.
    """

    branches: Mapping[int, tuple[float, ...]] = {}
    masks: Mapping[str, float] = {}
    unknown: frozenset[str] = frozenset()
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
    """The shares that are asked for, by one run within a part of the budget."""
    unit = main_unit(program)
    values = {name: value for name, value in given if not TRIPS.fullmatch(name)}
    constants, _ = constants_of(unit, values)
    paths = {name: _conditions(unit, name) for name in names}
    own = _unambiguous(unit)
    lines = frozenset(line for path in paths.values() for line, _ in path) & own
    wanted = WantedValues(branches=lines)
    made_by = run(unit, wanted, constants, values, RunLimits(operations=operations // PART)) if lines else None
    found = {} if made_by is None else made_by.frequencies
    branches: dict[int, tuple[float, ...]] = {}
    masks: dict[str, float] = {}
    for name, path in paths.items():
        if not path:
            continue
        if name.startswith("if_"):
            branches |= {line: found[line] for line, _ in path if line in found}
            continue
        share: float | None = 1.0
        for line, at in path:  # what is inside a branch that is never taken is not reached
            if share:
                weights = found.get(line)
                share = None if weights is None else share * _weight(weights, at)
        if share is not None:
            masks[name] = round(share * SHARE_PARTS) / SHARE_PARTS
    made = Shares(branches=branches, masks=masks)
    spent = made_by is not None and any(BUDGET_USED in why for why in made_by.missing.values())
    return structs.replace(made, unknown=names - made.known, spent=spent)


def _weight(weights: tuple[float, ...], at: int) -> float:
    """The share of a branch; where it is negative, that of all executions in which none of the first ones is taken."""
    if at < 0:
        return max(0.0, 1.0 - sum(weights[:-at]))
    return weights[at] if at < len(weights) else 0.0


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
