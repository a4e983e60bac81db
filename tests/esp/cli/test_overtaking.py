"""`esp scalability --against`: screen, JSON and wrong use."""

import json

import pytest

WORDS = ("scalability", "laplace", "--procs", "4,8,16,32", "--set", "n=48", "--set", "k=4")


def test_screen_json_and_rows(esp):
    words = (*WORDS, "--against-distribute", "(*,BLOCK)")
    code, out, _ = esp(*words)
    assert code == 0
    text = " ".join(out.split())
    assert "overtakes between" in text
    assert "processors, at about" in text
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(esp(*words, "--json")[1])
    assert told["second"] == "(*,BLOCK)"
    assert len(esp(*words, "--csv")[1].splitlines()) == 1 + len(told["rows"])


def test_machines(esp):
    out = esp(*WORDS, "--system", "ncube3200", "--against-system", "ipsc860")[1]
    assert "ncube3200 never overtakes ipsc860 on 4 to 32 processors" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grow", "work"], "--grow has no effect without --against"),
        (["--against", "laplace"], "both are the same"),
        (["--against", "gauss", "--speedups"], "--speedups has no effect with --against"),
        (["--against", "gauss", "--by", "formula"], "those of predictions"),
        (["--against-system", "iwarp", "--work", "2*n", "--grow", "fixed"], "--work has no effect"),
        (["--against", "nosuch.hpf"], "file not found"),
    ],
)
def test_wrong_use(words, message, esp):
    code, out, err = esp(*WORDS, *words)
    assert (code in (1, 2), out) == (True, "")
    assert message in " ".join(err.split())
