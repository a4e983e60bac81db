"""The steps of the state: what is asked, what answers change, what stays."""

import pytest
from msgspec.structs import replace

from esp.prediction import first
from esp.tui import pinned
from esp.tui import state as steps
from esp.tui.answers import answered
from esp.tui.question import WRITTEN, Failure, Finished, ListedProgram, PredictedAnswer


@pytest.fixture
def home(made):
    """All answered, nothing moved."""
    return made.answered()


def _answered(made, state):
    for answer in made.answers(steps.question(state)):
        state = answered(state, answer)
    return state


def test_choices_are_sorted_by_time_once_all_are_known(home):
    times = [steps.time_s(home, key) for key in home.order]
    assert times == sorted(times)
    assert not home.busy
    assert set(home.order) == set(home.fresh) == {each.key for each in home.choices}


def test_an_answer_to_an_older_question_changes_nothing(home, made):
    moved = steps.moved(home, "load", 4)
    late = PredictedAnswer(number=home.number, key=WRITTEN, outcome=made.prediction(99))
    assert answered(moved, late) is moved


def test_what_has_no_answer_any_more_is_not_shown_as_it_was(home):
    asked = steps.asking(home)
    refused = Failure(text="impossible here")
    after = answered(asked, PredictedAnswer(number=asked.number, key=asked.selected, outcome=refused))
    assert len(after.outcomes) == len(home.outcomes)
    after = answered(after, Finished(number=asked.number))
    assert after.outcomes == {asked.selected: refused}


def test_a_moved_slider_asks_for_its_change_alone(home):
    asked = steps.question(steps.moved(home, "load", 4))
    assert asked.number == home.number + 1
    assert asked.settings == replace(steps.settings(home), load="20%")
    assert asked.settings.lowering == steps.settings(home).lowering


def test_processors_and_sizes_need_another_node_program(home):
    for name in ("procs", "size"):
        after = steps.moved(home, name, home.sliders[name].at + 1)
        assert steps.settings(after).lowering != steps.settings(home).lowering


def test_a_slider_that_does_not_move_asks_nothing(home):
    assert steps.moved(home, "load", 0) is home
    assert steps.moved(home, "procs", home.sliders["procs"].at) is home


def test_what_is_shown_is_held_against_home(home, made):
    assert steps.base(home) is None
    after = _answered(made, steps.moved(home, "bandwidth", home.sliders["bandwidth"].at + 2))
    before, now = steps.base(after), steps.prediction(after)
    assert first(now.parts.communication_s) == pytest.approx(first(before.parts.communication_s) / 2)
    assert first(now.parts.computation_s) == pytest.approx(first(before.parts.computation_s))
    back = _answered(made, steps.back_home(after))
    assert steps.base(back) is None
    assert steps.settings(back) == steps.settings(home)


def test_the_order_does_not_jump_while_a_question_is_answered(home, made):
    moved = steps.moved(home, "load", 19)
    listed, *others, done, _ = made.answers(steps.question(moved))
    half = answered(moved, listed)
    assert half.order == home.order
    half = answered(half, PredictedAnswer(number=half.number, key=WRITTEN, outcome=made.prediction(5e3)))
    assert half.order == home.order
    for each in others:
        half = half if each.key == WRITTEN else answered(half, each)
        assert half.order == home.order
    assert answered(half, done).order[-1] == WRITTEN


def test_what_comes_in_for_the_first_time_goes_to_its_place(made):
    state = steps.asking(made.opened().state)
    listed, *predicted, _, _ = made.answers(steps.question(state))
    state = answered(state, listed)
    for answer in reversed(predicted):
        state = answered(state, answer)
        times = [steps.time_s(state, key) for key in state.order]
        known = [each for each in times if each is not None]
        assert times == sorted(known) + [None] * (len(times) - len(known))
    assert state.busy


def test_a_choice_that_is_gone_is_forgotten(home):
    moved = steps.moved(home, "procs", 0)
    after = answered(
        moved, ListedProgram(number=moved.number, choices=home.choices[:1], wanted=WRITTEN, left_out=0, sized_by=())
    )
    assert after.order == (WRITTEN,)
    assert set(after.outcomes) == {WRITTEN}


def test_b_is_what_is_pinned_or_the_next_best(home):
    assert pinned.beside(home).key == home.order[1]
    kept = pinned.pin_choice(home, home.order[2])
    assert pinned.beside(kept).key == home.order[2]
    assert pinned.beside(steps.select(kept, home.order[2])).key == home.order[0]
    assert pinned.pin(steps.select(kept, home.order[2])).pinned is None


def test_what_is_pinned_stays_as_it_was(made, home):
    """The same choice with other settings is compared with what was pinned before they changed."""
    moved = made.answered(steps.moved(home, "load", 10))
    then = steps.prediction(moved)
    after = made.answered(steps.back_home(pinned.pin(moved)))
    assert pinned.beside(after).prediction is then
    assert pinned.beside(after).name == "(BLOCK,BLOCK) 4x2, as in the source, load 50%"
    assert steps.prediction(after) is not then


def test_ties_are_those_of_the_comparison(home):
    """282 and 283 ms are within 2 %, 299 and 687 ms are not."""
    assert dict(steps.tied(home)) == {"(BLOCK,*) 8": 1}


def test_a_view_that_needs_more_asks_once(home, made):
    tree = steps.look_at(home, "tree")
    assert steps.question(tree).processors
    tree = _answered(made, tree)
    assert steps.look_at(steps.look_at(tree, "source"), "tree").number == tree.number
    timeline = steps.look_at(tree, "timeline")
    assert timeline.number == tree.number + 1
    timeline = _answered(made, timeline)
    # What was known of the processors stays: choice and settings are the same.
    assert timeline.by_processor is not None
    moved = steps.moved(steps.look_at(timeline, "source"), "load", 3)
    assert steps.look_at(_answered(made, moved), "tree").number == moved.number + 1


def test_another_choice_needs_its_own_closer_look(home, made):
    tree = _answered(made, steps.look_at(home, "tree"))
    assert steps.select(tree, home.order[1]).number == tree.number + 1
    assert steps.select(home, home.order[1]).number == home.number


def test_missing_values_are_told_and_given(home):
    moved = steps.moved(home, "procs", 0)
    failure = Failure(text="E500 ...", names=("niter",), reasons=("x.hpf:3: niter",))
    failed = answered(moved, PredictedAnswer(number=moved.number, key=WRITTEN, outcome=failure))
    assert steps.missing(failed) == failure
    given = steps.given(failed, (("NITER", 10),))
    assert dict(steps.settings(given).values) == {"niter": 10}
    assert steps.missing(given) is None


def test_the_size_slider_is_that_of_what_is_distributed(home):
    assert home.size_name == "n"
    assert home.sliders["size"].value == "256"
    other = steps.sized_by(home, "k")
    assert (other.size_name, other.sliders["size"].value) == ("k", "50")
    assert dict(steps.settings(steps.moved(other, "size", 0)).values) == {"k": 6}


def test_the_timeline_stays_within_the_run(home):
    state = steps.zoomed(home, 0.25)
    assert state.window == pytest.approx((0.375, 0.625))
    assert steps.panned(state, 100.0).window == pytest.approx((0.75, 1.0))
    assert steps.panned(state, -100.0).window == pytest.approx((0.0, 0.25))
    assert steps.zoomed(state, 1e6).window == (0.0, 1.0)


def test_processors_go_around(home):
    assert steps.one_processor(home, -1).processor == 7
    assert steps.one_processor(home, 8).processor == 0
    assert steps.stepped_out(steps.one_processor(home, 3)).processor is None


def test_only_what_is_slow_is_shown_as_slow(home):
    moved = steps.moved(home, "load", 1)
    assert steps.dragging_on(moved, moved.number).slow
    assert steps.dragging_on(moved, moved.number - 1) is moved
    assert steps.dragging_on(home, home.number) is home


def test_ties_are_with_a_faster_one_wherever_it_stands(home, made):
    slow, fast = home.order[0], home.order[-1]
    times = {slow: made.prediction(1.01), fast: made.prediction(1.0)}
    state = replace(home, outcomes=times)
    assert dict(steps.tied(state)) == {slow: len(home.order)}
