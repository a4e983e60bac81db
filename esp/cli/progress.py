"""How far long work has come, for a person who waits: one line on standard error that goes away again."""

import sys
import time
from types import TracebackType
from typing import TextIO

from esp.cli.console import Console
from esp.output.numbers import seconds

PATIENCE_S = 1.0
"""Nothing is shown before."""

EVERY_S = 0.2


class ProgressLine:
    """Shows how far the walk of a loop has come, if standard error is a terminal. It is a context, and its value what
    is to be told (`interpreter.listeners.Watch`); None where nobody would see it.
    """

    def __init__(self, console: Console, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.shown = not console.quiet and self.stream.isatty()
        self.began = self.latest = time.monotonic()
        self.width = 0

    def __enter__(self) -> "ProgressLine | None":
        return self if self.shown else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write("")

    def __call__(self, line: int, done: float) -> None:
        """So much of the iterations of the loop at `line` is interpreted."""
        if self._is_time():
            self._write(f"line {line}: {done:.0%} of its iterations interpreted, {self.latest - self.began:.0f} s")

    def predictions(self, done: int, total: int, best_s: float) -> None:
        """So many of the predictions are made, and the shortest time so far."""
        if self._is_time():
            best = f", shortest so far {seconds(best_s)}" if best_s < float("inf") else ""
            self._write(f"{done:,} of {total:,} predictions{best}, {self.latest - self.began:.0f} s")

    def _is_time(self) -> bool:
        """Whether to say something: not at once, and not too often."""
        now = time.monotonic()
        if now - self.began < PATIENCE_S or now - self.latest < EVERY_S:
            return False
        self.latest = now
        return True

    def _write(self, text: str) -> None:
        """Put a text where the one before was."""
        if text or self.width:
            self.stream.write("\r" + text.ljust(self.width) + ("" if text else "\r"))
            self.stream.flush()
            self.width = len(text)
