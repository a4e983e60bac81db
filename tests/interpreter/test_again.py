"""Loops that begin as they began before: their walk is left out, and everything else stays the same."""

from random import Random

import numpy as np
import pytest

import esp
from interpreter.models import iteration

MACHINES = ("ipsc860", "sparc-ethernet", "meiko-cs2", "cluster-ib", "ncube3200")
PARTS = ("end_s", "computation_s", "communication_s", "overhead_s", "waiting_s")
HEAD = """program steps
integer, parameter :: n = {n}, m = {m}
double precision :: a(n, m), b(n, m), c(n), s, t
integer :: i, j, k, l, step
!HPF$ PROCESSORS p({grid})
!HPF$ DISTRIBUTE a({formats}) ONTO p
!HPF$ ALIGN b(i, j) WITH a(i, j)
!HPF$ ALIGN c(i) WITH a(i, *)
a = 1
b = 2
c = 3
l = 1
"""


def sweep(chooser):
    """Loops whose owners take turns, a shift, a reduction, or a loop whose bounds a scalar says."""
    match chooser.randrange(5):
        case 0:
            residual = ["s = max(s, abs(a(i, j)))"] if chooser.randrange(2) else []
            last = chooser.choice(("m", "m - 1", "l + 2"))
            body = ["a(i, j) = 0.5d0 * a(i-1, j) + b(i, j)", *residual]
            return ["s = 0", f"do j = 2, {last}", "do i = 2, n", *body, "end do", "end do"]
        case 1:
            return ["do j = 2, m", "a(2:n-1, j) = a(1:n-2, j-1) + a(3:n, j)", "end do"]
        case 2:
            return ["t = sum(b)", "b = b * 0.5d0"]
        case 3:
            return ["do i = 2, n", "c(i) = c(i-1) + 1", "end do"]
        case _:
            return ["l = l + 1"] if chooser.randrange(3) else ["b = cshift(b, 1)"]


def repeated(chooser):
    """Inner iterations, some of which data end."""
    body = [line for _ in range(chooser.randint(1, 3)) for line in sweep(chooser)]
    if chooser.randrange(3) == 0:
        body.append(f"if (s < 1d-{chooser.randint(2, 9)}) exit")
    if chooser.randrange(4) == 0:
        body = [f"if (mod(k, 2) == {chooser.randrange(2)}) then", *body, "end if"] if "exit" not in body[-1] else body
    return [f"do k = 1, {chooser.choice((3, 9, 30))}", *body, "end do"]


def program(seed):
    """A program whose time steps are not all alike, and a number of processors."""
    chooser = Random(seed)
    formats = chooser.choice(("BLOCK, *", "CYCLIC, *", "*, BLOCK", "BLOCK, BLOCK"))
    grid = "2, 2" if "*" not in formats else "4"
    body = [line for _ in range(chooser.randint(1, 3)) for line in chooser.choice((repeated, sweep))(chooser)]
    body += repeated(chooser)
    special = sweep(chooser) if chooser.randrange(2) else ["print *, step"]
    body += [f"if (mod(step, {chooser.choice((2, 3, 5))}) == 0) then", *special, "end if"]
    lines = [f"do step = 1, {chooser.randint(4, 12)}", *body, "end do", "print *, a(2, 2), b(1, 1), s, t", "end"]
    head = HEAD.format(n=chooser.randint(8, 40), m=chooser.randint(4, 9), grid=grid, formats=formats)
    return head + "\n".join(lines) + "\n"


def both(monkeypatch, seed, machine, **options):
    """A prediction, and one for which each loop is walked."""
    source = program(seed)
    mine = esp.predict(source, machine, 4, **options)
    with monkeypatch.context() as patch:
        patch.setattr(iteration, "again", lambda _run, _aau, go: go())
        return mine, esp.predict(source, machine, 4, **options)


def counted(prediction):
    """How often each figure is paid, by AAU."""
    found = {}
    for each in prediction.counts.entries:
        for column, often in zip(each.columns, each.total(prediction.processors), strict=True):
            found[each.aau, column] = found.get((each.aau, column), 0.0) + often
    return found


def same(mine, walked):
    rel = 1e-9 * np.max(walked.time_s)
    assert np.abs(mine.time_s - walked.time_s).max() <= rel
    for name in PARTS:
        one, other = getattr(mine.per_processor, name), getattr(walked.per_processor, name)
        assert (np.abs(one - other) <= rel).all(), name
    for one, other in zip(mine.aaus, walked.aaus, strict=True):
        assert one.executions == pytest.approx(other.executions)
        assert np.abs(one.parts.waiting_s - other.parts.waiting_s).max() <= rel
    assert (mine.messages, mine.bytes, mine.iterations) == (walked.messages, walked.bytes, walked.iterations)
    assert counted(mine) == pytest.approx(counted(walked))


SOME = (3, 8, 15, 22, 44)
"""Programs in which it shows if a ledger is changed that is entered again, or if caches, clocks or scalars are not
compared."""
MORE = [pytest.param(seed, marks=pytest.mark.truth) for seed in range(64) if seed not in SOME]


@pytest.mark.parametrize("seed", [*SOME, *MORE])
def test_what_is_not_walked_stays_the_same(seed, monkeypatch):
    mine, walked = both(monkeypatch, seed, MACHINES[seed % len(MACHINES)])
    same(mine, walked)
    assert mine.iterations_walked < walked.iterations_walked or seed not in SOME


@pytest.mark.parametrize("seed", [8, *(pytest.param(each, marks=pytest.mark.truth) for each in range(12, 24))])
def test_several_scenarios(seed, monkeypatch):
    mine, walked = both(monkeypatch, seed, MACHINES[seed % len(MACHINES)], bandwidth=(1.0, 0.5, 3.0))
    same(mine, walked)
