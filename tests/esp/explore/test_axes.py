"""Lists and ranges of values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esp.errors import UsageError
from esp.explore.axes import MOST, Axis, cells_of, values_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("64", "64"),
        ("64,128,64, 32", "64 128 32"),
        ("16:64:16", "16 32 48 64"),
        ("16:60:16", "16 32 48"),
        ("2:5", "2 3 4 5"),
        ("64:1024:x2", "64 128 256 512 1024"),
        ("1:1000:x10,7", "1 10 100 1000 7"),
        ("x0.5:x4:/8", "x0.5 x1 x1.5 x2 x2.5 x3 x3.5 x4"),
        ("0%:60%:/4", "0% 20% 40% 60%"),
        ("0:60%:/4", "0% 20% 40% 60%"),
        ("1MB/s:8MB/s:x2", "1MB/s 2MB/s 4MB/s 8MB/s"),
        ("0:0.3:0.1", "0 0.1 0.2 0.3"),
        ("'a,b:c'", "'a,b:c'"),
    ],
)
def test_values(text, values):
    assert list(values_of(text, "--set")) == values.split()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1,,2",
        "1:",
        ":2",
        "1:2:3:4",
        "2:1",
        "1:2:0",
        "1:2:x1",
        "0:8:x2",
        "1:2:-1",
        "x1:2",
        "1us:2ms:/3",
        "a:b",
        "1:9:/1",
        "1:9:/2.5",
        f"1:{10 * MOST}",
        "1:1e999",
        "1:2:",
    ],
)
def test_what_is_no_list_is_refused(text):
    with pytest.raises(UsageError):
        values_of(text, "--set")


@given(st.integers(0, 10**6), st.integers(0, 300), st.integers(1, 1000))
def test_steps_are_those_of_range(start, count, step):
    stop = start + count * step + step // 2
    expected = [str(each) for each in range(start, stop + 1, step)]
    assert list(values_of(f"{start}:{stop}:{step}", "--set")) == expected


@given(st.floats(-1e6, 1e6, allow_nan=False), st.floats(0.01, 1e6), st.integers(2, 50))
def test_equally_far_apart(low, width, many):
    values = [float(each) for each in values_of(f"{low}:{low + width}:/{many}", "--set")]
    assert len(values) <= many  # ten digits tell most of them apart
    assert values[0] == pytest.approx(low, rel=1e-9, abs=1e-9)
    assert values[-1] == pytest.approx(low + width, rel=1e-9, abs=1e-9)


def _axis(*labels):
    return Axis(name="n", kind="set", key="n", values=labels, labels=labels)


def test_numbers_of_one_unit_only():
    assert _axis("x1", "x2.5").numbers == (1.0, 2.5)
    assert _axis("10%", "20%").numbers == (10.0, 20.0)
    assert _axis("1us", "1ms").numbers is None
    assert _axis("on", "off").numbers is None


def test_too_many_cells_are_refused():
    many = _axis(*map(str, range(1001)))
    assert cells_of([many]) == 1001
    with pytest.raises(UsageError, match=r"1001 n x 1001 n are 1,002,001 predictions"):
        cells_of([many, many])
