"""Ping-pong tables: units in the heading or in the cells; every mistake with its line."""

import pytest

from esp.errors import UnreadableFileError
from esp.fit.table import parse_table, read_table


def test_units_stand_in_the_heading_or_in_the_cells():
    one = parse_table("size [B],time [us]\n0,75\n1024,577\n", "t")
    two = parse_table("# mine\nBytes ; One-Way\n 0 B; 75 us\n1 KB; 0.577 ms\n", "t")
    three = parse_table("Size (KB)\tLatency (us)\n0\t75\n1\t577\n", "t")
    for each in (one, two, three):
        assert each.size_bytes.tolist() == [0, 1024]
        assert each.time_s.tolist() == pytest.approx([75e-6, 577e-6], rel=1e-12)
        assert each.hops.tolist() == [1, 1]
        assert not each.has_hops


def test_a_round_trip_is_halved():
    assert parse_table("size [B],round trip [us]\n8,4\n", "t").time_s.tolist() == pytest.approx([2e-6])


def test_rows_of_one_size_and_distance_are_one_point():
    found = parse_table("size [B],hops,time [us]\n8,2,3\n8,1,1\n8,1,9\n8,1,2\n", "t")
    assert (found.size_bytes.tolist(), found.hops.tolist()) == ([8, 8], [1, 2])
    assert found.time_s.tolist() == pytest.approx([2e-6, 3e-6])
    assert (found.rows, found.has_hops) == (4, True)


@pytest.mark.parametrize(
    ("text", "where", "told"),
    [
        ("", "t", "found no table"),
        ("size [B],time [us]\n", "t", "the table has a heading, but no row"),
        ("size [B],sped [us]\n", "t:1", "column 2 is not one of size, hops, time, round trip"),
        ("size [B]\n1\n", "t:1", "one column for the size and one for the time"),
        ("size [B],time [us],round trip [us]\n", "t:1", "one column for the size and one for the time"),
        ("# x\nsize [B],time [us]\n1,2,3\n", "t:3", "3 cells, but 2 columns"),
        ("size [B],time [us]\n1,2\n1,x\n", "t:3", "is not a time"),
        ("size,time\n8,2 us\n", "t:2", "lacks its unit"),
        ("size [B],time [GB]\n8,2\n", "t:2", "expected a time"),
        ("size [B],time [us]\n8,0\n", "t:2", "a message takes time"),
        ("size [B],time [us]\n8,-1\n", "t:2", "a message takes time"),
        ("size [B],time [us]\n1.5,1\n", "t:2", "1.5 B is not a message size"),
        ("size [B],time [us]\n-8,1\n", "t:2", "-8 B is not a message size"),
        ("size [B],hops,time [us]\n8,1.5,1\n", "t:2", "whole number"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, where, told):
    with pytest.raises(UnreadableFileError) as caught:
        parse_table(text, "t")
    assert caught.value.where == where
    assert told in str(caught.value)


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(UnreadableFileError):
        read_table(tmp_path / "none.csv")
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableFileError, match="not text"):
        read_table(tmp_path / "x.csv")
