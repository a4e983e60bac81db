import numpy as np
import pytest

from aag.diagnostics import Span
from esp.errors import UsageError
from esp.output import annotate, per_processor, table
from esp.output.screen import Screen
from interpreter.result import Assumption, PerProcessor
from tests.esp.output.build import LINES, SOURCE, array, line, prediction


@pytest.mark.parametrize("width", [60, 80, 120])
def test_annotated_source(width, golden):
    text = annotate.annotated(prediction(), Screen(width))
    assert len(text.splitlines()) == len(SOURCE) + 1
    golden(f"annotate-{width}.txt", text)


def test_annotated_source_shows_lines_of_other_files_below():
    text = annotate.annotated(prediction((*LINES, line(3, (1e-3, 0, 0, 0), file="sizes.inc"))), Screen(80))
    assert text.splitlines()[-1].startswith("sizes.inc:3")


def test_lines_in_detail(golden):
    golden("lines.txt", annotate.lines_in_detail(prediction(), ((7, 9),), Screen(80)))


def test_a_line_without_time_says_so():
    assert (
        annotate.lines_in_detail(prediction(), ((2, 2),), Screen(80))
        == "Line 2 takes no time of its own; esp explain gives the reason.\n"
    )
    assert annotate.lines_in_detail(prediction(), ((2, 3), (4, 4)), Screen(80)).startswith(
        "Lines 2-3, 4 take no time of their own; "
    )


@pytest.mark.parametrize(("start", "end"), [(0, 0), (12, 12), (9, 7)])
def test_a_line_that_does_not_exist_is_refused(start, end):
    with pytest.raises(UsageError, match=r"laplace\.hpf has lines 1 to 11"):
        annotate.lines_in_detail(prediction(), ((start, end),), Screen(80))


def test_an_aau_in_detail_with_what_is_inside(golden):
    golden("aau.txt", annotate.aau_in_detail(prediction(), 2, Screen(80)))


def test_an_aau_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match=r"--aau 99: The AAUs of this program are 0 to 7\."):
        annotate.aau_in_detail(prediction(), 99, Screen(80))


def test_all_aaus(golden):
    golden("aaus.txt", annotate.all_aaus(prediction(), Screen(80)))


def _uneven(processors):
    busy = np.arange(1.0, processors + 1)[None, :]
    idle = processors - busy
    nothing = np.zeros_like(busy)
    return prediction(
        processors=processors,
        grid=(processors,),
        time_s=array(float(processors)),
        per_processor=PerProcessor(
            end_s=busy, computation_s=busy, communication_s=nothing, overhead_s=nothing, waiting_s=idle
        ),
    )


def test_processors(golden):
    golden("processors.txt", per_processor.per_processor(_uneven(4), Screen(80)))


def test_of_many_processors_those_that_work_longest():
    text = per_processor.per_processor(_uneven(1000), Screen(80))
    assert [row.split()[0] for row in text.splitlines()[1:17]] == [str(rank) for rank in range(999, 983, -1)]
    assert "and 984 more that work less" in text


def _run(processors, time_s):
    return prediction(processors=processors, grid=(processors,), time_s=array(time_s))


@pytest.mark.parametrize("width", [60, 80])
def test_the_table_of_processors(width, golden):
    runs = [_run(1, 8.0), _run(2, 4.0), _run(4, 2.5), _run(8, 4.0)]
    text = table.scaling(runs, Screen(width), following="esp run laplace.hpf --procs 4 --annotate")
    assert max(map(len, text.splitlines())) <= width
    golden(f"scaling-{width}.txt", text)


def test_speed_up_by_hand():
    assert table.speed_up([_run(1, 8.0), _run(4, 2.5)]) == ((1.0, 1.0), (3.2, 0.8))


def test_speed_up_without_one_processor_counts_the_fewest_as_perfect():
    runs = [_run(4, 2.5), _run(2, 4.0)]
    assert table.speed_up(runs) == ((3.2, 0.8), (2.0, 1.0))
    assert "against 2 processors" in table.scaling(runs, Screen(80))


def test_what_rounding_left_is_no_time():
    text = annotate.annotated(prediction((*LINES[:3], line(11, (5.5e-17, 0, 0, 0)))), Screen(80))
    assert text == annotate.annotated(prediction(), Screen(80))


PARTIAL = prediction(
    complete=False,
    assumptions=(
        Assumption(code="unmodelled", text="line 8: no", span=Span("laplace.hpf", 8, 5)),
        Assumption(code="unmodelled", text="line 3: no", span=Span("sizes.inc", 3)),
    ),
)


def test_annotated_source_marks_the_lines_that_are_not_charged():
    rows = annotate.annotated(PARTIAL, Screen(80)).splitlines()
    assert [row.split("?")[0].split()[-1] for row in rows if "?" in row] == ["8"]


def test_the_table_of_processors_says_that_time_is_missing():
    text = " ".join(table.scaling([prediction(processors=1), PARTIAL], Screen(80)).split())
    assert "partial incomplete: lines 8, sizes.inc:3 could not be charged" in text
    assert "partial" not in table.scaling([prediction()], Screen(80))
