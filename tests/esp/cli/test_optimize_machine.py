"""`esp optimize-machine`: screen, JSON, rows and wrong use."""

import json

import pytest

from esp.cli.optimize_machine import limits_of
from esp.errors import UsageError

WORDS = ("optimize-machine", "laplace", "--procs", "2", "--set", "n=24", "--set", "k=2")


def test_screen_json_and_rows(esp):
    code, out, _ = esp(*WORDS)
    assert code == 0
    assert "the best machine does" in out
    assert "of 1994 (M. Clement)" in " ".join(out.split())
    assert "esp sensitivity laplace --set n=24 --set k=2 --procs 2" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(esp(*WORDS, "--json")[1])
    best, now = told["best"], told["now"]
    assert best["speed_per_dollar"] == pytest.approx(told["flops"] / (best["time_s"] * best["dollars"]))
    assert best["speed_per_dollar"] >= now["speed_per_dollar"]
    rows = esp(*WORDS, "--csv")[1].splitlines()
    assert [row.split(",")[0] for row in rows] == ["machine", "ipsc860", "best"]


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ("p*(100*ops + 500)", "is the formula the right way round?"),
        ("p*(2000*(70/ops)**1.5 + 500*400/bw)", "does the price lack what every machine costs?"),
    ],
)
def test_a_price_that_cannot_be_meant_is_questioned(price, message, esp):
    assert message in " ".join(esp(*WORDS, "--price", price)[1].split())
    assert message not in " ".join(esp(*WORDS)[1].split())


def test_limits_are_read():
    assert limits_of(" ops=1..1e2, bw = 0.5 .. 5000") == {"ops": (1.0, 100.0), "bw": (0.5, 5000.0)}
    for wrong in ("ops", "ops=1", "ops=1..", "ops=-1..5", "ops=1..2,ops=1..3"):
        with pytest.raises(UsageError):
            limits_of(wrong)


def test_a_limit_that_is_reached_is_named(esp):
    out = esp(*WORDS, "--price", "p*(1 + 1/ops)", "--limits", "ops=30..60")[1]
    assert "ops lies at the end of what was searched" in out
