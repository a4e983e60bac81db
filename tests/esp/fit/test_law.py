"""Tables of known laws give the laws back, and no more ranges than there are."""

import numpy as np
import pytest

from esp.errors import PredictionError
from esp.fit.law import fit
from esp.fit.table import parse_table
from tests.esp.fit.laws import POWERS, SIZES, bokhari, straight, table, three

PUBLISHED = """\
# iPSC/860, one hop, as the law of Bokhari was published in rounded figures
size,time
0 B,75.0 us
8 B,78.4 us
64 B,102.2 us
100 B,117.5 us
101 B,216.9 us
512 B,377 us
1 KB,577 us
4 KB,1775 us
8 KB,3372 us
64 KB,25737 us
1 MB,409122 us
"""

OSU = """\
# OSU micro-benchmarks, Open MPI on InfiniBand: gist jfgrimm/3af692a5
size [B],time [us]
0,0.90
8,0.90
64,1.16
256,1.53
1024,1.67
4096,3.28
8192,4.79
16384,7.08
32768,9.14
65536,12.62
"""


def figures(law):
    return [
        (each.startup_s.value, each.per_byte_s.value, each.per_hop_s and each.per_hop_s.value) for each in law.ranges
    ]


def test_a_law_without_noise_comes_back():
    law = fit(table(bokhari, hops=(1, 2, 3)))
    assert [each.last_bytes for each in law.ranges] == [100, 65536]
    assert figures(law)[0] == pytest.approx((65.0e-6, 0.425e-6, 10.0e-6), rel=1e-9)
    assert figures(law)[1] == pytest.approx((147.0e-6, 0.390e-6, 30.5e-6), rel=1e-9)
    assert law.worst < 1e-11


def test_three_ranges_without_noise_come_back():
    law = fit(table(three, POWERS))
    assert [each.last_bytes for each in law.ranges] == [512, 16384, 1048576]
    assert [each[:2] for each in figures(law)] == [
        pytest.approx((1.0e-6, 4e-9), rel=1e-9),
        pytest.approx((2.4e-6, 0.6e-9), rel=1e-9),
        pytest.approx((9.0e-6, 0.09e-9), rel=1e-9),
    ]


def test_one_range_stays_one():
    law = fit(table(straight))
    assert len(law.ranges) == 1
    assert law.tried == ()
    assert figures(law)[0][:2] == pytest.approx((12e-6, 0.01e-6), rel=1e-9)


def test_the_published_law_of_the_ipsc860_comes_back():
    """One hop is in the start-up: 65 + 10 and 147 + 30.5 us."""
    law = fit(parse_table(PUBLISHED, "published.csv"))
    assert [each.last_bytes for each in law.ranges] == [100, 1048576]
    assert figures(law)[0] == (pytest.approx(75.0e-6, abs=0.05e-6), pytest.approx(0.425e-6, rel=1e-3), None)
    assert figures(law)[1] == (pytest.approx(177.5e-6, abs=0.2e-6), pytest.approx(0.390e-6, rel=1e-3), None)
    assert law.worst < 1e-3


def test_a_measured_cluster_has_three_protocols():
    law = fit(parse_table(OSU, "osu.csv"))
    assert len(law.ranges) == 3
    assert law.worst < 0.08
    # rendezvous between 8 and 16 KB; 12 GB/s is what the adapter can do
    assert law.ranges[1].last_bytes == 8192
    assert 8e9 < 1 / law.ranges[2].per_byte_s.value < 12.5e9
    assert not law.tried[0].believed
    assert law.tried[1].believed


@pytest.mark.parametrize("noise", [pytest.param(0.01, marks=pytest.mark.truth), 0.05])
def test_noise_moves_the_figures_by_their_errors(noise):
    """Of the deviations, in standard errors, the mean square is 1: the errors are neither flattered nor inflated."""
    squares = []
    for seed in range(40):
        law = fit(table(bokhari, hops=(1, 2, 3), noise=noise, seed=seed))
        if len(law.ranges) != 2:
            continue
        for found, true in zip(law.ranges, ((65e-6, 0.425e-6, 10e-6), (147e-6, 0.39e-6, 30.5e-6)), strict=True):
            for estimate, value in zip((found.startup_s, found.per_byte_s, found.per_hop_s), true, strict=True):
                squares.append(((estimate.value - value) / estimate.error) ** 2)
    assert len(squares) >= 6 * 36
    assert 0.7 < float(np.mean(squares)) < 1.4


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("law", "sizes", "true"),
    [(straight, POWERS, 1), (bokhari, SIZES, 2), (three, POWERS, 3)],
    ids=["one", "two", "three"],
)
def test_the_number_of_ranges_is_rarely_wrong(law, sizes, true):
    """Chance may add a range in one of a hundred tables, or two where two further ones are tried."""
    found = [len(fit(table(law, sizes, noise=0.03, seed=seed)).ranges) for seed in range(60)]
    assert sum(1 for each in found if each > true) <= 3
    assert sum(1 for each in found if each < true) <= 1


def test_what_interferes_now_and_then_does_not_count():
    """Every third row is five times too long: medians of three are not."""
    rows = [f"{size},{bokhari(size, 1) * (5 if copy == 2 else 1)!r}" for size in SIZES for copy in range(3)]
    law = fit(parse_table("size [B],time [us]\n" + "\n".join(rows), "t"))
    assert law.table.rows == 3 * len(SIZES)
    assert figures(law)[0][:2] == pytest.approx((75e-6, 0.425e-6), rel=1e-9)


def test_no_figure_is_negative():
    """Times that grow faster than linearly would have a negative start-up."""
    law = fit(table(lambda size, _: 5.0 + 0.001 * size + 1e-10 * size**2, POWERS, noise=0.01))
    assert all(value >= 0 for each in figures(law) for value in each if value is not None)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: table(bokhari, (0, 64)), "2 points of 2 sizes cannot show 2 figures"),
        (lambda: table(bokhari, (0, 8, 64)), "3 points of 3 sizes cannot show 2 figures"),
        (lambda: table(straight, (0, 1, 2, 3, 4, 5, 6, 7), noise=0.05), "no message is large enough"),
        (
            lambda: table(straight, (10**6, 2 * 10**6, 3 * 10**6, 4 * 10**6, 5 * 10**6), noise=0.05),
            "no message is small enough",
        ),
        (lambda: table(straight, noise=0.8, seed=3), "the times scatter by"),
        (lambda: table(straight, range(0, 2000, 10)), "200 sizes are more than"),
        (
            lambda: parse_table(
                "size,hops,time\n" + "\n".join(f"{64 * k} B,{k},{10 + k} us" for k in range(1, 9)), "t"
            ),
            "size and distance cannot be told apart",
        ),
    ],
    ids=["two sizes", "three points", "small only", "large only", "scatter", "too many", "tied"],
)
def test_a_table_that_supports_no_law_is_refused(made, told):
    with pytest.raises(PredictionError) as caught:
        fit(made())
    assert told in str(caught.value)
    assert caught.value.hint or "distances" in told or "distance" in told


def test_equal_tables_give_equal_laws():
    one, two = (fit(table(three, POWERS, noise=0.03, seed=5)) for _ in range(2))
    assert one.ranges == two.ranges
    assert one.tried == two.tried
