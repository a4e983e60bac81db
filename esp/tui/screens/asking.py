"""Dialogues that ask: for one line of text, for the values that a program does not say, for a name of a list."""

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, OptionList, Static

from aag.ir.evaluate import Value
from esp.errors import EspError
from esp.tui.screens.dialogue import Dialogue
from esp.values import value_of
from sag.errors import MachineError


class Asking(Dialogue[str]):
    """One line of text. `check` raises where it will not do; what it says is shown."""

    def __init__(self, title: str, note: str, text: str, check: Callable[[str], object]) -> None:
        super().__init__()
        self._title, self._note, self._text, self._check = title, note, text, check

    def compose(self) -> ComposeResult:
        """Title, note, line, what is wrong."""
        with Vertical(classes="box"):
            yield Static(self._title, classes="title", markup=False)
            yield Static(self._note, classes="note", markup=False)
            yield Input(self._text, id="line")
            yield Static("", classes="wrong", markup=False)

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Take the line, or say what is wrong with it."""
        text = event.value.strip()
        try:
            self._check(text)
        except (EspError, MachineError, ValueError) as error:
            self.query_one(".wrong", Static).update(" ".join(str(error).split()))
            return
        self.dismiss(text)


class LineFilter(Dialogue[None]):
    """A line at the bottom; what is typed has its effect at once. Enter keeps it, Escape takes it back."""

    def __init__(self, text: str, changed: Callable[[str], object]) -> None:
        super().__init__()
        self._text, self._changed = text, changed

    def compose(self) -> ComposeResult:
        """The line."""
        yield Input(self._text, placeholder="show only lines that contain ... (Enter keeps, Escape shows all)")

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Show the effect."""
        self._changed(event.value.strip())

    @on(Input.Submitted)
    def keep(self) -> None:
        """Go back to the list."""
        self.dismiss(None)

    def action_close(self) -> None:
        """All lines again."""
        self._changed("")
        self.dismiss(None)


class Values(Dialogue[tuple[tuple[str, Value], ...]]):
    """A value for each name that the program does not say (D8); Escape gives up."""

    def __init__(self, names: Sequence[str], reasons: Sequence[str]) -> None:
        super().__init__()
        self._names, self._reasons = tuple(names), tuple(reasons)

    def compose(self) -> ComposeResult:
        """A line for each name below its reason."""
        with Vertical(classes="box"):
            yield Static("The program does not give these values", classes="title")
            yield Static(
                "Enter continues, Escape cancels. Values are constants: 256, 1.0d-4, .true. or 'text'.", classes="note"
            )
            with VerticalScroll():
                for at, (name, reason) in enumerate(zip(self._names, self._reasons, strict=True)):
                    yield Static(f"\n{name}: {reason}", markup=False)
                    yield Input(placeholder=f"{name} =", id=f"value-{at}")
            yield Static("", classes="wrong", markup=False)

    def on_mount(self) -> None:
        """Begin with the first."""
        self.query(Input).first().focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """The next line, or all of them where none is empty."""
        del event
        found: list[tuple[str, Value]] = []
        wrong = self.query_one(".wrong", Static)
        for name, line in zip(self._names, self.query(Input), strict=True):
            if not line.value.strip():
                line.focus()
                return
            try:
                text = line.value.strip()
                named, sign, value = text.partition("=")
                found.append((name, value_of(name, value if sign and named.strip().lower() == name.lower() else text)))
            except EspError as error:
                wrong.update(str(error))
                line.focus()
                return
        self.dismiss(tuple(found))


class Choosing(Dialogue[str]):
    """A name: typed, or one of a list that shrinks to what fits it."""

    def __init__(self, title: str, note: str, names: Sequence[str]) -> None:
        super().__init__()
        self._title, self._note, self._names = title, note, tuple(names)

    def compose(self) -> ComposeResult:
        """Title, note, line, list."""
        with Vertical(classes="box"):
            yield Static(self._title, classes="title", markup=False)
            yield Static(self._note, classes="note", markup=False)
            yield Input(id="line")
            yield OptionList(*self._names)

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Show the names that contain what was typed."""
        found = self.query_one(OptionList)
        found.clear_options()
        found.add_options(self.fitting(event.value))

    def fitting(self, text: str) -> list[str]:
        """The names that contain a text."""
        return [name for name in self._names if text.strip().lower() in name.lower()]

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """What was typed, or the only name that fits it."""
        text = event.value.strip()
        fitting = self.fitting(text)
        self.dismiss(fitting[0] if len(fitting) == 1 else text or None)

    @on(OptionList.OptionSelected)
    def pick(self, event: OptionList.OptionSelected) -> None:
        """A name of the list."""
        self.dismiss(str(event.option.prompt))

    def key_down(self) -> None:
        """From the line into the list."""
        if isinstance(self.focused, Input):
            self.query_one(OptionList).focus()
