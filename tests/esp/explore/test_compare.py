"""Distributions ranked, ties, and the size from which a choice wins."""

import csv
import io
import json
import re
import shlex
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import esp
from aag.diagnostics import SourceError
from esp import api, prediction
from esp.cli.main import main
from esp.errors import UsageError
from esp.explore import predictions as predicting
from esp.explore.crossover import Crossover, crossover, sizes_below
from esp.output.compare import size_notes
from esp.stated import CONTENDED, ERROR, stated_error

PARTS = ("computation_s", "communication_s", "waiting_s", "overhead_s")


@pytest.fixture(scope="module")
def laplace():
    return esp.compare("laplace_bb", procs=8, n=64, size="none")


def test_each_choice_is_what_a_prediction_of_its_own_says(laplace):
    assert len(laplace.ranked) == 12
    for each in laplace.ranked:
        alone = esp.predict("laplace_bb", procs=8, n=64, distribute=dict(each.choice.formats), grid=each.grid)
        assert each.time_s == alone.time_s
        assert each.prediction.messages == alone.messages
        assert alone.grid == each.grid
    times = [each.time_s for each in laplace.ranked]
    assert times == sorted(times)


def test_the_choice_of_the_source_is_marked(laplace):
    written = [each for each in laplace.ranked if each.written]
    assert [(each.shown, each.grid) for each in written] == [("(BLOCK,BLOCK)", (4, 2))]
    assert written[0].time_s == esp.predict("laplace_bb", procs=8, n=64).time_s


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "n"), [("laplace_bb", 48), ("gauss", 9), ("lfk01", 48)])
def test_what_is_to_be_pasted_gives_the_predicted_time(program, n, root):
    """The directives in place of those of the source, and nothing said beside it."""
    best = esp.compare(program, procs=6, size="none", n=n).best
    text = (root / "benchmarks_hpf" / f"{program}.hpf").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not re.match(r"!HPF\$ +(PROCESSORS|DISTRIBUTE)", line)]
    at = next(i for i, line in enumerate(kept) if line.startswith("!HPF$") or line.strip().startswith("integer :: i"))
    pasted = "\n".join([*kept[: at + 1], *best.choice.directives, *kept[at + 1 :]]) + "\n"
    assert esp.predict(pasted, procs=None, n=n).time_s == best.time_s


@pytest.mark.truth
def test_a_mapping_of_the_source_that_is_no_sensible_one_is_there_all_the_same(root):
    text = (root / "benchmarks_hpf" / "gauss.hpf").read_text(encoding="utf-8")
    found = esp.compare(text.replace("A(*,CYCLIC)", "A(*,CYCLIC(3))"), procs=4, n=12)
    assert [each.shown for each in found.ranked if each.written] == ["(*,CYCLIC(3))"]
    assert len(found.ranked) == 9


def test_named_formats_only():
    found = esp.compare("laplace_bb", procs=8, n=64, distribute={"temp": ["(BLOCK,*)", "(*,CYCLIC(4))"]})
    assert {each.shown for each in found.ranked if not each.written} == {"(BLOCK,*)", "(*,CYCLIC(4))"}
    plain = esp.compare("laplace_bb", procs=8, n=64, distribute=["(block,*)", "(*,cyclic(4))"])
    assert [each.time_s for each in plain.ranked] == [each.time_s for each in found.ranked]


def test_one_that_does_not_fit_is_told_and_the_others_are_ranked():
    found = esp.compare("laplace_bb", procs=8, n=64, distribute=["(BLOCK(2),*)", "(BLOCK,*)"])
    assert [(shown, why.code) for shown, why in found.impossible] == [("(BLOCK(2),*)", "E307")]
    assert "(BLOCK,*)" in {each.shown for each in found.ranked}
    assert re.search(r"failed \(BLOCK\(2\),\*\): (line \d+: )?E307", " ".join(str(found).split()))


SMALL_BLOCKS = """\
program p
  integer, parameter :: n = 100
  real :: a(n,n)
!HPF$ PROCESSORS q(2,3)
!HPF$ DISTRIBUTE a(CYCLIC(4),BLOCK(34)) ONTO q
  a = 1.0
end program p
"""
"""The squarest grid of 8 is 4x2, and 2 blocks of 34 do not hold 100."""


@pytest.mark.parametrize("distribute", [None, "(BLOCK,BLOCK)", {"a": "(*,BLOCK)"}])
def test_a_mapping_of_the_source_that_does_not_fit_is_one_of_the_impossible(distribute):
    found = esp.compare(SMALL_BLOCKS, procs=8, distribute=distribute, size="none")
    assert [(shown, why.code) for shown, why in found.impossible] == [("(CYCLIC(4),BLOCK(34))", "E307")]
    assert not any(each.written for each in found.ranked)
    for each in found.ranked:
        alone = esp.predict(SMALL_BLOCKS, procs=8, distribute=dict(each.choice.formats), grid=each.grid)
        assert each.time_s == alone.time_s


def test_one_whose_blocks_are_not_all_that_is_wrong_is_refused():
    wrong = SMALL_BLOCKS.replace("  a = 1.0", "!HPF$ ALIGN b(i) WITH a(i,*)\n  a = 1.0")
    with pytest.raises(SourceError) as raised:
        esp.compare(wrong, procs=8, distribute="(BLOCK,BLOCK)", size="none")
    assert "E301" in {each.code for each in raised.value.diagnostics}


def test_programs_that_differ_in_directives(root):
    files = [str(root / "benchmarks_hpf" / f"laplace_{each}.hpf") for each in ("bb", "bx", "xb")]
    found = esp.compare(files, procs=4, n=64)
    assert not found.differ
    for each in found.ranked:
        assert each.time_s == esp.predict(each.shown, procs=4, n=64).time_s
    assert esp.compare([files[0], str(root / "benchmarks_hpf" / "laplace.hpf")], procs=4, n=64).differ


def test_a_value_is_for_the_programs_that_have_its_name(root):
    files = [str(root / "benchmarks_hpf" / f"{each}.hpf") for each in ("laplace_bb", "pi")]
    assert "k" not in esp.predict("pi", procs=4).constants
    found = esp.compare(files, procs=4, k=7)
    assert not found.impossible
    assert {each.time_s for each in found.ranked} == {
        esp.predict("laplace_bb", procs=4, k=7).time_s,
        esp.predict("pi", procs=4).time_s,
    }
    with pytest.raises(TypeError, match="can be set: n, k"):
        esp.compare(files, procs=4, kk=7)


def test_a_program_that_is_wrong_is_told_with_its_line(root):
    wrong = SMALL_BLOCKS.replace("CYCLIC(4)", "BLOK")
    found = esp.compare([wrong, str(root / "benchmarks_hpf" / "pi.hpf")], procs=4)
    ((_, why),) = found.impossible
    assert f"line {why.span.line}: {why.code}" in str(found)
    assert not found.differ  # from what could be predicted


@pytest.mark.parametrize("jobs", [0, -3, "abc", None, 1.5])
def test_what_is_no_number_of_processes_is_refused(jobs):
    with pytest.raises(UsageError, match=r"is not a process count|not a whole number"):
        esp.compare("pi", procs=2, jobs=jobs)
    with pytest.raises(UsageError, match=r"is not a process count|not a whole number"):
        esp.sweep("pi", procs=2, load=["10%", "20%"], jobs=jobs)


def test_what_ifs_hold_for_all():
    wanted = {"procs": 8, "n": 64, "size": "none", "distribute": ["(BLOCK,*)", "(*,BLOCK)"]}
    plain, loaded = (esp.compare("laplace_bb", **wanted, **more) for more in ({}, {"load": "50%"}))
    assert loaded.best.time_s > plain.best.time_s
    with pytest.raises(UsageError, match="one value for each what-if"):
        esp.compare("laplace_bb", procs=8, load=["10%", "20%"])


# --- the model error ---


def test_the_stated_errors_are_those_of_the_accuracy_page(root):
    page = (root / "docs" / "accuracy.md").read_text(encoding="utf-8")
    classes = page.partition("<!-- begin classes -->")[2].partition("<!-- end classes -->")[0]
    rows = re.findall(r"^\| ([a-z,\- ]+) \| \d+ \| [<\d. ]+ \| ([<\d. ]+) \|", classes, re.MULTILINE)
    worst = {name: float(text.strip("< ")) / 100 for name, text in rows}
    assert worst.pop("contended shifts and exchanges") <= CONTENDED
    assert len(worst) > 5
    assert max(worst.values()) <= ERROR


def test_messages_that_meet_are_less_certain():
    """The messages of a transpose meet on a mesh; those of an overlap shift in Gray code do not on a hypercube."""
    text = """\
program p
  integer, parameter :: n = 64
  real :: a(n, n), b(n, n)
!hpf$ distribute a(block, *)
!hpf$ align b(i, j) with a(i, j)
  a = 1.0
  b = transpose(a)
  print *, b(1, 1)
end program p
"""
    mesh = {"cube.network.topology.kind": "mesh"}
    meeting = esp.predict(text, procs=8, system_set=mesh, processor_speed="x1000000", memory_speed="x1000000", io=False)
    share = (meeting.parts.communication_s + meeting.parts.waiting_s) / meeting.time_s
    assert stated_error(meeting) == pytest.approx(max(ERROR, CONTENDED * share))
    assert stated_error(meeting) > ERROR
    assert stated_error(esp.predict("laplace_bb", procs=8, n=64)) == ERROR


# --- crossover ---


def _first_of_the_suffix(times, winner, rivals, sizes):
    """By trying every size: from which one on the winner of the last is not beaten."""
    found = sizes[-1]
    for size in reversed(sizes):
        if any(times(rival, size) < times(winner, size) for rival in rivals):
            return found
        found = size
    return found


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=60, unique=True), st.floats(0, 1000), st.floats(0.1, 2))
def test_times_that_cross_once_are_found_where_they_cross(sizes, start, slope):
    """Choice 0 starts high and grows slowly; choice 1 the other way around."""
    sizes = sorted(sizes)

    def times(choice, size):
        return start + size if choice == 0 else (1 + slope) * size

    if times(0, sizes[-1]) > times(1, sizes[-1]):
        return
    found = crossover("n", times, 0, [1], sizes)
    assert found.wins_from == _first_of_the_suffix(times, 0, [1], sizes)
    assert (found.rival is None) == (found.wins_from == sizes[0])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.data())
def test_whatever_the_times_it_is_a_crossing(first, data):
    second = [data.draw(st.floats(0, 1)) for _ in first]
    second[-1] = max(first[-1], second[-1])
    sizes = range(len(first))
    found = crossover("n", lambda choice, size: (first, second)[choice][size], 0, [1], sizes)
    if found.rival is not None:
        assert first[found.wins_from] <= second[found.wins_from]
        assert first[found.wins_from - 1] > second[found.wins_from - 1]


def test_a_size_is_named_only_outside_the_model_error():
    """The rival takes 100 + size, the winner 200 - size, and 10 % is a tie."""
    sizes = range(10, 101, 10)

    def times(choice, size):
        return size + 100 if choice == 1 else 200 - size

    found = crossover("n", times, 0, [1], sizes, tolerance=0.1)
    assert (found.rival, found.rival_wins) == (1, True)
    assert found.wins_from == 60  # 140 and 160; at 50 both take 150
    assert crossover("n", times, 0, [1], sizes, tolerance=0.1, tied=[1]).wins_from is None
    assert crossover("n", times, 0, [1], range(10, 51, 10), tolerance=0.1).wins_from is None
    near = crossover("n", times, 0, [1], range(48, 101, 4), tolerance=0.1)
    assert (near.wins_from, near.rival_wins) == (60, False)  # 152 and 148 at 48; 144 and 156 at 56; 140 and 160 at 60


def test_a_size_that_is_slow_by_itself_is_no_limit():
    """The rival is 20 % slower at 50 alone, or slower from 50 on and slowest there."""

    def alone(choice, size):
        return size * (1.2 if choice == 1 and size == 50 else 1.0)

    def first(choice, size):
        return size * ({50: 1.5, 60: 1.1}.get(size, 1.0) if choice == 1 else 1.0)

    def limit(choice, size):
        return size * (1.1 if choice == 1 and size >= 50 else 1.0)

    sizes = range(10, 51, 10)
    for times, wins_above, special in ((alone, False, True), (first, True, True), (limit, True, False)):
        found = crossover("n", times, 0, [1], sizes, tolerance=0.02, beyond=60)
        assert (found.wins_from, found.above) == (50, 60)
        assert (found.wins_above, found.special) == (wins_above, special)


def test_the_other_sizes_are_named():
    """nx is varied; ny stays; the array bounds that follow nx are no size of their own."""
    text = """program plate
  integer, parameter :: nx = 24, ny = 10, mx = nx + 1
  real :: a(mx, ny), b(mx, ny)
!HPF$ DISTRIBUTE a(BLOCK, *)
!HPF$ ALIGN b(i, j) WITH a(i, j)
  a = 1.0
  b(2:nx, :) = a(1:nx-1, :)
  print *, sum(b)
end program plate
"""
    found = esp.compare(text, procs=2)
    assert (found.crossover.name, dict(found.crossover.fixed)) == ("nx", {"ny": 10})
    assert "nx = 24, with ny = 10" in size_notes(found)[0][1] or "nx = 3, with ny = 10" in size_notes(found)[0][1]
    scanned = esp.compare(text, procs=2, size="nx=8,16")
    assert "with ny = 10: " in size_notes(scanned)[0][1]


@pytest.mark.parametrize(("n", "beaten"), [(64, False), (256, True)])
def test_one_process_predicts_nothing_in_vain(monkeypatch, n, beaten):
    made = []
    lowered = predicting.lower_source
    monkeypatch.setattr(predicting, "lower_source", lambda *asked: made.append(asked) or lowered(*asked))
    found = esp.compare("laplace_bb", procs=8, n=n)
    crossing = found.crossover
    assert (crossing.rival is not None) == beaten
    between = len(set(crossing.tried) - {crossing.sizes[0], n})
    assert len(made) == len(found.ranked) + len(crossing.challengers) + 1 + 2 * between


@pytest.mark.parametrize(("current", "procs"), [(256, 8), (100, 8), (30, 8), (9, 8), (64, 64), (2, 1)])
def test_sizes_end_with_the_current_one(current, procs):
    sizes = sizes_below(current, procs)
    assert sizes[-1] == current
    assert list(sizes) == sorted(set(sizes))
    assert all(size % procs == 0 for size in sizes[:-1]) or current < 4 * procs


@pytest.mark.parametrize(
    ("program", "n", "procs", "once"),
    [
        ("laplace_bb", 256, 8, True),
        pytest.param("gauss", 64, 4, True, marks=pytest.mark.truth),
        ("redblack", 96, 4, False),
        pytest.param("lfk01", 64, 4, True, marks=pytest.mark.truth),
    ],
)
def test_the_crossover_is_that_of_trying_every_size(program, n, procs, once):
    """Where times cross more than `once`, it is one of the crossings."""
    found = esp.compare(program, procs=procs, n=n)
    crossing = found.crossover
    assert (crossing.name, crossing.sizes[-1]) == ("n", n)

    @cache
    def time_of(rank, size):
        each = found.ranked[rank - 1]
        formats = dict(each.choice.formats)
        return esp.predict(program, procs=procs, n=size, distribute=formats, grid=each.grid).time_s

    smallest = crossing.sizes[0]

    def slower(rank, size):
        """The first choice with the model error on top."""
        return time_of(rank, size) * (1.02 if rank == 1 else 1)

    assert crossing.tolerance == 0.02
    faster = [rank for rank in crossing.challengers if time_of(rank, smallest) < slower(1, smallest)]
    if crossing.rival is None:
        assert not faster
        assert crossing.wins_from == smallest
        return
    assert crossing.rival == min(faster, key=lambda rank: time_of(rank, smallest))
    assert crossing.rival_wins == (time_of(1, smallest) > 1.02 * time_of(crossing.rival, smallest))
    if crossing.wins_from is None:
        assert found.ranked[crossing.rival - 1].tie == 1
        return
    before = crossing.sizes[crossing.sizes.index(crossing.wins_from) - 1]
    assert {before, crossing.wins_from} <= set(crossing.tried)
    assert slower(1, crossing.wins_from) <= time_of(crossing.rival, crossing.wins_from)
    assert slower(1, before) > time_of(crossing.rival, before)
    if once:
        assert crossing.wins_from == _first_of_the_suffix(slower, 1, [crossing.rival], crossing.sizes)


@pytest.mark.truth
def test_sizes_that_are_named_are_all_tried():
    wanted = {"procs": 4, "distribute": ["(BLOCK,*)", "(*,BLOCK)", "(BLOCK,BLOCK)", "(CYCLIC,*)"]}
    found = esp.compare("redblack", n=48, size="n=12:48:12", **wanted)
    assert found.scan.sizes == (12, 24, 36, 48)
    alone = {size: esp.compare("redblack", n=size, size="none", **wanted).ranked for size in found.scan.sizes}
    for size, best in zip(found.scan.sizes, found.scan.best, strict=True):
        assert found.ranked[best - 1].choice == alone[size][0].choice
    runs = [(first, last) for first, last, _ in found.scan.runs]
    assert (runs[0][0], runs[-1][1]) == (12, 48)
    assert found.scan.best[-1] == 1
    for first, last, ranks in found.scan.runs:
        for size in range(first, last + 1, 12):  # no other choice is faster by more than a tie
            times = {(each.shown, each.grid): each.time_s for each in alone[size]}
            for rank in ranks:
                known = found.ranked[rank - 1]
                assert times[known.shown, known.grid] <= 1.02 * alone[size][0].time_s
    assert f"n = {runs[0][0]}" in str(found)


def test_the_size_may_be_named():
    wanted = {"procs": 4, "n": 64, "distribute": ["(BLOCK,*)", "(*,BLOCK)"]}
    assert esp.compare("laplace_bb", **wanted, size="k").crossover.name == "k"
    assert esp.compare("laplace_bb", **wanted, size="none").crossover is None
    with pytest.raises(UsageError, match="It is one of n, k"):
        esp.compare("laplace_bb", **wanted, size="m")


# --- the command ---


def test_the_table_fits_and_ends_with_the_next_command(capsys, monkeypatch):
    for width in ("60", "80", "120"):
        monkeypatch.setenv("COLUMNS", width)
        assert main(["compare", "laplace_bb", "--procs", "8", "--set", "n=64"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        lines = [line for line in out.splitlines() if "!HPF$" not in line]
        assert [line for line in lines if len(line) > int(width)] == []
        assert "tie with 11" in out
        assert "         !HPF$ DISTRIBUTE TEMP(*,BLOCK) ONTO PRC\n" in out
    words = shlex.split(out.partition("\nnext     ")[2])
    best = re.search(r"^ 1[ *] +\S+ +\S+ +([\d.]+ \w+)", out, re.MULTILINE)[1]
    assert main(words[1:]) == 0
    assert f"{best} on 8 processors" in capsys.readouterr().out


SWEEPS = """program sweeps
  integer, parameter :: n = 16
  real :: u(n, n)
  integer :: i, j
!HPF$ DISTRIBUTE u(BLOCK, *)
  u = 1.0
  do while (maxval(u) < 1.0e6)
    do j = 2, n
      do i = 2, n
        u(i, j) = u(i-1, j) + u(i, j-1)
      end do
    end do
  end do
  print *, sum(u)
end program sweeps
"""
"""Only under some distributions do the owners run the loop over i one after the other."""


@pytest.mark.truth
def test_what_only_some_choices_assume_is_said_with_their_numbers(capsys, tmp_path):
    (tmp_path / "sweeps.f90").write_text(SWEEPS)
    words = ["compare", str(tmp_path / "sweeps.f90"), "--procs", "4", "--set", "trips_7=3", "--size", "none"]
    assert main([*words, "--json"]) == 0
    choices = json.loads(capsys.readouterr().out)["choices"]
    for each in choices:
        alone = esp.predict(SWEEPS, procs=4, trips_7=3, distribute=each["distribute"], grid=each["grid"])
        expected = {(found.code, (found.span and found.span.line) or None) for found in alone.assumptions}
        assert {(found["code"], found["line"]) for found in each["assumptions"]} == expected
    inner = [each["rank"] for each in choices if any(found["line"] == 9 for found in each["assumptions"])]
    assert 0 < len(inner) < len(choices)
    assert 1 not in inner
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.split())
    named = re.search(r"the loop over i read [^()]*\(line 9; choices ([^)]*)\)", told)[1]
    spans = [each.split(" to ") for each in re.split(r", | and ", named)]
    assert [at for span in spans for at in range(int(span[0]), int(span[-1]) + 1)] == inner
    assert "assumed nothing" not in told


def test_what_only_the_slower_program_assumes_is_said(capsys, tmp_path):
    loop = "do while (a(1) > 0.5 .and. k < 40)\n  a = 0.9*a\n  k = k + 1\nend do\n"
    for name, body in (("quick", "a = 2.0\n"), ("slow", f"a = 1.0\nk = 0\n{loop}")):
        text = (
            f"program p\nreal :: a(64)\ninteger :: k\n!HPF$ DISTRIBUTE a(BLOCK)\n{body}print *, a(1)\nend program p\n"
        )
        (tmp_path / f"{name}.f90").write_text(text)
    words = ["compare", str(tmp_path / "quick.f90"), str(tmp_path / "slow.f90"), "--procs", "4", "--budget", "0"]
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "assuming all 40 iterations" in told
    assert "slow.f90:7; program 2)" in told.replace("slow.f90: 7", "slow.f90:7")


def test_json_and_csv_say_the_same(capsys):
    assert main(["compare", "laplace_bb", "--procs", "8", "--set", "n=64", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["compare", "laplace_bb", "--procs", "8", "--set", "n=64", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(told["choices"]) == len(rows) == 12
    for each, row in zip(told["choices"], rows, strict=True):
        assert each["time_s"] == float(row["time_s"])
        assert sum(each[part] for part in PARTS) == pytest.approx(each["time_s"], rel=1e-12)
        assert [float(row[part]) for part in PARTS] == [each[part] for part in PARTS]
        assert (each["choice"], "x".join(map(str, each["grid"]))) == (row["choice"], row["grid"])
    assert told["crossover"]["parameter"] == "n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("laplace_bb --procs 1,2", "takes one processor count"),
        ("laplace_bb --distribute (BLOK,*)", "'blok' is none of"),
        ("laplace_bb --distribute (BLOCK,*) --distribute TEMP=(*,BLOCK)", "name all distributions, or none"),
        ("laplace_bb laplace_bx --distribute (BLOCK)", "several programs are compared unchanged"),
        ("laplace_bb --size x", "x is not an integer PARAMETER"),
        ("laplace_bb --load 200%", "out of range"),
        ("nothing.hpf", "no bundled program"),
    ],
)
def test_wrong_use(capsys, words, told):
    assert main(["compare", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in " ".join(err.split())


def test_a_distribution_that_no_line_can_have(capsys):
    assert main(["compare", "laplace_bb", "--procs", "8", "--distribute", "NIX=(BLOCK,*)"]) == 2
    assert "there is no array or template nix" in capsys.readouterr().err


def test_it_is_an_attribute_that_loads_late():
    assert "compare" in dir(esp)
    assert api.Prediction is esp.Prediction


def test_far_work_is_shown_to_a_person(monkeypatch, capsys):
    """On a terminal, after a second, and gone at the end; elsewhere nothing."""
    import sys
    import time

    from esp.cli import progress

    moments = iter(range(1000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(moments)))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["compare", "pi", "--procs", "2"]) == 0
    err = capsys.readouterr().err
    assert re.search(r"2 of 4 predictions, shortest so far [\d.]+ ms, .* left", err)  # then those with all scenarios
    assert re.search(r"4 of 4 predictions, shortest so far [\d.]+ ms", err)
    assert err.split("\r")[-1].strip().startswith("esp took")
    assert time is progress.time


def test_the_size_below_which_the_winner_does_not_win_is_named():
    found = esp.compare("laplace_bb", procs=4, n=16, k=3, size="none")
    crossing = Crossover(
        name="n", sizes=(4, 8, 12, 16), tried=(4, 8, 12, 16), challengers=(1,), wins_from=12, rival=2, rival_wins=True
    )
    ((label, text),) = size_notes(replace(found, crossover=crossing))
    rival = found.ranked[1].shown
    assert label == "size"
    assert text == (
        f"1 is faster than 2, {rival}, for n = 12 to 16, not at n = 8; at n = 4, 2 is faster (tried n = 4, 8, 12, 16)"
    )
    (_, text), *_ = size_notes(replace(found, crossover=replace(crossing, wins_from=8)))
    assert "for n = 8 to 16; at n = 4, 2 is faster" in text
    one = replace(crossing, wins_from=16, above=20, special=True)
    (_, text), *_ = size_notes(replace(found, crossover=one))
    assert (
        "at n = 16 alone, not at n = 12 or 20; at n = 4, 2 is faster; n = 16 is a special size, not a threshold" in text
    )
    (_, text), *_ = size_notes(replace(found, crossover=replace(one, wins_above=True, fixed={"m": 3})))
    assert "for n = 16 and 20, with m = 3, not at n = 12; at n = 4, 2 is faster; n = 16 is special: 2 takes" in text


def test_programs_of_different_sizes_are_named_as_such():
    text = "program p\n real :: a({0})\n integer, parameter :: n = {0}\n!hpf$ distribute a(block)\n a = 1\nend\n"
    found = esp.compare([text.format(each) for each in (9, 12)], procs=3)
    shown = str(found)
    assert "n=" not in shown.splitlines()[0]
    assert "the programs may do different work: n is" in shown


def test_first_gives_a_number_of_python():
    assert type(prediction.first(np.float64(2.0))) is float


def test_ctrl_c_gives_what_is_predicted(monkeypatch, capsys):
    lower, made = predicting.lower_source, []

    def stopping(*arguments):
        made.append(1)
        if len(made) == 4:
            raise KeyboardInterrupt
        return lower(*arguments)

    monkeypatch.setattr(predicting, "lower_source", stopping)
    words = shlex.split("compare laplace_bb --procs 8 --set n=24 --jobs 1")
    assert main(words) == 130
    text = " ".join(capsys.readouterr().out.split())
    assert "stopped: 1 is the fastest so far; 9 choices not tried" in text
    assert not any(each in text for each in ("paste", "advice", "next", "faster than"))
    made.clear()
    assert main([*words, "--json"]) == 130
    said = json.loads(capsys.readouterr().out)
    assert said["interrupted"]
    assert (len(said["choices"]), len(said["untried"])) == (3, 9)
    assert (said["certainty"], said["paste"]) == (None, [])
    made[:] = [1, 1, 1]
    assert main(words) == 130  # nothing is predicted
    assert capsys.readouterr().out == ""


def test_ctrl_c_among_the_scenarios_keeps_the_order(monkeypatch, capsys):
    def stopped(*_arguments, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(predicting, "interval_of", stopped)
    assert main(shlex.split("compare laplace_bb --procs 8 --set n=24 --jobs 1")) == 130
    text = " ".join(capsys.readouterr().out.split())
    assert "stopped: all are predicted and in order; the rest was not tried" in text
    assert not any(each in text for each in ("paste", "advice", "next", "faster than"))


def test_ctrl_c_among_the_sizes_keeps_the_order(monkeypatch, capsys):
    def stopped(*_arguments, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr("esp.explore.compare.crossover", stopped)
    assert main(shlex.split("compare laplace_bb --procs 8 --set n=24 --jobs 1")) == 130
    assert "stopped: all are predicted and in order" in " ".join(capsys.readouterr().out.split())
