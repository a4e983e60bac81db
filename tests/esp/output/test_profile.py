import re

import numpy as np
import pytest
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from esp.output.assumptions import assumed
from esp.output.figures import messages, not_fitting
from esp.output.profile import hot_lines, profile
from esp.output.screen import Screen
from esp.prediction import without_repeats
from esp.visible import visible
from interpreter.result import Assumption, MessageSummary
from tests.esp.output.build import LINES, aau, array, line, prediction

WIDTHS = (60, 80, 120)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen(width, golden):
    text = profile(prediction(bundled=True), Screen(width), following="esp run laplace.hpf --procs 1,2,4,8")
    assert max(map(len, text.splitlines())) <= width
    golden(f"profile-{width}.txt", text)


def _figures(text):
    """The rows of the table of lines, without their source."""
    found = [
        re.match(r" *\d+ +[\d.,]+ (s|ms|us|ns) ", row) and re.findall(r"[<\d.]+ ?(?:ms|%)", row)
        for row in text.splitlines()
    ]
    return [row for row in found if row]


def test_numbers_are_the_same_at_every_width():
    shown = [_figures(profile(prediction(), Screen(width))) for width in WIDTHS]
    assert len(shown[0]) == 3
    assert shown[0] == shown[1] == shown[2]


def test_four_percentages_of_each_row_add_up_to_100():
    text = profile(prediction(), Screen(80))
    rows = [re.findall(r"(\d+)%", row)[-4:] for row in text.splitlines() if row.count("%") >= 4]
    assert len(rows) == 4  # the total and three lines
    assert [sum(map(int, row)) for row in rows] == [100] * 4


def test_the_answer_comes_first():
    # 201 ms of the 282 ms are computation, and line 7 takes 279.9 ms.
    text = profile(prediction(), Screen(80)).splitlines()
    assert text[1] == "282 ms on 8 processors, 71% computation; line 7 takes nearly all"


def test_bars_and_numbers_tell_51_from_30():
    lines = [line(at, (share * 1e-3, 0, 0, 0)) for at, share in ((7, 51), (8, 30), (9, 19))]
    for width in WIDTHS[1:]:
        rows = hot_lines(prediction(lines, time_s=array(0.1)), Screen(width)).splitlines()[1:]
        assert ["51%" in rows[0], "30%" in rows[1], "19%" in rows[2]] == [True] * 3
        bars = [row.count("#") for row in rows]
        assert bars[0] > bars[1] > bars[2]


def test_the_end_is_waiting_for_the_last_processor():
    lines = (line(7, (0.006, 0, 0, 0), aaus=(1,)), line(11, (0, 0, 0.004, 0), aaus=(2,)))
    aaus = (aau(1, "IterD", "a(i)", 7, (0.006, 0, 0, 0)), aau(2, "End", "end laplace", 11, (0, 0, 0.004, 0)))
    text = hot_lines(prediction(lines, aaus=aaus, time_s=array(0.01)), Screen(80))
    assert "waiting for the last processor" in text
    assert "end program" not in text


def test_input_and_output_count_the_waiting_at_the_end():
    # The print takes 4 ms on one of 8 processors: 0.5 ms in the mean; the seven others wait 3.5 ms in the mean.
    lines = (line(7, (0, 0.0005, 0, 0), aaus=(1,)), line(11, (0, 0, 0.0035, 0), aaus=(2,)))
    printing = replace(aau(1, "Comm", "print", 7, (0, 0.0005, 0, 0)), max_s=array(0.004))
    aaus = (printing, aau(2, "End", "end laplace", 11, (0, 0, 0.0035, 0)))
    text = profile(prediction(lines, aaus=aaus, time_s=array(0.01), io_s=array(0.0005)), Screen(80))
    assert "I/O 4.00 ms on 1 processor, 3.50 ms waiting at the end" in text


def test_hot_lines_come_first_and_the_rest_is_counted_with_its_time():
    lines = [line(number, (number * 1e-3, 0, 0, 0)) for number in range(1, 48)]
    text = hot_lines(prediction(lines), Screen(80))
    numbers = [int(row.split()[0]) for row in text.splitlines()[1:-1]]
    assert numbers == [47, 46, 45, 44, 43, 42, 41, 40, 39, 38]
    # 1 + 2 + ... + 37 = 703
    assert text.splitlines()[-1] == "and 37 more, 703 ms together (--annotate shows all)"


def test_eleven_lines_are_shown_rather_than_one_of_them_counted():
    lines = [line(number, (1e-3, 0, 0, 0)) for number in range(1, 12)]
    text = hot_lines(prediction(lines), Screen(80))
    assert len(text.splitlines()) == 12
    assert "more" not in text


def test_what_rounding_left_is_no_time():
    rounding = prediction((*LINES[:3], line(11, (5.5e-17, 0, 0, 0))))
    assert hot_lines(rounding, Screen(80)) == hot_lines(prediction(), Screen(80))


def test_lines_of_other_files_carry_their_file():
    text = hot_lines(prediction((*LINES, line(3, (1e-3, 0, 0, 0), file="sizes.inc"))), Screen(80))
    assert "sizes.inc:3" in text


def test_no_communication_no_why_line():
    text = profile(prediction(LINES[1:2], aaus=(), processors=1), Screen(80))
    assert "communication 0%" in text
    assert re.findall(r"^(\w+)", text, re.MULTILINE)[-3:] == ["loading", "memory", "trust"]
    assert "imbalance" not in text


def test_nothing_that_takes_time():
    text = profile(prediction((), time_s=array(0.0)), Screen(80))
    assert "No line takes any time." in text
    assert "nan" not in text


def test_too_much_memory_is_said_with_both_figures():
    text = profile(prediction(memory_bytes=12 * 2**20), Screen(120))
    assert "memory   does not fit: 12.0 MiB of data on the fullest processor, a node can use 7.50 MiB\n" in text
    assert text.index("does not fit") < text.index("line  ")


def test_a_machine_without_memory_says_no_bound():
    assert "usable" not in profile(prediction(memory_usable_bytes=None), Screen(80))


def test_a_partial_prediction_says_so():
    assert "incomplete" in profile(prediction(complete=False), Screen(120))


def test_many_assumptions_are_counted():
    told = tuple(Assumption(code="A1", text=f"thing {i}", span=Span("laplace.hpf", i)) for i in range(1, 9))
    rows = profile(prediction(assumptions=told), Screen(80)).splitlines()
    start = rows.index("assumed  thing 1 (line 1)")
    assert rows[start + 5 : start + 7] == ["         thing 6 (line 6)", "         and 2 more (--json lists all)"]


def test_runs_that_assume_the_like_of_one_place_say_it_once():
    runs = [
        prediction(assumptions=(Assumption(code="W301", text=f"taken as {p}", span=Span("laplace.hpf", 4)),))
        for p in (1, 2, 4)
    ]
    assert assumed(runs) == ["taken as 1, 2 or 4 (line 4)"]
    assert assumed(runs[:1] * 2) == ["taken as 1 (line 4)"]


def _at(code, text, *lines):
    return tuple(Assumption(code=code, text=text, span=Span("laplace.hpf", line, 3)) for line in lines)


def test_an_assumption_of_several_lines_names_them_all():
    told = (*_at("branch", "weighted 50%, 50%", 7, 10), *_at("call", "line 5: s is not read", 5))
    assert assumed([prediction(assumptions=told)]) == ["weighted 50%, 50% (lines 7, 10)", "s is not read (line 5)"]
    shares = _at("mask", "it holds 5% of the time", 4, 6) + _at("mask", "it holds 17% of the time", 5)
    assert assumed([prediction(assumptions=shares)]) == ["it holds 5% (lines 4, 6), 17% (line 5) of the time"]
    assert assumed([prediction(assumptions=shares[:2])]) == ["it holds 5% of the time (lines 4, 6)"]
    many = assumed([prediction(assumptions=_at("branch", "weighted", *range(1, 12)))])
    assert many == ["weighted (lines 1, 2, 3, 4, 5, 6, 7, 8 and 3 more)"]


def test_two_assumptions_of_one_kind_and_place_are_both_said():
    assert len(assumed([prediction(assumptions=_at("W201", "one", 4) + _at("W201", "two", 4))])) == 2


def test_the_like_of_one_place_is_said_once_and_of_another_again():
    engine = _at("unmodelled", "line 8: a syntax error; no time is charged for it", 8)
    note = "this statement is not modelled and costs nothing here: a syntax error"
    half = "the mask is true for half of the elements"
    notes = [Diagnostic(code="W2", message=half, span=Span("laplace.hpf", line, 3)) for line in (5, 6)]
    told = without_repeats((*engine, *_at("W201", note, 8), *_at("W2", half, 5)), notes)
    assert [(each.code, each.span.line) for each in told] == [("unmodelled", 8), ("W2", 5), ("W2", 6)]


def test_colour_changes_no_character():
    plain = profile(prediction(), Screen(80))
    coloured = profile(prediction(), Screen(80, colour=True))
    assert coloured != plain
    assert re.sub(r"\x1b\[[\d;]*m", "", visible(coloured)) == plain


def test_control_characters_of_a_source_do_not_reach_the_terminal():
    evil = tuple(text.replace("a = b", "a = b ! \x1b]0;owned\x07") for text in prediction().lines_text)
    assert "\x1b" not in profile(prediction(lines_text=evil), Screen(80))


def test_no_line_ends_in_spaces():
    for width in WIDTHS:
        assert not re.search(r" $", profile(prediction(), Screen(width)), re.MULTILINE)


def test_only_the_first_scenario_is_shown():
    two = prediction(time_s=np.array([0.2815, 9.0]))
    assert "9.00 s" not in profile(two, Screen(80))


def test_of_several_scenarios_it_is_said_which_is_shown():
    text = profile(prediction(scenarios=2, time_s=np.array([0.282, 9.0])), Screen(80))
    assert text.splitlines()[1] == "2 scenarios, 282 ms to 9.00 s (time_s); the first is shown"
    assert "scenario" not in profile(prediction(), Screen(80))


def test_memory_has_one_unit():
    told = Assumption(code="memory", text="a processor needs 12582912 bytes for its data, but a node has 6200000")
    over = prediction(assumptions=(told,), memory_bytes=12 * 2**20, memory_usable_bytes=6_200_000.0)
    assert assumed([over]) == ["nothing"]  # as the note says it
    assert not_fitting([over]) == "does not fit: 12.0 MiB of data on the fullest processor, a node can use 5.91 MiB"
    assert not_fitting([prediction()]) == ""


def _sent(sizes, executions, sent, varies=""):
    number = sum(each for _, each in sizes) * executions
    return MessageSummary(
        array="a",
        pattern="multicast",
        executions=executions,
        messages=number,
        bytes=sent,
        sizes=sizes,
        hops=1,
        contended=False,
        varies=varies,
    )


def test_executions_that_differ_are_said_in_the_mean():
    # 95 executions of 3 messages: all of 380 B they would move 108,300 B, shrinking by 4 B a time 54,720 B.
    told = messages(_sent(((380, 3),), 95, 54_720, "sizes"), 4)
    assert told == (
        "multicast of a, 95 times: 3 messages of 192 B on average (0.750 messages per processor), 1 hop; "
        "sizes differ, 3 x 380 B the first time; 285 messages, 54.7 kB in all"
    )
    assert "differ" not in messages(_sent(((380, 3),), 95, 108_300), 4)
    fewer = replace(_sent(((380, 3),), 95, 54_720, "messages"), messages=144)
    assert messages(fewer, 4).startswith("multicast of a, 95 times: 1.52 messages of 380 B on average (0.379 messages")
    end = "numbers and sizes differ, 3 x 380 B the first time that any is sent; 144 messages, 54.7 kB in all"
    assert messages(fewer, 4).endswith(end)


def test_messages_that_are_rarer_than_executions_are_said_in_all():
    rare = replace(_sent(((2_032, 1),), 2_530, 142_240, "messages"), messages=70)
    told = "transfer of u: 70 messages of 2,032 B in 2,530 executions (8.75 per processor), 1 hop"
    assert messages(replace(rare, array="u", pattern="transfer"), 8) == told
    assert "in 2,530 executions" in messages(replace(rare, bytes=140_000), 8)
    assert "70 messages of 2.00 kB on average" in messages(replace(rare, bytes=140_000), 8)


def test_large_messages_have_one_prefix():
    assert "3 x 147 kB" in messages(_sent(((147_456, 3),), 1, 442_368), 4)
    assert "3 x 99,999 B" in messages(_sent(((99_999, 3),), 1, 299_997), 4)


def test_processors_that_own_nothing_are_counted():
    assert "idle" not in profile(prediction(), Screen(80))
    told = profile(prediction(processors=16, without_elements=1, distributed=("t", "tn")), Screen(80))
    assert "\nidle     1 of 16 processors owns no element of t or tn\n" in told
    several = profile(prediction(processors=4, without_elements=3, distributed=("t",)), Screen(80))
    assert "\nidle     3 of 4 processors own no element of t\n" in several
