"""Formulas as code: each form, run by its own language, gives what `evaluate` gives."""

import json
import re
import subprocess

import numpy as np
import pytest

import esp
from esp.cli.main import main
from esp.output.formula import formula_code, formula_json, formula_rows
from esp.output.numbers import seconds

SIZES = [64, 97, 128, 255, 1000]


@pytest.fixture(scope="module", params=[("laplace_bb.hpf", 4), ("lu.hpf", 2)], ids=["block", "cyclic"])
def formula(request):
    return esp.formula(*request.param[:1], procs=request.param[1])


@pytest.fixture(scope="module")
def expected(formula):
    return formula.evaluate(n=SIZES)


def test_python(formula, expected):
    names = {}
    exec(formula_code(formula, "python"), names)
    assert [names["time_s"](n) for n in SIZES] == pytest.approx(expected, rel=1e-12)


def test_numpy(formula, expected):
    names = {}
    exec(formula_code(formula, "numpy"), names)
    assert names["time_s"](np.array(SIZES)) == pytest.approx(expected, rel=1e-12)


def test_fortran(formula, expected, tmp_path):
    main_program = "program p\n  double precision, external :: time_s\n  integer :: n\n"
    calls = "".join(f"  n = {n}\n  print *, time_s(n)\n" for n in SIZES)
    source = tmp_path / "p.f90"
    source.write_text(formula_code(formula, "fortran") + main_program + calls + "end program p\n")
    subprocess.run(["gfortran", "-std=f2008", "-o", tmp_path / "p", source], check=True)
    printed = subprocess.run([tmp_path / "p"], check=True, capture_output=True, text=True).stdout
    assert [float(each) for each in printed.split()] == pytest.approx(expected, rel=1e-12)


def test_sympy(formula, expected):
    names = {}
    exec(formula_code(formula, "sympy"), names)
    values = [float(names["time_s"].subs(names["n"], n)) for n in SIZES]
    assert values == pytest.approx(expected, rel=1e-12)


def test_latex(formula):
    text = formula_code(formula, "latex")
    assert text.startswith("T(n) = ")
    assert "\\left\\lceil{\\frac{n}{2}}\\right\\rceil" in text
    assert formula.counts["processor.store"].to_latex().count("lceil") >= 1


def test_counts_stay_exact_in_sympy(formula):
    """No floating-point number enters a count."""
    import sympy

    for each in formula.counts.values():
        assert not each.to_sympy().atoms(sympy.Float)


def test_terms_add_up(formula):
    told = formula_json(formula)
    names = {"n": formula.size}
    total = sum(each["seconds"] * eval(each["count"], dict(names)) for each in told["terms"])
    assert total == pytest.approx(eval(told["time"], dict(names)), rel=1e-12)
    lines = sum(eval(each["time"], dict(names)) for each in told["lines"])
    assert lines == pytest.approx(total, rel=1e-12)
    assert sum(row["seconds"] * eval(row["count"], dict(names)) for row in formula_rows(formula)) == pytest.approx(
        total
    )


def test_text_multiplies_out(formula):
    """The seconds of the terms in the text are the time at the size."""
    text = str(formula)
    assert f"the slowest at n = {formula.size}" in text
    assert formula.validity.split(",")[0] in text
    assert repr(formula).startswith("<TimeFormula: ")


def test_forms_of_sympy_name_the_extra(monkeypatch, capsys):
    monkeypatch.setattr("esp.formulas.formula.find_spec", lambda _: None)
    assert main(["formula", "lfk01.hpf", "--procs", "2", "--as", "latex"]) == 1
    assert "pip install 'esp-hpf[model]'" in " ".join(capsys.readouterr().err.split())
    assert main(["formula", "lfk01.hpf", "--procs", "2", "--as", "python"]) == 0


def test_a_line(capsys):
    assert main(["formula", "laplace_bb.hpf", "--procs", "4", "--line", "33", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["line"] for each in told["lines"]] == [33]
    assert main(["formula", "laplace_bb.hpf", "--procs", "4", "--line", "2"]) == 2
    assert "These do: 26, 27" in capsys.readouterr().err


def test_relaxed(formula, capsys):
    assert main(["formula", formula.prediction.file, "--procs", str(formula.prediction.processors), "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert eval(out["relaxed"], {"n": 10**7}) == pytest.approx(eval(out["time"], {"n": 10**7}), rel=1e-5)
    assert "//" not in out["relaxed"]


def test_seconds_at_sizes(capsys):
    formula, sizes = esp.formula("lfk03.hpf", procs=4), [64, 255, 1000]
    expected = formula.evaluate(n=sizes)
    words = ["formula", "lfk03.hpf", "--procs", "4", "--at", "64,255,1000"]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["at"]
    assert [each["size"] for each in rows] == sizes
    assert [each["time_s"] for each in rows] == pytest.approx(expected)
    assert main([*words, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == f"64,{rows[0]['time_s']!r}"
    assert main(words) == 0
    out = capsys.readouterr().out
    assert re.search(rf"^1,000 +{re.escape(seconds(rows[-1]['time_s']))}$", out, re.MULTILINE)
    line = formula.lines[-1]
    assert main([*words, "--line", str(line.line), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["at"]
    assert [each["time_s"] for each in rows] == pytest.approx(line.time("n").evaluate(sizes))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--at", "x"], "'x' is not a size"),
        (["--at", "0"], "'0' is not a size"),
        (["--at", "9" * 30], "is not a size"),
        (["--at", "3"], "does not hold for n = 3"),
        (["--at", "64", "--as", "python"], "code is not evaluated"),
        (["--at", "64", "--free", "n,procs"], "a fixed number of processors"),
    ],
)
def test_sizes_that_are_refused(words, text, capsys):
    assert main(["formula", "laplace_bb.hpf", "--procs", "4", *words]) == 2
    assert text in " ".join(capsys.readouterr().err.split())


@pytest.mark.sampled
def test_no_line_is_wider_than_the_screen_but_those_of_figures(formula, capsys):
    assert main(["formula", formula.prediction.file, "--procs", str(formula.prediction.processors)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 110
    line = re.search(r"^next +esp (.+)$", out, re.MULTILINE)[1]
    assert main(line.split()) == 0
