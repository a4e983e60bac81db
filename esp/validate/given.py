"""What a program reads: its standard input, and the files that it opens by name. All runs get the same."""

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from aag.ir.control import control_of
from aag.ir.statements import Io
from aag.ir.units import Program
from aag.ir.visitors import walk_statements
from aag.pipeline import main_unit
from esp.errors import UsageError

_TERMINAL = ("*", "5")
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")


class GivenInput(Struct, frozen=True):
    """`text`: the standard input; `files`: by the name under which the program opens them."""

    text: str = ""
    files: Mapping[str, Path] = {}

    def put(self, folder: Path) -> None:
        """Copy the files to the folder where a program runs; what an earlier run made of them is replaced."""
        for name, path in self.files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


NOTHING = GivenInput()


def given_to(program: Program, text: str | None = None) -> GivenInput:
    """What a program finds: our own standard input, if it reads its own, and files of the working directory or beside
    the source.

    Args:
        program: The program.
        text: Its standard input; None: ours.

    Raises:
        UsageError: it reads standard input, and ours is a terminal.
    """
    statements = [each for each in walk_statements(main_unit(program).body) if isinstance(each, Io)]
    if text is None and any(each.kind == "read" and control_of(each).unit in _TERMINAL for each in statements):
        if sys.stdin.isatty():
            hint = "Give it some: esp validate PROG --input FILE."
            raise UsageError("the program reads standard input, and there is none.", hint=hint)
        text = sys.stdin.read()
    places = (Path(), Path(program.file).parent)
    found: dict[str, Path] = {}
    for name in _names(statements):
        path = next((place / name for place in places if (place / name).is_file()), None)
        if path is not None and not Path(name).is_absolute() and ".." not in Path(name).parts:
            found[name] = path.resolve()
    return GivenInput(text or "", found)


def _names(statements: list[Io]) -> Iterator[str]:
    """Names of files, also those of units that nobody opens."""
    for each in statements:
        control = control_of(each)
        quoted = _QUOTED.fullmatch(control.file)
        if quoted:
            yield (quoted[1] or quoted[2]).strip()
        elif control.unit.isdigit() and control.unit not in ("5", "6"):
            yield f"fort.{control.unit}"
