"""`esp system fit`: a table becomes a machine that loads, checks and predicts."""

import json

import pytest

from esp.api import load_machine
from esp.locate import system_names
from sag.scenario import export
from tests.esp.fit.laws import SIZES, bokhari

TABLE = "size [B],hops,time [us]\n" + "".join(f"{b},{h},{bokhari(b, h)!r}\n" for b in SIZES for h in (1, 2, 3))


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "pingpong.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.mark.parametrize("base", system_names())
def test_the_machine_that_is_written_has_the_law(esp, csv, tmp_path, base):
    target = tmp_path / "mine.yaml"
    code, out, err = esp("system", "fit", str(csv), "--base", base, "-o", str(target))
    assert (code, err) == (0, "")
    assert out.rstrip().endswith("mine.yaml")
    code, out, _ = esp("system", "check", str(target))
    assert code == 0
    link = next(each.value for path, each in load_machine(base).parameters().items() if path.endswith("link_bandwidth"))
    doubts = sum(1.0 / per_byte > link for per_byte in (0.425e-6, 0.390e-6))  # M204: faster than the base's link
    assert f": no error, {doubts} doubts" in out
    network = export(load_machine(target)).network
    assert [law.upto_bytes for law in network.ranges] == [100, float("inf")]
    for size, hops in ((0, 1), (64, 3), (100, 2), (101, 1), (8192, 3), (10**6, 2)):
        law = next(each for each in network.ranges if size <= each.upto_bytes)
        fixed_s = law.call_overhead_s[0] + law.startup_s[0] + law.receive_overhead_s[0]
        time_s = float(fixed_s + law.per_byte_s[0] * size + law.per_hop_s[0] * hops)
        assert time_s == pytest.approx(bokhari(size, hops) * 1e-6, rel=1e-5)
        assert not law.estimated


def test_every_figure_of_the_law_is_measured_and_names_its_table(esp, csv, tmp_path):
    target = tmp_path / "mine.yaml"
    assert esp("system", "fit", str(csv), "-o", str(target))[0] == 0
    machine = load_machine(target)
    law = {path: each for path, each in machine.parameters().items() if ".measured_" in path}
    assert len(law) == 9
    assert {each.certainty for each in law.values()} == {"measured"}
    assert {each.source for each in law.values()} == {"pingpong"}
    assert str(csv) in machine.sources["pingpong"]
    base = load_machine("cluster-ib").parameters()
    assert [path for path in base if path not in machine.parameters()] == [
        path for path in base if any(f".{each}." in path for each in ("small", "eager", "rendezvous"))
    ]


def test_the_machine_predicts(esp, csv, tmp_path):
    """On the iPSC/860 with its own law fitted, communication costs what it costs on the iPSC/860."""
    target = tmp_path / "mine.yaml"
    assert esp("system", "fit", str(csv), "--base", "ipsc860", "-o", str(target))[0] == 0
    ours, theirs = (
        json.loads(esp("run", "laplace", "--procs", "8", "--system", each, "--json")[1])
        for each in (str(target), "ipsc860")
    )
    assert ours["time_s"] == pytest.approx(theirs["time_s"], rel=1e-6)
    assert ours["communication_s"] == pytest.approx(theirs["communication_s"], rel=1e-5)


def test_a_fit_can_be_the_base_of_another_one(esp, csv, tmp_path):
    """Ranges of the first do not shine through, though they are named alike."""
    one, two = tmp_path / "one.yaml", tmp_path / "sub" / "two.yaml"
    two.parent.mkdir()
    assert esp("system", "fit", str(csv), "-o", str(one))[0] == 0
    flat = tmp_path / "flat.csv"
    flat.write_text("size [B],time [us]\n" + "".join(f"{b},{12 + 0.01 * b!r}\n" for b in SIZES), encoding="utf-8")
    assert esp("system", "fit", str(flat), "--base", str(one), "-o", str(two))[0] == 0
    (law,) = export(load_machine(two)).network.ranges
    assert float(law.per_byte_s[0]) == pytest.approx(0.01e-6, rel=1e-5)


def test_the_text_says_figures_errors_and_residuals(esp, csv, monkeypatch):
    monkeypatch.chdir(csv.parent)
    code, out, _ = esp("system", "fit", csv.name)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    words = " ".join(out.split())
    for told in ("to 100 B", "from 101 B", "65.0 us", "425 ns/B", "10.0 us", "147 us", "30.5 us", "2 instead of 1"):
        assert told in words
    assert "residuals" in words


def test_json_has_every_point(esp, csv):
    told = json.loads(esp("system", "fit", str(csv), "--json")[1])
    assert len(told["points"]) == len(SIZES) * 3
    assert [each["upto_bytes"] for each in told["ranges"]] == [100, None]
    assert max(abs(each["residual"]) for each in told["points"]) == pytest.approx(told["worst"])


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [("size [B],time [us]\n0,1\n8,2\n", 1, "cannot show"), ("size [B],time [us]\n0,x\n", 2, "pingpong.csv:2")],
)
def test_a_bad_table_ends_with_its_code_and_writes_nothing(esp, tmp_path, csv, text, code, told):
    csv.write_text(text, encoding="utf-8")
    found, out, err = esp("system", "fit", str(csv), "-o", str(tmp_path / "m.yaml"))
    assert (found, out) == (code, "")
    assert told in err.replace("\n     ", "") or told in " ".join(err.split())
    assert not (tmp_path / "m.yaml").exists()
