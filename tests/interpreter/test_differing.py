"""Loops whose iterations differ: misses counted in some iterations, held against those of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import esp
from interpreter.errors import InterpretationError
from interpreter.models import listing
from interpreter.models.differing import ACCURACY, Counted, MissRecorder, sampled

TRIPS, PERIOD = 1000, 4
TRIANGLE = np.arange(TRIPS, 0, -1.0) ** 2


def _interpolated(share, refills=True, keys=lambda number: ("nest",)):
    """Misses of each iteration as they are interpolated, and the iterations that were replayed, where the share of the
    trips that misses is `share(number)`."""
    replayed = []

    def replay(number, state):
        replayed.append(number)
        one = np.array([TRIANGLE[number]])
        counted = [Counted((key,), one, (one * share(number))[:, None]) for key in keys(number)]
        return MissRecorder(counted, 1.0 if refills else 0.0, PERIOD), state

    found = sampled(TRIPS, 0, replay)
    if found is None:
        return None, replayed
    nests = [
        found.counted(number, 0, keys(number)[:1], np.array([TRIANGLE[number]])) if keys(number) else None
        for number in range(TRIPS)
    ]
    return np.array([0.0 if each is None else each.figures.sum() for each in nests]), replayed


def _exact(share):
    return np.array([TRIANGLE[number] * share(number) for number in range(TRIPS)])


SHARES = {
    "the same": lambda number: 0.25,
    "smooth": lambda number: 0.2 + 0.3 * np.exp(-number / 300),
    "begins to fit": lambda number: 0.5 if number < 371 else 0.01,
    "a bend": lambda number: 0.5 - 0.001 * min(number, 333),
    "places in a line": lambda number: 0.25 + 0.05 * (number % PERIOD == 1),
    "the first differs": lambda number: 0.9 if number == 0 else 0.3,
}


@pytest.mark.parametrize("share", SHARES.values(), ids=SHARES)
def test_the_sum_is_that_of_all_iterations_from_few_of_them(share):
    found, replayed = _interpolated(share)
    assert found.sum() == pytest.approx(_exact(share).sum(), rel=ACCURACY)
    assert len(replayed) < TRIPS / 5


def test_a_size_that_begins_to_fit_is_bracketed():
    found, _ = _interpolated(SHARES["begins to fit"])
    wrong = np.flatnonzero(~np.isclose(found, _exact(SHARES["begins to fit"])))
    assert wrong.size < 3 * PERIOD
    assert (np.abs(wrong - 371) < 3 * PERIOD).all()


def test_where_another_nest_is_reached_nothing_is_interpolated():
    def keys(number):
        return ("nest",) if number < 617 else ("other",)

    found, _ = _interpolated(SHARES["smooth"], keys=keys)
    assert found.sum() == pytest.approx(_exact(SHARES["smooth"]).sum(), rel=ACCURACY)
    np.testing.assert_allclose(found[600:640], _exact(SHARES["smooth"])[600:640], rtol=0.01)


def test_iterations_that_never_refill_the_cache_are_all_counted():
    assert _interpolated(SHARES["smooth"], refills=False)[0] is None


def test_where_shares_are_random_nearly_always_all_iterations_are_counted():
    shares = [np.random.default_rng(seed).random(TRIPS) for seed in range(12)]
    given_up = [_interpolated(lambda number, share=share: share[number])[0] is None for share in shares]
    assert sum(given_up) >= 8


KINDS = {
    "elimination": "forall (i = k+1:n, j = k+1:n) a(i, j) = a(i, j) - a(i, k) * a(k, j)",
    "serial elimination": "do j = k+1, n\n do i = k+1, n\n a(i, j) = a(i, j) - a(i, k) * a(k, j)\n end do\n end do",
    "triangle": "do j = k+1, n\n do i = j, n\n a(i, j) = a(i, j) - a(i, k) * a(j, k)\n end do\n end do",
    "grows": "forall (i = 1:k, j = 1:k) a(i, j) = b(i, j) + a(i, j)",
    "columns": "forall (i = k+1:n) a(i, k) = a(i, k) / a(k, k)",
    "rows": "forall (j = k+1:n) a(k, j) = b(k, j) + 1.0d0",
    "two": "forall (i = k+1:n, j = k+1:n) b(i, j) = a(i, j)\n forall (i = 1:n, j = 1:k) a(i, j) = b(i, j)",
}


CASES = st.tuples(
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(["(*,cyclic)", "(*,block)", "(block,*)"]),
    st.integers(257, 300),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([4, 8, 16, 64]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["lru", "random"]),
)


def _check(kind, distribution, n, procs, kilobytes, ways, replacement):
    text = f"""program p
      integer, parameter :: n = {n}
      double precision :: a(n, n), b(n, n)
      integer :: i, j, k
!HPF$ DISTRIBUTE {distribution} :: a, b
      do k = 1, n - 1
        {KINDS[kind]}
      end do
      end program
    """
    memory = "cube.node.memory."
    machine = {
        f"{memory}cache_size": f"{kilobytes} KB",
        f"{memory}associativity": ways,
        f"{memory}replacement": replacement,
    }
    found, exact = (esp.predict(text, procs=procs, system_set=machine, unroll=unroll) for unroll in (False, True))
    assert found.time_s == pytest.approx(exact.time_s, rel=ACCURACY)
    assert found.messages == exact.messages
    missed, all_missed = (sum(each.misses for each in one.aaus) for one in (found, exact))
    assert missed == pytest.approx(all_missed, rel=3 * ACCURACY)


def test_scalars_that_decide_nothing_do_not_hinder():
    """Those of a sweep that decide neither which elements it reaches nor how often."""
    found = esp.predict("householder", procs=2, set={"n": 257}, io=False)
    (said,) = (each.text for each in found.assumptions if each.code == "cache" and "interpolated" in each.text)
    assert " of 257 iterations and interpolated" in said


@pytest.mark.truth
def test_a_prediction_is_that_in_which_each_iteration_is_counted():
    _check("elimination", "(*,cyclic)", 280, 2, 8, 2, "random")


@pytest.mark.truth
@settings(max_examples=15, deadline=None)
@given(CASES)
def test_predictions_are_those_in_which_each_iteration_is_counted(case):
    _check(*case)


def test_a_loop_with_too_many_iterations_is_refused_before_misses_are_counted(monkeypatch):
    def looked_at(*_):
        raise AssertionError

    monkeypatch.setattr(listing, "_streams", looked_at)
    with pytest.raises(InterpretationError, match="E506"):
        esp.predict("cholesky", procs=8, set={"n": 1_000_000})


def test_references_beyond_the_allowance_are_taken_to_have_one_stride(monkeypatch):
    text = "cache misses: assuming each reference has the same stride in all iterations"
    whole = esp.predict("cholesky", procs=4, set={"n": 60})
    assert not [each for each in whole.assumptions if each.text == text]
    monkeypatch.setattr(listing, "LISTED", 10_000)
    less = esp.predict("cholesky", procs=4, set={"n": 61})
    assert [each for each in less.assumptions if each.text == text]
    assert less.time_s == pytest.approx(whole.time_s, rel=0.15)
