"""`esp reproduce sun-zhu` against numbers copied from the article, and values worked out by hand."""

import json

import pytest

from esp.cli.main import main
from esp.reproduce.sun_zhu import (
    FAR_S,
    NEAR_S,
    RATE_S,
    SPEED,
    diagonal_dominant,
    parallel_thomas,
    reproduce_sun_zhu,
    run_time,
    size_at,
)
from interpreter.scalability.isospeed import average_speed, overhead, scaled_work
from interpreter.scalability.rates import fitted_rates


@pytest.fixture(scope="module")
def tables():
    return {each.name: each for each in reproduce_sun_zhu().tables}


def test_all_statements_hold():
    assert all(each.holds for each in reproduce_sun_zhu().checked)


def test_sizes_in_both_readings(tables):
    rows = tables["table1"].rows[1:]
    assert [row[2] for row in rows] == [54.01, 115.25, 237.73, 482.70, 972.63, 2979.33]
    assert [row[3] for row in rows] == [27.01, 57.63, 118.87, 241.35, 486.31, 1489.66]


def test_rounded_inputs_explain_the_printed_sizes():
    """With tau = 0.1806 us and beta' = 3.367 us, which round to the printed values, all sizes of one ring are exact."""
    found = [int(size_at(SPEED, p, 0.1806e-6, 3.367e-6, halved=False)) for p in (2, 4, 8, 16, 32, 56)]
    assert found == [54, 115, 238, 484, 976, 1715]


def test_equation_12_solves_equation_2():
    """Its size, with the factor 2, is where the work of Equation 8 keeps the speed."""
    for p in (2, 8, 32):
        n = size_at(SPEED, p, RATE_S, NEAR_S, halved=True)
        work = 2 * n**3 + 3 * n**2
        time_s = run_time(n, p, RATE_S, NEAR_S)
        assert average_speed(work, p, time_s) == pytest.approx(SPEED)
        assert scaled_work(SPEED, p, overhead(work, p, time_s, RATE_S), RATE_S) == pytest.approx(work)


def test_rates_of_equation_18_come_back_from_two_runs():
    runs = [(362, 2), (512, 4)]
    amounts = [(2 * n**3 / p + 3 * n**2, n**2) for n, p in runs]
    found = fitted_rates(amounts, [run_time(n, p, RATE_S, NEAR_S) for n, p in runs])
    assert found == pytest.approx([RATE_S, NEAR_S])


def test_times(tables):
    assert {row[0]: row[2] for row in tables["fig4"].rows} == {
        2: 9.05, 4: 13.10, 8: 19.13, 16: 28.26, 22: 33.99, 32: 48.43, 36: 52.31, 56: 70.22, 64: 76.88
    }  # fmt: skip
    assert run_time(1448, 32, RATE_S, FAR_S) == pytest.approx(48.43, abs=0.005)


def test_the_sidebar(tables):
    assert [row[2:] for row in tables["figA"].rows] == [(64, 64, 41.73), (16, 16, 13.34), (32, 32, 29.73)]
    # case A1 on 32 processors, by hand: 7 * 32 * 0.1024 + 64 * 0.06244; 289 * 0.1024 + 2 * 0.04196
    assert parallel_thomas(32, 1e-3, 1e-5, 1024) == pytest.approx(22.9376 + 3.99616)
    assert diagonal_dominant(32, 1e-3, 1e-5, 1024) == pytest.approx(29.5936 + 0.08392)


def test_sizes_by_the_specification(tables):
    assert [row[3] for row in tables["fig5, fig6a"].rows] == [411, 830, 1667, 3340, 6688, 13383, 88385]


def test_the_command(capsys):
    assert main(["reproduce", "sun-zhu"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "fails" not in out
    assert main(["reproduce", "sun-zhu", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"table": "table2", "row": 32, "column": "p' = 56", "value": 0.06767} in told["rows"]
    assert main(["reproduce", "sun-zhu", "--csv"]) == 0
    assert "table2,32,p' = 56,0.06767" in capsys.readouterr().out
    assert main(["reproduce", "sun-zhu", "--plot", "a.svg"]) == 2
