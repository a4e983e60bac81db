"""What PRINT and READ move: by hand for four processors of 25 elements each."""

import pytest

from aag.ir.evaluate import evaluate_int
from aag.pipeline import Overrides, lower, read_program
from aag.spmd import nodes
from aag.spmd.communication import steps

TEXT = """program p
  real :: a(100), b(10), x
  integer :: i, j
!HPF$ DISTRIBUTE A(BLOCK)
  {statement}
end program p
"""


def lowered(statement):
    program = lower(read_program(TEXT.format(statement=statement), "io.hpf"), Overrides(procs=4), 4)
    (host,) = (each for each in program.body if isinstance(each, nodes.HostIo))
    moves = [each.operation for each in program.body if isinstance(each, nodes.Communicate)]
    sizes = (host.items, host.bytes, *(each.bytes for each in host.shared))
    return program, [evaluate_int(each, program.layouts.environment) for each in sizes], moves


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
    program, amounts, (gather,) = lowered(statement)
    ((call,),) = steps(gather, program.layouts, program.layouts.environment)
    assert amounts == [items, 17 * items]
    assert call.kind == "gather"
    assert call.elements.tolist() == [moved]


def test_what_is_read_into_a_distributed_array_is_scattered_once():
    program, amounts, (scatter,) = lowered("read *, a")
    ((call,),) = steps(scatter, program.layouts, program.layouts.environment)
    assert amounts == [100, 1700]
    assert call.kind == "scatter"
    assert call.elements.tolist() == [[25, 25, 25, 25]]
    assert isinstance(program.body[-1], nodes.Communicate)


@pytest.mark.parametrize(
    ("statement", "amounts"),
    [
        ("write (20) a", [0, 400]),
        ("write (unit=20, rec=3) a, x", [0, 404]),
        ("read (20) b", [0, 40, 40]),
        ("write (20, *) a", [100, 1700]),
        ("write (20, fmt='(5e12.4)') b", [10, 170]),
        ("write (20, 30) x\n30 format (f8.2)", [1, 17]),
    ],
)
def test_unformatted_output_has_the_bytes_of_memory_and_formats_nothing(statement, amounts):
    assert lowered(statement)[1] == amounts


def test_a_replicated_array_that_is_read_goes_to_all_as_it_lies_in_memory():
    _, amounts, moves = lowered("read *, b")
    assert amounts == [10, 170, 40]
    assert moves == []


def test_a_nest_of_reads_is_read_whole_and_scattered_once():
    inner = "do j = 1, 10\n read (3, *) a(10*i + j - 10), x\n end do"
    nest = f"do i = 1, 10\n {inner}\n read (3, *) b(i)\n end do"
    program, amounts, (scatter,) = lowered(nest)
    ((call,),) = steps(scatter, program.layouts, program.layouts.environment)
    assert amounts == [210, 210 * 17, 4 + 40]
    assert call.elements.tolist() == [[25, 25, 25, 25]]
    (host,) = (each for each in program.body if isinstance(each, nodes.HostIo))
    assert evaluate_int(host.records, {}) == 110
    assert {"a", "b", "x", "i", "j"} <= host.defines


@pytest.mark.parametrize(
    "nest",
    [
        "do i = 1, 10\n read (3, *) a(i)\n b(i) = a(i)\n end do",
        "do i = 1, 10\n read (3, *) j, a(j)\n end do",
        "do i = 1, 10\n read (3, *) a(i)\n read (4, *) b(i)\n end do",
        "do i = 1, 10\n read (3, *, iostat=j) a(i)\n end do",
        "do i = 1, 10\n read (3, *) x\n if (x > 1.0) exit\n end do",
    ],
)
def test_a_read_that_others_depend_on_communicates_each_time(nest):
    program = lower(read_program(TEXT.format(statement=nest), "io.hpf"), Overrides(procs=4), 4)
    (loop,) = (each for each in program.body if isinstance(each, nodes.DoNode))
    assert any(isinstance(each, nodes.HostIo) for each in loop.body)


def test_all_copies_of_what_is_read_get_it():
    text = (
        "program p\nreal :: r(8)\n!hpf$ processors g(2, 2)\n!hpf$ template t(8, 8)\n!hpf$ align r(i) with t(i, *)\n"
        "!hpf$ distribute t(block, block) onto g\nread *, r\nend program p\n"
    )
    program = lower(read_program(text, "io.hpf"), Overrides(procs=4), 4)
    (scatter,) = (each.operation for each in program.body if isinstance(each, nodes.Communicate))
    ((call,),) = steps(scatter, program.layouts, program.layouts.environment)
    assert call.elements.tolist() == [[4, 4, 4, 4]]
