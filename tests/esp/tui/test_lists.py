"""Lists are searched and sorted; what they show is copied."""

import json
import shlex

import pytest
from textual.widgets import Input

from esp.cli.main import main
from esp.cli.tui import _command
from esp.prediction import first
from esp.tui import copying
from esp.tui import state as steps
from esp.tui.sheets import choices, compare, source
from esp.tui.sheets.views import sheet


@pytest.fixture
def home(made):
    return made.answered()


@pytest.fixture
def quick(made, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())
    return made.opened()


def _keys(found):
    return [line.key for line in found.lines if line.key is not None]


def test_a_list_shows_only_what_contains_a_text(home):
    """Also where the text is beyond the edge of the screen, and in whatever case."""
    assert _keys(sheet(steps.narrowed(home, "source", "B(I, J)"), 36)) == [7]
    assert _keys(sheet(steps.narrowed(home, "source", "double PRECISION"), 36)) == [3]
    assert _keys(choices.sheet(steps.narrowed(home, "choices", "cyclic"), 45)) == ["(CYCLIC,*) 8"]
    nothing = sheet(steps.narrowed(home, "source", "nowhere"), 60)
    assert _keys(nothing) == []
    assert "no line contains 'nowhere'" in nothing.text
    assert len(_keys(sheet(steps.stepped_out(steps.narrowed(home, "source", "nowhere")), 60))) == len(home.lines)


def test_choices_are_sorted_and_keep_their_numbers(home):
    by_name = steps.sorted_anew(home, "choices")
    rows = [line.text.split()[0] for line in choices.sheet(by_name, 60).lines if line.key is not None]
    assert _keys(choices.sheet(by_name, 60)) == sorted(home.outcomes, key=lambda key: key or "(BLOCK,BLOCK)")
    assert sorted(rows) == ["1", "2", "3", "4"]
    assert rows != sorted(rows)
    by_messages = steps.sorted_anew(by_name, "choices")
    spent = [first(home.outcomes[key].parts.communication_s) for key in _keys(choices.sheet(by_messages, 60))]
    assert spent == sorted(spent)
    assert steps.sort_of(steps.sorted_anew(by_messages, "choices"), "choices") == "time"


def test_lines_are_sorted_by_time_and_by_change(home):
    assert _keys(source.sheet(steps.sorted_anew(home, "source"), 60))[:3] == [7, 8, 9]
    assert _keys(source.sheet(home, 60)) == list(range(1, len(home.lines) + 1))
    lines = [key for key in _keys(compare.sheet(steps.sorted_anew(home, "compare"), 60)) if isinstance(key, int)]
    assert lines == sorted(lines)


def test_keys_find_sort_and_copy(quick, driving):
    async def then(app, pilot):
        await driving.press(app, pilot, "slash", *"cyc")
        assert "(CYCLIC,*)" in driving.picture(app)
        assert "(*,BLOCK)" not in driving.picture(app)
        await driving.press(app, pilot, "enter")
        assert "/cyc" in driving.picture(app)
        await driving.press(app, pilot, "slash", "escape")
        assert "(*,BLOCK)" in driving.picture(app)
        await driving.press(app, pilot, "t")
        assert "by name" in driving.picture(app)
        await driving.press(app, pilot, "t", "t", "down", "y")
        assert app.clipboard == "!HPF$ PROCESSORS P(8)\n!HPF$ DISTRIBUTE A(BLOCK,*) ONTO P"
        await driving.press(app, pilot, "Y")
        assert app.clipboard.startswith("esp run laplace.hpf --system ipsc860 --distribute 'a=(BLOCK,*)' --grid 8")
        await driving.press(app, pilot, "2", "slash", *"shift", "escape")
        assert not any(isinstance(each, Input) for each in app.screen.query("*"))

    driving.drive(quick, then=then)


def test_the_source_s_own_choice_has_nothing_to_paste(home):
    assert copying.directives(home) == ""


def test_the_copied_command_predicts_what_is_on_the_screen(real, driving, capsys):
    """For another choice, sliders that moved and values that were given."""

    async def then(app, pilot):
        await driving.press(app, pilot, "down", "w", "right", "right", "down", "right", "down", "left", "down", "right")
        await driving.press(app, pilot, "down", "right", "down", "left")
        words = shlex.split(copying.command(app.state, app._opened.request))
        return words, first(steps.prediction(app.state).time_s)

    words, time_s = driving.drive(real("pbs1", procs=4, values={"n": 64}), then=then)
    assert {"--load", "--bandwidth", "--latency", "--processor-speed", "--set", "--distribute"} <= set(words)
    assert words[-2:] == ["--procs", "8"]
    assert main([*words[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["time_s"] == pytest.approx(time_s)


def test_the_command_keeps_the_options_of_the_start():
    """What sliders and choices do not change comes from the command line."""
    from esp.cli.parser import build_parser

    words = "tui pbs1 --procs 4 --system cluster-ib --opt hoist=off --io off --bandwidth x2 --set n=64".split()
    start = _command(build_parser("tui").parse_args(words))
    assert start == "esp run pbs1 --system cluster-ib --io off --opt hoist=off"
