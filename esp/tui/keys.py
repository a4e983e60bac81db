"""The keys of the main screen; lists and sliders have some of their own."""

from textual.binding import Binding, BindingType

from esp.tui.state import VIEWS

BINDINGS: list[BindingType] = [
    *(Binding(str(number), f"view('{view}')", view, show=False) for number, view in enumerate(VIEWS, 1)),
    Binding("w", "what_if", "what if", show=False),
    Binding("b", "pin", "pin as B", show=False),
    Binding("y", "copy_directives", "copy the directives", show=False),
    Binding("Y", "copy_command", "copy the command", show=False),
    Binding("slash", "find", "find", show=False),
    Binding("t", "sort", "sort", show=False),
    Binding("z", "wide", "wide", show=False),
    Binding("o", "open_program", "open a program", show=False),
    Binding("s", "open_machine", "another machine", show=False),
    Binding("v", "set_value", "set a value", show=False),
    Binding("e", "export", "export", show=False),
    Binding("r", "reset", "reset what-ifs", show=False),
    Binding("f", "coarser", "fold loops", show=False),
    Binding("p", "processors", "processors", show=False),
    Binding("left_square_bracket", "processor(-1)", "processor before", show=False),
    Binding("right_square_bracket", "processor(1)", "next processor", show=False),
    Binding("plus,equals_sign", "zoom(0.5)", "zoom in", show=False),
    Binding("minus", "zoom(2.0)", "zoom out", show=False),
    Binding("0", "zoom(1000000.0)", "the whole run", show=False),
    Binding("n", "message(1)", "next message", show=False),
    Binding("N", "message(-1)", "message before", show=False),
    Binding("escape", "out", "back", show=False),
    Binding("question_mark,f1", "help", "help", show=False),
    Binding("f5,ctrl+r", "reload", "read the program again", show=False),
    Binding("q,ctrl+q", "quit", "quit", show=False),
    Binding("ctrl+c", "quit", "quit", show=False, priority=True),
]
