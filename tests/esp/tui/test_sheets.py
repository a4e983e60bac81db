"""What the parts of the screen say: figures of the prediction, in any width."""

import re

import pytest
from msgspec.structs import replace

import esp
from esp.explore.impact import Swing
from esp.output.numbers import seconds
from esp.prediction import first, four
from esp.tui import export, pinned
from esp.tui import state as steps
from esp.tui.answers import answered
from esp.tui.question import WRITTEN, Failure, PredictedAnswer
from esp.tui.sheets import changes, choices, compare, detail, frame, source, timeline, tree
from esp.tui.sheets.figures import MARKS, bar, change
from esp.tui.sheets.views import sheet
from interpreter.result import Assumption

WIDTHS = (43, 44, 58, 70, 92, 110, 130)


@pytest.fixture
def home(made):
    return made.answered()


@pytest.fixture
def everything(made, home):
    """A state in which every view has what it shows."""
    state = home
    for view in ("tree", "timeline", "impact", "scaling"):
        state = steps.look_at(state, view)
        for answer in made.answers(steps.question(state)):
            state = answered(state, answer)
    return state


@pytest.mark.parametrize("view", steps.VIEWS)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_its_place(view, width, everything):
    state = steps.look_at(everything, view)
    shown = [*sheet(state, width).lines, *choices.sheet(state, width).lines, *detail.lines(state, width)]
    heading = sheet(state, width).heading
    assert heading is not None
    wide = [line.text for line in (heading, *shown) if len(line.text) > width]
    assert wide == []


def test_every_line_of_the_source_has_its_time(home):
    found = steps.prediction(home)
    text = source.sheet(home, 110).text.splitlines()
    for line in found.lines:
        if first(line.parts.time_s) > 0:
            assert text[line.line].strip().startswith(seconds(first(line.parts.time_s)))
    assert home.cursor["source"] == 7
    assert "overlap" not in text[3]


def test_a_moved_slider_tells_which_lines_moved(made, home):
    after = made.answered(steps.moved(home, "bandwidth", home.sliders["bandwidth"].at + 2))
    lines = source.sheet(after, 60).text.splitlines()
    # 279.4 ms with 70 ms of messages, which go twice as fast: 244.4 ms, 12.5 % less.
    assert lines[7].split()[:3] == ["244", "ms", "-13%"]
    assert "same" in lines[8]
    assert changes.changes(after, 80)[0].text == "246 ms instead of 282 ms (-13%)  moved: lines 7, 9; 1 did not"
    assert changes.changes(home, 80)[0].text == "what if: w goes to the sliders, 5 shows what matters most"
    sized = replace(home, assumptions=(Assumption(code="W302", text="using the machine's 8"),))
    assert changes.changes(sized, 80)[0].text == "using the machine's 8; w goes to the sliders"
    assert steps.effect(after, "bandwidth") == (
        first(steps.prediction(after).time_s),
        first(after.home[WRITTEN].time_s),
    )
    assert steps.effect(after, "load") is None


def test_each_of_several_sliders_says_what_it_does_alone(made, home):
    """70.6 ms of messages: 5 times as long with 80 % load, half as long with twice the bandwidth."""
    before = first(steps.prediction(home).time_s)
    moved = steps.moved(home, "load", 16)
    after = made.answered(steps.moved(moved, "bandwidth", home.sliders["bandwidth"].at + 2))
    assert steps.effect(after, "load") == (pytest.approx(before + 4 * 0.0706, rel=1e-3), before)
    assert steps.effect(after, "bandwidth") == (pytest.approx(before - 0.0353, rel=1e-3), before)
    assert steps.effect(steps.back_home(after), "load") is None


def test_what_matters_most_comes_first_and_faster_is_on_the_left(everything):
    text = sheet(steps.look_at(everything, "impact"), 60).text.splitlines()
    assert text[1].split()[:3] == ["processor", "speed", "x2"]
    assert re.search(r"x2 -35% +█+│█+ +x0.5 \+70%$", text[1])
    faster, slower = (part.count("█") for part in text[1].split("│"))
    assert abs(slower - 2 * faster) <= 1  # 35 and 70 %
    assert re.search(r"│█* +30% \+3%$", text[4])
    assert "16 -4%" in text[3]
    assert "x0.5" not in text[3]
    assert "decided by operations 55% misses 30% bytes 15%" in text


def test_scaling_shows_this_size_on_other_processors_and_the_sizes_that_keep_the_speed(everything):
    """1.6 times as fast on twice the processors; 12 n^2 flop in n^2 / 8 us, then on 32 no size keeps the speed."""
    state = steps.look_at(everything, "scaling")
    lines = sheet(state, 80).text.splitlines()
    assert lines[0].split() == ["procs", "time", "speed-up", "efficiency", "n", "psi"]
    rows = {row[0]: row[1:] for row in (line.replace("█", "").split() for line in lines[1:8])}
    assert rows["1"] == ["1.00", "s", "1.00", "100%"]
    assert rows["8"] == ["244", "ms", "4.10", "51%", "256", "1.000"]
    assert rows["16"] == ["153", "ms", "6.55", "41%", "512", "0.500"]
    assert rows["64"] == ["59.6", "ms", "16.8", "26%"]
    said = " ".join(" ".join(lines[8:]).split())
    assert "each processor keeps its 960 kflop/s, the speed now" in said
    assert "On 64 no n up to 131,072 keeps the speed." in said
    at_16 = " ".join(line.text for line in detail.lines(steps.put_cursor(state, "scaling", 16), 80))
    assert "n = 512 on 16:" in at_16
    refused = replace(state, scaled=replace(state.scaled, found=Failure(text="the program has no flops")))
    assert "the program has no flops" in sheet(refused, 80).text
    assert "looking for the sizes" in sheet(replace(state, scaled=replace(state.scaled, found=None)), 80).text


def test_scaling_has_the_time_as_a_formula(everything):
    state = steps.look_at(everything, "scaling")
    text = "program p\ninteger, parameter :: n = 64\nreal(8) :: a(n)\n!hpf$ distribute a(block)\na = a + 1\nend"
    formula = esp.formula(text, procs=4)

    def said(formula):
        shown = sheet(replace(state, scaled=replace(state.scaled, formula=formula)), 80)
        return " ".join(line.text.strip() for line in shown.lines)

    assert f"T(n) about {formula.relaxed} seconds, without waiting and cache misses, valid for n >= " in said(formula)
    assert "No formula of the time: sizes of arrays are computed" in said(Failure(text="sizes of arrays are computed"))


def test_a_partial_prediction_is_incomplete_wherever_its_time_stands(home):
    """As `esp run` and `esp compare` have it: the word after its time, an order that may deceive, nothing to paste."""

    def said(state):
        return " ".join(" ".join(line.text for line in choices.sentences(state, 60)).split())

    other = home.order[1]
    state = steps.select(home, other)
    assert "to paste" in said(state)
    assert "incomplete" not in said(state) + choices.sheet(state, 60).text + frame.heading(state, 80)[0].text
    found = replace(home.outcomes[other], complete=False)
    state = replace(state, outcomes={**home.outcomes, other: found})
    time = f"{seconds(first(found.time_s))} incomplete"
    listed = choices.sheet(state, 60)
    assert [" incomplete" in line.text for line in listed.lines[:3]] == [False, True, False]
    assert [" best" in line.text or "%" in line.text for line in listed.lines[:3]] == [False] * 3
    assert "!HPF$" not in said(state)
    assert "nothing is ranked" in said(state)
    assert f"{seconds(first(found.time_s))}?" in choices.sheet(state, 38).text
    assert time in frame.heading(state, 80)[0].text
    assert "nothing is ranked" in said(steps.select(state, WRITTEN))
    assert time in compare.sheet(state, 60).text


def test_no_figure_of_what_matters_is_cut(everything):
    """The narrowest view beside the list, and figures of all lengths."""
    state = steps.look_at(everything, "impact")
    swings = [replace(each, less_s=each.less_s and 1.004 * each.less_s) for each in state.impact.swings]
    swings += [Swing(name="processor speed", less="x0.5", less_s=17.0, more="x2", more_s=0.993 * state.impact.base_s)]
    state = replace(state, impact=replace(state.impact, swings=tuple(swings)))
    for width in range(38, 70):
        assert ".." not in sheet(state, width).text.partition("Each row")[0], width


def test_what_is_said_without_a_second_choice_is_wrapped(home):
    alone = replace(
        home, choices=home.choices[:1], order=home.order[:1], outcomes={home.order[0]: home.outcomes[home.order[0]]}
    )
    for width in (30, 44):
        lines = compare.sheet(alone, width).text.splitlines()
        assert max(map(len, lines)) <= width
        assert " ".join(" ".join(lines).split()) == "There is no second predicted choice to compare with."


def test_the_bar_shows_all_of_the_time():
    text = "".join(piece for piece, _ in bar((0.5, 0.25, 0.15, 0.1), 1.0, 20))
    assert text == MARKS[0] * 10 + MARKS[1] * 5 + MARKS[2] * 3 + MARKS[3] * 2
    assert "".join(piece for piece, _ in bar((0.5, 0.0, 0.0, 0.0), 1.0, 7)) == MARKS[0] * 4 + "   "


def test_changes_are_signed():
    assert change(1.1, 1.0) == ("+10%", "bad")
    assert change(0.88, 1.0) == ("-12%", "good")
    assert change(1.0, 1.0) == ("same", "faint")
    assert change(25.0, 1.0) == ("x25.0", "bad")
    assert change(116.4, 1.0) == ("x116", "bad")  # as in the table of esp compare
    assert change(0.0, 1.0) == ("gone", "good")


def test_the_tree_adds_up(home):
    """The first AAU holds all others: its line is the total of the program, 281.5 ms."""
    found = steps.prediction(home)
    text = tree.sheet(home, 110).text.splitlines()
    assert text[1].split("IterSync do it")[1].strip().startswith(seconds(sum(four(found.parts))))
    folded = tree.sheet(steps.fold(home, 2), 110)
    assert len(folded.lines) == 1
    assert "▸" in folded.lines[0].text


def test_the_tree_drills_down_to_a_processor(everything):
    state = steps.spread(steps.look_at(everything, "tree"), 3)
    lines = tree.sheet(state, 110).lines
    below = [line for line in lines if isinstance(line.key, tuple)]
    assert [line.key for line in below] == [(3, rank) for rank in range(8)]
    # 77 ms each, 105 ms of communication on the last: 112 ms.
    assert [re.search(r"processor \d +(\S+ ms)", line.text)[1] for line in below] == ["77.0 ms"] * 7 + ["112 ms"]
    alone = tree.sheet(steps.one_processor(state, 7), 110)
    assert "processor 7 alone" in alone.heading.text
    assert next(line for line in alone.lines if line.key == 3).text.split("a ")[1].strip().startswith("112 ms")
    told = "\n".join(line.text for line in detail.lines(steps.put_cursor(state, "tree", (3, 7)), 110))
    assert "processor 7 in AAU 3 itself: computation 0 s, communication 105 ms" in told


def test_messages_can_be_stepped_through(everything):
    state = steps.look_at(everything, "timeline")
    seen = []
    for _ in range(3):
        state = steps.pointed_at(state, timeline.next_message(state, 1))
        seen.append(state.message)
    assert seen == [0, 1, 2]
    assert timeline.next_message(state, -1) == 1
    assert timeline.next_message(steps.pointed_at(state, 79), 1) == 0
    text = timeline.message_text(steps.pointed_at(state, 0))
    # Processor 0 computes 20 ms, packs 1 ms, sends; processor 1 receives until 22 + 1 + 1 + 13 + 3 = 40 ms.
    assert text.startswith("message 1 of 80: 1.02 kB from processor 0 to 1, sent at 21.0 ms, there 19.0 ms later")
    drawn = timeline.sheet(steps.pointed_at(state, 0), 110).text
    assert drawn.count("S") == 1
    assert drawn.count("R") == 1
    near = steps.zoomed(state, 0.1)
    low, high = near.window
    inside = timeline.seen_messages(timeline.course_at_hand(near), 0.4 * low, 0.4 * high)
    assert 0 < inside.size < 80
    assert timeline.next_message(near, 1) in inside


def test_the_comparison_has_both_totals(home):
    text = compare.sheet(home, 110).text
    assert "A ◆" not in text
    assert "(BLOCK,BLOCK) 4x2, as in the source" in text
    assert "(BLOCK,*) 8" in text
    row = next(line for line in text.splitlines() if line.endswith("communication"))
    assert row.split()[:4] == ["70.6", "ms", "71.3", "ms"]
    told = detail.lines(steps.put_cursor(steps.look_at(home, "compare"), "compare", 7), 130)
    assert [line.text.split(":")[0] for line in told] == [f"{each} overlap shift of a, 50 times" for each in "AB"]
    assert "no second predicted choice" in compare.sheet(replace(home, order=(WRITTEN,)), 110).text


def test_a_failure_is_told_where_the_figures_would_be(home):
    moved = steps.moved(home, "procs", 0)
    failed = answered(moved, PredictedAnswer(number=moved.number, key=WRITTEN, outcome=Failure(text="E1 no\nbecause")))
    assert [line.text for line in detail.lines(failed, 60)] == ["E1 no", "because"]
    assert "no prediction" in frame.heading(failed, 80)[0].text
    assert steps.prediction(failed) is None
    for view in steps.VIEWS:
        sheet(steps.look_at(failed, view), 80)


@pytest.mark.parametrize("where", list(frame.KEYS))
@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_keys_fit_in_one_line(where, width):
    line, places = frame.keys(where, width)
    assert len(line.text) <= width
    for low, high, _ in places:
        assert 0 <= low < high <= width
    shown = {key for _, _, key in places}
    assert {"question_mark", "q", "ctrl+p"} <= shown
    assert {key for key, _, _ in frame.KEYS[where]} <= shown


@pytest.mark.parametrize("width", [28, 40, 60])
def test_a_click_on_a_slider_finds_the_knob(width, home):
    slider = home.sliders["bandwidth"]
    for at in range(len(slider.notches)):
        drawn = frame.slider(slider.to(at), width, focused=True)
        text = "".join(piece for piece, _ in drawn.pieces)
        assert len(text) == width
        found = frame.notch_at(slider, width, text.index("●"))
        # On a short track two notches share a column.
        again = "".join(piece for piece, _ in frame.slider(slider.to(found), width, focused=True).pieces)
        assert text.index("●") == again.index("●")
    assert frame.notch_at(slider, width, 0) is None


def test_a_click_on_a_tab_finds_its_view(home):
    found = [frame.tab_at(home, 80, column) for column in range(80)]
    assert list(dict.fromkeys(found)) == [None, *steps.VIEWS]
    assert "4 choices" in frame.tabs(home, 80).text


def test_the_text_export_has_all_parts(everything):
    text = export.text_of(steps.look_at(everything, "tree"))
    for part in ("laplace.hpf", "(CYCLIC,*)", "reduction of err", "load", "bandwidth", "IterSync"):
        assert part in text
    assert all(len(line) <= export.WIDTH for line in text.splitlines())


def test_a_comparison_with_older_settings_is_dimmed(home, made):
    moved = replace(steps.look_at(steps.moved(home, "load", 5), "compare"), slow=True)
    moved = answered(moved, PredictedAnswer(number=moved.number, key=WRITTEN, outcome=made.prediction(2.0)))
    roles = {role for line in sheet(moved, 90).lines for _, role in line.pieces}
    assert roles == {"old"}
    other = answered(
        moved, PredictedAnswer(number=moved.number, key=pinned.beside(moved).key, outcome=made.prediction(2.0))
    )
    assert "old" not in {role for line in sheet(other, 90).lines for _, role in line.pieces}


def test_both_tie_and_distance_are_shown(home):
    """282, 283, 299 and 687 ms: the second is within 2 % of the first."""
    rows = [line.text for line in choices.sheet(home, 47).lines]
    assert rows[0].endswith("best")
    assert rows[1].endswith("+0.3% =1")
    assert rows[2].endswith("+6%")
    told = " ".join(line.text for line in choices.sentences(steps.select(home, home.order[1]), 80))
    assert "0.3% slower than the fastest; a tie (=1), equal to choice 1 within" in " ".join(told.split())
    second = steps.look_at(steps.select(home, home.order[1]), "compare")
    assert "A against B: +0.3%, a tie: equal to B within" in " ".join(line.text for line in sheet(second, 80).lines)
    third = steps.look_at(steps.select(home, home.order[2]), "compare")
    assert "A against B: +6%" in [line.text.strip() for line in sheet(third, 80).lines]
    assert "best" not in choices.sheet(replace(home, busy=True), 48).lines[0].text  # the others are not known yet


def test_a_narrow_list_marks_ties(home):
    """At 80 columns beside any view but the source."""
    width = choices.pane_width(steps.look_at(home, "compare"), 80)
    rows = [line.text.split() for line in choices.sheet(home, width).lines]
    assert [row[-1] for row in rows[:2]] == ["ms", "=1"]
    assert rows[2][-1] == "ms"


def test_before_ties_are_known_no_choice_is_called_slower_without_a_mark(home):
    """The last is more than three times as long as the first: no scenario is tried for it."""
    state = replace(home, tried=home.number - 1)
    rows = [line.text for line in choices.sheet(state, 47).lines]
    assert rows[1].endswith("+0.3% ?")
    assert rows[2].endswith("+6% ?")
    assert "?" not in rows[0]
    second = steps.select(state, home.order[1])
    assert "ties are not known yet" in " ".join(line.text for line in choices.sentences(second, 80))
    assert "ties are not known yet" in " ".join(line.text for line in sheet(steps.look_at(second, "compare"), 80).lines)


def test_what_does_not_fit_in_memory_is_never_the_best(home):
    """282, 283, 299 and 687 ms: were the data of the first too large, the second would be the best."""
    first_key = home.order[0]
    usable = home.outcomes[first_key].memory_usable_bytes
    over = replace(home.outcomes[first_key], memory_bytes=int(usable) + 1)
    state = replace(home, outcomes={**home.outcomes, first_key: over})
    rows = {line.key: line.text for line in choices.sheet(state, 47).lines}
    assert rows[first_key].endswith("too large")
    assert rows[home.order[1]].endswith("best")
    assert steps.tied(state) == {}
    told = " ".join(line.text for line in choices.sentences(steps.select(state, first_key), 80))
    assert "do not fit in memory" in told
    assert "!HPF$" not in told


@pytest.mark.parametrize("width", [14, 18, 22, 30])
def test_long_names_of_choices_never_look_alike(width):
    formats = ("BLOCK", "CYCLIC", "*")
    names = [f"U/V/P({a},{b},*) COEFF({b},{a},*)" for a in formats for b in formats]
    shown = choices.told_apart(names, width)
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) <= width
    assert choices.told_apart(["(BLOCK,*)", "(*,BLOCK)"], 14) == ["(BLOCK,*)", "(*,BLOCK)"]
    assert choices.told_apart(["(BLOCK,BLOCK,*)", "(BLOCK,CYCLIC,*)"], 14) == ["(B,B,*)", "(B,C,*)"]


def test_the_list_of_choices_is_as_wide_as_its_names(home):
    long = tuple(replace(each, shown=f"U{each.shown} V{each.shown}") for each in home.choices)
    wide = replace(home, choices=long)
    assert choices.pane_width(wide, 120) > choices.pane_width(home, 120)
    assert choices.pane_width(wide, 80) <= 0.57 * 80
    assert choices.pane_width(steps.look_at(home, "compare"), 80) < choices.pane_width(home, 80)
