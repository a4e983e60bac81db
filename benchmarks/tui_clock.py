"""The interface with a clock: when the answer to each question was on the screen."""

import asyncio
import gc
import time
from dataclasses import dataclass

from esp.cli.main import OBJECTS
from esp.tui.app import Explorer
from esp.tui.opening import Opened

BOUND_MS = 100.0
SIZE = (120, 40)
PATIENCE = 60_000
"""Milliseconds after which nothing will come any more."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """Processor seconds of the process, and seconds on the wall."""

    cpu_s: float
    wall_s: float

    @classmethod
    def now(cls) -> "Clocks":
        """Both clocks."""
        return cls(time.process_time(), time.perf_counter())

    def since(self, began: "Clocks") -> "Clocks":
        """From then until now."""
        return Clocks(self.cpu_s - began.cpu_s, self.wall_s - began.wall_s)


class Timed(Explorer):
    """Notes when a question was first seen answered, as far as the selected choice goes.

    Cyclic garbage is searched for as rarely as in `esp tui`, and that of the interfaces before is none of this one's.
    """

    def __init__(self, opened: Opened) -> None:
        gc.set_threshold(OBJECTS)
        gc.collect()
        super().__init__(opened)
        self.shown: dict[int, Clocks] = {}

    def draw(self, *, anew: bool = False) -> None:
        """Draw, and note when that has reached the screen."""
        super().draw(anew=anew)
        if self.state.selected in self.state.fresh:
            self.call_after_refresh(self._note, self.state.number)

    def _note(self, number: int) -> None:
        self.shown.setdefault(number, Clocks.now())


async def shown(app: Timed, number: int) -> Clocks:
    """When the answer to a question after this number was on the screen."""
    for _ in range(PATIENCE):
        later = [at for asked, at in app.shown.items() if asked > number]
        if later:
            return min(later, key=lambda each: each.wall_s)
        await asyncio.sleep(0.001)
    raise TimeoutError("the interface does not answer")
