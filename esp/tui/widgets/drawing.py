"""Lines with roles as strips of a terminal."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from esp.tui.lines import Line
from esp.tui.palette import style


def is_dark(widget: Widget) -> bool:
    """Whether the theme is dark."""
    return bool(widget.app.current_theme.dark)


def strip_of(line: Line, width: int, widget: Widget, ground: Style | None = None) -> Strip:
    """A line on the ground of its widget, or on another; roles with a ground of their own keep it."""
    dark = is_dark(widget)
    base = widget.rich_style
    if ground is not None:
        base = base + ground
    segments = [Segment(text, base + style(role, dark=dark)) for text, role in line.pieces if text]
    return Strip(segments).adjust_cell_length(width, base)
