"""A first estimate stands on the screen, marked as one, until the whole walk has come to its end."""

import pytest
from msgspec.structs import replace

from esp import api
from esp.errors import UsageError
from esp.output.figures import first
from esp.output.numbers import seconds
from esp.tui import export
from esp.tui import state as steps
from esp.tui.answers import answered
from esp.tui.engine import FEW, Engine, Superseded
from esp.tui.question import WRITTEN, Closer, Listed, Predicted, Question, Settings
from esp.tui.sheets import choices, compare, frame
from esp.tui.sheets.figures import ABOUT
from esp.tui.sheets.views import sheet

UNKNOWN = """\
program unknown
  integer :: i, k, m
  double precision :: a(64)
!HPF$ PROCESSORS p(4)
!HPF$ DISTRIBUTE a(BLOCK) ONTO p
  read *, m
  do k = 2, m
    forall (i = k:64) a(i) = a(i-1)
  end do
end program unknown
"""

ASKED = Question(number=1, settings=Settings(procs=4), wanted=WRITTEN)


@pytest.fixture(scope="module")
def elimination(real):
    return real("gauss", procs=4, values={"n": 64})


@pytest.fixture
def home(made):
    return made.answered()


def _answers(opened, question=ASKED):
    found = []
    Engine(opened.source, opened.system, opened.request, found.append).answer(question)
    return found


def _whole(opened):
    machine, request = opened.system, opened.request
    return api.interpret_stages(api.lower_source(opened.source, machine, request), machine, request)


def test_an_estimate_of_every_choice_comes_before_the_walks_of_the_others(elimination):
    found = [each for each in _answers(elimination) if isinstance(each, Predicted)]
    rough, sure = ([each for each in found if each.rough is kind] for kind in (True, False))
    assert [each.key for each in found[:2]] == [WRITTEN, WRITTEN]
    assert [each.rough for each in found] == [True, False, *[True] * (len(rough) - 1), *[False] * (len(sure) - 1)]
    assert sorted(each.key for each in rough) == sorted(each.key for each in sure)
    assert len(rough) > 2
    for each in rough:
        late = next(other for other in sure if other.key == each.key)
        assert first(each.outcome.time_s) == pytest.approx(first(late.outcome.time_s), rel=0.06)
        assert each.open
        assert not late.open


def test_what_takes_its_place_is_the_prediction(elimination):
    late = [each for each in _answers(elimination) if isinstance(each, Predicted) and each.key == WRITTEN][1]
    assert first(late.outcome.time_s) == first(_whole(elimination).time_s)


def test_an_estimate_is_not_told_where_the_prediction_is_known(elimination):
    found = []
    engine = Engine(elimination.source, elimination.system, elimination.request, found.append)
    engine.answer(ASKED)
    first_time = len([each for each in found if isinstance(each, Predicted)])
    engine.answer(replace(ASKED, number=2))
    again = [each for each in found if isinstance(each, Predicted)][first_time:]
    assert again
    assert not any(each.rough for each in again)


def test_who_moves_on_does_not_wait_for_the_whole_walk(elimination, monkeypatch):
    engine, walks = None, []
    alone = api.interpret_stages
    monkeypatch.setattr(api, "interpret_stages", lambda *given, few=0: walks.append(few) or alone(*given, few=few))

    def deliver(answer):
        if isinstance(answer, Predicted) and answer.rough and answer.number == 1:
            engine.ask(replace(ASKED, number=2, settings=Settings(procs=8)))

    engine = Engine(elimination.source, elimination.system, elimination.request, deliver)
    with pytest.raises(Superseded):
        engine.answer(ASKED)
    assert len(walks) == 1


def test_the_next_moves_are_estimated_before_any_of_them_is_walked(elimination, monkeypatch):
    walks, alone = [], api.interpret_stages

    def watched(stages, system, request, listener, few=0):
        if not request.distribute:
            walks.append((request.procs, few))
        return alone(stages, system, request, listener, few=few)

    monkeypatch.setattr(api, "interpret_stages", watched)
    _answers(elimination, replace(ASKED, ahead=(Settings(procs=8), Settings(procs=2), Settings(procs=16))))
    assert walks == [(4, FEW), (8, FEW), (2, FEW), (4, 0), (16, FEW), (8, 0), (2, 0), (16, 0)]


def test_an_estimate_that_is_known_is_told_at_once(elimination):
    found = []
    engine = Engine(elimination.source, elimination.system, elimination.request, found.append)
    engine.answer(replace(ASKED, ahead=(Settings(procs=8),)))
    there = (Settings(procs=8), WRITTEN)
    del engine._outcomes[there]
    found.clear()
    engine.ask(replace(ASKED, number=2, settings=there[0]))
    told = [each for each in found if isinstance(each, Predicted)]
    assert [(each.number, each.key, each.rough, each.open) for each in told] == [(2, WRITTEN, True, True)]
    assert told[0].outcome is engine._estimates[there]
    engine.answer(replace(ASKED, number=2, settings=there[0]))
    told = [each for each in found if isinstance(each, Predicted) and each.key == WRITTEN]
    assert [each.rough for each in told] == [True, False], "and not a second time"


def test_the_closer_look_is_at_the_prediction(elimination):
    found = _answers(elimination, replace(ASKED, processors=True))
    closer = next(each for each in found if isinstance(each, Closer))
    busy = sum(float(parts.mean(axis=1).sum()) for parts in closer.processors.parts.values())
    assert busy == pytest.approx(first(_whole(elimination).time_s), rel=1e-9)


def test_what_repeats_is_predicted_at_once_and_once(real):
    found = _answers(real("laplace_bb", procs=4, values={"n": 16, "k": 3}))
    told = [each for each in found if isinstance(each, Predicted)]
    assert not any(each.rough for each in told)
    assert len({each.key for each in told}) == len(told)


def test_what_prevents_a_prediction_is_told_once_and_as_ever(real):
    found = _answers(real("", procs=4, text=UNKNOWN))
    told = [each for each in found if isinstance(each, Predicted) and each.key == WRITTEN]
    assert [(each.outcome.names, each.rough, each.open) for each in told] == [(("m",), False, False)]


def test_an_estimate_is_marked_until_the_prediction_comes(home, made):
    moved = steps.moved(home, "load", home.sliders["load"].at + 1)
    about = made.prediction(2.0)
    rough = answered(moved, Predicted(number=moved.number, key=WRITTEN, outcome=about, open=True, rough=True))
    assert rough.rough == {WRITTEN}
    shown = ABOUT + seconds(first(about.time_s))
    assert shown in frame.heading(rough, 80, 0)[0].text
    assert shown in choices.sheet(rough, 60).text
    late = answered(rough, Predicted(number=moved.number, key=WRITTEN, outcome=about))
    assert late.rough == frozenset()
    assert ABOUT not in frame.heading(late, 80, 0)[0].text + choices.sheet(late, 60).text
    assert shown in compare.sheet(rough, 60).text
    assert ABOUT not in compare.sheet(late, 60).text
    assert steps.moved(rough, "load", 5).rough == {WRITTEN}, "it is still an estimate, of older settings"


def test_an_estimate_is_no_prediction_to_export(home, made):
    rough = Predicted(number=home.number, key=WRITTEN, outcome=made.prediction(2.0), open=True, rough=True)
    state = answered(home, rough)
    for suffix in (".csv", ".json", ".html"):
        with pytest.raises(UsageError, match="only an estimate"):
            export.exported(state, suffix)
    assert ABOUT in export.exported(state, ".txt")


def test_rows_are_sorted_when_the_last_of_them_has_an_estimate(home, made):
    state = steps.moved(home, "load", home.sliders["load"].at + 1)
    last_first = list(reversed(home.order))
    for number, key in enumerate(last_first):
        assert state.order == home.order
        answer = Predicted(number=state.number, key=key, outcome=made.prediction(1.0 + number), open=True, rough=True)
        state = answered(state, answer)
    assert list(state.order) == last_first


def test_ties_are_with_a_faster_one_wherever_it_stands(home, made):
    slow, fast = home.order[0], home.order[-1]
    times = {slow: made.prediction(1.01), fast: made.prediction(1.0)}
    state = replace(home, outcomes=times)
    assert dict(steps.tied(state)) == {slow: len(home.order)}


def test_a_comparison_with_older_settings_is_dimmed(home, made):
    moved = replace(steps.look_at(steps.moved(home, "load", 5), "compare"), slow=True)
    moved = answered(moved, Predicted(number=moved.number, key=WRITTEN, outcome=made.prediction(2.0)))
    roles = {role for line in sheet(moved, 90).lines for _, role in line.pieces}
    assert roles == {"old"}
    other = answered(moved, Predicted(number=moved.number, key=steps.rival(moved), outcome=made.prediction(2.0)))
    assert "old" not in {role for line in sheet(other, 90).lines for _, role in line.pieces}


def test_a_question_of_the_same_position_gets_the_prediction_too(elimination):
    """Another view asks again while the walk is under way; what it gets at once is the estimate."""
    found, engine = [], None

    def deliver(answer):
        found.append(answer)
        if isinstance(answer, Predicted) and answer.rough and answer.number == 1:
            engine.ask(replace(ASKED, number=2, processors=True))

    engine = Engine(elimination.source, elimination.system, elimination.request, deliver)
    with pytest.raises(Superseded):
        engine.answer(ASKED)
    engine._predict(
        replace(ASKED, number=2),
        engine._asked(ASKED.settings),
        next(each for each in engine._met.values() if each.key == WRITTEN),
    )
    engine.answer(replace(ASKED, number=2, processors=True))
    told = [each.rough for each in found if isinstance(each, Predicted) and (each.number, each.key) == (2, WRITTEN)]
    assert told == [True, False]


def test_nothing_is_held_against_an_estimate(made):
    state = steps.asking(made.opened().state)
    listed = next(each for each in made.answers(steps.question(state)) if isinstance(each, Listed))
    rough = Predicted(number=state.number, key=WRITTEN, outcome=made.prediction(1.0), open=True, rough=True)
    after = answered(answered(state, listed), rough)
    assert WRITTEN not in after.home
    sure = answered(after, replace(rough, open=False, rough=False))
    assert WRITTEN in sure.home
