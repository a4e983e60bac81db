"""Traces as pictures: messages find their partners, stretches of time their categories."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esp.traces.trace import KINDS, RECEIVE, SEND, Trace, TraceAbout
from esp.tui.course import CATEGORY_OF, arrivals, course_of, doing, painted, seen_messages


def _trace(procs, rows):
    columns = list(zip(*sorted(rows, key=lambda row: row[:2]), strict=True)) or [()] * 6
    about = TraceAbout(
        writer="t", origin="predicted", program="p", file="p", system="s", procs=procs, grid=(procs,), places=()
    )
    rank, begin, duration, kind, partner, size = (np.array(each) for each in columns)
    return Trace(
        about=about,
        rank=rank.astype(np.int64),
        begin=begin.astype(float),
        duration=duration.astype(float),
        aau=np.zeros(rank.size, np.int64),
        kind=kind.astype(np.int8),
        partner=partner.astype(np.int64),
        size_bytes=size.astype(np.int64),
    )


def _events(draw_durations):
    """One processor, events one after the other."""
    now, rows = 0.0, []
    for kind, duration, gap in draw_durations:
        rows.append((0, now, duration, kind, -1, 0))
        now += duration + gap
    return rows, now


@given(
    st.lists(
        st.tuples(st.integers(0, len(KINDS) - 1), st.floats(0.01, 1.0), st.sampled_from((0.0, 0.5))),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 30),
)
def test_what_is_painted_is_what_takes_longest(events, columns):
    """Held against the overlap of every event with every column."""
    rows, end = _events(events)
    course = course_of(_trace(1, rows))
    edges = np.linspace(0.0, end, columns + 1)
    mostly, beside, share = painted(course, 0, edges)
    for column in range(columns):
        spent = [0.0] * 4
        for _, begin, duration, kind, _, _ in rows:
            overlap = min(begin + duration, edges[column + 1]) - max(begin, edges[column])
            spent[CATEGORY_OF[kind]] += max(0.0, overlap)
        ranked = sorted(spent, reverse=True)
        if ranked[0] < 1e-6:
            continue
        assert spent[mostly[column]] == pytest.approx(ranked[0], abs=1e-9)
        assert spent[beside[column]] == pytest.approx(ranked[1], abs=1e-9)
        assert share[column] == pytest.approx(ranked[1] / (ranked[0] + ranked[1]), abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), st.randoms())
def test_messages_between_two_arrive_in_the_order_of_their_sending(pairs, random):
    """Sizes number the messages; receives of one processor stand in any order among different senders."""
    rows = [(source, at, 0.1, SEND, destination, at) for at, (source, destination) in enumerate(pairs)]
    by_receiver = {}
    for at, (source, destination) in enumerate(pairs):
        by_receiver.setdefault(destination, {}).setdefault(source, []).append(at)
    now = 1000.0
    for destination, queues in by_receiver.items():
        while any(queues.values()):
            source = random.choice([each for each, queue in queues.items() if queue])
            rows.append((destination, now, 0.1, RECEIVE, source, queues[source].pop(0)))
            now += 1
    course = course_of(_trace(4, rows))
    assert course.sent.size == len(pairs)
    by_time = {begin: (rank, size) for rank, begin, _, kind, _, size in rows if kind == RECEIVE}
    for at in range(len(pairs)):
        message = int(course.size_bytes[at])
        assert (int(course.source[at]), int(course.destination[at])) == pairs[message]
        received_by, size = by_time[round(float(course.received[at]) - 0.1)]
        assert (received_by, size) == (int(course.destination[at]), message)
    assert list(course.sent) == sorted(course.sent)


def test_a_message_without_partner_is_left_out():
    course = course_of(_trace(2, [(0, 0.0, 1.0, SEND, 1, 8), (0, 2.0, 1.0, SEND, 1, 8), (1, 0.0, 3.0, RECEIVE, 0, 8)]))
    assert course.sent.tolist() == [0.0]


def test_what_a_processor_does_at_a_time(made):
    course = course_of(made.trace())
    at = doing(course, 0, 0.0205)
    assert KINDS[int(course.trace.kind[at])] == "overhead"
    assert doing(course, 0, 99.0) is None
    assert arrivals(course, np.linspace(0.0, course.end_s, 11)).sum() == 80
    assert seen_messages(course, 0.0, 0.001).size == 0
