"""One style: colours that anybody can tell apart, files that are always the same, a way out without matplotlib."""

from itertools import combinations

import numpy as np
import pytest

from esp.cli.main import main
from esp.output.plots.style import CATEGORY_COLOURS, COLOURS, MAP, MARKERS

# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0: linear RGB as it is seen.
SEEN = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def _linear(colour):
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(linear):
    """CIE L*a*b* of linear sRGB, white D65."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    shares = xyz @ np.clip(linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    x, y, z = np.where(shares > 0.008856, np.cbrt(shares), 7.787 * shares + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _luminance(colour):
    return float(_linear(colour) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("vision", SEEN)
@pytest.mark.parametrize("colours", [COLOURS, CATEGORY_COLOURS])
def test_colours_differ_for_any_vision(vision, colours):
    seen = [_lab(SEEN[vision] @ _linear(each)) for each in colours]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


def test_curves_have_contrast_on_white():
    assert min(1.05 / (_luminance(each) + 0.05) for each in COLOURS) > 3  # WCAG 2.1, 1.4.11


def test_categories_and_maps_are_ordered_in_grey():
    grey = sorted(_lab(_linear(each))[0] for each in CATEGORY_COLOURS)
    assert min(np.diff(grey)) > 15
    import matplotlib as mpl

    bright = [_luminance(mpl.colors.to_hex(mpl.colormaps[MAP](at))) for at in np.linspace(0, 1, 20)]
    assert bright == sorted(bright)


def test_a_marker_for_each_curve():
    assert len(set(MARKERS)) == len(MARKERS) == 12


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_equal_pictures_are_equal_files(suffix, tmp_path, monkeypatch):
    files = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for moment, file in zip(("1", "1000000000"), files, strict=True):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", moment)
        assert main(["sweep", "pi", "--procs", "1,2,4", "--plot", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes()[:4] == {"svg": b"<?xm", "pdf": b"%PDF", "png": b"\x89PNG"}[suffix]


def test_the_users_own_settings_change_nothing(tmp_path):
    import matplotlib as mpl

    assert main(["sweep", "pi", "--procs", "1,2", "--plot", str(tmp_path / "one.svg")]) == 0
    mpl.rcParams.update({"font.size": 20.0, "axes.grid": True, "lines.linewidth": 9.0})
    assert main(["sweep", "pi", "--procs", "1,2", "--plot", str(tmp_path / "two.svg")]) == 0
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert mpl.rcParams["font.size"] == 20.0


def test_without_matplotlib_the_way_out_is_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["sweep", "pi", "--procs", "1,2", "--plot", str(tmp_path / "x.svg")]) == 1
    assert "pip install 'esp-hpf[plot]', or look at --bars" in " ".join(capsys.readouterr().err.split())
