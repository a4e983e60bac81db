"""Messages that an earlier one makes redundant, although other arrays want them: they live in the same places."""

import pytest

from aag.pipeline import Overrides, lower, read_program
from aag.spmd.nodes import Communicate, DoNode, walk
from aag.spmd.program import Options

TEXT = """\
program p
integer, parameter :: n = 16
real :: a(n, n), c({shape})
integer :: i, j, k
!hpf$ processors prc(4)
!hpf$ distribute a(*, block) onto prc
!hpf$ {mapping}
do k = 1, n
  do j = k + 1, n - 1
    do i = 1, n
      c({subscripts}) = a(i, k) * 2
    end do
  end do
  do j = k + 1, n - 1
    do i = 1, n
      a(i, j) = a(i, j) + a(i, k)
    end do
  end do
end do
print *, a(1, n), c({first})
end program
"""

CASES = {
    "aligned": ("n, n", "align c(i, j) with a(i, j)", "i, j", "1, 1", 1),
    "by another column": ("n, n", "align c(i, j) with a(i, j)", "k, j", "1, 1", 1),
    "transposed": ("n, n", "align c(j, i) with a(i, j)", "j, i", "1, 1", 1),
    "of another rank": ("n", "align c(j) with a(*, j)", "j", "1", 1),
    "distributed by itself": ("0:n - 1, n", "distribute c(*, block) onto prc", "i - 1, j", "1, 1", 1),
    "another format": ("n, n", "distribute c(*, cyclic) onto prc", "i, j", "1, 1", 2),
    "the other dimension": ("n, n", "align c(i, j) with a(i, j)", "j, i", "1, 1", 2),
    "shifted": ("n, n - 1", "align c(i, j) with a(i, j + 1)", "i, j", "1, 2", 2),
}


@pytest.mark.parametrize("case", CASES)
def test_messages_for_arrays_in_the_same_places(case):
    shape, mapping, subscripts, first, expected = CASES[case]
    text = TEXT.format(shape=shape, mapping=mapping, subscripts=subscripts, first=first)
    body = lower(read_program(text, "p.hpf"), Overrides(procs=4), 4, Options()).body
    loop = next(each for each in body if isinstance(each, DoNode))
    assert sum(isinstance(each, Communicate) for each in walk(loop.body)) == expected
