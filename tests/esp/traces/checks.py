"""What an export of a trace has to say: each check takes what a reader of the format found, and compares every event
and every message with the trace, times by processor and category, messages and bytes with the prediction. The trace
itself is held against the prediction in test_record.py."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from esp.output.traces_paraver import AAU_EVENT, LINE_EVENT, STATES
from esp.traces.record import CATEGORY
from esp.traces.trace import COMPUTE, IO, KINDS, LIBRARY, NOBODY, OVERHEAD, RECEIVE, SEND, WAIT, messages
from interpreter.metrics import Category

BUSY = (COMPUTE, OVERHEAD, LIBRARY, IO)
PARTS = {
    Category.COMPUTATION: "computation_s",
    Category.COMMUNICATION: "communication_s",
    Category.OVERHEAD: "overhead_s",
    Category.WAITING: "waiting_s",
}


def close(found, expected, atol):
    np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-12, atol=atol)


def sent(trace):
    """(source, destination, bytes) of all messages, and how often."""
    sends, _ = messages(trace)
    columns = (trace.rank[sends], trace.partner[sends], trace.size_bytes[sends])
    return Counter(zip(*(column.tolist() for column in columns), strict=True))


def same_messages(found, trace, prediction):
    """(source, destination, bytes) -> how often."""
    assert sum(found.values()) == prediction.messages
    assert sum(size * count for (_, _, size), count in found.items()) == prediction.bytes
    assert found == sent(trace)


def same_by_line(found, prediction):
    """Messages that are sent in each source line."""
    assert found == Counter({each.line: each.messages for each in prediction.lines if each.messages})


def same_times(spent_s, last_s, prediction, atol):
    """Seconds by processor and kind, and the end of each processor; `atol` is what a sum may be off by rounding."""
    totals = {part: np.zeros(prediction.processors) for part in PARTS}
    for (rank, kind), seconds in spent_s.items():
        totals[CATEGORY[kind]][rank] += seconds
    for part, name in PARTS.items():
        close(totals[part], getattr(prediction.per_processor, name)[0], atol)
    close(last_s, np.full(prediction.processors, prediction.time_s), 1e-9)


def same_own_ends(found_s, prediction, atol=1e-9):
    """When each processor is done, before it waits for the last one."""
    close(found_s, prediction.per_processor.end_s[0], atol)


def own(kind, partner):
    """Whether a processor is not yet at its own end."""
    return kind != WAIT or partner != NOBODY


# --- Trace Event Format -----------------------------------------------------------------------------------------


def check_chrome(events, trace, prediction):
    """The events of our own reader: all digits count."""
    slices = [each for each in events if each["ph"] == "X"]
    columns = {
        "rank": [each["tid"] for each in slices],
        "kind": [KINDS.index(each["cat"]) for each in slices],
        "aau": [each["args"]["aau"] for each in slices],
        "partner": [each["args"].get("partner", NOBODY) for each in slices],
        "size_bytes": [each["args"].get("bytes", 0) for each in slices],
    }
    for name, found in columns.items():
        assert found == getattr(trace, name).tolist(), name
    assert [each["args"]["line"] for each in slices] == trace.lines().tolist()
    close([each["ts"] for each in slices], trace.begin * 1e6, 1e-6)
    close([each["dur"] for each in slices], trace.duration * 1e6, 1e-6)
    labels = {each.id: each.label or each.kind for each in trace.about.places}
    assert [each["name"] for each in slices] == [
        f"{KINDS[kind]} {labels[aau]}" for kind, aau in zip(trace.kind.tolist(), trace.aau.tolist(), strict=True)
    ]
    spent, last, ends = defaultdict(float), np.zeros(trace.procs), np.zeros(trace.procs)
    for one, other in pairwise(slices):
        assert one["tid"] != other["tid"] or one["ts"] + one["dur"] <= other["ts"] * (1 + 1e-15)
    for each, kind, partner in zip(slices, columns["kind"], columns["partner"], strict=True):
        rank, end = each["tid"], (each["ts"] + each["dur"]) * 1e-6
        spent[rank, kind] += each["dur"] * 1e-6
        last[rank] = max(last[rank], end)
        ends[rank] = max(ends[rank], end if own(kind, partner) else 0.0)
    same_times(spent, last, prediction, 1e-12 * len(slices))
    same_own_ends(ends, prediction)
    same_messages(_arrows(events, slices), trace, prediction)
    of_line = Counter(each["args"]["line"] for each in slices if each["cat"] == "send")
    same_by_line(of_line, prediction)
    told = {(each["tid"], each["name"]): each["args"] for each in events if each["ph"] == "M"}
    assert len(told) == 1 + 2 * trace.procs
    for rank in range(trace.procs):
        assert told[rank, "thread_name"] == {"name": f"processor {rank}"}
        assert told[rank, "thread_sort_index"] == {"sort_index": rank}
    assert {each["pid"] for each in events} == {0}
    assert {each["ts"] for each in events if each["ph"] == "M"} == {0}


def _arrows(events, slices):
    """Flows s -> f: each has two ends, goes forward in time, and is bound to a send and to its receive."""
    starts, ends = ({each["id"]: each for each in events if each["ph"] == phase} for phase in "sf")
    assert len(starts) == sum(each["ph"] == "s" for each in events)
    assert len(ends) == sum(each["ph"] == "f" for each in events)
    assert starts.keys() == ends.keys()
    of = {(each["tid"], each["ts"], each["cat"]): each["args"] for each in slices}
    found = Counter()
    for number, start in starts.items():
        end = ends[number]
        assert (start["name"], start["cat"]) == (end["name"], end["cat"]) == ("message", "message")
        assert start["ts"] <= end["ts"]
        out = of[start["tid"], start["ts"], "send"]
        into = of[end["tid"], end["ts"], "receive"]
        assert (out["partner"], into["partner"]) == (end["tid"], start["tid"])
        assert out["bytes"] == into["bytes"]
        found[start["tid"], end["tid"], out["bytes"]] += 1
    return found


STUMBLES = "select name, idx, value, severity from stats where value != 0 and severity != 'info'"

SLICES = """
select thread.tid, thread.name as thread, slice.ts, slice.dur, slice.depth, slice.category,
       extract_arg(slice.arg_set_id, 'args.aau') as aau, extract_arg(slice.arg_set_id, 'args.line') as line,
       extract_arg(slice.arg_set_id, 'args.partner') as partner, extract_arg(slice.arg_set_id, 'args.bytes') as bytes
from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)
order by tid, slice.id
"""

FLOWS = """
select one.tid as source, other.tid as destination, a.ts as sent, b.ts as taken, a.category as out, b.category as into_,
       extract_arg(a.arg_set_id, 'args.bytes') as bytes
from flow join slice a on slice_out = a.id join slice b on slice_in = b.id
     join thread_track at on a.track_id = at.id join thread one on at.utid = one.utid
     join thread_track bt on b.track_id = bt.id join thread other on bt.utid = other.utid
"""

PERFETTO = (STUMBLES, SLICES, FLOWS, "select (select count(*) from slice) slices, (select count(*) from flow) flows")
"""What Perfetto is asked: what it stumbled over, slices, flows, and how many there are of each."""


def check_perfetto(answer, trace, prediction):
    """What Perfetto makes of the export; it counts whole nanoseconds, and puts what has no length into the slice that
    begins at the same time."""
    assert isinstance(answer, list), answer
    stumbles, slices, flows, ((count),) = answer
    assert stumbles == []
    assert count == {"slices": len(slices), "flows": len(flows)}
    assert all(each["depth"] == 0 or each["dur"] == 0 for each in slices), "slices of a thread nest"
    assert all(each["thread"] == f"processor {each['tid']}" for each in slices)
    slices.sort(key=lambda each: (each["tid"], each["ts"], each["dur"]))
    kinds = [KINDS.index(each["category"]) for each in slices]
    partners = [NOBODY if each["partner"] is None else each["partner"] for each in slices]
    order = np.lexsort((np.rint(trace.duration * 1e9), np.rint(trace.begin * 1e9), trace.rank))
    assert [each["tid"] for each in slices] == trace.rank[order].tolist()
    assert kinds == trace.kind[order].tolist()
    assert [each["aau"] for each in slices] == trace.aau[order].tolist()
    assert [each["line"] for each in slices] == trace.lines()[order].tolist()
    assert partners == trace.partner[order].tolist()
    assert [each["bytes"] or 0 for each in slices] == trace.size_bytes[order].tolist()
    close([each["ts"] for each in slices], trace.begin[order] * 1e9, 1.0)
    close([each["dur"] for each in slices], trace.duration[order] * 1e9, 1.0)
    spent, last, ends = defaultdict(float), np.zeros(trace.procs), np.zeros(trace.procs)
    for each, kind, partner in zip(slices, kinds, partners, strict=True):
        rank, end = each["tid"], (each["ts"] + each["dur"]) * 1e-9
        spent[rank, kind] += each["dur"] * 1e-9
        last[rank] = max(last[rank], end)
        ends[rank] = max(ends[rank], end if own(kind, partner) else 0.0)
    same_times(spent, last, prediction, 1e-9 * int(np.bincount(trace.rank).max()))
    same_own_ends(ends, prediction, 2e-9)
    assert {(each["out"], each["into_"]) for each in flows} <= {("send", "receive")}
    found = Counter((each["source"], each["destination"], each["bytes"]) for each in flows)
    same_messages(found, trace, prediction)
    same_by_line(Counter(each["line"] for each in slices if each["category"] == "send"), prediction)
    sends, receives = messages(trace)
    expected = sorted(
        zip(
            trace.rank[sends].tolist(),
            trace.rank[receives].tolist(),
            trace.begin[sends] * 1e9,
            trace.begin[receives] * 1e9,
            strict=True,
        )
    )
    close(sorted([each[key] for key in ("source", "destination", "sent", "taken")] for each in flows), expected, 1.0)


# --- PICL -------------------------------------------------------------------------------------------------------


def check_picl(records, trace, prediction):
    """Nodes are busy, send and receive when they do in the trace; a receive begins with the wait for it."""
    found, opened = defaultdict(list), {}
    for record, event, time, node, data in records:
        if record == -3:
            opened[node, event] = (time, data)
        else:
            began, given = opened.pop((node, event))
            found[node].append((event, began, time, given, data))
    expected, idle = _of_picl(trace)
    assert sorted(found) == list(range(trace.procs))
    times = np.zeros(trace.procs)
    for node, all_events in found.items():
        *events, (event, began, ended, _, _) = all_events
        assert (event, began) == (-901, 0.0)
        assert ended == pytest.approx(prediction.time_s, abs=1e-12)
        assert [(event, given, data) for event, _, _, given, data in events] == [
            (event, given, data) for event, _, _, given, data in expected[node]
        ]
        close([each[1:3] for each in events], [each[1:3] for each in expected[node]], 2e-12)
        times[node] = sum(end - begin for _, begin, end, _, _ in events) + idle[node]
    parts = sum(getattr(prediction.per_processor, name)[0] for name in PARTS.values())
    close(times, parts, 1e-12 * len(records))
    same_own_ends([max(each[2] for each in found[node][:-1]) for node in range(trace.procs)], prediction)
    same_messages(
        Counter(
            (node, given[2], given[0])
            for node, events in found.items()
            for event, _, _, given, _ in events
            if event == -21
        ),
        trace,
        prediction,
    )
    same_messages(
        Counter(
            (data[2], node, data[0])
            for node, events in found.items()
            for event, _, _, _, data in events
            if event == -52
        ),
        trace,
        prediction,
    )
    lines = {each.id + 1: each.line for each in trace.about.places}
    assert {event for events in found.values() for event, *_ in events if event > 0} <= set(lines)


def _of_picl(trace):
    """(event, begin, end, data of the entry, of the exit) by node, and the time in which a node has no event."""
    expected, idle = defaultdict(list), defaultdict(float)
    waited = None
    rows = list(
        zip(
            trace.rank.tolist(),
            trace.begin.tolist(),
            trace.end.tolist(),
            trace.aau.tolist(),
            trace.kind.tolist(),
            trace.partner.tolist(),
            trace.size_bytes.tolist(),
            strict=True,
        )
    )
    for at, (node, begin, end, aau, kind, partner, size) in enumerate(rows):
        if kind == WAIT:
            later = rows[at + 1] if at + 1 < len(rows) else (None,) * 7
            if (later[0], later[4], later[5]) == (node, RECEIVE, partner):
                waited = begin
            else:
                idle[node] += end - begin
        elif kind == SEND:
            expected[node].append((-21, begin, end, (size, 1, partner, 0), ()))
        elif kind == RECEIVE:
            start, waited = (begin if waited is None else waited), None
            expected[node].append((-52, start, end, (1, partner, 0), (size, 1, partner, 0)))
        else:
            expected[node].append((aau + 1, begin, end, (), ()))
    return expected, idle


# --- Paraver ----------------------------------------------------------------------------------------------------


def check_paraver(found, trace, prediction):
    """States, AAUs and lines, messages; whole nanoseconds."""
    duration, tasks, states, events, sent_messages = found
    begin, end = (np.rint(each * 1e9).astype(int) for each in (trace.begin, trace.end))
    assert tasks == trace.procs
    assert duration == round(prediction.time_s * 1e9)
    numbers = {state: kind for kind, (state, _, _) in STATES.items()}
    some = end > begin
    expected = zip(
        (trace.rank[some] + 1).tolist(),
        begin[some].tolist(),
        end[some].tolist(),
        trace.kind[some].tolist(),
        strict=True,
    )
    assert sorted((task, start, stop, numbers[state]) for task, start, stop, state in states) == sorted(expected)
    spent, last = defaultdict(float), np.zeros(tasks)
    for task, start, stop, state in states:
        spent[task - 1, numbers[state]] += (stop - start) * 1e-9
        last[task - 1] = max(last[task - 1], stop * 1e-9)
    same_times(spent, last, prediction, 1e-9 * int(np.bincount(trace.rank).max()))
    same_messages(
        Counter((one - 1, other - 1, size) for one, _, _, other, _, _, size, _ in sent_messages), trace, prediction
    )
    sends, receives = messages(trace)
    rows = zip(
        (trace.rank[sends] + 1).tolist(),
        begin[sends].tolist(),
        begin[sends].tolist(),
        (trace.rank[receives] + 1).tolist(),
        begin[receives].tolist(),
        end[receives].tolist(),
        trace.size_bytes[sends].tolist(),
        strict=True,
    )
    assert sorted(each[:-1] for each in sent_messages) == sorted(rows)
    assert {each[-1] for each in sent_messages} <= {0}
    aaus, lines = trace.aau.tolist(), trace.lines().tolist()
    changes = []
    for at, rank in enumerate(trace.rank.tolist()):
        first = at == 0 or trace.rank[at - 1] != rank
        if first or aaus[at - 1] != aaus[at]:
            changes.append((rank + 1, int(begin[at]), {AAU_EVENT: aaus[at] + 1, LINE_EVENT: lines[at]}))
        if at + 1 == trace.rank.size or trace.rank[at + 1] != rank:
            changes.append((rank + 1, int(end[at]), {AAU_EVENT: 0, LINE_EVENT: 0}))
    assert sorted(events, key=repr) == sorted(changes, key=repr)


# --- GOAL -------------------------------------------------------------------------------------------------------


def check_goal(ranks, carried, trace, prediction):
    """Messages in their order, and before each of them what is computed, in nanoseconds."""
    assert len(ranks) == trace.procs
    for rank, operations in ranks.items():
        assert all(len(each["after"]) == (number > 0) for number, each in enumerate(operations))
        found, busy = [], 0
        for each in operations:
            if each["kind"] == "calc":
                busy += each["size"]
            else:
                found.append((each["kind"], each["partner"], each["size"], busy))
        expected, done = [], 0.0
        for at in np.flatnonzero(trace.rank == rank).tolist():
            kind = int(trace.kind[at])
            if kind in BUSY:
                done += float(trace.duration[at])
            elif kind != WAIT:
                word = "send" if kind == SEND else "recv"
                expected.append((word, int(trace.partner[at]), int(trace.size_bytes[at]), done * 1e9))
        assert [each[:3] for each in found] == [each[:3] for each in expected]
        close([each[3] for each in found] + [busy], [each[3] for each in expected] + [done * 1e9], 1.0)
        mine = trace.rank == rank
        others = float(trace.duration[mine & ((trace.kind == LIBRARY) | (trace.kind == IO))].sum())
        data = prediction.per_processor
        assert busy == pytest.approx((data.computation_s[0][rank] + data.overhead_s[0][rank] + others) * 1e9, abs=1.0)
    same_messages(Counter(carried), trace, prediction)


# --- OTF2 -------------------------------------------------------------------------------------------------------


def check_otf2(path, trace, prediction):
    """What the reader of the package otf2 finds in an archive, event by event; picoseconds."""
    import otf2

    found, stacks, out, came = [], defaultdict(list), Counter(), Counter()
    of_line, arrived = Counter(), {}
    with otf2.reader.open(str(path)) as archive:
        assert archive.timer_resolution == 10**12
        ranks = {location: rank for rank, location in enumerate(archive.definitions.locations)}
        assert [location.name for location in ranks] == [f"processor {rank}" for rank in range(trace.procs)]
        for location, event in archive.events:
            rank = ranks[location]
            stack = stacks[rank]
            match type(event).__name__:
                case "Enter":
                    stack.append((event.region, event.time))
                case "Leave":
                    region, began = stack.pop()
                    assert region.name == event.region.name
                    assert len(stack) < 2
                    if region.name == "receive":
                        assert arrived.pop(rank) == event.time
                    if stack:
                        place = stack[-1][0]
                        found.append(
                            (
                                rank,
                                KINDS.index(region.name),
                                int(place.name.split()[0]),
                                place.begin_line_number,
                                began,
                                event.time,
                            )
                        )
                case "MpiSend":
                    assert stack[-1][0].name == "send"
                    assert event.time == stack[-1][1]
                    out[rank, event.receiver, event.msg_length] += 1
                    of_line[stack[-2][0].begin_line_number] += 1
                case "MpiRecv":
                    assert stack[-1][0].name == "receive"
                    arrived[rank] = event.time
                    came[event.sender, rank, event.msg_length] += 1
                case other:
                    raise AssertionError(other)
    assert not any(stacks.values())
    found.sort(key=lambda each: each[0])  # those of a processor stay in their order
    columns = list(zip(*found, strict=True))
    assert list(columns[0]) == trace.rank.tolist()
    assert list(columns[1]) == trace.kind.tolist()
    assert list(columns[2]) == trace.aau.tolist()
    assert list(columns[3]) == trace.lines().tolist()
    close(columns[4], trace.begin * 1e12, 1.0)
    close(columns[5], trace.end * 1e12, 1.0)
    spent, last = defaultdict(float), np.zeros(trace.procs)
    for rank, kind, _, _, began, ended in found:
        spent[rank, kind] += (ended - began) * 1e-12
        last[rank] = max(last[rank], ended * 1e-12)
    same_times(spent, last, prediction, 1e-12 * len(found))
    same_messages(out, trace, prediction)
    same_messages(came, trace, prediction)
    same_by_line(of_line, prediction)


def earlier_than_sent(trace):
    """Messages that were received before they were sent: 0, unless clocks differ between processors."""
    sends, receives = messages(trace)
    return int((trace.end[receives] < trace.begin[sends]).sum())
