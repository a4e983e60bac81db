"""The colours of roles, for a dark and a light ground. What is told by colour is told by a mark or a figure, too."""

from collections.abc import Mapping

from rich.style import Style

DARK: Mapping[str, str] = {
    "logo": "bold #10141a on #7fb4ff",
    "title": "#8fa3bd",
    "strong": "bold",
    "faint": "#7d8896",
    "old": "#6b7480 italic",
    "time": "bold #10141a on #e6edf5",
    "spinner": "#7fb4ff",
    "good": "#6fcf7f",
    "bad": "#ff7b72",
    "comp": "#5b9df0",
    "comm": "#f2795f",
    "wait": "#9aa4b1",
    "ovhd": "#e3b341",
    "heat": "#ff8f40",
    "heat1": "#e6d3a8",
    "heat2": "#ffe2a6 on #4a3713",
    "heat3": "#ffe9d6 on #7a3f12",
    "heat4": "bold #ffffff on #b3331f",
    "number": "#7d8896",
    "comment": "#7a8a78",
    "directive": "#c79bf2",
    "kind": "#7fb4ff",
    "guide": "#5c6673",
    "processor": "#8fd0c4",
    "own": "#c79bf2",
    "marked": "bold #e3b341",
    "message": "bold #ffffff on #8a3ffc",
    "traffic": "#8fd0c4",
    "tab": "#a9b4c2 on #1d242e",
    "tab-on": "bold #10141a on #7fb4ff",
    "label": "#c4ced9",
    "label-on": "bold #7fb4ff",
    "track": "#4a5461",
    "passed": "#7fb4ff",
    "knob": "#c4ced9",
    "knob-on": "bold #ffffff",
    "moved": "bold #e3b341",
    "key": "bold #7fb4ff",
    "key-text": "#a9b4c2",
    "pane": "bold #c4ced9",
}

LIGHT: Mapping[str, str] = {
    **DARK,
    "logo": "bold #ffffff on #1f5fbf",
    "title": "#4d6180",
    "faint": "#66707c",
    "old": "#8a929c italic",
    "time": "bold #ffffff on #24303d",
    "spinner": "#1f5fbf",
    "good": "#1a7f37",
    "bad": "#c0281c",
    "comp": "#1f66c1",
    "comm": "#c8452b",
    "wait": "#69727d",
    "ovhd": "#946800",
    "heat": "#c8541b",
    "heat1": "#6b5310",
    "heat2": "#4a3500 on #ffe9b8",
    "heat3": "#4a1e00 on #ffc48a",
    "heat4": "bold #ffffff on #c0392b",
    "number": "#66707c",
    "comment": "#5b7356",
    "directive": "#7b3fc4",
    "kind": "#1f5fbf",
    "guide": "#a0a8b2",
    "processor": "#19756a",
    "own": "#7b3fc4",
    "marked": "bold #946800",
    "traffic": "#19756a",
    "tab": "#3d4854 on #dfe4ea",
    "tab-on": "bold #ffffff on #1f5fbf",
    "label": "#24303d",
    "label-on": "bold #1f5fbf",
    "track": "#b4bcc6",
    "passed": "#1f5fbf",
    "knob": "#24303d",
    "knob-on": "bold #000000",
    "moved": "bold #946800",
    "key": "bold #1f5fbf",
    "key-text": "#3d4854",
    "pane": "bold #24303d",
}

CURSOR = {True: "on #2a3f5f", False: "on #c9dcf7"}
CURSOR_ASIDE = {True: "on #222a35", False: "on #e6ebf2"}
"""The ground of the line the cursor is on, with the focus and without; key: whether the theme is dark."""

FULL = "comp"
"""The role whose mark fills the whole cell."""

_STYLES: dict[tuple[bool, str], Style] = {}


def style(role: str, *, dark: bool) -> Style:
    """The style of a role; none for a role without one.

    ``comm/comp`` is the first on the ground of the second; ``comm/comm`` is nearly solid: its mark shows faintly.
    """
    known = _STYLES.get((dark, role))
    if known is None:
        roles = DARK if dark else LIGHT
        front, slash, back = role.partition("/")
        if not slash:
            definition = roles.get(role, "")
        else:
            definition = f"{_shade(roles[front]) if front == back != FULL else roles[front]} on {roles[back]}"
        known = _STYLES[dark, role] = Style.parse(definition)
    return known


def _shade(colour: str) -> str:
    """A colour a little darker."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(0.86 * part):02x}" for part in parts)


def ground(*, dark: bool, focused: bool) -> Style:
    """The style of the line under the cursor."""
    return style_of((CURSOR if focused else CURSOR_ASIDE)[dark])


def style_of(text: str) -> Style:
    """A style by its definition."""
    return Style.parse(text)
