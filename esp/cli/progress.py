"""How far long work has come, and how long it will still take: on a terminal one line that goes away again, elsewhere a
line on standard error every ten seconds."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from esp.cli.console import Console
from esp.output.numbers import plural, seconds
from esp.output.screen import shorten
from esp.visible import visible

if TYPE_CHECKING:
    from esp.explore.advise import SearchProgress

PATIENCE_S = 1.0
"""Nothing is shown before."""

EVERY_S = 0.2

LEAST_KNOWN = 0.05
"""Share of a loop below which nothing is said of how long the rest of it takes."""

PIPED_S = 10.0
"""Between two lines where standard error is no terminal, and before the first."""


class ProgressLine:
    """Shows how far the walk of a loop has come. It is a context, and its value what is to be told
    (`interpreter.listeners.Watch`); None where the user wants quiet.
    """

    def __init__(self, console: Console, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.shown = not console.quiet
        self.terminal = self.stream.isatty()
        self.columns = console.screen.columns
        self.began = self.latest = time.monotonic()
        self.width = 0
        self.walk = ""
        """What the current walk is for; empty: the prediction itself."""
        self.line, self.done = 0, 0.0
        self.since = self.began
        """When the walk came to the loop that it is in."""

    def __enter__(self) -> "ProgressLine | None":
        return self if self.shown else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write("")

    def begin(self, walk: str) -> None:
        """Another walk over the program begins."""
        self.walk, self.line = walk, 0

    def __call__(self, line: int, done: float) -> None:
        """So much of the iterations of the loop at `line` is interpreted."""
        if line != self.line or done < self.done:
            self.since = time.monotonic()
        self.line, self.done = line, done
        if self._is_time():
            walk = f"{self.walk}, " if self.walk else ""
            self._write(f"{walk}line {line}: {done:.0%} of its iterations interpreted, {self._in_loop(done)}")

    def predictions(self, done: int, total: int, best_s: float) -> None:
        """So many of the predictions are made, and the shortest time so far."""
        if self._is_time():
            best = f", shortest so far {seconds(best_s)}" if best_s < float("inf") else ""
            self._write(f"{done:,} of {total:,} predictions{best}, {self._spent(done / max(1, total))}")

    def sizes(self, made: int, processors: int, size: str, share: float) -> None:
        """So many predictions are made, which one was the last, and the share of the numbers of processors done."""
        if self._is_time():
            last = f"{size} on {plural(processors, 'processor')}"
            self._write(f"{plural(made, 'prediction')}, the last for {last}, {self._spent(share)}")

    def counted(self, done: int, total: int, following: str) -> None:
        """Counts are made at so many of the sizes, and at which one next."""
        if self._is_time():
            self._write(f"counted at {done:,} of {total:,} sizes, now {following}, {self._spent(done / max(1, total))}")

    def runs(self, done: int, total: int, following: str) -> None:
        """Show how many runs are predicted in this round of a fit."""
        if self._is_time():
            self._write(f"predicted {done} of {total} runs, now {following}, {self._spent(done / max(1, total))}")

    def running(self, made: int, processors: int, size: str, share: float) -> None:
        """So many runs are made, and which one is next."""
        if self._is_time():
            following = f"{size} on {plural(processors, 'processor')}"
            self._write(f"{plural(made, 'run')}, now {following}, {self._spent(share)}")

    def executions(self, done: int, total: int, following: str) -> None:
        """So many of the executions are done, and which one is next."""
        if self._is_time():
            self._write(f"{done:,} of {total:,} executions, now {following}, {self._spent(done / max(1, total))}")

    def search(self, step: "SearchProgress") -> None:
        """So many choices are bounded and predicted, and the best so far."""
        if self._is_time():
            best = f", best so far {seconds(step.best_s)} {step.best.shown} on {step.best.procs}" if step.best else ""
            done = f"{step.total:,} choices, {step.bounded:,} bounded, {step.predicted:,} predicted"
            self._write(visible(f"{done}{best}, {self._spent(0.0)}"))

    def _is_time(self) -> bool:
        """Whether to say something: not at once, and not too often."""
        now = time.monotonic()
        patience, every = (PATIENCE_S, EVERY_S) if self.terminal else (PIPED_S, PIPED_S)
        if now - self.began < patience or now - self.latest < every:
            return False
        self.latest = now
        return True

    def _spent(self, done: float) -> str:
        """How long it took, and how long the rest will take if it goes on so."""
        spent_s = self.latest - self.began
        rest = f", about {_rest(spent_s, done):.0f} s left" if 0 < done < 1 else ""
        return f"{spent_s:.0f} s{rest}"

    def _in_loop(self, done: float) -> str:
        """How long it took, and how long the rest of the loop takes if it needs all iterations: it may repeat itself,
        and other loops may follow."""
        spent_s, here_s = self.latest - self.began, self.latest - self.since
        known = LEAST_KNOWN <= done < 1 and _rest(here_s, done) >= 1
        rest = f", at most {_rest(here_s, done):.0f} s more for this loop" if known else ""
        return f"{spent_s:.0f} s{rest}"

    def _write(self, text: str) -> None:
        """Put a text where the one before was, or below it where that stays."""
        if not self.terminal:
            if text:
                self.stream.write(f"{text}\n")
                self.stream.flush()
        elif text or self.width:
            text = shorten(text, self.columns - 1)
            self.stream.write("\r" + text.ljust(self.width) + ("" if text else "\r"))
            self.stream.flush()
            self.width = len(text)


def _rest(spent_s: float, done: float) -> float:
    """The time for the rest of something of which a part is done."""
    return spent_s * (1 - done) / done
