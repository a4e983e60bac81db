"""The parameters of a machine after the user's settings, as arrays over scenarios.

A setting names a parameter by its path and gives a change (Def 11): ``cube.network.long.startup=120us``,
``cube.node.memory.replacement=lru``, ``cube.node.processor.r8.div=x0.5``.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sag.errors import Finding, MachineError, nearest
from sag.quantities import Change, QuantityError, make_change
from sag.schema import NAMED, Key, Keys, keys_of, plain_word
from sag.unit import Choice, Figure, Parameter, Simple, System, component_path

Array = NDArray[np.float64]
WhatIf: TypeAlias = Change | ArrayLike
"""What a user may give: text, a number, a sequence of either with one item a scenario, or a `Change`."""


def what_if_error(code: str, message: str, hint: str = "") -> MachineError:
    """An error that no file is to blame for."""
    return MachineError([Finding(code=code, message=message, hint=hint)])


class Part(Struct, frozen=True):
    """One simple component after all settings: arrays by key, words by key."""

    arrays: Mapping[str, Array]
    words: Mapping[str, str]
    guesses: frozenset[str]
    named: tuple[str, ...]
    """Names of its groups: message ranges, the nearest and then the smallest messages first; further caches, the
    nearest first."""
    prefix: str
    """What stands before the keys in the path of a parameter."""

    def number(self, key: str, default: float = 0.0) -> float:
        """A figure that no scenario varies."""
        return float(self.arrays[key][0]) if key in self.arrays else default

    def estimated(self, *keys: str) -> bool:
        """Whether any of these rests on a guess."""
        return any(key in self.guesses for key in keys)


class MachineValues:
    """A machine's parameters with the user's settings applied; built once for each export."""

    def __init__(self, system: System, settings: Iterable[tuple[str, WhatIf]]) -> None:
        self._system = system
        self._changes: dict[str, WhatIf] = {}
        addresses = dict(_addresses(system))
        full = {long: short for short, (long, _) in addresses.items()}
        for path, given in settings:
            name = path.strip().lower()
            short = full.get(name, name)
            if short not in addresses:
                message = f"'{path}' is not a parameter of the machine '{system.name}'"
                hint = nearest(name, addresses) or f"`esp system show {system.name}` lists the paths"
                raise what_if_error("M120", message, hint)
            self._changes[short] = given
        self._keys = {path: spec for path, (_, spec) in addresses.items()}

    def notes(self) -> tuple[str, ...]:
        """What the user should know about the settings: those that no prediction depends on."""
        idle = (path for path in self._changes if not self._keys[path].exported)
        return tuple(f"'{path}' is only described: setting it changes no prediction." for path in idle)

    def part(self, role: str, component: str) -> Part | None:
        """A simple component; None where the machine does not describe it."""
        found = self._system.find(role)
        if found is None:
            return None
        path, unit = found
        content = unit.components[component]
        if not isinstance(content, Simple):
            return None
        prefix = "".join(f"{each}." for each in (path, *component_path(unit, component)) if each)
        arrays: dict[str, Array] = {}
        words: dict[str, str] = {}
        guesses = set()
        for key, spec in keys_of(role, component, _names(role, component, content)).items():
            parameter = content.figures.get(key)
            change = self._changes.get(prefix + key)
            if parameter is None and change is None:
                continue
            given = False
            if spec.words:
                words[key], given = _word(prefix + key, spec, parameter, change)
            else:
                arrays[key], given = _array(prefix + key, spec, parameter, change)
            if not given and parameter is not None and parameter.estimated:
                guesses.add(key)
        names = sorted(
            _names(role, component, content),
            key=lambda name: [_end(arrays, name, key) for key in ("within", "upto", "cache_size")],
        )
        return Part(arrays, words, frozenset(guesses), tuple(names), prefix)


def _addresses(system: System) -> Iterable[tuple[str, tuple[str, Key]]]:
    """Path, path with the component always named, and schema of all that can be set."""
    for path, unit in system.root.walk():
        for component, content in unit.components.items():
            if isinstance(content, Simple):
                short = (*path, *component_path(unit, component))
                keys: Keys = keys_of(unit.role, component, _names(unit.role, component, content))
                for key, spec in keys.items():
                    yield ".".join((*short, key)), (".".join((*path, component, key)), spec)


def settable(system: System) -> Mapping[str, Key]:
    """Every path that a setting may name, with what it means; also those the file leaves out."""
    return {path: spec for path, (_, spec) in _addresses(system)}


def short_path(system: System, path: str) -> str:
    """The path as `System.parameters` has it, of one that may name the component also where it need not."""
    name = path.strip().lower()
    return next((short for short, (full, _) in _addresses(system) if full == name), name)


def _names(role: str, component: str, content: Simple) -> tuple[str, ...]:
    """The named groups of a component."""
    groups = NAMED.get((role, component))
    mark = "" if groups is None else f".{groups.mark}"
    return tuple(key.removesuffix(mark) for key in content.figures if mark and key.endswith(mark))


def _end(arrays: Mapping[str, Array], name: str, key: str) -> float:
    limit = arrays.get(f"{name}.{key}")
    return float("inf") if limit is None else float(limit[0])


def _word(path: str, spec: Key, parameter: Parameter | None, change: WhatIf | None) -> tuple[str, bool]:
    if change is None:
        return (parameter.value if isinstance(parameter, Choice) else ""), False
    text = plain_word(str(change).strip().lower(), spec)
    if text not in spec.words:
        message = f"'{path}' cannot be '{text}' ({spec.about})"
        raise what_if_error("M121", message, nearest(text, spec.words))
    return text, True


def _array(path: str, spec: Key, parameter: Parameter | None, given: WhatIf | None) -> tuple[Array, bool]:
    """The figure after its change, and whether the user gave it outright."""
    nominal = parameter.value if isinstance(parameter, Figure) else None
    if given is None:
        return np.array([nominal], dtype=np.float64), False
    try:
        change = make_change(given, spec.dimension, plain_is_factor=False)
    except QuantityError as error:
        raise what_if_error("M121", f"'{path}': {error.message}", error.hint) from None
    if change.is_factor and nominal is None:
        raise what_if_error("M121", f"'{path}' has no value that '{change.text}' can scale", "give a value")
    if change.scenarios > 1 and not spec.swept:
        message = f"'{path}' shapes the machine and cannot vary between scenarios"
        raise what_if_error("M122", message, "predict once for each value")
    array = change.apply(0.0 if nominal is None else nominal)
    if not (np.isfinite(array).all() and (array >= spec.least).all() and (array <= spec.most).all()):
        message = f"'{path}' cannot be {change.text} ({spec.about})"
        bounds = f"at least {spec.least:g}" + (f", at most {spec.most:g}" if (array > spec.most).any() else "")
        raise what_if_error("M121", message, f"it must be {bounds}")
    return array, not change.is_factor
