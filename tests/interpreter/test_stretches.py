"""Loops around a nest in which owners take turns: iterations that are alike are walked once, and nothing changes."""

from itertools import product
from random import Random

import pytest

import esp
from tests.interpreter.test_loops import same
from tests.truth.test_fitted_machines import CACHELESS

CACHED = 1e-7
"""Relative difference of times with caches; without them it is 1e-9. Loops around jump when what is cached is nearly
as it was an iteration before."""
FORMATS = ("BLOCK", "CYCLIC", "CYCLIC(3)", "CYCLIC(8)", "BLOCK(96)")
BOUNDS = (("2", "n - 1"), ("i", "n"), ("1", "i"), ("max(1, i - 3)", "min(n, i + 3)"), ("1 + mod(i, 2)", "n - 2"))
"""Of the loop inside: the same in all iterations, or not."""


def sweeps(seed, n=96):
    """A program of recurrences along a distributed dimension, each a nest in a loop of its own."""
    chooser = Random(seed)
    formats = [chooser.choice((*FORMATS, "*")), chooser.choice(FORMATS)]
    chooser.shuffle(formats)
    loops = []
    for _ in range(chooser.randint(1, 3)):
        along = chooser.randrange(2)
        back = chooser.random() < 0.4
        step = chooser.choice((1, 1, 1, 2, 3))
        by = chooser.choice((1, 1, 2)) * (1 if back else -1)
        low, high = chooser.choice((*BOUNDS[:1] * 5, *BOUNDS))
        here, there = ("i, j", f"i{by:+d}, j") if along == 0 else ("j, i", f"j, i{by:+d}")
        near = chooser.choice(
            ("", f" + c({there.split(',')[along].strip()})", f" * c(i) - b({here})", f" + b({there})")
        )
        target = chooser.choice(("a", "a", "b"))
        head = f"do i = n - 2, 3, -{step}" if back else f"do i = 3, n, {step}"
        body = [f"do j = {low}, {high}", f"  {target}({here}) = 0.25d0 * {target}({there}){near}", "end do"]
        if chooser.random() < 0.3:
            body[2:2] = [f"  b({here}) = b({here}) + 0.5d0"] if target == "a" else []
        loop = [head, *("  " + line for line in body), "end do"]
        if chooser.random() < 0.3:
            loop = ["do k = 1, 3", *("  " + line for line in loop), "end do"]
        loops += loop
    aligned = chooser.choice(("(:,i)", "(i,:)", "(*,i)", "(i,*)", ""))
    lines = [
        "program sweeps",
        "integer, parameter :: n = " + str(n),
        "double precision :: a(n, n), b(n, n), c(n)",
        "integer :: i, j, k",
        f"!HPF$ DISTRIBUTE a({', '.join(formats)})",
        "!HPF$ ALIGN b(i, j) WITH a(i, j)",
        f"!HPF$ ALIGN c(i) WITH a{aligned.replace(':', '*')}" if aligned else "! c is on all processors",
        "a = 1.0d0",
        "b = 2.0d0",
        "c = 0.5d0",
        *loops,
        "print *, sum(a), sum(b)",
        "end program sweeps",
    ]
    return "\n".join(lines) + "\n"


def both(text, procs, **options):
    """The prediction, and that by every iteration."""
    return esp.predict(text, procs=procs, **options), esp.predict(text, procs=procs, unroll=True, **options)


def assert_same(seeds):
    """The seeds of which at most a third of the iterations is walked, where nothing changes."""
    saved = 0
    for seed in seeds:
        text, procs = sweeps(seed), (1, 2, 3, 4, 6, 8)[seed % 6]
        same(*both(text, procs, system_set=CACHELESS, bandwidth=(1.0, 0.25)))
        quick, whole = both(text, procs, bandwidth=(1.0, 0.25))
        same(quick, whole, CACHED)
        for one, other in zip(quick.aaus, whole.aaus, strict=True):  # also when each ended last
            assert one.clock_s == pytest.approx(other.clock_s, abs=CACHED * float(whole.time_s[0])), one.label
        saved += quick.iterations_walked < whole.iterations_walked / 3
    return saved


def test_times_are_those_of_all_iterations():
    assert assert_same(range(10, 15)) >= 2


@pytest.mark.truth
def test_times_of_many_are_those_of_all_iterations():
    assert assert_same(range(100, 400)) >= 60


def test_all_iterations_of_a_long_loop_around_two_others_miss_as_much():
    """Where stretches are worth it, the full walk spreads the misses as well: traces add up to the prediction."""
    text = """program planes
  integer, parameter :: n = 600
  real :: a(8, 8, n)
  integer :: i, j, k
!hpf$ distribute a(*, *, block)
  a = 1.0
  do k = 2, n
    do j = 1, 8
      do i = 1, 8
        a(i, j, k) = 0.5 * a(i, j, k-1)
      end do
    end do
  end do
  print *, a(1, 1, n)
end program planes
"""
    quick, whole = both(text, 4, bandwidth=(1.0, 0.25))
    assert quick.iterations_walked < 20
    same(quick, whole, CACHED)


LINE, SETS, WAYS = 32, 128, 2
"""The cache of the iPSC/860: lines are replaced at random, and a write brings in none."""

ORDERS = {
    "along rows": ("do i = 2, n; do j = 1, n", (-1, 0), lambda n: product(range(2, n + 1), range(1, n + 1))),
    "back along rows": (
        "do i = n - 1, 1, -1; do j = 1, n",
        (1, 0),
        lambda n: product(range(n - 1, 0, -1), range(1, n + 1)),
    ),
    "every third row": ("do i = 4, n, 3; do j = 1, n", (-3, 0), lambda n: product(range(4, n + 1, 3), range(1, n + 1))),
    "from column to column": ("do j = 2, n; do i = 1, n", (0, -1), lambda n: _columns(n, lambda j: (1, n))),
    "below the diagonal": ("do j = 2, n; do i = j, n", (0, -1), lambda n: _columns(n, lambda j: (j, n))),
    "a band": (
        "do j = 2, n; do i = max(1, j - 5), min(n, j + 5)",
        (0, -1),
        lambda n: _columns(n, lambda j: (max(1, j - 5), min(n, j + 5))),
    ),
}
"""Loops, what is read relative to what is written, and the (i, j) in order."""


def _columns(n, rows):
    return [(i, j) for j in range(2, n + 1) for i in range(rows(j)[0], rows(j)[1] + 1)]


def _missed(addresses, chooser):
    """The misses of reads and writes, one after the other, in an empty cache."""
    cache, misses = [[] for _ in range(SETS)], 0
    for address, write in addresses:
        line = address // LINE
        held = cache[line % SETS]
        if line in held:
            continue
        misses += 1
        if not write and len(held) < WAYS:
            held.append(line)
        elif not write:
            held[chooser.randrange(WAYS)] = line
    return misses


def _touched(iterations, by, n, columns):
    """The addresses that a processor with these columns touches; a column from afar lies beside its own."""
    for i, j in iterations:
        if j in columns:
            for row, column, write in ((i + by[0], j + by[1], False), (i, j, True)):
                yield 8 * ((column - columns.start + 1) * n + row - 1), write


@pytest.mark.parametrize(("n", "procs", "block"), [(200, 2, 25), (200, 2, 50), (90, 3, 10)])
def test_misses_of_rows_that_go_round_are_those_of_a_cache_that_is_simulated(n, procs, block):
    """Elements are packed; one from afar has the place of its neighbour, a row before."""
    text = f"""program sweep
  integer, parameter :: n = {n}
  double precision :: b(n, n)
  integer :: i, j
!hpf$ distribute b(cyclic({block}), *)
  b = 2.0d0
  do i = 2, n
    do j = 1, n
      b(i, j) = 0.25d0 * b(i-1, j)
    end do
  end do
  print *, b(1, 1)
end program sweep
"""
    simulated = 0.0
    for rank in range(procs):
        own = [i for i in range(1, n + 1) if (i - 1) // block % procs == rank]
        touched = [
            (8 * ((j + 1) * len(own) + place), write)
            for here, i in enumerate(own)
            if i > 1
            for j in range(n)
            for place, write in ((here - 1, False), (here, True))
        ]
        simulated += sum(_missed(touched, Random(seed)) for seed in range(5)) / 5
    predicted = sum(each.misses for each in esp.predict(text, procs=procs).aaus if 7 <= each.span.line <= 9)
    assert predicted == pytest.approx(simulated, rel=0.05)


@pytest.mark.sampled
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize(("n", "procs"), [(60, 4), (100, 2), (100, 4)])
def test_misses_are_those_of_a_cache_that_is_simulated(order, n, procs):
    loops, by, iterations = order
    statement = f"b(i, j) = 0.25d0 * b(i{by[0]:+d}, j{by[1]:+d})"
    head = [
        "program sweep",
        f"integer, parameter :: n = {n}",
        "double precision :: b(n, n)",
        "integer :: i, j",
        "!HPF$ DISTRIBUTE b(*, BLOCK)",
        "b = 2.0d0",
    ]
    lines = [*head, *loops.split("; "), statement, "end do", "end do", "print *, b(1, 1)", "end program sweep"]
    width, simulated = -(-n // procs), 0.0
    for rank in range(procs):
        columns = range(rank * width + 1, (rank + 1) * width + 1)
        touched = list(_touched(iterations(n), by, n, columns))
        simulated += sum(_missed(touched, Random(seed)) for seed in range(5)) / 5
    prediction = esp.predict("\n".join(lines) + "\n", procs=procs)
    predicted = sum(each.misses for each in prediction.aaus if len(head) < each.span.line <= len(head) + 3)
    assert predicted == pytest.approx(simulated, rel=0.03)
