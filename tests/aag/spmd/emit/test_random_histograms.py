"""Reductions into arrays among other assignments, emitted, run with MPI and held against gfortran."""

from itertools import pairwise

import pytest

from aag.pipeline import Overrides, lower, read_program
from aag.spmd.nodes import Combine, Nest, walk
from tests.aag.spmd.emit.many import Case, judge
from tests.aag.spmd.emit.random_histograms import program

PROCS = (2, 3, 4, 6)


def check(native, procs, seeds):
    """Answers and messages are right."""
    cases = [Case(program(seed), procs, note=seed) for seed in seeds]
    faults = [each for each in judge(native, cases) if each.fault]
    shown = [f"seed {each.case.note}: {each.fault}\n{each.case.text}\n{each.expected}\n{each.found}" for each in faults]
    assert not faults, f"{len(faults)} of {len(cases)}\n" + "\n".join(shown[:2])


def combined(seed):
    """How many arrays of partial results are combined after a nest that does more, or a loop."""
    body = list(walk(lower(read_program(program(seed), "h.hpf"), Overrides(procs=4), 4).body))
    alone = [after for before, after in pairwise(body) if isinstance(before, Nest) and before.reduce]
    return sum(isinstance(each, Combine) and each.kept is not None and each not in alone for each in body)


def test_most_loops_are_shared():
    assert sum(combined(seed) > 0 for seed in range(40)) > 20


@pytest.mark.parametrize("procs", [3, pytest.param(4, marks=pytest.mark.truth)])
def test_histograms(procs, native):
    check(native, procs, range(8))


@pytest.mark.truth
@pytest.mark.parametrize("batch", range(8))
def test_many_histograms(batch, native):
    check(native, PROCS[batch % len(PROCS)], range(100 + 40 * batch, 140 + 40 * batch))


PLACES = """program places
integer, parameter :: n = 12
integer :: ix(n), g(n), i, j, k
real :: a(n, n), w(n)
!hpf$ distribute ix(block)
!hpf$ distribute a(*, block)
do i = 1, n
  ix(i) = n + 1 - i
end do
g = 0
a = 2
k = 7
g(ix(11)) = 4
g(ix(k)) = g(ix(3)) + 4
do i = 1, n
  if (g(1) < 5) then
    g(ix(i)) = g(ix(i)) + i
  end if
end do
do j = 1, n
  k = j
  do while (k < 20)
    k = 2*k
  end do
  do i = 1, n
    w(ix(i)) = i*j
  end do
  a(ix(5), j) = k
  w(ix(n + 1 - j)) = a(ix(2), j)
  a(4, j) = w(ix(n + 1 - j))
end do
print *, g
print *, a
end program places
"""


def test_elements_from_elsewhere_say_where_to_assign(native):
    for procs in (2, 5):
        (verdict,) = judge(native, [Case(PLACES, procs)])
        assert verdict.fault == ""
