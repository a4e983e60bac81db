"""Errors that users see, with their exit codes (Def 20).

The packages below have no exit codes: `aag.diagnostics.SourceError` and `sag.errors.MachineError` carry
findings of their own and end with code 1. The errors of this module are about options, files and checks.
"""

from typing import ClassVar

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended, as a shell reports it."""


class EspError(Exception):
    """An error as one short paragraph: what is wrong, where, why, and what to do.

    `what` is the sentence that is shown first, `where` a file with its line or an option, `why` the cause if
    it is not obvious, `hint` the way out. Each part except `what` may be empty.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", why: str = "", hint: str = "") -> None:
        self.what = what
        self.where = where
        self.why = why
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return " ".join(part for part in (place + self.what, self.why, self.hint) if part)


class PredictionError(EspError):
    """The program, the machine or the given values prevent a result."""


class UsageError(EspError):
    """A wrong option, or options that contradict each other."""

    exit_code = 2


class UnreadableFileError(EspError):
    """A file that is missing, unreadable or not text."""

    exit_code = 2


class CheckFailedError(EspError):
    """A requested check failed."""

    exit_code = 3


def reason(error: OSError) -> str:
    """Why the system refused something, to follow a colon."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
