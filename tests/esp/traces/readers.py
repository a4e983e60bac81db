"""Readers of the formats that traces are exported to, written from their descriptions: they share no code with esp.

Each is strict: what the description does not allow is an error.
"""

import json
import re
from collections import defaultdict

# --- Trace Event Format -----------------------------------------------------------------------------------------

COMMON = {"name": str, "ph": str, "ts": (int, float), "pid": int, "tid": int}
FIELDS = {
    "X": {"required": {"dur": (int, float), "cat": str, "args": dict}, "optional": {}},
    "M": {"required": {"args": dict}, "optional": {"cat": str}},
    "s": {"required": {"id": int, "cat": str}, "optional": {"args": dict}},
    "f": {"required": {"id": int, "cat": str}, "optional": {"args": dict, "bp": str}},
}
METADATA = {
    "process_name": {"name": str},
    "process_sort_index": {"sort_index": int},
    "thread_name": {"name": str},
    "thread_sort_index": {"sort_index": int},
}
TOP = {"traceEvents": list, "displayTimeUnit": str, "otherData": dict}


def chrome(text):
    """JSON Object Format: the events, each checked against the fields that its phase has."""
    found = json.loads(text, parse_constant=lambda name: pytest_fail(f"{name} is no JSON"))
    for key, value in found.items():
        assert isinstance(value, TOP[key]), key
    assert found["displayTimeUnit"] in ("ms", "ns")
    for event in found["traceEvents"]:
        allowed = FIELDS[event["ph"]]
        needed = {**COMMON, **allowed["required"]}
        for key, kind in needed.items():
            assert isinstance(event[key], kind), (event, key)
            assert not isinstance(event[key], bool)
        assert set(event) <= {*needed, *allowed["optional"]}, event
        assert event["ts"] >= 0
        assert event.get("dur", 0) >= 0
        if event["ph"] == "M":
            shape = METADATA[event["name"]]
            assert {key: type(value) for key, value in event["args"].items()} == shape
        if "bp" in event:
            assert event["bp"] == "e"
    return found["traceEvents"]


def pytest_fail(text):
    raise AssertionError(text)


# --- PICL -------------------------------------------------------------------------------------------------------

PICL_DATA = {(-3, -901): 0, (-4, -901): 0, (-3, -21): 4, (-4, -21): 0, (-3, -52): 3, (-4, -52): 4}
"""(record, event) -> integers of its data; the user's events, above 0, have none here."""


def picl(text):
    """(record, event, time, node, data) of all records; entries and exits of a node nest."""
    records, inside, time = [], defaultdict(list), 0.0
    for line in text.splitlines():
        words = line.split()
        record, event, node, process, count = int(words[0]), int(words[1]), int(words[3]), int(words[4]), int(words[5])
        assert record in (-3, -4)
        assert process == 0
        assert re.fullmatch(r"\d+\.\d+", words[2])
        assert float(words[2]) >= time, line
        time = float(words[2])
        assert count == (PICL_DATA[record, event] if event < 0 else 0), line
        data = tuple(map(int, words[7:]))
        if count:
            assert words[6] == "2"
            assert len(data) == count
        else:
            assert len(words) == 6
        if record == -3:
            assert inside[node] or event == -901
            inside[node].append(event)
        else:
            assert inside[node].pop() == event, line
        records.append((record, event, time, node, data))
    assert not any(inside.values())
    return records


# --- Paraver ----------------------------------------------------------------------------------------------------

HEADER = re.compile(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):(\d+):(\d+)\(([\d:,]+)\)")


def paraver(text):
    """Duration, tasks, and the records by kind: states, events, messages."""
    lines = text.splitlines()
    header = HEADER.fullmatch(lines[0])
    assert header, lines[0]
    duration, nodes, cpus, applications, tasks, where = header.groups()
    assert cpus.split(",") == ["1"] * int(nodes)
    assert applications == "1"
    assert [tuple(map(int, each.split(":"))) for each in where.split(",")] == [(1, at + 1) for at in range(int(tasks))]
    states, events, messages, time = [], [], [], 0
    ends = dict.fromkeys(range(1, int(tasks) + 1), 0)
    for line in lines[1:]:
        kind, *numbers = map(int, line.split(":"))
        cpu, application, task, thread = numbers[:4]
        assert 1 <= task <= int(tasks)
        assert (cpu, application, thread) == (task, 1, 1)
        assert numbers[4] >= time, "records are sorted by time"
        time = numbers[4]
        assert time <= int(duration)
        if kind == 1:
            begin, end, state = numbers[4:]
            assert ends[task] <= begin < end <= int(duration), "states of a task do not overlap"
            ends[task] = end
            states.append((task, begin, end, state))
        elif kind == 2:
            assert len(numbers) % 2 == 1
            pairs = numbers[5:]
            events.append((task, time, dict(zip(pairs[::2], pairs[1::2], strict=True))))
        else:
            assert kind == 3
            sent, left, cpu_to, application_to, to, thread_to, ready, came, size, tag = numbers[4:]
            assert (cpu_to, application_to, thread_to) == (to, 1, 1)
            assert 1 <= to <= int(tasks)
            assert sent <= left
            assert ready <= came
            assert left <= came
            messages.append((task, sent, left, to, ready, came, size, tag))
    return int(duration), int(tasks), states, events, messages


def paraver_names(text):
    """The .pcf: states, colours, and event type -> values."""
    blocks = [block.strip("\n").split("\n") for block in re.split(r"\n\n\n?", text) if block.strip()]
    states, colours, types = {}, {}, {}
    kind = ""
    for block in blocks:
        if block[0] in ("STATES", "STATES_COLOR"):
            for line in block[1:]:
                number, what = line.split(None, 1)
                (states if block[0] == "STATES" else colours)[int(number)] = what
        elif block[0] == "EVENT_TYPE":
            _, number, _name = block[1].split(None, 2)
            kind = int(number)
            assert block[2] == "VALUES"
            types[kind] = {int(line.split(None, 1)[0]) for line in block[3:]}
    return states, colours, types


def paraver_rows(text):
    """The .row: level -> names."""
    levels = {}
    for block in text.strip().split("\n\n"):
        head, *names = block.split("\n")
        word, level, size, count = head.split()
        assert (word, size) == ("LEVEL", "SIZE")
        assert len(names) == int(count)
        levels[level] = names
    return levels


# --- GOAL -------------------------------------------------------------------------------------------------------

OPERATION = re.compile(
    r"(?P<label>[a-zA-Z][a-zA-Z0-9_]*): (?:calc (?P<calc>\d+)|"
    r"send (?P<out>\d+)b to (?P<to>\d+) tag (?P<out_tag>\d+)|recv (?P<in>\d+)b from (?P<source>\d+) tag (?P<tag>\d+))"
)
REQUIRES = re.compile(r"([a-zA-Z][a-zA-Z0-9_]*) requires ([a-zA-Z][a-zA-Z0-9_]*)")


def goal(text):
    """Ranks -> operations (kind, size, partner, labels required), in order; labels are known before they are used."""
    lines = [line for line in text.split("\n") if line]
    count = int(re.fullmatch(r"num_ranks (\d+)", lines[0]).group(1))
    ranks, rank, labels = {}, None, {}
    for line in lines[1:]:
        if rank is None:
            rank = int(re.fullmatch(r"rank (\d+) \{", line).group(1))
            assert rank == len(ranks) < count
            ranks[rank], labels = [], {}
        elif line == "}":
            rank = None
        elif " requires " in line:
            one, other = REQUIRES.fullmatch(line).groups()
            labels[one]["after"].add(other)
            assert other in labels
        else:
            found = OPERATION.fullmatch(line)
            assert found, line
            assert found["label"] not in labels
            if found["calc"] is not None:
                kind, size, partner, tag = "calc", int(found["calc"]), None, None
            elif found["out"] is not None:
                kind, size, partner, tag = "send", int(found["out"]), int(found["to"]), int(found["out_tag"])
            else:
                kind, size, partner, tag = "recv", int(found["in"]), int(found["source"]), int(found["tag"])
            labels[found["label"]] = {
                "kind": kind,
                "size": size,
                "partner": partner,
                "tag": tag,
                "after": set(),
                "label": found["label"],
            }
            ranks[rank].append(labels[found["label"]])
    assert rank is None
    assert len(ranks) == count
    return ranks


def simulated(ranks):
    """Messages of a GOAL schedule that is carried out: a receive takes the oldest message of its sender with its tag.
    Fails where the schedule cannot come to its end."""
    done = {rank: set() for rank in ranks}
    at = dict.fromkeys(ranks, 0)
    flying, carried = defaultdict(list), []
    moved = True
    while moved:
        moved = False
        for rank, operations in ranks.items():
            while at[rank] < len(operations):
                each = operations[at[rank]]
                assert each["after"] <= done[rank]
                if each["kind"] == "send":
                    flying[rank, each["partner"], each["tag"]].append(each["size"])
                elif each["kind"] == "recv":
                    waiting = flying[each["partner"], rank, each["tag"]]
                    if not waiting:
                        break
                    assert waiting.pop(0) == each["size"]
                    carried.append((each["partner"], rank, each["size"]))
                done[rank].add(each["label"])
                at[rank] += 1
                moved = True
    assert all(at[rank] == len(operations) for rank, operations in ranks.items()), "the schedule hangs"
    assert not any(flying.values())
    return carried
