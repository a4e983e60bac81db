"""What the command palette lists: everything a key does, every choice, every size."""

from collections.abc import Iterable

from esp.tui.sheets import frame
from esp.tui.state import VIEWS, State

Command = tuple[str, ...]
"""Title, help, name of a method of the app, its arguments."""


def commands(state: State) -> Iterable[Command]:
    """What a key does, too."""
    yield "Open a program", "a file, or a bundled program (o)", "action_open_program"
    yield "Read the program again", "after it was edited (F5)", "action_reload"
    yield "Open a machine", "predict for another machine (s)", "action_open_machine"
    for number, view in enumerate(VIEWS, 1):
        name = frame.NAMES[view]
        yield f"View: {name}", f"show the {name.lower()} ({number})", "action_view", view
    yield "What if", "move load, bandwidth, latency, speed, processors, size (w)", "action_what_if"
    yield "Pin as B", "keep what is on the screen to compare with (b)", "action_pin"
    yield "Reset what-ifs", "put all sliders back (r)", "action_reset"
    yield "Copy directives", "to paste the selected choice into the source (y)", "action_copy_directives"
    yield "Copy command", "the esp run that prints what is on the screen (Y)", "action_copy_command"
    yield "Find", "show only lines that contain a text (/)", "action_find"
    yield "Sort", "the list with the focus by something else (t)", "action_sort"
    yield "Set a value", "of a PARAMETER or variable (v)", "action_set_value"
    yield "Export", "what is on the screen, to a file (e)", "action_export"
    yield "Wide view", "give the view the whole width (z)", "action_wide"
    yield "Light or dark", "change the colours", "action_light_or_dark"
    for name, size in state.sizes.items():
        if name != state.size_name:
            yield f"Size slider: {name}", f"move {name} (now {size})", "move_size", name
    yield "Help", "keys and marks (?)", "action_help"
    yield "Quit", "end esp (q)", "exit"


def choices_to_take(state: State) -> Iterable[Command]:
    """Every choice, to be looked at or compared with."""
    for each in state.choices:
        label = f"{each.shown} {'x'.join(map(str, each.grid))}".rstrip()
        yield f"Choose {label}", "look at this distribution", "choose", each.key
        yield f"Compare with {label}", "side by side with the selected one", "compare", each.key
