"""The format of docs/trace.md: what is written is read again, and what is wrong is said with its line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esp.errors import UnreadableFileError
from esp.traces.read import parse_trace, read_trace
from esp.traces.text import text_of
from esp.traces.trace import KINDS, RECEIVE, SEND, Trace, TraceAbout, TracePlace, UnmatchedError, messages
from esp.writing import write_whole

COLUMNS = ("rank", "begin", "duration", "aau", "kind", "partner", "size_bytes")


@st.composite
def traces(draw):
    """Any trace that may be written: not all that make sense."""
    procs = draw(st.integers(1, 5))
    ids = draw(st.lists(st.integers(0, 40), min_size=1, max_size=5, unique=True))
    letters = st.characters(exclude_categories=["Cs", "Cc"])
    label = st.text(letters, max_size=20).map(lambda text: " ".join(text.split()))
    places = tuple(
        TracePlace(
            id=each,
            kind=draw(st.sampled_from(["Seq", "IterD", "Comm"])),
            line=draw(st.integers(0, 999)),
            label=draw(label),
        )
        for each in ids
    )
    rows = []
    for rank in range(procs):
        time = draw(st.floats(0, 1e3))
        for _ in range(draw(st.integers(0, 6))):
            duration = draw(st.floats(0, 1e3, allow_subnormal=False))
            kind = draw(st.integers(0, len(KINDS) - 1))
            others = [each for each in range(procs) if each != rank]
            if not others and kind in (SEND, RECEIVE):
                kind = 0
            message = kind in (SEND, RECEIVE)
            partner = draw(st.sampled_from(others if message else [-1, *others]))
            rows.append(
                (
                    rank,
                    time,
                    duration,
                    draw(st.sampled_from(ids)),
                    kind,
                    partner,
                    draw(st.integers(0, 2**40)) if message else 0,
                )
            )
            time = time + duration + draw(st.floats(0, 10))
    columns = list(zip(*rows, strict=True)) or [()] * 7
    about = TraceAbout(
        writer="esp 1",
        origin=draw(st.sampled_from(["predicted", "executed"])),
        program="p",
        file=draw(label),
        system="m",
        procs=procs,
        grid=(procs,),
        places=places,
    )
    return Trace(
        about=about,
        rank=np.array(columns[0], np.int64),
        begin=np.array(columns[1], np.float64),
        duration=np.array(columns[2], np.float64),
        aau=np.array(columns[3], np.int64),
        kind=np.array(columns[4], np.int8),
        partner=np.array(columns[5], np.int64),
        size_bytes=np.array(columns[6], np.int64),
    )


def equal(one, other):
    return one.about == other.about and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS
    )


@given(traces())
def test_what_is_written_is_read_again_to_the_last_bit(trace):
    assert equal(parse_trace("".join(text_of(trace))), trace)


def test_a_predicted_trace_comes_back_from_its_file(predicted, tmp_path):
    trace, _ = predicted("gauss", 4, n=20)
    write_whole(tmp_path / "gauss.trace", text_of(trace))
    assert equal(read_trace(tmp_path / "gauss.trace"), trace)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "x.trace"
    target.write_text("old")

    def failing():
        yield "esp-trace 1\n"
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="full"):
        write_whole(target, failing())
    assert target.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.trace"]


GOOD = """\
esp-trace 1
writer esp 0.1.0
origin predicted
program p
file p.hpf
system ipsc860
procs 2
grid 2
units seconds bytes
aau 0 Spawn 1 spawn p
aau 3 Comm 7 shift a
columns rank begin duration aau kind partner bytes
0 0.0 1e-06 0 compute - 0
0 1e-06 2.5e-05 3 send 1 80
1 0.0 1e-06 0 compute - 0
1 1e-06 1e-06 3 wait 0 0
1 2e-06 2.4e-05 3 receive 0 80
end 5
"""


def test_the_example_is_a_trace():
    trace = parse_trace(GOOD)
    assert trace.lines().tolist() == [1, 7, 1, 7, 7]
    assert [each.tolist() for each in messages(trace)] == [[1], [4]]
    assert "".join(text_of(trace)) == GOOD


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("esp-trace 1", "esp-trace 2", 1, "this is not a trace: the first line is not `esp-trace 1`"),
        ("writer esp 0.1.0\n", "", 2, "expected `writer` and its value"),
        ("origin predicted", "origin guessed", 3, "the origin is predicted or executed, not 'guessed'"),
        ("procs 2", "procs two", 7, "'two' is not a whole number"),
        ("grid 2\n", "grid 3\n", 8, "the grid 3 is not one of 2 processors"),
        ("units seconds bytes", "units us bytes", 9, "the units are not seconds and bytes"),
        ("aau 3 Comm 7 shift a", "aau 0 Comm 7 shift a", 11, "the AAU 0 is listed twice"),
        ("aau 3 Comm 7 shift a", "aau 3 Comm", 11, "an AAU has an id, a class, a line and a label"),
        (
            "aau kind partner bytes\n",
            "aau kind partner\n",
            12,
            "the columns are not rank begin duration aau kind partner",
        ),
        ("0 0.0 1e-06 0 compute - 0\n0", "0 0.0 0 compute - 0\n0", 13, "'0 0.0 0 compute - 0' is not an event"),
        ("2.5e-05 3 send", "nan 3 send", 14, "'0 1e-06 nan 3 send 1 80' is not an event"),
        ("2.5e-05 3 send", "-1 3 send", 14, "is not an event"),
        ("2.5e-05 3 send", "1_0 3 send", 14, "is not an event"),
        ("3 send 1 80", "3 sent 1 80", 14, "is not an event"),
        ("3 send 1 80", "3 send 1 80 7", 14, "is not an event"),
        ("2.5e-05 3 send", "1e999 3 send", 14, "a time is too large to represent"),
        ("3 send 1 80", "4 send 1 80", 14, "the header lists no AAU of this id"),
        ("3 send 1 80", "3 send - 80", 14, "a message needs a partner"),
        ("3 send 1 80", "3 send 2 80", 14, "the partner must be another processor"),
        ("3 send 1 80", "3 send 0 80", 14, "the partner must be another processor"),
        ("1 0.0 1e-06 0 compute - 0", "2 0.0 1e-06 0 compute - 0", 15, "processors are 0 to 1"),
        ("3 wait 0 0", "3 wait 0 8", 16, "only messages have bytes"),
        ("1 1e-06 1e-06 3 wait", "0 1e-06 1e-06 3 wait", 16, "the events of each rank must be together"),
        ("1 2e-06 2.4e-05", "1 1e-08 2.4e-05", 17, "the event begins before the one in the line above"),
        ("1 2e-06 2.4e-05", "1 1.5e-06 2.4e-05", 17, "the event begins before the one in the line above ends"),
        ("end 5", "end 6", 18, "found 5 events, but the last line says: end 6"),
        ("end 5\n", "", 17, "the last line is not `end`: the file is incomplete"),
        ("end 5\n", "end 5", 18, "the file ends in the middle of a line"),
    ],
)
def test_every_fault_is_told_with_its_line(old, new, line, told):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(UnreadableFileError) as error:
        parse_trace(text, "x.trace")
    assert error.value.where == f"x.trace:{line}"
    assert told in error.value.what


@given(st.text(max_size=200))
def test_any_text_is_a_trace_or_an_error(text):
    with pytest.raises(UnreadableFileError):
        parse_trace(text)


@given(st.integers(0, len(GOOD) - 1), st.sampled_from(["", "x", " ", "\n", "9", "-", "e", "."]))
def test_a_damaged_trace_is_a_trace_or_an_error(at, put):
    try:
        parse_trace(GOOD[:at] + put + GOOD[at + 1 :])
    except UnreadableFileError as error:
        place = error.where
    else:
        place = "<trace>:1"
    assert place.startswith("<trace>:")


def test_messages_that_do_not_pair_up_are_told():
    with pytest.raises(UnmatchedError, match="1 messages were sent and 0 received"):
        messages(parse_trace(GOOD.replace("3 receive 0 80", "3 overhead - 0")))
    with pytest.raises(UnmatchedError, match="with another size"):
        messages(parse_trace(GOOD.replace("3 receive 0 80", "3 receive 0 88")))


def test_what_is_no_text_is_told(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    for name, told in (("x", "is not UTF-8 text"), ("y", "cannot be read: no such file")):
        with pytest.raises(UnreadableFileError, match=told):
            read_trace(tmp_path / name)
