"""`esp balance`: what it says, its forms, and what it refuses."""

import csv
import io
import json

import pytest

import esp as api
from tests.esp.cli.conftest import esp, streams

__all__ = ["esp", "streams"]

SMALL = ("laplace.hpf", "--procs", "1,2,4", "--set", "n=32", "--set", "k=3")
GIVEN = ("--operations", "1e6", "--startups", "100")


def words_of(out):
    return " ".join(out.split())


def test_a_machine_needs_work_for_each_start_up(esp):
    """C_phi 4 and C_c 5880: at one half 1470 flops; at 80 % four times as many."""
    code, out, err = esp("balance")
    assert (code, err) == (0, "")
    assert "50% utilisation needs at least 1,470 flops for each start-up" in words_of(out)
    assert "up to 100 B 65.0 us 2,600 650" in words_of(out)
    assert "80% utilisation needs at least 5,880 flops" in words_of(esp("balance", "--utilisation", "0.8")[1])


def test_the_limit_is_shown_beside_the_cost(esp):
    """(1e6 x 4 / 4) / 100 = 10,000 units of 25 ns."""
    _, out, _ = esp("balance", *GIVEN, "--procs", "4")
    told = "a start-up may cost up to C_c = 10,000 (250 us) for 50% utilisation. It costs 5,880 (147 us)."
    assert told in words_of(out)
    assert "needs at least 1,470 operations for each start-up; there are 2,500" in words_of(out)


def test_ways_out(esp):
    _, out, _ = esp("balance", *GIVEN, "--procs", "4,16,64")
    assert "50% utilisation needs at least 1,470 operations for each start-up; there are 156." in words_of(out)
    assert "It needs start-ups up to C_c = 625 (15.6 us) instead of 5,880 (147 us)." in words_of(out)
    assert "Ways out: a larger problem, fewer messages, or 4 processors (which reach it)." in words_of(out)


def test_formulas_and_patterns_agree(esp):
    def startups(*words):
        rows = json.loads(esp("balance", "--operations", "1e6", "--procs", "2,8", *words, "--json")[1])["runs"]
        return [each["startups"] for each in rows]

    assert startups("--startups", "3*(1 + log2(p))") == startups("--startups", "3", "--pattern", "broadcast") == [6, 12]
    assert startups("--startups", "3*p") == startups("--startups", "3", "--pattern", "all") == [6, 24]


def test_costs_may_be_times(esp):
    told = json.loads(esp("balance", *GIVEN, "--procs", "4", "--c-c", "132us", "--json")[1])
    assert told["c_c"] == pytest.approx(5280)
    told = json.loads(esp("balance", *GIVEN, "--procs", "4", "--c-c", "23.5us", "--t-phi", "50ns", "--json")[1])
    assert (told["c_c"], told["given"]) == (pytest.approx(470), ["c_c"])


def test_a_program_beside_the_engine(esp):
    code, out, err = esp("balance", *SMALL)
    assert (code, err) == (0, "")
    assert "engine deviation" in words_of(out)
    assert "procs engine model bytes hops packing waiting cache operations" in words_of(out)
    assert "counted on each number of processors; the other counts from 1 and 4 processors" in words_of(out)


def test_csv_has_the_numbers_of_json(esp):
    told = json.loads(esp("balance", *SMALL, "--json")[1])
    rows = list(csv.DictReader(io.StringIO(esp("balance", *SMALL, "--csv")[1])))
    assert [float(each["speedup"]) for each in rows] == [each["speedup"] for each in told["runs"]]
    assert [float(each["neglected_s_bytes"]) for each in rows] == [
        each["neglected_s"]["bytes"] for each in told["runs"]
    ]


def test_sweep_in_all_forms(esp):
    words = (*GIVEN, "--procs", "4,64", "--sweep", "startup=470,23.5us", "--sweep", "cache=5:20:x2")
    words = (*words, "--dollars", "p*1000", "--misses", "1e5")
    told = json.loads(esp("balance", *words, "--json")[1])
    assert len(told["points"]) == 2 * 2 * 3
    assert [each["c_c"] for each in told["points"]] == pytest.approx([470] * 6 + [940] * 6)
    rows = list(csv.DictReader(io.StringIO(esp("balance", *words, "--csv")[1])))
    assert [float(each["speed"]) for each in rows] == [each["speed"] for each in told["points"]]
    out = words_of(esp("balance", *words)[1])
    assert "procs C_c C_m speedup utilisation speed price speed/dollar" in out
    best = max(told["points"], key=lambda each: each["speed_per_dollar"])
    assert f"C_c = {best['c_c']:.0f}" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--utilisation", "120%"), "--utilisation: '120%' is not a utilisation between 0 and 1. Write 50% or 0.5."),
        (("--utilisation", "0"), "is not a utilisation"),
        (("--utilisation", "50"), "is not a utilisation"),
        (("--utilisation", "much"), "is not a utilisation"),
        ((*GIVEN, "--procs", "0"), "'0' is not a processor count"),
        (("--operations", "1e6"), "--startups: the model needs operations and start-ups."),
        (("--startups", "5"), "--operations: the model needs operations and start-ups."),
        (("--operations", "-1", "--startups", "5"), "--operations: -1.0 is not a count. Give a number from 0 on."),
        (("--operations", "0", "--startups", "5"), "there are no operations. Give a number above 0."),
        (("--operations", "many", "--startups", "5"), "'many' is not a number."),
        (("--operations", "1", "--startups", "5*q"), "'5*q' has no value: q is not known. Write a formula of p"),
        (("--operations", "1", "--startups", "5*"), "'5*' is not a formula."),
        (("--operations", "1", "--startups", "1-p"), "'1-p' is -1 with p = 2, not a number from 0 on."),
        ((*GIVEN, "--pattern", "ring"), "'ring' is not a pattern. It is one of neighbours, broadcast, all."),
        ((*GIVEN, "--base", "4"), "--base has no effect without a program"),
        (("laplace.hpf", *GIVEN), "counts are given, and a program as well."),
        (("laplace.hpf", "--procs", "1"), "one processor alone does not communicate."),
        (("laplace.hpf", "--procs", "4", "--base", "1"), "the base is one processor alone."),
        (("laplace.hpf", "--procs", "4", "--base", "2,4"), "the base is one number of processors."),
        (("laplace.hpf", "--procs", "4", "--grid", "2x2"), "a grid is for one number of processors."),
        (("--procs", "4"), "--procs has no effect without a program or --operations and --startups"),
        (("--set", "n=4"), "--set has no effect without a program"),
        ((*GIVEN, "--c-c", "-5"), "--c-c: -5.0 is not a cost. Give a number from 0 on."),
        ((*GIVEN, "--c-phi", "0"), "--c-phi: 0.0 is not a cost. Give a number above 0."),
        ((*GIVEN, "--c-c", "5 apples"), "--c-c: "),
        ((*GIVEN, "--t-phi", "25"), "--t-phi: "),
        ((*GIVEN, "--sweep", "speed=1,2"), "'speed' cannot be swept. Write startup or cache"),
        ((*GIVEN, "--sweep", "startup"), "'startup' is not of the form NAME=VALUE."),
        ((*GIVEN, "--sweep", "cache=-1"), "cache needs numbers from 0 on."),
        ((*GIVEN, "--dollars", "p"), "a price needs a sweep of machines. Add --sweep"),
        ((*GIVEN, "--sweep", "cache=1,2", "--dollars", "q"), "'q' has no value"),
        ((*GIVEN, "--sweep", "cache=1", "--dollars", "1/(p-8)"), "'1/(p-8)' is -0.166667 with p = 2"),
        (
            (*GIVEN, "--sweep", "startup=0", "--dollars", "5/c_c"),
            "'5/c_c' has no value with p = 2, c_c = 0, c_m = 13.2.",
        ),
        ((*GIVEN, "--plot", "x.svg"), "a picture needs a sweep of machines."),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_refusals(esp, words, told):
    code, out, err = esp("balance", *words)
    assert (code, out) == (2, "")
    assert told in words_of(err)


def test_a_program_without_flops_is_refused(esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "program t\n  integer :: a(8)\n!HPF$ DISTRIBUTE a(BLOCK)\n  a = 1\nend program t\n"
    (tmp_path / "t.hpf").write_text(text)
    code, _, err = esp("balance", "t.hpf", "--procs", "2")
    assert code == 1
    assert "there are no floating-point operations" in words_of(err)
    assert "Give counts instead of the program, with --operations and --startups." in words_of(err)


def test_python_refuses_alike():
    with pytest.raises(api.UsageError, match="utilisation: 50 is not a utilisation between 0 and 1"):
        api.balance(utilisation=50)
    with pytest.raises(api.UsageError, match="procs=0"):
        api.balance("laplace.hpf", procs=0)
    with pytest.raises(api.UsageError, match="n is an option of a program"):
        api.balance(operations=1, startups=1, n=4)
    with pytest.raises(api.UsageError, match="counts the whole program"):
        api.balance("laplace.hpf", procs=4, timed=True)
    with pytest.raises(api.UsageError, match="one scenario"):
        api.balance("laplace.hpf", procs=4, load=[0.1, 0.2])
    with pytest.raises(api.UsageError, match="cannot be swept"):
        api.balance(operations=1, startups=1, sweep={"network": [1]})


def test_results_print_and_have_rows():
    found = api.balance(operations=1e6, startups=100, procs=[4, 64])
    assert repr(found) == "<Balance: ipsc860, 50% utilisation, 64 processors 10%>"
    assert [each["processors"] for each in found.rows()] == [4, 64]
    assert "Ways out" in str(found)
    with pytest.raises(api.UsageError, match="without a sweep there is no picture"):
        found.plot()


def test_pictures(tmp_path):
    sweep = {"startup": [470, 1000, 2000, 5000], "cache": [5, 40]}
    found = api.balance(operations=1e6, startups=100, misses=1e5, procs=[64], sweep=sweep)
    (axes,) = found.plot(str(tmp_path / "x.svg")).figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("start-up C_c", "speedup")
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
    for miss in (5, 40):
        assert drawn[f"C_m = {miss}"] == [each.speedup for each in found.points if each.miss == miss]
    assert (tmp_path / "x.svg").read_text().startswith("<?xml")
    priced = api.balance(operations=1e6, startups=100, procs=64, sweep=sweep, dollars="p*1000").plot().figure.axes[0]
    assert priced.get_ylabel() == "kflop/s per dollar"
    many = {"startup": [1, 2], "cache": [1, 2, 3]}
    crowded = api.balance(operations=1e6, startups=100, procs=range(2, 12), sweep=many)
    assert crowded.plot().figure.axes
    with pytest.raises(api.UsageError, match="14 curves are more than the 12"):
        api.balance(operations=1e6, startups=1, procs=range(2, 12), sweep={"startup": [1, 2], "cache": range(7)}).plot()
    with pytest.raises(api.UsageError, match="a number, not a picture"):
        api.balance(operations=1e6, startups=1, procs=2, sweep={"startup": [1]}).plot()
