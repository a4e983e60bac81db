"""What is told of the messages of an AAU whose executions differ."""

import pytest

import esp

SWEEP = """\
program p
  integer, parameter :: n = 64
  real :: x(n,n)
  integer :: j
!HPF$ DISTRIBUTE x(*,BLOCK)
  x = 1.0
  do j = 2, n
    x(:,j) = x(:,j) - x(:,j-1)
  end do
end program p
"""
"""A column crosses a border of blocks where j - 1 is the last of a block, so the first execution sends nothing."""


def _moves(source, procs):
    found = esp.predict(source, procs=procs)
    (told,) = [each.comm for each in found.aaus if each.comm is not None and each.comm.messages]
    return told


@pytest.mark.parametrize("procs", [2, 4, 8])
def test_executions_without_messages_say_nothing_of_hops_and_sizes(procs):
    """By hand: procs - 1 borders, a column of 64 x 4 B each, and neighbours of a row are so in a cube (Def 14)."""
    told = _moves(SWEEP, procs)
    assert (told.executions, told.messages, told.bytes) == (63, procs - 1, 256 * (procs - 1))
    assert told.sizes == ((256, 1),)
    assert told.hops == 1
    assert told.varies == "messages"


def test_the_hops_are_the_largest_of_all_executions():
    """Ranks 0 to 7 of a row are nodes 0, 1, 3, 2, 6, 7, 5, 4 of the cube: from the last it is one hop to the first,
    which comes first, and three to the third."""
    told = _moves(SWEEP.replace("x(:,j-1)", "x(:,n)"), 8)
    assert told.hops == 3


def test_executions_that_are_alike_vary_in_nothing():
    source = SWEEP.replace("x(:,j) = x(:,j) - x(:,j-1)", "x(:,2:n) = x(:,1:n-1)")
    told = _moves(source, 4)
    assert (told.executions, told.messages) == (63, 63 * 3)
    assert told.varies == ""


def test_sizes_that_shrink_are_said_to_vary():
    source = SWEEP.replace("x(:,j) = x(:,j) - x(:,j-1)", "x(j:n,2:n) = x(j:n,1:n-1)")
    told = _moves(source, 4)
    assert told.bytes == 4 * 3 * sum(64 - j + 1 for j in range(2, 65))
    assert told.varies == "sizes"


def test_an_execution_of_owners_in_order_is_the_whole_loop():
    """Each of the 20 runs of the inner loop crosses 3 borders with one element of 4 B: 60 messages."""
    source = SWEEP.replace("integer :: j", "integer :: i, j").replace("x(*,BLOCK)", "x(BLOCK,*)")
    source = source.replace("do j = 2, n", "do j = 1, 20\n    do i = 2, n")
    source = source.replace("x(:,j) = x(:,j) - x(:,j-1)", "  x(i,j) = x(i,j) - x(i-1,j)\n    end do")
    told = _moves(source, 4)
    assert (told.executions, told.messages, told.bytes) == (20, 60, 240)
    assert (told.sizes, told.varies) == (((4, 3),), "")
