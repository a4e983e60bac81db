"""Drives the app by keys without a terminal, and reads its screen."""

import asyncio
from contextlib import asynccontextmanager

from esp import api
from esp.tui.app import Explorer
from esp.tui.opening import open_program, read
from esp.tui.widgets.bars import Bar, SliderBar
from esp.tui.widgets.sheet_view import SheetView

PATIENCE_S = 20


def real(name, procs=8, text=None, **request):
    """A program opened with the real engine; `text` instead of a name."""
    source = read(name) if text is None else api.read_source(text)
    return open_program(source, api.load_machine("ipsc860"), api.Request(procs=procs, **request))


def _waiting(app):
    return app.state.busy or app.state.tried != app.state.number


async def settled(app, pilot):
    """Wait until the newest question is answered and shown."""
    for _ in range(int(PATIENCE_S / 0.01)):
        await pilot.pause(0.01)
        if not _waiting(app):
            break
    assert not _waiting(app)
    await pilot.pause()


@asynccontextmanager
async def running(opened, size=(80, 24)):
    """The app in a terminal of this size, once all is shown."""
    app = Explorer(opened)
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        yield app, pilot


async def press(app, pilot, *keys):
    """Press keys, each when the one before has had its effect."""
    for key in keys:
        await pilot.press(key)
        await settled(app, pilot)


def drive(opened, keys=(), size=(80, 24), then=None):
    """Press keys, and hand app and pilot to an asynchronous function; the result is what it returns."""

    async def act():
        async with running(opened, size) as (app, pilot):
            await press(app, pilot, *keys)
            return None if then is None else await then(app, pilot)

    return asyncio.run(act())


def picture(app):
    """The main screen as text: what its widgets draw, each in its place."""
    width, height = app.size
    rows = [[" "] * width for _ in range(height)]
    main = app.screen_stack[0]
    for widget in main.query("*"):
        hidden = not all(each.display for each in widget.ancestors_with_self)
        if hidden or not isinstance(widget, Bar | SliderBar | SheetView):
            continue
        region = widget.content_region
        for y in range(region.height):
            text = widget.render_line(y).text
            for x, letter in enumerate(text[: region.width]):
                if y + region.y < height and x + region.x < width:
                    rows[y + region.y][x + region.x] = letter
    return "".join("".join(row).rstrip() + "\n" for row in rows)
