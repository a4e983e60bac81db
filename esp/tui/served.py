"""How the process of the interface ends when it is told to from outside."""

import asyncio
import contextlib
import os
import signal
from functools import partial

from textual.app import App

LOOK_S = 1.0


def leave_when_told(app: App[None]) -> None:
    """SIGTERM ends the interface in order, so that the terminal is left as it was."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not on Windows, nor in another thread
        loop.add_signal_handler(signal.SIGTERM, partial(app.exit, return_code=128 + signal.SIGTERM))


def leave_with_server(app: App[None]) -> None:
    """With `esp tui --serve`, end the process when its server is gone: nobody can see it then, and textual's driver
    would read the end of its input again and again, with all of a processor."""
    if not os.environ.get("TEXTUAL_DRIVER"):
        return
    server = os.getppid()

    def look() -> None:
        if os.getppid() != server:
            os._exit(1)  # its output has no reader, so that there is nothing to end in order

    app.set_interval(LOOK_S, look)
