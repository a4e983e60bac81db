"""Many positions of the sliders in one walk: each of them shows what it shows when it is interpreted alone."""

import re

import pytest
from msgspec.structs import replace

from esp import api
from esp.tui import export
from esp.tui import state as steps
from esp.tui.answers import answered
from esp.tui.engine import Engine
from esp.tui.fan import MOST_CELLS, Fans, pieces, spread
from esp.tui.question import Closer, Predicted, Settings
from esp.tui.sheets import detail
from esp.tui.sheets.figures import COMING
from sag.scenario import Scenario

MOVES = (
    ("load", 1),
    ("load", 19),
    ("bandwidth", -4),
    ("bandwidth", 6),
    ("processor_speed", -3),
    ("processor_speed", 4),
)
"""Slider and by how many notches it is moved."""

PROGRAMS = {"laplace": {"n": 32, "k": 6}, "gauss": {"n": 12}, "pipeline": {}, "lfk01": {}, "pi": {}}


@pytest.fixture
def only_written(monkeypatch):
    """The choice of the source alone: the others are not walked ahead."""
    from esp.tui import engine

    really = engine.choices_for

    def choices(*given):
        listing = really(*given)
        return replace(listing, choices=tuple(each for each in listing.choices if each.written))

    monkeypatch.setattr(engine, "choices_for", choices)


def _answers(engine, question):
    found = []
    engine._deliver, engine._question = found.append, question
    engine.answer(question)
    return found


def _shown(state, answer, found):
    closer = next(each for each in found if isinstance(each, Closer))
    return answered(answered(state, answer), closer)


def _screens(state):
    """All that is on the screen in each view, but for what is still to come and what stands in its place: whether links
    are contended, and the share of estimates."""
    for view in ("source", "tree", "compare"):
        for processor in (None, 3) if view == "tree" else (None,):
            text = " ".join(export.text_of(replace(state, view=view, processor=processor)).split())
            text = re.sub(rf", links contended(?=;)|; links contended: {re.escape(COMING)}", "", text)
            yield re.sub(rf"trust ({re.escape(COMING)}|.*? estimated figures)", "trust", text)


@pytest.mark.usefixtures("only_written")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_position_shows_what_it_shows_when_it_is_interpreted_alone(name, real):
    opened = real(name, procs=8, values=PROGRAMS[name])
    engine = Engine(opened.source, opened.system, opened.request, lambda _: None)
    home = steps.asking(replace(opened.state, view="tree"))
    question = steps.question(home)
    same = tuple(each for each in question.ahead if each.lowering == question.settings.lowering)
    for answer in _answers(engine, replace(question, ahead=same)):
        home = answered(home, answer)
    for slider, by in MOVES:
        state = steps.moved(home, slider, home.sliders[slider].at + by)
        asked = replace(steps.question(state), ahead=())
        found = _answers(engine, asked)
        at_once, _ = (each for each in found if isinstance(each, Predicted))
        assert at_once.open
        alone = Engine(opened.source, opened.system, opened.request, lambda _: None)
        fresh = _answers(alone, asked)
        slow = next(each for each in fresh if isinstance(each, Predicted))
        assert not slow.open
        assert list(_screens(_shown(state, at_once, found))) == list(_screens(_shown(state, slow, fresh)))


def test_what_is_still_to_come_is_marked(home_of_contended):
    home = home_of_contended
    text = " ".join(line.text for line in detail.lines(home, 200))
    assert ", links contended;" in text
    assert "estimated figures" in text
    text = " ".join(line.text for line in detail.lines(replace(home, open=frozenset({home.selected})), 200))
    assert ", links contended" not in text
    assert f"links contended: {COMING}" in text
    assert f"trust {COMING}" in text
    assert "estimated figures" not in text


@pytest.fixture
def home_of_contended(made):
    """A state whose hottest line sends messages that wait for links."""
    home = made.answered()
    found = steps.prediction(home)
    aaus = tuple(
        each if each.comm is None else replace(each, comm=replace(each.comm, contended=True)) for each in found.aaus
    )
    return replace(home, outcomes={**home.outcomes, home.selected: replace(found, aaus=aaus)})


@pytest.fixture(scope="module")
def small(real):
    return real("pbs1", procs=4, values={"n": 64})


@pytest.fixture(scope="module")
def stages(small):
    return api.lower_source(small.source, small.system, small.request)


def _requests(small, settings, **scenario):
    return {
        each: replace(
            small.request,
            scenario=Scenario(
                load=each.load, bandwidth=each.bandwidth, processor_speed=each.processor_speed, **scenario
            ),
        )
        for each in settings
    }


def _alone(small, stages, request):
    return api.interpret_stages(stages, small.system, request)


def test_a_machine_that_is_loaded_itself_keeps_its_load(small, stages):
    """A slider at home asks for nothing, which is not a load of 0%."""
    settings = [Settings(), Settings(load="50%"), Settings(bandwidth="x2")]
    requests = _requests(small, settings, sets=(("cube.network.load", "40%"),))
    fan = spread("", stages, small.system, requests)
    for each in settings:
        found, _ = fan.look(each)
        assert found.time_s[0] == pytest.approx(_alone(small, stages, requests[each]).time_s[0], rel=1e-12)
    assert fan.look(settings[0])[0].time_s[0] > _alone(small, stages, small.request).time_s[0]


def test_a_value_with_a_unit_is_walked_apart_from_factors(small, stages):
    settings = [
        Settings(bandwidth="5 MB/s", load="5%"),
        Settings(bandwidth="x2"),
        Settings(bandwidth="5 MB/s"),
        Settings(bandwidth="x3"),
    ]
    found = pieces(settings, stages)
    assert found == [[settings[0], settings[2]], [settings[1], settings[3]]]
    for piece in found:
        requests = _requests(small, piece)
        fan = spread("", stages, small.system, requests)
        for each in piece:
            alone = _alone(small, stages, requests[each])
            assert fan.look(each)[0].time_s[0] == pytest.approx(alone.time_s[0], rel=1e-12)
            assert fan.look(each)[0].asked == alone.asked


@pytest.mark.parametrize("procs", [1, 8, 64, 256, 1024, 2048])
def test_a_walk_has_no_more_positions_than_it_can_carry(procs, real):
    opened = real("pbs1", procs=procs)
    stages = api.lower_source(opened.source, opened.system, opened.request)
    settings = [Settings(load=f"{percent}%") for percent in range(99)]
    found = pieces(settings, stages)
    assert all(len(piece) * procs <= MOST_CELLS for piece in found)
    assert [each for piece in found for each in piece] == (settings if procs < 2048 else [])


def test_what_all_fans_hold_is_bounded(small, stages):
    requests = _requests(small, [Settings(load="5%"), Settings(load="10%")])
    fan = spread("", stages, small.system, requests)
    assert fan.bytes > 0
    fans = Fans(most_bytes=2 * fan.bytes)
    for choice in "abc":
        fans.add(replace(fan, choice=choice))
    assert fans.bytes == 2 * fan.bytes
    assert fans.find(Settings(load="5%"), "a") is None
    assert fans.find(Settings(load="5%"), "b").choice == "b"
    fans.add(replace(fan, choice="d"))
    assert fans.find(Settings(load="10%"), "c") is None, "the one that was used last stays"
    assert fans.find(Settings(load="10%"), "b").choice == "b"
    assert fans.find(Settings(load="15%"), "b") is None
