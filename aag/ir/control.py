"""The control list of an I/O statement: its unit and format, what it sets, and where it may jump."""

import re
from collections.abc import Iterator

from msgspec import Struct

from aag.ir.scan import scanned
from aag.ir.statements import Io

_NAME = re.compile(r"[a-z]\w*", re.IGNORECASE)
_KEYED = re.compile(r"\s*([a-z]\w*)\s*=(?!=)\s*(.*)", re.IGNORECASE | re.DOTALL)
_SETS = frozenset(("iostat", "iomsg", "size", "newunit", "iolength"))
_JUMPS = frozenset(("err", "end", "eor"))
_GIVEN_TO_INQUIRE = frozenset(("unit", "file", "id", *_JUMPS))
"""Specifiers of INQUIRE that it reads; it sets all others."""


class Control(Struct, frozen=True, kw_only=True):
    """What a control list says. Texts are as written."""

    unit: str = ""
    format: str = ""
    namelist: str = ""
    file: str = ""
    sets: tuple[str, ...] = ()
    """Variables that the statement sets besides its items."""
    jumps: tuple[str, ...] = ()
    """ERR=, END= and EOR=, which name labels."""
    names: frozenset[str] = frozenset()
    """Names of variables that it may read."""

    @property
    def is_standard(self) -> bool:
        """Whether the unit is the standard input, of a READ."""
        return self.unit in ("*", "5", "")

    @property
    def source(self) -> str:
        """From where a READ reads, in words."""
        return "input" if self.is_standard else f"unit {self.unit}"


def control_of(statement: Io) -> Control:
    """The parts of a control list; of PRINT it is the format alone."""
    if statement.kind == "print":
        return Control(unit="*", format=statement.control, names=_names(statement.control))
    found: dict[str, str] = {}
    read: list[str] = []
    for number, part in enumerate(_parts(statement.control)):
        keyed = _KEYED.match(part)
        key = keyed[1].lower() if keyed else ("unit", "fmt")[number] if number < 2 else ""
        found[key] = text = (keyed[2] if keyed else part).strip()
        if not _is_set(statement, key) and key not in _JUMPS:
            read.append(text)
    return Control(
        unit=found.get("unit", ""),
        format=found.get("fmt", ""),
        namelist=found.get("nml", ""),
        file=found.get("file", ""),
        sets=tuple(text.lower() for key, text in found.items() if _is_set(statement, key)),
        jumps=tuple(key.upper() + "=" for key in found if key in _JUMPS),
        names=_names(", ".join(read)),
    )


def _is_set(statement: Io, key: str) -> bool:
    return key in _SETS or (statement.kind == "inquire" and key not in _GIVEN_TO_INQUIRE)


def _names(text: str) -> frozenset[str]:
    """What may be the name of a variable, text in quotes passed over."""
    return frozenset(each.lower() for each in _NAME.findall(re.sub(r"'[^']*'|\"[^\"]*\"", " ", text)))


def _parts(text: str) -> Iterator[str]:
    """Parts between commas that stand outside of parentheses and quotes."""
    first = 0
    for at, char, depth, quote in scanned(text):
        if char == "," and not depth and not quote:
            yield text[first:at]
            first = at + 1
    if text[first:].strip():
        yield text[first:]
