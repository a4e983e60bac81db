"""A moved slider in the terminal interface: from the key to the screen that shows the new time of the selected choice.

The app runs without a terminal, all else is as a person has it: the engine's thread goes on with the other choices
while the screen is drawn. Processor time of both threads, which share one interpreter and hence one core: on a machine
with nothing else to do it is what a person waits for. The wall beside it says what it was on this one.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.measure import Figure
from esp import api
from esp.tui.app import Explorer
from esp.tui.opening import Opened, open_program, read

BOUND_MS = 100.0
CASES = (("laplace.hpf", 8), ("laplace.hpf", 64), ("pbs2.hpf", 8), ("redblack.hpf", 16))
MACHINE = ("load", "bandwidth", "processor_speed")
PROGRAM = ("procs", "size")
SIZE = (120, 40)
KEYS = ("right", "right", "left", "right", "left", "left")
"""They end where they began, and never at an end of a slider."""
ROUNDS = 4
PAUSE_S = 0.03
"""Between two moves, as a finger needs; the engine is still busy with the other choices then."""


def figures() -> Iterator[Figure]:
    """For each program: sliders that interpret again, and sliders that need another node program."""
    for name, procs in CASES:
        moves = asyncio.run(_moves(open_program(read(name), api.load_machine("ipsc860"), api.Request(procs=procs))))
        for what, sliders in (("load, bandwidth, cpu speed", MACHINE), ("processors, size", PROGRAM)):
            spent = [each for slider in sliders for each in moves[slider]]
            yield Figure(f"{name} on {procs}: {what}", 1e3 * median(each.cpu_s for each in spent), "ms", BOUND_MS)
            yield Figure("  the same on the wall", 1e3 * median(each.wall_s for each in spent), "ms")


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
    """Notes when a question was first seen answered, as far as the selected choice goes."""

    def __init__(self, opened: Opened) -> None:
        super().__init__(opened)
        self.shown: dict[int, Clocks] = {}

    def draw(self, *, anew: bool = False) -> None:
        """Draw, and note when that has reached the screen."""
        super().draw(anew=anew)
        if self.state.selected in self.state.fresh:
            self.call_after_refresh(self._note, self.state.number)

    def _note(self, number: int) -> None:
        self.shown.setdefault(number, Clocks.now())


async def _moves(opened: Opened) -> dict[str, list[Clocks]]:
    """What each move took, by slider. What the engine keeps of earlier predictions is thrown away before each."""
    app = Timed(opened)
    found: dict[str, list[Clocks]] = {}
    async with app.run_test(size=SIZE):
        await _shown(app, 0)
        for slider in (*MACHINE, *PROGRAM):
            app.query_one(f"#slider-{slider.replace('_', '-')}").focus()
            found[slider] = [await _move(app, key) for _ in range(ROUNDS) for key in KEYS]
    return found


async def _move(app: Timed, key: str) -> Clocks:
    await asyncio.sleep(PAUSE_S)
    assert app._engine is not None
    app._engine._outcomes.clear()
    number = app.state.number
    began = Clocks.now()
    app.simulate_key(key)
    return (await _shown(app, number)).since(began)


async def _shown(app: Timed, number: int) -> Clocks:
    """When the answer to a question after this number was on the screen."""
    for _ in range(20_000):
        later = [at for asked, at in app.shown.items() if asked > number]
        if later:
            return min(later, key=lambda each: each.wall_s)
        await asyncio.sleep(0.001)
    raise TimeoutError("the interface does not answer")
