"""Loops whose variable only chooses a plane of the arrays: their walk repeats itself, and the times stay the same."""

from random import Random

import pytest

import esp
from tests.interpreter.test_loops import same
from tests.truth.test_fitted_machines import CACHELESS

CACHED = 1e-3
"""Relative difference of times with caches."""
MACHINES = {"ipsc860": (96, 130, 256), "meiko-cs2": (256, 1400), "sparc-ethernet": (1000, 4096), "cluster-ib": (4096,)}
"""Elements along the divided dimension that fill caches within a few planes."""
FORMATS = ("BLOCK", "CYCLIC", "CYCLIC(3)", "CYCLIC(8)")


def inner(chooser, array, other, plane):
    """A loop along the divided dimension: a recurrence, one with a scalar, or one without order."""
    here, near = f"{array}(i, {plane})", chooser.choice((plane, plane, plane, f"{plane} - 1", f"{plane} + 1", "2"))
    by = chooser.choice(("-1", "+1"))
    head = "do i = 2, m - 1" if by == "-1" else "do i = m - 1, 2, -1"
    match chooser.choice(("recurrence", "scalar", "shift", "plain", "fixed")):
        case "recurrence":
            body = [f"{here} = {here} - 0.5d0 * {array}(i{by}, {plane}) * {other}(i, {near})"]
        case "scalar":
            body = [f"{other}(i, {plane}) = 1 / s", f"s = 4 - {here}", f"{here} = {other}(i, {near}) / s"]
            return ["s = 4", head, *("  " + each for each in body), "end do", "s = 0"]
        case "shift":
            body = [f"{here} = {other}(i+1, {near}) - {other}(i-1, {plane})"]
        case "plain":
            body = [f"{here} = {here} + {other}(i, {near}) * c(i)"]
        case _:
            return [f"{array}(1, {plane}) = {other}(2, {plane})"]
    return [head, *("  " + each for each in body), "end do"]


def planes(seed, n, machine="ipsc860"):
    """A program whose loops over j run such loops along i."""
    chooser = Random(seed)
    loops = []
    for _ in range(chooser.randint(1, 2)):
        some = chooser.choice((("j",), ("j",), ("n + 1 - j",), ("2*j",), ("j", "n + 1 - j", "2*j")))
        body = []
        for _ in range(chooser.randint(1, 3)):
            names = chooser.sample("ab", 2)
            body += inner(chooser, *names, chooser.choice(some))
        if chooser.random() < 0.2:
            body.insert(0, f"t = t + {chooser.choice(('1', 'j'))}")
        step = chooser.choice(("", "", ", 2"))
        loop = [f"do j = 2, n - 1{step}", *("  " + each for each in body), "end do"]
        loops += ["do k = 1, 3", *("  " + each for each in loop), "end do"] if chooser.random() < 0.4 else loop
    lines = [
        "program planes",
        f"integer, parameter :: n = {n}, m = {chooser.choice(MACHINES[machine])}",
        "double precision :: a(m, 2*n), b(m, 2*n), c(m), s, t",
        "integer :: i, j, k",
        f"!HPF$ DISTRIBUTE a({chooser.choice(FORMATS)}, *)",
        "!HPF$ ALIGN b(i, j) WITH a(i, j)",
        "!HPF$ ALIGN c(i) WITH a(i, *)",
        "a = 1.0d0",
        "b = 2.0d0",
        "c = 0.5d0",
        "t = 0",
        *loops,
        "print *, sum(a), sum(b), t",
        "end program planes",
    ]
    return "\n".join(lines) + "\n"


def both(text, procs, **options):
    """The prediction, and that by every iteration."""
    return esp.predict(text, procs=procs, **options), esp.predict(text, procs=procs, unroll=True, **options)


def assert_same(seeds, n):
    """How many of the programs walk less than a third of their iterations; their times do not change."""
    saved = 0
    for seed in seeds:
        machine = [*MACHINES][seed % 4] if seed % 2 else "ipsc860"
        text, procs = planes(seed, n, machine), (1, 2, 3, 4, 5, 6, 7, 8)[seed % 8]
        if machine == "ipsc860":
            same(*both(text, procs, system_set=CACHELESS, bandwidth=(1.0, 0.25)))
        quick, whole = both(text, procs, system=machine, bandwidth=(1.0, 0.25))
        same(quick, whole, CACHED)
        saved += quick.iterations_walked < whole.iterations_walked / 3
    return saved


@pytest.mark.truth
def test_planes_are_alike():
    assert assert_same((0, 13), 150) == 2


@pytest.mark.truth
@pytest.mark.parametrize("batch", range(2))
def test_many_planes_are_alike(batch):
    assert assert_same(range(100 + 12 * batch, 112 + 12 * batch), 200) >= 2


def test_long_loops_over_planes_cost_no_more():
    walked = [esp.predict(planes(0, n), procs=4).iterations_walked for n in (600, 2400)]
    assert walked[0] == walked[1]
