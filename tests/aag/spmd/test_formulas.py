"""Masks whose data can be computed: how often they hold, against an interpreter of the serial program."""

import re

import numpy as np
import pytest

from aag.ir.expressions import Binary, IntLit, Var
from aag.pipeline import Overrides, lower, main_unit, read_program
from aag.spmd import nodes
from aag.spmd.formulas import mask_holds
from interpreter.application import Application
from tests.aag.spmd.serial import Serial
from tests.truth.cache_programs import program

HEAD = """program masks
  integer, parameter :: n = 12
  real :: a(n, n), b(n, n), c(n, n), x
  integer :: i, j, k
!hpf$ distribute (block, block) :: a, b, c
  forall (i = 1:n, j = 1:n) a(i, j) = mod(3*i + 5*j, 7)
  forall (i = 1:n, j = 1:n) b(i, j) = 0.5*i - j/3
"""


def counted(text, procs):
    """For each WHERE how many elements its first nest takes, None if data decide; and what the serial program counts
    just before it."""
    lines, wheres = [], []
    for line in text.splitlines():
        if line.strip().startswith("where ("):
            lines.append(f"  print *, count{condition(line)}")
            wheres.append(len(lines) + 1)
        lines.append(line)
    read = read_program("\n".join(lines) + "\n", "masks.hpf")
    lowered = lower(read, Overrides(procs=procs), procs)
    application = Application(lowered)
    masked = [node for node in lowered.body if isinstance(node, nodes.Nest) and node.mask is not None]
    first = [next(node for node in masked if node.span.line >= line) for line in wheres]
    taken = [application.trips(node, lowered.layouts.environment).masked for node in first]
    unit = main_unit(read)
    printed = Serial(unit, lowered.layouts).run(unit.body).printed
    return [None if each is None else int(each.sum()) for each in taken], [int(value) for value in printed]


def condition(line):
    """The parenthesis behind WHERE."""
    text, depth = line[line.index("(") :], 0
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return text[: at + 1]
    raise AssertionError(line)


@pytest.mark.parametrize("procs", [1, 4])
@pytest.mark.parametrize(
    "body",
    [
        "where (a > 3) c = b",
        "where (a > 3 .and. b < 1.5) c = b",
        "where (mod(int(a), 3) == 1) c = b",
        "where (b > 0.0) c = sqrt(abs(b))",
        "c = a + b\n where (c >= 2.5) c = 0",
        "a(2:n-1, :) = 9\n where (a == 9) c = 1",
        "a(n:1:-2, 1) = 8\n where (a == 8) c = 1",
        "forall (i = 1:n, j = 1:n, i >= j) a(j, i) = 8\n where (a == 8) c = 1",
        "where (a > 3) a = a - 4\n where (a == 1) c = 1",
        "c = transpose(a)\n where (c > b) c = 1",
        "c = cshift(a, 2, 1) - eoshift(a, -1, dim=2)\n where (c > 1) c = 1",
        "x = 2.5\n where (a > x) c = 1",
    ],
)
def test_a_mask_holds_as_often_as_in_the_serial_program(body, procs):
    taken, expected = counted(f"{HEAD}  {body}\nend program masks\n", procs)
    assert taken == expected


@pytest.mark.parametrize(
    "body",
    [
        "do k = 1, 2\n a = a + b\n end do\n where (a > 3) c = b",
        "read *, a\n where (a > 3) c = b",
        "where (c > 3) b = a",
        "x = sum(a)\n where (a > x) c = 1",
    ],
)
def test_what_is_not_followed_is_not_guessed(body):
    text = f"{HEAD}  {body}\nend program masks\n"
    program = lower(read_program(text, "masks.hpf"), Overrides(procs=1), 1)
    (nest,) = [node for node in program.body if isinstance(node, nodes.Nest) and node.mask is not None]
    assert Application(program).trips(nest, program.layouts.environment).masked is None


@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(each, marks=pytest.mark.truth) for each in range(15, 30))])
def test_masks_of_random_programs(seed):
    """Each mask outside loops is followed."""
    text = re.sub(r"n = \d+, m = \d+", "n = 9, m = 12", program(seed))
    text = re.sub(r"  do (it|j|i|k) = .*?\n  end do\n", "", text, flags=re.DOTALL)
    taken, expected = counted(re.sub(r"  print .*", "", text), 1)
    assert taken == expected


def test_a_mask_of_no_iterations_holds_nowhere():
    vectors = {"": np.zeros(0, np.int64), "j": np.array([3])}
    assert mask_holds(Binary(">", Var("j"), IntLit(1)), {}, {}, vectors).shape == (0,)
