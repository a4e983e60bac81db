"""Sliders that need another node program: their next notches are known before they are asked for, and the screen lives
on where one is not."""

import threading

import pytest
from msgspec.structs import replace

from esp import api
from esp.tui import state as steps
from esp.tui.engine import Engine
from esp.tui.question import WRITTEN, Done, Predicted, Question, Settings
from esp.tui.sheets import changes, detail, frame, views
from esp.tui.widgets.bars import SliderBar

HERE, NEXT, FAR = Settings(procs=4), Settings(procs=8), Settings(procs=16)
ASKED = Question(number=1, settings=HERE, wanted=WRITTEN)
PATIENCE_S = 20


class Held:
    """In the place of the interpretation: holds those on some numbers of processors, which look around all the while,
    and counts all of them that came to an end."""

    def __init__(self, monkeypatch, *held):
        self.begun, self.release = threading.Event(), threading.Event()
        self.finished = []
        self._held, self._really = held, api.interpret_stages
        monkeypatch.setattr(api, "interpret_stages", self)

    def __call__(self, stages, system, request, listener, few=0):
        if request.procs in self._held:
            self.begun.set()
            while not self.release.wait(0.001):
                listener.entered()
        found = self._really(stages, system, request, listener, few=few)
        self.finished.append((request.procs, bool(request.distribute)))
        return found

    def times(self, procs):
        """How often the source's own distribution was interpreted to the end."""
        return self.finished.count((procs, False))


@pytest.fixture(scope="module")
def opened(real):
    return real("laplace_bb", procs=4, values={"n": 16, "k": 3})


@pytest.fixture
def running(opened):
    """Starts an engine with a first question; answers come to the list, and each end of one opens its gate."""
    engines = []

    def start(question):
        found, ends = [], {}

        def deliver(answer):
            found.append((threading.current_thread(), answer))
            if isinstance(answer, Done):
                ends.setdefault(answer.number, threading.Event()).set()

        engine = Engine(opened.source, opened.system, opened.request, deliver)
        engines.append(engine)
        engine.ask(question)
        engine.start()
        return engine, found, lambda number: ends.setdefault(number, threading.Event()).wait(PATIENCE_S)

    yield start
    for each in engines:
        each.stop()


def _firsts(found, number):
    """Who told the wanted choice, how often."""
    return [who for who, each in found if isinstance(each, Predicted) and each.number == number and each.key == WRITTEN]


def test_what_is_known_is_told_at_once_whatever_is_under_way(running, monkeypatch):
    held = Held(monkeypatch, 8)
    engine, found, ended = running(replace(ASKED, ahead=(FAR, NEXT)))
    assert held.begun.wait(PATIENCE_S), "16 processors are done, those on 8 are held"
    engine.ask(replace(ASKED, number=2, settings=FAR))
    assert _firsts(found, 2) == [threading.current_thread()]
    held.release.set()
    assert ended(2)
    assert len(_firsts(found, 2)) == 1, "and it is told once"
    assert held.times(16) == 1


def test_what_is_under_way_for_the_position_asked_for_is_gone_on_with(running, monkeypatch):
    held = Held(monkeypatch, 8)
    engine, found, ended = running(replace(ASKED, ahead=(NEXT, FAR)))
    assert held.begun.wait(PATIENCE_S)
    begun = []
    held._really, really = (lambda *given, **how: begun.append(given[2].procs) or really(*given, **how)), held._really
    engine.ask(replace(ASKED, number=2, settings=NEXT))
    held.release.set()
    assert ended(2)
    assert begun[0] == 8
    assert held.times(8) == 1
    assert len(_firsts(found, 2)) == 1


def test_positions_that_are_passed_through_are_not_computed(running, monkeypatch):
    held = Held(monkeypatch, 2, 4, 8, 16, 32)
    engine, found, ended = running(ASKED)
    assert held.begun.wait(PATIENCE_S)
    for number, procs in enumerate((8, 16, 32, 2), 2):
        engine.ask(replace(ASKED, number=number, settings=Settings(procs=procs)))
    held.release.set()
    assert ended(5)
    assert {procs for procs, _ in held.finished} == {2}
    assert {each.number for _, each in found} <= {1, 5}


def test_a_position_that_takes_too_long_is_tried_ahead_once_and_answered_when_asked(opened, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.LONGEST_S", 0.0)
    held, found = Held(monkeypatch), []
    engine = Engine(opened.source, opened.system, opened.request, found.append)
    engine.answer(replace(ASKED, ahead=(NEXT,)))
    assert held.times(8) == 0
    monkeypatch.setattr("esp.tui.engine.LONGEST_S", 1e9)
    engine.answer(replace(ASKED, number=2, ahead=(NEXT,)))
    assert held.times(8) == 0
    engine.answer(replace(ASKED, number=3, settings=NEXT))
    assert held.times(8) == 1


def test_the_hand_goes_before_the_other_choices(opened, monkeypatch):
    """Two notches of a slider in the hand, then the list, then the rest."""
    held, found = Held(monkeypatch), []
    engine = Engine(opened.source, opened.system, opened.request, found.append)
    engine.answer(replace(ASKED, ahead=(NEXT, FAR, Settings(procs=2), Settings(procs=4, load="5%"))))
    own = [procs for procs, other in held.finished if not other]
    assert own == [4, 8, 16, 2]
    assert held.finished[:3] == [(4, False), (8, False), (16, False)]
    assert held.finished[-1] == (2, False)
    assert len(held.finished) > 4


def test_a_slider_that_is_reached_for_goes_before_the_rest_of_a_list(opened, monkeypatch):
    held, found = Held(monkeypatch), []

    def deliver(answer):
        found.append(answer)
        if isinstance(answer, Predicted) and answer.key == WRITTEN:
            engine.ask(replace(ASKED, silent=True, ahead=(NEXT, FAR, Settings(procs=2))))

    engine = Engine(opened.source, opened.system, opened.request, deliver)
    engine._question = ASKED
    engine.answer(ASKED)
    assert held.finished[:3] == [(4, False), (8, False), (16, False)]
    assert held.times(2) == 0, "two of them, then the list"
    assert isinstance(found[-1], Done)


def test_another_choice_that_is_selected_ends_what_is_looked_at_ahead(running, monkeypatch):
    held = Held(monkeypatch, 8)
    engine, found, _ = running(replace(ASKED, ahead=(Settings(procs=4, load="5%"), NEXT)))
    assert held.begun.wait(PATIENCE_S), "all choices are told, and the hand is elsewhere"
    other = next(each.key for _, each in found if isinstance(each, Predicted) and each.key != WRITTEN)
    engine.ask(replace(ASKED, wanted=other, silent=True, ahead=(Settings(procs=4, load="5%"),)))
    for _ in range(1000 * PATIENCE_S):
        if engine._fans.find(Settings(procs=4, load="5%"), other) is not None:
            break
        threading.Event().wait(0.001)
    else:
        pytest.fail("it waits for the walk of the choice before")
    assert held.times(8) == 0


def test_a_choice_that_is_selected_before_anything_is_answered_is_answered(opened):
    found, done = [], threading.Event()
    engine = Engine(
        opened.source,
        opened.system,
        opened.request,
        lambda answer: found.append(answer) or (isinstance(answer, Done) and done.set()),
    )
    engine.ask(ASKED)
    engine.ask(replace(ASKED, silent=True))
    engine.start()
    assert done.wait(PATIENCE_S)
    engine.stop()


def _roles(lines):
    return {role for line in lines for text, role in line.pieces if text.strip()}


def _aged(state):
    """Whether all figures of the screen are dimmed."""
    time, where = frame.heading(state, 120)
    shown = [*views.sheet(state, 80).lines, *detail.lines(state, 80), *changes.changes(state, 40)]
    return _roles(shown) == {"old"} and "time" not in _roles([time]) and "old" in _roles([where])


def test_the_screen_lives_on_until_an_answer_comes(real, driving, monkeypatch):
    opened = real("pbs1", procs=4, values={"n": 64})
    held = Held(monkeypatch, 8, 16, 32)

    async def then(app, pilot):
        bar = app.query_one("#slider-procs", SliderBar)
        bar.focus()
        await pilot.press("right")
        await pilot.pause()
        assert "8" in bar.render_line(0).text
        while not app.state.slow:
            await pilot.pause(0.01)
        assert _aged(app.state)
        assert app.state.busy
        await pilot.press("right", "right")
        await pilot.pause()
        assert app.state.sliders["procs"].value == "32"
        await pilot.press("z", "question_mark", "escape")
        await pilot.pause()
        assert app.state.wide
        assert steps.prediction(app.state).processors == 4
        held.release.set()
        await driving.settled(app, pilot)
        assert steps.prediction(app.state).processors == 32
        assert not _aged(app.state)

    driving.drive(opened, then=then)
    assert held.times(8) <= 1
