"""The app driven by keys and mouse."""

import json

import pytest
from textual.widgets import Input, OptionList, Static

from esp.prediction import first
from esp.tui import pinned
from esp.tui import state as steps
from esp.tui.question import WRITTEN
from esp.tui.screens.asking import Asking, Choosing, Values
from esp.tui.screens.help import Help
from esp.tui.widgets.bars import SliderBar

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


@pytest.fixture
def quick(made, monkeypatch):
    """A program whose engine answers at once."""
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())
    return made.opened()


@pytest.fixture
def small(real):
    """A program with the real engine."""
    return real("pbs1", procs=4, values={"n": 64})


def _slider(app, name):
    return app.query_one(f"#slider-{name}", SliderBar)


def test_a_slider_moves_the_time(small, driving):
    async def then(app, pilot):
        before = first(steps.prediction(app.state).time_s)
        await driving.press(app, pilot, "w", "down", "right", "right")
        assert app.state.sliders["bandwidth"].value == "x2"
        assert first(steps.prediction(app.state).time_s) < before
        assert "%" in driving.picture(app).splitlines()[0]
        await driving.press(app, pilot, "r")
        assert first(steps.prediction(app.state).time_s) == before

    driving.drive(small, then=then)


def test_more_processors_are_another_list_of_choices(small, driving):
    async def then(app, pilot):
        shapes = {each.grid for each in app.state.choices}
        await driving.press(app, pilot, "w", "down", "down", "down", "down", "right")
        assert {each.grid for each in app.state.choices} != shapes
        assert steps.prediction(app.state).processors == 8

    driving.drive(small, then=then)


def test_a_typed_value_is_checked(small, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "w", "enter")
        assert isinstance(app.screen, Asking)
        app.screen.query_one(Input).value = "150%"
        await driving.press(app, pilot, "enter")
        assert isinstance(app.screen, Asking)
        app.screen.query_one(Input).value = "33%"
        await driving.press(app, pilot, "enter")
        assert app.state.sliders["load"].value == "33%"
        assert steps.prediction(app.state).asked["load"] == "33%"

    driving.drive(small, then=then)


def test_views_by_key_and_by_mouse(quick, driving):
    async def then(app, pilot):
        for key, view in zip("1234567", steps.VIEWS, strict=True):
            await driving.press(app, pilot, key)
            assert app.state.view == view
        await pilot.click("#tabs", offset=(120 - 70, 0))
        assert app.state.view == "source"
        await pilot.click("#choices", offset=(8, 3))
        await driving.settled(app, pilot)
        assert app.state.selected == app.state.order[2]
        await pilot.click("#slider-bandwidth", offset=(22, 0))
        await driving.settled(app, pilot)
        assert app.state.sliders["bandwidth"].moved
        keys = app.query_one("#keys")
        await pilot.click("#keys", offset=(keys.size.width - 15, 0))
        await pilot.pause(0.1)
        assert isinstance(app.screen, Help)

    driving.drive(quick, then=then, size=(120, 40))


def test_down_looks_at_the_next_choice_and_enter_goes_to_its_source(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "down")
        assert app.state.selected == app.state.order[1]
        await driving.press(app, pilot, "enter")
        assert app.focused.id == "view"
        await driving.press(app, pilot, "enter")
        assert app.state.view == "tree"
        assert app.state.cursor["tree"] == 3

    driving.drive(quick, then=then)


def test_the_graph_folds_and_drills_down(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "2", "enter")
        assert app.state.closed == {2}
        await driving.press(app, pilot, "enter", "down", "p", "down", "down", "enter")
        assert app.state.processor == 1
        await driving.press(app, pilot, "right_square_bracket")
        assert app.state.processor == 2
        await driving.press(app, pilot, "escape")
        assert app.state.processor is None

    driving.drive(quick, then=then)


def test_f_folds_loops_then_the_program_then_nothing(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "2", "f")
        kinds = {each.id: each.kind for each in steps.prediction(app.state).aaus}
        assert {kinds[each] for each in app.state.closed} == {"IterSync"}
        await driving.press(app, pilot, "enter", "f")
        assert app.state.closed
        await driving.press(app, pilot, "f")
        assert app.state.closed == frozenset()

    driving.drive(quick, then=then)


def test_the_timeline_zooms_moves_and_points_out(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "3", "plus", "plus", "right", "n", "n")
        assert app.state.window == pytest.approx((0.4375, 0.6875))
        assert app.state.message >= 0
        assert "message" in driving.picture(app)
        await driving.press(app, pilot, "0", "escape")
        assert app.state.window == (0.0, 1.0)
        assert app.state.message == -1

    driving.drive(quick, then=then)


def test_any_two_choices_side_by_side(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "down", "down", "down", "b", "up", "4")
        picture = driving.picture(app)
        assert "A (*,BLOCK) 8" in picture
        assert "B (CYCLIC,*) 8" in picture

    driving.drive(quick, then=then)


def test_the_wide_view_and_back(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "z")
        assert "distribution" not in driving.picture(app)
        assert "where" in driving.picture(app).splitlines()[3]
        await driving.press(app, pilot, "z")
        assert "distribution" in driving.picture(app)

    driving.drive(quick, then=then)


def test_missing_values_are_asked_for(real, driving):
    async def then(app, pilot):
        assert isinstance(app.screen, Values)
        await driving.press(app, pilot, "x", "enter")
        assert isinstance(app.screen, Values)
        app.screen.query_one(Input).value = "m = 3"
        await driving.press(app, pilot, "enter")
        assert steps.prediction(app.state) is not None
        assert dict(app.state.values) == {"m": 3}

    driving.drive(real("", procs=4, text=UNKNOWN), then=then)


def test_missing_extents_are_asked_for(real, driving):
    text = UNKNOWN.replace("double precision :: a(64)", "double precision, allocatable :: a(:)").replace("2:64", "2:m")
    text = text.replace("read *, m\n", "read *, m\n  allocate(a(m))\n")

    async def then(app, pilot):
        assert isinstance(app.screen, Values)
        await driving.press(app, pilot, "6", "4", "enter")
        assert steps.prediction(app.state) is not None
        assert "(CYCLIC)" in {each.shown for each in app.state.choices}
        assert app.state.sliders["size"].value == "64"

    driving.drive(real("", procs=4, text=text), then=then)


@pytest.mark.sampled
@pytest.mark.parametrize("key", ["2", "3", "4", "5", "6", "7"])
def test_a_view_without_a_prediction_says_so_and_waits_for_nothing(real, driving, key):
    async def then(app, pilot):
        await driving.press(app, pilot, "escape", key)
        picture = " ".join(driving.picture(app).split())
        assert "There is no prediction to look at" in picture
        assert "..." not in picture.split("7 Scaling")[1].split("UNKNOWN")[0].split("hint")[0]
        await driving.press(app, pilot, "1")
        assert app.state.view == "source"

    driving.drive(real("", procs=4, text=UNKNOWN), then=then)


def test_who_gives_up_sees_why(real, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "escape")
        assert steps.prediction(app.state) is None
        assert "--set" in "".join(driving.picture(app).split())
        await driving.press(app, pilot, "v")
        app.screen.query_one(Input).value = "m=2"
        await driving.press(app, pilot, "enter")
        assert steps.prediction(app.state) is not None

    driving.drive(real("", procs=4, text=UNKNOWN), then=then)


@pytest.mark.parametrize(("text", "said"), [("mm=2", "no such name"), ("a=2", "is an array"), ("m", "NAME=VALUE")])
def test_a_name_that_cannot_be_set_is_refused_where_it_is_typed(real, driving, text, said):
    async def then(app, pilot):
        await driving.press(app, pilot, "escape", "v")
        app.screen.query_one(Input).value = text
        await driving.press(app, pilot, "enter")
        assert said in str(app.screen.query_one(".wrong", Static).render())
        app.screen.query_one(Input).value = "m=2"
        await driving.press(app, pilot, "enter")
        assert steps.prediction(app.state) is not None

    driving.drive(real("", procs=4, text=UNKNOWN), then=then)


def test_a_directive_that_cannot_be_is_told_in_full(real, driving):
    text = UNKNOWN.replace("a(BLOCK)", "a(BLOCK,BLOCK)")

    async def then(app, pilot):
        told = steps.failed(app.state).text.splitlines()
        picture = driving.picture(app)
        assert len(told) > 3
        for line in told:
            assert line[:30].strip() in picture

    driving.drive(real("", procs=4, text=text), then=then)


def test_another_program_and_another_machine(small, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "o")
        assert isinstance(app.screen, Choosing)
        await driving.press(app, pilot, *"pbs4", "enter")
        assert steps.prediction(app.state).program == "pbs4"
        assert steps.prediction(app.state).processors == 4
        await driving.press(app, pilot, "s")
        options = app.screen.query_one(OptionList)
        names = [str(options.get_option_at_index(at).prompt) for at in range(options.option_count)]
        assert "cluster-ib" in names
        await driving.press(app, pilot, *"cluster-ib", "enter")
        assert steps.prediction(app.state).system == "cluster-ib"
        await driving.press(app, pilot, "o", *"nothing", "enter")
        assert steps.prediction(app.state).program == "pbs4"

    driving.drive(small, then=then)


def test_without_a_program_it_asks_for_one(driving):
    async def then(app, pilot):
        assert isinstance(app.screen, Choosing)
        await driving.press(app, pilot, *"pbs4", "enter")
        assert steps.prediction(app.state).program == "pbs4"

    driving.drive(None, then=then)


@pytest.mark.parametrize("suffix", [".txt", ".svg", ".html", ".json", ".csv"])
def test_what_is_on_the_screen_is_exported(suffix, small, driving, tmp_path):
    path = tmp_path / f"out{suffix}"

    async def then(app, pilot):
        await driving.press(app, pilot, "e")
        app.screen.query_one(Input).value = str(path)
        await driving.press(app, pilot, "enter")
        for _ in range(500):
            await pilot.pause(0.02)
            if path.exists():
                break

    driving.drive(small, then=then)
    text = path.read_text(encoding="utf-8")
    if suffix == ".json":
        assert json.loads(text)["program"] == "pbs1"
    else:
        assert "forall" in text.replace("&#160;", " ")


def test_an_export_without_a_form_is_refused(quick, driving, tmp_path):
    async def then(app, pilot):
        await driving.press(app, pilot, "e")
        app.screen.query_one(Input).value = str(tmp_path / "out.docx")
        await driving.press(app, pilot, "enter")
        assert isinstance(app.screen, Asking)
        await driving.press(app, pilot, "escape")

    driving.drive(quick, then=then)
    assert list(tmp_path.iterdir()) == []


def test_the_command_palette_has_every_choice(quick, driving):
    async def then(app, pilot):
        titles = [each.title for each in app.get_system_commands(app.screen)]
        assert {"Open a program", "Export", "View: Timeline", "Choose (CYCLIC,*) 8", "Size slider: k"} <= set(titles)
        command = next(each for each in app.get_system_commands(app.screen) if each.title == "Compare with (*,BLOCK) 8")
        command.callback()
        await driving.settled(app, pilot)
        assert (app.state.view, pinned.beside(app.state).key) == ("compare", "(*,BLOCK) 8")
        await driving.press(app, pilot, "ctrl+p", *"size slider", "enter")
        await pilot.pause(0.2)
        await driving.press(app, pilot, "enter")
        assert app.state.size_name == "k"

    driving.drive(quick, then=then)


def test_help_and_light_colours(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "question_mark")
        assert isinstance(app.screen, Help)
        await driving.press(app, pilot, "escape")
        app.action_light_or_dark()
        await pilot.pause()
        assert not app.current_theme.dark
        assert app.state.selected == WRITTEN

    driving.drive(quick, then=then)


def test_a_small_terminal_does_not_break_it(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "2", "3", "4", "1")
        assert "laplace" in driving.picture(app)

    driving.drive(quick, then=then, size=(40, 12))
