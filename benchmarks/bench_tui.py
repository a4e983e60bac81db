"""A moved slider in the terminal interface: from the key to the screen that shows the new time of the selected choice.

The app runs without a terminal, all else is as a person has it: the engine's thread goes on with the other choices
while the screen is drawn. Processor time of both threads, which share one interpreter and hence one core: on a machine
with nothing else to do it is what a person waits for. The wall beside it says what it was on this one.

A time may be an estimate, which comes before the prediction of what takes long; then the figure says so.

Each slider is moved twice: to positions that were walked ahead, as where a hand rests for a moment; and with all that
is kept of earlier predictions thrown away before each move, as in the first moments after a program is opened. Then the
sliders of processors and size are moved as a hand does it (`bench_moves`).
"""

import asyncio
from collections.abc import Iterator
from statistics import median

from benchmarks import bench_moves
from benchmarks.measure import Figure
from benchmarks.tui_clock import BOUND_MS, PATIENCE, SIZE, Clocks, Timed, shown
from esp import api
from esp.tui import state as steps
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
        moves, estimated = asyncio.run(
            _moves(open_program(read(name), api.load_machine("ipsc860"), api.Request(procs=procs)))
        )
        for what, sliders in (("load, bandwidth, cpu speed", MACHINE), ("processors, size", PROGRAM)):
            for ahead, how in ((True, "walked ahead"), (False, "nothing at hand")):
                spent = [each for slider in sliders for each in moves[slider, ahead]]
                kind = " (estimates)" if any((slider, ahead) in estimated for slider in sliders) else ""
                title = f"{name} on {procs}: {what}, {how}{kind}"
                yield Figure(title, 1e3 * median(each.cpu_s for each in spent), "ms", BOUND_MS)
                yield Figure("  the same on the wall", 1e3 * median(each.wall_s for each in spent), "ms")
    yield from bench_moves.figures()


async def _moves(opened: Opened) -> tuple[dict[tuple[str, bool], list[Clocks]], set[tuple[str, bool]]]:
    """What each move took, by slider and by whether its position was walked ahead; those answered by estimates."""
    app = Timed(opened)
    estimated: set[tuple[str, bool]] = set()
    found: dict[tuple[str, bool], list[Clocks]] = {}
    async with app.run_test(size=SIZE):
        await shown(app, 0)
        for slider in (*MACHINE, *PROGRAM):
            app.query_one(f"#slider-{slider.replace('_', '-')}").focus()
            for ahead in (True, False):
                before = len(app.estimated)
                found[slider, ahead] = [
                    await _move(app, slider, key, ahead=ahead)
                    for _ in range(ROUNDS if slider in MACHINE else 1)
                    for key in KEYS
                ]
                estimated |= {(slider, ahead)} if len(app.estimated) > before else set()
    return found, estimated


async def _move(app: Timed, slider: str, key: str, *, ahead: bool) -> Clocks:
    await asyncio.sleep(PAUSE_S)
    engine = app._engine
    assert engine is not None
    if ahead:
        await _walked(app, slider, key)
        if slider in MACHINE:  # so that it is found where it was walked ahead, not where it was shown before
            engine._outcomes.clear()
    else:
        engine._outcomes.clear()
        engine._estimates.clear()
        engine._fans.clear()
    number = app.state.number
    began = Clocks.now()
    app.simulate_key(key)
    return (await shown(app, number)).since(began)


async def _walked(app: Timed, slider: str, key: str) -> None:
    """Until the position that a key leads to is at hand, or an estimate of it."""
    engine, state = app._engine, app.state
    assert engine is not None
    at = state.sliders[slider].at + (1 if key == "right" else -1)
    there = steps.settings(steps.moved(state, slider, at))
    for _ in range(PATIENCE):
        key = (there, state.selected)
        if engine._fans.has(*key) or key in engine._outcomes or key in engine._estimates:
            return
        await asyncio.sleep(0.001)
    raise TimeoutError(f"nothing walks {there} ahead")
