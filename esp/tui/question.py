"""What the interface asks of the engine, and what the engine answers: frozen values that cross between threads."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.diagnostics import NOWHERE, Span
from aag.ir.evaluate import Value
from esp.inspect.ownership import Picture
from esp.prediction import Prediction
from esp.tui.course import Course

if TYPE_CHECKING:  # they come with the engine, for which the first frame does not wait
    from esp.explore.impact import Swing
    from esp.explore.scaling import Scaling
    from esp.formulas.formula import TimeFormula

WRITTEN = ""
"""Key of the choice that leaves the mapping of the source as it is."""


class ChoiceRow(Struct, frozen=True, kw_only=True):
    """A distribution that can be looked at.

    `key` names it; `shown` are its formats; `grid` its processor grid; `written`: it is where one
    begins; `rank`: place
    in the order of the enumeration, which settles between equal times.
    """

    key: str
    shown: str
    grid: tuple[int, ...]
    written: bool
    rank: int
    origin: str = ""
    """Where the choice that `written` marks comes from: the source, or the command line."""
    formats: tuple[tuple[str, str], ...] = ()
    """Name of a template or array -> its formats; nothing for the choice of the source."""
    asked_grid: tuple[int, ...] | None = None
    """The grid to ask for; None: that of Def 13."""
    directives: tuple[str, ...] = ()
    """Lines to paste in place of those of the source."""


class Failure(Struct, frozen=True, kw_only=True):
    """Why there is no result: text for a person, and the values that are missing, if that is why (D8)."""

    text: str
    names: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """For each name: where and why it is needed."""
    place: Span = NOWHERE
    """The first place in the program that the text names."""


Outcome = Prediction | Failure


class Settings(Struct, frozen=True, kw_only=True):
    """Where all sliders stand, and the values that were given: all that decides a prediction beside the choice."""

    load: str | None = None
    bandwidth: str | None = None
    latency: str | None = None
    processor_speed: str | None = None
    procs: int | None = None
    values: tuple[tuple[str, Value], ...] = ()

    @property
    def lowering(self) -> tuple[object, ...]:
        """The part that decides the node program; who changes nothing of it only interprets again."""
        return self.procs, self.values


class Pinned(Struct, frozen=True, kw_only=True):
    """A prediction that others are compared with: of a choice under some settings. `name` says both."""

    key: str
    settings: Settings
    name: str
    prediction: Prediction


class Question(Struct, frozen=True, kw_only=True):
    """Predict all choices under these settings, `wanted` first, and look closer at that one if asked to."""

    number: int
    settings: Settings
    wanted: str
    processors: bool = False
    """Each AAU on each processor."""
    course: bool = False
    """The course of events."""
    alone: tuple[tuple[str, Settings], ...] = ()
    """Where several sliders moved: each of them, and the settings with only that one moved."""
    impact: bool = False
    """What matters most."""
    scaling: bool = False
    """How it scales."""
    aside: bool = False
    """What a wide terminal shows besides: the speed-up, who holds what, the course of events."""


class ByProcessor(Struct, frozen=True, kw_only=True, eq=False):
    """What each AAU costs each processor: AAU -> (4, P) seconds in the order of `interpreter.metrics.Category`."""

    parts: Mapping[int, NDArray[np.float64]]
    procs: int


class ProgramList(Struct, frozen=True, kw_only=True):
    """The choices there are. `left_out`: how many more; `sized_by`: see `Listed`."""

    choices: tuple[ChoiceRow, ...]
    left_out: int = 0
    sized_by: tuple[str, ...] = ()


class ListedProgram(Struct, frozen=True, kw_only=True):
    """The choices there are under the settings of a question, and which of them takes the place of the wanted one."""

    number: int
    choices: tuple[ChoiceRow, ...]
    wanted: str
    left_out: int
    sized_by: tuple[str, ...]
    """PARAMETERs that the shapes of what is distributed are made of."""


class PredictedAnswer(Struct, frozen=True, kw_only=True):
    """The outcome of one choice."""

    number: int
    key: str
    outcome: Outcome


class Progress(Struct, frozen=True, kw_only=True):
    """How far a prediction has come that takes long: of the choice `shown`, so much of the iterations of a loop."""

    number: int
    shown: str
    line: int
    done: float


class Closer(Struct, frozen=True, kw_only=True):
    """The closer look at one choice; what was not asked for is None."""

    number: int
    key: str
    processors: ByProcessor | Failure | None = None
    course: Course | Failure | None = None


class Alone(Struct, frozen=True, kw_only=True):
    """The time of the wanted choice with one slider moved at a time: name of the slider -> seconds."""

    number: int
    key: str
    times_s: Mapping[str, float]


class Impact(Struct, frozen=True, kw_only=True):
    """What matters most to a choice: the time as it is, and what each figure does to it, the furthest first."""

    number: int
    key: str
    base_s: float
    swings: tuple["Swing", ...]
    shares: Mapping[str, float] = {}
    """Kind of figure -> the share of the time that it decides; nothing where that is not known."""


class Scaled(Struct, frozen=True, kw_only=True):
    """How a choice scales: its time on other numbers of processors, as far as they are predicted, and the sizes that
    keep the speed of a processor (None: not yet)."""

    number: int
    key: str
    times_s: Mapping[int, float]
    found: "Scaling | Failure | None" = None
    tried: int = 0
    """Predictions made so far to find them."""
    formula: "TimeFormula | Failure | None" = None
    """The time as a formula in the size (None: not yet)."""


class Aside(Struct, frozen=True, kw_only=True, eq=False):
    """What a wide terminal shows of a choice besides: pictures of its arrays, and the time on other numbers of
    processors, as far as it is predicted."""

    number: int
    key: str
    pictures: tuple[Picture, ...]
    times_s: Mapping[int, float]


class Finished(Struct, frozen=True, kw_only=True):
    """All of a question is answered, but for what is tried afterwards."""

    number: int


class TiesKnown(Struct, frozen=True, kw_only=True):
    """The scenarios of all choices that could be the fastest are predicted, too: ties are known."""

    number: int


Answer = ListedProgram | PredictedAnswer | Progress | Closer | Alone | Impact | Scaled | Aside | Finished | TiesKnown
