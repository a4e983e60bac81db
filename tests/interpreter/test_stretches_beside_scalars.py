"""Loops in which every processor computes scalars and owners store elements: alike iterations are walked once."""

from random import Random

import pytest

import esp
from interpreter.models import iteration
from tests.interpreter.test_loops import same
from tests.interpreter.test_stretches import CACHED, both
from tests.truth.test_fitted_machines import CACHELESS

DRAWS = ("s = mod(s * 421 + 1663, 7875)", "t = 0.5d0 * t + 1.0d0", "call random_number(r)")
SCALARS = ("dble(s)", "t", "r", "2.5d0", "dble(i)")
CONDITIONS = ("mod(i, 3) == 0", "i > n / 2", "i == 7", "i < 10 .and. mod(i, 2) == 1")


def draws(seed, n=96):
    """A program of such loops, some of them inside another one; now and then with what crosses between owners."""
    chooser = Random(seed)
    formats = [chooser.choice(("BLOCK", "CYCLIC", "CYCLIC(3)", "BLOCK(96)", "*")) for _ in range(2)]
    formats[chooser.randrange(2)] = chooser.choice(("BLOCK", "CYCLIC(5)"))
    lines = [
        "program draws",
        f"integer, parameter :: n = {n}",
        "double precision :: x(n), v(n), w(n), u(n), a(n, n), b(n, n), t, r",
        "integer :: i, j, k, s",
        f"!HPF$ DISTRIBUTE x({chooser.choice(('BLOCK', 'CYCLIC', 'CYCLIC(4)'))})",
        "!HPF$ ALIGN (i) WITH x(i) :: v, u",
        f"!HPF$ ALIGN w(i) WITH x({chooser.choice(('i', '*'))})",
        f"!HPF$ DISTRIBUTE a({', '.join(formats)})",
        "!HPF$ ALIGN b(i, j) WITH a(i, j)",
        "s = 17; t = 1.0d0; x = 0.0d0; v = 1.0d0; w = 2.0d0; u = 3.0d0; a = 0.0d0; b = 1.0d0",
    ]
    for _ in range(chooser.randint(1, 2)):
        plane = chooser.random() < 0.4
        names = ("a(i, j)", "b(i, j)") if plane else ("x(i)", "v(i)", "w(i)")
        body = []
        for _ in range(chooser.randint(1, 4)):
            kind = chooser.random()
            if kind < 0.4:
                body.append(chooser.choice(DRAWS))
            elif kind < 0.5:
                body.append(f"if ({chooser.choice(CONDITIONS)}) t = t + 1.0d0")
            elif kind < 0.6:
                body += ["do k = 1, 3", "  t = 0.25d0 * t + 1.0d0", "end do"]
            elif kind < 0.65 and not plane:
                body.append("x(i) = 0.5d0 * x(i-1) + t")
            elif kind < 0.75 and not plane:  # elsewhere than the others at the edges of blocks
                body.append(chooser.choice(("u(i-1) = t + 1.0d0", "u(n+1-i) = t", "u(i) = t + 0.5d0 * u(i)")))
            elif kind < 0.8:
                body.append(f"if ({chooser.choice(CONDITIONS)}) {chooser.choice(names)} = t")
            elif kind < 0.83:
                body.append(f"if (i == {chooser.choice((5, 50, 200))}) exit")
            else:
                target = chooser.choice(names)
                body.append(f"{target} = {chooser.choice(SCALARS)} + {chooser.choice((*names, '1.0d0'))}")
        body.append(f"{names[0]} = {names[chooser.randrange(2)]} + t")
        loop = [chooser.choice(("do i = 2, n", "do i = n, 2, -1", "do i = 3, n, 2")), *("  " + each for each in body)]
        loop.append("end do")
        if plane:
            loop = ["do j = 1, n, 8", *("  " + line for line in loop), "end do"]
        elif chooser.random() < 0.2:
            loop = ["do j = 1, 2", *("  " + line for line in loop), "end do"]
        lines += loop
    return "\n".join([*lines, "print *, sum(x), sum(u), sum(a), sum(b), s, t", "end program draws"]) + "\n"


def assert_same(seeds, monkeypatch):
    """How many programs are walked in a third of their iterations; each costs what it does one by one."""
    saved = 0
    for seed in seeds:
        text, procs = draws(seed), (1, 2, 3, 4, 6, 8)[seed % 6]
        same(*both(text, procs, system_set=CACHELESS, bandwidth=(1.0, 0.25)))
        quick, whole = both(text, procs, bandwidth=(1.0, 0.25))
        same(quick, whole, CACHED)
        saved += quick.iterations_walked < whole.iterations_walked / 3
        with monkeypatch.context() as patch:  # each nest misses what it finds missing, iteration by iteration
            patch.setattr(iteration, "stretches_of", lambda *_: None)
            replayed = esp.predict(text, procs=procs, bandwidth=(1.0, 0.25))
        assert quick.time_s == pytest.approx(replayed.time_s, rel=0.01), seed
        one, other = (sum(each.misses for each in result.aaus) for result in (quick, replayed))
        assert one == pytest.approx(other, rel=0.03, abs=8), seed
    return saved


def test_times_are_those_of_all_iterations(monkeypatch):
    assert assert_same(range(8), monkeypatch) >= 3


@pytest.mark.truth
def test_times_of_many_are_those_of_all_iterations(monkeypatch):
    assert assert_same(range(100, 300), monkeypatch) >= 80


def test_a_long_loop_is_walked_where_something_changes():
    """A generator of random numbers over 2^20 elements takes as many iterations as processors are in it, and one."""
    text = """program draws
  integer, parameter :: n = 1048576
  real :: x(n), v(n), t
  integer :: i, s
!hpf$ distribute x(block)
!hpf$ align v(i) with x(i)
  s = 17
  do i = 1, n
    s = mod(s*421 + 1663, 7875)
    x(i) = s
    t = s / 7875.0
    if (mod(i, 2) == 0) t = -t
    v(i) = t
  end do
  print *, sum(x), sum(v)
end program draws
"""
    assert esp.predict(text, procs=16).iterations_walked < 30
