"""What if: predict one change at a time, with the lines whose time changes.

The program is lowered once for all changes of the machine; values of one what-if are walked together (D4). Each change
starts from the same frozen base, so nothing leaks from one to the next.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.units import Form
from aag.spmd.program import OPTIMISATIONS
from esp import arguments
from esp.api import (
    Prediction,
    Request,
    Source,
    compiled,
    interpret_stages,
    load_machine,
    lower_source,
    read_source,
    requested,
    switched,
)
from esp.calling import in_python
from esp.errors import UsageError
from esp.explore.plan import DIMENSIONS, PARAMETERS, machine_scenario
from esp.prediction import first, of_scenario
from esp.shown import Printed
from esp.sources import Name
from sag.unit import System

Progress = Callable[[int, int, float], None]
"""Called with predictions made, predictions in all, and the shortest time so far."""

MOVED = 1e-3
"""A line has moved if its time differs by more than this share of the whole."""


class ParameterChange(Struct, frozen=True, kw_only=True):
    """One change. `kind`: a name of `DIMENSIONS` or `PARAMETERS`, ``opt``, ``system_set``."""

    kind: str
    key: str = ""
    """The optimisation or the path of a parameter."""
    value: Any

    @property
    def label(self) -> str:
        """The text shown for it: ``bandwidth x2``, ``hoist off``."""
        name = self.key or self.kind.replace("_", " ")
        value = ("on" if self.value else "off") if isinstance(self.value, bool) else self.value
        return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"


class LineMove(Struct, frozen=True, kw_only=True):
    """The time of a line before and after a change, in seconds."""

    file: str
    line: int
    before_s: float
    after_s: float

    @property
    def by_s(self) -> float:
        """How much longer it takes."""
        return self.after_s - self.before_s


class WhatIfOutcome(Struct, frozen=True, kw_only=True):
    """The effect of a change. `scenario`: its position in the prediction, which may hold several."""

    label: str
    prediction: Prediction
    scenario: int
    time_s: float
    moved: tuple[LineMove, ...]
    """The lines that it moves, the furthest first."""


class WhatIf(Printed, Struct, frozen=True, kw_only=True):
    """The result of `whatif`."""

    base: Prediction
    outcomes: tuple[WhatIfOutcome, ...]

    @property
    def hardly_s(self) -> float:
        """Seconds from which a line has moved."""
        return MOVED * first(self.base.time_s)

    def unmoved(self) -> tuple[tuple[str, int], ...]:
        """Lines that take time and that no change has moved by more than `hardly_s`: file and number."""
        moved = {(each.file, each.line) for outcome in self.outcomes for each in outcome.moved}
        lines = ((each.file, each.line) for each in self.base.lines if first(each.time_s) > 0)
        return tuple(each for each in lines if each not in moved)


EACH = ParameterChange(kind="opt", value=False)
"""Stands for a change of every optimisation, each in turn."""


@in_python
def whatif(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | None = None,
    *,
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    together: bool = False,
    **options: Any,
) -> WhatIf:
    """Predict a program unchanged, and with one change at a time.

    Args:
        source: as for `esp.predict`.
        system: as for `esp.predict`.
        procs: as for `esp.predict`.
        form: as for `esp.predict`.
        together: also all changes at once; each change then takes one value.
        **options: the changes, each one value or a list of them: `load`, `bandwidth`, `latency`, `processor_speed`,
            `memory_speed`, `overlap`, `cache`, `memory` (sizes), `contention` (False), `io` (False), `opt` (name ->
            False, or ``"each"``: every optimisation that is on, off in turn), `system_set` (path -> change). All other
            options of `esp.predict` apply to all predictions.

    Examples:
        >>> import esp
        >>> found = esp.whatif("laplace.hpf", procs=8, n=64, bandwidth="x2", load=["20%", "50%"])
        >>> [each.label for each in found.outcomes]
        ['bandwidth x2', 'load 20%', 'load 50%']

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        UsageError: there is no change.
        esp.SourceError: the program or its values prevent a prediction.
        esp.MachineError: the machine or a change prevents it.
    """
    changes, base = split_changes(options)
    request = requested(arguments.processors(procs), **base)
    return what_if(read_source(source, form=form, cost=cost), load_machine(system), request, changes, together=together)


def split_changes(options: Mapping[str, Any]) -> tuple[list[ParameterChange], dict[str, Any]]:
    """Changes, and the options that hold for the base."""
    changes: list[ParameterChange] = []
    base: dict[str, Any] = {}
    for name, given in options.items():
        if name == "opt":
            if given == "each":
                changes.append(EACH)
                continue
            for key, value in given.items():
                changes += [
                    ParameterChange(kind=name, key=key, value=arguments.switch(key, each)) for each in _listed(value)
                ]
        elif name == "system_set":
            pairs = ((key, each) for key, value in given.items() for each in _listed(value))
            changes += [ParameterChange(kind=name, key=key, value=each) for key, each in pairs]
        elif name in ("contention", "io"):
            changes += [ParameterChange(kind=name, value=arguments.switch(name, each)) for each in _listed(given)]
        elif name in DIMENSIONS or name in PARAMETERS:
            changes += [ParameterChange(kind=name, value=each) for each in _listed(given)]
        else:
            base[name] = given
    return changes, base


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        return [given]
    return [each.item() if hasattr(each, "item") else each for each in given]


def what_if(
    source: Source,
    system: System,
    request: Request,
    changes: Sequence[ParameterChange],
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> WhatIf:
    """As `whatif`, for a program that is read and a machine that is loaded."""
    if not changes:
        hint = "For example bandwidth x2, load 50% or hoist=off."
        raise UsageError("there is nothing to change.", hint=hint)
    changes = _in_turn(changes, system, request, together=together)
    if together:
        _refuse_lists(changes)
    unchanged = lower_source(source, system, request)
    stages = {(request.on, request.off): unchanged}
    base = interpret_stages(unchanged, system, request)
    outcomes: dict[int, WhatIfOutcome] = {}
    total = 1 + len(changes) + (together and len(changes) > 1)

    def done(more: Mapping[int, WhatIfOutcome]) -> None:
        outcomes.update(more)
        if progress is not None:
            progress(1 + len(outcomes), total, min(each.time_s for each in outcomes.values()))

    for kind in dict.fromkeys(each.kind for each in changes if each.kind in DIMENSIONS):
        which = [at for at, each in enumerate(changes) if each.kind == kind]
        values = [changes[at].value for at in which]
        scenario = machine_scenario(request.scenario, system, {kind: values})
        made = interpret_stages(unchanged, system, replace(request, scenario=scenario))
        done({at: _outcome(changes[at].label, base, made, index) for index, at in enumerate(which)})
    groups = [[at] for at, each in enumerate(changes) if each.kind not in DIMENSIONS]
    groups += [list(range(len(changes)))] if together and len(changes) > 1 else []
    for group in groups:
        changed = _changed(request, system, [changes[at] for at in group])
        options = changed.on, changed.off
        if options not in stages:
            stages[options] = lower_source(source, system, changed)
        made = interpret_stages(stages[options], system, changed)
        if len(group) > 1:
            done({len(changes): _outcome("all together", base, made, 0)})
        else:
            done({group[0]: _outcome(changes[group[0]].label, base, made, 0)})
    return WhatIf(base=base, outcomes=tuple(outcomes[at] for at in sorted(outcomes)))


def _in_turn(
    changes: Sequence[ParameterChange], system: System, request: Request, *, together: bool
) -> list[ParameterChange]:
    """The changes, with those of the optimisations in place of `EACH`: off where it is on. One that no source decides
    is tried both ways, but not where all changes are made together."""
    if EACH not in changes:
        return list(changes)
    options = compiled(system, request)
    found: list[ParameterChange] = []
    for name in OPTIMISATIONS:
        said = system.compiler.get(name)
        undecided = said is not None and said.text == "undecided" and name not in request.on | request.off
        states = (False, True) if undecided and not together else (False,) if options.on(name) else ()
        found += [ParameterChange(kind="opt", key=name, value=state) for state in states]
    at = changes.index(EACH)
    made = [*changes[:at], *found, *(each for each in changes[at:] if each is not EACH)]
    if not made:
        raise UsageError("every optimisation is off already.", where="--opt each", hint="For example --opt hoist=on.")
    return made


def _refuse_lists(changes: Sequence[ParameterChange]) -> None:
    """Refuse several values of one change where all are made together, by the name of its option."""
    given: dict[tuple[str, str], list[str]] = {}
    for each in changes:
        given.setdefault((each.kind, each.key), []).append(each.label.rsplit(" ", 1)[-1])
    for (kind, key), values in given.items():
        if len(values) > 1:
            option = f"--{kind.replace('_', '-')}" + f" {key}" * bool(key)
            told = f"{option} has {len(values)} values ({', '.join(values)}), but --together takes one value of each."
            raise UsageError(told, where="--together", hint=f"Give {option} one value, or leave out --together.")


def _changed(request: Request, system: System, changes: Sequence[ParameterChange]) -> Request:
    opt = {}
    given = {}
    for each in changes:
        if each.kind == "opt":
            opt[each.key] = each.value
        else:
            given[each.key or each.kind] = each.value
    changed = replace(request, scenario=machine_scenario(request.scenario, system, given))
    return switched(changed, opt)


def _outcome(label: str, base: Prediction, made: Prediction, scenario: int) -> WhatIfOutcome:
    before = {(each.file, each.line): first(each.time_s) for each in base.lines}
    after = {(each.file, each.line): of_scenario(each.time_s, scenario) for each in made.lines}
    least_s = MOVED * first(base.time_s)
    moves = [
        LineMove(file=place[0], line=place[1], before_s=before.get(place, 0.0), after_s=after.get(place, 0.0))
        for place in dict.fromkeys((*before, *after))
    ]
    moved = sorted((each for each in moves if abs(each.by_s) > least_s), key=lambda each: (-abs(each.by_s), each.line))
    return WhatIfOutcome(
        label=label, prediction=made, scenario=scenario, time_s=of_scenario(made.time_s, scenario), moved=tuple(moved)
    )
