"""A moved slider in the terminal interface: from the key to the screen that shows the new time of the selected choice.

The app runs without a terminal, all else is as a person has it: the engine's thread goes on with the other choices
while the screen is drawn. Processor time of both threads, which share one interpreter and hence one core: on a machine
with nothing else to do it is what a person waits for. The wall beside it says what it was on this one.

Predictions that are kept are thrown away before each move, so that nothing is at hand.
"""

import asyncio
from collections.abc import Iterator
from statistics import median

from benchmarks.measure import Figure
from benchmarks.tui_clock import BOUND_MS, SIZE, Clocks, Timed, shown
from esp import api
from esp.tui.opening import Opened, open_program, read

CASES = (("laplace.hpf", 8), ("laplace.hpf", 64), ("pbs2.hpf", 8), ("redblack.hpf", 16), ("gauss.hpf", 8))
MACHINE = ("load", "bandwidth", "processor_speed")
PROGRAM = ("procs", "size")
KEYS = ("right", "right", "left", "right", "left", "left")
"""They end where they began, and never at an end of a slider."""
ROUNDS = 2
PAUSE_S = 0.03
"""Between two moves, as a finger needs; the engine is still busy with the other choices then."""


def figures() -> Iterator[Figure]:
    """For each program: sliders that interpret again, and sliders that need another node program."""
    for name, procs in CASES:
        moves = asyncio.run(_moves(open_program(read(name), api.load_machine("ipsc860"), api.Request(procs=procs))))
        for what, sliders in (("load, bandwidth, processor speed", MACHINE), ("processors, size", PROGRAM)):
            spent = [each for slider in sliders for each in moves[slider]]
            yield Figure(f"{name} on {procs}: {what}", 1e3 * median(each.cpu_s for each in spent), "ms", BOUND_MS)
            yield Figure("  the same on the wall", 1e3 * median(each.wall_s for each in spent), "ms")


async def _moves(opened: Opened) -> dict[str, list[Clocks]]:
    """What each move took, by slider."""
    app = Timed(opened)
    found: dict[str, list[Clocks]] = {}
    async with app.run_test(size=SIZE):
        await shown(app, 0)
        for slider in (*MACHINE, *PROGRAM):
            app.query_one(f"#slider-{slider.replace('_', '-')}").focus()
            rounds = ROUNDS if slider in MACHINE else 1
            found[slider] = [await _move(app, key) for _ in range(rounds) for key in KEYS]
    return found


async def _move(app: Timed, key: str) -> Clocks:
    await asyncio.sleep(PAUSE_S)
    engine = app._engine
    assert engine is not None
    engine._outcomes.clear()
    number = app.state.number
    began = Clocks.now()
    app.simulate_key(key)
    return (await shown(app, number)).since(began)
