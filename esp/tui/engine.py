"""A thread that answers questions. The newest question wins: whatever is under way for an older one is given up.

What does not depend on what changed is not done again: node programs are kept for each choice, number of processors
and set of values, so that another load or bandwidth is one more interpretation; and so are the latest predictions, so
that a slider that comes back shows what it showed before.
"""

import contextlib
import gc
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from aag.diagnostics import SourceError
from esp import api
from esp.errors import EspError
from esp.explore.impact import Swing, swings
from esp.explore.interval import cheap, contenders, interval_of, own_walk
from esp.explore.scaling import Scaling, scaled
from esp.explore.sensitivity import sensitivities
from esp.formulas.derivation import formula_of
from esp.inspect.ownership import pictures
from esp.prediction import Interval
from esp.prediction import first as time_of
from esp.traces.record import predicted_trace
from esp.tui.choices import choices_for, chosen, in_place_of
from esp.tui.course import Course, course_of
from esp.tui.failures import failure
from esp.tui.processors import by_processor
from esp.tui.question import (
    Alone,
    Answer,
    Aside,
    ByProcessor,
    ChoiceRow,
    Closer,
    Failure,
    Finished,
    Impact,
    ListedProgram,
    Outcome,
    PredictedAnswer,
    ProgramList,
    Progress,
    Question,
    Scaled,
    Settings,
    TiesKnown,
)
from esp.tui.recent import RecentAnswers
from interpreter.listeners import Watch
from sag.errors import MachineError
from sag.unit import System

MOST_STAGES = 64
MOST_PREDICTIONS = 512
MOST_EVENTS = 400_000
"""Events of a timeline: more than any screen tells apart, and still a moment to prepare."""

_FAREWELL_S = 0.1
"""How long the app waits for the thread at its end; what takes longer, such as a lowering, ends with the process."""

PATIENCE_S, EVERY_S = 1.0, 0.25
"""How long a prediction takes before it says how far it is, and how often it does."""

CURVE = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of processors of the speed-up."""

GROWING = (1, 2, 4, 8)
"""Multiples of the number of processors for which sizes are sought that keep the speed."""

REST_S = 10.0
"""After so long without a question nobody minds a search for cyclic garbage, which stops everything for a moment."""
OBJECTS = 500_000
"""New objects that are worth one. Python itself begins far later (`esp.cli.main`), but then while a slider moves."""

V = TypeVar("V")


class Superseded(Exception):
    """A newer question is there."""


class Engine:
    """Answers questions about one program on one machine in a thread of its own.

    `deliver` is called in that thread, with one answer after the other.
    """

    def __init__(
        self,
        source: api.Source,
        system: System,
        request: api.Request,
        deliver: Callable[[Answer], None],
        patience_s: float = 0.0,
    ) -> None:
        """`patience_s`: how long to wait for `seen` after the wanted choice, so that drawing it has the processor."""
        self._patience_s = patience_s
        self._seen = threading.Event()
        self._source, self._system, self._request = source, system, request
        self._deliver = deliver
        self._changed = threading.Condition()
        self._question: Question | None = None
        self._waiting = False
        self._stopped = False
        self._met: dict[str, ChoiceRow] = {}
        """All choices there were: what a key stands for."""
        self._lists: RecentAnswers[tuple[object, ...], ProgramList] = RecentAnswers(MOST_STAGES)
        self._stages: RecentAnswers[tuple[object, ...], api.Stages] = RecentAnswers(MOST_STAGES)
        self._outcomes: RecentAnswers[tuple[Settings, str], Outcome] = RecentAnswers(MOST_PREDICTIONS)
        self._intervals: RecentAnswers[tuple[Settings, str], Interval] = RecentAnswers(MOST_PREDICTIONS)
        self._thread = threading.Thread(target=self._serve, name="esp-engine", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Give up what is under way and end the thread."""
        with self._changed:
            self._stopped, self._question = True, None
            self._changed.notify()
        self._seen.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=_FAREWELL_S)

    def ask(self, question: Question) -> None:
        """Put a question in the place of any earlier one."""
        with self._changed:
            self._waiting, self._question = True, question
            self._seen.set()  # an older question waits no longer
            self._changed.notify()

    def seen(self) -> None:
        """What was delivered is on the screen: go on with the rest."""
        self._seen.set()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._changed.wait_for(lambda: self._stopped or self._waiting, REST_S):
                    _tidy_up()
                if self._stopped:
                    return
                self._waiting, question = False, self._question
            assert question is not None
            with contextlib.suppress(Superseded):
                self.answer(question)

    def answer(self, question: Question) -> None:
        """Answer a question, in the calling thread.

        Raises:
            Superseded: there is a newer one.
        """
        request = self._asked(question.settings)
        listing = self._list(question, request)
        if isinstance(listing, Failure):
            self._deliver(PredictedAnswer(number=question.number, key=question.wanted, outcome=listing))
            self._deliver(Finished(number=question.number))
            self._deliver(TiesKnown(number=question.number))
            return
        wanted = in_place_of(question.wanted, tuple(self._met.values()), listing.choices)
        self._deliver(
            ListedProgram(
                number=question.number,
                choices=listing.choices,
                wanted=wanted,
                left_out=listing.left_out,
                sized_by=listing.sized_by,
            )
        )
        first = next(each for each in listing.choices if each.key == wanted)
        self._seen.clear()
        outcome = self._tell(question, request, first)
        if question.processors or question.course:
            self._deliver(self._look_closer(question, request, first))
        self._deliver_alone(question)
        if question.impact and not isinstance(outcome, Failure):
            self._deliver_impact(question, request, first)
        if question.scaling and not isinstance(outcome, Failure):
            self._deliver_scaling(question, request, first, next(iter(listing.sized_by), ""))
        self._seen.wait(self._patience_s)
        found = [(first, outcome)]
        if not isinstance(outcome, Failure) or not outcome.names:  # else the others miss the same values
            found += [(each, self._tell(question, request, each)) for each in listing.choices if each is not first]
        self._deliver(Finished(number=question.number))
        if question.aside and not isinstance(outcome, Failure):
            self._deliver_aside(question, request, first)
        self._deliver_intervals(question, request, found)
        self._deliver(TiesKnown(number=question.number))

    def _deliver_intervals(
        self, question: Question, request: api.Request, found: Sequence[tuple[ChoiceRow, Outcome]]
    ) -> None:
        """The choices that could be the fastest once more, with their times in all scenarios (Def 19)."""
        made = [(choice, each) for choice, each in found if isinstance(each, api.Prediction)]
        made.sort(key=lambda pair: (not pair[1].fits, time_of(pair[1].time_s)))
        times_s, predictions = [time_of(each.time_s) for _, each in made], [each for _, each in made]
        for at in contenders(times_s, predictions):
            choice, prediction = made[at]
            asked = chosen(request, choice)

            def tried(
                choice: ChoiceRow = choice, asked: api.Request = asked, made: api.Prediction = prediction
            ) -> Interval:
                watch = self._watch(question)
                walk = own_walk(self._lowered(question, request, choice), self._system, asked, watch, made=made)
                return interval_of(self._source, self._system, asked, walk, watch)

            interval = self._intervals.use((question.settings, choice.key), tried)
            known = replace(prediction, interval=interval)
            self._deliver(PredictedAnswer(number=question.number, key=choice.key, outcome=known))

    def _deliver_aside(self, question: Question, request: api.Request, choice: ChoiceRow) -> None:
        """What a wide terminal shows besides, when all choices are predicted."""
        layouts = self._lowered(question, request, choice).node_program.layouts
        shown = pictures(layouts, tuple(layouts.arrays))
        times: dict[int, float] = {}
        if not question.course:
            self._deliver(self._look_closer(replace(question, processors=False, course=True), request, choice))
        for procs in sorted({*CURVE, question.settings.procs or 1}):
            time_s = self._time_under(question, replace(question.settings, procs=procs))
            times |= {procs: time_s} if time_s is not None else {}
            self._deliver(Aside(number=question.number, key=choice.key, pictures=shown, times_s=dict(times)))

    def _tell(self, question: Question, request: api.Request, choice: ChoiceRow) -> Outcome:
        """Deliver the outcome of a choice, kept or made."""
        self._go_on(question)
        outcome = self._outcomes.use(
            (question.settings, choice.key), lambda: self._interpreted(question, request, choice)
        )
        self._deliver(PredictedAnswer(number=question.number, key=choice.key, outcome=outcome))
        return outcome

    def _deliver_alone(self, question: Question) -> None:
        """What each of several sliders does alone; most often this is at hand, as one moved after the other."""
        times = {name: self._time_under(question, settings) for name, settings in question.alone}
        known = {name: time_s for name, time_s in times.items() if time_s is not None}
        if question.alone:
            self._deliver(Alone(number=question.number, key=question.wanted, times_s=known))

    def _time_under(self, question: Question, settings: Settings) -> float | None:
        """The time of the wanted choice under other settings; None where it has no prediction."""
        self._go_on(question)
        other = replace(question, settings=settings)
        request = self._asked(settings)
        listing = self._list(other, request)
        if isinstance(listing, Failure):
            return None
        key = in_place_of(question.wanted, tuple(self._met.values()), listing.choices)
        choice = next(each for each in listing.choices if each.key == key)
        found = self._outcomes.use((settings, key), lambda: self._interpreted(other, request, choice))
        return None if isinstance(found, Failure) else time_of(found.time_s)

    def _deliver_impact(self, question: Question, request: api.Request, choice: ChoiceRow) -> None:
        """What matters most, first for the machine, which is quick, then with the number of processors."""
        asked, now = chosen(request, choice), question.settings
        watch = self._watch(question)
        base_s, found = swings(self._lowered(question, request, choice), self._system, asked, watch)

        shares: Mapping[str, float] = {}

        def deliver() -> None:
            furthest = tuple(sorted(found, key=lambda each: -each.reach_s(base_s)))
            self._deliver(Impact(number=question.number, key=choice.key, base_s=base_s, swings=furthest, shares=shares))

        deliver()
        made = self._outcomes.use((now, choice.key), lambda: self._interpreted(question, request, choice))
        if isinstance(made, api.Prediction) and cheap(made):
            decided = _or_why(lambda: sensitivities(self._source, self._system, asked, [now.procs]))
            shares = {} if isinstance(decided, Failure) else decided.runs[0].quantities
        procs = now.procs or 1
        half = self._time_under(question, replace(now, procs=procs // 2)) if procs > 1 else None
        double = self._time_under(question, replace(now, procs=2 * procs))
        less, more = f"{procs // 2}" if procs > 1 else "", f"{2 * procs}"
        found = (*found, Swing(name="processors", less=less, less_s=half, more=more, more_s=double))
        deliver()

    def _deliver_scaling(self, question: Question, request: api.Request, choice: ChoiceRow, size: str) -> None:
        """The same size on other numbers of processors, the time as a formula in the PARAMETER `size`, then the sizes
        that keep the speed of a processor."""
        now, times = question.settings.procs or 1, dict[int, float]()
        for procs in sorted({*CURVE, now}):
            time_s = self._time_under(question, replace(question.settings, procs=procs))
            times |= {procs: time_s} if time_s is not None else {}
            self._deliver(Scaled(number=question.number, key=choice.key, times_s=dict(times)))
        asked = replace(chosen(request, choice), procs=now, grid=None)
        formula = None
        if size:
            watch, here = self._watch(question), chosen(request, choice)
            formula = _or_why(lambda: formula_of(self._source, self._system, here, size, watch))
            self._deliver(Scaled(number=question.number, key=choice.key, times_s=dict(times), formula=formula))

        said = time.monotonic()

        def searched(made: int, *_: object) -> None:
            nonlocal said
            self._go_on(question)  # another view need not wait for it
            if time.monotonic() - said >= EVERY_S:
                said = time.monotonic()
                self._deliver(
                    Scaled(number=question.number, key=choice.key, times_s=dict(times), tried=made, formula=formula)
                )

        def search() -> Scaling:
            procs = [each * now for each in GROWING]
            return scaled(self._source, self._system, asked, procs, progress=searched)

        found = _or_why(search)
        self._deliver(Scaled(number=question.number, key=choice.key, times_s=dict(times), found=found, formula=formula))

    def _asked(self, settings: Settings) -> api.Request:
        request = self._request
        scenario = replace(
            request.scenario,
            load=settings.load,
            bandwidth=settings.bandwidth,
            latency=settings.latency,
            processor_speed=settings.processor_speed,
        )
        same = settings.procs == request.procs
        return replace(
            request,
            procs=settings.procs,
            scenario=scenario,
            grid=request.grid if same else None,
            values={**request.values, **dict(settings.values)},
        )

    def _list(self, question: Question, request: api.Request) -> ProgramList | Failure:
        try:
            listing = self._lists.use(
                question.settings.lowering, lambda: choices_for(self._source, self._system, request)
            )
        except (SourceError, EspError, MachineError) as error:
            return failure(error)
        self._met.update({each.key: each for each in listing.choices})
        return listing

    def _interpreted(self, question: Question, request: api.Request, choice: ChoiceRow) -> Outcome:
        try:
            stages = self._lowered(question, request, choice)
            request = chosen(request, choice)
            watch = self._watch(question, choice)
            return api.interpret_stages(stages, self._system, request, watch=watch)
        except (SourceError, EspError, MachineError) as error:
            return failure(error)

    def _lowered(self, question: Question, request: api.Request, choice: ChoiceRow) -> api.Stages:
        key = (choice.key, *question.settings.lowering)
        return self._stages.use(key, lambda: api.lower_source(self._source, self._system, chosen(request, choice)))

    def _look_closer(self, question: Question, request: api.Request, choice: ChoiceRow) -> Closer:
        """What the view needs besides."""
        self._go_on(question)
        stages: api.Stages | None = None
        try:
            stages = self._lowered(question, request, choice)
        except (SourceError, EspError, MachineError) as error:
            why = failure(error)
            return Closer(number=question.number, key=choice.key, processors=why, course=why)
        asked = chosen(request, choice)
        processors: ByProcessor | Failure | None = None
        course: Course | Failure | None = None
        if question.processors:
            watch = self._watch(question)
            processors = _or_why(lambda: by_processor(stages, self._system, asked, watch))
        if question.course:
            self._go_on(question)

            def follow() -> Course:
                watch = self._watch(question)
                trace, _ = predicted_trace(stages, self._system, asked, most=MOST_EVENTS, watch=watch)
                return course_of(trace)

            course = _or_why(follow)
        return Closer(number=question.number, key=choice.key, processors=processors, course=course)

    def _watch(self, question: Question, choice: ChoiceRow | None = None) -> Watch:
        """What a walk calls at each iteration of its loops; says how far the prediction of a choice has come."""
        key, said = None if choice is None else choice.key, time.monotonic() + PATIENCE_S - EVERY_S

        def watch(line: int, done: float) -> None:
            nonlocal said
            self._go_on(question, key)
            if choice is not None and time.monotonic() - said >= EVERY_S:
                said = time.monotonic()
                self._deliver(Progress(number=question.number, shown=choice.shown, line=line, done=done))

        return watch

    def _go_on(self, question: Question, key: str | None = None) -> None:
        """Raise `Superseded` where nobody waits any more: for a question, or for the choice of this key with its
        settings, which another view asks for again."""
        newest = self._question
        if newest is None or newest.number == question.number:
            if self._stopped:
                raise Superseded
        elif (newest.settings, newest.wanted) != (question.settings, key):
            raise Superseded


def _tidy_up() -> None:
    """Search for cyclic garbage, where there may be much."""
    if gc.get_count()[0] > OBJECTS:
        gc.collect()


def _or_why(make: Callable[[], V]) -> V | Failure:
    try:
        return make()
    except (SourceError, EspError, MachineError) as error:
        return failure(error)
