"""The statements about experiments, each with times that obey and times that break it."""

import itertools

import pytest

from esp.reproduce import statements as s

PROCS = ("1", "2", "4", "8")
SIZES = ("16", "32", "64", "128", "256")


class Made:
    """Times from a formula of the labels."""

    def __init__(self, formula, **axes):
        self.axes = axes
        self.found = {
            labels: formula(**dict(zip(axes, labels, strict=True))) for labels in itertools.product(*axes.values())
        }

    def values(self, axis):
        return self.axes[axis]

    def at(self, **labels):
        return self.found[tuple(labels[name] for name in self.axes)]


def scaled(work, message):
    """n points on p processors: work for each point, messages in log2(p) stages."""
    return lambda n, procs: work * int(n) / int(procs) + message * (int(procs).bit_length() - 1)


def distributions(bb, bx, xb):
    return Made(
        lambda n, program: dict(zip((s.BB, s.BX, s.XB), (bb, bx, xb), strict=True))[program] * int(n),
        n=SIZES,
        program=(s.BB, s.BX, s.XB),
    )


def loaded(growth, share):
    return Made(
        lambda procs, load: 1 + share(int(procs)) * growth(int(load.rstrip("%"))),
        procs=("2", "4", "8"),
        load=("0%", "20%", "40%", "60%", "80%"),
    )


def sped(rest):
    return Made(
        lambda procs, processor_speed: rest(int(procs)) + 1 / float(processor_speed[1:]),
        procs=PROCS,
        processor_speed=("x1", "x0.5", "x2", "x4"),
    )


def wired(share):
    return Made(
        lambda procs, bandwidth: 1 + share(int(procs)) / float(bandwidth[1:]),
        procs=("2", "4", "8"),
        bandwidth=("x1", "x0.25", "x0.5", "x2", "x4"),
    )


GOOD = Made(scaled(1.0, 3.0), n=SIZES, procs=PROCS)
FLAT = Made(lambda n, procs: int(n), n=SIZES, procs=PROCS)
FEW = Made(lambda n, procs: int(n) * 10 / int(procs) if n == "16" else int(n), n=SIZES, procs=PROCS)

CASES = [
    (s.within(0.01), distributions(1, 1.009, 1), distributions(1, 1.02, 1)),
    (s.within(0.04, "256"), distributions(1, 1.03, 1), distributions(1, 1, 1.05)),
    (s.columns_before_rows_before_both, distributions(3, 2, 1), distributions(3, 1, 2)),
    (s.columns_before_rows_before_both, distributions(1.99, 2, 1), distributions(1.9, 2, 1)),
    (s.larger_scale_better, GOOD, FEW),
    (s.speed_up_between(4, 8, procs="8", n="256"), GOOD, FLAT),
    (s.fastest_alone("16"), FLAT, GOOD),
    (s.every_doubling_helps("256"), GOOD, Made(scaled(1.0, 99.0), n=SIZES, procs=PROCS)),
    (
        s.slower_beyond("4", "16"),
        Made(scaled(1.0, 3.0), n=SIZES, procs=PROCS),
        Made(scaled(1.0, 1.0), n=SIZES, procs=PROCS),
    ),
    (s.best_system_grows, Made(scaled(1.0, 9.0), n=SIZES, procs=PROCS), FLAT),
    (s.faster_processors_help_less_than_proportionally, sped(lambda p: p / 10), sped(lambda p: -0.1)),
    (s.faster_processors_help_large_systems_less, sped(lambda p: p / 10), sped(lambda p: 1 / p)),
    (s.load_saturates, loaded(lambda l: 1 / (100 - l), lambda p: 1), loaded(lambda l: l**0.5, lambda p: 1)),
    (s.load_saturates, loaded(lambda l: l * l, lambda p: 1), loaded(lambda l: 0, lambda p: 1)),
    (s.load_changes_large_systems_more, loaded(lambda l: l, lambda p: p), loaded(lambda l: l, lambda p: 1 / p)),
    (s.bandwidth_changes_as_expected, wired(lambda p: 1), wired(lambda p: -0.1)),
    (s.bandwidth_changes_large_systems_more, wired(lambda p: p), wired(lambda p: 1 / p)),
]


@pytest.mark.parametrize(("holds", "obeying", "breaking"), CASES)
def test_statement(holds, obeying, breaking):
    assert holds(obeying)
    assert not holds(breaking)


def phase(name, *, computation_s=0.0, communication_s=0.0, messages=0):
    return s.PhaseProfile(
        name=name,
        first=1,
        last=2,
        time_s=computation_s + communication_s,
        computation_s=computation_s,
        communication_s=communication_s,
        waiting_s=0.0,
        overhead_s=0.0,
        messages=messages,
        bytes=8 * messages,
    )


def phases(one, two):
    return {"phase 1": phase("phase 1", **one), "phase 2": phase("phase 2", **two)}


PHASES = [
    (
        s.shifts_alike,
        ({"communication_s": 7.0}, {"communication_s": 3.0}),
        ({"communication_s": 7.0}, {"communication_s": 7.0}),
    ),
    (
        s.first_computes_more,
        ({"computation_s": 2.0}, {"computation_s": 1.0}),
        ({"computation_s": 1.0}, {"computation_s": 1.0}),
    ),
    (s.second_sends_nothing, ({"messages": 3}, {}), ({"messages": 3}, {"messages": 1})),
    (
        s.first_is_most,
        ({"computation_s": 4.0, "communication_s": 6.0}, {"computation_s": 1.0}),
        ({"computation_s": 6.0, "communication_s": 4.0}, {"computation_s": 1.0}),
    ),
    (
        s.first_is_most,
        ({"computation_s": 4.0, "communication_s": 6.0}, {"computation_s": 1.0}),
        ({"computation_s": 4.0, "communication_s": 6.0}, {"computation_s": 2.0}),
    ),
]


@pytest.mark.parametrize(("holds", "obeying", "breaking"), PHASES)
def test_statement_about_phases(holds, obeying, breaking):
    assert holds(phases(*obeying))
    assert not holds(phases(*breaking))
