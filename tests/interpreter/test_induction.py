"""Loops whose end induction variables decide: as if every iteration were carried out."""

import random
from functools import partial
from math import inf
from operator import ge, gt, le, lt

import pytest

import esp
from aag.diagnostics import UnresolvedError
from aag.ir.expressions import Binary, IntLit, Var
from interpreter.errors import InterpretationError
from interpreter.evaluate import Scalars
from interpreter.induction import iterations_left
from interpreter.setting import Setting

COMPARED = {"<": lt, "<=": le, ">": gt, ">=": ge}
MOST = 200


def _one_by_one(parts, env, steps):
    """How many iterations are carried out before a comparison fails; None: very many."""
    now = dict(env)
    for count in range(MOST):
        if not all(COMPARED[op](now[left] * factor, now[right] + add) for left, factor, op, right, add in parts):
            return count
        for name, step in steps.items():
            now[name] += step
    return None


def _condition(parts):
    found = [
        Binary(op, Binary("*", Var(left), IntLit(factor)), Binary("+", Var(right), IntLit(add)))
        for left, factor, op, right, add in parts
    ]
    joined = found[0]
    for each in found[1:]:
        joined = Binary(".and.", joined, each)
    return joined


@pytest.mark.parametrize("seed", range(300))
def test_iterations_left(seed):
    draw = random.Random(seed)
    steps = {name: draw.randint(-3, 3) for name in "ij"}
    env = {name: draw.randint(-40, 40) for name in "ijm"}
    parts = [
        (
            draw.choice("ijm"),
            draw.randint(-2, 2),
            draw.choice(list(COMPARED)),
            draw.choice("ijm"),
            draw.randint(-40, 40),
        )
        for _ in range(draw.randint(1, 3))
    ]
    expected = _one_by_one(parts, env, steps)
    if expected == 0:  # it fails now, which is not asked
        return
    assert iterations_left(_condition(parts), env, steps) == (inf if expected is None else expected)


def test_what_is_not_seen():
    assert iterations_left(Binary("/=", Var("i"), Var("m")), {"i": 1, "m": 5}, {"i": 1}) is None
    assert iterations_left(Binary("<", Var("i"), Var("unknown")), {"i": 1}, {"i": 1}) is None
    either = Binary(".or.", Binary("<", Var("i"), IntLit(5)), Var("ready"))
    assert iterations_left(either, {"i": 1}, {"i": 1}) is None
    assert iterations_left(Var("ready"), {"i": 1}, {"i": 1}) == inf


PROGRAM = """program p
  integer, parameter :: n = 16
  real :: a(n), err
!hpf$ distribute a(block)
  integer :: it, m, odd
  a = 1.0
  it = {first}
  m = 3
  odd = 0
  err = 1.0
  do while ({condition})
    a = a*0.5
    err = maxval(a)
    it = it + {step}
    {more}
  end do
  do m = 1, it
    a(1) = a(1) + 1.0
  end do
end program
"""
CONDITIONS = (
    "err > 1e-3 .and. it < 57",
    "it <= 60",
    "it <= 60 .and. m < 11",
    "err > 0.0 .and. 2*it < 3*m + 99",
    "it < 50 .or. m < 9",
    "it /= 61",
    "60 > it .and. odd < 9",
)
MORE = (
    "m = m + 1",
    "m = m - 2",
    "odd = mod(it, 3)",
    "if (it > 30) m = m + 5",
    "if (it == 21) exit",
    "if (m > 1) odd = 7",
)


@pytest.mark.sampled
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(("first", "step"), [(1, 1), (1, 4), (-7, 2)])
def test_as_if_every_iteration_were_carried_out(tmp_path, monkeypatch, condition, more, first, step):
    path = tmp_path / "p.f90"
    path.write_text(PROGRAM.format(first=first, condition=condition, step=step, more=more))

    def answer():
        try:
            found = esp.predict(path, procs=2, budget=0)
        except (UnresolvedError, InterpretationError) as error:
            return [each.code for each in error.diagnostics]
        return [(each.line, each.time_s) for each in found.lines], found.messages, found.assumptions

    monkeypatch.setattr("esp.computed.Setting", partial(Setting, while_iterations=1000))
    leapt = answer()
    monkeypatch.setattr(Scalars, "_leap", lambda *_: 0)
    assert leapt == answer()


def test_many_iterations_take_no_time(tmp_path):
    path = tmp_path / "p.f90"
    path.write_text(
        PROGRAM.format(first=1, condition="err > 0.0 .and. it < 2000000000", step=1, more="m = m + 1").replace(
            "do m = 1, it", "do m = 1, 2"
        )
    )
    found = esp.predict(path, procs=2, budget=0)
    assert found.messages == 2 * 1_999_999_999
