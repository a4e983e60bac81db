"""The receive law by hand: a send is called at s, the receive at r, the message arrives at a = s + reach (Def 6)."""

import numpy as np
import pytest

from interpreter.receive import arrival_time, busy_time, receive

CASES = {  # s - r, reach, reach on busy links, waiting, transmission
    "the sender is later": (3.0, 5.0, None, 3.0, 5.0),
    "the receiver is later": (-2.0, 5.0, None, 0.0, 3.0),
    "the message was there before": (-7.0, 5.0, None, 0.0, 0.0),
    "a link is busy": (3.0, 5.0, 9.0, 3.0 + 4.0, 5.0),
    "the wait is over before the receiver comes": (-9.0, 5.0, 8.0, 0.0, 0.0),
    "half of the wait is over": (-7.0, 5.0, 9.0, 2.0, 0.0),
    "nobody sends": (-np.inf, -np.inf, None, 0.0, 0.0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_of_single_numbers_and_arrays(case):
    gap, reach, delayed, waiting, transmission = case
    expected = (waiting, transmission, waiting + transmission)
    assert receive(gap, reach, delayed, max) == expected
    some = [None if each is None else np.array([[each]]) for each in (gap, reach, delayed)]
    assert [each.item() for each in receive(*some)] == list(expected)


def test_nothing_that_is_given_changes():
    given = [np.array([[each]]) for each in (3.0, 5.0, 9.0)]
    receive(*given)
    assert [each.item() for each in given] == [3.0, 5.0, 9.0]


def test_a_hidden_transmission():
    """Call overhead 2, transmission 8, of which a quarter is hidden."""
    call, time, f = np.array([[2.0]]), np.array([[10.0]]), np.array([[0.25]])
    assert busy_time(call, time, None).item() == 10.0
    assert busy_time(call, time, f).item() == 2.0 + 6.0
    assert arrival_time(call, time, f, np.array([[-1.0]])).item() == 2.0 + 6.0
    passed = 4.0  # of the transmission, when the receiver comes: it pays three quarters of the rest
    arrival = arrival_time(call, time, f, np.array([[passed]])).item()
    assert arrival - (2.0 + passed) == 0.75 * 4.0
