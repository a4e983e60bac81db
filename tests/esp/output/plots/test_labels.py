"""Names at curves: apart from each other, and as near to their curves as that allows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esp.output.plots.labels import NamedCurve, draw, spread
from esp.output.plots.style import new_figure
from tests.esp.output.plots.looking import assert_readable, curve_names


@pytest.mark.parametrize(
    ("wanted", "placed"),
    [
        ([50.0], [50.0]),
        ([20.0, 60.0], [20.0, 60.0]),
        ([50.0, 50.0], [45.0, 55.0]),
        ([50.0, 52.0, 54.0], [42.0, 52.0, 62.0]),
        ([0.0, 0.0], [5.0, 15.0]),
        ([99.0, 99.0, 99.0], [75.0, 85.0, 95.0]),
        ([10.0, 50.0, 54.0, 90.0], [10.0, 47.0, 57.0, 90.0]),
    ],
)
def test_by_hand(wanted, placed):
    found = spread(np.array(wanted), np.full(len(wanted), 10.0), (0.0, 100.0))
    assert found.tolist() == pytest.approx(placed)


@given(st.lists(st.tuples(st.floats(0, 100), st.sampled_from([8.0, 16.0])), min_size=1, max_size=9))
def test_none_touch_and_none_leave(labels):
    labels.sort()
    wanted, heights = np.array(labels).T
    found = spread(wanted, heights, (0.0, 160.0))
    for (a, one), (b, other) in pairwise(zip(found, heights, strict=True)):
        assert b - a >= (one + other) / 2 - 1e-9
    assert found[0] - heights[0] / 2 >= -1e-9
    assert found[-1] + heights[-1] / 2 <= 160 + 1e-9


def _drawn(values, names):
    figure, axes = new_figure(3.5, 2.4)
    over = np.arange(1.0, 1.0 + len(values[0]))
    axes.set_ylim(0, 10)
    curves = [NamedCurve(name, over, np.array(row, float)) for name, row in zip(names, values, strict=True)]
    draw(axes, curves)
    return figure


def test_names_stand_in_the_order_of_the_ends():
    figure = _drawn([[1, 2, 3], [9, 5, 2.9], [5, 5, 9], [1, 1, 2.8]], "abcd")
    assert curve_names(figure) == ["c", "a", "b", "d"]
    assert_readable(figure)


def test_curves_on_each_other_share_a_name():
    figure = _drawn([[1, 2, 3], [1, 2, 4], [1, 2, 3.001]], "abc")
    assert curve_names(figure) == ["b", "a\nand c"]
    assert_readable(figure)


def test_a_curve_that_ends_early_keeps_its_name_and_one_of_nothing_has_none():
    nan = np.nan
    figure = _drawn([[1, 2, 3], [4, nan, nan], [nan, nan, nan]], "abc")
    assert curve_names(figure) == ["b", "a"]
    lines = [each for each in figure.axes[0].texts if not each.get_text()]
    assert [each.xy for each in lines] == [(1, 4), (3, 3)]
    assert figure.axes[0].get_xlim()[1] < 3.2
