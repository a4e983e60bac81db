"""Loops that end early, as data decide: computed trip counts and groups of entries cost what each entry by itself
does."""

from random import Random

import numpy as np
import pytest

import esp
from interpreter.models import entries
from tests.interpreter.test_stretches import CACHED

EXITS = (
    ["if (z > 4.0d0) exit"],
    ["z = z + 0.125d0", "if (z > 4.0d0) exit", "w = w + z"],
    ["if (mod(it, 2) == 0) then", "  w = w + 1.0d0", "  if (z > 4.0d0) exit", "end if"],
    ["if (z > 4.0d0) then", "  w = 0.0d0", "  exit", "else", "  w = w + 0.5d0", "end if"],
)


def early(seed):
    """A program of loops over points, each of which iterates until a value is large enough."""
    chooser = Random(seed)
    formats = chooser.choice(("*, block", "*, cyclic", "block, *", "cyclic(2), *", "block, block"))
    most = chooser.choice((7, 20))
    step = ["w = w + 1.0d0"] * chooser.randint(0, 1) + ["z = z * (1.0d0 + x) + x"]
    kind = chooser.choice(("exit", "exit", "while", "function", "nested"))
    if kind == "while":
        inner = ["it = 0", f"do while (it < {most} .and. z <= 4.0d0)", *step, "it = it + 1", "end do"]
    else:
        inner = [f"do it = 1, {most}", *step, *chooser.choice(EXITS), "end do"]
    point = ["x = dble(mod(3 * i + 5 * j, 11)) / 16.0d0", "z = 0.0d0", *inner, "image(i, j) = it"]
    if kind == "function":
        point = ["image(i, j) = steps(dble(mod(3 * i + 5 * j, 11)) / 16.0d0)"]
    if kind == "nested" or chooser.random() < 0.3:
        point = ["w = 0.0d0", *point, "if (mod(i, 3) == 1) w = w + 1.0d0"]
    bounds = chooser.choice(("1, n", "n, 1, -1", "j, n", "2, n, 2"))
    claim = ["!hpf$ independent, new(i, it, x, z, w)"] if chooser.random() < 0.6 else []
    lines = [
        "program early",
        "implicit none",
        "integer, parameter :: n = 18",
        "integer :: image(n, n), i, j, it",
        "double precision :: x, z, w",
        f"!hpf$ distribute image({formats})",
        "w = 0.0d0",
        *claim,
        "do j = 1, n",
        f"do i = {bounds}",
        *point,
        "end do",
        "end do",
        "print *, sum(image)",
    ]
    if kind == "function":
        own = [
            "integer function steps(x)",
            "double precision, intent(in) :: x",
            "double precision :: z, w",
            "integer :: it",
        ]
        lines += ["contains", *own, "z = 0.0d0", "w = 0.0d0", *inner, "steps = it", "end function"]
    return "\n".join([*lines, "end program early"]) + "\n"


def assert_same(seeds, monkeypatch):
    """How many programs are walked in half of the iterations."""
    saved = 0
    for seed in seeds:
        text, procs = early(seed), (1, 2, 3, 4)[seed % 4]
        found = []
        for walked in (0, 1 << 60):
            with monkeypatch.context() as patch:
                patch.setattr(entries, "WALKED", walked)
                found.append(esp.predict(text, procs=procs))
        quick, whole = found
        assert quick.time_s == pytest.approx(whole.time_s, rel=CACHED), f"seed {seed}\n{text}"
        for name in ("computation_s", "overhead_s", "waiting_s"):
            one, other = (getattr(each.per_processor, name) for each in found)
            np.testing.assert_allclose(one, other, rtol=0, atol=CACHED * whole.time_s)
        assert quick.iterations == whole.iterations, seed
        saved += quick.iterations_walked < whole.iterations_walked / 2
    return saved


def test_times_are_those_of_all_entries(monkeypatch):
    assert assert_same(range(12), monkeypatch) >= 4


@pytest.mark.truth
def test_times_of_many_are_those_of_all_entries(monkeypatch):
    assert assert_same(range(100, 400), monkeypatch) >= 100


def test_a_trip_count_that_cannot_be_computed_is_followed(monkeypatch):
    monkeypatch.setattr(entries, "WALKED", 0)
    text = early(0)
    assert esp.predict(text, procs=2, budget=100).time_s == pytest.approx(esp.predict(text, procs=2).time_s, rel=CACHED)
