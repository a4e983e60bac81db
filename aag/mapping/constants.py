"""Values of named constants, after what the user set."""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.ir.evaluate import Unknown, Value, evaluate, excess, limited
from aag.ir.expressions import Expr
from aag.ir.nearest import did_you_mean
from aag.ir.units import Entity, Type, Unit
from aag.ir.visitors import names_in
from aag.mapping.constant_arrays import Arrays, constant_arrays, of_elements
from aag.mapping.settable import HOLDS, TRIPS, Settable

NOTHING: Mapping[str, Value] = MappingProxyType({})
WITHOUT_VALUE = "E319"
"""The code of a PARAMETER that has no value."""

_OPERATORS = frozenset(("+", "-", "*", "/", "**"))


def constants_of(
    unit: Unit, values: Mapping[str, Value], known: Mapping[str, Value] = NOTHING, *, settable: Settable | None = None
) -> tuple[Mapping[str, Value], tuple[Diagnostic, ...]]:
    """The PARAMETERs of a unit, after `values` (the user's), and what is wrong with these.

    `known` holds constants from elsewhere: modules, the host, the number of processors. A PARAMETER that can
    not be evaluated (an array, or one that depends on such) is left out; who needs it reports it.
    Which names a value can be given, `settable` says; without it all can.
    """
    given = {name.lower(): value for name, value in values.items()}
    diagnostics = [] if settable is None else [each for name in values for each in _unsettable(name, settable, unit)]
    parameters = [entity for entity in unit.entities if "parameter" in entity.attributes and entity.shape is None]
    local = {entity.name for entity in parameters}
    env = {name: value for name, value in given.items() if name not in local}
    env |= {name: value for name, value in known.items() if name not in local}
    constants: dict[str, Value] = {}
    for entity in parameters:
        if entity.name in given:
            try:
                constants[entity.name] = _converted(given[entity.name], entity.type)
            except ValueError as error:
                diagnostics.append(_unfit(entity, given[entity.name], str(error)))
    variables = [each for each in unit.entities if each.name in given and each.shape is None and each.name not in local]
    diagnostics += [
        _unfit(each, given[each.name], why) for each in variables if (why := _misfit(each, given[each.name]))
    ]
    shares = {name: value for name, value in given.items() if HOLDS.fullmatch(name)}
    diagnostics += [_no_share(name, value) for name, value in shares.items() if not _is_share(value)]
    diagnostics += [_excessive(name, why) for name in given if (why := excess(constants.get(name, env.get(name, 0))))]
    arrays = constant_arrays(unit)
    waiting = [each for each in parameters if each.name not in constants]
    _evaluate_all([replace(each, initial=_scalar(each.initial, arrays)) for each in waiting], constants, env)
    left = [each for each in parameters if each.name not in constants and each.name not in given]
    diagnostics += [each for entity in left for each in _undefined(entity, {**env, **constants})]
    return MappingProxyType(constants), tuple(diagnostics)


def _scalar(initial: Expr | None, arrays: Arrays) -> Expr | None:
    return None if initial is None else of_elements(initial, arrays)


def _unsettable(name: str, settable: Settable, unit: Unit) -> Iterator[Diagnostic]:
    """A finding where the value of a name would have no effect."""
    why = settable.why.get(name.lower())
    if why == "":
        return
    near, names = "", settable.offered
    if test := HOLDS.fullmatch(name.lower()):
        why = f"line {test[1]} has no condition"
    elif loop := TRIPS.fullmatch(name.lower()):
        why = f"line {loop[1]} has no loop whose trip count can be set"
    elif why is None:
        why = f"{unit.kind} {unit.name} has no such name"
        near = did_you_mean(name.lower(), tuple(each for each, refused in settable.why.items() if not refused))
    hint = f"can be set: {', '.join(names[:12])}" + ", ..." * (len(names) > 12) if names else "nothing can be set"
    yield Diagnostic(code="E301", message=f"‹set {name}›: {why}", hint=near or hint)


def _undefined(entity: Entity, env: Mapping[str, Value]) -> tuple[Diagnostic, ...]:
    """A finding where a PARAMETER has no expression, or its expression no value at all, such as 1/0."""
    if entity.initial is None:
        return (
            Diagnostic(
                code=WITHOUT_VALUE,
                message=f"the PARAMETER {entity.shown} has no value",
                span=entity.span,
                hint="write its value in the declaration",
            ),
        )
    try:
        evaluate(entity.initial, env)
    except Unknown as unknown:
        if unknown.why and unknown.name in _OPERATORS:
            return (
                Diagnostic(
                    code=WITHOUT_VALUE,
                    message=f"the PARAMETER {entity.shown} has no value: {unknown.why}",
                    span=entity.span,
                    hint=f"correct its expression, or give it with ‹set {entity.shown}=VALUE›",
                ),
            )
    return ()


def _evaluate_all(waiting: list[Entity], constants: dict[str, Value], env: dict[str, Value]) -> None:
    """Evaluates until nothing changes: PARAMETER statements need not follow the order of declarations."""
    progress = True
    while waiting and progress:
        still = [entity for entity in waiting if not _evaluated(entity, constants, env)]
        progress = len(still) < len(waiting)
        waiting = still


def _evaluated(entity: Entity, constants: dict[str, Value], env: dict[str, Value]) -> bool:
    if entity.initial is None:
        return False
    try:
        value = _converted(evaluate(entity.initial, ChainMap[str, Any](constants, env)), entity.type, truncate=True)
        constants[entity.name] = limited(value, entity.name)
    except (Unknown, ValueError, OverflowError):
        return False
    return True


def initial_values(unit: Unit, constants: Mapping[str, Value]) -> dict[str, Value]:
    """What scalar variables hold when the program starts, as their declarations and DATA say."""
    found: dict[str, Value] = {}
    joined = names_in(*(member for each in unit.equivalences for member in each.members))
    for entity in unit.entities:
        if entity.initial is None or entity.shape is not None or "parameter" in entity.attributes:
            continue
        if entity.name in joined:  # another name may change it
            continue
        try:
            value = _converted(evaluate(entity.initial, constants), entity.type, truncate=True)
            found[entity.name] = limited(value, entity.name)
        except (Unknown, ValueError, OverflowError):
            continue
    return found


def typed(value: Value, entity: Entity | None) -> Value:
    """A given value as the variable holds it; what does not fit its type is left as it is."""
    if entity is None or entity.shape is not None:
        return value
    try:
        return _converted(value, entity.type)
    except (ValueError, OverflowError):
        return value


def _misfit(entity: Entity, value: Value) -> str:
    """Why a variable cannot have a value; empty where it can."""
    try:
        _converted(value, entity.type)
    except ValueError as error:
        return str(error)
    except OverflowError:  # `excess` says so
        return ""
    return ""


def _converted(value: Value, to: Type, *, truncate: bool = False) -> Value:
    """The value as assignment to a variable of this type would leave it.

    Raises:
        ValueError: it cannot be assigned (a fraction to an integer only if `truncate`).
        OverflowError: it is infinite.
    """
    match to.base, value:
        case "logical", bool():
            return value
        case "character", str():
            return value
        case "integer", int() if not isinstance(value, bool):
            return value
        case "integer", float() if value.is_integer() or truncate:
            return int(value)
        case "real", int() | float() if not isinstance(value, bool):
            return float(value)
        case "complex", int() | float() | complex() if not isinstance(value, bool):
            return complex(value)
        case "derived", _:
            return value
    raise ValueError(f"it is {to.base}")


def _is_share(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _no_share(name: str, value: Value) -> Diagnostic:
    message = f"‹set {name}={value}›: this is not a share"
    return Diagnostic(code="E316", message=message, hint="give a number from 0 to 1, such as 0.95")


def _excessive(name: str, why: str) -> Diagnostic:
    return Diagnostic(
        code="E316",
        message=f"‹set {name}›: no variable can have this value, {why}",
        hint="integers have 64 bits; reals must be finite",
    )


def _unfit(entity: Entity, value: Value, why: str) -> Diagnostic:
    return Diagnostic(
        code="E316",
        message=f"‹set {entity.name}={value}›: {entity.shown} cannot have this value, {why}",
        span=entity.span,
        hint=f"give {entity.shown} a value of its type",
    )
