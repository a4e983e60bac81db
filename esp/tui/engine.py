"""A thread that answers questions. The newest question wins: whatever is under way for an older one is given up.

What does not depend on what changed is not done again: node programs are kept for each choice, number of processors
and set of values, so that another load or bandwidth is one more interpretation; and so are the latest predictions, so
that a slider that comes back shows at once what it showed before. What the next move may ask is predicted before it is
asked: all positions of the sliders of the machine in one walk (`fan`), and one by one the next notches of the others.

Nothing waits for what is looked at ahead: it is given up for a newer question, unless it is just what that one asks
for; and what is known is told in the thread that asks, whatever the other one is doing.
"""

import contextlib
import gc
import math
import threading
import time
from collections.abc import Callable, Container, Sequence
from typing import TypeVar

from msgspec.structs import replace

from aag.diagnostics import SourceError
from esp import api
from esp.errors import EspError
from esp.output import diagnostics
from esp.output.screen import Screen
from esp.traces.record import predicted_trace
from esp.tui.choices import choices_for, chosen, in_place_of
from esp.tui.course import Course, course_of
from esp.tui.fan import MOST_PIECES, Fan, Fans, pieces, spread
from esp.tui.processors import by_processor, parts_of
from esp.tui.question import (
    Answer,
    ByProcessor,
    Choice,
    Closer,
    Done,
    Failure,
    Listed,
    Listing,
    Outcome,
    Predicted,
    Question,
    Settings,
)
from esp.tui.recent import Kept
from esp.tui.watch import Superseded, TooLong, Watch
from interpreter.errors import UnresolvedError
from interpreter.models.sampled import SAMPLED
from sag.errors import MachineError
from sag.quantities import QuantityError
from sag.unit import System

MOST_STAGES = 64
MOST_PREDICTIONS = 512
_FEW = 2
"""Positions that are walked one by one, where a walk of several would be too large; and notches that go before the
other choices, as the hand may be on its way to them."""
FEW = 4
"""For a first estimate: iterations of a long loop that stand for all of it (`Setting.few`). Their costs are met where
these are a polynomial of the third degree, as those of an elimination are, and they are walked in a glance."""
LONGEST_S = 4.0
"""Processor seconds after which a position that nobody has asked for is given up for good."""
MOST_EVENTS = 400_000
"""Events of a timeline: more than any screen tells apart, and still a moment to prepare."""

_FAREWELL_S = 0.1
"""How long the app waits for the thread at its end; what takes longer, such as a lowering, ends with the process."""

REST_S = 10.0
"""After so long without a question nobody minds a search for cyclic garbage, which stops everything for a moment."""
OBJECTS = 500_000
"""New objects that are worth one. Python itself begins far later (`esp.cli.main`), but then while a slider moves."""

_WIDE = Screen(76)

V = TypeVar("V")


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
        self._told, self._told_rough = -1, False
        """The question whose wanted choice was known when it was asked, and whether it was an estimate."""
        self._met: dict[str, Choice] = {}
        """All choices there were: what a key stands for."""
        self._too_long: set[tuple[Settings, str]] = set()
        self._lists: Kept[tuple[object, ...], Listing] = Kept(MOST_STAGES)
        self._stages: Kept[tuple[object, ...], api.Stages] = Kept(MOST_STAGES)
        self._outcomes: Kept[tuple[Settings, str], Outcome] = Kept(MOST_PREDICTIONS)
        self._estimates: Kept[tuple[Settings, str], api.Prediction] = Kept(MOST_PREDICTIONS)
        """First estimates of what takes long; they are used until there is an outcome."""
        self._fans = Fans()
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
        """Put a question in the place of any earlier one; what is known of its wanted choice is told at once."""
        known = None if question.silent else self._known(question)
        with self._changed:
            if known is not None:
                self._told, self._told_rough = question.number, known[3]
            if question.silent and self._waiting and self._question is not None and not self._question.silent:
                # Nobody has begun to answer the one before.
                question, self._told = replace(question, silent=False), -1
            # Who looks at the question without the lock must not see it as one that is answered already.
            self._waiting, self._question = True, question
            self._seen.set()  # an older question waits no longer; what is told now has yet to be seen
            if known is not None:
                self._seen.clear()
            self._changed.notify()
        if known is not None:
            listing, wanted, outcome, rough = known
            self._deliver(_listed(question, listing, wanted))
            self._tell(question, wanted, outcome, rough=rough)

    def _known(self, question: Question) -> tuple[Listing, str, Outcome, bool] | None:
        """The choices, the outcome of the wanted one, and whether that is an estimate (only where nothing better is at
        hand), without a change to what is kept: another thread uses it."""
        listing = self._lists.get(question.settings.lowering)
        if listing is None:
            return None
        wanted = self._in_place_of(question.wanted, listing)
        key = (question.settings, wanted)
        outcome = self._outcomes.get(key)
        known = self._estimates.get(key) if outcome is None and not self._fans.has(*key) else outcome
        return None if known is None else (listing, wanted, known, outcome is None)

    def _in_place_of(self, key: str, listing: Listing) -> str:
        return in_place_of(key, tuple(self._met.values()), listing.choices)

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
            Superseded: a newer one has been asked meanwhile.
        """
        request = self._asked(question.settings)
        listed = self._list(question, request)
        if isinstance(listed, Failure):
            if not question.silent:
                self._deliver(Predicted(number=question.number, key=question.wanted, outcome=listed))
                self._deliver(Done(number=question.number))
            return
        choices = listed.choices
        wanted = self._in_place_of(question.wanted, listed)
        first = next(each for each in choices if each.key == wanted)
        if question.silent:
            if not isinstance(self._predict(question, request, first), Failure):
                self._look_ahead(question, request, first)
            return
        if question.number != self._told:
            self._deliver(_listed(question, listed, wanted))
        outcome = self._answer_first(question, request, first)
        if not isinstance(outcome, Failure):
            # The hand is on the slider: its next move comes before long lists.
            self._look_aside(question, question.beside[:_FEW], first, whole=False)
            self._spread(question, request, first, most=1)
        if not isinstance(outcome, Failure) or not outcome.names:  # else the others miss the same values
            self._answer_others(question, request, choices, first)
        self._deliver(Done(number=question.number))
        if not isinstance(outcome, Failure):
            self._look_ahead(replace(question, silent=True), request, first)

    def _answer_first(self, question: Question, request: api.Request, choice: Choice) -> Outcome:
        """Tell what is known of the wanted choice: at once if it was walked ahead, and then as it is walked alone. An
        estimate comes first where that takes long."""
        told = question.number == self._told
        if not told:
            self._seen.clear()
        self._go_on(question)
        fan = None
        if (question.settings, choice.key) not in self._outcomes:
            fan = self._fans.find(question.settings, choice.key)
        processors: ByProcessor | Failure | None = None
        rough = False
        if fan is None:
            outcome, rough = self._soon(question, request, choice)
        else:
            outcome, processors = _seen_in(fan, question.settings)
        if not told or (self._told_rough and not rough):
            self._tell(question, choice.key, outcome, ahead=fan is not None, rough=rough)
        if rough:
            self._seen.wait(self._patience_s)
            self._seen.clear()
            self._look_aside(question, question.beside[:_FEW], choice, whole=False)
            outcome = self._predict(question, request, choice)
            self._tell(question, choice.key, outcome)
        if question.processors or question.course:
            self._deliver(self._look_closer(question, request, choice, processors))
        self._seen.wait(self._patience_s)
        if fan is not None:
            outcome = self._predict(question, request, choice)
            self._tell(question, choice.key, outcome)
        return outcome

    def _answer_others(
        self, question: Question, request: api.Request, choices: Sequence[Choice], first: Choice
    ) -> None:
        """Tell the outcomes of all choices but the first; of those that take long, estimates come first."""
        long: list[Choice] = []
        for choice in choices:
            if choice is not first:
                self._reach_out(question, first)
                outcome, rough = self._soon(question, request, choice)
                self._tell(question, choice.key, outcome, rough=rough)
                long += [choice] if rough else []
        for choice in long:
            self._reach_out(question, first)
            self._tell(question, choice.key, self._predict(question, request, choice))

    def _soon(
        self, question: Question, request: api.Request, choice: Choice, most_s: float = math.inf
    ) -> tuple[Outcome, bool]:
        """The outcome of a choice, kept or made; where its walk is long and has not been made, an estimate (True)."""
        self._go_on(question)
        key = (question.settings, choice.key)
        if key not in self._outcomes:
            if key in self._estimates:
                return self._estimates[key], True
            outcome = self._interpreted(question, request, choice, most_s, few=FEW)
            if not isinstance(outcome, Failure) and any(each.code == SAMPLED for each in outcome.assumptions):
                estimate = outcome
                return self._estimates.use(key, lambda: estimate), True
            self._outcomes.use(key, lambda: outcome)
        return self._predict(question, request, choice), False

    def _tell(
        self, question: Question, key: str, outcome: Outcome, *, ahead: bool = False, rough: bool = False
    ) -> None:
        self._deliver(Predicted(number=question.number, key=key, outcome=outcome, open=ahead or rough, rough=rough))

    def _look_ahead(self, question: Question, request: api.Request, choice: Choice) -> None:
        """Predict what may be asked next, and has not been walked yet: first what the hand may do next."""
        self._look_aside(question, question.beside, choice, whole=False)
        left = self._spread(question, request, choice, most=MOST_PIECES)
        for settings in left[:_FEW]:
            self._predict(replace(question, settings=settings), self._asked(settings), choice)
        others = [each for each in question.ahead if each.lowering != question.settings.lowering]
        self._look_aside(question, others, choice, whole=False)
        self._look_aside(question, [*question.beside, *others], choice, whole=True)

    def _spread(self, question: Question, request: api.Request, choice: Choice, *, most: int) -> list[Settings]:
        """Walk positions of the sliders of the machine together, those that are likeliest to be asked for in the first
        of `most` walks; answers those that have to be walked one by one, as all of them would be too many."""
        near = [each for each in question.ahead if each.lowering == question.settings.lowering]
        new = [each for each in near if self._fans.find(each, choice.key) is None]
        stages = self._lowered(question, request, choice)
        several = pieces(new, stages)
        for piece in several[:most]:
            requests = {each: chosen(self._asked(each), choice) for each in piece}
            # A position that cannot be says so when somebody asks for it.
            with contextlib.suppress(SourceError, EspError, MachineError, QuantityError):
                self._fans.add(
                    spread(choice.key, stages, self._system, requests, self._watch(question, requests, choice.key))
                )
            self._go_on(question)
        return [] if several else new

    def _reach_out(self, question: Question, choice: Choice) -> None:
        """In the middle of a long list: the next moves of a slider that the hand has reached for meanwhile."""
        newest = self._question
        if newest is not None and newest.silent and newest.number == question.number and newest.wanted == choice.key:
            self._look_aside(question, newest.beside[:_FEW], choice, whole=False)

    def _look_aside(self, question: Question, positions: Sequence[Settings], choice: Choice, *, whole: bool) -> None:
        """Predict positions that need another node program each, as long as none takes too long; without `whole`
        estimates are enough."""
        for settings in positions:
            self._go_on(question)
            there = replace(question, settings=settings)
            request = self._asked(settings)
            listed = self._list(there, request)
            if isinstance(listed, Failure):
                continue
            key = self._in_place_of(choice.key, listed)
            if (settings, key) in self._too_long:
                continue
            there_chosen = next(each for each in listed.choices if each.key == key)
            try:
                (self._predict if whole else self._soon)(there, request, there_chosen, LONGEST_S)
            except TooLong:
                self._too_long.add((settings, key))

    def _asked(self, settings: Settings) -> api.Request:
        request = self._request
        scenario = replace(
            request.scenario, load=settings.load, bandwidth=settings.bandwidth, processor_speed=settings.processor_speed
        )
        same = settings.procs == request.procs
        return replace(
            request,
            procs=settings.procs,
            scenario=scenario,
            grid=request.grid if same else None,
            values={**request.values, **dict(settings.values)},
        )

    def _list(self, question: Question, request: api.Request) -> Listing | Failure:
        try:
            listing = self._lists.use(
                question.settings.lowering, lambda: choices_for(self._source, self._system, request)
            )
        except (SourceError, EspError, MachineError) as error:
            return failure(error)
        self._met.update({each.key: each for each in listing.choices})
        return listing

    def _predict(self, question: Question, request: api.Request, choice: Choice, most_s: float = math.inf) -> Outcome:
        """The prediction of a choice, kept or made, in so many processor seconds at most."""
        self._go_on(question)
        return self._outcomes.use(
            (question.settings, choice.key), lambda: self._interpreted(question, request, choice, most_s)
        )

    def _interpreted(
        self, question: Question, request: api.Request, choice: Choice, most_s: float = math.inf, few: int = 0
    ) -> Outcome:
        try:
            stages = self._lowered(question, request, choice)
            watch = self._watch(question, (question.settings,), choice.key, most_s)
            return api.interpret_stages(stages, self._system, chosen(request, choice), watch, few=few)
        except (SourceError, EspError, MachineError) as error:
            return failure(error)

    def _watch(self, question: Question, here: Container[Settings], key: str, most_s: float = math.inf) -> Watch:
        """A listener that gives up the walk of some positions of a choice for a question that asks for another one."""
        began = time.thread_time()

        def give_up(newest: Question | None) -> bool:
            if self._stopped:
                return True
            if newest is None or not self._newer(question):
                return False
            listing = self._lists.get(newest.settings.lowering)
            return (
                newest.silent
                or listing is None
                or newest.settings not in here
                or self._in_place_of(newest.wanted, listing) != key
            )

        return Watch(lambda: self._question, give_up, lambda: time.thread_time() - began > most_s)

    def _lowered(self, question: Question, request: api.Request, choice: Choice) -> api.Stages:
        key = (choice.key, *question.settings.lowering)
        return self._stages.use(key, lambda: api.lower_source(self._source, self._system, chosen(request, choice)))

    def _look_closer(
        self, question: Question, request: api.Request, choice: Choice, processors: ByProcessor | Failure | None
    ) -> Closer:
        """What the view needs besides; `processors`: what of it is known already."""
        self._go_on(question)
        stages: api.Stages | None = None
        try:
            stages = self._lowered(question, request, choice)
        except (SourceError, EspError, MachineError) as error:
            why = failure(error)
            return Closer(number=question.number, key=choice.key, processors=why, course=why)
        asked = chosen(request, choice)
        course: Course | Failure | None = None
        if question.processors and processors is None:
            watch = self._watch(question, (), choice.key)
            processors = _or_why(lambda: by_processor(stages, self._system, asked, watch))
        if question.course:
            self._go_on(question)

            def follow() -> Course:
                trace, _ = predicted_trace(
                    stages, self._system, asked, most=MOST_EVENTS, watch=lambda *_: self._go_on(question)
                )
                return course_of(trace)

            course = _or_why(follow)
        return Closer(
            number=question.number,
            key=choice.key,
            processors=processors if question.processors else None,
            course=course,
        )

    def _newer(self, question: Question) -> bool:
        newest = self._question
        if self._stopped or (newest is not None and newest.number != question.number):
            return True
        return question.silent and self._waiting  # another choice was selected: its moves are likelier

    def _go_on(self, question: Question) -> None:
        if self._newer(question):
            raise Superseded


def _tidy_up() -> None:
    """Search for cyclic garbage, where there may be much."""
    if gc.get_count()[0] > OBJECTS:
        gc.collect()


def _listed(question: Question, listing: Listing, wanted: str) -> Listed:
    return Listed(
        number=question.number,
        choices=listing.choices,
        wanted=wanted,
        left_out=listing.left_out,
        sized_by=listing.sized_by,
    )


def _seen_in(fan: Fan, settings: Settings) -> tuple[Outcome, ByProcessor | Failure | None]:
    """The outcome at a position, and what it says of each processor."""
    try:
        prediction, run = fan.look(settings)
    except (SourceError, EspError, MachineError) as error:
        return failure(error), None
    return prediction, _or_why(lambda: parts_of(run))


def _or_why(make: Callable[[], V]) -> V | Failure:
    try:
        return make()
    except (SourceError, EspError, MachineError) as error:
        return failure(error)


def failure(error: Exception) -> Failure:
    """Why there is no result, as a person reads it."""
    match error:
        case UnresolvedError():
            reasons = tuple(f"{each.span}: {each.message}" for each in error.diagnostics)
            text = diagnostics.several(diagnostics.diagnostic(each, _WIDE) for each in error.diagnostics)
            return Failure(text=text, names=error.names, reasons=reasons)
        case SourceError():
            return Failure(text=diagnostics.several(diagnostics.diagnostic(e, _WIDE) for e in error.diagnostics))
        case MachineError():
            return Failure(text=diagnostics.several(diagnostics.machine_finding(e, _WIDE) for e in error.findings))
        case _:
            return Failure(text=str(error))
