"""Formulas against predictions: the counts of each figure, by processor, at sizes that no interpolation used."""

import random

import numpy as np
import pytest

import esp
from esp.output.formula import formula_json
from esp.stated import has_shares

PROGRAMS = [
    ("laplace_bb.hpf", 4),
    ("laplace.hpf", 6),
    ("lu.hpf", 3),
    ("matmul.hpf", 4),
    ("pipeline.hpf", 4),
    ("nbody.hpf", 4),
    *[
        pytest.param(*each, marks=pytest.mark.truth)
        for each in [
            ("laplace_bx.hpf", 8),
            ("laplace_xb.hpf", 5),
            ("lu.hpf", 8),
            ("gauss.hpf", 4),
            ("cholesky.hpf", 4),
            ("adi.hpf", 4),
            ("shallow.hpf", 4),
            ("redblack.hpf", 4),
            ("sor.hpf", 4),
            ("thomas.hpf", 8),
            ("trisolve.hpf", 4),
            ("floyd.hpf", 4),
            ("gausspivot_do.hpf", 4),
            ("lfk01.hpf", 8),
            ("pbs1.hpf", 4),
        ]
    ],
]

MISSES = ("read_miss", "write_miss", "writeback", "tlb_miss")

TRIANGLE = """\
program t
  implicit none
  integer, parameter :: n = 40
  real :: a(n, n), b(n, n)
  integer :: i, j, k
!HPF$ DISTRIBUTE a(BLOCK, *)
!HPF$ ALIGN b(i, j) WITH a(i, j)
  do k = 1, n - 1
    forall (i = k+1:n, j = k+1:n) a(i, j) = a(i, j) - b(i, j) * 2.0
  end do
end program t
"""


DECIDED_BY_DATA = {"gausspivot_do.hpf": {"budget": 0}}
"""Programs with conditions whose shares differ from size to size: here they hold half of the time at all sizes."""


def counted(program, procs, **values):
    """(path, paid) -> the count of each processor, cache misses left out."""
    prediction = esp.predict(program, procs=procs, **values)
    return {
        (each.figure.path, each.paid): each.of_each(procs)
        for each in prediction.counts.of()
        if not each.figure.path.endswith(MISSES)
    }


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "procs"), PROGRAMS)
def test_counts_are_those_of_predictions(program, procs):
    fixed = DECIDED_BY_DATA.get(program, {})
    formula = esp.formula(program, procs=procs, **fixed)
    assert [each.what for each in formula.outside if each.line is not None] == []
    chance = random.Random(f"{program} {procs}")
    sizes = [n for n in range(formula.least, 4 * formula.least) if formula.holds(np.array([float(n)]))[0]]
    for n in chance.sample([n for n in sizes if n not in formula.samples], 2):
        expected = counted(program, procs, n=n, **fixed)
        found = {(each.figure, each.paid): each.counts for each in formula.terms}
        assert expected.keys() <= found.keys()
        for key, counts in found.items():
            values = [float(each.value({"n": n})) for each in counts]
            assert np.allclose(values, expected.get(key, 0.0), rtol=1e-12, atol=1e-9), (n, key)


@pytest.mark.parametrize(("program", "procs"), [("laplace_bb.hpf", 4), ("lu.hpf", 2)])
def test_what_is_outside_completes_the_prediction(program, procs):
    formula = esp.formula(program, procs=procs)
    whole = float(formula.time.evaluate(formula.size)[0]) + sum(each.time_s for each in formula.outside)
    assert whole == pytest.approx(formula.prediction.time_s, rel=1e-9)


@pytest.mark.truth
def test_the_shares_of_conditions_are_those_of_the_given_size():
    """At another size they are the same, and a prediction there that takes these has the same counts."""
    formula = esp.formula("gausspivot_do.hpf", procs=2, set={"n": 40})
    assert has_shares(formula.prediction)
    assert formula_json(formula)["shares_of"] == 40
    same = esp.formula("gausspivot_do.hpf", procs=2, set={"n": 40}, budget=0)
    assert formula_json(same)["shares_of"] is None
    known = formula.prediction.counts.of()
    assert {each.figure.path for each in known} == {each.figure.path for each in same.prediction.counts.of()}
    assert float(formula.time.evaluate(80)[0]) != float(same.time.evaluate(80)[0])


@pytest.mark.parametrize("procs", [1, 4])
def test_time_without_messages_is_that_of_predictions(procs):
    """Without waiting and with a cache that costs nothing, nothing is outside."""
    free = {f"cube.node.memory.{each}": "0 s" for each in ("read_miss", "write_miss", "writeback")}
    formula = esp.formula(TRIANGLE, procs=procs, system_set=free)
    assert formula.outside == ()
    sizes = [n for n in (40, 57, 64, 83, 100) if n >= formula.least]
    expected = [esp.predict(TRIANGLE, procs=procs, n=n, system_set=free).time_s for n in sizes]
    assert formula.evaluate(n=sizes) == pytest.approx(expected, rel=1e-9)


def test_triangle_in_closed_form():
    """Rows k + 1 to n on the last of two processors, for all k: the sum of (n - max(k, q)) (n - k), by hand:
    for k <= q (n - q) (n - k), then (n - k)^2."""
    formula = esp.formula(TRIANGLE, procs=2)
    (stored,) = (each for each in formula.terms if each.figure.endswith("processor.store"))
    for n in (40, 55, 72):
        q = -(-n // 2)
        by_hand = sum((n - max(k, q)) * (n - k) for k in range(1, n))
        assert stored.counts[1].value({"n": n}) == by_hand
        assert stored.counts[0].value({"n": n}) == sum(max(0, q - k) * (n - k) for k in range(1, n))
    assert "sum" not in str(stored.count)


def test_many_points_are_evaluated_at_once():
    formula = esp.formula("laplace_bb.hpf", procs=4)
    n = np.arange(100, 100_100)
    found = formula.evaluate(n=n)
    assert found.shape == n.shape
    assert found[156] == pytest.approx(float(formula.time.evaluate(256)[0]))
    assert (np.diff(found) >= 0).all()


def test_points_outside_are_refused():
    formula = esp.formula("laplace_bb.hpf", procs=4)
    with pytest.raises(esp.UsageError, match="does not hold for n = 3"):
        formula.evaluate(n=[3, 256])
    with pytest.raises(TypeError, match="'n'"):
        formula.evaluate(m=256)


def test_parameter_must_be_a_size():
    with pytest.raises(esp.UsageError, match="zz is not a size"):
        esp.formula("laplace_bb.hpf", procs=4, free="zz")
    with pytest.raises(esp.UsageError, match="not a size"):
        esp.formula("laplace.hpf", procs=4, free="tol")


def test_other_parameters():
    formula = esp.formula("laplace_bb.hpf", procs=4, free="k", n=64)
    assert str(formula.counts["processor.r8.mul"]) == "961 k"


@pytest.mark.truth
def test_messages_of_another_range_end_the_formula():
    """Up to a size of messages the machine has other figures: beyond it the formula does not hold."""
    formula = esp.formula("laplace_bb.hpf", system="cluster-ib", procs=4)
    assert formula.most is not None
    bounds = [n for n in range(formula.most - 8, formula.most + 1) if formula.holds(np.array([float(n)]))[0]]
    for n in (bounds[-1], formula.most + 2):
        expected = {each.figure.path for each in esp.predict("laplace_bb.hpf", "cluster-ib", 4, n=n).counts.of()}
        found = {each.figure for each in formula.terms}
        assert (expected <= found | {each for each in expected if each.endswith(MISSES)}) == (n <= formula.most)
    assert not formula.holds(np.array([formula.most + 2.0]))[0]


def test_a_size_that_only_the_formula_needs_is_named_as_such():
    text = "program p\n integer, parameter :: n = 30\n real :: a(n)\n!hpf$ distribute a(block(16))\n a = 1\nend\n"
    with pytest.raises(esp.PredictionError, match=r"the formula needs counts at n = \d+, too"):
        esp.formula(text, procs=3)


@pytest.mark.truth
def test_roundings_are_replaced_by_their_means():
    """The polynomial has the leading term of the exact one, and is near it everywhere."""
    found = esp.formula("lu.hpf", procs=4)
    sizes = np.arange(400, 440)
    exact, smooth = found.time.evaluate(sizes), found.relaxed.evaluate(sizes)
    assert smooth == pytest.approx(exact, rel=0.02)
    assert smooth.mean() == pytest.approx(exact.mean(), rel=2e-3)
    large = 10**7
    assert found.relaxed.evaluate(large) == pytest.approx(found.time.evaluate(large), rel=1e-5)


PLATE = """program plate
  integer, parameter :: nx = 96, ny = 64
  real :: a(nx, ny)
!hpf$ distribute a(*, block)
  a = 1.0
end
"""


def test_what_can_be_free_is_named():
    with pytest.raises(esp.UsageError) as raised:
        esp.formula(PLATE, procs=4, free="n")
    assert "free nx" in str(raised.value)


@pytest.mark.parametrize(
    ("constants", "shape", "size"),
    [
        ("nx = 96, ny = 64", "nx, ny", "nx"),
        ("steps = 4, rows = 64", "rows, rows", "rows"),
        ("rows = 64, more = rows + 2", "0:more, 4", "rows"),
        ("n = 64, k = 8", "k, n", "k"),
    ],
)
def test_what_sizes_the_distributed_arrays_is_free_unless_named(constants, shape, size):
    source = (
        f"program p\n integer, parameter :: {constants}\n real :: a({shape})\n!hpf$ distribute a(block, *)\n a = 1\nend"
    )
    assert esp.formula(source, procs=2).parameter == size
    assert esp.sensitivity(source, procs=2, sizes=[32]).parameter == size


STEPS = """program p
 integer, parameter :: steps = 4, nx = 24, ny = 16
 real(8) :: a(nx, ny), b(nx, ny)
 integer :: t, i, j
!hpf$ distribute (block, block) :: a, b
 a = 1.0
 b = 0.0
 do t = 1, steps
   forall (i = 2:nx-1, j = 2:ny-1) b(i,j) = a(i-1,j) + a(i+1,j) + a(i,j-1) + a(i,j+1)
   a = b
 end do
 print *, sum(a)
end
"""


def test_a_number_of_steps_is_free_from_the_given_one_on():
    """It sizes no distributed dimension, so that no processor lacks cells where it is small."""
    found = esp.formula(STEPS, procs=4, free="steps")
    assert found.size == found.given == 4
    for steps in (4, 5, 9, 33):
        expected = counted(STEPS, 4, steps=steps)
        for term in found.terms:
            counts = [float(each.value({"steps": steps})) for each in term.counts]
            assert counts == pytest.approx(expected[term.figure, term.paid])
        assert {(each.figure, each.paid) for each in found.terms} == {
            key for key, each in expected.items() if any(each)
        }
