"""DO loops in their spellings, run three ways: serially, lowered plainly, lowered with all optimisations."""

import pytest

from aag.pipeline import Options, Overrides, lower, read_program
from aag.spmd import nodes
from aag.spmd.partition import segments
from tests.aag.spmd.runs import run_text

HEAD = """program p
  implicit none
  integer, parameter :: n = 13, m = 6
  real(8) :: a(n), b(n), c(n), d(n,m), e(n,m)
  real(8) :: s, t, w(m)
  integer :: i, j, k
!HPF$ DISTRIBUTE ({one}) :: A
!HPF$ ALIGN WITH A :: B, C
!HPF$ DISTRIBUTE ({two}) :: D
!HPF$ ALIGN WITH D :: E
"""

BODIES = {
    "independent": """
!HPF$ INDEPENDENT
  do i = 2, n
    a(i) = b(i-1) + c(i)
  end do""",
    "private scalar": """
!HPF$ INDEPENDENT, NEW(t)
  do i = 2, n - 1
    t = b(i-1) + b(i+1)
    a(i) = t * t
    c(i) = t
  end do""",
    "private scalar of both branches": """
  t = 0
!HPF$ INDEPENDENT, NEW(t)
  do i = 2, n - 1
    if (b(i) > 0.5d0) then
      t = b(i-1)
    else if (i < 5) then
      t = b(i+1)
    else
      t = 1
    end if
    a(i) = t * t
  end do""",
    "carried scalars": """
  t = 1
  s = 0
  do i = 1, n
    t = 0.5d0*t + b(i)
    a(i) = t - s
    s = c(i)
  end do
  t = 0
  s = 0""",
    "carried scalar of a solver": """
  do j = 1, m
    t = 4
    d(1,j) = e(1,j) / t
    do i = 2, n
      e(i,j) = 1 / t
      t = 4 - e(i,j)
      d(i,j) = (d(i,j) - d(i-1,j)) / t
    end do
  end do
  t = 0""",
    "sum of some, with CYCLE": """
!HPF$ INDEPENDENT, NEW(t, j)
  do i = 1, n
    t = 0
    do j = 1, m
      if (mod(i + j, 3) == 0) cycle
      t = t + i*j
    end do
    a(i) = t
  end do""",
    "work array": """
!HPF$ INDEPENDENT, NEW(w, j)
  do i = 1, n
    do j = 1, m
      w(j) = d(i,j) + j
    end do
    do j = 2, m
      d(i,j) = w(j-1)*w(m+1-j)
    end do
  end do
  w = 0""",
    "CYCLE of the next iteration": """
!HPF$ INDEPENDENT
  do i = 2, n
    c(i) = 1
    if (b(i) > 0.5d0) then
      a(i) = 2
      cycle
    end if
    a(i) = b(i-1)
  end do""",
    "reduction": """
!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, n
    s = s + a(i) * b(i)
  end do
  c = s""",
    "scalar around a promise": """
  do j = 1, 3
    s = 0.125d0 * j
!HPF$ INDEPENDENT
    do i = 2, 3
      a(i) = b(i+2) + s
    end do
  end do
  c = s""",
    "maximum": """
!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, n
    s = max(s, b(i))
  end do
  a = s""",
    "reductions in long sums": """
  t = 0
!HPF$ INDEPENDENT, REDUCTION(s, t)
  do i = 1, n
    s = b(i) + s - 2*c(i) - 1
    t = max(b(i), t, c(i))
  end do
  a = s + t""",
    "reductions of what an iteration computes": """
  t = 0
!HPF$ INDEPENDENT, NEW(j), REDUCTION(s, t)
  do i = 1, n
    j = mod(i, 3)
    a(i) = b(i) + j
    if (j > 0) s = s + a(i)
    t = max(t, a(i) * j)
  end do
  c = s + t""",
    "reduction of sums of sections": """
!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, m
    s = s - maxval(d(1:n-i, i)) + sum(d(i, 1:m))
  end do
!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, m
    s = s - sum(d(2:n, i))
  end do
  c = s""",
    "reduction into an array": """
!HPF$ INDEPENDENT, REDUCTION(a)
  do j = 1, m
    do i = 1, n
      if (d(i, j) > 1) a(i) = a(i) + d(i, j)
    end do
  end do""",
    "condition that its branch changes": """
  do i = 1, n
    if (a(i) > 1) then
      a(i) = a(i) - 1
      b(i) = a(i)
    else if (a(i) > 0.5d0) then
      a(i) = 0
    else
      a(i) = 2
    end if
    if (a(i) > 1) c(i) = 0
  end do""",
    "triangle": """
  do j = 1, n
    do i = j + 1, n
      a(i) = a(i) - b(j) * a(j)
    end do
  end do""",
    "elimination": """
  do j = 1, m - 1
    do i = j + 1, n
      d(i, j) = d(i, j) / (3 + d(j, j))
    end do
    do i = j + 1, n
      do k = j + 1, m
        d(i, k) = d(i, k) - d(i, j) * d(j, k)
      end do
    end do
  end do""",
    "wavefront": """
  do j = 2, m
    do i = 2, n
      d(i, j) = 0.5d0 * (d(i-1, j) + d(i, j-1)) + e(i, j)
    end do
  end do""",
    "private scalar in a recurrence": """
  do j = 1, m
    do i = 2, n
      t = 1 / (3 + d(i-1, j))
      d(i, j) = d(i, j) - t * d(i-1, j)
    end do
  end do""",
    "nest with index list": """
!HPF$ INDEPENDENT(j, i)
  do j = 2, m
    do i = 2, n
      d(i, j) = e(i-1, j-1)
    end do
  end do""",
    "independent around a recurrence": """
!HPF$ INDEPENDENT
  do j = 1, m
    do i = 2, n
      d(i, j) = d(i-1, j) + e(i, j)
    end do
  end do""",
    "section inside": """
!HPF$ INDEPENDENT
  do j = 2, m
    d(2:n, j) = e(1:n-1, j-1)
  end do""",
    "forall inside": """
!HPF$ INDEPENDENT
  do j = 2, m
    forall (i = 2:n) d(i, j) = e(i-1, j)
  end do""",
    "dot product inside": """
!HPF$ INDEPENDENT
  do i = 1, n
    a(i) = sum(d(i, :) * e(i, :)) + b(i)
  end do""",
    "private sum": """
!HPF$ INDEPENDENT, NEW(t, j)
  do i = 1, n
    t = 0
    do j = 1, m
      t = t + d(i, j)
    end do
    a(i) = t
  end do""",
    "on home": """
!HPF$ INDEPENDENT, ON HOME(c(i))
  do i = 2, n
    a(i) = b(i-1)
  end do""",
    "recurrence": """
  do i = 2, n
    a(i) = a(i-1) + b(i)
  end do""",
    "backwards": """
  do i = n - 1, 1, -1
    a(i) = a(i+1) + b(i)
  end do""",
    "anti-dependence": """
  do i = 1, n - 1
    a(i) = a(i+1) + b(i)
  end do""",
    "two statements": """
  do i = 2, n
    a(i) = b(i) + 1
    c(i) = a(i-1)
  end do""",
    "reduction of what the loop changes": """
  do j = 1, 3
    s = sum(a) / 6
!HPF$ INDEPENDENT
    do i = 2, n
      a(i) = b(i-1) + j
    end do
  end do
  b = s""",
    "reduction of what the loop leaves": """
!HPF$ INDEPENDENT
  do i = 1, n
    a(i) = b(i) / sum(c)
  end do""",
    "bounds by inquiry": """
  do i = lbound(a, 1) + 1, ubound(a, 1)
    a(i) = b(i-1) / size(a)
  end do""",
    "residual in turns": """
  s = 0
  do j = 1, m
    do i = 2, n
      t = 0.5d0*d(i-1,j) - d(i,j)
      d(i,j) = d(i,j) + t
      if (abs(t) > s) s = abs(t)
    end do
  end do
  a(1) = s
  t = 0""",
    "sum in turns": """
  s = 0
  t = 1
  do i = 2, n
    a(i) = a(i-1) + b(i)
    s = s + a(i)
    t = t * 0.5d0
  end do
  b(1) = s + t""",
    "sum in order": """
  do i = 1, n
    s = s + a(i)
  end do
  b = s""",
}

FORMATS = [("BLOCK", "BLOCK,*"), ("CYCLIC", "*,BLOCK"), ("CYCLIC(3)", "BLOCK,BLOCK"), ("CYCLIC(2)", "CYCLIC,*")]


def text_of(name, one="BLOCK", two="BLOCK,*"):
    return HEAD.format(one=one, two=two) + BODIES[name] + "\nend program p\n"


MAPPED = [
    pytest.param(name, formats, id="-".join((name, *formats)), marks=() if (one - two) % 4 < 2 else pytest.mark.truth)
    for one, name in enumerate(sorted(BODIES.keys() - {"bounds by inquiry"}))
    for two, formats in enumerate(FORMATS)
]
"""Each loop with two of the formats, in turn; with all in `make truth`."""


@pytest.mark.parametrize(("name", "formats"), MAPPED)
def test_a_loop_means_what_it_means_serially(name, formats):
    procs = 4 if formats[1] == "BLOCK,BLOCK" else 3
    assert run_text(text_of(name, *formats), procs) == []


@pytest.mark.truth
@pytest.mark.parametrize("procs", [1, 3, 4])
@pytest.mark.parametrize("formats", FORMATS, ids="-".join)
@pytest.mark.parametrize("name", sorted(BODIES.keys() - {"bounds by inquiry"}))
def test_a_loop_means_what_it_means_serially_on_any_processors(name, formats, procs):
    assert run_text(text_of(name, *formats), procs) == []


PARALLEL = (
    "independent",
    "private scalar",
    "reduction",
    "maximum",
    "nest with index list",
    "section inside",
    "forall inside",
    "dot product inside",
    "private sum",
    "private scalar of both branches",
    "sum of some, with CYCLE",
    "work array",
    "CYCLE of the next iteration",
    "on home",
    "anti-dependence",
    "bounds by inquiry",
    "reduction of what the loop leaves",
)


@pytest.mark.parametrize("name", PARALLEL)
def test_parallel_loops_become_nests(name):
    program = lower(read_program(text_of(name), "loop.hpf"), Overrides(procs=4), 4, Options())
    assert not [each for each in program.body if isinstance(each, nodes.DoNode | nodes.OwnedLoop)]
    assert [each for each in program.body if isinstance(each, nodes.Nest)]


@pytest.mark.parametrize(("one", "crossings"), [("BLOCK", 3), ("CYCLIC", 12)])
def test_carried_scalars_go_from_owner_to_owner(one, crossings):
    program = lower(read_program(text_of("carried scalars", one), "loop.hpf"), Overrides(procs=4), 4, Options())
    (loop,) = (each for each in program.body if isinstance(each, nodes.OwnedLoop))
    assert [(each.name, each.bytes) for each in loop.carried] == [("s", 8), ("t", 8)]
    sent = [each for each in segments(loop, program.layouts, program.layouts.environment).messages if each is not None]
    assert [int(each.elements.sum()) for each in sent] == [16] * crossings


def test_scalars_that_are_read_after_the_loop_stay_with_all():
    text = text_of("carried scalars").replace("  t = 0\n", "  print *, t\n")
    program = lower(read_program(text, "loop.hpf"), Overrides(procs=4), 4, Options())
    assert not [each for each in program.body if isinstance(each, nodes.OwnedLoop)]


def test_a_recurrence_across_processors_is_owned_or_walked():
    program = lower(read_program(text_of("recurrence"), "loop.hpf"), Overrides(procs=4), 4, Options())
    assert [each for each in program.body if isinstance(each, nodes.OwnedLoop)]
    program = lower(
        read_program(text_of("independent around a recurrence"), "loop.hpf"), Overrides(procs=4), 4, Options()
    )
    assert [each for each in program.body if isinstance(each, nodes.DoNode)]
    assert "W204" in {note.code for note in program.notes}
