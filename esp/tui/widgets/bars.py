"""Lines of text that say where they were clicked, and sliders."""

from collections.abc import Callable, Sequence

from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from esp.tui.lines import Piece, SheetLine
from esp.tui.sheets import frame
from esp.tui.sliders import Slider
from esp.tui.widgets.drawing import is_dark, strip_of


class Bar(Widget):
    """Some lines, drawn for the width there is."""

    class Clicked(Message):
        """Somebody clicked at a column of a line."""

        def __init__(self, bar: "Bar", column: int, row: int) -> None:
            super().__init__()
            self.bar, self.column, self.row = bar, column, row

        @property
        def control(self) -> "Bar":
            """The bar."""
            return self.bar

    def __init__(self, *, id: str) -> None:  # noqa: A002 (textual's name)
        super().__init__(id=id)
        self._ground, self._dark = Style(), True
        self._draw: Callable[[int], Sequence[SheetLine]] | None = None
        self._lines: Sequence[SheetLine] = ()

    def show(self, draw: Callable[[int], Sequence[SheetLine]]) -> None:
        """Draw something."""
        self._draw = draw
        lines = draw(self.size.width) if self.size.width else ()
        if lines != self._lines:
            self._lines = lines
            self.refresh()

    def on_resize(self) -> None:
        """Lay out for the new width."""
        if self._draw is not None:
            self._lines = self._draw(self.size.width)
            self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The ground is the same for all lines."""
        self._ground, self._dark = self.rich_style, is_dark(self)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        line = self._lines[y] if y < len(self._lines) else SheetLine()
        return strip_of(line, self.size.width, self._ground, dark=self._dark)

    def on_click(self, event: events.Click) -> None:
        """Say so."""
        self.post_message(self.Clicked(self, event.x, event.y))


class SliderBar(Widget, can_focus=True):
    """A slider of the what-if strip."""

    BINDINGS = [  # noqa: RUF012 (textual wants it so)
        Binding("left,h", "by(-1)", "less", show=False),
        Binding("right,l", "by(1)", "more", show=False),
        Binding("shift+left", "by(-3)", "much less", show=False),
        Binding("shift+right", "by(3)", "much more", show=False),
        Binding("home", "by(-1000)", "least", show=False),
        Binding("end", "by(1000)", "most", show=False),
        Binding("enter", "type", "type a value", show=False),
        Binding("up", "app.focus_previous", "slider before", show=False),
        Binding("down", "app.focus_next", "next slider", show=False),
    ]

    class Moved(Message):
        """Somebody moved it to a notch."""

        def __init__(self, name: str, at: int) -> None:
            super().__init__()
            self.name, self.at = name, at

    class Typing(Message):
        """Somebody wants to type a value."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, name: str) -> None:
        super().__init__(id=f"slider-{name.replace('_', '-')}", classes="slider")
        self.of = name
        self.slider: Slider | None = None
        self._held = False
        self._effect: Piece = ("", "")

    def show(self, slider: Slider | None, effect: Piece = ("", "")) -> None:
        """Draw a slider and what it does."""
        if slider != self.slider or effect != self._effect:
            self.slider, self._effect = slider, effect
            self.tooltip = None if slider is None else slider.title
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The slider."""
        width = self.size.width
        nothing = self.slider is None or y > 0
        line = (
            SheetLine()
            if nothing or self.slider is None
            else frame.slider(self.slider, width, focused=self.has_focus, effect=self._effect)
        )
        return strip_of(line, width, self.rich_style, dark=is_dark(self))

    def action_by(self, steps: int) -> None:
        """Move it."""
        if self.slider is not None:
            self._to(self.slider.by(steps).at)

    def action_type(self) -> None:
        """Ask for a value."""
        self.post_message(self.Typing(self.of))

    def _to(self, at: int) -> None:
        if self.slider is not None and at != self.slider.at:
            # At once, so that the next key of a quick hand starts from here.
            self.slider = self.slider.to(at)
            self.refresh()
            self.post_message(self.Moved(self.of, at))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take the knob."""
        self._held = True
        self.capture_mouse()
        self._follow(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag it."""
        if self._held:
            self._follow(event.x)

    def on_mouse_up(self) -> None:
        """Let it go."""
        self._held = False
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """One notch more."""
        event.stop()
        self.action_by(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """One notch less."""
        event.stop()
        self.action_by(-1)

    def _follow(self, column: int) -> None:
        if self.slider is not None:
            at = frame.notch_at(self.slider, self.size.width, column)
            if at is not None:
                self._to(at)

    def on_focus(self) -> None:
        """The knob shows it."""
        self.refresh()

    def on_blur(self) -> None:
        """As above."""
        self.refresh()
