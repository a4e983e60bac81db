"""RANDOM_NUMBER and RANDOM_SEED: each processor draws what it owns, and a prediction with them is whole."""

import pytest

import esp

TEXT = """\
program p
  integer, parameter :: n = 24
  double precision :: a(n), b(n), x
!hpf$ distribute a(block)
  call random_seed()
  call random_number(a)
  call random_number(b)
  call random_number(x)
  call random_number(a(2:n:2))
end program
"""


def calls(procs):
    """Line -> the longest computation of a processor, in calls of a library procedure."""
    found = esp.predict(TEXT, procs=procs)
    assert found.complete
    longest = {each.line: each.max_s for each in found.lines}
    return {line: longest[line] / longest[5] for line in range(5, 10)}, found


@pytest.mark.parametrize("procs", [1, 2, 4])
def test_every_owner_draws_its_elements(procs):
    found, prediction = calls(procs)
    share = 24 // procs
    # Loop control and a store come to each call.
    assert share <= found[6] <= 2.5 * share
    assert 24 <= found[7] <= 2.5 * 24
    assert 1.0 <= found[8] <= 1.5
    assert share / 2 <= found[9] <= 2.5 * share / 2
    assert prediction.messages == 0
