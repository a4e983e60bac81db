"""What can be copied: the directives of the selected choice, and the command that predicts what is on the screen."""

from shlex import quote
from typing import TYPE_CHECKING

from aag.ir.evaluate import Value
from esp.output.figures import grid
from esp.output.numbers import value
from esp.tui.state import State, bounds_only, choice_of, settings

if TYPE_CHECKING:
    from esp.request import Request


def directives(state: State) -> str:
    """The lines that make the source have the selected choice; nothing where it has it, or where predictions are
    incomplete."""
    choice = choice_of(state, state.selected)
    return "" if choice is None or bounds_only(state) else "\n".join(choice.directives)


def command(state: State, request: "Request") -> str:
    """The `esp run` that prints what is on the screen. `request`: that of the start."""
    choice, now = choice_of(state, state.selected), settings(state)
    words = [state.command or f"esp run {quote(state.file)} --system {quote(state.system)}"]
    formats = {**request.distribute, **dict(choice.formats if choice is not None else ())}
    words += [f"--distribute {quote(f'{name}={text}')}" for name, text in formats.items()]
    shape = request.grid if now.procs == request.procs else None
    if choice is not None and choice.asked_grid is not None:
        shape = choice.asked_grid
    words += [f"--grid {grid(shape)}"] if shape else []
    words += [f"--set {quote(f'{name}={_written(given)}')}" for name, given in now.values]
    for option in ("load", "bandwidth", "latency", "processor_speed"):
        change = getattr(now, option)
        words += [f"--{option.replace('_', '-')} {quote(change)}"] if change is not None else []
    return " ".join([*words, f"--procs {now.procs}"])


def _written(given: Value) -> str:
    """A value as ``--set`` takes it, with all its digits."""
    return repr(given) if isinstance(given, float) else value(given)
