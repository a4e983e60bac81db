"""Messages that meet on links, against an event simulation that knows messages one by one."""

import heapq

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from interpreter.models import circuits
from interpreter.setting import Setting
from sag.topology import Bus
from tests.interpreter.hand import US, Hand, additive, law, machine, phase


def links_of(source, target, half):
    here, found = source, []
    while here != target:
        bit = (here ^ target) & -(here ^ target)
        there = here ^ bit
        found.append((min(here, there), max(here, there)) if half else (here, there))
        here = there
    return found


def simulate(procs, messages, begin, half):
    """Arrival of messages (source, destination, bytes) that are sent at `begin[source]`: first come, first served; a
    waiting message starts as soon as its whole route is free."""
    node = [rank ^ (rank >> 1) for rank in range(procs)]
    events, flights = [], []
    for number, (source, destination, size) in enumerate(messages):
        a, b, c = (65, 0.425, 10) if size <= 100 else (147, 0.39, 30.5)
        route = links_of(node[source], node[destination], half)
        entered = begin[source] + a * US
        flights.append((route, b * size * US, entered))
        heapq.heappush(events, (entered + c * US * len(route), 1, entered, number))
    busy, waiting, arrival = set(), [], {}
    while events:
        now, kind, entered, number = heapq.heappop(events)
        if kind == 0:
            busy.difference_update(flights[number][0])
            arrival[number] = now
        else:
            waiting.append((entered, number))
        if events and abs(events[0][0] - now) < 1e-12:
            continue
        for entered, other in sorted(waiting):
            route, hold, _ = flights[other]
            if busy.isdisjoint(route):
                busy.update(route)
                waiting.remove((entered, other))
                heapq.heappush(events, (now + hold, 0, entered, other))
    return [arrival[number] for number in range(len(messages))]


@st.composite
def traffic(draw):
    procs = draw(st.sampled_from([4, 8, 16]))
    sources = draw(st.lists(st.integers(0, procs - 1), min_size=2, max_size=procs, unique=True))
    targets = draw(st.permutations(range(procs)))
    pairs = [(a, b) for a, b in zip(sources, targets, strict=False) if a != b]
    sizes = draw(st.lists(st.integers(1, 5000), min_size=len(pairs), max_size=len(pairs), unique=True))
    begin = draw(st.lists(st.integers(0, 3000), min_size=procs, max_size=procs, unique=True))
    return procs, [(a, b, size) for (a, b), size in zip(pairs, sizes, strict=True)], begin, draw(st.booleans())


def walk(procs, phases, begin, gaps, half, bus):
    """When each processor ends: in each phase it sends, is busy for the whole law, and receives; `gaps`: what each
    computes before a phase. Whoever can go on first does: at each moment all is tried until nothing moves."""
    node = [rank ^ (rank >> 1) for rank in range(procs)]
    clock, place = list(begin), [0] * procs
    steps = [[] for _ in range(procs)]
    for number, (messages, gap) in enumerate(zip(phases, gaps, strict=True)):
        for rank in range(procs):
            steps[rank].append(("compute", gap[rank]))
        for source, destination, size in messages:
            steps[source].append(("send", (number, source), destination, size))
        for source, destination, _ in messages:
            steps[destination].append(("receive", (number, source)))
    flights, arrival, busy, waiting = {}, {}, {}, []
    coming = []
    while True:
        moved = True
        while moved:
            moved = False
            for rank in range(procs):
                while place[rank] < len(steps[rank]):
                    what, *rest = steps[rank][place[rank]]
                    if what == "compute":
                        clock[rank] += rest[0]
                    elif what == "send":
                        name, to, size = rest
                        a, b, c = (65, 0.425, 10) if size <= 100 else (147, 0.39, 30.5)
                        route = [0] if bus else links_of(node[rank], node[to], half)
                        flights[name] = (route, b * size * US)
                        coming.append((clock[rank] + (a + c * len(route)) * US, clock[rank] + a * US, rank, name))
                        clock[rank] += law(size, len(route))
                    elif rest[0] in arrival:
                        clock[rank] = max(clock[rank], arrival[rest[0]])
                    else:
                        break
                    place[rank] += 1
                    moved = True
        if not coming and not busy:
            return clock
        if busy and (not coming or min(busy.values())[0] < min(coming)[0]):
            now, name = min(busy.values())
            for link in flights[name][0]:
                del busy[link]
                for entered, rank, other in sorted(waiting):
                    if link in flights[other][0] and not any(each in busy for each in flights[other][0]):
                        waiting.remove((entered, rank, other))
                        busy |= dict.fromkeys(flights[other][0], (now + flights[other][1], other))
            arrival[name] = now
        else:
            now, entered, rank, name = min(coming)
            coming.remove((now, entered, rank, name))
            if any(each in busy for each in flights[name][0]):
                waiting.append((entered, rank, name))
            else:
                busy |= dict.fromkeys(flights[name][0], (now + flights[name][1], name))


@st.composite
def run_ahead(draw, most=8, kinds=("half", "bus", "full"), apart=(False, True)):
    """Phases of up to so many messages, on links of these kinds, in operations of their own or in one."""
    procs = draw(st.sampled_from([4, 8]))
    phases, gaps = [], []
    for _ in range(draw(st.integers(2, 5))):
        sources = draw(st.lists(st.integers(0, procs - 1), max_size=min(most, procs), unique=True))
        targets = draw(st.permutations(range(procs)))
        pairs = [(a, b) for a, b in zip(sources, targets, strict=False) if a != b]
        sizes = draw(st.lists(st.integers(16, 3000), min_size=len(pairs), max_size=len(pairs)))
        phases.append([(a, b, size) for (a, b), size in zip(pairs, sizes, strict=True)])
        gaps.append(draw(st.lists(st.integers(0, 900), min_size=procs, max_size=procs)))
    begin = draw(st.lists(st.integers(0, 3000), min_size=procs, max_size=procs, unique=True))
    # fractions of a microsecond that differ, so that no two events coincide
    kind = draw(st.sampled_from(kinds))
    odd = np.random.default_rng(draw(st.integers(0, 99))).random((len(gaps), procs))
    return (
        procs,
        phases,
        begin,
        [list(gap + each) for gap, each in zip(np.array(gaps), odd, strict=True)],
        kind,
        # A sender on a bus is done when its message arrives, so that events coincide where there are no gaps.
        kind == "bus" or draw(st.sampled_from(apart)),
    )


@settings(max_examples=200, phases=[Phase.explicit, Phase.generate])
@given(run_ahead())
def test_phases_are_followed_as_events_do_in_one_operation_and_over_several(case):
    """Messages of a processor that runs ahead meet those of earlier phases; in one operation there are no gaps.

    In a phase without messages nothing happens, as in the iterations of a loop that have none.
    """
    procs, phases, begin, gaps, kind, apart = case
    half, bus = kind == "half", kind == "bus"
    if not apart:
        gaps = [gaps[0], *([0.0] * procs for _ in gaps[1:])]
    hand = Hand(procs)
    steps = [
        phase(*(list(each) for each in zip(*messages, strict=True)) if messages else ([], [], 0), element_bytes=1)
        for messages in phases
    ]
    first = np.add(begin, gaps[0])
    if apart:
        body = [hand.compute(first)]
        for number, step in enumerate(steps):
            body += [hand.compute(gaps[number])] if number else []
            body += [hand.comm(step)]
    else:
        body = [hand.compute(first), hand.comm(*steps)]
    got = hand.run(*body, on=machine(duplex="half" if half else "full", topology=Bus() if bus else None))
    additive(got)
    expected = walk(procs, phases, np.array(begin) * US, np.array(gaps) * US, half, bus)
    np.testing.assert_allclose(got.per_processor.end_s[0], expected, rtol=1e-9)


@settings(max_examples=150, phases=[Phase.explicit, Phase.generate])
@given(run_ahead(most=2, kinds=("full",), apart=(True,)))
@example(
    (
        8,
        [[(4, 2, 392), (7, 1, 179)], [(7, 2, 1446), (6, 3, 468)]],
        [40, 180, 512, 1003, 1596, 2776, 743, 923],
        [
            [400.6, 819.9, 138.8, 33.2, 500.3, 134.9, 243.0, 257.8],
            [351.8, 148.5, 319.3, 30.3, 350.3, 900.4, 261.5, 120.6],
        ],
        "full",
        True,
    )
)
def test_operations_without_meetings_of_their_own_meet_each_other(case):
    """No two messages of an operation want the same link, so that it needs no events; but a processor that is ahead may
    take a link which a message of the operation before needs then."""
    test_phases_are_followed_as_events_do_in_one_operation_and_over_several.hypothesis.inner_test(case)


@settings(max_examples=150)
@given(traffic())
def test_one_phase_is_scheduled_as_an_event_simulation_does(case):
    check_phase(case)


@pytest.mark.truth
@settings(max_examples=300)
@given(traffic())
def test_many_phases_are_scheduled_as_an_event_simulation_does(case):
    check_phase(case)


def check_phase(case):
    procs, messages, begin, half = case
    if not messages:
        return
    hand = Hand(procs)
    # the receivers come late by nothing: all wait, so the end of a pure receiver is the arrival
    source, destination, size = (list(each) for each in zip(*messages, strict=True))
    got = hand.run(
        hand.compute(begin),
        hand.comm(phase(source, destination, size, element_bytes=1)),
        on=machine(send="startup", call=0.0, duplex="half" if half else "full"),
    )
    additive(got)
    expected = np.array(begin, dtype=float) * US
    for (_, to, _), arrival in zip(messages, simulate(procs, messages, expected, half), strict=True):
        expected[to] = max(expected[to], arrival)
    np.testing.assert_allclose(got.per_processor.end_s[0], expected, rtol=1e-9)


# P = 8 in a row sits on nodes 0 1 3 2 6 7 5 4; the cases of the link table are named by node.
NODE = {0: 0, 1: 1, 3: 2, 2: 3, 6: 4, 7: 5, 5: 6, 4: 7}


@pytest.mark.parametrize(
    ("pairs", "duplex", "ratios"),
    [
        ([(1, 3), (0, 3)], "full", [1.00, 1.94]),
        ([(0, 1), (1, 0)], "full", [1.00, 1.00]),
        ([(0, 3), (2, 3)], "full", [1.00, 1.00]),
        ([(3, 7), (1, 7), (0, 7)], "full", [1.00, 1.94, 2.87]),
        ([(0, 1), (1, 0)], "half", [1.00, 1.96]),
    ],
)
def test_messages_that_share_links_take_them_in_turn(pairs, duplex, ratios):
    """Measured with SimGrid: 10,000 bytes, one circuit for each link and direction."""
    hand = Hand(8)
    steps = [phase([NODE[a]], [NODE[b]], 10_000, element_bytes=1) for a, b in pairs]
    on = machine(exchange="concurrent", call=0.0, duplex=duplex)
    got = hand.run(hand.comm(*steps), on=on)
    additive(got)
    if len({b for _, b in pairs}) == 1:  # the last arrival is the end of the common receiver
        hops = max((a ^ b).bit_count() for a, b in pairs)
        assert got.time_s[0] / law(10_000, hops) == pytest.approx(ratios[-1], abs=0.006)
    else:
        assert got.time_s[0] / law(10_000, 1) == pytest.approx(max(ratios), abs=0.006)


def test_without_switching_nobody_waits_for_a_link():
    hand = Hand(8)
    steps = [phase([NODE[a]], [NODE[7]], 10_000, element_bytes=1) for a in (3, 1, 0)]
    got = hand.run(hand.comm(*steps), on=machine(exchange="concurrent", call=0.0, switching="none"))
    assert got.time_s[0] == pytest.approx(law(10_000, 3))


def test_a_message_waits_for_one_of_an_earlier_phase():
    """Node 0 sends to 3 by way of 1, whose own message to 3 holds the second link."""
    hand = Hand(8)
    first = phase([NODE[1]], [NODE[3]], 10_000, element_bytes=1)
    second = phase([NODE[0]], [NODE[3]], 500, element_bytes=1)
    got = hand.run(hand.comm(first), hand.comm(second), on=machine())
    held_until = (147 + 30.5 + 3900) * US
    assert got.per_processor.end_s[0, NODE[3]] == pytest.approx(held_until + 195 * US)
    assert got.per_processor.end_s[0, NODE[0]] == pytest.approx(law(500, 2))  # a busy link delays the arrival only


def test_too_many_messages_are_not_followed_and_that_is_said():
    hand = Hand(8)
    steps = [phase([NODE[a]], [NODE[7]], 10_000, element_bytes=1) for a in (3, 1, 0)]
    on = machine(exchange="concurrent", call=0.0)
    got = hand.run(hand.comm(*steps), on=on, setting=Setting(contention_messages=2))
    assert got.time_s[0] == pytest.approx(law(10_000, 3))
    assert "contention" in [each.code for each in got.assumptions]


def test_stages_one_after_the_other_are_said(monkeypatch):
    """Two senders want the last link at once, in one operation; with fewer messages nothing is said."""
    hand = Hand(8)
    steps = [phase([NODE[a]], [NODE[7]], 10_000, element_bytes=1) for a in (3, 1)]
    on = machine(exchange="concurrent", call=0.0)
    few = hand.run(hand.comm(*steps), on=on)
    monkeypatch.setattr(circuits, "MOST", 1)
    many = hand.run(hand.comm(*steps), on=on)
    assert "stages" not in [each.code for each in few.assumptions]
    assert "stages" in [each.code for each in many.assumptions]
