"""The line that says how far long work has come."""

import re
import sys

import pytest

from esp import api
from esp.api import load_machine, read_source, requested
from esp.cli import progress
from esp.cli.console import Console
from esp.explore.advise import advise_source
from esp.output.screen import Screen
from interpreter.engine import interpret_with
from interpreter.setting import Setting
from interpreter.summary import About
from tests.esp.cli.conftest import Stream
from tests.interpreter.hand import Hand, machine, phase


@pytest.fixture
def clock(monkeypatch):
    """Seconds that a test sets."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "PIPED_S", 10.0)
    return now


def test_it_is_shown_after_a_second_and_goes_away(clock):
    stream = Stream(terminal=True)
    with progress.ProgressLine(Console(screen=Screen()), stream) as watch:
        watch(20, 0.25)
        assert stream.getvalue() == ""
        clock[0] += 2.0
        watch(20, 0.5)
        watch(20, 0.51)
        shown = stream.getvalue()
        assert shown == "\rline 20: 50% of its iterations interpreted, 2 s, at most 2 s more for this loop"
    assert stream.getvalue() == shown + "\r" + " " * (len(shown) - 1) + "\r"


def test_each_walk_of_a_loop_has_its_own_time(clock):
    """The remaining time is computed from the time spent in the current loop."""
    stream = Stream(terminal=False)
    with progress.ProgressLine(Console(screen=Screen()), stream) as watch:
        for line, shares in ((11, (0.0, 0.5, 0.9)), (18, (0.0, 0.04, 0.5))):
            for done in shares:
                watch(line, done)
                clock[0] += 10.0
        watch.begin("scenario 2 of 65")
        for done in (0.0, 0.25, 0.0, 0.5):
            watch(18, done)
            clock[0] += 10.0
    assert stream.getvalue().splitlines() == [
        "line 11: 50% of its iterations interpreted, 10 s, at most 10 s more for this loop",
        "line 11: 90% of its iterations interpreted, 20 s, at most 2 s more for this loop",
        "line 18: 0% of its iterations interpreted, 30 s",
        "line 18: 4% of its iterations interpreted, 40 s",
        "line 18: 50% of its iterations interpreted, 50 s, at most 20 s more for this loop",
        "scenario 2 of 65, line 18: 0% of its iterations interpreted, 60 s",
        "scenario 2 of 65, line 18: 25% of its iterations interpreted, 70 s, at most 30 s more for this loop",
        "scenario 2 of 65, line 18: 0% of its iterations interpreted, 80 s",
        "scenario 2 of 65, line 18: 50% of its iterations interpreted, 90 s, at most 10 s more for this loop",
    ]


def test_a_pipe_gets_a_line_every_ten_seconds(clock):
    stream = Stream(terminal=False)
    with progress.ProgressLine(Console(screen=Screen()), stream) as watch:
        for done in range(1, 13):
            clock[0] += 3.0
            watch.predictions(done, 12, 0.5)
    # At 12, 24 and 36 s; a prediction takes 3 s.
    assert stream.getvalue().splitlines() == [
        "4 of 12 predictions, shortest so far 500 ms, 12 s, about 24 s left",
        "8 of 12 predictions, shortest so far 500 ms, 24 s, about 12 s left",
        "12 of 12 predictions, shortest so far 500 ms, 36 s",
    ]


@pytest.mark.parametrize(("terminal", "patience"), [(True, 1.0), (False, 10.0)])
def test_a_search_says_what_it_found_so_far(clock, terminal, patience):
    stream = Stream(terminal=terminal)
    with progress.ProgressLine(Console(screen=Screen(80)), stream) as watch:

        def later(step):
            clock[0] += patience / 4
            watch.search(step)

        advise_source(read_source("pi"), load_machine("ipsc860"), requested(), [2, 4], progress=later)
        lines = [each for each in stream.getvalue().replace("\r", "\n").split("\n") if each.strip()]
    assert lines
    assert all(re.match(r"4 choices, \d bounded, \d predicted, ", each) for each in lines)
    assert "best so far" in lines[-1]
    assert not terminal or all(len(each) < 80 for each in lines)


def test_nobody_is_told_who_wants_quiet(clock):
    stream = Stream(terminal=True)
    with progress.ProgressLine(Console(screen=Screen(), quiet=True), stream) as watch:
        assert watch is None
    assert stream.getvalue() == ""


@pytest.mark.parametrize("unroll", [False, True])
def test_loops_within_loops_add_up(unroll):
    """What is told is the outermost loop and never goes back."""
    heard = []
    hand = Hand(4)
    inner = hand.loop("j", 5, hand.comm(phase([0, 1, 2], [1, 2, 3], 10)), hand.compute([1, 2, 3, 4]), line=7)
    outer = hand.loop("i", 10, inner, line=6)
    interpret_with(
        hand,
        hand.graph(outer),
        machine(),
        Setting(force_unroll=unroll),
        About(program="hand", file="hand.hpf", constants={}),
        watch=lambda *told: heard.append(told),
    )
    lines, shares = zip(*heard, strict=True)
    assert set(lines) == {6}
    assert list(shares) == sorted(shares)
    assert shares[0] == 0.0
    assert 0.0 < shares[-1] < 1.0
    assert not unroll or len(set(shares)) == 50


UNDISTRIBUTED = "program p\n real :: a(8)\n a = 1.0\n read *, a\n where (a > 1.0) a = 2.0\nend program p\n"


def test_what_misleads_most_is_said_before_the_walk_and_once(esp, tmp_path, monkeypatch):
    (tmp_path / "p.f90").write_text(UNDISTRIBUTED)
    said = []
    interpreted = api.interpret_stages

    def watched(*args, **named):
        said.append(sys.stderr.getvalue())
        return interpreted(*args, **named)

    monkeypatch.setattr(api, "interpret_stages", watched)
    _, _, err = esp("run", str(tmp_path / "p.f90"), "--procs", "4", terminal=True)
    assert "W311" in said[0]
    assert err.count("W311") == 1
    _, _, err = esp("run", str(tmp_path / "p.f90"), "--procs", "4")
    assert err.count("W311") == 1
    assert "W311" not in said[-1]


def test_a_walk_with_computed_values_has_a_name():
    text = "program p\n real :: a(8)\n!hpf$ distribute a(block)\n integer :: i\n call random_number(a)\n"
    text += " do i = 1, 8\n if (a(i) > 0.5) a(i) = 2.0\n end do\nend program p\n"
    named = []

    class Watching:
        """A watch with names."""

        def __call__(self, line, done):
            """Nothing is shown of it."""

        def begin(self, walk):
            """The next walk."""
            named.append(walk)

    source, machine, request = read_source(text), load_machine("ipsc860"), requested(4)
    api.interpret_stages(api.lower_source(source, machine, request), machine, request, watch=Watching())
    assert named == ["again with computed values"]
