"""Where the output of a command goes: the terminal, a pipe or a file."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from aag.diagnostics import Diagnostic
from esp.output.diagnostics import diagnostic, together
from esp.output.screen import Screen
from esp.writing import put, write_whole

_PIPED_WIDTH = 80
_WIDEST = 160
"""Beyond this a line of text is hard to follow."""

COLOURS = ("auto", "always", "never")


class Console(Struct, frozen=True, kw_only=True):
    """What a command writes to. `file`: instead of standard output."""

    screen: Screen
    quiet: bool = False
    file: str | None = None

    def deliver(self, text: str) -> None:
        """Write the result: to standard output, or to the file as a whole.

        Raises:
            UnreadableFileError: the file cannot be written.
        """
        if self.file is None or self.file == "-":
            put(sys.stdout, text)
        else:
            write_whole(Path(self.file), text)
            if Path(self.file).is_file():  # and no device or pipe
                self.note(f"{self.file}: {len(text.encode()):,} bytes written")

    def note(self, text: str) -> None:
        """Say something beside the result, unless the user wants quiet."""
        if not self.quiet:
            put(sys.stderr, text + "\n")

    def warn(self, found: Iterable[Diagnostic], lines: tuple[str, ...] = ()) -> None:
        """Show warnings with their places, on standard error."""
        screen = Screen(self.screen.width, self.screen.colour and sys.stderr.isatty())
        shown = [diagnostic(each, screen, lines) for each in together(found)]
        for each in shown:
            self.note(each)
        if shown and sys.stdout.isatty() and sys.stderr.isatty():
            self.note("")

    def took(self, seconds: float) -> None:
        """Say how long the tool itself took, to a person only."""
        if sys.stderr.isatty():
            self.note(self.screen.paint("faint", f"esp took {seconds:.2f} s"))


def console_for(color: str, *, quiet: bool = False, file: str | None = None) -> Console:
    """The console of a command with the choice of its options."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    to_file = file is not None and file != "-"
    screen = screen_for(None if to_file else sys.stdout, color)
    return Console(screen=screen, quiet=quiet, file=file)


def screen_for(stream: TextIO | None, color: str) -> Screen:
    """Width and colour of a stream; None is a file, which is plain text of the width that COLUMNS says."""
    terminal = stream is not None and stream.isatty()
    wanted = os.environ.get("NO_COLOR", "") == "" and os.environ.get("TERM") != "dumb"
    colour = color == "always" or (color != "never" and terminal and wanted)
    return Screen(_width(stream if terminal else None), colour)


def _width(terminal: TextIO | None) -> int:
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return min(int(told), _WIDEST)
    if terminal is None:
        return _PIPED_WIDTH
    try:
        return min(os.get_terminal_size(terminal.fileno()).columns or _PIPED_WIDTH, _WIDEST)
    except OSError:
        return _PIPED_WIDTH
