"""What a program could distribute, and how."""

from itertools import product
from math import prod

import pytest

import esp
from esp import api
from esp.errors import PredictionError, UsageError
from esp.explore.advise_alignments import alignments_of
from esp.explore.choices import MOST_GRIDS, choices_of, distributed_by, normal, split

PROGRAM = """\
program p
  integer, parameter :: n = 40, m = 2*n
  real :: a(n, m), b(n, m), c(n)
{directives}
  a = 1.0
  b = a
  c = 2.0
  print *, sum(a) + sum(b) + sum(c)
end program p
"""


def _distributed(directives, procs=8, **values):
    source = api.read_source(PROGRAM.format(directives=directives))
    return distributed_by(source, api.load_machine("ipsc860"), api.Request(procs=procs, values=values))


BOTH = "!hpf$ distribute a(block, *)\n!hpf$ align b(i, j) with a(i, j)"


def test_a_matrix_on_8_has_the_twelve_sensible_choices():
    choices, left_out = choices_of(_distributed(BOTH))
    expected = set()
    for formats in product(("BLOCK", "CYCLIC", "*"), repeat=2):
        spread = 2 - formats.count("*")
        grids = {0: (), 1: ((8,),), 2: ((4, 2), (2, 4))}[spread]
        expected |= {(f"({','.join(formats)})", grid) for grid in grids}
    assert {(each.shown, each.grid) for each in choices} == expected
    assert (len(choices), left_out) == (12, 0)


@pytest.mark.parametrize("procs", [2, 3, 6, 12, 16, 64])
def test_every_grid_has_all_processors_and_none_is_idle(procs):
    distributed = _distributed(BOTH, procs)
    choices, _ = choices_of(distributed)
    assert choices
    for each in choices:
        assert prod(each.grid) == procs
        spread = [n for n, f in zip((40, 80), split(each.shown), strict=True) if f != "*"]
        assert len(spread) == len(each.grid)
        assert all(1 < p <= n for p, n in zip(each.grid, spread, strict=True))


def test_arrays_smaller_than_any_grid_have_choices_all_the_same():
    choices, _ = choices_of(_distributed(BOTH, 97, n=3))
    assert {each.shown for each in choices} >= {"(BLOCK,*)", "(CYCLIC,BLOCK)"}
    assert all(each.grid is None for each in choices)
    assert len(esp.compare(PROGRAM.format(directives=BOTH), procs=97, n=3).ranked) == len(choices)


def test_flat_grids_are_counted_when_left_out():
    choices, left_out = choices_of(_distributed(BOTH, 1024, n=2000))
    square = [each.grid for each in choices if each.shown == "(BLOCK,BLOCK)"]
    assert square[0] == (32, 32)
    assert len(square) == MOST_GRIDS
    # 1024 = 2**10 has 9 products of two factors above 1; four lists of formats have two of them.
    assert left_out == 4 * (9 - MOST_GRIDS)


def test_targets_of_another_rank_are_crossed():
    distributed = _distributed("!hpf$ distribute a(block, *)\n!hpf$ distribute c(cyclic)", 3)
    assert [(each.name, each.extents, each.written) for each in distributed.targets] == [
        ("a", (40, 80), "(BLOCK,*)"),
        ("c", (40,), "(CYCLIC)"),
    ]
    choices, _ = choices_of(distributed)
    assert len(choices) == 4 * 2
    assert choices[0].directives == (
        "!HPF$ PROCESSORS PROCS(3)",
        "!HPF$ DISTRIBUTE A(BLOCK,*) ONTO PROCS",
        "!HPF$ DISTRIBUTE C(BLOCK) ONTO PROCS",
    )


def test_without_directives_the_largest_arrays_are_distributed():
    distributed = _distributed("")
    assert [each.name for each in distributed.targets] == ["a", "b"]
    assert distributed.targets[0].sizes == ("n", "m")
    choices, _ = choices_of(distributed, named=[{"": "(*,block)"}])
    assert choices[0].directives[-1] == "!HPF$ DISTRIBUTE (*,BLOCK) ONTO PROCS :: A, B"


ALLOCATED = {
    "a variable of a module": """\
module fields
  integer :: n = 24
  real, allocatable :: a(:, :)
!hpf$ distribute a(block, block)
contains
  subroutine setup()
    allocate (a(n, 2*n))
    a = 1.0
  end subroutine setup
end module fields
program p
  use fields
  call setup()
  print *, sum(a)
end program p
""",
    "a variable that is assigned once": """\
program p
  integer :: n
  real, allocatable :: a(:, :)
!hpf$ distribute a(block, block)
  n = 24
  allocate (a(n, 2*n))
  a = 1.0
  print *, sum(a)
end program p
""",
    "a variable that a loop computes": """\
program p
  integer :: n, k
  real, allocatable :: a(:, :)
!hpf$ distribute a(block, block)
  n = 3
  do k = 1, 3
    n = 2*n
  end do
  allocate (a(n, 2*n))
  a = 1.0
  print *, sum(a)
end program p
""",
}


@pytest.mark.parametrize("text", ALLOCATED.values(), ids=ALLOCATED.keys())
def test_what_is_allocated_can_be_distributed_in_other_ways(text):
    """24 x 48 in each; so a comparison finds what a prediction finds."""
    source, machine, request = api.read_source(text), api.load_machine("ipsc860"), api.Request(procs=8)
    found = distributed_by(source, machine, request)
    assert [(each.name, each.extents, each.written) for each in found.targets] == [("a", (24, 48), "(BLOCK,BLOCK)")]
    assert found.targets[0].sizes == ()  # none that a user may set without saying that it overrides the program
    alignments, _ = alignments_of(source, machine, request, found)
    assert alignments
    compared = esp.compare(text, procs=8)
    assert len(compared.ranked) == 12
    assert compared.ranked[0].prediction.time_s <= esp.predict(text, procs=8).time_s


def test_without_arrays_there_is_nothing_to_distribute():
    source = api.read_source("program p\n  print *, 1\nend program p\n")
    with pytest.raises(PredictionError, match="nothing to distribute"):
        distributed_by(source, api.load_machine("ipsc860"), api.Request(procs=4))


@pytest.mark.parametrize(
    ("given", "told"),
    [("block,*", "(BLOCK,*)"), ("( Cyclic ( 4 ) , BLOCK )", "(CYCLIC(4),BLOCK)"), ("(cyclic(k))", "(CYCLIC(K))")],
)
def test_formats_are_written_one_way(given, told):
    assert normal(given) == told


@pytest.mark.parametrize(
    ("given", "told"), [("(blok,*)", "'blok' is none of BLOCK"), ("(block", "parenthesis is missing")]
)
def test_formats_that_are_none(given, told):
    with pytest.raises(UsageError, match=told):
        normal(given)


def test_formats_of_no_rank_are_refused():
    with pytest.raises(UsageError, match="for 3 dimensions, but what the program distributes has 2"):
        choices_of(_distributed(BOTH), named=[{"": "(block,*,*)"}])


def test_the_name_of_an_arrangement_is_the_one_of_the_source():
    text = "!hpf$ processors grid(2,2)\n!hpf$ distribute a(block, block) onto grid"
    assert _distributed(text).onto == "GRID"
    assert _distributed("!hpf$ template procs(8)\n!hpf$ distribute a(block, *)").onto == "ESP_PROCS"
