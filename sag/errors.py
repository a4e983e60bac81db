"""What is wrong with a machine description or a what-if, and where.

A `Finding` is one fact with its place; `MachineError` carries one or more of them out of this room. Rendering
(file, line, caret, hint) is done above; the attributes of `MachineError` itself are those of the first
finding.
"""

import difflib
from collections.abc import Iterable

from msgspec import Struct


class MachinePlace(Struct, frozen=True):
    """A place in a machine file. Lines and columns count from 1; line 0 means that no file is concerned."""

    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


NOWHERE = MachinePlace()
"""The place of what no file says, for example a what-if."""


class Finding(Struct, frozen=True, kw_only=True):
    """One finding: `code` is ``M1xx`` for an error, ``M2xx`` a doubt, ``M3xx`` a note (`sag.check`).

    Message and hint name what a user can give as ``‹load›``; who shows them spells it.
    """

    code: str
    message: str
    place: MachinePlace = NOWHERE
    hint: str = ""

    @property
    def is_error(self) -> bool:
        """Whether the finding prevents a prediction."""
        return self.code.startswith("M1")

    @property
    def file(self) -> str:
        """Name of the machine file."""
        return self.place.file

    @property
    def line(self) -> int:
        """Line in the file, from 1; 0 where none is concerned."""
        return self.place.line

    @property
    def column(self) -> int:
        """Column of the caret, from 1."""
        return self.place.column

    @property
    def source_line(self) -> str:
        """The text of the line."""
        return self.place.source_line

    def __str__(self) -> str:
        place = f"{self.place}: " if str(self.place) else ""
        return f"{place}{self.code} {self.message}" + (f" ({self.hint})" if self.hint else "")


class MachineError(Exception):
    """The machine description or a what-if prevents a prediction (exit code 1, Def 20)."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(findings, key=lambda each: (each.file, each.line, each.column)))
        first = self.findings[0]
        self.code = first.code
        self.message = first.message
        self.file = first.file
        self.line = first.line
        self.column = first.column
        self.source_line = first.source_line
        self.hint = first.hint
        super().__init__("\n".join(str(each) for each in self.findings))


def nearest(word: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?``, or the list of what is known where nothing is near and the list is short."""
    names = list(known)
    folded = [name for name in names if name.lower() == word.lower()]
    near = folded or difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known here: {', '.join(names)}" if 0 < len(names) <= 12 else ""
