"""Loops that only EXIT ends: what the first iteration surely brings, and nothing changes, is sent before the loop."""

from random import Random

import pytest

import esp
from tests.aag.spmd.emit.many import Case, judge

PROCS = (2, 3, 4)


def exits(seed):
    """A program with such a loop, and how often it runs."""
    chooser = Random(seed)
    trips = chooser.randint(1, 4)
    body = [
        "do i = 2, n - 1; u(i) = mod(c(i-1) * 3 + t(i+1) + c(i+1), 1009); end do",
        "u = mod(cshift(c, 1) + t, 997)",
        "t = u",
        "u = mod(u + c(3), 499)",
        f"if (mod(iter, 2) == {chooser.randrange(2)}) d = mod(cshift(d, 1) + c(1), 101)",
        "do i = 1, iter - 1; d(i) = d(i) + c(n); end do",
    ]
    chooser.shuffle(body)
    body = body[: chooser.randint(2, 6)]
    if chooser.random() < 0.3:
        body.insert(chooser.randint(0, len(body)), chooser.choice(("c(iter) = c(iter) + 1", "c = mod(c * 2 + t, 89)")))
    if chooser.random() < 0.4:
        body.insert(chooser.randint(0, len(body)), f"if (iter < {trips} .and. mod(sum(t), 2) == 0) cycle")
    body.insert(chooser.randint(0, len(body)), f"if (iter >= {trips}) exit")
    around = chooser.random() < 0.3
    lines = [
        "program exits",
        "integer, parameter :: n = 12",
        "integer :: t(n), u(n), c(n), d(n), iter, i, k",
        f"!hpf$ distribute t({chooser.choice(('block', 'cyclic', 'cyclic(2)'))})",
        "!hpf$ align (i) with t(i) :: u, c, d",
        "do i = 1, n; t(i) = mod(i * 7, 5); c(i) = mod(i * 3, 11); end do",
        "u = 0",
        "d = t + c",
        *(["do k = 1, 2"] if around else []),
        "iter = 0",
        "do",
        "iter = iter + 1",
        *body,
        "end do",
        *(["c(k) = c(k) + 1", "end do"] if around else []),
        "print *, t, u, c, d, iter",
        "end program",
    ]
    return "\n".join(lines) + "\n", trips


def assert_right(native, procs, seeds):
    cases = [Case(exits(seed)[0], procs, frozenset(), seed) for seed in seeds]
    faults = [f"{each.case.note}: {each.fault}\n{each.case.text}" for each in judge(native, cases) if each.fault]
    assert not faults, "\n".join(faults)


def test_answers_and_messages(native):
    assert_right(native, 3, range(16))


@pytest.mark.truth
@pytest.mark.parametrize("batch", range(10))
def test_many(batch, native):
    assert_right(native, PROCS[batch % len(PROCS)], range(100 + 40 * batch, 140 + 40 * batch))


def test_what_nothing_changes_is_sent_once():
    once = often = 0
    for seed in range(20):
        text, trips = exits(seed)
        if trips < 2:
            continue
        for each in esp.predict(text, procs=4).aaus:
            if each.comm is not None and each.comm.array == "c" and each.comm.pattern != "gather":
                once, often = once + (each.executions <= 2), often + (each.executions > 2)
    assert once > often > 0
