"""Iterations that CYCLE ends, as IF blocks: what each path through them does stays as it was."""

from itertools import product

import pytest

from aag.ir import statements as s
from aag.ir.cycles import without_cycle
from aag.ir.expressions import Var
from aag.ir.visitors import walk_statements
from aag.pipeline import read_program

BODIES = {
    "if (c) cycle; x = 1": 0,
    "if (c) then; x = 1; cycle; end if; x = 2": 0,
    "if (c) then; x = 1; else; x = 2; cycle; end if; x = 3": 0,
    "if (c) then; cycle; else if (d) then; x = 2; cycle; end if; x = 3": 0,
    "if (c) then; cycle; else if (d) then; x = 2; else; cycle; end if; x = 3; if (e) cycle; x = 4": 0,
    "if (c) then; if (d) cycle; x = 1; end if": 0,
    "if (c) then; x = 1; else; if (d) then; if (e) cycle; x = 2; end if; end if": 0,
    "x = 1; if (c) then; x = 2; if (d) cycle; end if": 0,
    "if (c) then; cycle; else; cycle; end if; x = 1": 0,
    "x = 1; cycle; x = 2": 1,
    "if (c) then; if (d) cycle; x = 1; end if; x = 2": 1,
    "if (c) then; cycle; else if (d) then; x = 2; end if; x = 3": 1,
    "if (c) cycle; do j = 1, 2; if (d) cycle; x = 1; end do; if (e) cycle; x = 2": 1,
    "if (c) cycle outer; x = 1; if (d) cycle other; x = 2": 1,
}
"""Statements of a loop, and how many CYCLEs remain."""


def loop_of(text):
    lines = ["program p", "integer :: i, j, k, x", "logical :: c, d, e", "other: do k = 1, 2", "outer: do i = 1, 2"]
    lines += [*(each.strip() for each in text.split(";")), "end do outer", "end do other", "end program"]
    unit = read_program("\n".join(lines) + "\n", "p.f90").units[0]
    return next(each for each in walk_statements(unit.body) if isinstance(each, s.Do) and each.var == "i")


def done(body, holds):
    """What the statements of an iteration do, and whether a CYCLE ended it."""
    found = []
    for each in body:
        match each:
            case s.Assign(value=value):
                found.append(value.value)
            case s.Cycle(name=name):
                return [*found, f"cycle {name}" if name == "other" else "cycle"]
            case s.Do():
                inner = done(each.body, holds)
                found += inner[:-1] if inner[-1:] == ["cycle"] else inner
            case s.If(branches=branches):
                branch = next((one for one in branches if one.condition is None or holds[one.condition]), None)
                inner = [] if branch is None else done(branch.body, holds)
                found += inner
                if inner and str(inner[-1]).startswith("cycle"):
                    return found
    return found


@pytest.mark.parametrize("text", BODIES)
def test_each_path_does_the_same(text):
    loop = loop_of(text)
    made = without_cycle(loop, loop.body)
    for values in product((False, True), repeat=3):
        holds = dict(zip(map(Var, "cde"), values, strict=True))
        one, other = ([each for each in done(body, holds) if each != "cycle"] for body in (loop.body, made))
        assert one == other
    assert sum(isinstance(each, s.Cycle) for each in walk_statements(made)) == BODIES[text]


def test_deep_nesting_is_not_gone_through_more_than_once():
    text = "; ".join(["if (c) then"] * 40 + ["x = 1", "if (d) cycle", "x = 2"] + ["end if"] * 40)
    loop = loop_of(text)
    made = without_cycle(loop, loop.body)
    assert not any(isinstance(each, s.Cycle) for each in walk_statements(made))
