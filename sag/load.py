"""Machine files (YAML) to Systems. The only module that knows YAML."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from sag.build import build_system
from sag.document import Findings, Listing, Node, Scalar, Table
from sag.errors import Finding, MachineError, Place, nearest
from sag.outline import Outline, merge, outline_of
from sag.schema import FORMAT
from sag.unit import System

MOST_BYTES = 300_000
"""A machine file is some ten kilobytes; what is much larger is something else."""

DEEPEST = 30
"""Levels of nesting; machine files need about twelve."""

_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader is ten times faster, where built


def load_system(source: str | Path, *, folder: Path | None = None) -> System:
    """Read a machine description.

    Args:
        source: a path, or the YAML text itself (a string with a line break).
        folder: where a machine named by ``extends`` is looked for if it is not beside the file.

    Raises:
        MachineError: the file cannot be read, or what it says is not a machine; all faults with their places.
    """
    if isinstance(source, str) and "\n" in source:
        return build_system(_outline(source, "<text>", _folders(Path(), folder), ()))
    path = Path(source)
    return build_system(_outline(_read(path), str(path), _folders(path.parent, folder), (path.resolve(),)))


def _folders(beside: Path, library: Path | None) -> tuple[Path, ...]:
    return (beside,) if library is None else (beside, library)


def _outline(text: str, file: str, folders: tuple[Path, ...], seen: tuple[Path, ...]) -> Outline:
    """The outline of a text, laid over that of the machine it extends."""
    lines = text.splitlines()
    findings = Findings()
    own = outline_of(_document(text, file, lines), findings)
    findings.raise_any()
    if own.extends is None:
        return own
    path = _base(own.extends, folders)
    if path.resolve() in seen:
        fault = f"'{own.extends.text}' extends itself"
        raise MachineError([Finding(code="M109", message=fault, place=own.extends.place)])
    base = _outline(_read(path), str(path), (path.parent, *folders[1:]), (*seen, path.resolve()))
    return merge(base, own)


def _base(extends: Scalar, folders: tuple[Path, ...]) -> Path:
    names = (extends.text, extends.text + ".yaml", extends.text + ".yml") if extends.text else ()
    for path in (folder / name for folder in folders for name in names):
        if path.is_file():
            return path
    known = sorted(path.stem for folder in folders for path in folder.glob("*.y*ml"))
    message = f"there is no machine '{extends.text}' to extend"
    hint = nearest(extends.text, known)
    raise MachineError([Finding(code="M109", message=message, place=extends.place, hint=hint)])


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or "cannot be read") from None
    if len(content) > MOST_BYTES:
        raise _unreadable(path, f"{len(content)} bytes is too much for a machine description")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(path, "not text in UTF-8") from None


def _unreadable(path: Path, why: str) -> MachineError:
    return MachineError(
        [Finding(code="M101", message=f"this is no machine file: {why}", place=Place(str(path)))]
    )


def _document(text: str, file: str, lines: list[str]) -> Table:
    """The root mapping of the one document of the text."""

    def place(mark: Any) -> Place:
        shown = lines[mark.line] if mark.line < len(lines) else ""
        return Place(file, mark.line + 1, mark.column + 1, shown)

    try:
        documents = _documents(yaml.parse(text, Loader=_LOADER), place)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = place(mark) if mark else Place(file)
        raise _malformed(f"this is not YAML: {error.problem or error.context}", where) from None
    except yaml.YAMLError as error:
        raise _malformed(f"this is not YAML: {str(error).splitlines()[0]}", Place(file)) from None
    if len(documents) > 1:
        raise _malformed("a machine file holds one document", documents[1].place, "leave '---' out")
    if not documents or not isinstance(documents[0], Table):
        where = documents[0].place if documents else Place(file)
        raise _malformed("a machine file is a mapping of keys", where, f"it starts with 'format: {FORMAT}'")
    return documents[0]


def _malformed(message: str, where: Place, hint: str = "") -> MachineError:
    return MachineError([Finding(code="M102", message=message, place=where, hint=hint)])


def _documents(events: Iterable[Any], place: Callable[[Any], Place]) -> list[Node]:
    """Values from parser events, without recursion: on deep nesting yaml's own C composer crashes."""
    whole = _Open(Place(), is_table=False)
    stack = [whole]
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            where = place(event.start_mark)
            raise _malformed(
                "YAML aliases (*name) are not used in machine files", where, "write the value out"
            )
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].items.append(Scalar(str(event.value), place(event.start_mark)))
        elif isinstance(event, yaml.CollectionStartEvent):
            stack.append(_Open(place(event.start_mark), isinstance(event, yaml.MappingStartEvent)))
            if len(stack) > DEEPEST:
                raise _malformed("this is nested too deeply for a machine file", stack[-1].place)
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = stack.pop()
            stack[-1].items.append(closed.close())
    return whole.items


class _Open:
    """A sequence or mapping whose end has not been seen yet."""

    def __init__(self, place: Place, is_table: bool) -> None:
        self.place = place
        self.is_table = is_table
        self.items: list[Node] = []

    def close(self) -> Node:
        if not self.is_table:
            return Listing(tuple(self.items), self.place)
        entries: dict[str, tuple[Scalar, Node]] = {}
        for key, value in zip(self.items[::2], self.items[1::2], strict=True):
            if not isinstance(key, Scalar):
                raise _malformed("a key must be one word", key.place)
            if key.text in entries:
                first = f"first in line {entries[key.text][0].place.line}"
                raise _malformed(f"the key '{key.text}' stands here twice", key.place, first)
            entries[key.text] = (key, value)
        return Table(tuple(entries.values()), self.place)
