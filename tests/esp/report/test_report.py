"""The page of `esp report`: well-formed, alone, and saying what the other commands say."""

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

ADDRESSES = re.compile(
    r"https?:|//[a-z]|\bsrc\s*=|<link|<iframe|<object|<base|@import|url\s*\(|javascript:|fetch|XMLHttp|import\b",
    re.IGNORECASE,
)
"""Whatever would make a browser load something."""

SECTIONS = (
    "distributions",
    "whatif",
    "processors",
    "profile",
    "timeline",
    "messages",
    "memory",
    "layout",
    "source",
    "assumptions",
    "machine",
)

NO_ARRAY = """\
program plain
  integer :: i
  real :: s
  s = 0.0
  do i = 1, 100
    if (i < 50 .and. s >= 0.0) s = s + 1.0 / i
  end do
  print *, s
end program plain
"""


def parsed(text):
    """The tree: the page is strict XML, so no tag is open and nothing is unescaped."""
    return ET.fromstring(text)


def words(element):
    return " ".join("".join(element.itertext()).split())


def section(tree, name):
    (found,) = [each for each in tree.iter("section") if each.get("id") == name]
    return found


def rows(element):
    return [[words(cell) for cell in row] for row in element.iter("tr")]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of the Laplace solver on 8 processors, written once."""
    from esp.cli.main import main

    path = tmp_path_factory.mktemp("report") / "laplace.html"
    assert main(["report", "laplace", "--procs", "8", "-q", "-o", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def test_the_page_stands_alone(page):
    assert ADDRESSES.findall(page) == []
    targets = {each.get("href") for each in parsed(page).iter("a")}
    assert all(each.startswith("#") for each in targets)
    here = {f"#{each.get('id')}" for each in parsed(page).iter() if each.get("id")}
    assert targets <= here


@pytest.mark.parametrize("text", ['<img src="x.png"/>', '<a href="https://x.org">', "a { background: url(x) }"])
def test_an_address_would_be_found(text):
    assert ADDRESSES.search(text)


def test_the_page_has_every_section_once(page):
    assert tuple(each.get("id") for each in parsed(page).iter("section")) == SECTIONS


def test_the_page_is_the_same_every_time(page, esp, tmp_path):
    path = tmp_path / "laplace.html"
    assert esp("report", "laplace", "--procs", "8", "-q", "-o", str(path))[0] == 0
    command = re.compile("<footer>.*</footer>", re.DOTALL)  # names the file
    assert command.sub("", path.read_text(encoding="utf-8")) == command.sub("", page)


def test_the_figures_that_decide_the_time_are_those_of_esp_sensitivity(page, esp):
    told = json.loads(esp("sensitivity", "laplace", "--procs", "8", "--json")[1])["runs"][0]
    (shown,) = section(parsed(page), "whatif").iter("table")
    found = rows(shown)[1:]
    assert [row[0] for row in found] == [each["path"] for each in told["parameters"][: len(found)]]
    assert [row[2] for row in found[:3]] == [f"{each['elasticity']:.0%}" for each in told["parameters"][:3]]


@pytest.mark.truth
def test_formula_and_scalability_are_those_of_their_commands(esp, tmp_path):
    path, sizes = tmp_path / "page.html", ("--set", "n=64")
    asked = ("--procs", "4", *sizes, "--formula", "--scalability", "2,4", "-q", "-o", str(path))
    assert esp("report", "lfk01", *asked)[0] == 0
    text = path.read_text(encoding="utf-8")
    tree = parsed(text)
    told = json.loads(esp("scalability", "lfk01", "--procs", "2,4", *sizes, "--json")[1])
    found = [[*row[:2], row[5]] for row in rows(section(tree, "scalability"))[1:]]
    assert found == [[f"{each['processors']:,}", f"{each['size']:,}", f"{each['psi']:.3g}"] for each in told["runs"]]
    told = json.loads(esp("formula", "lfk01", "--procs", "4", *sizes, "--json")[1])
    found = rows(section(tree, "formula"))[1:]
    assert len(found) == len(told["terms"])
    assert [row[0] for row in found] == [each["term"] for each in told["terms"]]
    assert "--scalability 2,4 --formula" in words(next(tree.iter("footer")))
    assert ADDRESSES.findall(text) == []


def test_the_profile_is_that_of_run(page, esp):
    told = json.loads(esp("run", "laplace", "--procs", "8", "--json")[1])
    shown = rows(section(parsed(page), "profile"))[1:]
    hottest = sorted(told["lines"], key=lambda each: -each["time_s"])
    assert [int(row[0]) for row in shown[:5]] == [each["line"] for each in hottest[:5]]
    assert shown[0][9] == f"{hottest[0]['messages']:,}"


def test_the_source_is_all_there_and_the_hottest_line_is_the_warmest(page):
    from esp.locate import find_program

    source = section(parsed(page), "source")
    lines = find_program("laplace").read_text(encoding="utf-8").splitlines()
    code = [("".join(row[-1].itertext())).rstrip() for row in source.find(".//tbody")]
    assert code == [line.rstrip() for line in lines]
    warm = {
        row.get("id"): float(row.get("style").removeprefix("--warm:")) for row in source.iter("tr") if row.get("style")
    }
    (hottest,) = [each for each in parsed(page).iter("a") if words(each) == "Line 36"]
    assert max(warm, key=warm.get) == hottest.get("href").removeprefix("#") == "L36"
    assert warm["L37"] == warm["L36"]  # the statement goes on there


def test_the_distributions_are_those_of_compare(page, esp):
    told = json.loads(esp("compare", "laplace", "--procs", "8", "--json")[1])
    shown = rows(section(parsed(page), "distributions"))[1:]
    assert [row[1] for row in shown] == [each["choice"] for each in told["choices"]]
    pasted = [words(each) for each in section(parsed(page), "distributions").iter("pre")]
    assert pasted == [" ".join(" ".join(told["paste"]).split())]


def test_the_processors_are_those_of_run(page, esp):
    told = json.loads(esp("run", "laplace", "--procs", "1,2,4,8", "--json")[1])
    shown = rows(section(parsed(page), "processors"))[1:]
    assert [int(row[0]) for row in shown] == [1, 2, 4, 8]
    assert [float(row[3]) for row in shown] == pytest.approx([each["speed_up"] for each in told["runs"]], rel=5e-3)


def test_the_curve_stands_where_the_times_are(page, esp):
    """The points of the chart, undone: equal ratios of times are equal distances."""
    from math import log

    told = json.loads(esp("run", "laplace", "--procs", "1,2,4,8", "--json")[1])
    points = [each for each in parsed(page).iter("circle") if each.get("class") == "point"]
    heights = [float(each.get("cy")) for each in points]
    times = [each["time_s"] for each in told["runs"]]
    scale = (heights[-1] - heights[0]) / log(times[0] / times[-1])
    assert heights == pytest.approx([heights[0] + scale * log(times[0] / time_s) for time_s in times], abs=0.2)
    across = [float(each.get("cx")) for each in points]
    steps = [b - a for a, b in pairwise(across)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.2)


def test_the_columns_of_shares_are_full(page):
    charts = list(section(parsed(page), "processors").iter("svg"))
    bars = {}
    for each in charts[1].iter("rect"):
        bars.setdefault(each.get("x"), []).append(float(each.get("height")))
    assert len(bars) == 4
    assert [sum(each) for each in bars.values()] == pytest.approx([300 - 24 - 40] * 4, abs=0.3)


def test_the_layout_has_a_box_for_each_processor(page):
    drawn = list(section(parsed(page), "layout").iter("svg"))
    assert len(drawn) == 1
    assert sorted(words(each) for each in drawn[0].iter("title")) == [f"processor {rank}" for rank in range(8)]
    assert drawn[0].get("aria-label").endswith(": 0, 4; 1, 5; 2, 6; 3, 7")  # a row of the grid 4x2 for each quarter


def test_the_machine_has_every_figure(page):
    from esp.api import load_machine

    figures = {words(each) for each in section(parsed(page), "machine").iter("code")}
    paths = load_machine("ipsc860").parameters()
    assert len(figures) > 50
    assert [path for path in paths if not any(path == each or path.endswith("." + each) for each in figures)] == []


def test_a_what_if_is_said_where_the_machine_is_shown(esp):
    code, out, _ = esp("report", "pi", "--procs", "4", "--bandwidth", "x2", "-q")
    assert code == 0
    assert "before --bandwidth x2" in words(section(parsed(out), "machine"))
    assert "--bandwidth x2" in words(next(parsed(out).iter("footer")))


def test_a_program_without_arrays_has_a_page(esp):
    code, out, _ = esp("report", "-", "--procs", "4", "-q", stdin=NO_ARRAY)
    assert code == 0
    assert "nothing to distribute" in words(section(parsed(out), "distributions"))
    assert "No array is distributed" in words(section(parsed(out), "layout"))
    assert "if (i < 50 .and. s >= 0.0)" in words(section(parsed(out), "source"))


def test_where_nothing_is_distributed_no_work_is_spread(esp):
    replicated = "program p\n  real :: a(64)\n  a = 1.0\n  a = 2.0*a\nend program p\n"
    code, out, _ = esp("report", "-", "--procs", "4", "-q", stdin=replicated)
    assert code == 0
    header = words(next(parsed(out).iter("header")))
    assert "No message is sent; each processor does all the work." in header
    assert "spread evenly" not in header


def test_the_page_says_as_run_how_sure_the_time_is(page, esp):
    told = " ".join(esp("run", "laplace", "--procs", "8")[1].split())
    sure = re.search(r"trust (\S+ m?s to \S+ m?s in 90% of the scenarios[^;]*; .*? model error \d+%)", told)[1]
    assert sure in " ".join(words(section(parsed(page), "assumptions")).split())


def test_a_number_that_does_not_fit_is_told(esp):
    source = (
        "program p\n  real :: a(16)\n!HPF$ PROCESSORS q(4)\n!HPF$ DISTRIBUTE a(BLOCK(4)) ONTO q\n"
        "  a = 1.0\nend program p\n"
    )
    code, out, _ = esp("report", "-", "--procs", "4", "--scaling", "2,4,8", "-q", stdin=source)
    assert code == 0
    shown = rows(section(parsed(out), "processors"))
    impossible = {row[0]: row[1] for row in shown if len(row) == 2}
    assert list(impossible) == ["2"]  # 2 x 4 elements are not 16
    assert "BLOCK(4)" in impossible["2"]


PARTIAL = """\
program p
  integer, parameter :: n = 96
  integer :: i
  real :: a(n,n), s(n)
!HPF$ PROCESSORS q(2,3)
!HPF$ DISTRIBUTE a(CYCLIC(4),BLOCK(32)) ONTO q
!HPF$ ALIGN s(i) WITH a(i,*)
  a = 1.0
  s = sum(a, dim=2)
  s = grade_up(s)
end program p
"""
"""GRADE_UP is not modelled, and BLOCK(32) fits three processors or more."""


def test_a_partial_page_shows_bounds_and_concludes_nothing(esp):
    told = json.loads(esp("compare", "-", "--procs", "6", "--json", "--partial", stdin=PARTIAL)[1])
    assert told["partial"]
    assert (told["paste"], told["crossover"]) == ([], None)
    code, out, _ = esp("report", "-", "--procs", "6", "-q", "--partial", stdin=PARTIAL)
    assert code == 0
    tree = parsed(out)
    shown = section(tree, "distributions")
    ranked = [row for row in rows(shown)[1:] if row[0] != "-"]
    assert {row[0] for row in ranked} == {""}
    assert not [each for each in tree.iter("tr") if each.get("class") == "best"]
    assert [row[1] for row in ranked] == [each["choice"] for each in told["choices"]]
    assert all(row[3].endswith(" incomplete") for row in ranked)
    assert list(shown.iter("pre")) == []
    assert "below that use" not in words(shown)
    assert "not faster than" not in words(shown)
    assert "nothing is ranked" in words(shown).lower()
    (total,) = [each for each in tree.iter("p") if each.get("class") == "total"]
    assert " incomplete" in words(total)
    scaled = [row for row in rows(section(tree, "processors"))[1:] if len(row) > 2]
    assert scaled
    assert list(section(tree, "whatif").iter("svg")) == []
    assert all(row[2].endswith(" incomplete") for row in scaled)
    assert "are the fastest" not in words(next(tree.iter("header")))


@pytest.mark.parametrize("procs", ["4", pytest.param("1,4", marks=pytest.mark.truth)])
def test_a_speed_up_is_against_one_processor_whatever_is_listed(esp, procs):
    """As `esp run` says it below its table, and as `esp check` takes it."""
    sizes = ("--set", "n=64")
    scaled = {row["procs"]: row for row in [*_scaled(esp("run", "laplace", "--procs", f"{procs},8", *sizes)[1])]}
    assert scaled["8"]["efficiency"] == _scaled(esp("run", "laplace", "--procs", "1,8", *sizes)[1])[1]["efficiency"]
    code, out, _ = esp("report", "laplace", "--procs", "8", "--scaling", procs, "--size", "none", *sizes, "-q")
    assert code == 0
    assert "against 1 processor;" in words(section(parsed(out), "processors"))
    shown = {row[0]: row for row in rows(section(parsed(out), "processors"))[1:]}
    assert shown["8"][4] == scaled["8"]["efficiency"]
    assert shown["1"][3] == "1.00"


def _scaled(text):
    """The rows of the table of `esp run --procs 1,8`."""
    lines = [line.split() for line in text.split("\n\n")[1].splitlines()]
    assert "speed-up against 1 processor" in text
    return [
        dict(zip(("procs", "grid", "time", "unit", "speed-up", "efficiency"), row, strict=False)) for row in lines[1:]
    ]


def test_one_processor_draws_no_curve(esp):
    code, out, _ = esp("report", "pi", "--procs", "1", "--scaling", "1", "-q")
    assert code == 0
    assert list(section(parsed(out), "processors").iter("svg")) == []


def test_a_terminal_is_no_browser(esp):
    code, out, err = esp("report", "laplace", terminal=True)
    assert (code, out) == (2, "")
    assert "-o report.html" in " ".join(err.split())


def test_several_numbers_are_refused(esp):
    assert esp("report", "laplace", "--procs", "2,4")[0] == 2


@pytest.mark.parametrize("words", [("report",), ("completion",), ("system", "fit")])
def test_help_fits_a_terminal(esp, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = esp(*words, "--help")
    assert code == 0
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_a_program_without_any_time_has_a_page(esp):
    code, out, err = esp("report", "-", stdin="program p\nend\n")
    assert code == 0, err
    assert "too few numbers of processors take any time" in words(section(parsed(out), "processors"))
