"""What the counts of a formula are paid for, and what a formula lacks of a prediction."""

from collections.abc import Mapping, Sequence

import numpy as np

from esp import api
from esp.formulas.formula import TERMS, Expression, FormulaTerm, Outside, term_of
from esp.formulas.trials import Trials
from interpreter.counts import Paid
from interpreter.result import Result
from interpreter.symbolic.across import ScaleNames
from interpreter.symbolic.counting import counts_by_key
from interpreter.symbolic.polynomial import Poly, poly
from interpreter.symbolic.sampled import Key
from sag.figures import figures_of

UNSEEN_S = 1e-12
"""Seconds that are not worth a line."""


def terms_of(
    trials: Trials, counts: Mapping[Key, Sequence[Poly]], slowest: int, names: ScaleNames | None = None
) -> tuple[FormulaTerm, ...]:
    """What some AAUs pay together; `counts` of each processor, `slowest` the number of the one that is shown."""
    figures = figures_of(trials.machine)
    order = {each: number for number, each in enumerate(figures)}
    totals: dict[tuple[str, int], list[Poly]] = {}
    for key, own in counts.items():
        known = totals.setdefault(key[1:], [poly(0)] * len(own))
        totals[key[1:]] = [mine + more for mine, more in zip(known, own, strict=True)]
    kept = {key: each for key, each in totals.items() if any(one.terms for one in each)}
    return tuple(
        FormulaTerm(
            term=term_of(figure),
            name=figure,
            figure=figures[figure].path,
            unit=figures[figure].unit,
            paid=Paid(paid).name.lower(),
            seconds=float(figures[figure].seconds[0]),
            count=Expression(own[slowest], trials.free, names),
            counts=tuple(own),
        )
        for (figure, paid), own in sorted(
            kept.items(), key=lambda each: ([*TERMS].index(term_of(each[0][0])), each[0][1], order[each[0][0]])
        )
    )


def outside_of(
    trials: Trials, prediction: api.Prediction, result: Result, missing: Mapping[Key, str], slowest: int, time_s: float
) -> tuple[Outside, ...]:
    """What a formula lacks of the time of a processor; `time_s`: what it gives; `result`: without cache misses;
    `missing`: counts that it lacks, and why."""
    figures = figures_of(trials.machine)
    lacking: dict[tuple[int, str, str], float] = {}
    for key, each in counts_by_key(result.counts).items():
        if key in missing:
            place = key[0], key[1], missing[key]
            lacking[place] = lacking.get(place, 0.0) + float(each[slowest]) * float(figures[key[1]].seconds[0])
    with_cache, without = prediction.per_processor, result.per_processor
    computed_s = _of(without.computation_s, slowest) + _of(without.overhead_s, slowest)
    cache_s = _of(with_cache.computation_s, slowest) + _of(with_cache.overhead_s, slowest) - computed_s
    spent_s = computed_s + _of(with_cache.communication_s, slowest)
    told = [
        Outside(what="waiting", why="maxima decide who waits", time_s=_of(with_cache.waiting_s, slowest)),
        Outside(what="cache misses", why="their law has no closed form", time_s=cache_s),
        Outside(
            what="hidden",
            why="overlap and exchanges in both directions hide a part of messages",
            time_s=spent_s - time_s - sum(lacking.values()),
        ),
    ]
    labels = {each.id: each for each in result.aaus}
    for (aau, figure, why), missing_s in sorted(lacking.items()):
        what = f"line {labels[aau].span.line}, {labels[aau].label}: {figures[figure].unit}"
        told.append(Outside(what=what, why=why, time_s=missing_s, line=labels[aau].span.line))
    return tuple(each for each in told if abs(each.time_s) > UNSEEN_S)


def _of(figures: object, processor: int) -> float:
    """The figure of a processor, first scenario."""
    return float(np.atleast_2d(np.asarray(figures, dtype=np.float64))[0, processor])
