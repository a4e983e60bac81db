"""The app as a process of a server (`esp tui --serve`)."""

import os

from textual.app import App

LOOK_S = 1.0


def leave_with_server(app: App[None]) -> None:
    """End the process when its server is gone: nobody can see it then, and textual's driver would read the end of its
    input again and again, with all of a processor."""
    if not os.environ.get("TEXTUAL_DRIVER"):
        return
    server = os.getppid()

    def look() -> None:
        if os.getppid() != server:
            os._exit(1)  # its output has no reader, so that there is nothing to end in order

    app.set_interval(LOOK_S, look)
