"""The two themes; what is drawn in which colour is `palette`."""

from textual.theme import Theme

DARK = Theme(
    name="esp-dark",
    primary="#7fb4ff",
    background="#10141a",
    surface="#161b23",
    panel="#1d242e",
    foreground="#d5dde6",
    error="#ff7b72",
    warning="#e3b341",
    success="#6fcf7f",
    dark=True,
)
LIGHT = Theme(
    name="esp-light",
    primary="#1f5fbf",
    background="#fbfcfd",
    surface="#f1f4f7",
    panel="#e6ebf0",
    foreground="#24303d",
    error="#c0281c",
    warning="#946800",
    success="#1a7f37",
    dark=False,
)
