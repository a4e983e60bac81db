"""What takes long is given up for a newer question, and the screen lives on until the answer comes."""

import threading

import pytest
from msgspec.structs import replace

from esp import api
from esp.tui import state as steps
from esp.tui.engine import Engine
from esp.tui.question import WRITTEN, Closer, Finished, PredictedAnswer, Question, Settings
from esp.tui.sheets import changes, detail, frame, views
from esp.tui.widgets.bars import SliderBar

ASKED = Question(number=1, settings=Settings(procs=4), wanted=WRITTEN)
PATIENCE_S = 20


class Held:
    """In the place of the interpretation: holds those on some numbers of processors, which look around all the while,
    and counts all of them that came to an end."""

    def __init__(self, monkeypatch, *held):
        self.begun, self.release = threading.Event(), threading.Event()
        self.finished = []
        self._held, self._really = held, api.interpret_stages
        monkeypatch.setattr(api, "interpret_stages", self)

    def __call__(self, stages, system, request, watch):
        if request.procs in self._held:
            self.begun.set()
            while not self.release.wait(0.001):
                watch(0, 0.0)
        found = self._really(stages, system, request, watch=watch)
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
            found.append(answer)
            if isinstance(answer, Finished):
                ends.setdefault(answer.number, threading.Event()).set()

        engine = Engine(opened.source, opened.system, opened.request, deliver)
        engines.append(engine)
        engine.ask(question)
        engine.start()
        return engine, found, lambda number: ends.setdefault(number, threading.Event()).wait(PATIENCE_S)

    yield start
    for each in engines:
        each.stop()


def test_positions_that_are_passed_through_are_not_computed(running, monkeypatch):
    held = Held(monkeypatch, 2, 4, 8, 16, 32)
    engine, found, ended = running(ASKED)
    assert held.begun.wait(PATIENCE_S)
    for number, procs in enumerate((8, 16, 32, 2), 2):
        engine.ask(replace(ASKED, number=number, settings=Settings(procs=procs)))
    held.release.set()
    assert ended(5)
    assert {procs for procs, _ in held.finished} == {2}
    assert {each.number for each in found} <= {1, 5}


def test_another_view_of_the_same_position_waits_for_the_walk_under_way(running, monkeypatch):
    held = Held(monkeypatch, 4)
    engine, found, ended = running(ASKED)
    assert held.begun.wait(PATIENCE_S)
    engine.ask(replace(ASKED, number=2, processors=True))
    held.release.set()
    assert ended(2)
    assert held.times(4) == 1
    assert [each.key for each in found if isinstance(each, PredictedAnswer) and each.number == 2].count(WRITTEN) == 1
    assert any(isinstance(each, Closer) for each in found)


def test_another_choice_does_not_wait_for_the_walk_under_way(running, monkeypatch):
    held = Held(monkeypatch, 4)
    engine, found, ended = running(ASKED)
    assert held.begun.wait(PATIENCE_S)
    other = next(each.key for each in found[0].choices if each.key != WRITTEN)
    engine.ask(replace(ASKED, number=2, wanted=other))
    held.release.set()
    assert ended(2)
    assert held.finished[0] == (4, True)
    assert held.times(4) == 1


def test_quitting_gives_up_the_walk_under_way(running, monkeypatch):
    held = Held(monkeypatch, 4)
    engine, *_ = running(ASKED)
    assert held.begun.wait(PATIENCE_S)
    engine.stop()
    engine._thread.join(PATIENCE_S)
    assert not engine._thread.is_alive()
    assert not held.finished


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
