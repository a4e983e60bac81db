"""What is said of branches whose condition cannot be computed."""

import re

import pytest

import esp

BRANCHES = """\
program p
  real :: x(64)
  integer :: m
!HPF$ DISTRIBUTE x(BLOCK)
  call random_number(x)
  m = count(x < 0.5)
  if (m > 40) then
    x = 1.0
  {more}
  end if
end program p
"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", "it holds 50% of the time"),
        ("else\n    x = 0.0", "branch weights 50%, 50%"),
        ("else if (m > 20) then\n    x = 0.0", "branch weights 33%, 33%, none 33%"),
        ("else if (m > 20) then\n    x = 0.0\n  else\n    x = 2.0", "branch weights 33%, 33%, 33%"),
    ],
)
def test_the_weight_of_none_is_said_where_there_is_one(more, told):
    """Where there is an ELSE one of the branches is always taken."""
    (said,) = [
        each.text for each in esp.predict(BRANCHES.format(more=more), procs=4).assumptions if each.code == "branch"
    ]
    assert re.search("assuming (.*)", said).group(1) == told
