"""The command worth typing next: the same program, machine and changes."""

import argparse
from collections.abc import Collection
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from esp.prediction import Prediction

KEPT: dict[str, str | list[str] | None] = {
    "system": "ipsc860",
    "form": None,
    "include": [],
    "define": [],
    "files": [],
    "cost": [],
    "grid": None,
    "set": [],
    "distribute": [],
    "align": [],
    "load": None,
    "bandwidth": None,
    "latency": None,
    "processor_speed": None,
    "memory_speed": None,
    "overlap": None,
    "io": "on",
    "opt": [],
    "system_set": [],
    "budget": None,
}
"""Options that the next command keeps, and what they are where they were not given."""


SCENARIO = ("load", "bandwidth", "latency", "processor_speed", "memory_speed", "overlap", "io", "opt", "system_set")
"""Those that a command without a prediction does not have."""


def command(name: str, options: argparse.Namespace, without: Collection[str] = ()) -> str:
    """``esp NAME PROG`` with what `options` has that differs from what it is without it, ``--procs`` last. `without`:
    options that this command does not have."""
    given = {option: value for option, value in vars(options).items() if option not in without}
    words = [f"esp {name}", quote(options.program)]
    for option, default in KEPT.items():
        value = given.get(option, default)
        if value != default:
            written = "--file" if option == "files" else "--" + option.replace("_", "-")
            words += [f"{written} {quote(str(each))}" for each in (value if isinstance(value, list) else [value])]
    flags = ("timed", "unroll", "trust_directives", "partial")
    words += ["--" + each.replace("_", "-") for each in flags if given.get(each)]
    words += [f"--procs {options.procs}"] if options.procs else []
    return " ".join(words)


def has_choices(prediction: "Prediction") -> bool:
    """Whether `esp compare` finds something to distribute."""
    from aag.mapping.resolve import NO_ARRAY

    return all(each.code != NO_ARRAY for each in prediction.warnings)
