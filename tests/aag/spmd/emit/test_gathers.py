"""Index arrays in loops: what they hold moves once where the loop does not change them, and plans of messages are made
once; the node program sends what is predicted."""

import pytest

from aag.pipeline import read_program
from aag.spmd import nodes
from tests.aag.spmd.emit.native import check, emitted, lowered

TEXT = """program gathers
  integer, parameter :: n = 24, m = 50
  real(8) :: x(n), y(m)
  integer :: ix(m), i, k
!hpf$ distribute x(block)
!hpf$ distribute y(block)
!hpf$ distribute ix(cyclic)
  forall (i = 1:n) x(i) = 0.01d0 * i
  forall (i = 1:m) ix(i) = mod(7*i*i + 3*i, n) + 1
  y = 0.0d0
  do k = 1, 5
    forall (i = 1:m) y(i) = y(i) + x(ix(m+1-i))
    forall (i = 1:n) x(i) = 0.5d0 * x(i) + 0.25d0
    {}
  end do
  print *, sum(y)
end program
"""
CHANGE = "forall (i = 1:m) ix(i) = mod(ix(i), n) + 1"


def moved(node_program, *, inside):
    """The arrays that move in loops, or outside of them."""
    every = [each for each in nodes.walk(node_program.body) if isinstance(each, nodes.Communicate)]
    loops = [each for each in nodes.walk(node_program.body) if isinstance(each, nodes.DoNode)]
    within = {id(each) for loop in loops for each in nodes.walk(loop.body)}
    return {each.operation.array for each in every if (id(each) in within) == inside}


@pytest.mark.parametrize(("change", "inside", "outside"), [("", {"x"}, {"ix"}), (CHANGE, {"x", "ix"}, set())])
def test_an_index_array_moves_again_only_where_it_changes(change, inside, outside):
    found = lowered(read_program(TEXT.format(change), "gathers.hpf"), 4)
    assert (moved(found, inside=True), moved(found, inside=False)) == (inside, outside)


@pytest.mark.parametrize("change", ["", CHANGE])
def test_plans_are_made_once(change):
    emission = emitted(lowered(read_program(TEXT.format(change), "gathers.hpf"), 4))
    text = emission.files[f"{emission.name}.f90"]
    made, kept = text.count("call esp_begin("), text.count("(/ 0 /))) return")
    assert made == kept == 2


@pytest.mark.parametrize("change", ["", CHANGE])
@pytest.mark.parametrize("procs", [3, 4])
def test_the_messages_are_those_that_are_predicted(change, procs, native, system):
    check(native, read_program(TEXT.format(change), "gathers.hpf"), system, procs)
