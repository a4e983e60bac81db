"""What a large terminal shows beside the lists."""

import pytest

from esp.tui import state as steps
from esp.tui.sheets import aside


@pytest.fixture
def large(made, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())
    return made.opened()


def test_speed_up_layout_and_timeline_are_drawn(large, driving):
    from esp.tui.widgets.curve import SpeedUp

    async def then(app, pilot):
        await pilot.pause()
        curve = app.query_one(SpeedUp)
        text = str(curve.render())
        assert "Speed-up: times as fast as on 1 processor" in text
        assert "(BLOCK,BLOCK)" in text
        assert "8 processors" in text
        shown = driving.picture(app)
        assert "which processor holds what" in shown
        assert "111111|" in shown
        assert "what each processor does" in shown
        await pilot.resize_terminal(100, 50)
        await pilot.pause()
        assert not app.state.roomy
        assert "which processor holds what" not in driving.picture(app)

    driving.drive(large, then=then, size=(200, 60))


def test_a_small_terminal_asks_for_none_of_it(large, driving):
    async def then(app, pilot):
        assert not steps.question(app.state).aside
        assert app.state.aside is None

    driving.drive(large, then=then, size=(120, 40))


def test_the_speed_up_is_that_over_the_fewest_processors(made):
    state = steps.with_room(made.answered(), roomy=True)
    assert aside.speed_up(state) == {}
    state = made.answered(state)
    assert aside.speed_up(state) == pytest.approx({2**power: 1.6**power for power in range(7)})
    assert steps.with_room(state, roomy=True) is state


def test_boxes_become_lower_where_there_is_little_room(made):
    """4x2 boxes of four lines each, with a border between them and three lines of words."""
    state = made.answered(steps.with_room(made.answered(), roomy=True))
    tall = [line.text for line in aside.layout_lines(state, 64, 99)]
    low = [line.text for line in aside.layout_lines(state, 64, len(tall) - 7)]
    assert len(low) == len(tall) - 7
    for owner in "01234567":
        rows = [sum(f"|{owner}{owner}" in line for line in lines) for lines in (tall, low)]
        assert rows[0] == 4
        assert 2 <= rows[1] <= 3
    flat = [line.text for line in aside.layout_lines(state, 64, 1)]
    assert all(any(f"|{owner}{owner}" in line for line in flat) for owner in "01234567")
