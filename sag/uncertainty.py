"""How sure the figures of a machine are, as scenarios (Def 19).

The range of a figure is the span from 5 to 95 % of a log-uniform quantity. Quantities are independent, but figures of
one group are one quantity: they move together through their ranges. Each quantity takes the midpoints of 64 equal
strata, in an order that its own name decides. So the scenarios of a figure are the same whatever else is uncertain.
Groups of one fit vary with its covariance instead of in their ranges.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from sag.joint import JointFit, normal_scores
from sag.quantities import Change, make_change
from sag.scenario import Scenario
from sag.unit import Figure, System
from sag.values import WhatIf, settable, short_path

Array = NDArray[np.float64]

SCENARIOS = 64
"""How many there are."""

AS_GIVEN = SCENARIOS
"""Number of the one in which each figure has the value that is given."""

TAIL = 0.05
"""What lies below a range, and above it."""


def quantiles(name: str) -> Array:
    """(SCENARIOS,) where the quantity of this name lies between its smallest (0) and largest (1) value."""
    order = sorted(range(SCENARIOS), key=lambda at: blake2b(f"{name} {at}".encode()).digest())
    return (np.array(order, dtype=np.float64) + 0.5) / SCENARIOS


def factors(figure: Figure, quantity: str) -> Array:
    """(SCENARIOS,) values of a figure in units of the one that is given."""
    low, high = figure.spread or (figure.value, figure.value)
    span = (quantiles(quantity) - TAIL) / (1.0 - 2.0 * TAIL)
    found: Array = low / figure.value * (high / low) ** span
    return found


def joint_factors(fit: JointFit) -> dict[str, Array]:
    """Group -> (SCENARIOS,) factors that vary together as a fit says.

    They are normal, so that what groups have only together, such as the time of a run, stays as sure as the fit has it,
    but for those below a half, which stay above 0.
    """
    scores = np.array([normal_scores(quantiles(each)) for each in fit.groups])
    change = fit.root @ scores
    drawn = np.where(change >= -0.5, 1.0 + change, 0.5 * np.exp(2.0 * np.minimum(change, 0.0) + 1.0))
    return dict(zip(fit.groups, drawn, strict=True))


def uncertain(system: System) -> dict[str, Figure]:
    """Path -> figure, for those that have a range and that a prediction depends on."""
    keys = settable(system)
    return {
        path: each
        for path, each in system.parameters().items()
        if isinstance(each, Figure) and each.spread is not None and keys[path].swept and keys[path].exported
    }


def uncertain_scenario(system: System, wanted: Scenario, which: Sequence[int]) -> Scenario:
    """The scenario with some of the 64 values of each uncertain figure, or `AS_GIVEN`.

    What a setting gives outright is sure; what it scales stays as unsure as it is.
    """
    given: dict[str, WhatIf] = {short_path(system, path): change for path, change in wanted.sets}
    joint = {} if system.fit is None else joint_factors(system.fit)
    for path, figure in uncertain(system).items():
        own = joint[figure.group] if figure.group in joint else factors(figure, figure.group or path)
        drawn = np.append(own, 1.0)[list(which)]
        if path in given:
            change = make_change(given[path], figure.dimension, plain_is_factor=False)
            if not change.is_factor:
                continue
            drawn = change.amount * drawn
        given[path] = Change(is_factor=True, amount=drawn, text=f"{drawn.size} scenarios")
    return replace(wanted, sets=tuple(given.items()))
