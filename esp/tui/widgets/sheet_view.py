"""A list with a cursor: draws a sheet, scrolls it, and says where the cursor went."""

from collections.abc import Callable

from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from esp.tui.lines import Key, Sheet, SheetLine
from esp.tui.palette import ground
from esp.tui.widgets.drawing import is_dark, strip_of

_NOTHING = Sheet(None, ())


class SheetView(ScrollView, can_focus=True):
    """Draws what a function makes of its width. Lines without a key cannot be chosen."""

    BINDINGS = [  # noqa: RUF012 (textual wants it so)
        Binding("up,k", "step(-1)", "up", show=False),
        Binding("down,j", "step(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "step(-1000000)", "first", show=False),
        Binding("end", "step(1000000)", "last", show=False),
        Binding("enter", "choose", "choose", show=False),
        Binding("left", "app.sideways(-1)", "to the left", show=False),
        Binding("right", "app.sideways(1)", "to the right", show=False),
    ]

    class Moved(Message):
        """The cursor went to another line."""

        def __init__(self, view: "SheetView", key: Key) -> None:
            super().__init__()
            self.view, self.key = view, key

        @property
        def control(self) -> "SheetView":
            """The list."""
            return self.view

    class Chosen(Moved):
        """Enter, or a click on the line that the cursor is on."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 (textual's name)
        super().__init__(id=id)
        self._draw: Callable[[int], Sheet] | None = None
        self._key: Key = None
        self.sheet = _NOTHING
        self.row = 0
        self._ground, self._dark = Style(), True

    def show(self, draw: Callable[[int], Sheet], key: Key, *, anew: bool = False) -> None:
        """Draw something, with the cursor on `key`. `anew`: it is another list, which begins at its top."""
        self._draw, self._key = draw, key
        if anew:
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self._rebuild()

    def _rebuild(self) -> None:
        width = self.scrollable_content_region.width
        if self._draw is None or width <= 0:
            return
        before, row_before = self.sheet, self.row
        self.sheet = self._draw(width)
        rows = [row for row, line in enumerate(self.sheet.lines) if line.key is not None]
        row = self.sheet.row_of(self._key)
        if rows and self.sheet.lines[row].key is None:
            row = rows[0]
        self.row = row
        size = Size(width, len(self.sheet.lines) + self._above)
        if self.virtual_size != size:
            self.virtual_size = size
            before = _NOTHING
        top = self.scroll_offset.y
        self._into_view(middle=True)
        if before is _NOTHING or self.scroll_offset.y != top or before.heading != self.sheet.heading:
            self.refresh()
        else:
            self._refresh_changed(before, row_before)

    def _refresh_changed(self, before: Sheet, row_before: int) -> None:
        """Draw the lines again that are not what they were."""
        changed = {row_before, self.row} if row_before != self.row else set()
        pairs = zip(before.lines, self.sheet.lines, strict=True)
        changed |= {row for row, (old, new) in enumerate(pairs) if old != new}
        top, width = self.scroll_offset.y - self._above, self.size.width
        shown = [row - top for row in changed if self._above <= row - top < self.size.height]
        if shown:
            self.refresh(*(Region(0, y, width, 1) for y in shown))

    @property
    def _above(self) -> int:
        return 1 if self.sheet.heading is not None else 0

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self._rebuild()

    def render_line(self, y: int) -> Strip:
        """One line of the screen; the heading stays where it is."""
        width, base, dark = self.size.width, self._ground, self._dark
        if y == 0 and self.sheet.heading is not None:
            return strip_of(self.sheet.heading, width, base, dark=dark)
        row = y - self._above + self.scroll_offset.y
        if not 0 <= row < len(self.sheet.lines):
            return strip_of(SheetLine(), width, base, dark=dark)
        line = self.sheet.lines[row]
        if row == self.row and line.key is not None:
            base = base + ground(dark=dark, focused=self.has_focus)
        return strip_of(line, width, base, dark=dark)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The ground is the same for all lines."""
        self._ground, self._dark = self.rich_style, is_dark(self)
        return super().render_lines(crop)

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A scroll bar that appears after its list was scrolled begins where the list is; textual begins at the top."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _into_view(self, *, middle: bool = False) -> None:
        """Scroll so that the cursor is seen; in the `middle` where it came from outside. It is forced: a list that has
        just become longer than its window has no scroll bar yet, without which textual would not scroll."""
        height = self.scrollable_content_region.height - self._above
        top = self.scroll_offset.y
        if height <= 0:
            return
        if middle and not top <= self.row < top + height:
            self.scroll_to(y=max(0, self.row - height // 2), animate=False, immediate=True, force=True)
            return
        if self.row < top:
            self.scroll_to(y=self.row, animate=False, immediate=True, force=True)
        elif self.row >= top + height:
            self.scroll_to(y=self.row - height + 1, animate=False, immediate=True, force=True)

    def _to(self, row: int) -> None:
        row = min(max(row, 0), len(self.sheet.lines) - 1)
        key = self.sheet.lines[row].key
        if key is None or row == self.row:
            return
        self.row, self._key = row, key
        self._into_view()
        self.refresh()
        self.post_message(self.Moved(self, key))

    def action_step(self, steps: int) -> None:
        """Go so many lines that can be chosen further."""
        rows = [row for row, line in enumerate(self.sheet.lines) if line.key is not None]
        if not rows:
            self.scroll_relative(y=steps, animate=False, immediate=True, force=True)
            return
        at = rows.index(self.row) if self.row in rows else 0
        self._to(rows[min(max(at + steps, 0), len(rows) - 1)])

    def action_page(self, pages: int) -> None:
        """Go a screen further."""
        self.action_step(pages * max(1, self.scrollable_content_region.height - self._above - 1))

    def action_choose(self) -> None:
        """Enter."""
        if 0 <= self.row < len(self.sheet.lines) and self.sheet.lines[self.row].key is not None:
            self.post_message(self.Chosen(self, self.sheet.lines[self.row].key))

    def on_click(self, event: events.Click) -> None:
        """Go where the mouse is; a click on the line of the cursor chooses it."""
        row = event.y - self._above + self.scroll_offset.y
        if event.y < self._above or not 0 <= row < len(self.sheet.lines):
            return
        if row == self.row:
            self.action_choose()
        else:
            self._to(row)

    def on_focus(self) -> None:
        """The cursor shows it."""
        self.refresh()

    def on_blur(self) -> None:
        """As above."""
        self.refresh()
