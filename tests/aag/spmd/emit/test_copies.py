"""The memory that copies need, against what the node program allocates while it runs."""

import re

import numpy as np
import pytest
from msgspec.structs import replace

from aag.pipeline import Overrides, lower, read_program
from aag.spmd.emit import emit
from aag.spmd.emit.copies import bytes_copied
from tests.aag.spmd.emit.batch import run_emissions

HEAD = """\
program held
  integer, parameter :: n = 24
  double precision :: a(n, n), b(n, n), c(n, n), x(n), y(n)
  integer :: i, j, k, at(n)
!hpf$ processors p({grid})
!hpf$ distribute ({format}) onto p :: a, b, c
!hpf$ align x(i) with a(i, *)
!hpf$ align y(i) with a(i, *)
  forall (i = 1:n, j = 1:n) a(i, j) = i + j
  forall (i = 1:n, j = 1:n) b(i, j) = i - j
  x = 1
"""
ROWS, BLOCKS, COLUMNS, CYCLIC = ("4", "block, *"), ("2, 2", "block, block"), ("4", "*, block"), ("4", "*, cyclic")
STENCIL = "forall (i = 3:n-1, j = 2:n-2) c(i, j) = a(i-2, j) + a(i+1, j-1) + a(i, j+2)"
ELIMINATION = """\
do k = 1, n - 1
    forall (i = k+1:n) a(i, k) = a(i, k) / (a(k, k) + 1)
    forall (i = k+1:n, j = k+1:n) a(i, j) = a(i, j) - a(i, k) * a(k, j)
  end do"""
EXACT = [
    (ROWS, "c = matmul(a, b)"),
    (BLOCKS, "c = matmul(a, b)"),
    (ROWS, STENCIL),
    (BLOCKS, STENCIL),
    (COLUMNS, STENCIL),
    (ROWS, "forall (i = 1:n-9, j = 1:n) c(i, j) = a(i+9, j)"),
    (BLOCKS, "c = transpose(a)"),
    (ROWS, "forall (i = 1:n, j = 1:n) c(i, j) = a(j, i) + b(i, j)"),
    (ROWS, "do k = 1, n\n    forall (i = 1:n) y(i) = y(i) + a(i, k) * x(k)\n  end do"),
    (ROWS, "forall (i = 1:n, j = 1:n) c(i, j) = a(i, j) + a(5, j)"),
]
AT_THEIR_PLACE = [
    (BLOCKS, "c = cshift(a, 1, 1) + cshift(a, -1, 2)"),
    (ROWS, "c = eoshift(a, 8, dim=1)"),
    (CYCLIC, "c = cshift(a, 5, 2)"),
    (CYCLIC, ELIMINATION),
    (("4", "block(8), *"), STENCIL),  # one processor has no elements
    (ROWS, "forall (i = 1:n) at(i) = n + 1 - i\n  forall (i = 1:n) y(i) = x(at(i))"),
]
"""Here the program stores dimensions whole."""


def lowered(case):
    (grid, spread), body = case
    text = HEAD.format(grid=grid, format=spread) + f"  {body}\n  print *, sum(c), sum(y)\nend program held\n"
    return lower(read_program(text, "held.f90"), Overrides(procs=4), 4)


def telling(number, program):
    """A node program that says before its end how much it has allocated of each array at most."""
    emission = emit(program)
    name = f"{emission.name}.f90"
    text = re.sub(
        r"^( *)allocate\((\w+)(\(.*\))\)$",
        r"\g<0>\n\1most_\2 = max(most_\2, storage_size(\2) / 8 * size(\2))",
        emission.files[name],
        flags=re.MULTILINE,
    )
    arrays = [f"most_{each}" for each in dict.fromkeys(re.findall(r"^ *allocate\((\w+)\(", text, re.MULTILINE))]
    text = text.replace("  implicit none\n", f"  implicit none\n  integer :: {' = 0, '.join(arrays)} = 0\n", 1)
    lines = "".join(f"  print '(a,3(1x,i0))', 'allocated', {number}, esp_me, {each}\n" for each in arrays)
    told = text.replace("  call esp_finish()", f"{lines}  call esp_finish()")
    return replace(emission, files={**emission.files, name: told})


def allocated(native, programs):
    """(P,) bytes of distributed arrays and buffers of each program."""
    found = np.zeros((len(programs), 4), np.int64)
    for _ in range(3):  # what processors print at the same moment may be mixed
        found[...] = 0
        ran = run_emissions(native, [telling(number, each) for number, each in enumerate(programs)], 4)
        for told in re.findall(r"allocated (\d+) (\d+) (\d+)", "".join(each.answer for each in ran)):
            number, rank, size = map(int, told)
            found[number, rank] += size
        if found.all():
            break
    return found


def owned(program):
    return sum(each.bytes_held() for each in program.layouts.arrays.values() if each.rank and each.is_distributed)


def test_copies_are_what_the_node_program_allocates(native):
    programs = [lowered(each) for each in EXACT]
    for case, program, held in zip(EXACT, programs, allocated(native, programs), strict=True):
        copies = bytes_copied(program, program.layouts.environment)
        assert copies.max() > 0, case
        np.testing.assert_array_equal(copies, held - owned(program), err_msg=str(case))


def test_the_fullest_processor_of_a_loop_whose_messages_shrink(native):
    """The buffers of all iterations are not looked at, only those of three."""
    program = lowered((BLOCKS, ELIMINATION))
    (held,) = allocated(native, [program])
    copies = bytes_copied(program, program.layouts.environment)
    assert copies.max() == (held - owned(program)).max() > 0


def test_what_is_stored_in_place_needs_no_more_than_the_whole_array(native):
    programs = [lowered(each) for each in AT_THEIR_PLACE]
    for case, program, held in zip(AT_THEIR_PLACE, programs, allocated(native, programs), strict=True):
        copies = bytes_copied(program, program.layouts.environment)
        assert copies.max() > 0, case
        assert (copies <= held - owned(program)).all(), case


@pytest.mark.parametrize(("shift", "cells"), [(1, 1), (-2, 2)])
def test_a_circular_shift_has_an_overlap_area(shift, cells):
    """Also across the edges, where another processor's part follows."""
    program = lowered((ROWS, f"c = cshift(a, {shift}, 1)"))
    assert bytes_copied(program, program.layouts.environment).tolist() == [8 * 24 * cells] * 4
