"""The part of the app that asks: for programs, machines, values, files; and what becomes of the answers."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.markup import escape

from aag.diagnostics import SourceError
from aag.ir.elements import element_name
from aag.ir.evaluate import Value
from aag.ir.nearest import did_you_mean
from aag.mapping.settable import settable
from aag.pipeline import main_unit
from aag.visible import escaped
from esp import locate
from esp.errors import EspError, UsageError
from esp.tui import copying, export
from esp.tui import state as steps
from esp.tui.failures import failure
from esp.tui.opening import Opened, Opening, open_program, opening
from esp.tui.screens.asking import Asking, Choosing, LineFilter, Values
from esp.tui.screens.help import Help
from esp.tui.sliders import NEUTRAL, PROCS, SIZE
from esp.values import pairs, value_of
from esp.writing import write_whole
from sag.errors import MachineError
from sag.scenario import Scenario
from sag.scenario import export as flatten

if TYPE_CHECKING:
    from textual.app import App

    from esp.request import Request
    from esp.tui.state import State
    from sag.unit import System

    _Base = App[None]
else:
    _Base = object

_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_GONE_S = 0.1

_MOST_FILES = 200
"""Programs of the working folder that are offered."""


class Dialogues(_Base):
    """Actions that open a dialogue; the app mixes them in."""

    state: "State"
    _opened: Opened | None
    _opening: Opening | None
    begin: Callable[[Opening], None]
    apply: Callable[..., None]
    start: Callable[[Opened], None]

    if TYPE_CHECKING:

        @property
        def where(self) -> str: ...  # noqa: D102 (the app has it)

    def action_help(self) -> None:
        """Keys and marks."""
        self.push_screen(Help())

    # --- opening ---

    def action_open_program(self) -> None:
        """Ask for a program."""
        names = [*_programs_here(), *(f"{name}.hpf" for name in locate.program_names())]
        note = "A path, or one of these: programs in this folder, then bundled ones."
        self.push_screen(Choosing("Open a program", note, list(dict.fromkeys(names))), self._open_program)

    def _open_program(self, name: str | None) -> None:
        if name is None:
            return
        try:
            locate.find_program(name)
        except EspError as error:
            self._say(error, "No program opened")
            return
        before = self._opened
        slider = self.state.sliders.get(PROCS)
        procs = None if before is None or slider is None else int(slider.value)
        scenario = Scenario() if before is None else before.request.scenario

        def machine() -> "System":
            from esp import api

            return api.load_machine("ipsc860") if before is None else before.system

        def request() -> "Request":
            from esp.request import Request

            return Request(procs=procs, scenario=scenario)

        self.begin(opening(name, machine, request))

    def action_reload(self) -> None:
        """Read the program again."""
        if self._opening is not None:
            self.begin(self._opening)

    def action_open_machine(self) -> None:
        """Ask for a machine."""
        note = "The path of a machine file, or a bundled machine."
        self.push_screen(Choosing("Another machine", note, locate.system_names()), self._open_machine)

    def _open_machine(self, name: str | None) -> None:
        if name is None or self._opened is None:
            return
        from esp import api

        try:
            system = api.load_machine(name)
            flatten(system, self._opened.request.scenario)
            self.start(open_program(self._opened.source, system, self._opened.request))
        except (SourceError, EspError, MachineError) as error:
            self._say(error, "No machine opened")

    # --- values ---

    def ask_for_values(self, names: tuple[str, ...], reasons: tuple[str, ...]) -> None:
        """Ask for values that the program does not say."""
        self.push_screen(Values(names, reasons), self._give)

    def _give(self, found: tuple[tuple[str, Value], ...] | None) -> None:
        if found:
            self.apply(steps.given(self.state, found))

    def action_set_value(self) -> None:
        """Ask for a name and a value."""
        known = ", ".join(self.state.sizes) or "none known"
        note = f"NAME=VALUE, as --set takes it. Sizes of this program: {known}."
        self.push_screen(Asking("Set a value", note, "", self._check_values), self._set_value)

    def _check_values(self, text: str) -> None:
        """Raise where the program has no such name, or its value decides nothing."""
        found = _named_values(text)
        if self._opened is None:
            return
        program = self._opened.source.program
        known = settable(main_unit(program), program.units)
        for name, _ in found:
            why = known.why.get(name, "the program has no such name")
            if why and not element_name(name):
                near = did_you_mean(name, known.offered)
                raise UsageError(f"{name}: {why}.", hint=near[:1].upper() + near[1:])

    def _set_value(self, text: str | None) -> None:
        if text:
            self.apply(steps.given(self.state, _named_values(text)))

    def ask_for_notch(self, name: str) -> None:
        """Ask for the value of a slider."""
        slider = self.state.sliders.get(name)
        if slider is None:
            return
        notes = {PROCS: "A number of processors.", SIZE: "A whole number."}
        note = notes.get(name, "A change: x2, 30%, or a value with its unit.")
        self.push_screen(
            Asking(slider.title.capitalize(), note, slider.value, lambda text: self._check(name, text)),
            lambda text: self._typed(name, text),
        )

    def _check(self, name: str, text: str) -> None:
        """Raise where a slider cannot take this."""
        if name in (PROCS, SIZE):
            if not text.isdecimal() or not 1 <= int(text) <= 2**20:
                raise UsageError(f"{text!r} is not a whole number between 1 and {2**20:,}.")
        elif self._opened is not None:
            flatten(self._opened.system, replace(Scenario(), **{name: text}))

    def _typed(self, name: str, text: str | None) -> None:
        if text is None:
            return
        if text != NEUTRAL.get(name) and text != self.state.sliders[name].value:
            self.apply(steps.typed(self.state, name, str(int(text)) if name in (PROCS, SIZE) else text))
        elif text == NEUTRAL.get(name):
            self.apply(steps.typed(self.state, name, text))

    # --- lists ---

    def action_find(self) -> None:
        """Show only the lines that contain a text, while it is typed."""
        where = self.where
        if where in (*steps.VIEWS, "choices"):
            known = self.state.wanted.get(where, "")
            self.push_screen(LineFilter(known, lambda text: self.apply(steps.narrowed(self.state, where, text))))

    def action_sort(self) -> None:
        """Sort the list with the focus by something else."""
        if self.where in steps.SORTS:
            self.apply(steps.sorted_anew(self.state, self.where), anew=True)
            self.notify(f"sorted by {steps.sort_of(self.state, self.where)}", timeout=2)

    # --- copying ---

    def action_copy_directives(self) -> None:
        """Copy what makes the source have the selected choice."""
        self._copy(copying.directives(self.state), "Nothing to paste: the source already has this choice.")

    def action_copy_command(self) -> None:
        """Copy the command that predicts what is on the screen."""
        found = "" if self._opened is None else copying.command(self.state, self._opened.request)
        self._copy(found, "There is no program.")

    def _copy(self, text: str, nothing: str) -> None:
        """By OSC 52, which the terminal must allow; the notice shows the text in any case."""
        if not text:
            self.notify(nothing, timeout=4)
            return
        self.copy_to_clipboard(text)
        self.notify("\n".join(escape(escaped(line)) for line in text.split("\n")), title="Copied", timeout=6)

    # --- export ---

    def action_export(self) -> None:
        """Ask for the name of a file."""
        note = "The suffix decides: .txt and .svg for the screen, .html, .json and .csv for the prediction."
        self.push_screen(Asking("Export", note, export.default_name(self.state), _exportable), self._export)

    def _export(self, name: str | None) -> None:
        if not name:
            return
        path = Path(name).expanduser()
        if path.suffix == ".svg":
            # Not before the dialogue is gone from the screen.
            self.set_timer(_GONE_S, lambda: self._write(path, self._picture))
        else:
            self._write(path, lambda: export.exported(self.state, path.suffix))

    def _picture(self) -> str:
        """The screen as an image, without fonts from elsewhere."""
        return _FONTS.sub("", self.export_screenshot(title=f"esp tui {self.state.file}"))

    def _write(self, path: Path, make: Callable[[], str]) -> None:
        try:
            write_whole(path, make())
        except EspError as error:
            self._say(error, "Nothing exported")
            return
        self.notify(escape(escaped(str(path))), title="Exported", timeout=4)

    def _say(self, error: Exception, title: str) -> None:
        self.notify(escape(escaped(failure(error).text)), title=title, severity="error", timeout=10)


def _programs_here() -> list[str]:
    """Programs of the working folder, by name."""
    here = Path()
    found = (path.name for path in here.iterdir() if path.suffix in locate.PROGRAM_SUFFIXES and path.is_file())
    return sorted(found)[:_MOST_FILES]


def _named_values(text: str) -> tuple[tuple[str, Value], ...]:
    given = pairs("--set", [text], lower=True)
    return tuple((name, value_of(name, each)) for name, each in given.items())


def _exportable(name: str) -> None:
    if Path(name).suffix not in export.SUFFIXES:
        raise UsageError("the suffix names no format.", hint=f"Use one of {', '.join(export.SUFFIXES)}.")
