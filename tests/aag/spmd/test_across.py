"""Reductions across loops whose owners take turns: one combination, after the outermost loop."""

import pytest

from aag.pipeline import Options, Overrides, lower, read_program
from aag.spmd.nodes import Combine, Communicate, DoNode, Nest, OwnedLoop, walk

SWEEP = """program sweep
  integer, parameter :: n = 16
  real(8) :: u(n, n), w(n, n), err, r, total
  integer :: i, j, c
!hpf$ processors p({grid})
!hpf$ distribute ({formats}) onto p :: u, w
  err = 0
  total = 0
  c = 0
  do j = 2, n - 1
    do i = 2, n - 1
{body}
    end do
  end do
  print *, err, total, c
end program
"""
NEW = "0.25d0*(u(i+1, j) + u(i-1, j) + u(i, j+1) + u(i, j-1)) - u(i, j)"
SCALAR = [f"r = {NEW}", "u(i, j) = u(i, j) + 1.7d0*r"]
BODIES = {
    "maximum": [*SCALAR, "err = max(err, abs(r))"],
    "if": [*SCALAR, "if (abs(r) > err) err = abs(r)"],
    "before": [SCALAR[0], "err = max(err, abs(r))", SCALAR[1]],
    "array": [f"w(i, j) = {NEW}", "u(i, j) = u(i, j) + 1.7d0*w(i, j)", "err = max(err, abs(w(i, j)))"],
    "old": ["r = u(i, j)", f"u(i, j) = r + ({NEW})", "total = total + abs(u(i, j) - r)"],
    "two": [*SCALAR, "err = max(err, abs(r))", "total = total + r"],
}
MAPPINGS = (("block, *", "4"), ("*, block", "4"), ("block, block", "2, 2"), ("cyclic, *", "4"))


def lowered(body, formats="block, block", grid="2, 2"):
    text = SWEEP.format(body="\n".join(f"      {each}" for each in body), formats=formats, grid=grid)
    return lower(read_program(text, "sweep.hpf"), Overrides(procs=4), 4, Options())


@pytest.mark.parametrize(("formats", "grid"), MAPPINGS)
@pytest.mark.parametrize("name", BODIES)
def test_one_combination_after_the_loops(name, formats, grid):
    program = lowered(BODIES[name], formats, grid)
    reduced = 2 if name == "two" else 1
    combined = [each for each in program.body if isinstance(each, Combine)]
    assert len(combined) == reduced == sum(isinstance(each, Combine) for each in walk(program.body))
    (loop,) = (each for each in program.body if isinstance(each, DoNode | OwnedLoop))
    assert any(isinstance(each, OwnedLoop | Nest) for each in walk([loop]))


@pytest.mark.parametrize(
    "body",
    [
        [*SCALAR, "err = max(err, abs(r))", "u(i, j) = u(i, j) + err"],  # the sweep reads what it reduces
        [*SCALAR, "total = total * 0.5d0 + r"],  # no reduction
    ],
)
def test_what_is_read_inside_is_not_reduced_in_parts(body):
    assert not any(isinstance(each, Combine) for each in walk(lowered(body).body))


def test_a_count_costs_no_message():
    program = lowered([*SCALAR, "c = c + 1"])
    assert not any(isinstance(each, Combine) for each in walk(program.body))
    assert any(isinstance(each, Communicate) for each in walk(program.body))
