"""What does not fit in the memory of a node is marked in every table, and is never the best."""

import json
import re

import pytest

import esp
from esp.cli.main import main
from esp.explore.advise import advise
from esp.explore.compare import compare
from esp.output import json as json_output

PROGRAM = """\
program big
  integer, parameter :: n = 1024
  real :: a(n, n), b(n, n)
!HPF$ DISTRIBUTE a(BLOCK, *)
!HPF$ ALIGN b(i, j) WITH a(i, j)
  a = 1.0
  b = a + cshift(a, 1, 1)
end program big
"""

EACH = 2 * 1024 * 1024 * 4
"""Bytes of both arrays."""


def usable(share):
    """A machine whose nodes hold this part of both arrays."""
    return {"cube.node.memory.usable": f"{int(EACH * share)} B"}


def test_where_nothing_fits_nothing_is_best():
    found = compare(PROGRAM, procs=4, size="none", system_set=usable(0.2))
    text = str(found)
    assert all(not each.prediction.fits and each.tie is None for each in found.ranked)
    assert text.count("does not fit") == len(found.ranked)
    assert "best " not in re.sub(r"vs best", "", text)
    assert "paste" not in text
    # (*,BLOCK) copies nothing, (BLOCK,*) a row, (CYCLIC,*) reads all rows but every fourth: a box of the whole array.
    held = "2.00 MiB of data and 0 B to 4.00 MiB of copies on the fullest processor, a node can use 1.60 MiB"
    assert f"nothing fits: {held}" in " ".join(text.split())


@pytest.mark.truth
def test_what_does_not_fit_comes_after_what_fits(monkeypatch):
    """(BLOCK,*) is the fastest; were its data too large, the next one would be the best."""
    room = usable(0.85)
    free = compare(PROGRAM, procs=4, size="none", system_set=room)
    fastest = free.best.shown
    fits = type(free.best.prediction).fits
    held = property(lambda self: fastest not in self.asked["distribute"].values() and fits.fget(self))
    monkeypatch.setattr(type(free.best.prediction), "fits", held)
    found = compare(PROGRAM, procs=4, size="none", system_set=room)
    assert found.best.time_s == min(each.time_s for each in found.ranked if each.prediction.fits)
    assert [each.prediction.fits for each in found.ranked] == sorted(
        (each.prediction.fits for each in found.ranked), reverse=True
    )
    assert found.ranked[-1].time_s < found.best.time_s
    advice = advise(PROGRAM, procs=4, align=False, system_set=room)
    assert advice.best.prediction.fits
    assert advice.best.time_s == found.best.time_s


@pytest.mark.truth
def test_advice_takes_a_number_of_processors_that_fits():
    found = advise(PROGRAM, procs=[2, 8], system_set=usable(0.2), align=False)
    assert (found.best.candidate.procs, found.best.prediction.fits) == (8, True)
    none = advise(PROGRAM, procs=[2, 4], system_set=usable(0.2), align=False)
    assert none.recommended is None
    assert "no mapping tried fits in memory" in str(none)
    assert "paste" not in str(none)
    assert str(none).count("does not fit") >= len(none.ranked[: none.top])


def test_the_table_of_processors_marks_what_does_not_fit(tmp_path, capsys):
    (tmp_path / "big.hpf").write_text(PROGRAM)
    words = [
        "run",
        str(tmp_path / "big.hpf"),
        "--procs",
        "2,8",
        "--system-set",
        f"cube.node.memory.usable={EACH // 5} B",
    ]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert re.search(r"^ +2! ", text, re.MULTILINE)
    assert re.search(r"^ +8  ", text, re.MULTILINE)
    assert "!        does not fit: 4.00 MiB of data" in text


@pytest.mark.parametrize("command", ["compare", "advise"])
def test_programs_are_told(command, tmp_path, capsys):
    (tmp_path / "big.hpf").write_text(PROGRAM)
    words = [
        command,
        str(tmp_path / "big.hpf"),
        "--procs",
        "4",
        "--system-set",
        f"cube.node.memory.usable={EACH // 5} B",
    ]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {each["fits"] for each in said["choices"]} == {False}
    assert said["paste"] == []
    assert esp.compare(PROGRAM, procs=4, size="none").best.prediction.fits


def test_copies_count_where_the_data_alone_fit():
    """Each processor receives all of b: 64.0 KiB, beside a quarter of three arrays."""
    text = PROGRAM.replace("n = 1024", "n = 128").replace("a(n, n), b(n, n)", "a(n, n), b(n, n), c(n, n)")
    text = text.replace("ALIGN b(i, j) WITH a(i, j)", "ALIGN (i, j) WITH a(i, j) :: b, c")
    text = text.replace("b = a + cshift(a, 1, 1)", "c = matmul(a, b)")
    data, copies = 3 * 128 * 128, 128 * 128 * 4
    found = esp.predict(text, procs=4, system_set={"cube.node.memory.usable": f"{data + copies - 1} B"})
    assert (found.memory_bytes, found.memory_copies_bytes, found.fits) == (data, copies, False)
    assert "does not fit: 48.0 KiB of data and 64.0 KiB of copies on the fullest processor" in " ".join(
        str(found).split()
    )
    enough = esp.predict(text, procs=4, system_set={"cube.node.memory.usable": f"{data + copies} B"})
    assert enough.fits
    assert "48.0 KiB of data and 64.0 KiB of copies on the fullest processor, 100% of the 112 KiB usable" in " ".join(
        str(enough).split()
    )
    assert json.loads(json_output.one(enough))["memory_copies_bytes"] == copies
