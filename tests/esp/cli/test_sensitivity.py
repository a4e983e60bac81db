"""`esp sensitivity`: screen, JSON, rows and wrong use."""

import json

import pytest


def test_screen_json_and_rows(esp):
    words = ("sensitivity", "laplace", "--procs", "1,4", "--set", "n=32")
    code, out, _ = esp(*words)
    assert code == 0
    assert "85.0 ms on 4 processors: start-ups decide 51% of it" in out
    assert "esp whatif laplace --set n=32 --procs 4 --latency x0.5" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(esp(*words, "--json")[1])
    assert [each["processors"] for each in told["runs"]] == [1, 4]
    for run in told["runs"]:
        assert sum(run["groups"].values()) + run["rest"] == pytest.approx(1.0)
    rows = esp(*words, "--csv")[1].splitlines()
    assert rows[0].startswith("processors,time_s,path,group,value,elasticity,derivative,halved_s")
    assert len(rows) == 1 + sum(len(run["parameters"]) for run in told["runs"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--procs", "4", "--latency", "x1,x2"], "latency"),
        (["--procs", "4", "--sizes", "0"], "'0' is not a size"),
        (["--procs", "4", "--sizes", "8", "--size", "zz"], "zz"),
        (["--procs", "4", "--sizes", "1:2000:1"], "2,000 runs are none or too many"),
    ],
)
def test_wrong_use(words, message, esp):
    code, out, err = esp("sensitivity", "laplace", *words)
    assert (code in (1, 2), out) == (True, "")
    assert message in " ".join(err.split())
