"""The pictures of `esp report` show what other commands say, and what can be worked out by hand."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

SHIFT = """\
program shift
  integer, parameter :: n = 16
  real :: a(n), b(n)
!HPF$ PROCESSORS q(4)
!HPF$ DISTRIBUTE a(BLOCK) ONTO q
!HPF$ ALIGN b(i) WITH a(i)
  a = 1.0
  b(1:n-1) = a(2:n)
end program shift
"""


def section(text, name):
    (found,) = [each for each in ET.fromstring(text).iter("section") if each.get("id") == name]
    return found


@pytest.fixture(scope="module")
def shift(tmp_path_factory):
    """The page of a shift by one element on 4 processors."""
    from esp.cli.main import main

    folder = tmp_path_factory.mktemp("pictures")
    source, page = folder / "shift.hpf", folder / "shift.html"
    source.write_text(SHIFT)
    assert main(["report", str(source), "--procs", "4", "--size", "none", "-q", "-o", str(page)]) == 0
    return page.read_text(encoding="utf-8")


def test_the_matrix_has_a_cell_for_each_pair_that_sends(shift):
    """Each processor but the first sends its first element, 4 bytes, to the one before."""
    titles = [each.text for each in section(shift, "messages").iter("title")]
    assert sorted(titles) == ["1 sends 4 B to 0", "2 sends 4 B to 1", "3 sends 4 B to 2"]
    (drawn,) = section(shift, "messages").iter("svg")
    assert "3 of 12 pairs" in drawn.get("aria-label")


def test_the_memory_is_that_of_the_arrays(shift):
    """Two arrays of 16 reals over 4 processors."""
    found = section(shift, "memory")
    assert [each.text for each in found.iter("title")] == [f"processor {rank}: 32 B" for rank in range(4)]
    rows = [["".join(cell.itertext()) for cell in row] for row in found.find(".//tbody")]
    assert rows == [["a", "16 B", "16 B", "64 B"], ["b", "16 B", "16 B", "64 B"]]


def test_the_tornado_has_the_times_of_what_ifs(shift, esp):
    given = ["--bandwidth", "x0.5,x2", "--latency", "x0.5,x2", "--load", "30%"]
    code, out, _ = esp("whatif", "-", "--procs", "4", "--json", *given, stdin=SHIFT)
    assert code == 0
    from esp.output.numbers import seconds

    told = {each["change"]: seconds(each["time_s"]) for each in json.loads(out)["changes"]}
    shown = dict(each.text.split(": ") for each in section(shift, "whatif").iter("title"))
    assert len(told) == 5
    assert {name: shown[name] for name in told} == told


def test_the_timeline_has_the_shares_of_each_processor(shift, esp):
    told = json.loads(esp("run", "-", "--procs", "4", "--per-processor", "--json", stdin=SHIFT)[1])
    (drawn,) = section(shift, "timeline").iter("svg")
    shown = re.findall(r"(\d+): computation (\d+)%", drawn.get("aria-label"))
    wanted = told["per_processor"]["computation_s"]
    assert [int(rank) for rank, _ in shown] == [0, 1, 2, 3]
    assert [int(share) for _, share in shown] == pytest.approx([100 * each / told["time_s"] for each in wanted], abs=1)


def test_the_curve_of_the_best_choice_is_beside_that_of_the_source(esp):
    source = SHIFT.replace("a(BLOCK)", "a(CYCLIC)")
    compared = json.loads(esp("compare", "-", "--procs", "4", "--size", "none", "--json", stdin=source)[1])
    assert not compared["choices"][0]["written"]
    page = esp("report", "-", "--procs", "4", "--scaling", "2,4,8", "--size", "none", "-q", stdin=source)[1]
    drawn = next(section(page, "processors").iter("svg"))
    from esp.output.numbers import seconds

    other = [each[0].text for each in drawn.iter("rect")]
    assert len(other) == 4
    assert other[2] == f"(BLOCK), 4: {seconds(compared['choices'][0]['time_s'])}"


IDLE = {
    "nothing": "end program p",
    "declared": "real :: a(64)\n!HPF$ DISTRIBUTE a(BLOCK)\nend program p",
    "local": "real :: a(64)\n!HPF$ DISTRIBUTE a(BLOCK)\na = 1.0\nend program p",
    "replicated": "real :: a(64)\na = 1.0\nend program p",
    "no element": "real :: a(0)\n!HPF$ DISTRIBUTE a(BLOCK)\na = 1.0\nend program p",
    "no array": "print *, 1\nend program p",
}
"""Programs that send no message; of these "nothing" and "declared" take no time."""


@pytest.mark.parametrize("procs", [1, 6])
@pytest.mark.parametrize("name", IDLE)
def test_a_program_without_messages_has_a_page(esp, name, procs):
    code, page, err = esp(
        "report", "-", "--procs", str(procs), "--size", "none", "-q", stdin=f"program p\n{IDLE[name]}\n"
    )
    assert code == 0, err
    timeless = name in ("nothing", "declared")
    for each in ("timeline", "whatif"):
        found = section(page, each)
        assert len(list(found.iter("svg"))) == (not timeless)
        assert ("takes no time" in "".join(found.itertext())) is timeless
    assert "No message is sent" in "".join(section(page, "messages").itertext())
    assert len(list(section(page, "memory").iter("svg"))) == (name in ("declared", "local", "replicated"))


def test_the_timeline_may_have_rows_of_idle_processors():
    """Only processor 1 of 64 computes, and it is none of the 16 drawn; there is nobody to wait for it."""
    from esp.output.report_pictures import timeline
    from esp.traces.trace import COMPUTE, NOBODY, Trace, TraceAbout

    about = TraceAbout(
        writer="", origin="predicted", program="p", file="p", system="m", procs=64, grid=(64,), places=()
    )
    one = np.array([1])
    trace = Trace(
        about=about,
        rank=one,
        begin=np.zeros(1),
        duration=np.ones(1),
        aau=one,
        kind=np.array([COMPUTE], np.int8),
        partner=np.array([NOBODY]),
        size_bytes=np.zeros(1, np.int64),
    )
    drawn = ET.fromstring(timeline(trace))
    assert "0: computation 0%" in drawn.get("aria-label")
    assert "1 s" in [each.text for each in drawn.iter("text")]


def test_many_processors_say_where_the_matrix_is(esp):
    page = esp(
        "report",
        "-",
        "--procs",
        "65",
        "--scaling",
        "65",
        "--size",
        "none",
        "-q",
        stdin=SHIFT.replace("q(4)", "q(65)").replace("16", "130"),
    )
    assert page[0] == 0, page[2]
    assert "esp plot messages" in "".join(section(page[1], "messages").itertext())
    assert list(section(page[1], "memory").iter("svg")) == []
