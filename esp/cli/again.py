"""The command worth typing next: the same program, machine and changes."""

import argparse
from shlex import quote

KEPT: dict[str, str | list[str] | None] = {
    "system": "ipsc860",
    "form": None,
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
}
"""Options that the next command keeps, and what they are where they were not given."""


def command(name: str, options: argparse.Namespace) -> str:
    """``esp NAME PROG`` with what `options` has that differs from what it is without it, ``--procs`` last."""
    given = vars(options)
    words = [f"esp {name}", quote(options.program)]
    for option, default in KEPT.items():
        value = given.get(option, default)
        if value != default:
            written = "--" + option.replace("_", "-")
            words += [f"{written} {quote(str(each))}" for each in (value if isinstance(value, list) else [value])]
    flags = ("timed", "unroll", "trust_directives", "partial")
    words += ["--" + each.replace("_", "-") for each in flags if given.get(each)]
    words += [f"--procs {options.procs}"] if options.procs else []
    return " ".join(words)
