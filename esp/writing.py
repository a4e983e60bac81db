"""What leaves esp: text for a stream, and files written whole or not at all. Nothing in it is hidden (`visible`)."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from esp.errors import UnreadableFileError, reason
from esp.visible import visible


def put(stream: TextIO, text: str) -> None:
    """Write text to a stream."""
    stream.write(visible(text))


def write_whole(path: Path, text: str | Iterable[str]) -> None:
    """Write a file whole or not at all: readers see the old one until the new one is complete.

    Raises:
        UnreadableFileError: the folder does not exist or may not be written to.
        BrokenPipeError: the file is a pipe whose reader went away.
    """
    parts = map(visible, (text,) if isinstance(text, str) else text)
    try:
        # A device or a pipe cannot be replaced, a folder not written. What /dev/stdout resolves to may have no name.
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8") as file:
                file.writelines(parts)
            return
        _replace(path.resolve(), parts)
    except BrokenPipeError:  # whoever reads /dev/stdout or a named pipe has enough: no fault, as on standard output
        raise
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=str(path)) from None


def _replace(target: Path, parts: Iterable[str]) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(parts)
        if target.exists():
            part.chmod(target.stat().st_mode & 0o7777)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
