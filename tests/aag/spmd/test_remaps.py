"""Remappings whose values need not move: which they are, by hand, and that the switch moves them all."""

import pytest

from aag.pipeline import Options, Overrides, lower, read_program
from esp.api import Request, Source
from esp.validate.counts import predicted
from tests.aag.spmd.emit.native import default_machine

HEAD = """program p
  implicit none
  real(8) :: a(16), b(16), s
  integer :: i, k
!hpf$ dynamic a, b
!hpf$ distribute a(block)
!hpf$ distribute b(block)
  a = 1
  b = 2
  read *, s
"""
MOVE = 12
"""Messages of 16 elements from blocks of 4 to every fourth, and back."""
CYCLIC, BLOCK = "!hpf$ redistribute a(cyclic)\n", "!hpf$ redistribute a(block)\n"
READ = "s = s + a(3)\n"
ONE = 3
"""Messages of READ: the others get the element."""
TAIL = "end program\n"


def source(text, procedures=""):
    return read_program(f"{HEAD}{text}{'contains' if procedures else ''}\n{procedures}{TAIL}", "p.hpf")


def sent(text, procedures="", off=frozenset()):
    """Messages without those of READ. That of an element may be redundant, so they all count."""
    off |= {"redundant"}
    counts = predicted(Source(program=source(text, procedures)), default_machine(), Request(procs=4, off=off)).counts
    return sum(number for number, _ in counts.values()) - ONE


def told(text, procedures=""):
    program = lower(source(text, procedures), Overrides(procs=4), 4)
    return [each.message for each in program.notes if each.code == "W281"]


DEAD = "a does not move: it is assigned before it is read"
THERE = "a does not move: its copy in this mapping is still valid"
CASES = {
    "back to what is valid": (CYCLIC + READ + BLOCK + READ, MOVE + 2 * ONE, [THERE], 2 * MOVE + 2 * ONE),
    "assigned between": (CYCLIC + "a = a + 1\n" + BLOCK + READ, 2 * MOVE + ONE, [], 2 * MOVE + ONE),
    "one element assigned between": (CYCLIC + "a(2) = 1\n" + BLOCK + READ, 2 * MOVE + ONE, [], 2 * MOVE + ONE),
    "perhaps assigned between": (CYCLIC + "if (s > 3) a(2) = 1\n" + BLOCK + READ, 2 * MOVE + ONE, [], 2 * MOVE + ONE),
    "assigned as a whole": (CYCLIC + "a = 3\n" + READ, ONE, [DEAD], MOVE + ONE),
    "as a whole, by a section": (CYCLIC + "a(:) = b(4)\n" + READ, 2 * ONE, [DEAD], MOVE + 2 * ONE),
    "from itself": (CYCLIC + "a = a + 3\n" + READ, MOVE + ONE, [], MOVE + ONE),
    "a part of it": (CYCLIC + "a(2:) = 3\n" + READ, MOVE + ONE, [], MOVE + ONE),
    "in one branch": (CYCLIC + "if (s > 3) then\na = 3\nend if\n" + READ, MOVE + ONE, [], MOVE + ONE),
    "in all branches": (CYCLIC + "if (s > 3) then\na = 3\nelse\na = 4\nend if\n" + READ, ONE, [DEAD], MOVE + ONE),
    "read no more": (CYCLIC, 0, [DEAD], MOVE),
    "one after the other": (CYCLIC + BLOCK + CYCLIC + READ, MOVE + ONE, [THERE, THERE], 3 * MOVE + ONE),
    "masked": (CYCLIC + "where (b > 1) a = 3\n" + READ, None, [], None),
    "read by input": (CYCLIC + "read *, a\n" + BLOCK + READ, None, [], None),
    "in a loop that assigns": (
        "do k = 1, 3\n" + CYCLIC + "a = a + 1\n" + BLOCK + "a = a + 1\nend do\n" + READ,
        6 * MOVE + ONE,
        [],
        6 * MOVE + ONE,
    ),
    "in a loop that reads": (
        "do k = 1, 3\n" + CYCLIC + READ + BLOCK + READ + "end do\n",
        MOVE + 3 * ONE + ONE,  # nothing assigns a, so its messages leave the loop
        [THERE],
        6 * MOVE + 6 * ONE,
    ),
    "in a loop that starts anew": (
        "do k = 1, 3\n" + CYCLIC + "a = k\n" + READ + BLOCK + "end do\n",
        3 * ONE,
        [DEAD, DEAD],
        6 * MOVE + 3 * ONE,
    ),
    "after a loop that is left": (
        "do k = 1, 3\na = k\nif (s > 3) exit\n" + CYCLIC + READ + BLOCK + "end do\n" + READ,
        None,
        [THERE],
        None,
    ),
    "the next iteration reads": (
        "do k = 1, 3\n" + READ + CYCLIC + "if (k == 5) cycle\na = k\n" + BLOCK + "end do\n",
        None,
        [],
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_moves(name):
    text, moves, notes, all_moves = CASES[name]
    assert told(text) == notes
    if moves is not None:
        assert sent(text) == moves
    if all_moves is not None:
        assert sent(text, off=frozenset({"remaps"})) == all_moves


USE = "subroutine use(x, t)\nreal(8), intent({}) :: x(16)\nreal(8) :: t\n!hpf$ distribute x(cyclic)\n{}end subroutine\n"


def test_what_two_calls_read_moves_once():
    procedures = USE.format("in", "t = t + x(3)\n")
    calls = "call use(a, s)\ncall use(a, s)\nprint *, s\n"
    assert sent(calls, procedures) == MOVE + 2 * ONE
    assert sent(calls, procedures, frozenset({"remaps"})) == 2 * MOVE + 2 * ONE
    assert told(calls, procedures) == [THERE]


def test_a_call_that_only_assigns_needs_no_remapping_before():
    procedures = USE.format("out", "x = t\n")
    text = CYCLIC + "call use(a, s)\n" + READ
    assert told(text, procedures) == [DEAD]


def test_the_switch():
    node_program = lower(source(CYCLIC), Overrides(procs=4), 4, Options(disabled=frozenset({"remaps"})))
    assert node_program.notes == ()
