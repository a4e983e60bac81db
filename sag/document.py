"""A YAML file as located values: every word knows its line and column. No meaning is attached here."""

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from sag.errors import Finding, MachineError, MachinePlace


class Scalar(Struct, frozen=True):
    """One word or number, as text."""

    text: str
    place: MachinePlace


class Listing(Struct, frozen=True):
    """A sequence."""

    items: tuple["Node", ...]
    place: MachinePlace


class YamlTable(Struct, frozen=True):
    """A mapping; keys are scalars and unique."""

    entries: tuple[tuple[Scalar, "Node"], ...]
    place: MachinePlace

    def get(self, name: str) -> "Node | None":
        """The value of a key."""
        return next((value for key, value in self.entries if key.text == name), None)

    def __iter__(self) -> Iterator[tuple[Scalar, "Node"]]:
        return iter(self.entries)


Node: TypeAlias = Scalar | Listing | YamlTable


MOST_FINDINGS = 20
"""Where there are as many mistakes, the first ones are worth more than all of them."""


class Findings:
    """What is wrong with a file, collected so that one run reports all of it."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def add(self, code: str, message: str, place: MachinePlace, hint: str = "") -> None:
        """Note one fault; the same fault at the same place is noted once.

        Raises:
            MachineError: there are `MOST_FINDINGS` already.
        """
        finding = Finding(code=code, message=message, place=place, hint=hint)
        if finding not in self._found:
            self._found.append(finding)
        if len(self._found) >= MOST_FINDINGS:
            raise MachineError(self._found)

    def raise_any(self) -> None:
        """End here if anything was noted.

        Raises:
            MachineError: with all that was noted, in the order of the file.
        """
        if self._found:
            raise MachineError(self._found)
