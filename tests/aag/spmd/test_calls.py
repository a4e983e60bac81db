"""A procedure whose source is not read may change every array: what was sent before a call is sent again after it."""

from aag.pipeline import Overrides, lower, read_program
from aag.spmd.nodes import Communicate, DoNode, walk
from aag.spmd.program import Options

PROGRAM = """\
program p
  real :: a(16), b(16)
  external :: work
!hpf$ processors q(4)
!hpf$ distribute a(block) onto q
!hpf$ align b(i) with a(i)
{}
end program p
"""
SHIFT = "  forall (i = 2:16) b(i) = a(i-1)\n"


def nodes_of(body):
    program = read_program(PROGRAM.format(body), "p.hpf")
    return lower(program, Overrides(procs=4), 4, Options()).body


def shifts(body):
    return sum(isinstance(node, Communicate) for node in walk(nodes_of(body)))


def test_a_message_after_a_call_is_sent_again():
    assert shifts(SHIFT + SHIFT) == 1
    assert shifts(SHIFT + "  call work\n" + SHIFT) == 2


def test_a_message_stays_in_a_loop_with_a_call():
    for call, inside in (("", 0), ("  call work\n", 1)):
        nodes = nodes_of(f"  do k = 1, 3\n{SHIFT}{call}  end do\n")
        (loop,) = (node for node in nodes if isinstance(node, DoNode))
        assert sum(isinstance(node, Communicate) for node in loop.body) == inside
