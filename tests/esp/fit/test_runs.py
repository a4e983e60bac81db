"""Tables of measured runs: what is read, and what is refused where."""

import pytest

from esp.errors import UnreadableFileError
from esp.fit.reading import read_runs
from esp.fit.runs import parse_runs


def test_a_table():
    found = parse_runs("# ours\nprocs, n, k, time [ms]\n4, 256, 3, 1240\n8,,3,7 s\n", "runs.csv")
    assert [each.processors for each in found] == [4, 8]
    assert [dict(each.values) for each in found] == [{"n": 256, "k": 3}, {"k": 3}]
    assert [each.time_s for each in found] == pytest.approx([1.24, 7.0])
    assert [each.line for each in found] == [3, 4]
    assert found[0].label == "n=256 k=3 procs=4"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["p", "np", "Processors", "nodes"])
def test_other_names_and_separators(separator, name):
    text = separator.join(("program", name, "seconds [s]")) + "\n" + separator.join(("lu.hpf", "2", "0.5"))
    (found,) = parse_runs(text, "x")
    assert (found.program, found.processors, found.time_s) == ("lu.hpf", 2, 0.5)
    assert found.label == "lu.hpf procs=2"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "x", "found no table"),
        ("procs,time [s]\n", "x", "no rows"),
        ("procs,n\n1,2\n", "x:1", "one column time"),
        ("n,time [s]\n1,2\n", "x:1", "one column procs"),
        ("procs,time [s],n,n\n1,2,3,4\n", "x:1", "the same name"),
        ("procs,time [s],a b\n1,2,3\n", "x:1", "column 3"),
        ("procs,time [s]\n1\n", "x:2", "this row has 1 cell, and the heading 2"),
        ("procs,time [s]\n0,1\n", "x:2", "procs is not a whole number"),
        ("procs,time [s]\n1.5,1\n", "x:2", "procs is not a whole number"),
        ("procs,n,time [s]\n1,--5,1\n", "x:2", "n is not a whole number"),
        (f"procs,n,time [s]\n1,{'9' * 5000},1\n", "x:2", "n is not a whole number"),
        ("procs,n,time [s]\n1,2.5,1\n", "x:2", "n is not a whole number"),
        ("procs,time [s]\n1,0\n", "x:2", "a run takes time"),
        ("procs,time [s]\n1,-3\n", "x:2", "a run takes time"),
        ("procs,time\n1,3\n", "x:2", "lacks its unit"),
        ("procs,time [MB]\n1,3\n", "x:2", "time"),
        ("procs,time [s]\n\n# a\n1,nan\n", "x:4", "not a time"),
    ],
)
def test_what_is_refused(text, place, message):
    with pytest.raises(UnreadableFileError) as raised:
        parse_runs(text, "x")
    assert raised.value.where == place
    assert message in str(raised.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UnreadableFileError, match="cannot be read"):
        read_runs(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(UnreadableFileError, match="UTF-8"):
        read_runs(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("name", "time_s"), [("time_s", 3.0), ("seconds", 3.0), ("time/ms", 3e-3), ("time_us [s]", 3.0)]
)
def test_names_with_units(name, time_s):
    """A unit in brackets wins."""
    (found,) = parse_runs(f"procs,{name}\n1,3\n", "x")
    assert found.time_s == pytest.approx(time_s)
