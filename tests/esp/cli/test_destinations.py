"""Where output goes: files that stay as they were, devices and folders that are none, readers that go away."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

RUN = [sys.executable, "-m", "esp"]


@pytest.mark.parametrize(
    "words",
    [
        ("run", "laplace"),
        ("sweep", "laplace"),
        ("trace", "laplace", "--format", "paraver"),
        ("report", "laplace"),
        ("trace", "laplace", "--format", "chrome"),
        ("graph", "saag", "laplace"),
        ("layout", "laplace"),
        ("compile", "laplace"),
    ],
    ids=" ".join,
)
def test_an_empty_name_is_refused(words, esp):
    code, out, err = esp(*words, "-o", "")
    assert (code, out) == (2, "")
    assert "the name is empty" in " ".join(err.split())


@pytest.mark.parametrize(("kept", "written"), [(0, False), (2, True)])
def test_an_interrupted_sweep_keeps_the_old_file_unless_it_has_something(kept, written, esp, tmp_path, monkeypatch):
    from esp.explore.sweep import Runner

    done = []
    work = Runner.work

    def some(self, walk):
        if len(done) == kept:
            raise KeyboardInterrupt
        done.append(walk)
        return work(self, walk)

    monkeypatch.setattr(Runner, "work", some)
    file = tmp_path / "old.csv"
    file.write_text("what was there\n")
    code, out, err = esp("sweep", "laplace", "--set", "n=16", "--procs", "1:5", "--csv", "-o", str(file))
    assert (code, out) == (130, "")
    assert f"stopped: {kept} of 5 predictions are kept" in err
    lines = file.read_text().splitlines()
    assert (lines == ["what was there"]) is not written
    assert len(lines) == 1 + kept


@pytest.mark.parametrize(("place", "what"), [("folder", "a folder"), ("/dev/full", "a device or a pipe")])
def test_three_files_need_a_name_and_no_device_or_folder(place, what, esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    code, out, err = esp("trace", "laplace", "--set", "n=16", "--set", "k=2", "--format", "paraver", "-o", place)
    assert (code, out) == (2, "")
    assert f"{place}: cannot be written: it is {what}" in " ".join(err.split())
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
    assert not Path("/dev/full.prv").exists()


@pytest.mark.parametrize("given", ["x", "x.prv"])
def test_the_names_of_all_files_are_told(given, esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("trace", "laplace", "--set", "n=16", "--set", "k=2", "--procs", "2", "--format", "paraver")
    code, _, err = esp(*words, "-o", given)
    assert code == 0
    assert err.startswith("x.prv, x.pcf, x.row: ")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["x.pcf", "x.prv", "x.row"]


def test_a_trace_whose_reader_goes_away_ends_quietly():
    words = [*RUN, "trace", "laplace", "--procs", "8", "-o", "/dev/stdout"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("esp-trace ")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 141


def test_a_suffix_that_is_no_format_of_a_graph_is_refused(esp, tmp_path):
    file = tmp_path / "g.xyz"
    code, _, err = esp("graph", "saag", "laplace", "-o", str(file))
    assert code == 2
    assert ".xyz is not a graph format" in " ".join(err.split())
    assert not file.exists()
    assert esp("graph", "saag", "laplace", "--format", "dot", "-o", str(file))[0] == 0
    assert file.read_text().startswith("digraph")
    assert esp("graph", "saag", "laplace", "-o", str(tmp_path / "G.SVG"))[0] == 0
    assert (tmp_path / "G.SVG").read_text().startswith("<svg")


def test_lines_the_wrong_way_round_are_told_so(esp):
    code, _, err = esp("run", "laplace", "--line", "40-30")
    assert code == 2
    assert "--lines: 40-30 is reversed. Write 30-40." in " ".join(err.split())


@pytest.mark.parametrize(
    "words",
    [
        "run odd.hpf -o odd.hpf",
        "run odd.hpf --trace ./odd.hpf",
        "compare odd.hpf -o odd.hpf",
        "advise odd.hpf -o odd.hpf",
        "whatif odd.hpf --load 20% -o odd.hpf",
        "sweep odd.hpf --procs 1,2 -o odd.hpf",
        "layout odd.hpf -o odd.hpf",
        "sweep pi.hpf odd.hpf --procs 1,2 --plot odd.hpf",
        "report odd.hpf -o link.hpf",
        "trace odd.hpf -o odd.hpf",
        "query odd.hpf -o odd.hpf",
        "show ir odd.hpf -o odd.hpf",
        "explain odd.hpf:3 -o odd.hpf",
        "graph aag odd.hpf -o odd.hpf",
        "run pi --system m.yaml -o m.yaml",
        "diff odd.hpf 'odd.hpf --procs 4' -o odd.hpf",
        "system fit table.csv -o table.csv",
        "check odd.hpf --budget b.yaml -o b.yaml",
    ],
)
def test_what_is_read_is_not_replaced(words, esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("odd.hpf", "pi.hpf", "m.yaml", "table.csv", "b.yaml"):
        Path(name).write_text("program odd\n  x = 1.0\nend program\n")
    Path("link.hpf").symlink_to("odd.hpf")
    code, out, err = esp(*shlex.split(words))
    assert (code, out) == (2, "")
    assert "is the input of this command" in " ".join(err.split())
    for name in ("odd.hpf", "pi.hpf", "m.yaml", "table.csv", "b.yaml"):
        assert Path(name).read_text() == "program odd\n  x = 1.0\nend program\n"
