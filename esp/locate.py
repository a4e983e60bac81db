"""Where the machine descriptions and the programs that come with esp lie.

In a checkout they are the folders `systems/` and `benchmarks_hpf/` beside the packages, in an installed wheel
they are inside this package under `_data/`. Both are plain folders, so looking costs one `stat` and no import
machinery.
"""

import difflib
from collections.abc import Iterable
from pathlib import Path

from esp.errors import UnreadableFileError

PROGRAM_SUFFIXES = (".hpf", ".f90", ".F90", ".f", ".for", ".F")
"""Suffixes of programs, in the order in which a name without one is completed."""

SYSTEM_SUFFIXES = (".yaml", ".yml")
"""Suffixes of machine descriptions, in the order in which a name without one is completed."""

_HERE = Path(__file__).resolve().parent


def systems_dir() -> Path:
    """The folder of the machine descriptions that come with esp."""
    return _data_dir("systems")


def benchmarks_dir() -> Path:
    """The folder of the programs that come with esp."""
    return _data_dir("benchmarks_hpf")


def system_names() -> tuple[str, ...]:
    """The names of the machines that come with esp, sorted."""
    return _names(systems_dir(), SYSTEM_SUFFIXES)


def program_names() -> tuple[str, ...]:
    """The names of the programs that come with esp, sorted, without their suffix."""
    return _names(benchmarks_dir(), PROGRAM_SUFFIXES)


def find_program(name: str) -> Path:
    """The file of a program: a path as given, else one of the programs that come with esp.

    A file of the user's wins over one of ours with the same name. The suffix of ours may be left out.

    Raises:
        UnreadableFileError: there is no such file, or it is a folder.
    """
    given = Path(name)
    if _is_file(given):
        return given
    ours = _among(benchmarks_dir(), name, PROGRAM_SUFFIXES)
    if ours is not None:
        return ours
    raise _not_found(
        "program", given, PROGRAM_SUFFIXES, program_names(), "`esp examples list` shows the bundled programs."
    )


def find_system(name: str) -> Path:
    """The description of a machine: one of those that come with esp by its name, else a path as given.

    A bare name such as ``ipsc860`` always means ours, so that a file or folder of that name in the working
    directory changes nothing; with a suffix or a folder in front a file of the user's wins.

    Raises:
        UnreadableFileError: there is no such file, or it is a folder.
    """
    given = Path(name)
    ours = _among(systems_dir(), name, SYSTEM_SUFFIXES)
    bare = given.suffix not in SYSTEM_SUFFIXES and given.name == name
    if ours is not None and (bare or not _is_file(given)):
        return ours
    if _is_file(given):
        return given
    raise _not_found("machine", given, SYSTEM_SUFFIXES, system_names(), "`esp system list` shows the bundled machines.")


def _data_dir(name: str) -> Path:
    """A wheel carries `_data`, a checkout does not; looked at first, as strangers may lie beside a wheel."""
    packed = _HERE / "_data" / name
    return packed if packed.is_dir() else _HERE.parent / name


def _names(folder: Path, suffixes: tuple[str, ...]) -> tuple[str, ...]:
    if not folder.is_dir():
        return ()
    return tuple(sorted({path.stem for path in folder.iterdir() if path.suffix in suffixes}))


def _among(folder: Path, name: str, suffixes: tuple[str, ...]) -> Path | None:
    """The file `name` of `folder`, its suffix completed where it has none; only names, never paths."""
    if not name or Path(name).name != name:
        return None
    candidates = (folder / (name + suffix) for suffix in ("", *suffixes))
    return next((path for path in candidates if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    """Whether there is something to read: a file, a pipe (a shell's ``<(command)``) or a device."""
    try:
        return path.is_file() or path.is_fifo() or path.is_char_device()
    except OSError:  # a name too long, a loop of links: nothing to read there
        return False


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _beside(given: Path, suffixes: tuple[str, ...]) -> list[str]:
    """The file of the same folder whose name is nearest."""
    try:
        names = [each.name for each in given.parent.iterdir() if each.suffix in suffixes]
    except OSError:
        return []
    near = difflib.get_close_matches(given.name, names, n=1)
    return [str(given.parent / each) for each in near]


def _not_found(
    kind: str, given: Path, suffixes: tuple[str, ...], known: Iterable[str], else_hint: str
) -> UnreadableFileError:
    where = str(given)
    if _is_dir(given):
        return UnreadableFileError(f"this is a folder, not a {kind}.", where=where, hint="Name a file in it.")
    near = _beside(given, suffixes) or difflib.get_close_matches(given.stem, list(known), n=1)
    hint = f"Did you mean {near[0]}?" if near else else_hint
    return UnreadableFileError(f"file not found, and no bundled {kind} has this name.", where=where, hint=hint)
