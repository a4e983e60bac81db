"""The YAML of a machine that is fitted to runs: the parameters that its runs scale, and how sure they are."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from aag.wording import plural
from esp.fit.fitting import FittedMachine
from esp.output.fit import quoted
from esp.output.numbers import listed, percent
from sag.unit import Figure, System, component_path

SOURCE = "runs"
_NORMAL = 1.6448536269514722
"""Half of a 90 % range in standard deviations of a normal quantity."""


def machine_yaml(found: FittedMachine, *, extends: str, name: str, command: str) -> str:
    """A machine file: that which the file names `extends`, with the fitted parameters. `command` is in its first line.

    The ranges are those of 90 %, as Definition 19 has them. `fit` has the covariance of the factors, relative to
    them, so that scenarios of the parameters vary together as the runs say.
    """
    programs = listed([each.replace("\\", "/").rsplit("/", 1)[-1] for each in found.programs])
    runs = f"{plural(len(found.runs), 'run')} of {programs}"
    wide, factors = found.factors.widening, found.factors
    content: dict[str, Any] = {
        "format": 1,
        "extends": extends,
        "name": name,
        "title": f"{(found.system.title or found.system.name).partition(', fitted to ')[0]}, fitted to {runs}",
        "sources": {SOURCE: f"{runs}, esp fit; standard deviation of a run {percent(factors.error)}"},
        "fit": {
            "groups": [_group(each.name) for each in found.quantities],
            "covariance": [[float(f"{wide**2 * cell:.9g}") for cell in row] for row in factors.covariance.tolist()],
            "error": float(f"{wide * factors.error:.6g}"),
        },
    }
    if found.compiled:
        decided = {"source": SOURCE, "certainty": "measured"}
        content["compiler"] = {
            name: {"value": "yes" if done else "no", **decided, "remark": "as in the predictions of the fit"}
            for name, done in found.compiled.items()
        }
    system: dict[str, Any] = {}
    parameters = found.system.parameters()
    for at, each in enumerate(found.quantities):
        spread = float(np.exp(_NORMAL * wide * np.sqrt(factors.covariance[at, at])))
        for path in each.paths:
            figure = parameters[path]
            assert isinstance(figure, Figure)
            _put(system, _place(found.system, path), _scaled(figure, each.factor, spread, _group(each.name)))
    content["system"] = system
    return "\n".join([f"# {command}", *_lines(content, "")]) + "\n"


def _lines(content: dict[str, Any], indent: str) -> Iterator[str]:
    """A mapping as YAML: figures and rows of numbers in one line each."""
    for key, value in content.items():
        if isinstance(value, dict) and "value" not in value:
            yield f"{indent}{key}:"
            yield from _lines(value, indent + "  ")
        elif isinstance(value, dict):
            cells = ", ".join(f"{name}: {quoted(str(text))}" for name, text in value.items())
            yield f"{indent}{key}: {{{cells}}}"
        elif isinstance(value, list):
            yield f"{indent}{key}:"
            for each in value:
                row = f"[{', '.join(map(repr, each))}]" if isinstance(each, list) else quoted(str(each))
                yield f"{indent}  - {row}"
        else:
            yield f"{indent}{key}: {quoted(value) if isinstance(value, str) else value}"


def _group(name: str) -> str:
    return f"fitted {name}"


def _scaled(figure: Figure, factor: float, spread: float, group: str) -> dict[str, str]:
    unit = {"time": "s", "per_byte": "s/B"}[figure.dimension]
    return {
        "value": f"{figure.value * factor:.9g} {unit}",
        "range": f"x{1.0 / spread:.6g} to x{spread:.6g}",
        "group": group,
        "source": SOURCE,
        "certainty": "measured",
    }


def _place(system: System, path: str) -> Sequence[str]:
    """The keys in a machine file that lead to a parameter."""
    for units, unit in system.root.walk():
        for component in unit.components:
            start = ".".join((*units, *component_path(unit, component)))
            prefix = f"{start}." if start else ""
            content = unit.components[component]
            figures = getattr(content, "figures", {})
            key = path.removeprefix(prefix)
            if path.startswith(prefix) and key in figures:
                keys = [word for name in units for word in ("units", name)]
                return (*keys, component, *_inside(component, unit.role, key))
    raise KeyError(path)


def _inside(component: str, role: str, key: str) -> Sequence[str]:
    """The keys within a component; those of a range of messages are below `ranges`."""
    words = key.split(".")
    if component == "network" and role == "network" and words[-1] in _OF_RANGES and len(words) == 2:
        return ("ranges", *words)
    return words


_OF_RANGES = ("startup", "call_overhead", "per_byte", "per_hop", "receive_overhead")


def _put(content: dict[str, Any], keys: Sequence[str], value: object) -> None:
    for key in keys[:-1]:
        content = content.setdefault(key, {})
    content[keys[-1]] = value
