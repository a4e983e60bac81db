"""IF blocks of nests: which assignments form a chain, held against running each by its own condition."""

from itertools import product

import pytest

from aag.diagnostics import Span
from aag.ir.expressions import Binary, Call, IntLit, Unary, Var
from aag.ir.statements import Assign
from aag.pipeline import read_program
from aag.spmd.branches import GuardedChain, chained
from aag.spmd.nodes import Combine, Nest, walk
from tests.aag.spmd.emit.native import lowered

HERE = Span("x.hpf", 1)
CONDITIONS = [Var("p"), Var("q"), Binary(".and.", Var("p"), Var("q")), Binary(".and.", Var("q"), Var("r"))]


def both(*parts):
    made = parts[0]
    for each in parts[1:]:
        made = Binary(".and.", made, each)
    return made


def guarded(condition, number):
    target = Var(f"t{number}")
    value = Call("merge", (IntLit(number), target, condition))
    return Assign(span=HERE, target=target, value=value)


def holds(condition, values):
    match condition:
        case Var(name=name):
            return values[name]
        case Unary(operand=operand):
            return not holds(operand, values)
        case Binary(left=left, right=right):
            return holds(left, values) and holds(right, values)


def taken(steps, values):
    """The assignments that run, as a chain says."""
    found = set()
    for step in steps:
        assert isinstance(step, GuardedChain)
        for branch in step.branches:
            if branch.test is None or holds(branch.test, values):
                found |= {each.target.name for each in branch.assigns}
                break
    return found


def chains():
    """ELSE IF chains of two and three conditions, alone and inside another condition, with and without ELSE."""
    for first, second, around in product(CONDITIONS, CONDITIONS, [(), (Var("o"),), (Unary(".not.", Var("o")),)]):
        no, neither = Unary(".not.", first), (Unary(".not.", first), Unary(".not.", second))
        yield [both(*around, first), both(*around, no, second), both(*around, *neither)]
        yield [both(*around, first), both(*around, no)]
        yield [both(*around, first), both(*around, no, second), both(*around, second)]


@pytest.mark.parametrize("number", range(len(list(chains()))))
def test_a_chain_does_what_its_conditions_say(number):
    conditions = list(chains())[number]
    assigns = [guarded(each, at) for at, each in enumerate(conditions)]
    nest = Nest(span=HERE, indices=(), home=None, assigns=tuple(assigns), guarded=True)
    steps = chained(nest, nest.assigns)
    for values in product((False, True), repeat=4):
        known = dict(zip("opqr", values, strict=True))
        expected = {f"t{at}" for at, each in enumerate(conditions) if holds(each, known)}
        assert taken(steps, known) == expected


HEAD = """program p
  integer, parameter :: n = 8, m = 6
  real(8) :: w(n, m), x, y, q
  integer :: i, j
!hpf$ distribute (block, *) :: w
  forall (i = 1:n, j = 1:m) w(i, j) = mod(i + j*j, 6)
  q = 0
"""


def nodes(body):
    text = f"{HEAD}{body}\nprint *, q, w\nend program\n"
    return list(walk(lowered(read_program(text, "p.hpf"), 4).body))


def test_an_outer_reduction_is_not_added_up_by_all_who_share_the_inner_loop():
    inside = "y = mod(7*j, 5)\ndo i = 1, n\nx = w(i, j) + y\nw(i, j) = x*2 + x\nend do"
    assert not any(isinstance(each, Combine) for each in nodes(f"do j = 1, m\n{inside}\nq = q + y\nend do"))
    summed = inside.replace("end do", "q = q + x\nend do")
    assert any(isinstance(each, Combine) for each in nodes(f"do j = 1, m\n{summed}\nend do"))


@pytest.mark.parametrize("test", ["w(i, j) > q", "q < w(i, j)", "w(i, j) >= q"])
def test_a_maximum_under_if_is_a_reduction(test):
    (found,) = (
        each
        for each in nodes(f"do j = 1, m\ndo i = 1, n\nif ({test}) q = w(i, j)\nend do\nend do")
        if isinstance(each, Combine)
    )
    assert found.op == "max"


def test_cases_stay_in_one_loop():
    body = """do j = 1, m
  do i = 1, n
    select case (mod(i, 3))
    case (0)
      w(i, j) = 1
    case default
      w(i, j) = 2
    end select
  end do
end do"""
    (found,) = (each for each in nodes(body) if isinstance(each, Nest) and each.guarded)
    (chain,) = chained(found, found.assigns)
    assert [each.test is None for each in chain.branches] == [False, True]
