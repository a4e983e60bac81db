"""YAML text to located values: the only module that knows YAML. What a key means is told elsewhere.

A `Kind` says what the file is, for its messages: a machine, or whatever else is written in YAML with units.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from sag.document import Listing, Node, Scalar, YamlTable
from sag.errors import Finding, MachineError, MachinePlace

MOST_BYTES = 300_000
"""A machine file is some ten kilobytes; what is much larger is something else."""

SUFFIXES = (".yaml", ".yml")
"""Other files are not read: findings would show their lines, whoever named them, also in the `extends` of a stranger's
machine file."""

DEEPEST = 30
"""Levels of nesting; machine files need about twelve."""

_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader is ten times faster, where built


class FileKind(Struct, frozen=True, kw_only=True):
    """What a file is: `noun` with its article left out, `letter` of its codes, how it starts, and its error."""

    noun: str
    letter: str
    start: str
    error: type[MachineError]


def read_text(path: Path, kind: FileKind) -> str:
    """The text of a file.

    Raises:
        MachineError: or what `kind` says: it cannot be read, is too large or no text.
    """
    if path.suffix.lower() not in SUFFIXES and path.is_file():
        raise _unreadable(path, f"its name does not end in {' or '.join(SUFFIXES)}", kind)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or "cannot be read", kind) from None
    if len(content) > MOST_BYTES:
        raise _unreadable(path, f"{len(content)} bytes is too much for a {kind.noun}", kind)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(path, "not text in UTF-8", kind) from None


def _unreadable(path: Path, why: str, kind: FileKind) -> MachineError:
    found = Finding(
        code=f"{kind.letter}101",
        message=f"this is not a {kind.noun}: {why}",
        place=MachinePlace(str(path)),
        hint=f"give a YAML file that begins with '{kind.start}'",
    )
    return kind.error([found])


def read_document(text: str, file: str, kind: FileKind) -> YamlTable:
    """The root mapping of the one document of the text.

    Raises:
        MachineError: or what `kind` says: it is not YAML, or not one mapping.
    """
    lines = text.splitlines()

    def place(mark: Any) -> MachinePlace:
        shown = lines[mark.line] if mark.line < len(lines) else ""
        return MachinePlace(file, mark.line + 1, mark.column + 1, shown)

    try:
        return _root(text, place, MachinePlace(file), kind)
    except _MalformedError as fault:
        found = Finding(code=f"{kind.letter}102", message=fault.message, place=fault.place, hint=fault.hint)
        raise kind.error([found]) from None


class _MalformedError(Exception):
    """A text that is no document; whoever knows the kind of file makes the final error."""

    def __init__(self, message: str, place: MachinePlace, hint: str = "") -> None:
        self.message = message
        self.place = place
        self.hint = hint
        super().__init__(message)


def _root(text: str, place: Callable[[Any], MachinePlace], start: MachinePlace, kind: FileKind) -> YamlTable:
    try:
        documents = _documents(yaml.parse(text, Loader=_LOADER), place, kind)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = place(mark) if mark else start
        problem = str(error.problem or error.context)
        raise _MalformedError(f"this is not YAML: {problem}", where, _way_out(problem, where)) from None
    except yaml.YAMLError as error:
        raise _MalformedError(f"this is not YAML: {str(error).splitlines()[0]}", start) from None
    if len(documents) > 1:
        raise _MalformedError(f"a {kind.noun} contains one document", documents[1].place, "leave '---' out")
    if not documents or not isinstance(documents[0], YamlTable):
        where = documents[0].place if documents else start
        raise _MalformedError(f"a {kind.noun} is a mapping of keys", where, f"it starts with '{kind.start}'")
    return documents[0]


def _way_out(problem: str, place: MachinePlace) -> str:
    """What to do about a line that the YAML parser refuses."""
    if "\t" in place.source_line:
        return "indent with blanks: YAML allows no tabs"
    colon = ": a key ends with a colon" if "':'" in problem else ""
    return f"check this line and the one before{colon}"


def _documents(events: Iterable[Any], place: Callable[[Any], MachinePlace], kind: FileKind) -> list[Node]:
    """Values from parser events, without recursion: on deep nesting yaml's own C composer crashes."""
    whole = _Open(MachinePlace(), is_table=False)
    stack = [whole]
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            where = place(event.start_mark)
            raise _MalformedError(f"YAML aliases (*name) are not used in {kind.noun}s", where, "write the value out")
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].items.append(Scalar(str(event.value), place(event.start_mark)))
        elif isinstance(event, yaml.CollectionStartEvent):
            stack.append(_Open(place(event.start_mark), isinstance(event, yaml.MappingStartEvent)))
            if len(stack) > DEEPEST:
                raise _MalformedError(f"this is nested too deeply for a {kind.noun}", stack[-1].place)
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = stack.pop()
            stack[-1].items.append(closed.close())
    return whole.items


class _Open:
    """A sequence or mapping whose end has not been seen yet."""

    def __init__(self, place: MachinePlace, is_table: bool) -> None:
        self.place = place
        self.is_table = is_table
        self.items: list[Node] = []

    def close(self) -> Node:
        if not self.is_table:
            return Listing(tuple(self.items), self.place)
        entries: dict[str, tuple[Scalar, Node]] = {}
        for key, value in zip(self.items[::2], self.items[1::2], strict=True):
            if not isinstance(key, Scalar):
                raise _MalformedError("a key must be one word", key.place)
            if key.text in entries:
                first = f"first in line {entries[key.text][0].place.line}"
                raise _MalformedError(f"the key '{key.text}' appears twice", key.place, first)
            entries[key.text] = (key, value)
        return YamlTable(tuple(entries.values()), self.place)
