"""A given value of a variable that the program computes holds everywhere, as if the source assigned it."""

import re

import pytest

import esp
from aag.diagnostics import SourceError

HEAD = """program p
  integer, parameter :: n = 64
  real :: a(n), x
  integer :: i, k, m
  integer :: l = 12
  real, allocatable :: b(:)
!hpf$ distribute a(block)
"""
BODIES = {
    "twice": """  k = 10
  do i = 1, k
    a = cshift(a, 1)
  end do
  k = 20
  if (k > 7) a = a * 2.0
  a(k:n) = a(1:n-k+1)
""",
    "in a loop": """  k = 0
  do i = 1, 10
    k = k + i
  end do
  do i = 1, k
    a = cshift(a, 1) + 1.0
  end do
""",
    "from data": """  a = 1.0
  x = sum(a)
  k = int(x)
  do i = 1, k
    a = cshift(a, k) + 1.0
  end do
  k = 6
  do i = 1, k
    a = a + 1.0
  end do
""",
    "a size": """  k = 8
  k = k + 5
  allocate (b(k))
  b = 1.0
  do i = 1, k
    b(i) = b(i) + i
  end do
  if (k > 7) a = cshift(a, k)
""",
    "another variable": """  k = 8
  m = 2 * k
  do i = 1, m
    a = cshift(a, 1) + 1.0
  end do
""",
    "an argument": """  k = 4
  call change(k)
  do i = 1, k
    a = cshift(a, 1) + 1.0
  end do
""",
}
TAIL = """contains
  subroutine change(q)
    integer :: q
    integer :: l
    q = q + 20
    l = 3
    do i = 1, l
      a = a + 1.0
    end do
  end subroutine change
end program p
"""


@pytest.mark.sampled
@pytest.mark.parametrize("value", [3, 9])
@pytest.mark.parametrize("what", BODIES)
def test_a_prediction_is_that_of_the_source_with_the_value(what, value):
    text = HEAD + BODIES[what] + TAIL
    written = re.sub(r"^( *[kq] = ).*", rf"\g<1>{value}", text, flags=re.MULTILINE)
    given, other = esp.predict(text, procs=4, k=value), esp.predict(written, procs=4)
    assert given.time_s == pytest.approx(other.time_s, abs=1e-6 * ("int(" in text), rel=0)  # the work is still done
    assert (given.messages, given.bytes) == (other.messages, other.bytes)
    assert given.time_s != esp.predict(text, procs=4, k=value + 1).time_s
    (said,) = [each.text for each in given.assumptions if "as given" in each.text]
    lines = [at for at, line in enumerate(text.splitlines(), 1) if re.match(" *[kq] = ", line)]
    assert said.startswith(f"k = {value} as given, although line")
    assert {int(each) for each in re.findall(r"\d+", said)} - {value} <= {*lines}


def test_the_work_for_a_value_is_still_done():
    text = HEAD + "  a = 1.0\n  k = sum(a)\n  do i = 1, k\n    a = a + 1.0\n  end do\n" + TAIL
    given = esp.predict(text, procs=4, k=7)
    assert given.messages == esp.predict(text, procs=4).messages > 0
    assert given.time_s < esp.predict(text, procs=4).time_s


def test_only_the_variable_of_its_own_unit():
    """`l` of the main program is declared with a value, that of the procedure is another one."""
    text = HEAD + "  call change(k)\n  do i = 1, l\n    a = cshift(a, 1)\n  end do\n" + TAIL
    assert esp.predict(text, procs=4, l=7).time_s == esp.predict(text.replace("l = 12", "l = 7"), procs=4).time_s


MISFITS = [("k", 2.5, "integer"), ("k", True, "integer"), ("l", "a", "integer")]


@pytest.mark.parametrize(("name", "value", "why"), MISFITS)
def test_a_value_of_another_type_is_refused(name, value, why):
    text = HEAD + "  k = 3\n  do i = 1, k + l\n    a = cshift(a, 1)\n  end do\n" + TAIL
    with pytest.raises(SourceError, match=f"E316 .*{name} cannot have this value, it is {why}"):
        esp.predict(text, procs=2, set={name: value})
    assert esp.predict(text, procs=2, set={name: 5.0}).time_s == esp.predict(text, procs=2, set={name: 5}).time_s
