"""The app: turns keys, mouse and answers into steps of the state, and the state into what the widgets draw."""

import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.containers import Container, Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from esp.tui import keys, pinned
from esp.tui import state as steps
from esp.tui.answers import answered
from esp.tui.commands import choices_to_take, commands
from esp.tui.dialogues import Dialogues
from esp.tui.following import follow
from esp.tui.lines import Piece
from esp.tui.opening import Opened, Opening
from esp.tui.question import Answer, ListedProgram, PredictedAnswer, Progress
from esp.tui.served import leave_when_told, leave_with_server
from esp.tui.sheets import aside, choices, detail, frame, timeline
from esp.tui.sheets.changes import changes
from esp.tui.sheets.figures import change
from esp.tui.sheets.views import sheet
from esp.tui.sliders import ORDER
from esp.tui.state import State, View
from esp.tui.themes import DARK, LIGHT
from esp.tui.widgets.bars import Bar, SliderBar
from esp.tui.widgets.sheet_view import SheetView

if TYPE_CHECKING:
    from esp.tui.engine import Engine

_DRAWN_S = 1.0
"""How long the other choices wait for the selected one to be drawn."""

SLOW_S = 0.1
"""Who waits for longer than this should see that something is going on."""

_MOST_WHY = 0.4
"""Share of the screen for the lines that say why there is no prediction, at most."""

_ROOMY = (170, 40)
"""Columns and rows from which the screen shows more beside the lists."""

_ASIDE = 64
"""Columns of what it shows."""

_BORDER = 2
"""Columns of the list of choices for its border and its scroll bar."""


class Answered(Message):
    """The engine said something."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class WasRead(Message):
    """A program was read, or was not."""

    def __init__(self, opening: Opening, found: Opened | State | Exception) -> None:
        super().__init__()
        self.opening, self.found = opening, found


class Explorer(Dialogues, App[None]):
    """See and explore one program on one machine."""

    CSS_PATH = Path(__file__).with_name("theme.tcss")
    TITLE = "esp"
    BINDINGS = keys.BINDINGS

    def __init__(self, opening: Opening | Opened | None) -> None:
        """`opening`: what to begin with; None asks for a program first."""
        super().__init__()
        self._opening = opening if isinstance(opening, Opening) else None
        self._opened = opening if isinstance(opening, Opened) else None
        self.state = steps.nothing() if self._opened is None else self._opened.state
        self.ended_by: Exception | None = None
        """Why the first program or machine cannot be used at all."""
        self._engine: Engine | None = None
        self._beat = 0
        self._asked_for: tuple[str, ...] = ()
        self._detail = 4
        """Lines below the view."""
        self._stale = False
        """Whether other choices have news that the screen does not show yet."""

    # --- the screen ---

    def compose(self) -> ComposeResult:
        """All widgets; what they show comes from `draw`."""
        yield Bar(id="heading")
        yield Bar(id="tabs")
        with Horizontal(id="panes"):
            yield SheetView(id="choices")
            yield SheetView(id="view")
            with Vertical(id="aside"):
                yield Bar(id="picture")
                yield Bar(id="small-timeline")
        yield Bar(id="detail")
        with Container(id="strip"):
            for name in ORDER:
                yield SliderBar(name)
            yield Bar(id="moved")
        yield Bar(id="keys")

    def on_mount(self) -> None:
        """Begin."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name
        self.query_one("#choices").focus()
        self.set_interval(SLOW_S, self._turn)
        leave_when_told(self)
        leave_with_server(self)
        if self._opening is not None:
            self.begin(self._opening)
        elif self._opened is not None:
            self.start(self._opened)
        else:
            self.action_open_program()

    def on_unmount(self) -> None:
        """The thread ends with the app."""
        if self._engine is not None:
            self._engine.stop()

    def begin(self, opening: Opening) -> None:
        """Show the name of a program; read it when that is on the screen."""
        if self._engine is not None:
            self._engine.stop()
            self._engine = None
        self._opening = opening
        self.apply(steps.after(steps.nothing(opening.file, busy=True), self.state), anew=True)
        self.call_after_refresh(threading.Thread(target=self._read, args=(opening,), daemon=True).start)

    def _read(self, opening: Opening) -> None:
        """In a thread that ends with it."""
        found: Opened | State | Exception
        try:
            found = opening.opened()
        except Exception as error:  # noqa: BLE001 (the app raises it)
            found = error
        self.post_message(WasRead(opening, found))

    @on(WasRead)
    def was_read(self, message: WasRead) -> None:
        """Work on it, or show why not."""
        if message.opening is not self._opening:
            return
        match message.found:
            case Opened() as opened:
                self.start(opened)
            case State() as why:
                self.apply(steps.after(why, self.state), anew=True)
            case error:
                self.ended_by = error
                self.exit(return_code=1)

    def start(self, opened: Opened) -> None:
        """Work on a program and a machine from now on."""
        from esp.tui.engine import Engine

        if self._engine is not None:
            self._engine.stop()
        self._opened = opened
        self._asked_for = ()
        self._engine = Engine(opened.source, opened.system, opened.request, self._deliver, _DRAWN_S)
        self._engine.start()
        # Questions are counted on, so that late answers for the program before fit none.
        self.apply(steps.asking(steps.after(opened.state, self.state)), anew=True)

    def _deliver(self, answer: Answer) -> None:
        """Called in the thread of the engine."""
        self.post_message(Answered(answer))

    def apply(self, state: State, *, anew: bool = False) -> None:
        """Go on to another state: ask what it asks, draw what it shows. `anew`: lists begin at their top."""
        asked = state.number != self.state.number
        anew = anew or state.view != self.state.view
        self.state = state
        if asked:
            self._ask()
        self.draw(anew=anew)

    def _ask(self) -> None:
        """Put the question of the state."""
        if self._engine is not None:
            self._engine.ask(steps.question(self.state))
            self.set_timer(SLOW_S, partial(self._take_note, self.state.number))

    def _take_note(self, number: int) -> None:
        slow = steps.dragging_on(self.state, number)
        if slow is not self.state:
            self.apply(slow)

    def _turn(self) -> None:
        """Ten times a second: the spinner, and what came in of other choices meanwhile."""
        if not self._there:
            return
        if self.state.slow:
            self._beat += 1
            self._draw_heading()
        if self._stale:
            self._draw_choices()
            if self.state.view == "compare":
                self._draw_view()

    @on(Answered)
    def take(self, message: Answered) -> None:
        """An answer of the engine."""
        answer = message.answer
        before, self.state = self.state, answered(self.state, answer)
        if self.state is before or not self._there:
            return
        match answer:
            case ListedProgram():
                self._stale = True
            case PredictedAnswer(key=key) if key != self.state.selected:
                self._stale = True
            case Progress():
                pass
            case _:
                self.draw()
        if self.state.selected in self.state.fresh:
            self.call_after_refresh(self._tell_engine)
        self._ask_for_values()

    def _tell_engine(self) -> None:
        if self._engine is not None:
            self._engine.seen()

    def draw(self, *, anew: bool = False) -> None:
        """Show the state."""
        if not self._there:
            return
        state = self.state
        self._draw_heading()
        self._draw_choices()
        self._draw_view(anew=anew)
        self._draw_detail()
        self._draw_sliders()
        self._draw_aside()
        self.bar("moved").show(lambda width: changes(state, width))
        self._draw_keys()
        self.screen.set_class(state.wide, "wide")

    @property
    def _there(self) -> bool:
        """Whether the widgets are there: late answers find them gone."""
        return self.is_running and bool(self.screen_stack) and bool(self.screen_stack[0].query("#keys"))

    def bar(self, name: str) -> Bar:
        """One of the bars."""
        return cast("Bar", self.screen_stack[0].query_one(f"#{name}"))

    @property
    def view(self) -> SheetView:
        """The list on the right."""
        return cast("SheetView", self.screen_stack[0].query_one("#view"))

    def _draw_heading(self) -> None:
        state, beat = self.state, self._beat
        self.bar("heading").show(lambda width: frame.heading(state, width, beat))

    def _draw_choices(self) -> None:
        self._stale = False
        state = self.state
        self.bar("tabs").show(lambda width: (frame.tabs(state, width),))
        found = cast("SheetView", self.screen_stack[0].query_one("#choices"))
        found.styles.width = choices.pane_width(state, self.size.width - _ASIDE * state.roomy) + _BORDER
        found.show(partial(choices.sheet, state), state.selected)

    def _draw_sliders(self) -> None:
        for slider in self.screen_stack[0].query(SliderBar):
            slider.show(self.state.sliders.get(slider.of), self._effect(slider.of))

    def _effect(self, name: str) -> Piece:
        """What a slider does by itself, as a piece of text."""
        both = steps.effect(self.state, name)
        return ("", "") if both is None else change(*both)

    def _draw_view(self, *, anew: bool = False) -> None:
        state = self.state
        self.view.show(partial(sheet, state), state.cursor.get(state.view), anew=anew)

    def _draw_aside(self) -> None:
        """What a large terminal has room for."""
        state = self.state
        if not state.roomy:
            return
        from esp.tui.widgets.curve import SpeedUp

        pane = self.screen_stack[0].query_one("#aside")
        if not pane.query(SpeedUp):
            pane.mount(SpeedUp(), before=0)
        pane.query_one(SpeedUp).show(aside.speed_up(state), *aside.name_and_number(state))
        picture = self.bar("picture")
        picture.show(lambda width: aside.layout_lines(state, width, picture.size.height))
        self.bar("small-timeline").show(lambda width: aside.timeline_lines(state, width))

    def _draw_detail(self) -> None:
        state, bar = self.state, self.bar("detail")
        why = steps.failed(state)
        height = self._detail
        if why is not None:
            height = max(height, min(int(_MOST_WHY * self.size.height), len(why.text.splitlines())))
        bar.styles.height = height
        bar.show(partial(detail.lines, state, of_choice=self.where == "choices"))

    def _draw_keys(self) -> None:
        where = self.where
        self.bar("keys").show(lambda width: (frame.keys(where, width)[0],))

    @property
    def where(self) -> str:
        """Where the focus is, as `frame.KEYS` calls it."""
        focused = self.screen_stack[0].focused
        if isinstance(focused, SliderBar):
            return "what-if"
        return "choices" if focused is not None and focused.id == "choices" else self.state.view

    def on_descendant_focus(self) -> None:
        """Other keys are worth showing, and other words."""
        if self._there:
            self._draw_keys()
            self._draw_detail()

    def on_resize(self, event: events.Resize) -> None:
        """More room, more to say."""
        width, height = event.size.width, event.size.height
        main = self.screen_stack[0]
        self._detail = 3 if height < 30 else 6 if height < 45 else 8
        self.call_next(self._draw_choices)  # only then `size` is the new one
        self._draw_detail()
        main.set_class(width < frame.THREE_SLIDERS, "narrow")
        main.set_class(width >= frame.SIX_SLIDERS, "huge")
        roomy = width >= _ROOMY[0] and height >= _ROOMY[1]
        main.set_class(roomy, "roomy")
        self.apply(steps.with_room(self.state, roomy=roomy))

    # --- messages of widgets ---

    @on(SheetView.Moved, "#choices")
    def another_choice(self, message: SheetView.Moved) -> None:
        """Look at another choice."""
        if isinstance(message, SheetView.Chosen):
            self._go_to(self.view)
        else:
            self.apply(steps.select(self.state, str(message.key)))

    @on(SheetView.Moved, "#view")
    def another_line(self, message: SheetView.Moved) -> None:
        """The cursor of the view went elsewhere, or something was chosen in it."""
        key = message.key
        if not isinstance(message, SheetView.Chosen):
            self.state = steps.put_cursor(self.state, self.state.view, key)
            self._draw_detail()
            return
        match self.state.view, key:
            case "tree", int(aau):
                self.apply(steps.fold(self.state, aau))
            case "tree", (int(), int(rank)):
                self.apply(steps.one_processor(self.state, rank))
            case _:
                self.apply(follow(self.state, key))

    @on(SliderBar.Moved)
    def moved(self, message: SliderBar.Moved) -> None:
        """A slider was moved."""
        after = steps.moved(self.state, message.name, message.at)
        if after is not self.state:
            self.state = after
            self._ask()
            self._draw_sliders()  # the rest has its turn with the answer

    @on(SliderBar.Typing)
    def typing(self, message: SliderBar.Typing) -> None:
        """A slider wants a value that somebody types."""
        self.ask_for_notch(message.name)

    @on(Bar.Clicked)
    def clicked(self, message: Bar.Clicked) -> None:
        """A tab or a key of the footer."""
        width = message.bar.size.width
        if message.bar.id == "tabs":
            view = frame.tab_at(self.state, width, message.column)
            if view is not None:
                self.action_view(view)
        elif message.bar.id == "keys":
            for low, high, key in frame.keys(self.where, width)[1]:
                if low <= message.column < high:
                    self.simulate_key(key)

    # --- actions ---

    def action_view(self, view: View) -> None:
        """Another view."""
        self.apply(steps.look_at(self.state, view))
        self._go_to(self.view)

    def action_what_if(self) -> None:
        """To the sliders."""
        self._go_to(self.query(SliderBar).first())

    def action_pin(self) -> None:
        """Keep what is on the screen to compare with."""
        self.apply(pinned.pin(self.state))

    def action_wide(self) -> None:
        """The view gets the whole width, or no longer."""
        self.apply(steps.widened(self.state))
        if self.state.wide and self.where == "choices":
            self._go_to(self.view)

    def _go_to(self, widget: Widget) -> None:
        """Focus now: `Widget.focus` does so later, and the keys that follow quickly would go astray."""
        self.screen_stack[0].set_focus(widget)

    def action_reset(self) -> None:
        """All sliders go back."""
        self.apply(steps.back_home(self.state))

    def action_coarser(self) -> None:
        """Fold all loops of the graph, then the program, then nothing."""
        if self.state.view == "tree":
            self.apply(steps.coarser(self.state))

    def action_processors(self) -> None:
        """Show the processors of the AAU under the cursor."""
        key = self.view.sheet.lines[self.view.row].key if self.view.sheet.lines else None
        aau = key[0] if isinstance(key, tuple) else key
        if self.state.view == "tree" and isinstance(aau, int):
            self.apply(steps.spread(self.state, aau))

    def action_processor(self, step: int) -> None:
        """Show one processor, the next or the one before."""
        now = self.state.processor
        if self.state.view == "tree":
            self.apply(steps.one_processor(self.state, (0 if step > 0 else -1) if now is None else now + step))

    def action_zoom(self, factor: float) -> None:
        """Show a shorter or longer part of the run."""
        if self.state.view == "timeline":
            self.apply(steps.zoomed(self.state, factor))

    def action_sideways(self, step: int) -> None:
        """Shift the source, move the timeline."""
        self.apply(steps.sideways(self.state, step))

    def action_message(self, step: int) -> None:
        """Point out another message."""
        if self.state.view == "timeline":
            self.apply(steps.pointed_at(self.state, timeline.next_message(self.state, step)))

    def action_out(self) -> None:
        """One step back: from one processor to all, from the wide view to both."""
        self.apply(steps.stepped_out(self.state))

    def _ask_for_values(self) -> None:
        """Ask once for values that the program does not say."""
        found = steps.missing(self.state)
        if found is not None and found.names != self._asked_for:
            self._asked_for = found.names
            self.ask_for_values(found.names, found.reasons)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The command palette: everything a key does, every choice, every size."""
        del screen
        for shown, listed in ((True, commands(self.state)), (False, choices_to_take(self.state))):
            for title, what, method, *arguments in listed:
                # Choices are too many for the list that comes first: they are found by typing.
                yield SystemCommand(title, what, partial(getattr(self, method), *arguments), discover=shown)

    def choose(self, key: str) -> None:
        """Look at this choice."""
        self.apply(steps.select(self.state, key))

    def compare(self, key: str) -> None:
        """Look at it beside the selected choice."""
        self.apply(steps.look_at(pinned.pin_choice(self.state, key), "compare"), anew=True)

    def move_size(self, name: str) -> None:
        """The size slider moves this PARAMETER."""
        self.apply(steps.sized_by(self.state, name))

    def action_light_or_dark(self) -> None:
        """Change the theme."""
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name
        self.draw()
