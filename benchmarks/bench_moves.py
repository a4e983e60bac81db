"""The sliders of processors and of problem size as a hand moves them: a notch every 0.3 s, three notches at once, and a
burst of five keys in half a second, each in an interface that has just been opened and whose slider the hand has been
on for a moment.

From the key to the screen with the new time of the selected choice, be it an estimate (`Predicted.rough`); of a burst,
from its last key. What never came to the screen before the next key counts as without end (inf). Processor time and
wall as in `bench_tui`.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from statistics import median

from benchmarks.measure import Figure
from benchmarks.tui_clock import BOUND_MS, SIZE, Clocks, Timed, answered, shown
from esp import api
from esp.tui.opening import open_program, read

CASES = ("laplace.hpf", "redblack.hpf", "gauss.hpf")
PROCS = 8
REST_S = 3.0
"""How long the hand is on the slider before it moves."""
PATIENCE_S = 60.0

WAYS = (("a notch every 0.3 s", 3, 0.3), ("3 notches at once", 3, 0.0), ("5 keys in 0.5 s", 5, 0.1))
"""What, how many keys, seconds between two of them."""


def figures() -> Iterator[Figure]:
    """For each program and slider: each way to move it, up and down; down there are fewer notches of processors."""
    for name in CASES:
        for slider in ("procs", "size"):
            for what, keys, gap_s in WAYS:
                spent: list[Clocks] = []
                for key in ("right", "left"):
                    moves = asyncio.run(_moves(name, slider, key, keys, gap_s))
                    spent += moves if gap_s > 0.2 else moves[-1:]
                title = f"{name} on {PROCS}: {slider}, {what}"
                yield Figure(title, 1e3 * median(each.cpu_s for each in spent), "ms", BOUND_MS)
                yield Figure("  the slowest of them", 1e3 * max(each.cpu_s for each in spent), "ms", BOUND_MS)
                yield Figure("  median on the wall", 1e3 * median(each.wall_s for each in spent), "ms")


async def _moves(name: str, slider: str, key: str, keys: int, gap_s: float) -> list[Clocks]:
    """What each key took."""
    app = Timed(open_program(read(name), api.load_machine("ipsc860"), api.Request(procs=PROCS)))
    async with app.run_test(size=SIZE):
        await shown(app, 0)
        await answered(app)
        app.query_one(f"#slider-{slider}").focus()
        await asyncio.sleep(REST_S)
        before = app.state.sliders[slider]
        room = len(before.notches) - 1 - before.at if key == "right" else before.at
        first, began = app.state.number, []
        for _ in range(min(keys, room)):
            began.append(Clocks.now())
            app.simulate_key(key)
            await asyncio.sleep(gap_s)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(shown(app, first + len(began) - 1), PATIENCE_S)
        return [
            app.shown[number].since(at) if number in app.shown else Clocks(float("inf"), float("inf"))
            for number, at in enumerate(began, first + 1)
        ]
