"""Help: the keys, and what the marks mean."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from esp.tui.screens.dialogue import Dialogue

TEXT = """\
[b]Keys[/b]
  Tab, Shift+Tab    next part of the screen, the one before
  arrows, Page Up   move in lists and sliders; so does the mouse
  1 2 3 4 5 6 7     source, parts, timeline, compare, what matters,
                    calls, scaling
  w                 what if: the sliders; Left and Right move them,
                    Enter types a value, r puts all of them back
  b                 pin as B: keep what the screen shows, with its
                    sliders, to compare with (4); again unpins it
  /, t              show only lines with a text; sort the list
  y, Y              copy the directives to paste; copy the esp run
                    that prints what the screen shows
  z                 the view gets the whole width
  o, s              open another program, another machine
  v                 set the value of a PARAMETER or variable
  e                 export what is on the screen
  Ctrl+p            all commands, by name
  F5                read the program again, after it was edited
  q, Ctrl+c         quit

[b]Choices[/b]  every sensible DISTRIBUTE, the fastest first; ◆ as in
the source, B what the selected one is compared with. "+1% =2" is
1 % slower than the fastest, and ties with choice 2: the prediction
does not decide which is faster. "?" means not known yet.

[b]What if[/b]  behind each slider that moved: what it does alone. The line
below: what all do together. 5 changes one thing at a time and shows
first what matters most.

[b]Source[/b]  the time of each line, mean over processors. After a slider
moved, the column change says which lines moved. Left and Right
shift long lines.

[b]Parts[/b]  of the program (AAUs), as a tree. Enter folds one, f all
loops, then the program, then nothing. p shows the processors below
a unit; Enter on one of them, or [ and ], shows that processor alone,
Escape the mean again.

[b]Calls[/b]  of procedures, as a tree: incl with the procedures that a
call makes, excl without them. Enter shows the call in the source.

[b]Scaling[/b]  this size on other numbers of processors, and the size
at which each of 1, 2, 4 and 8 times as many keeps its speed.

[b]Timeline[/b]  what each processor mostly does in each stretch of time.
+ and - zoom, Left and Right move, 0 shows all; n and N point out
the next message and the one before: S sent, R received.

A row that is low in a column shows what comes second there.
█ computation  ▓ communication  ░ waiting  ▒ overhead
"""


class Help(Dialogue[None]):
    """The help; any of its keys closes it again."""

    BINDINGS = [  # noqa: RUF012 (textual wants it so)
        Binding("question_mark,f1,q,enter", "close", "close", show=False)
    ]

    def compose(self) -> ComposeResult:
        """The text."""
        with Vertical(classes="box"), VerticalScroll():
            yield Static(TEXT.replace("[ and ]", "\\[ and ]"))

    def on_mount(self) -> None:
        """Arrows scroll at once."""
        self.query_one(VerticalScroll).focus()
