"""Scalars after loops of which some iterations are not walked."""

import pytest

import esp

PROGRAM = """program after
integer, parameter :: n = 16
double precision :: c(n)
integer :: i, k, step, q, l
!HPF$ PROCESSORS p(3)
!HPF$ DISTRIBUTE c(BLOCK) ONTO p
q = 0
do step = 1, 4
do k = 1, {trips}
do l = 1, 9
c(2:n) = c(1:n-1)
end do
q = {new}
end do
do k = 1, 6 + q
c(2:n) = c(1:n-1)
end do
end do
end
"""


@pytest.mark.sampled
@pytest.mark.parametrize("trips", [12, 13])
@pytest.mark.parametrize("new", ["mod(q + 1, 3)", "q + 1", "3 - q"])
def test_what_a_loop_changes_is_known_behind_it(trips, new):
    text = PROGRAM.format(trips=trips, new=new)
    mine, walked = esp.predict(text), esp.predict(text, unroll=True)
    assert mine.messages == walked.messages
    assert mine.time_s == pytest.approx(walked.time_s, rel=1e-9)
    assert mine.iterations_walked < walked.iterations_walked
