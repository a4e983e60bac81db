"""From a name to the first frame, and what is shown where a program cannot be read."""

import asyncio
import subprocess
import sys
import threading

import pytest

from esp.errors import UnreadableFileError
from esp.tui import state as steps
from esp.tui.app import Explorer
from esp.tui.opening import Opening, opening
from esp.tui.question import WRITTEN

PATIENCE_S = 20

WRONG = """\
program wrong
  integer :: i
{comments}
  do i = 1, 10
  end dooo
end program wrong
"""


def _run(wanted, act, size=(80, 24)):
    async def all_of_it():
        app = Explorer(wanted)
        async with app.run_test(size=size) as pilot:
            return await act(app, pilot)

    return asyncio.run(all_of_it())


async def _until(pilot, true):
    for _ in range(int(PATIENCE_S / 0.02)):
        if true():
            return
        await pilot.pause(0.02)
    pytest.fail("it did not happen")


def test_the_first_frame_is_drawn_before_anything_is_read(made, driving, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())
    may_read = threading.Event()
    frames = []

    def open_it():
        frames.append(driving.picture(app))
        assert may_read.wait(PATIENCE_S)
        return made.opened()

    app = Explorer(Opening(file="laplace.hpf", open=open_it))

    async def act():
        async with app.run_test(size=(80, 24)) as pilot:
            await _until(pilot, lambda: frames)
            assert steps.prediction(app.state) is None
            may_read.set()
            await _until(pilot, lambda: steps.prediction(app.state) is not None)

    asyncio.run(act())
    (frame,) = frames
    head = frame.splitlines()[0]
    assert "laplace.hpf" in head
    assert head.endswith("predicting ...")
    assert " choices " in frame
    assert "quit" in frame


def test_the_screen_does_not_load_what_predicts(root):
    """Loading the lowering and the engine is work of the thread that reads the program."""
    code = "import sys, esp.tui.app; print([each for each in ('esp.api', 'interpreter.engine') if each in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root)
    assert run.stdout.strip() == "[]", run.stderr


def test_the_source_is_scrolled_to_what_is_wrong(tmp_path, driving):
    path = tmp_path / "wrong.hpf"
    text = WRONG.format(comments="\n".join("! so it is" for _ in range(60)))
    path.write_text(text)
    wrong = 1 + text.splitlines().index("  end dooo")

    async def act(app, pilot):
        await _until(pilot, lambda: steps.failed(app.state) is not None)
        await pilot.pause()
        shown = driving.picture(app)
        assert app.view.row == wrong - 1
        assert "end dooo" in shown
        assert "E120" in shown
        path.write_text(text.replace("dooo", "do"))
        await pilot.press("f5")
        await _until(pilot, lambda: WRITTEN in app.state.outcomes and steps.failed(app.state) is None)

    _run(opening(str(path), *_machine_and_request()), act)


def _machine_and_request():
    from esp import api

    return lambda: api.load_machine("ipsc860"), lambda: api.Request(procs=4)


@pytest.mark.parametrize("view", ["4", *(pytest.param(each, marks=pytest.mark.truth) for each in "1235")])
def test_every_key_is_safe_before_the_program_is_open(view, made, driving, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())
    may_read = threading.Event()

    def open_it():
        assert may_read.wait(PATIENCE_S)
        return made.opened()

    async def act(app, pilot):
        await pilot.press(view, "w", "right", "r", "b", "p", "f", "n", "plus", "minus", "0", "z", "z", "left", "tab")
        await pilot.press("right_square_bracket", "enter", "down", "escape")
        may_read.set()
        await _until(pilot, lambda: steps.prediction(app.state) is not None)

    _run(Opening(file="laplace.hpf", open=open_it), act)


def test_a_file_that_is_not_there_ends_the_interface():
    async def act(app, pilot):
        await _until(pilot, lambda: app.ended_by is not None)
        return app.ended_by

    assert isinstance(_run(opening("nosuch.hpf", *_machine_and_request()), act), UnreadableFileError)


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
def test_keys_that_quit(key, made, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())

    async def act(app, pilot):
        await pilot.press(key)
        await _until(pilot, lambda: not app.is_running)
        return app.return_code

    assert _run(made.opened(), act) == 0


def test_control_c_quits_from_a_dialogue(made, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())

    async def act(app, pilot):
        await pilot.press("o")
        await pilot.press("ctrl+c")
        await _until(pilot, lambda: not app.is_running)

    _run(made.opened(), act)
