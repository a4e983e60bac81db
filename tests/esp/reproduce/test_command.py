"""`esp reproduce`: what it lists, prints, draws and refuses."""

import csv
import io
import json

import pytest
from msgspec.structs import replace

from esp.cli.main import main
from esp.reproduce import accuracy, experiments
from esp.reproduce.accuracy import Accuracy, ExecutedRun, RowErrors
from esp.reproduce.experiments import EXPERIMENTS, NAMES, TABLE3, PaperStatement

PUBLISHED = """\
lfk01 1.3 10.2
lfk02 2.5 18.6
lfk03 0.7 7.2
lfk09 0.3 13.7
lfk14 0.3 13.8
lfk22 1.4 3.9
pbs1 0.05 7.9
pbs2 0.6 6.7
pbs3 0.8 9.5
pbs4 0.2 3.9
pi 0 5.9
nbody 0.09 5.9
finance 1.1 4.6
laplace_bb 0.2 4.4
laplace_bx 0.6 4.9
laplace_xb 0.1 2.8
"""
"""Table 3: program, minimum and maximum of the absolute error in percent."""


def run(capsys, *words):
    code = main(["reproduce", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_table_3_is_that_of_the_paper():
    rows = "".join(f"{each.program.removesuffix('.hpf')} {each.least:g} {each.most:g}\n" for each in TABLE3)
    assert rows == PUBLISHED


def test_all_figures_that_have_programs():
    wanted = {f"fig{number}" for number in (10, 11, 12, 13, 15, *range(17, 28))}
    assert wanted == {name.partition("-")[0] for name in NAMES if name not in ("table3", "sun-zhu")}


def test_list(capsys):
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    rows = out.partition("\n\n")[0].splitlines()[1:]
    assert [row.split()[0] for row in rows] == list(NAMES)
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(run(capsys, "--json")[1])["experiments"]
    assert [each["name"] for each in told] == list(NAMES)
    assert list(csv.DictReader(io.StringIO(run(capsys, "--csv")[1])))[1]["command"] == EXPERIMENTS[0].command


def test_a_figure_says_which_statements_hold(capsys):
    code, out, err = run(capsys, "fig22")
    assert (code, err) == (0, "")
    assert out.startswith("fig22  Laplace solver under network load\n")
    assert "holds    Each further 20 % of load costs more than the 20 % before: the network\n" in out
    assert " (paper)\n" in out
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(run(capsys, "fig22", "--json")[1])
    assert told["statements"] == [{"text": EXPERIMENTS[11].statements[0].text, "paper": True, "holds": True}]
    assert len(told["rows"]) == 15


def test_where_the_prediction_differs_from_the_paper_is_said(capsys):
    out = " ".join(run(capsys, "fig12")[1].split())
    assert "In the paper, (BLOCK,*) is the right choice." in out


def test_a_profile_has_its_phases(capsys):
    code, out, _ = run(capsys, "fig17")
    assert code == 0
    first, second = out.splitlines()[3:5]
    assert first.startswith("phase 1  30-31")
    assert second.startswith("phase 2  33-34")
    assert second.split()[-2:] == ["0", "0"]


def test_a_statement_that_fails_ends_with_3(capsys, monkeypatch):
    found = experiments.experiment("fig21")
    wrong = PaperStatement(text="Messages are free.", holds=lambda times: False, paper=True)
    broken = replace(found, statements=(*found.statements, wrong))
    monkeypatch.setattr("esp.cli.reproduce.experiment", lambda name: broken)
    code, out, err = run(capsys, "fig21")
    assert code == 3
    assert "fails    Messages are free. (paper)\n" in out
    assert err == "esp: fig21: 1 of 3 statements does not hold.\n"


def test_pictures(capsys, tmp_path):
    for name, word in (("fig21", "change against"), ("fig15", "phase 1")):
        path = tmp_path / f"{name}.svg"
        assert run(capsys, name, "--plot", str(path), "-q")[0] == 0
        assert word in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("fig99",), "'fig99' is not a name: expected table3, fig10"),
        (("fig18", "--only", "pi"), "--only: it belongs to table3."),
        (("--most", "9"), "--most: it belongs to table3."),
        (("table3", "--plot", "x.svg"), "--plot: only figures are drawn."),
        (("--plot", "x.svg"), "--plot: only figures are drawn."),
        (("table3", "--only", "pi,gauss"), "--only: 'gauss' is not a program of Table 3."),
        (("table3", "--most", "many"), "--most: 'many' is not a size."),
        (("table3", "--only", "pi", "--most", "64"), "--most: 64 leaves no size of PI."),
        (("fig18", "--plot", "x.txt"), "--plot: 'x.txt' is not the name of a picture."),
    ],
)
def test_wrong_use(words, told, capsys):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert told in " ".join(err.split())


def test_a_missing_simulator_is_said(capsys, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None if name == "smpif90" else f"/usr/bin/{name}")
    code, out, err = run(capsys, "table3")
    assert (code, out) == (1, "")
    said = " ".join(err.split())
    assert "table3 executes node programs on a simulated machine, and smpif90 is not installed." in said
    assert "Install SimGrid with SMPI" in said


@pytest.mark.slow
def test_table_3_executes_programs(capsys):
    code, out, err = run(capsys, "table3", "--only", "pi,pbs2", "--most", "16", "--csv")
    assert code == 2  # no size of PI is so small
    code, out, err = run(capsys, "table3", "--only", "pbs2", "--most", "16", "--csv")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["size"], row["procs"]) for row in rows] == [("n=16 m=16", each) for each in "1248"]
    assert all(float(row["error_percent"]) < 0.01 for row in rows)
    times = [float(row["executed_s"]) for row in rows]
    assert min(times) > 0
    assert len(set(times)) == 4


def made(predicted_s, executed_s, row):
    one = ExecutedRun(program=row.program, size="n=1", procs=2, predicted_s=predicted_s, executed_s=executed_s)
    return RowErrors(row=row, executions=(one, ExecutedRun(program="", size="", procs=1, predicted_s=1, executed_s=1)))


@pytest.mark.parametrize(
    ("predicted_s", "least", "most", "hold"),
    [(1.0, 0, 0, [True, True]), (1.05, 0, 5, [True, True]), (0.9, 0, 10, [True, False]), (1.25, 0, 25, [False, False])],
)
def test_errors_and_statements_of_table_3(predicted_s, least, most, hold):
    row = made(predicted_s, 1.0, TABLE3[10])  # PI: at most 5.9 % in the paper
    assert (row.least, row.most) == (pytest.approx(least), pytest.approx(most))
    assert [each.holds for each in Accuracy(rows=(row,)).checked] == hold


def test_ctrl_c_keeps_what_is_done(capsys, monkeypatch):
    calls = []

    def executed(row, size, procs, place, before):
        place.mkdir()
        calls.append(procs)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ExecutedRun(program=row.program, size="n=128", procs=procs, predicted_s=1.0, executed_s=1.0)

    monkeypatch.setattr(accuracy, "needed", lambda: None)
    monkeypatch.setattr(accuracy, "_executed", executed)
    code, out, err = run(capsys, "table3", "--csv")
    assert code == 130
    assert len(out.splitlines()) == 3
    assert err == "stopped: the executions so far are shown\n"
