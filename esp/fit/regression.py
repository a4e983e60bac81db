"""Factors of a machine's quantities from measured times: regression with honest intervals.

The logarithm of a measured time is the logarithm of the predicted one plus an error of standard deviation s: relative
errors count (weighted least squares, M. Clement, chapter 5). The prediction is not linear in the factors: processors
wait for the last, and overlap takes maxima. So it is linearised at the latest factors until they stay (Gauss and
Newton). The logarithms of the factors have a normal prior around 0, the machine as it was described: quantities of the
node, and those of the network, differ from it together by much and from each other by less. It keeps factors above 0
and takes the place of ridge: what the runs do not determine stays as it was, with an interval that says so.

Covariances are those of the posterior. Left out one number of processors after the other, and one program after the
other, the runs say by how much larger errors of predictions are than it says; intervals are widened by that.
"""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Model = Callable[[Floats], tuple[Floats, Floats]]
"""(G,) logarithms of factors -> (R,) logarithms of predicted times, and (R, G) their derivatives."""

TOGETHER = 3.0
"""Standard deviation of the logarithm of what the quantities of the node, or those of the network, have in common."""
APART = 0.7
"""The same of what each has for itself: a factor of two."""

LEAST_ERROR = 1e-4
"""Standard deviation of relative errors below which nothing is left to explain."""

ROUNDS = 30
CLOSE = 1e-4
"""Square of the last step in standard deviations, and relative change of the error, from which on nothing changes."""
_HALVED = 6
"""How often a step is halved that makes the fit worse."""
_SETTLED = 0.01
"""Relative change of the error in a round below which it stays."""
_STRIDE = 1.5
"""The logarithm of a factor changes at most by so much in a round."""


class LeftOut(Struct, frozen=True, kw_only=True):
    """Predictions of runs from all others. `kind`: ``procs`` or ``program``; `left`: which runs were left out."""

    kind: str
    left: str
    runs: int
    errors: tuple[float, ...]
    """Relative errors of the predictions of these runs."""
    spread: float
    """Mean of the squared errors in units of their standard deviations."""


class Factors(Struct, frozen=True, kw_only=True, eq=False):
    """What `factors_of` finds; G quantities, R runs."""

    logs: Floats
    """(G,) logarithms of the factors."""
    covariance: Floats
    """(G, G) of them."""
    prior: Floats
    """(G, G) covariance before any run."""
    error: float
    """Standard deviation of the relative error of a run."""
    free: float
    """Degrees of freedom of that error: runs that no quantity explains."""
    fitted: Floats
    """(R,) logarithms of the fitted times."""
    slopes: Floats
    """(R, G) their derivatives."""
    residuals: Floats
    """(R,) logarithm of measured over fitted."""
    leverage: Floats
    """(R,) share of a run in its own fitted time, 0 to 1."""
    validations: tuple[LeftOut, ...] = ()
    rounds: int = 0

    @property
    def widening(self) -> float:
        """By what the standard deviations of predictions are multiplied: what the validations say, at least 1."""
        kinds = {each.kind for each in self.validations}
        means = [
            float(np.average([each.spread for each in of], weights=[each.runs for each in of]))
            for of in ([each for each in self.validations if each.kind == kind] for kind in sorted(kinds))
        ]
        return float(np.sqrt(max([1.0, *means])))

    def deviation(self, slopes: Floats) -> Floats:
        """(N,) standard deviations of logarithms of times with derivatives (N, G): of a run, or of the mean of many."""
        variance = np.einsum("ng,gh,nh->n", slopes, self.covariance, slopes) + self.error**2
        return np.asarray(self.widening * np.sqrt(variance))

    @property
    def learnt(self) -> Floats:
        """(G,) which share of what was not known of a quantity the runs determine: 0 nothing, 1 all."""
        return np.asarray(1.0 - np.sqrt(np.diag(self.covariance) / np.diag(self.prior)))

    @property
    def influence(self) -> Floats:
        """(R,) Cook's distance: by how much all fitted times would change without a run."""
        scaled = self.residuals**2 / (max(1, self.logs.size) * self.error**2)
        return np.asarray(scaled * self.leverage / (1.0 - np.minimum(self.leverage, 0.999)) ** 2)

    @property
    def studentised(self) -> Floats:
        """(R,) residuals in units of their own standard deviations."""
        return np.asarray(self.residuals / (self.error * np.sqrt(np.maximum(1.0 - self.leverage, 1e-3))))


def prior_of(blocks: Sequence[str]) -> Floats:
    """(G, G) covariance of the logarithms of factors before any run; `blocks`: what each quantity is part of."""
    same = np.array([[one == other for other in blocks] for one in blocks], dtype=np.float64)
    return np.asarray(TOGETHER**2 * same + APART**2 * np.eye(len(blocks)))


def factors_of(model: Model, logs: Floats, prior: Floats, kinds: Sequence[tuple[str, Sequence[str]]] = ()) -> Factors:
    """The factors of quantities that explain measured times.

    Args:
        model: what is predicted with some factors.
        logs: (R,) logarithms of the measured times.
        prior: (G, G) covariance of the logarithms of the factors before any run.
        kinds: for the validations: a kind, and for each run to which part of it the run belongs.
    """
    inverse = _inverse(prior)
    found, error = np.zeros(prior.shape[0]), 0.3
    fitted, slopes = model(found)
    rounds = 0
    while True:
        rounds, latest = rounds + 1, error
        error, covariance, step = _solved(slopes, logs - fitted, found, inverse, error)
        settled = step @ np.linalg.solve(covariance, step) < CLOSE and abs(error / latest - 1.0) < _SETTLED
        if settled or rounds == ROUNDS:
            break
        step = step * min(1.0, _STRIDE / max(float(np.abs(step).max()), 1e-300))
        now = _misfit(logs - fitted, found, inverse, error)
        for _ in range(_HALVED):  # where a maximum falls differently, a whole step may lead too far
            trial, its = model(found + step)
            if _misfit(logs - trial, found + step, inverse, error) < now:
                found, fitted, slopes = found + step, trial, its
                break
            step = step / 2.0
        else:
            break
    residuals = logs - fitted
    hat = slopes @ covariance @ slopes.T / error**2
    made = Factors(
        logs=found,
        covariance=covariance,
        prior=prior,
        error=error,
        free=max(1.0, logs.size - float(np.trace(hat))),
        fitted=fitted,
        slopes=slopes,
        residuals=residuals,
        leverage=np.clip(np.diag(hat), 0.0, 1.0),
        rounds=rounds,
    )
    validations = [each for kind, parts in kinds for each in _validated(made, inverse, kind, parts)]
    return structs.replace(made, validations=tuple(validations))


def _misfit(residuals: Floats, logs: Floats, inverse: Floats, error: float) -> float:
    """What the factors minimise: squares of the residuals, and of the distance from the machine as described."""
    return float(residuals @ residuals / error**2 + logs @ inverse @ logs)


def _inverse(of: Floats) -> Floats:
    return np.asarray(np.linalg.inv(of), dtype=np.float64)


def _solved(
    slopes: Floats, residuals: Floats, logs: Floats, inverse: Floats, error: float
) -> tuple[float, Floats, Floats]:
    """The error of a run, the covariance, and the step to better factors; error and step depend on one another."""
    for _ in range(20):
        covariance = _inverse(slopes.T @ slopes / error**2 + inverse)
        step = covariance @ (slopes.T @ residuals / error**2 - inverse @ logs)
        free = max(1.0, residuals.size - float(np.trace(covariance @ slopes.T @ slopes)) / error**2)
        left = residuals - slopes @ step
        latest, error = error, max(LEAST_ERROR, float(np.sqrt(left @ left / free)))
        if abs(error / latest - 1.0) < CLOSE:
            break
    covariance = _inverse(slopes.T @ slopes / error**2 + inverse)
    return error, covariance, covariance @ (slopes.T @ residuals / error**2 - inverse @ logs)


def _validated(made: Factors, inverse: Floats, kind: str, parts: Sequence[str]) -> list[LeftOut]:
    """Each part of the runs predicted from all others, with the derivatives of the whole fit."""
    names = list(dict.fromkeys(parts))
    if len(names) < 2:
        return []
    found, of = [], np.array([names.index(each) for each in parts])
    for at, name in enumerate(names):
        out, kept = of == at, of != at
        slopes = made.slopes[kept]
        covariance = _inverse(slopes.T @ slopes / made.error**2 + inverse)
        step = covariance @ (slopes.T @ made.residuals[kept] / made.error**2 - inverse @ made.logs)
        errors = made.residuals[out] - made.slopes[out] @ step
        variance = np.einsum("ng,gh,nh->n", made.slopes[out], covariance, made.slopes[out]) + made.error**2
        found.append(
            LeftOut(
                kind=kind,
                left=name,
                runs=int(out.sum()),
                errors=tuple(float(each) for each in np.expm1(-errors)),
                spread=float(np.mean(errors**2 / variance)),
            )
        )
    return found
