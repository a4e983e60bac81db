"""What a command reads is never what it writes."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from esp.errors import UsageError
from esp.locate import PROGRAM_SUFFIXES

WRITTEN = {"output": "-o", "trace": "--trace", "plot": "--plot"}
"""Options that name a file that is written, as argparse and as users call them."""


def refuse_inputs_as_outputs(options: argparse.Namespace) -> None:
    """Find out before all work whether a file would be replaced that the command reads.

    Raises:
        UsageError: so it is.
    """
    written = {name: value for name in WRITTEN if isinstance(value := getattr(options, name, None), str)}
    for name, target in written.items():
        if not Path(target).is_file():
            continue
        for read in _read(options):
            if Path(read).is_file() and Path(read).samefile(target):
                raise UsageError(
                    f"{target} is the input of this command.", where=WRITTEN[name], hint="Name another file."
                )


def _read(options: argparse.Namespace) -> Iterator[str]:
    """Every text that may name a file that is read: `laplace`, `laplace.hpf:12` and `laplace.hpf --procs 4` do, too."""
    for name, value in vars(options).items():
        if name in WRITTEN:
            continue
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, str):
                first = re.sub(r":\d+(-\d+)?$", "", each.partition(" -")[0])
                yield from (each, first, *(first + suffix for suffix in PROGRAM_SUFFIXES))
