"""What PRINT and READ move: by hand for four processors of 25 elements each."""

import pytest

from aag.ir.evaluate import evaluate_int
from aag.pipeline import Overrides, lower, read_program
from aag.spmd import nodes
from aag.spmd.communication import steps

TEXT = """program p
  real :: a(100), b(10)
  integer :: i
!HPF$ DISTRIBUTE A(BLOCK)
  {statement}
end program p
"""


def lowered(statement):
    program = lower(read_program(TEXT.format(statement=statement), "io.hpf"), Overrides(procs=4), 4)
    (host,) = (each for each in program.body if isinstance(each, nodes.HostIo))
    moves = [each.operation for each in program.body if isinstance(each, nodes.Communicate)]
    amounts = [evaluate_int(each, program.layouts.environment) for each in (host.items, host.bytes, host.spread)]
    return program, amounts, moves


@pytest.mark.parametrize(
    ("statement", "items", "moved"),
    [
        ("print *, a", 100, [25, 25, 25, 25]),
        ("print *, (a(i), i = 1, 100)", 100, [25, 25, 25, 25]),
        ("print *, (a(i), i = 1, 100, 2)", 50, [13, 12, 13, 12]),
        ("print *, a(26:50)", 25, [0, 25, 0, 0]),
        ("print *, ((a(i), b(j), i = 1, 50), j = 1, 2)", 200, [25, 25, 0, 0]),
    ],
)
def test_what_is_printed_is_gathered(statement, items, moved):
    program, (count, size, spread), (gather,) = lowered(statement)
    (call,) = steps(gather, program.layouts, program.layouts.environment)
    assert (count, size, spread) == (items, 17 * items, 0)
    assert call.kind == "gather"
    assert call.elements.tolist() == [moved]


def test_what_is_read_into_a_distributed_array_is_scattered_once():
    program, (count, size, spread), (scatter,) = lowered("read *, a")
    (call,) = steps(scatter, program.layouts, program.layouts.environment)
    assert (count, size, spread) == (100, 1700, 0)
    assert call.kind == "scatter"
    assert call.elements.tolist() == [[25, 25, 25, 25]]
    assert isinstance(program.body[-1], nodes.Communicate)


def test_a_replicated_array_that_is_read_goes_to_all_as_it_lies_in_memory():
    _, amounts, moves = lowered("read *, b")
    assert amounts == [10, 170, 40]
    assert moves == []
