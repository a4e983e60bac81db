"""What the simulator does with messages that want the same links: its rule, walked by hand in `circuit`."""

import random
from statistics import median

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.truth.simgrid.circuit import Flight, arrivals, route
from tests.truth.simgrid.platform import IPSC860, gray_nodes, hops
from tests.truth.simgrid.runner import STAGGER_S, simulate, simulate_script


def random_traffic(seed, procs, messages):
    """Non-blocking sends at random times of different sizes, so that no two messages do anything at
    once."""
    chance = random.Random(seed)
    pairs = chance.sample([(a, b) for a in range(procs) for b in range(procs) if a != b], messages)
    sizes = chance.sample(range(8000), messages)
    clock, steps, flights = [0.0] * procs, [], []
    for (source, target), size_bytes in zip(pairs, sizes, strict=True):
        gap_s = chance.random() * 1e-3
        clock[source] += gap_s
        steps += [(source, "charge", 0, gap_s), (source, "isend", target, size_bytes)]
        flights.append(Flight(sent_s=clock[source], source=source, target=target, size_bytes=size_bytes))
        clock[source] += IPSC860.protocol(size_bytes).startup_s
    return flights, steps, clock


@pytest.mark.parametrize("duplex", ["full", "half"])
@pytest.mark.parametrize(
    ("seed", "procs", "messages"),
    [
        *((seed, 8 << seed, 40 << 2 * seed) for seed in range(3)),
        *(pytest.param(s, 8 << s % 3, 40 << 2 * (s % 3), marks=pytest.mark.truth) for s in range(3, 33)),
    ],
)
def test_random_traffic_follows_the_rule_of_circuits(duplex, seed, procs, messages):
    flights, steps, clock = random_traffic(seed, procs, messages)
    expected = arrivals(flights, IPSC860, duplex=duplex)
    free = [f.sent_s + IPSC860.time_s(f.size_bytes, hops(f.source, f.target)) for f in flights]
    assert max(np.array(expected) - free) > 1e-4  # they do meet
    ends = np.array(clock)
    for i in np.argsort(expected):
        f = flights[i]
        steps.append((f.target, "recv", f.source, f.size_bytes))
        ends[f.target] = max(ends[f.target], expected[i])
    result = simulate_script(procs, steps, mapping="natural", duplex=duplex, ties="simulator")
    assert_allclose(result.end_s, ends, rtol=1e-9)


def transpose_error(procs, order, mapping, ties):
    """Relative error of the rule where all send to all, hence many messages at the same instant."""
    size_bytes = 4096
    nodes = gray_nodes([procs]) if mapping == "gray" else range(procs)
    startup_s = IPSC860.protocol(size_bytes).startup_s
    flights = [
        Flight(
            sent_s=(step - 1) * startup_s + step * rank * STAGGER_S,
            source=nodes[rank],
            target=nodes[rank ^ step if order == "xor" else (rank + step) % procs],
            size_bytes=size_bytes,
        )
        for rank in range(procs)
        for step in range(1, procs)
    ]
    expected = max(arrivals(flights, IPSC860))
    simulated = simulate(
        "transpose", procs, bytes=size_bytes, order=order, mapping=mapping, exchange="concurrent", ties=ties
    )
    return abs(expected / simulated.time_s - 1)


@pytest.mark.parametrize("procs", [(4, 8, 16), pytest.param((32, 64), marks=pytest.mark.truth)])
@pytest.mark.parametrize("ties", ["rank", 1])
def test_messages_of_the_same_instant_follow_the_rule_nearly(procs, ties):
    errors = [transpose_error(p, o, m, ties) for p in procs for o in ("xor", "ring") for m in ("natural", "gray")]
    print([round(error, 4) for error in errors])
    assert median(errors) < 0.03
    assert max(errors) < 0.10


def test_routes_go_along_the_lowest_differing_bit_first():
    assert route(0b000, 0b101) == ((0b000, 0b001), (0b001, 0b101))
    assert route(0b101, 0b000) == ((0b101, 0b100), (0b100, 0b000))
    assert route(0b101, 0b100, duplex="half") == route(0b100, 0b101, duplex="half")
    assert route(3, 3) == ()


def test_breaking_ties_costs_next_to_nothing_and_is_repeatable():
    parameters = {"n": 64, "repeat": 3, "point_s": 1e-6, "reduce": "yes"}
    exact = simulate("laplace", 16, ties="simulator", **parameters)
    for ties in ("rank", 0, 7):
        first, second = (simulate("laplace", 16, ties=ties, **parameters) for _ in range(2))
        assert first.end_s.tolist() == second.end_s.tolist()
        assert first.end_s.tolist() != exact.end_s.tolist()
        assert_allclose(first.end_s, exact.end_s, rtol=1e-5)
