"""Pictures of scalability, of two contestants and of shares: what is drawn are the results."""

import numpy as np
import pytest

import esp as api
from esp.errors import UsageError
from esp.explore.overtaking import CrossingPoint, Overtaking, OvertakingRow
from esp.output.plots.scalability import overtaking_figure, scaling_figure, sensitivity_figure
from esp.output.plots.style import styled


@pytest.fixture(autouse=True)
def _styled():
    with styled():
        yield


def _lines(axes):
    return {each.get_label(): each.get_ydata() for each in axes.get_lines() if not each.get_label().startswith("_")}


def test_sizes_and_psi():
    found = api.scalability("laplace_bb.hpf", procs=[2, 4], n=16, k=2)
    sizes, psi = (_lines(axes) for axes in scaling_figure(found).axes)
    assert sizes["kept"].tolist() == [each.size for each in found.runs]
    assert psi["kept"].tolist() == [each.psi for each in found.runs]
    by = [each.predicted for each in found.runs if each.predicted]
    assert ("eq. 2" in sizes) == (len(by) > 1)
    assert found.plot().figure.axes


def test_one_size_is_no_picture():
    with pytest.raises(UsageError, match="one size is a number"):
        scaling_figure(api.scalability("laplace_bb.hpf", procs=[2], n=16, k=2))


def _overtaking(**fields):
    rows = tuple(
        OvertakingRow(processors=p, size=64, first_s=8.0 / p, second_s=1.0 + 4.0 / p, faster=0.5, error=0.02)
        for p in (1, 2, 4, 8)
    )
    point = CrossingPoint(last=2, first=4, about=3.9, second=False)
    known = {"low": 2.5, "high": 6.0, "inside": 1.0, "before": 0.0, **fields}
    return Overtaking(first="a", second="b", parameter="n", growth="fixed", rows=rows, crossings=(point,), **known)


def test_times_cross_within_the_grey_range():
    (axes,) = overtaking_figure(_overtaking()).axes
    lines = _lines(axes)
    assert lines["a"].tolist() == [8.0, 4.0, 2.0, 1.0]
    assert lines["b"].tolist() == [5.0, 3.0, 2.0, 1.5]
    (grey,) = [each for each in axes.patches if each.get_x() == 2.5]
    assert grey.get_x() + grey.get_width() == 6.0
    assert any(each.get_xdata()[0] == 3.9 for each in axes.get_lines())
    (axes,) = overtaking_figure(_overtaking(low=None, high=None)).axes
    assert not axes.patches


def test_areas_are_the_shares():
    found = api.sensitivity("laplace.hpf", procs=[1, 2, 4], n=24, k=2)
    (axes,) = sensitivity_figure(found).axes
    heights = [np.ptp(each.get_paths()[0].vertices[:, 1]) for each in axes.collections]
    assert len(heights) == len({name for run in found.runs for name, share in run.quantities.items() if share >= 0.005})
    assert max(heights) <= 1.0 + 1e-9
    names = [each.get_text() for each in axes.texts]
    assert "operations" in names
    assert set(names) <= {name for run in found.runs for name in run.quantities}


def test_areas_need_one_axis():
    found = api.sensitivity("laplace.hpf", procs=[1, 2], sizes=[8, 16], k=2)
    with pytest.raises(UsageError, match="several processors or several sizes"):
        sensitivity_figure(found)


def test_the_commands_draw(tmp_path, capsys):
    from esp.cli.main import main

    small = ["--set", "k=2", "--procs", "2,4"]
    for name, words in {
        "a.svg": ["scalability", "laplace", *small, "--set", "n=16"],
        "b.svg": ["scalability", "laplace", *small, "--set", "n=16", "--against-distribute", "(*,BLOCK)"],
        "c.svg": ["sensitivity", "laplace", *small, "--set", "n=16"],
    }.items():
        assert main([*words, "--plot", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<?xml")
    assert main(["sensitivity", "laplace", *small, "--plot", str(tmp_path / "x.gif")]) == 2
    capsys.readouterr()
