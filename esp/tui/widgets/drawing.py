"""Lines with roles as strips of a terminal."""

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from aag.visible import escaped
from esp.tui.lines import SheetLine
from esp.tui.palette import style


def is_dark(widget: Widget) -> bool:
    """Whether the theme is dark."""
    return bool(widget.app.current_theme.dark)


def strip_of(line: SheetLine, width: int, base: Style, *, dark: bool) -> Strip:
    """A line on a ground; roles with a ground of their own keep it."""
    segments = [Segment(escaped(text), _on(base, role, dark)) for text, role in line.pieces if text]
    return Strip(segments).adjust_cell_length(width, base)


@lru_cache(maxsize=1024)
def _on(base: Style, role: str, dark: bool) -> Style:
    return base + style(role, dark=dark)
