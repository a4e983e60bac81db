"""The best choices of a sweep, and where they change: never inside a tie, never among incomplete predictions."""

import re
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import esp
from esp.cli.main import main
from esp.explore.axes import Axis
from esp.explore.winners import best, runs, winners
from esp.output.screen import Screen
from esp.output.sweep import sweep_text


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ([[1, 2]], [(0, 0, [0])]),
        ([[1, 2], [2, 1]], [(0, 0, [0]), (1, 1, [1])]),
        ([[1, 2], [2.01, 2], [3, 2]], [(0, 1, [0]), (2, 2, [1])]),  # 0.5 % is a tie
        ([[1, 1.01], [1.01, 1], [1, 1.01]], [(0, 2, [0, 1])]),  # 0 leads, and 1 is within 2 % everywhere
        ([[1, 1.01], [2.02, 2], [np.inf, 3]], [(0, 2, [1])]),
        ([[1, 3, 2], [3, 1, 2], [3, 2, 1]], [(0, 0, [0]), (1, 1, [1]), (2, 2, [2])]),
    ],
)
def test_by_hand(times, found):
    assert runs(np.array(times, float)) == found


@given(st.lists(st.tuples(*[st.sampled_from([1.0, 1.01, 1.5, 2.0])] * 3), min_size=1, max_size=5))
def test_as_few_changes_as_possible(rows):
    times = np.array(rows)
    found = runs(times)
    assert [first for first, _, _ in found] == [0, *(last + 1 for _, last, _ in found[:-1])]
    assert found[-1][1] == len(rows) - 1
    tied = times <= 1.02 * times.min(axis=1, keepdims=True)
    for first, last, choices in found:
        assert choices
        assert sorted(choices) == np.flatnonzero(tied[first : last + 1].all(axis=0)).tolist()
    courses = [c for c in product(range(3), repeat=len(rows)) if all(tied[at, each] for at, each in enumerate(c))]
    fewest = min(sum(a != b for a, b in pairwise(c)) for c in courses)
    assert len(found) == 1 + fewest


def _axis(name, values):
    return Axis(name=name, kind=name, key=name, values=tuple(values), labels=tuple(map(str, values)))


@pytest.fixture(scope="module")
def made():
    """Two programs on three sizes: the first is faster at the smallest one only, and at 20 they tie."""
    sweep = esp.sweep(["laplace_bx", "laplace_xb"], procs=4, n=[10, 20, 40])
    times = np.array([[1.0, 2.0, 5.0], [1.5, 2.01, 4.0]])
    size = Axis(name="n", kind="set", key="n", values=(10, 20, 40), labels=("10", "20", "40"))
    return replace(sweep, axes=(_axis("program", ["a.hpf", "b.hpf"]), size), times=dict.fromkeys(sweep.times, times))


def test_all_that_tie_are_named(made):
    tied = replace(made, times=dict.fromkeys(made.times, np.array([[1.0, 2.0, 5.0], [1.01, 2.01, 5.01]])))
    assert "fastest  a.hpf or b.hpf for every n\n" in sweep_text(tied, Screen(80))


def test_what_does_not_fit_is_marked_and_never_the_best(made):
    over = replace(made, fits=np.array([[False, True, True], [True, True, False]]))
    assert best(over, (0,)).tolist() == [[False, True, True], [True, True, False]]
    text = sweep_text(over, Screen(80))
    assert re.search(r"10 +1.00! ", text)
    assert "!        does not fit in the memory of a node" in text
    assert "fastest  b.hpf up to n = 20, a.hpf from n = 40\n" in text


def test_the_change_is_named_where_it_is_none_of_a_tie(made):
    (change,) = winners(made).changes
    assert change.runs == (("10", "20", ("a.hpf",)), ("40", "40", ("b.hpf",)))
    text = sweep_text(made, Screen())
    assert "fastest  a.hpf up to n = 20, b.hpf from n = 40" in text


def test_ties_are_marked_with_the_best(made):
    assert best(made, (0,)).tolist() == [[True, True, False], [False, True, True]]
    rows = [line.split() for line in sweep_text(made, Screen()).splitlines() if line.strip()[:2] in ("10", "20", "40")]
    assert rows == [["10", "1.00*", "1.50"], ["20", "2.00*", "2.01*"], ["40", "5.00", "4.00*"]]


def test_rows_and_columns_have_marks_of_their_own():
    found = esp.sweep("laplace", procs=[2, 8], n=32, distribute={"TEMP": ["(BLOCK,*)", "(*,BLOCK)"]})
    text = sweep_text(found, Screen())
    assert "* best distribution, + best number of processors, ties within 2% included" in text
    fewer, more = (line.split() for line in text.splitlines() if line.strip()[:2] in ("2 ", "8 "))
    assert found.time_s.argmin() == 3
    assert [fewer[-1][-1], more[-1][-2:]] == ["*", "*+"]


def test_incomplete_predictions_rank_nothing(made):
    complete = made.complete.copy()
    complete[0, 1] = False
    partial = replace(made, complete=complete)
    assert winners(partial) is None
    assert best(partial, (0,)).tolist() == [[True, False, False], [False, False, True]]
    assert "fastest" not in sweep_text(partial, Screen())


def test_a_column_with_a_missing_prediction_has_no_best(made):
    done, impossible = made.done.copy(), made.impossible.copy()
    done[0, 1] = False
    assert best(replace(made, done=done), (0,)).tolist() == [[True, False, False], [False, False, True]]
    impossible[0, 1] = True
    found = replace(made, done=done, impossible=impossible)
    assert best(found, (0,)).tolist() == [[True, False, False], [False, True, True]]


def test_times_have_one_unit_unless_they_differ_by_too_much(made):
    assert "shown: time in s" in sweep_text(made, Screen())
    wide = replace(made, times={**made.times, "time_s": np.array([[1e-6, 1.0, 5.0], [1.5, 2.01, 1e4]])})
    assert "1.00 us" in sweep_text(wide, Screen())


@pytest.mark.parametrize("procs", ["4", "4,8,16,32"])
def test_the_star_marks_the_best_distribution_in_rows_and_in_columns(procs, capsys):
    assert main(["sweep", "laplace", "-p", procs, "--distribute", "all", "--set", "n=32,64", "--set", "k=2"]) == 0
    text = capsys.readouterr().out
    assert "* best distribution" in text
    assert "grids    the squarest for each number of processors; esp compare tries all" in text
    assert main(["sweep", "laplace", "-p", "4", "--distribute", "all", "--grid", "2x2", "--set", "k=2"]) in (0, 1)
    assert "squarest" not in capsys.readouterr().out
