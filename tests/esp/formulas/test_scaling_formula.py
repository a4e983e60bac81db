"""Formulas in the size and the number of processors, against predictions at sizes and numbers that they did not use."""

import subprocess
from itertools import product

import numpy as np
import pytest

import esp
from esp.cli.main import main
from esp.formulas.scaling_derivation import WORDS
from esp.formulas.thresholds import compares
from esp.output.scaling_formula import scaling_formula_code, scaling_formula_json, scaling_formula_rows

PROGRAMS = ["lfk03.hpf", "laplace_bb.hpf", "matmul.hpf"]
MORE = [f"{each}.hpf" for each in ("gauss", "redblack", "laplace", "lfk09", "pbs2", "nbody", "sor", "adi", "shallow")]
MISSES = ("read_miss", "write_miss", "writeback", "tlb_miss")
POINTS = [(60, 128), (34, 256), (48, 16), (90, 64)]
"""Cells of a processor and extents of the grid."""


@pytest.fixture(scope="module", params=PROGRAMS)
def formula(request):
    return esp.scaling_formula(request.param)


def ranks(formula, extent):
    """The processors of the places, first dimension first."""
    of = {"first": 0, "second": 1, "middle": extent // 2, "last but one": extent - 2, "last": extent - 1}
    places = product(WORDS, repeat=formula.names.rank)
    return [sum(of[word] * extent**dim for dim, word in enumerate(place)) for place in places]


def at(formula, n, procs):
    """The value of each name."""
    values = formula.names.values(np.array([1.0 * n]), np.array([1.0 * procs]))
    return {name: float(each[0]) for name, each in values.items()}


def is_held(formula, n, procs):
    return formula.holds(np.array([1.0 * n]), np.array([1.0 * procs]))[0]


def check(name, formula, points):
    """Each term at other points; where some of its lines are averaged, the mean if it has no other part."""
    averaged = any(each.origin == "averaged" for each in formula.lines)
    assert [each for each in formula.outside if each.line is not None] == []
    seen = 0
    for cells, extent in points:
        procs, n = extent**formula.names.rank, cells * extent
        if procs > 1 << 12 or not is_held(formula, n, procs):
            continue
        seen += 1
        assert (n, procs) not in formula.samples
        expected = {
            (each.figure.path, each.paid): each.of_each(procs)
            for each in esp.predict(name, procs=procs, n=n).counts.of()
            if not each.figure.path.endswith(MISSES)
        }
        for term in formula.terms:
            found = np.array([float(each.value(at(formula, n, procs))) for each in term.counts])
            counted = expected.pop((term.figure, term.paid), np.zeros(procs))
            if not averaged:
                np.testing.assert_allclose(
                    found, counted[ranks(formula, extent)], rtol=1e-9, atol=1e-6, err_msg=str(term)
                )
            elif len(set(term.counts)) == 1:
                assert found[0] == pytest.approx(counted.mean(), rel=1e-9, abs=1e-6), term
        assert not expected
    assert seen >= 2


def test_counts_are_those_of_predictions(formula):
    check(formula.prediction.file, formula, POINTS)


@pytest.mark.truth
@pytest.mark.parametrize("name", MORE)
def test_counts_are_those_of_more_predictions(name):
    check(name, esp.scaling_formula(name), POINTS)


def test_what_is_outside_completes_the_prediction(formula):
    whole = float(formula.time.evaluate(formula.size, formula.procs)[0]) + sum(each.time_s for each in formula.outside)
    assert whole == pytest.approx(formula.prediction.time_s, rel=1e-9)


@pytest.mark.truth
def test_elimination_by_hand():
    """Multiplications in the loop of step k: n - k rows of each own column behind it, columns dealt out one by one."""
    formula = esp.scaling_formula("gauss.hpf")
    (line,) = (each for each in formula.lines if each.origin == "averaged")
    (multiplied,) = (each for each in line.terms if each.figure.endswith("r8.mul") and each.paid == "computation")
    for n, p in ((64, 8), (96, 32), (160, 16)):
        for place, rank in enumerate(ranks(formula, p)):
            own = range(rank + 1, n + 1, p)
            by_hand = sum((n - k) for k in range(1, n) for j in own if j > k)
            assert multiplied.counts[place].value(at(formula, n, p)) == pytest.approx(by_hand)
    sent = [each for each in line.terms if each.figure.endswith("startup") and each.paid == "sending"]
    messages = {each.figure.split(".")[-2]: each.counts[0] for each in sent}
    n, p = 128, 16  # step k: p - 1 messages of n - k rows, short ones of at most 100 bytes
    short = sum(8 * (n - k) <= 100 for k in range(1, n))
    assert messages["short"].value(at(formula, n, p)) == pytest.approx(short * (p - 1) / p)
    assert messages["long"].value(at(formula, n, p)) == pytest.approx((n - 1 - short) * (p - 1) / p)


@pytest.mark.truth
def test_limits():
    formula = esp.scaling_formula("laplace_bb.hpf")
    assert "sqrt(p)" in formula.validity
    for n, p in ((256, 8), (98, 16), (251, 16), (256, 4)):
        with pytest.raises(esp.UsageError, match="does not hold"):
            formula.evaluate(n, p)
    between = formula.evaluate([1024, 1025, 1056], 1024, relaxed=True)
    assert between[0] < between[1] == between[2]
    with pytest.raises(esp.UsageError, match="no fixed grid"):
        esp.scaling_formula("laplace_bb.hpf", grid="4x4", procs=16)


THRESHOLDS = [
    "if (n > 3000) a = a * 2.0",
    "forall (i = 1:min(n, 1200)) a(i) = a(i) * 2.0",
    "do i = 1, n, 1024\n s = s + 1.0\n end do",
    "do i = 1, 2000\n if (i < n) s = s + 1.0\n end do",
    "where (b > n - 2000) a = 0.0",
    "m = max(n - 700, 1)\n forall (i = 1:m) a(i) = 2.0",
]
SMOOTH = ["a = a * 2.0", "if (n > 4) a = a * 2.0", "do i = n, 1, -1\n s = s + 1.0\n end do", "where (a > 0.5) b = 1"]


def shaped(statement, n=512):
    return (
        f"program p\n  integer, parameter :: n = {n}\n  integer :: i, m\n  real :: a(n), s\n  integer :: b(n)\n"
        f"!hpf$ distribute (block) :: a, b\n  a = 1.0\n  b = 1\n  s = 0.0\n  {statement}\n  print *, sum(a), s\n"
        "end program p\n"
    )


@pytest.mark.parametrize("statement", THRESHOLDS + SMOOTH)
def test_what_is_compared_with_the_size_limits_the_sizes(statement):
    """Beyond the sizes at which was counted, a program may do something else."""
    source = esp.read_source(shaped(statement))
    assert compares(source.program, "n") == (statement in THRESHOLDS)


def test_what_differs_at_the_given_size_is_not_in_the_formula():
    formula = esp.scaling_formula(shaped("if (n > 1000) a = a / 3.0", 4096), procs=16)
    assert (formula.size, formula.procs, formula.limit) == (4096, 16, 4096)
    assert [each.line for each in formula.outside if each.line is not None] == [10] * 8
    whole = float(formula.evaluate(4096, 16)[0]) + sum(each.time_s for each in formula.outside)
    assert whole == pytest.approx(formula.prediction.time_s, rel=1e-9)
    assert all(each.time_s <= 0 for each in formula.outside if each.what == "hidden")
    with pytest.raises(esp.UsageError, match="does not hold"):
        formula.evaluate(8192, 16)


def test_for_a_fixed_number_of_processors_it_ends_there_as_well():
    counted = esp.formula(shaped("if (n > 3000) a = a / 3.0", 512), procs=4)
    assert counted.most == 512
    derived = esp.formula(shaped("a = a / 3.0", 512), procs=4)
    assert derived.most is None


def test_short_messages_beside_long_ones_keep_their_ranges():
    """A circular shift by n/2 + 20 sends 20 elements to one processor, all others of a block to another."""
    formula = esp.scaling_formula(shaped("a = cshift(a, n/2 + 20)", 1024), procs=16)
    sent = [each for each in formula.terms if "network" in each.figure and each.figure.endswith("startup")]
    for n, p in ((1024, 16), (2048, 32), (3200, 32)):
        assert is_held(formula, n, p)
        prediction = esp.predict(shaped("a = cshift(a, n/2 + 20)", n), procs=p)
        counts = {(each.figure.path, each.paid): each.of_each(p).mean() for each in prediction.counts.of()}
        for term in sent:
            assert float(term.count.evaluate(n, p)[0]) == pytest.approx(counts.get((term.figure, term.paid), 0.0))
    assert not is_held(formula, 480, 16)


def points(formula):
    several = product([formula.least * each for each in (1, 2, 8)], (formula.period, 4))
    return [(formula.cells * more * extent, extent**formula.names.rank) for extent, more in several]


def test_code(formula, tmp_path):
    """Each language gives what `evaluate` gives."""
    pairs = points(formula)
    expected = formula.evaluate(*map(list, zip(*pairs, strict=True)))
    names = {}
    exec(scaling_formula_code(formula, "python"), names)
    assert [names["time_s"](n, p) for n, p in pairs] == pytest.approx(expected, rel=1e-12)
    exec(scaling_formula_code(formula, "numpy"), names)
    assert names["time_s"](*map(np.array, zip(*pairs, strict=True))) == pytest.approx(expected, rel=1e-12)
    exec(scaling_formula_code(formula, "sympy"), names)
    found = [float(names["time_s"].subs({names["n"]: n, names["p"]: p})) for n, p in pairs]
    assert found == pytest.approx(expected, rel=1e-12)
    calls = "".join(f"  print *, time_s({n}, {p})\n" for n, p in pairs)
    text = f"program main\n  double precision, external :: time_s\n{calls}end program main\n"
    (tmp_path / "p.f90").write_text(scaling_formula_code(formula, "fortran") + text)
    subprocess.run(["gfortran", "-std=f2008", "-o", "p", "p.f90"], cwd=tmp_path, check=True)
    printed = subprocess.run(["./p"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert [float(each) for each in printed.split()] == pytest.approx(expected, rel=1e-12)
    assert scaling_formula_code(formula, "latex").startswith("T(n, p) = ")


def test_terms_add_up(formula):
    out, names = scaling_formula_json(formula), at(formula, formula.size, formula.procs)
    total = eval(out["time"], dict(names))
    assert sum(eval(each["time"], dict(names)) for each in out["lines"]) == pytest.approx(total)
    for rows in (out["terms"], scaling_formula_rows(formula)):
        assert sum(each["seconds"] * eval(each["count"], dict(names)) for each in rows) == pytest.approx(total)
    assert repr(formula).startswith("<ScalingFormula: ")
    assert "n and p free" in str(formula)


def test_a_wrong_parameter_is_named(capsys):
    assert main(["formula", "lfk03.hpf", "--free", "n,q"]) == 2
    assert "Write n or n,procs." in capsys.readouterr().err


def test_a_size_of_no_distributed_dimension_is_refused_with_those_that_are():
    text = "program p\n integer, parameter :: nx = 96, ny = 64, k = 3\n real :: a(nx, ny)\n"
    text += "!hpf$ distribute a(*, block)\n integer :: i\n do i = 1, k\n a = a + 1\n end do\n end\n"
    for free in ("nx", "k"):
        with pytest.raises(esp.UsageError, match=f"no distributed dimension depends on {free}") as raised:
            esp.scaling_formula(text, procs=4, free=free)
        assert "free ny,procs" in str(raised.value)
    assert esp.scaling_formula(text, procs=4, free="ny").time
    doubled = text.replace("real :: a(nx, ny)", "real :: a(nx, 4**k)")
    with pytest.raises(esp.UsageError, match="no distributed dimension depends on ny") as raised:
        esp.scaling_formula(doubled, procs=4, free="ny")
    assert "free k" not in str(raised.value)
