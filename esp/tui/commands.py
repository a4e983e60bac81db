"""What the command palette lists: everything a key does, every choice, every size."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from esp.tui.sheets import frame
from esp.tui.state import VIEWS

if TYPE_CHECKING:
    from esp.tui.app import Explorer

Command = tuple[str, str, Callable[[], object]]
"""Title, help, what it does."""


def commands(app: "Explorer") -> Iterable[Command]:
    """What a key does, too."""
    state = app.state
    yield "Open a program", "a file, or one that comes with esp (o)", app.action_open_program
    yield "Read the program again", "after it was edited (F5)", app.action_reload
    yield "Open a machine", "predict for another machine (s)", app.action_open_machine
    for number, view in enumerate(VIEWS, 1):
        name = frame.NAMES[view]
        yield f"View: {name}", f"show the {name.lower()} ({number})", partial(app.action_view, view)
    yield "What if", "move load, bandwidth, speed, processors, size (w)", app.action_what_if
    yield "Reset what-ifs", "put all sliders back (r)", app.action_reset
    yield "Set a value", "of a PARAMETER or variable (v)", app.action_set_value
    yield "Export", "what is on the screen, to a file (e)", app.action_export
    yield "Wide view", "give the view the whole width (z)", app.action_wide
    yield "Light or dark", "change the colours", app.action_light_or_dark
    for name, size in state.sizes.items():
        if name != state.size_name:
            yield f"Size slider: {name}", f"move {name} (now {size})", partial(app.move_size, name)
    yield "Help", "keys and marks (?)", app.action_help
    yield "Quit", "end esp (q)", app.exit


def choices_to_take(app: "Explorer") -> Iterable[Command]:
    """Every choice, to be looked at or compared with."""
    for each in app.state.choices:
        label = f"{each.shown} {'x'.join(map(str, each.grid))}".rstrip()
        yield f"Choose {label}", "look at this distribution", partial(app.choose, each.key)
        yield f"Compare with {label}", "side by side with the selected one", partial(app.compare, each.key)
