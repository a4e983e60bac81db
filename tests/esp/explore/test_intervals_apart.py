"""Scenarios that are walked one by one where messages of several operations are followed."""

import numpy as np
import pytest

from esp.api import interpret_stages, load_machine, lower_source, read_source, requested
from esp.explore.interval import interval_of, own_walk

HEAT = """\
program heat
  integer, parameter :: n = 40
  real(8) :: t(n, n), tn(n, n), diff
  integer :: iter
!HPF$ DISTRIBUTE t(BLOCK, *)
!HPF$ ALIGN tn(i, j) WITH t(i, j)
  t = 0.0d0
  tn = t
  do iter = 1, 60
    forall (i = 2:n-1, j = 2:n-1) tn(i, j) = 0.25d0*(t(i-1, j) + t(i+1, j) + t(i, j-1) + t(i, j+1))
    diff = maxval(abs(tn - t))
    t = tn
  end do
  print *, diff
end program heat
"""


@pytest.fixture(scope="module")
def asked():
    return read_source(HEAT), load_machine("cluster-ib"), requested(8)


@pytest.mark.truth
def test_scenarios_have_the_same_times_one_by_one_and_together(asked):
    source, system, request = asked
    stages = lower_source(source, system, request)
    made = interpret_stages(stages, system, request)
    assert made.followed
    assert 4 * made.iterations_walked <= made.iterations
    apart, together = own_walk(stages, system, request, made=made), own_walk(stages, system, request)
    assert (apart.apart, together.apart) == (True, False)
    np.testing.assert_allclose(apart.times_s, together.times_s, rtol=1e-9)
    assert (apart.time_s, apart.error) == pytest.approx((together.time_s, together.error))


def test_who_watches_is_told_of_each_walk(asked):
    source, system, request = asked
    heard = []

    class Ears:
        def begin(self, what):
            heard.append(what)

        def __call__(self, line, done):
            pass

    made = interpret_stages(lower_source(source, system, request), system, request)
    interval_of(source, system, request, watch=Ears(), made=made)
    assert heard[0] == "scenario 1 of 65"
    assert heard[-1] == "scenario 65 of 65"
    heard.clear()
    interval_of(source, load_machine("ipsc860"), request, watch=Ears())
    assert heard == ["32 scenarios with interchange=off", "32 scenarios with interchange=on"]
