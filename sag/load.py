"""Machine files (YAML) to Systems."""

from pathlib import Path

from sag.build import build_system
from sag.document import Findings, Scalar
from sag.errors import Finding, MachineError, nearest
from sag.outline import MachineOutline, merge, outline_of
from sag.reading import FileKind, read_document, read_text
from sag.schema import FORMAT
from sag.unit import System

DEEPEST = 16
"""Machine files that may lie below one by `extends`."""

MACHINE = FileKind(noun="machine file", letter="M", start=f"format: {FORMAT}", error=MachineError)


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
    return build_system(_outline(read_text(path, MACHINE), str(path), _folders(path.parent, folder), (path.resolve(),)))


def _folders(beside: Path, library: Path | None) -> tuple[Path, ...]:
    return (beside,) if library is None else (beside, library)


def _outline(text: str, file: str, folders: tuple[Path, ...], seen: tuple[Path, ...]) -> MachineOutline:
    """The outline of a text, laid over that of the machine it extends."""
    findings = Findings()
    own = outline_of(read_document(text, file, MACHINE), findings)
    findings.raise_any()
    if own.extends is None:
        return own
    path = _base(own.extends, folders)
    if path.resolve() in seen:
        fault = f"'{own.extends.text}' extends itself"
        hint = "name another machine; `esp system list` shows the bundled ones"
        raise MachineError([Finding(code="M109", message=fault, place=own.extends.place, hint=hint)])
    if len(seen) > DEEPEST:
        fault = f"machine files extend each other more than {DEEPEST} deep"
        raise MachineError([Finding(code="M109", message=fault, place=own.extends.place)])
    if "name" not in own.words:
        fault = f"the key 'name' is missing: this is another machine than '{own.extends.text}'"
        raise MachineError(
            [Finding(code="M104", message=fault, place=own.extends.place, hint="write 'name: mymachine'")]
        )
    base = _outline(read_text(path, MACHINE), str(path), (path.parent, *folders[1:]), (*seen, path.resolve()))
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
