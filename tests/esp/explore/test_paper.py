"""Every command of docs/paper.md runs, and what the page says about it is so."""

import csv
import io
import itertools
import re
import shlex
from pathlib import Path

import pytest

from esp.cli.main import main
from tests.esp.explore.write_paper import figures
from tests.progress import without_progress


def _page(root):
    return (root / "docs" / "paper.md").read_text(encoding="utf-8")


def _commands(text):
    return [shlex.split(line)[1:] for line in re.findall(r"^    (esp .+)$", text, re.MULTILINE)]


def _section(root, title):
    return _page(root).partition(f"## {title}")[2].partition("\n## ")[0]


def _statements(text):
    """The sentences marked with a bar, in order."""
    quoted = re.findall(r"^>( ?.*)$", text, re.MULTILINE)
    return [" ".join(part.split()) for part in "\n".join(quoted).split("\n\n") if part.strip()]


@pytest.fixture
def rows(capsys):
    """Runs a sweep for its CSV; the answer: the axes that vary, and their values -> seconds (or change)."""

    def run(words, figure="time_s"):
        assert main([*words, "--csv"]) == 0
        read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        axes = [
            name
            for name in itertools.takewhile(lambda name: name != "processors", read[0])
            if len({row[name] for row in read}) > 1
        ]
        found = {tuple(row[axis] for axis in axes): float(row[figure]) for row in read}
        return axes, found

    return run


def _nth(root, title, number):
    return _commands(_section(root, title))[number]


def test_every_command_runs_as_it_stands(root, capsys):
    found = _commands(_page(root))
    assert len(found) >= 10
    for words in found:
        assert main(words) == 0, words
        out, err = capsys.readouterr()
        assert out
        assert without_progress(err) == ""


def test_numbers_and_curves_are_those_of_the_commands(root, capsys):
    page = _page(root)
    told = figures(page)
    assert len(told) == page.count("    esp sweep ") >= 9
    for name, words in told.items():
        assert main([*words, "--csv"]) == 0
        kept = (root / "docs" / "paper" / f"{name}.csv").read_text(encoding="utf-8")
        assert _cells(capsys.readouterr().out) == _cells(kept, nearly=True), name
        curves = (root / "docs" / "paper" / f"{name}.svg").read_text(encoding="utf-8")
        assert ("change against" in curves) == ("--versus" in words)


def _cells(text, *, nearly=False):
    """The numbers and words of a CSV."""
    return [_cell(each, nearly) for row in csv.reader(text.splitlines()) for each in (*row, "\n")]


def _cell(text, nearly):
    try:
        number = float(text)
    except ValueError:
        return text
    return pytest.approx(number, rel=1e-9, abs=1e-12) if nearly else number


def test_every_statement_is_checked(root):
    """A sentence that is added needs a check below; this list is what they check."""
    checked = re.findall(r"^    # > (.+)$", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    told = _statements(_page(root))
    assert told
    assert [each for each in told if not any(each.startswith(start) for start in checked)] == []


def test_laplace(root, rows):
    axes, times = rows(_nth(root, "Which distribution", 0))
    assert axes == ["n", "procs", "program"] or set(axes) == {"n", "procs", "program"}

    def of(n, procs):
        key = {"n": str(n), "procs": str(procs)}
        names = ("laplace_bb.hpf", "laplace_bx.hpf", "laplace_xb.hpf")
        return [times[tuple({**key, "program": name}[axis] for axis in axes)] for name in names]

    # > On one processor the three distributions take the same time, within 1 %.
    for n in (16, 32, 64, 128, 256):
        assert max(of(n, 1)) <= 1.01 * min(of(n, 1))
    # > From 32 to 128 points a side, on 4 and on 8 processors, (\*,BLOCK) is the fastest
    for n, procs in itertools.product((32, 64, 128), (4, 8)):
        bb, bx, xb = of(n, procs)
        assert xb < bx
        assert xb < bb
        assert bb >= bx / 1.02
    # > At 256 points all three are within 4 % of each other on 2, 4 and 8 processors.
    for procs in (2, 4, 8):
        assert max(of(256, procs)) <= 1.04 * min(of(256, procs))


def test_scalability(root, rows):
    axes, times = rows(_nth(root, "Scalability", 0))
    assert axes == ["n", "procs"]
    sizes = [str(128 << at) for at in range(6)]
    # > The more points, the better the speed-up, for every number of processors.
    for procs in "248":
        gains = [times[n, "1"] / times[n, procs] for n in sizes]
        assert gains == sorted(gains)
    # > With 4096 points, 8 processors are at least 6 times as fast as one
    assert times["4096", "1"] >= 6 * times["4096", "8"]
    assert times["128", "1"] < 2 * times["128", "8"]


def test_processor_speed(root, rows):
    words = _nth(root, "Processor speed", 0)
    _, times = rows(words)
    _, changes = rows(words, "change")
    # > A faster processor never makes the program slower, and twice the speed never halves its time
    for procs in "1248":
        ordered = [times[procs, speed] for speed in ("x0.5", "x1", "x2", "x4")]
        assert ordered == sorted(ordered, reverse=True)
        if procs != "1":
            assert all(fast > slow / 2 for slow, fast in itertools.pairwise(ordered))
    # > The larger the system, the less a faster processor helps.
    for speed in ("x2", "x4"):
        helped = [-changes[procs, speed] for procs in "1248"]
        assert helped == sorted(helped, reverse=True)
        assert helped[-1] < helped[0]


@pytest.mark.parametrize("number", [0, 2])
def test_network_load(root, rows, number):
    words = _nth(root, "Network load", number)
    _, times = rows(words)
    loads = ("0%", "20%", "40%", "60%", "80%")
    # > Each further 20 % of load costs more than the 20 % before: the network saturates.
    for procs in "248":
        steps = [after - before for before, after in itertools.pairwise(times[procs, load] for load in loads)]
        assert steps[0] > 0
        assert steps == sorted(steps)
    # > The larger the system, the larger the change of its execution time.
    for load in loads[1:]:
        change = [times[procs, load] / times[procs, "0%"] for procs in "248"]
        assert change == sorted(change)


def test_bandwidth(root, rows):
    words = _nth(root, "Interconnect bandwidth", 1)
    _, changes = rows(words, "change")
    # > The larger the system, the larger the change, up or down.
    for factor in ("x0.25", "x0.5", "x2", "x4"):
        change = [changes[procs, factor] for procs in "248"]
        assert all(each > 0 for each in change) == (factor in ("x0.25", "x0.5"))
        assert [abs(each) for each in change] == sorted(abs(each) for each in change)


def test_larger_systems(root, rows):
    _, times = rows(_nth(root, "Larger systems", 0))
    procs = [str(1 << at) for at in range(6)]
    # > With 4096 points each doubling up to 32 processors makes the program faster.
    large = [times["4096", each] for each in procs]
    assert large == sorted(large, reverse=True)
    # > With 128 points more than 4 processors make it slower.
    small = [times["128", each] for each in procs[2:]]
    assert small == sorted(small)
