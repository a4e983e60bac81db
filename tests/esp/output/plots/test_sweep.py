"""Pictures of sweeps: the values of the table, axes that suit them, texts that can be read."""

import csv
import io

import numpy as np
import pytest
from msgspec.structs import replace

import esp
from esp.cli.main import main
from esp.errors import UsageError
from esp.explore.axes import Axis
from esp.output.plots.sweep import figure, form_of, speedup
from esp.output.sweep import sweep_csv
from tests.esp.output.plots.looking import assert_readable, curve_names, texts

FORMATS = "(BLOCK,BLOCK) (BLOCK,*) (*,BLOCK) (BLOCK,CYCLIC) (CYCLIC,BLOCK) (CYCLIC,CYCLIC) (CYCLIC,*) (*,CYCLIC)"
MORE = "(BLOCK(4),*) (*,CYCLIC(16)) (CYCLIC(2),CYCLIC(4)) (BLOCK,CYCLIC(8))"
SIZES = (16, 32, 64, 128, 256, 512, 1024)


@pytest.fixture(scope="module")
def small():
    return esp.sweep("pi", procs=[1, 2], n=[64, 128])


def _axis(name, kind, values):
    return Axis(name=name, kind=kind, key=name, values=tuple(values), labels=tuple(map(str, values)))


def _distributions(number):
    return _axis("distribute", "distribute", [*FORMATS.split(), *MORE.split()][:number])


def _with(sweep, axes, times):
    """A sweep with other axes and times."""
    times = np.array(times, float)
    done = np.isfinite(times)
    parts = {name: times / (1 if name == "time_s" else 4) for name in sweep.times}
    return replace(sweep, axes=axes, times=parts, done=done, impossible=~done, complete=done)


def _drawn(figure):
    return [list(line.get_ydata()) for line in figure.axes[0].get_lines()]


@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("pi", {"procs": [1, 2, 4, 8], "n": [64, 128, 256]}),
        ("laplace_bb", {"n": 24, "procs": [2, 4], "bandwidth": ["x0.5", "x1", "x2"], "opt": {"hoist": [True, False]}}),
        (["laplace_bb", "laplace_bx", "laplace_xb"], {"procs": [1, 4, 16], "n": [16, 32]}),
    ],
)
def test_curves_are_the_times_of_the_table(program, options):
    sweep = esp.sweep(program, **options)
    found = figure(sweep)
    rows = list(csv.DictReader(io.StringIO(sweep_csv(sweep))))
    under = found.axes[0].get_xlabel().replace("processors", "procs")
    others = [axis.name for axis in sweep.axes if axis.name != under]
    curves = {}
    for row in rows:
        curves.setdefault(tuple(row[name] for name in others), []).append(float(row["time_s"]))
    assert _drawn(found) == list(curves.values())
    assert_readable(found)


def test_a_map_has_the_times_of_the_table():
    sweep = esp.sweep("pi", procs=[1, 2, 4], n=[64, 128])
    found = figure(sweep, form="map")
    assert found.axes[0].collections[0].get_array().tolist() == sweep.time_s.T.tolist()
    shown = [float(each.get_text().removesuffix(" ms")) / 1000 for each in found.axes[0].texts]
    assert shown == pytest.approx(sweep.time_s.T.ravel().tolist(), rel=0.005)
    assert_readable(found)


def test_bars_are_made_of_the_parts_of_the_table():
    sweep = esp.sweep("laplace", procs=8, n=64, distribute={"TEMP": FORMATS.split()})
    found = figure(sweep)
    ends = [bars[-1].get_x() + bars[-1].get_width() for bars in zip(*found.axes[0].containers, strict=True)]
    assert ends == pytest.approx(sweep.time_s.tolist(), rel=1e-9)
    assert [each.get_text() for each in found.axes[0].get_yticklabels()] == FORMATS.split()
    assert_readable(found)


@pytest.mark.parametrize(
    ("over", "seconds", "scales"),
    [
        (SIZES, [n * 1e-3 for n in SIZES], ("log", "log")),
        (SIZES, [1e-6, 1e-5, 1e-3, 0.1, 1, 100, 1e4], ("log", "log")),
        (SIZES, [0.5] * 7, ("log", "log")),
        (SIZES, [0.0] * 6 + [1.0], ("log", "linear")),
        ([8, 9], [0.5, 0.6], ("linear", "linear")),
        ([8, 9], [0.5, 60], ("linear", "log")),
        (["0%", "40%", "80%"], [1.0, 1.1, 1.4], ("linear", "linear")),
        (["10%", "80%"], [1.0, 1.1], ("linear", "linear")),
        (["x0.5", "x1", "x2", "x4"], [2.0, 1.0, 0.7, 0.6], ("log", "log")),
        (range(16, 256, 4), [n**1.5 for n in range(16, 256, 4)], ("log", "log")),
    ],
)
def test_axes_are_logarithmic_where_values_spread(small, over, seconds, scales):
    found = figure(_with(small, (_axis("n", "set", over),), seconds))
    axes = found.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == scales
    assert len(axes.get_yticks()) >= 2
    assert _drawn(found) == [list(seconds)]
    assert_readable(found)


@pytest.mark.parametrize(
    ("curves", "apart"),
    [
        pytest.param(curves, apart, marks=() if curves == 12 or one == two else pytest.mark.truth)
        for one, curves in enumerate((1, 2, 5, 12))
        for two, apart in enumerate((0.0, 0.01, 0.3))
    ],
)
def test_twelve_curves_keep_their_names_apart(small, curves, apart):
    times = [[1e-3 * n * (1 + apart * number) for n in SIZES] for number in range(curves)]
    axes = (_distributions(curves), _axis("n", "set", SIZES))
    found = figure(_with(small, axes, times))
    assert_readable(found)
    names = " and ".join(curve_names(found)).replace("\n", " ").split(" and ")
    assert sorted(filter(None, names)) == sorted(axes[0].labels if curves > 1 else [])
    looks = {line.get_marker() for line in found.axes[0].get_lines()}
    assert len(looks) == curves


def test_long_names_get_the_width_of_a_page(small):
    programs = _axis("program", "program", ["a_program_with_a_rather_long_name.hpf", "b.hpf"])
    found = figure(_with(small, (programs, _axis("n", "set", SIZES)), [SIZES, SIZES[::-1]]))
    assert found.get_figwidth() == 7.0
    assert_readable(found)


def test_holes_stay_holes(small):
    nan = np.nan
    times = [[nan, nan, 0.5, nan, nan, nan, nan], [1, 2, nan, 4, 5, 6, nan]]
    found = figure(_with(small, (_distributions(2), _axis("n", "set", SIZES)), times))
    np.testing.assert_array_equal(_drawn(found), times)
    assert curve_names(found) == ["(BLOCK,*)", "(BLOCK,BLOCK)"]
    assert_readable(found)


def test_a_large_map_has_round_ticks_and_a_key(small):
    load = _axis("load", "load", [f"{2 * at}%" for at in range(31)])
    bandwidth = _axis("bandwidth", "bandwidth", [f"x{0.5 + 0.0875 * at:g}" for at in range(41)])
    times = np.outer(np.linspace(1, 5, 31), np.linspace(2, 1, 41))
    found = figure(_with(small, (load, bandwidth), times))
    axes, key = found.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert [each.get_text() for each in axes.get_yticklabels()] == ["0%", "15%", "30%", "45%", "60%"]
    assert [each.get_text() for each in axes.get_xticklabels()] == ["x0.5", "x1", "x2"]
    assert [each.get_text() for each in key.get_yticklabels()] == ["1 s", "2 s", "5 s", "10 s"]
    assert axes.collections[0].get_array().tolist() == times.tolist()
    assert_readable(found)


def test_changes_are_drawn_as_the_table_has_them():
    sweep = esp.sweep("pi", procs=[2, 8], load=["0%", "40%", "80%"])
    found = figure(sweep, versus="load")
    assert _drawn(found)[1:] == (100 * sweep.change("load")).tolist()
    assert found.axes[0].get_ylabel() == "change against load = 0%"
    assert_readable(found)


def test_a_long_title_beside_an_axis_is_not_cut_off():
    sweep = esp.sweep("pi", procs=[2, 8], processor_speed=["x1", "x2"])
    assert_readable(figure(sweep, versus="processor_speed"))


def test_an_incomplete_prediction_is_called_so(small):
    sweep = replace(small, complete=~small.done)
    assert any("predictions incomplete" in each.get_text() for each in texts(figure(sweep)))


@pytest.mark.parametrize(
    ("shape", "wanted", "told"),
    [
        ((1, 1), "", "a sweep of one prediction is a number"),
        ((1, 13), "curves", "curves need an axis of numbers"),
        ((41, 1), "bars", "41 bars are more than the 40 of one picture"),
        ((1, 7), "map", "a map has two axes with several values, not 1"),
    ],
)
def test_what_cannot_be_drawn(shape, wanted, told):
    axes = (_axis("opt", "opt", ["on"] * shape[0]), _axis("opt", "opt", ["on"] * shape[1]))
    with pytest.raises(UsageError, match=told):
        form_of(axes, wanted)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--set n=8:24 --load 0%:60%:/13 --bandwidth x1,x2 --plot x.svg", "26 curves are more than the 12"),
        ("--procs 1,2 --plot-as map", "no picture to draw"),
        ("--procs 1,2 --plot x.svg --plot-as map", "a map has two axes"),
    ],
)
def test_it_is_refused_before_anything_is_predicted(words, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("esp.explore.sweep.collect", None)
    assert main(["sweep", "laplace_bb", *words.split()]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_speed_up_by_hand(small):
    axes = (_distributions(2), _axis("procs", "procs", [1, 2, 4]))
    sweep = _with(small, axes, [[8.0, 4.0, 4.0], [10.0, 4.0, 2.0]])
    assert speedup(sweep).tolist() == [[1.0, 2.0, 2.0], [0.8, 2.0, 4.0]]
    found = figure(sweep, form="speedup")
    assert _drawn(found) == [[1.0, 2.0, 4.0], [1.0, 2.0, 2.0], [0.8, 2.0, 4.0]]
    assert (found.axes[0].get_xscale(), found.axes[0].get_yscale()) == ("log", "log")
    assert_readable(found)


def test_a_speed_up_is_that_of_each_size(small):
    axes = (_axis("n", "set", [10, 20]), _axis("procs", "procs", [1, 2]))
    assert speedup(_with(small, axes, [[2.0, 1.0], [9.0, 3.0]])).tolist() == [[1.0, 2.0], [1.0, 3.0]]
