"""Factors from runs whose truth is known: they are found, intervals hold, and what runs do not tell stays unknown."""

import numpy as np
import pytest

from esp.fit.regression import APART, TOGETHER, factors_of, prior_of
from esp.fit.student import half_width

BLOCKS = ("node", "node", "node", "network", "network")
SIZES, PROCS = (64, 96, 128, 192, 256), (1, 2, 4, 8)


def seconds(n, p):
    """What each quantity takes: as an elimination, with a maximum between processors."""
    steps = np.ceil(n / p)
    return np.array(
        [4e-7 * n * n * steps, 1e-7 * n * n * steps, 2e-6 * n * steps, 2e-4 * n * (p > 1), 3e-6 * n * n / p]
    )


PARTS = np.array([seconds(n, p) for n in SIZES for p in PROCS])


def model_of(parts):
    """The logarithms of sums and their derivatives; the larger half of messages is hidden by computation."""

    def model(logs):
        each = parts * np.exp(logs)
        total = each[:, :3].sum(axis=1) + each[:, 3:].sum(axis=1) - 0.3 * np.minimum(each[:, 0], each[:, 4])
        slopes = each.copy()
        first = each[:, 0] <= each[:, 4]
        slopes[:, 0] -= 0.3 * each[:, 0] * first
        slopes[:, 4] -= 0.3 * each[:, 4] * ~first
        return np.log(total), slopes / total[:, None]

    return model


TRUTH = np.log([2.5, 1.4, 0.7, 3.0, 0.5])
PRIOR = prior_of(BLOCKS)


def test_exact_runs_are_explained():
    model = model_of(PARTS)
    found = factors_of(model, model(TRUTH)[0], PRIOR)
    assert found.fitted == pytest.approx(model(TRUTH)[0], abs=1e-4)
    assert found.logs[[0, 3]] == pytest.approx(TRUTH[[0, 3]], abs=0.01)
    assert found.error <= 2e-4
    assert found.rounds < 15


def test_what_no_run_tells_stays_as_it_was():
    """Two quantities that always take the same share of the time cannot be told apart; their sum can."""
    parts = PARTS.copy()
    parts[:, 1] = 0.25 * parts[:, 0]
    model = model_of(parts)
    rng = np.random.default_rng(2)
    found = factors_of(model, model(TRUTH)[0] + 0.02 * rng.standard_normal(len(parts)), PRIOR)
    assert found.logs[0] - found.logs[1] == pytest.approx(0.0, abs=0.35)  # scaled by the same, not one by very much
    assert np.sqrt(found.covariance[1, 1]) > 0.4
    assert found.learnt[3] > 0.9


def test_intervals_hold_as_often_as_they_say():
    """1,000 replicates with 5 % noise: of times that are measured and of others, and of the factors themselves."""
    model, far = model_of(PARTS), model_of(np.array([seconds(n, p) for n, p in ((1024, 32), (512, 64), (96, 6))]))
    rng = np.random.default_rng(7)
    inside, known, widths = [], [], []
    for _ in range(1000):
        truth = rng.multivariate_normal(np.zeros(5), prior_of(BLOCKS) - (TOGETHER**2 - 1.0) * blocks())
        logs = model(truth)[0] + 0.05 * rng.standard_normal(len(PARTS))
        found = factors_of(model, logs, PRIOR)
        quantile = half_width(found.free)
        times, slopes = far(found.logs)
        width = quantile * found.deviation(slopes)
        measured = far(truth)[0] + 0.05 * rng.standard_normal(3)
        inside += list(np.abs(measured - times) <= width)
        known += list(np.abs(truth - found.logs) <= quantile * np.sqrt(np.diag(found.covariance)))
        widths += list(width)
    assert 0.93 <= np.mean(inside) <= 0.97
    assert 0.93 <= np.mean(known) <= 0.97
    assert np.median(widths) < 0.25


def blocks():
    return np.array([[one == other for other in BLOCKS] for one in BLOCKS], dtype=float)


def test_the_prior_is_what_it_says():
    assert np.diag(PRIOR) == pytest.approx(TOGETHER**2 + APART**2)
    assert PRIOR[0, 1] == TOGETHER**2
    assert PRIOR[0, 3] == 0.0


def test_a_model_that_is_wrong_on_more_processors_is_less_sure():
    """Runs on eight processors wait for something that the model does not have."""
    model = model_of(PARTS)
    procs = [str(p) for _ in SIZES for p in PROCS]
    rng = np.random.default_rng(3)
    logs = model(TRUTH)[0] + 0.01 * rng.standard_normal(len(PARTS))
    right = factors_of(model, logs, PRIOR, [("procs", procs)])
    slow = logs + 0.2 * np.array([int(each == "8") for each in procs])
    wrong = factors_of(model, slow, PRIOR, [("procs", procs)])
    assert wrong.error * wrong.widening > 4 * right.error * right.widening
    assert wrong.widening > 1.2
    worst = max(wrong.validations, key=lambda each: each.spread)
    assert worst.left == "8"
    assert max(map(abs, worst.errors)) > 0.1


def test_leaving_out_is_a_fit_without():
    """The derivatives of the whole fit give what a fit of the other runs gives."""
    model = model_of(PARTS)
    procs = [str(p) for _ in SIZES for p in PROCS]
    rng = np.random.default_rng(5)
    logs = model(TRUTH)[0] + 0.03 * rng.standard_normal(len(PARTS))
    whole = factors_of(model, logs, PRIOR, [("procs", procs)])
    out = np.array([each == "4" for each in procs])
    rest = factors_of(model_of(PARTS[~out]), logs[~out], PRIOR)
    errors = np.exp(model_of(PARTS[out])(rest.logs)[0] - logs[out]) - 1.0
    said = next(each for each in whole.validations if each.left == "4")
    assert said.errors == pytest.approx(errors, abs=0.02)


def test_outliers_and_influence():
    model = model_of(PARTS)
    rng = np.random.default_rng(11)
    logs = model(TRUTH)[0] + 0.01 * rng.standard_normal(len(PARTS))
    logs[7] += 0.2
    found = factors_of(model, logs, PRIOR)
    assert int(np.abs(found.studentised).argmax()) == 7
    assert abs(found.studentised[7]) > 3
    assert int(found.influence.argmax()) == 7
    assert found.leverage.sum() == pytest.approx(len(PARTS) - found.free, rel=1e-6)
