"""The engine: what it answers equals the API, the newest question wins, and little is done twice."""

import gc
import importlib
import threading
import time
import weakref

import pytest
from msgspec.structs import replace

import esp
from esp import api
from esp.explore.compare import compare_choices
from esp.prediction import first
from esp.tui.answers import answered
from esp.tui.engine import Engine, Superseded
from esp.tui.question import (
    WRITTEN,
    Alone,
    Aside,
    ByProcessor,
    Closer,
    Failure,
    Finished,
    Impact,
    ListedProgram,
    PredictedAnswer,
    Progress,
    Question,
    Scaled,
    Settings,
)
from esp.tui.sheets.frame import heading
from esp.tui.state import tied
from interpreter.metrics import Category
from sag.scenario import Scenario

UNKNOWN = """\
program unknown
  integer :: i, j, m
  double precision :: a(64)
!HPF$ PROCESSORS p(4)
!HPF$ DISTRIBUTE a(BLOCK) ONTO p
  read *, m
  do j = 1, m
    forall (i = 2:64) a(i) = a(i-1)
  end do
  print *, a(1)
end program unknown
"""


def _answers(opened, **changes):
    found = []
    engine = Engine(opened.source, opened.system, opened.request, found.append)
    settings = Settings(procs=opened.request.procs)
    engine.answer(Question(**{"number": 1, "settings": settings, "wanted": WRITTEN, **changes}))
    return found


def test_a_prediction_that_takes_long_says_how_far_it_is(opened, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.PATIENCE_S", 0.0)
    monkeypatch.setattr("esp.tui.engine.EVERY_S", 0.0)
    found = _answers(opened)
    first = next(at for at, each in enumerate(found) if isinstance(each, PredictedAnswer))
    told = [each for each in found[:first] if isinstance(each, Progress)]
    assert told
    assert {each.shown for each in told} == {"(BLOCK,BLOCK)"}
    assert all(0 <= each.done <= 1 for each in told)
    state = replace(opened.state, number=1, busy=True)
    assert f"of the iterations of line {told[-1].line} predicted" in _heading(answered(state, told[-1]))
    assert "iterations" not in _heading(answered(answered(state, told[-1]), found[first]))


def _heading(state):
    return "".join(text for line in heading(state, 80) for text, _ in line.pieces)


@pytest.fixture(scope="module")
def opened(real):
    return real("laplace_bb", procs=4, values={"n": 16, "k": 3})


@pytest.fixture(scope="module")
def line(real):
    """A program of one dimension, which has few choices."""
    return real("lfk01", procs=4, values={"n": 64, "reps": 3})


def test_choices_and_times_are_those_of_esp_compare(opened):
    answers = _answers(opened)
    listed = next(each for each in answers if isinstance(each, ListedProgram))
    compared = compare_choices(opened.source, opened.system, opened.request, size="none")
    times = {each.key: first(each.outcome.time_s) for each in answers if isinstance(each, PredictedAnswer)}
    assert len(listed.choices) == len(times) == len(compared.ranked)
    assert sorted(times.values()) == [each.time_s for each in compared.ranked]
    own = next(each for each in compared.ranked if each.written)
    assert times[WRITTEN] == own.time_s
    assert sum(isinstance(each, Finished) for each in answers) == 1


def test_ties_are_those_of_esp_compare_with_all_scenarios(opened):
    compared = compare_choices(opened.source, opened.system, opened.request, size="none")
    state = replace(opened.state, number=1)
    for answer in _answers(opened):
        state = answered(state, answer)
    named = {(each.shown, each.grid): each for each in compared.ranked}
    by_key = {each.key: named[each.shown, each.grid] for each in state.choices}
    assert dict(tied(state)) == {key: each.tie for key, each in by_key.items() if each.tie is not None}
    by_error = [each.rank for each in compared.ranked if each.time_s <= compared.best.time_s * (1 + each.error)]
    assert {each.rank for each in compared.ranked if each.tie == 1} - set(by_error), "the scenarios decide nothing here"


def test_what_if_is_that_of_the_api(opened):
    settings = Settings(procs=8, load="30%", bandwidth="x2", values=(("n", 64),))
    answers = _answers(opened, settings=settings)
    got = next(each.outcome for each in answers if isinstance(each, PredictedAnswer) and each.key == WRITTEN)
    scenario = Scenario(load="30%", bandwidth="x2")
    wanted = api.predict_source(
        opened.source, opened.system, api.Request(procs=8, values={"n": 64, "k": 3}, scenario=scenario)
    )
    assert first(got.time_s) == first(wanted.time_s)
    assert got.asked == wanted.asked


def test_the_closer_look_adds_up_to_the_prediction(opened):
    answers = _answers(opened, processors=True, course=True)
    closer = next(each for each in answers if isinstance(each, Closer))
    found = next(each.outcome for each in answers if isinstance(each, PredictedAnswer) and each.key == WRITTEN)
    assert isinstance(closer.processors, ByProcessor)
    for aau in found.aaus:
        parts = closer.processors.parts.get(aau.id)
        mean = 0.0 if parts is None else float(parts.sum(axis=0).mean())
        assert mean == pytest.approx(first(aau.parts.time_s), rel=1e-9, abs=1e-15)
    waiting = sum(float(parts[Category.WAITING].mean()) for parts in closer.processors.parts.values())
    assert waiting == pytest.approx(first(found.parts.waiting_s))
    assert closer.course.end_s == pytest.approx(first(found.time_s))
    assert closer.course.sent.size == found.messages


def test_a_distribution_that_is_asked_for_is_where_one_begins(real):
    opened = real("laplace_bb", procs=4, values={"n": 16, "k": 3}, distribute={"temp": "(block, *)"})
    answers = _answers(opened)
    listed = next(each for each in answers if isinstance(each, ListedProgram))
    own = next(each for each in listed.choices if each.written)
    assert (own.shown, own.grid, own.origin) == ("(BLOCK,*)", (4,), "as given")
    assert [each.shown for each in listed.choices].count("(BLOCK,*)") == 1
    assert "(BLOCK,BLOCK)" in [each.shown for each in listed.choices]
    found = next(each.outcome for each in answers if isinstance(each, PredictedAnswer) and each.key == WRITTEN)
    assert found.grid == (4,)


def test_the_wanted_choice_comes_first(line):
    listed = next(each for each in _answers(line) if isinstance(each, ListedProgram))
    wanted = listed.choices[-1].key
    answers = _answers(line, wanted=wanted)
    done = next(at for at, each in enumerate(answers) if isinstance(each, Finished))
    keys = [each.key for each in answers[:done] if isinstance(each, PredictedAnswer)]
    assert keys[0] == wanted
    assert len(set(keys)) == len(keys)


def test_a_choice_goes_along_to_other_processors(line):
    listed = next(each for each in _answers(line) if isinstance(each, ListedProgram))
    choice = next(each for each in listed.choices if len(each.grid) == 1 and not each.written)
    found = []
    engine = Engine(line.source, line.system, line.request, found.append)
    for number, procs in enumerate((4, 16), 1):
        engine._question = Question(number=number, settings=Settings(procs=procs), wanted=choice.key)
        engine.answer(engine._question)
    after = [each for each in found if isinstance(each, ListedProgram)][-1]
    now = next(each for each in after.choices if each.key == after.wanted)
    assert (now.shown, now.grid) == (choice.shown, (16,))


def test_another_load_lowers_nothing_again(line, monkeypatch):
    lowered = []
    real_lower = api.lower_source
    monkeypatch.setattr(api, "lower_source", lambda *given: lowered.append(1) or real_lower(*given))
    engine = Engine(line.source, line.system, line.request, lambda _: None)
    asked = Question(number=1, settings=Settings(procs=4), wanted=WRITTEN)
    engine.answer(asked)
    once = len(lowered)
    assert once > 1
    engine.answer(replace(asked, settings=Settings(procs=4, load="20%", bandwidth="x2", processor_speed="x2")))
    assert len(lowered) == once
    engine.answer(replace(asked, settings=Settings(procs=2)))
    assert len(lowered) > once


def test_what_comes_back_is_not_predicted_again(line, monkeypatch):
    engine = Engine(line.source, line.system, line.request, lambda _: None)
    asked = Question(number=1, settings=Settings(procs=4), wanted=WRITTEN)
    engine.answer(asked)
    monkeypatch.setattr(api, "interpret_stages", lambda *_, **__: pytest.fail("interpreted again"))
    engine.answer(asked)


def test_a_newer_question_ends_an_older_one(opened):
    """The second question is put while the first is being interpreted."""
    engine = Engine(opened.source, opened.system, opened.request, lambda _: None)
    first_one = Question(number=1, settings=Settings(procs=4), wanted=WRITTEN)
    engine.ask(replace(first_one, number=2))
    with pytest.raises(Superseded):
        engine.answer(first_one)
    assert not engine._outcomes


@pytest.mark.parametrize("look", ["processors", "course"])
def test_a_closer_look_is_given_up_for_a_newer_question(look, opened, monkeypatch):
    """The newer question comes when the first outcome is there; the walk itself has to notice, as what stands before
    it does not look."""
    found = []
    blind = iter(range(2))
    really = Engine._go_on

    def deliver(answer):
        found.append(answer)
        if isinstance(answer, PredictedAnswer):
            monkeypatch.setattr(Engine, "_go_on", lambda *given: next(blind, None) is None and really(*given))
            engine.ask(replace(asked, number=2, settings=Settings(procs=4, load="5%")))

    engine = Engine(opened.source, opened.system, opened.request, deliver)
    asked = Question(number=1, settings=Settings(procs=4), wanted=WRITTEN, **{look: True})
    engine.ask(asked)
    with pytest.raises(Superseded):
        engine.answer(asked)
    assert not any(isinstance(each, Closer) for each in found)


def test_the_thread_answers_the_newest(opened):
    found, done = [], threading.Event()

    def deliver(answer):
        found.append(answer)
        if isinstance(answer, Finished):
            done.set()

    engine = Engine(opened.source, opened.system, opened.request, deliver)
    for number in range(1, 6):
        engine.ask(Question(number=number, settings=Settings(procs=4, load=f"{number}%"), wanted=WRITTEN))
    engine.start()
    assert done.wait(20)
    engine.stop()
    assert {each.number for each in found} == {5}


def test_missing_values_are_named(real):
    opened = real("", procs=4, text=UNKNOWN)
    answers = _answers(opened)
    outcome = next(each.outcome for each in answers if isinstance(each, PredictedAnswer))
    assert isinstance(outcome, Failure)
    assert outcome.names == ("m",)
    assert "m" in outcome.reasons[0]
    given = _answers(opened, settings=Settings(procs=4, values=(("m", 3),)))
    assert all(not isinstance(each.outcome, Failure) for each in given if isinstance(each, PredictedAnswer))


def test_a_program_that_distributes_nothing_has_one_choice(real):
    opened = real("", procs=4, text="program p\n  integer :: i\n  i = 1\n  print *, i\nend program p\n")
    listed = next(each for each in _answers(opened) if isinstance(each, ListedProgram))
    assert [each.key for each in listed.choices] == [WRITTEN]


def test_a_change_that_cannot_be_is_a_failure(opened):
    answers = _answers(opened, settings=Settings(procs=4, load="150%"))
    outcome = next(each.outcome for each in answers if isinstance(each, PredictedAnswer))
    assert isinstance(outcome, Failure)
    assert "load" in outcome.text


class _Ring:
    """Refers to itself: garbage that only a search finds."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def rare_searches():
    """Python looks for cyclic garbage as rarely as in `esp tui`."""
    before = gc.get_threshold()
    gc.set_threshold(1_000_000_000)
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(("objects", "found"), [(100, True), (100_000_000, False)])
def test_cyclic_garbage_is_searched_for_while_nobody_asks(opened, monkeypatch, rare_searches, objects, found):
    module = importlib.import_module("esp.tui.engine")
    rests = []

    def tidy_up():
        rests.append(1)
        usual()

    usual = module._tidy_up
    monkeypatch.setattr(module, "_tidy_up", tidy_up)
    monkeypatch.setattr(module, "REST_S", 0.01)
    monkeypatch.setattr(module, "OBJECTS", objects)
    ring = weakref.ref(_Ring())
    made = [[] for _ in range(1000)]
    engine = Engine(opened.source, opened.system, opened.request, made.append)
    engine.start()
    try:
        deadline = time.monotonic() + 60
        while len(rests) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        engine.stop()
    assert (ring() is None) == found


def test_each_of_several_what_ifs_is_also_predicted_alone(line):
    alone = (("latency", Settings(procs=4, latency="x2")), ("procs", Settings(procs=8)))
    answers = _answers(line, settings=Settings(procs=8, latency="x2"), alone=alone)
    (found,) = (each for each in answers if isinstance(each, Alone))
    values = {"n": 64, "reps": 3}
    assert found.times_s == {
        "latency": first(api.predict("lfk01", procs=4, latency="x2", set=values).time_s),
        "procs": first(api.predict("lfk01", procs=8, set=values).time_s),
    }


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({}, marks=pytest.mark.truth),
        {"bandwidth": "x4", "load": "20%"},
        pytest.param({"bandwidth": "1.4 MB/s"}, marks=pytest.mark.truth),
    ],
)
def test_what_matters_is_what_separate_predictions_say(opened, given):
    settings = Settings(procs=4, **given)
    *_, found = (each for each in _answers(opened, settings=settings, impact=True) if isinstance(each, Impact))

    def time_s(procs=4, **changes):
        return first(api.predict("laplace_bb", procs=procs, set={"n": 16, "k": 3}, **{**given, **changes}).time_s)

    swings = {each.name: each for each in found.swings}
    assert found.base_s == pytest.approx(time_s())
    half, twice = {"x4": ("x2", "x8"), "1.4 MB/s": ("0.7 MB/s", "2.8 MB/s")}.get(given.get("bandwidth"), ("x0.5", "x2"))
    assert swings["bandwidth"].less_s == pytest.approx(time_s(bandwidth=half))
    assert swings["bandwidth"].more_s == pytest.approx(time_s(bandwidth=twice))
    assert swings["latency"].more_s == pytest.approx(time_s(latency="x2"))
    assert swings["processor speed"].less_s == pytest.approx(time_s(processor_speed="x0.5"))
    assert swings["memory speed"].more_s == pytest.approx(time_s(memory_speed="x2"))
    assert swings["load"].more_s == pytest.approx(time_s(load="50%" if given.get("load") else "30%"))
    assert swings["load"].less_s == (pytest.approx(time_s(load="0%")) if given.get("load") else None)
    assert (swings["processors"].less_s, swings["processors"].more_s) == (time_s(procs=2), time_s(procs=8))
    if "bandwidth" not in given or given["bandwidth"].startswith("x"):
        sets = {"n": 16, "k": 3}
        assert found.shares == esp.sensitivity("laplace_bb", procs=4, set=sets, **given).runs[0].quantities
    else:
        assert found.shares == {}  # the network has no bandwidth of its own that could be varied
    reach = [each.reach_s(found.base_s) for each in found.swings]
    assert reach == sorted(reach, reverse=True)


@pytest.mark.truth
def test_scaling_is_what_esp_scalability_finds(opened):
    """In the end; before, the same size on more and more processors, and the formula."""
    answers = _answers(opened, settings=Settings(procs=2), scaling=True)
    answers = [each for each in answers if isinstance(each, Scaled) and not each.tried]
    assert [len(each.times_s) for each in answers] == [1, 2, 3, 4, 5, 6, 7, 7, 7]
    assert [each.formula is None for each in answers] == [True] * 7 + [False] * 2
    assert [each.found is None for each in answers] == [True] * 8 + [False]
    values = {"n": 16, "k": 3}
    assert answers[-1].formula.time == esp.formula("laplace_bb", procs=2, set=values).time
    assert answers[-1].times_s[16] == first(api.predict("laplace_bb", procs=16, set=values).time_s)
    expected = esp.scalability("laplace_bb", procs=[2, 4, 8, 16], set=values)
    assert answers[-1].found.runs == expected.runs


def test_a_large_terminal_gets_layout_timeline_and_speed_up_after_all_choices(opened):
    answers = _answers(opened, aside=True)
    kinds = [type(each) for each in answers]
    assert kinds.index(Finished) < kinds.index(Closer) < kinds.index(Aside)
    assert kinds.count(Finished) == 1
    *_, found = (each for each in answers if isinstance(each, Aside))
    assert set(found.times_s) == {1, 2, 4, 8, 16, 32, 64}
    for procs in (1, 4, 16):
        made = api.predict("laplace_bb", procs=procs, set={"n": 16, "k": 3})
        assert found.times_s[procs] == first(made.time_s)
    assert {name.lower() for each in found.pictures for name in (each.array, *each.same)} == {"a", "b"}
