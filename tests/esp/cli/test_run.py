import argparse
import csv
import io
import json
import re
import stat
import subprocess
import sys

import numpy as np
import pytest

from aag.diagnostics import Diagnostic, SourceError, Span, UnresolvedError
from esp import api
from esp.api import predict
from esp.cli import run
from esp.cli.main import main
from esp.cli.options import procs_of
from esp.explore.advise import numbers_of
from esp.explore.axes import values_of
from esp.output.table import above_perfect, compared_with
from esp.request import asked
from sag.scenario import Scenario
from tests.esp.cli.conftest import predict_with
from tests.esp.output.build import array, prediction

PROGRAM = "program p\n  integer :: i\n  i = 1\nend program p\n"


def test_a_bundled_program_is_said_to_be_bundled(esp, fake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = esp("run", "laplace.hpf", "--procs", "8")
    assert code == 0
    assert out.startswith("laplace.hpf (bundled)  8 procs (4x2)  ipsc860  n=256 k=50")
    assert out.endswith("next     esp compare laplace.hpf --procs 8\n")


def test_a_file_of_the_user_wins(esp, fake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "laplace.hpf").write_text(PROGRAM, encoding="utf-8")
    assert esp("run", "laplace.hpf")[1].startswith("laplace.hpf  8 procs")


def test_standard_input(esp, fake):
    code, out, _ = esp("run", "-", stdin=PROGRAM)
    assert code == 0
    assert out.startswith("<stdin>  8 procs")
    assert "next" not in out


def test_standard_input_in_fixed_form(esp, fake):
    text = "C a comment\n      program p\n      integer i\n      i = 1 +\n     &    2\n      end\n"
    assert esp("run", "-", "--form", "fixed", stdin=text)[0] == 0


def test_nothing_on_standard_input(esp, fake):
    code, out, err = esp("run", "-")
    assert (code, out) == (2, "")
    assert err == "esp: standard input: there is nothing to read.\n"


def test_options_become_the_request(esp, fake):
    words = (  # a distribution may also be written as in a directive
        "--procs 4 --grid 2x2 --distribute TEMP=(BLOCK,*) --distribute B(*,CYCLIC(2)) "
        "--set N=256 --set tol=1d-3 --set debug=.false. "
        "--load 30% --bandwidth x2 --latency x0.5 --processor-speed x1e9 --memory-speed 50% "
        "--overlap 0.4 --io off --opt hoist=off --opt coalesce=on --system-set cube.network.long.startup=120us "
        "--timed --unroll"
    )
    assert esp("run", "laplace.hpf", *words.split())[0] == 0
    (request,) = fake
    assert (request.procs, request.grid, request.timed, request.unroll) == (4, (2, 2), True, True)
    assert request.distribute == {"temp": "(BLOCK,*)", "b": "(*,CYCLIC(2))"}
    assert request.values == {"n": 256, "tol": 1e-3, "debug": False}
    assert request.off == {"hoist"}
    scenario = request.scenario
    assert (scenario.load, scenario.bandwidth, scenario.latency) == ("30%", "x2", "x0.5")
    assert (scenario.processor_speed, scenario.memory_speed, scenario.overlap) == ("x1e9", "50%", "0.4")
    assert scenario.io is False
    assert scenario.sets == (("cube.network.long.startup", "120us"),)


def test_without_procs_the_program_decides(esp, fake):
    esp("run", "laplace.hpf")
    assert fake[0].procs is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--procs 0", "--procs: '0' is not a processor count"),
        ("--procs -4", "-4"),
        ("--procs 1,two", "'two' is not a processor count"),
        ("--procs 2097152", "from 1 to 1,048,576"),
        ("--grid 4x", "'4x' is not a processor grid"),
        ("--grid 0x2", "is not a processor grid"),
        ("--set N", "--set: 'N' is not of the form NAME=VALUE"),
        ("--set N=1 --set n=2", "n is given twice"),
        ("--set N=lots", "'lots' is not a value for n"),
        ("--set N=nan", "'nan' is not a value for n"),
        ("--distribute (BLOCK,*) --distribute (*,BLOCK)", "--distribute: a prediction has one distribution"),
        ("--opt hoist=maybe", "hoist is either on or off"),
        ("--opt hoisting=off", "there is no optimisation 'hoisting'"),
        ("--opt fuse=on", "the optimisation 'fuse' is not modelled"),
        ("--form loose", "invalid choice: 'loose'"),
        ("--line eleven", "'eleven' is not a line"),
        ("--line 3-", "'3-' is not a line"),
        ("--line 99", "laplace.hpf has lines 1 to 11"),
        ("--aau x", "'x' is not an AAU"),
        ("--aau 99", "The AAUs of this program are 0 to 7"),
        ("--annotate --per-processor", "--annotate and --per-processor contradict"),
        ("--procs 1,2 --annotate", "--annotate needs one processor count"),
        ("--json --csv", "not allowed with argument"),
        ("--json --annotate", "--json contains every line and does not show --annotate"),
        ("--systm ipsc860", "Did you mean --system?"),
        ("--system cray", "cray: file not found"),
    ],
)
def test_wrong_options_end_with_2_and_a_paragraph(esp, fake, words, told):
    code, out, err = esp("run", "laplace.hpf", *words.split())
    assert (code, out) == (2, "")
    assert told in " ".join(err.split())
    assert err.count("esp: ") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["nix.hpf", "no/such/folder.hpf", "a" * 5000, ""])
def test_no_such_program(esp, fake, name):
    code, out, err = esp("run", name)
    assert (code, out) == (2, "")
    assert any(each in err for each in ("no bundled program", "folder", "name is empty"))


def test_a_near_name_is_offered(esp, fake):
    assert "Did you mean laplace?" in " ".join(esp("run", "laplase.hpf")[2].split())


def test_a_folder_is_no_program(esp, fake, tmp_path):
    code, _, err = esp("run", str(tmp_path))
    assert code == 2
    assert "this is a folder, not a program" in " ".join(err.split())


def test_a_binary_file_is_no_program(esp, fake, tmp_path):
    path = tmp_path / "a.hpf"
    path.write_bytes(b"\x7fELF\0\0\1")
    code, _, err = esp("run", str(path))
    assert code == 1
    assert "binary file" in err


def test_all_findings_of_a_program_are_shown_with_their_lines(esp, monkeypatch):
    found = [
        Diagnostic(code="E301", message=f"no {name}", span=Span("x.hpf", 3, 5), source_line="!HPF$ what", hint="no")
        for name in "ab"
    ]

    def fail(*_):
        raise SourceError(found)

    predict_with(monkeypatch, fail)
    code, out, err = esp("run", "laplace.hpf")
    assert (code, out) == (1, "")
    assert err == (
        "x.hpf:3:5: E301 no a\n    3 | !HPF$ what\n      |     ^\n       hint: no\n"
        "x.hpf:3:5: E301 no b\n    3 | !HPF$ what\n      |     ^\n       hint: no\n"
        "2 errors\n"
    )


def _unresolved(monkeypatch, fake_predict):
    """A program whose `n` and `m` nobody knows."""

    def predict(source, system, request, *_):
        missing = [name for name in ("n", "m") if name not in request.values]
        if missing:
            found = tuple(
                Diagnostic(
                    code="E501",
                    message=f"the value of {name} is not known",
                    span=Span("x.hpf", 4),
                    hint=f"--set {name.upper()}=VALUE",
                )
                for name in missing
            )
            raise UnresolvedError(found, tuple(missing))
        return fake_predict(source, system, request)

    predict_with(monkeypatch, predict)


def test_unresolved_variables_are_listed_all_where_nobody_can_be_asked(esp, fake, monkeypatch):
    _unresolved(monkeypatch, api.interpret_stages)
    code, out, err = esp("run", "laplace.hpf")
    assert (code, out) == (1, "")
    assert "x.hpf:4: E501 the value of n" in err
    assert "--set N=VALUE" in err
    assert "--set M=VALUE" in err
    assert "2 errors" in err


def test_unresolved_variables_are_asked_for_on_a_terminal(esp, fake, monkeypatch):
    _unresolved(monkeypatch, api.interpret_stages)
    code, out, err = esp("run", "laplace.hpf", stdin="many\n256\n3\n", terminal=True)
    assert code == 0
    assert "time" in out
    assert "'many' is not a value for n" in err
    assert fake[0].values == {"n": 256, "m": 3}


def test_an_empty_answer_gives_up(esp, fake, monkeypatch):
    _unresolved(monkeypatch, api.interpret_stages)
    code, out, err = esp("run", "laplace.hpf", stdin="\n", terminal=True)
    assert (code, out) == (1, "")
    assert "2 errors" in err


def test_a_list_of_processors_is_a_table(esp, fake):
    code, out, _ = esp("run", "laplace.hpf", "--procs", "1,2,4,8,4")
    assert code == 0
    assert [each.procs for each in fake] == [1, 2, 4, 8]
    rows = [row.split() for row in out.splitlines()[3:7]]
    assert [row[0] for row in rows] == ["1", "2", "4", "8"]


def test_the_program_is_read_once_for_a_list(esp, fake, monkeypatch, tmp_path):
    from esp.cli import reading

    read = tmp_path / "read"

    def noted(*args, **options):  # in whatever process
        with read.open("a", encoding="utf-8") as file:
            file.write(f"{args[0]}\n")
        return api.read_source(*args, **options)

    monkeypatch.setattr(reading, "read_source", noted)
    esp("run", "laplace.hpf", "--procs", "1,2,4")
    assert read.read_text(encoding="utf-8") == "laplace.hpf\n"


def test_json(esp, fake):
    code, out, err = esp("run", "laplace.hpf", "--json", "--per-processor", "--aau", "3")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["bundled"], len(told["per_processor"]["end_s"])) == (True, 8)
    assert [each["id"] for each in told["aaus"]] == [3]


def test_json_of_a_list(esp, fake):
    out = esp("run", "laplace.hpf", "--json", "--procs", "1,2")[1]
    assert [each["processors"] for each in json.loads(out)["runs"]] == [1, 2]


@pytest.mark.parametrize(
    ("words", "column", "rows"),
    [
        ("--csv", "line", 4),
        ("--csv --per-processor", "processor", 8),
        ("--csv --aau all", "aau", 6),
        ("--csv --aau 3", "aau", 1),
        ("--csv --procs 1,2,4", "efficiency", 3),
    ],
)
def test_csv(esp, fake, words, column, rows):
    code, out, err = esp("run", "laplace.hpf", *words.split())
    assert (code, err) == (0, "")
    read = list(csv.DictReader(io.StringIO(out)))
    assert len(read) == rows
    assert all(row[column] for row in read)


def test_every_form_says_what_it_shows():
    """What excludes `--json` is another form of the output."""
    parser = argparse.ArgumentParser()
    run.configure(parser)
    groups = [{each.dest for each in group._group_actions} for group in parser._mutually_exclusive_groups]
    assert [each for each in groups if "json" in each] == [run.FORMS.keys() - {"text"}]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--annotate", "program laplace"),
        ("--line 7", "line 7   mean"),
        ("--line 7-9", "line 9   mean"),
        ("--lines 7,9", "line 9   mean"),
        ("--aau 2", "AAU 2 IterSync"),
        ("--aau all", "6 AAUs on 8 processors"),
        ("--per-processor", "own end"),
    ],
)
def test_views(esp, fake, words, told):
    code, out, _ = esp("run", "laplace.hpf", *words.split())
    assert code == 0
    assert told in out


def test_output_to_a_file_is_whole(esp, fake, tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    code, out, err = esp("run", "laplace.hpf", "-o", str(path))
    assert (code, out) == (0, "")
    assert err == f"{path}: {path.stat().st_size:,} bytes written\n"
    assert path.read_text(encoding="utf-8").startswith("laplace.hpf (bundled)")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


def test_output_to_a_file_that_fails_leaves_the_old_one(esp, fake, tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    path.write_text("old", encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    code, _, err = esp("run", "laplace.hpf", "-o", str(path))
    assert code == 2
    assert "no space left" in err.lower()
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


def test_an_error_writes_no_file(esp, fake, tmp_path):
    path = tmp_path / "out.txt"
    assert esp("run", "laplace.hpf", "--line", "99", "-o", str(path))[0] == 2
    assert not path.exists()


def test_output_through_a_link_reaches_its_target(esp, fake, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert esp("run", "laplace.hpf", "-o", str(tmp_path / "link"))[0] == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").is_file()


@pytest.mark.parametrize("where", ["no/such/folder/x", "."])
def test_output_to_where_no_file_can_be(esp, fake, tmp_path, where):
    code, out, err = esp("run", "laplace.hpf", "-o", str(tmp_path / where))
    assert (code, out) == (2, "")
    assert "cannot be written" in " ".join(err.split())


def test_output_to_a_device(esp, fake):
    assert esp("run", "laplace.hpf", "-o", "/dev/null")[0] == 0


def test_output_to_standard_output_by_its_name_in_a_pipe(fake):
    words = [sys.executable, "-m", "esp", "examples", "list", "-o", "/dev/stdout"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert "laplace" in told.stdout


def test_a_blank_line_parts_warnings_from_the_report_on_a_terminal_only(esp, monkeypatch):
    made = prediction(warnings=(Diagnostic(code="W305", message="odd", span=Span("laplace.hpf", 27, 7)),))
    predict_with(monkeypatch, lambda source, system, request, *_: made)
    assert "\n\n" in esp("run", "laplace.hpf", terminal=True)[2]
    assert "\n\n" not in esp("run", "laplace.hpf")[2]


ANSI = re.compile(r"\x1b\[")


@pytest.mark.parametrize(
    ("words", "terminal", "environment", "coloured"),
    [
        ("", True, {}, True),
        ("", False, {}, False),
        ("", True, {"NO_COLOR": "1"}, False),
        ("", True, {"TERM": "dumb"}, False),
        ("--color never", True, {}, False),
        ("--color always", False, {"NO_COLOR": "1"}, True),
        ("--color=always -o FILE", True, {}, True),
        ("-o FILE", True, {}, False),
    ],
)
def test_colour(esp, fake, tmp_path, monkeypatch, words, terminal, environment, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "out"
    code, out, _ = esp("run", "laplace.hpf", *words.replace("FILE", str(path)).split(), terminal=terminal)
    assert code == 0
    text = path.read_text(encoding="utf-8") if "FILE" in words else out
    assert bool(ANSI.search(text)) is coloured


def test_the_width_is_that_of_the_environment(esp, fake, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    out = esp("run", "laplace.hpf")[1]
    assert 100 < max(map(len, out.splitlines())) <= 120


def test_how_long_esp_took_is_for_people_only(esp, fake):
    assert re.search(r"esp took \d\.\d\d s", esp("run", "laplace.hpf", terminal=True)[2])
    assert "took" in esp("run", "laplace.hpf", errors_to_terminal=True)[2]
    assert "took" not in esp("run", "laplace.hpf")[2]
    assert "took" not in esp("run", "laplace.hpf", "-q", terminal=True)[2]


def test_warnings_are_shown_beside_the_output_with_their_place(esp, monkeypatch):
    warning = Diagnostic(code="W305", message="b is no array", span=Span("laplace.hpf", 27, 7), hint="leave it out")

    def predict(source, system, request, *_):
        return prediction(warnings=(warning,))

    predict_with(monkeypatch, predict)
    _, out, err = esp("run", "laplace.hpf")
    assert "W305" not in out
    assert err.startswith("laplace.hpf:27:7: W305 b is no array\n   27 |   a = 0.0d0\n")
    assert "hint: leave it out" in err
    assert esp("run", "laplace.hpf", "-q")[2] == ""


def test_the_next_command_is_the_same_one(esp, fake):
    words = ("--set", "N=512", "--distribute", "TEMP=(BLOCK,*)", "--system", "cluster-ib")
    out = esp("run", "laplace.hpf", *words, "--procs", "64")[1]
    following = " ".join(out.split())
    assert (
        "next esp run laplace.hpf --system cluster-ib --set N=512 --distribute 'TEMP=(BLOCK,*)' "
        "--procs 1,2,4,8,16,32,64" in following
    )


WHAT_IF = (
    "--set n=512 --load 30% --bandwidth x2 --latency 40us --processor-speed x3 --memory-speed 50% --overlap 0.4 "
    "--io off --opt hoist=off --system-set cube.network.long.startup=120us --timed"
)


def test_what_was_asked_for_is_in_the_report_and_in_the_next_command(esp, fake):
    for name, words in (("compare", []), ("run", ["--procs", "2,4"])):
        out = " ".join(esp("run", "laplace.hpf", *WHAT_IF.split(), *words)[1].split())
        head, _, following = out.partition(f"next esp {name} laplace.hpf ")
        pieces = re.findall(r"--\S+(?: [^-]\S*)?", WHAT_IF)
        assert len(pieces) == 11
        assert [each for each in pieces if each not in head] == []
        assert [each for each in pieces if each not in following] == []


def test_what_was_asked_for_is_in_the_json(esp, fake):
    words = ("--grid", "4x2", "--distribute", "TEMP=(BLOCK,*)")
    told = json.loads(esp("run", "laplace.hpf", "--json", *WHAT_IF.split(), *words)[1])["options"]
    assert told == {
        "load": "30%",
        "bandwidth": "x2",
        "latency": "40us",
        "processor_speed": "x3",
        "memory_speed": "50%",
        "overlap": "0.4",
        "io": False,
        "system_set": {"cube.network.long.startup": "120us"},
        "opt": {"hoist": False},
        "grid": [4, 2],
        "distribute": {"temp": "(BLOCK,*)"},
        "align": [],
        "cost": [],
        "set": {"n": 512},
        "timed": True,
        "unroll": False,
        "trust_directives": False,
        "budget": None,
    }


def test_a_grid_is_looked_at_closer_and_other_numbers_keep_the_own_one(esp, fake):
    out = " ".join(esp("run", "laplace.hpf", "--procs", "8", "--grid", "4x2")[1].split())
    assert out.endswith("next esp run laplace.hpf --grid 4x2 --procs 8 --annotate")
    out = esp("run", "laplace.hpf", "--procs", "6", "--distribute", "TEMP=(BLOCK,*)")[1]
    assert out.endswith("--procs 1,2,4,6,8\n")


def test_where_data_move_other_distributions_follow(esp):
    assert esp("run", "laplace.hpf", "--procs", "6")[1].endswith("next     esp compare laplace.hpf --procs 6\n")
    assert esp("run", "laplace.hpf", "--procs", "1")[1].endswith("next     esp run laplace.hpf --procs 1,2,4,8\n")


def test_scenarios_of_python_are_plain_data():
    scenario = Scenario(load=np.array([0.1, 0.2]), bandwidth=["x1", "x2"], latency=np.float64(2.0))
    told = asked(api.Request(scenario=scenario))
    assert (told["load"], told["bandwidth"], told["latency"]) == ([0.1, 0.2], ["x1", "x2"], 2.0)


FIXED_BLOCKS = """\
program p
  real :: a(120)
!hpf$ processors q(3)
!hpf$ distribute a(block(50)) onto q
  a = 1.0
end program p
"""


def test_a_number_that_the_mapping_does_not_fit_spoils_no_table(esp):
    code, out, err = esp("run", "-", "--procs", "1,3,2,4", stdin=FIXED_BLOCKS)
    rows = {row.split()[0]: row.split() for row in out.splitlines()[3:7]}
    assert (code, err) == (0, "")
    assert list(rows) == ["1", "2", "3", "4"]
    assert [set(rows[number][1:]) == {"-"} for number in rows] == [True, True, False, False]
    text = " ".join(out.split())
    assert "1 proc impossible: E307 DISTRIBUTE a" in text
    assert "2 procs impossible: E307 DISTRIBUTE a" in text


def test_impossible_numbers_for_programs(esp):
    told = json.loads(esp("run", "-", "--procs", "2,3", "--json", stdin=FIXED_BLOCKS)[1])
    assert [each["processors"] for each in told["runs"]] == [3]
    assert [(each["processors"], each["code"], each["line"]) for each in told["impossible"]] == [(2, "E307", 4)]
    code, out, err = esp("run", "-", "--procs", "2,3", "--csv", stdin=FIXED_BLOCKS)
    assert (code, len(out.splitlines())) == (0, 2)
    assert "E307" in err


def test_a_list_of_which_no_number_fits_is_an_error(esp):
    code, out, err = esp("run", "-", "--procs", "1,2", stdin=FIXED_BLOCKS)
    assert (code, out) == (1, "")
    assert err.count("E307") == 1


def test_equal_input_equal_output(esp, fake):
    assert len({esp("run", "laplace.hpf", "--json")[1] for _ in range(3)}) == 1


def test_a_prediction_prints_itself():
    made = prediction(bundled=True)
    values = {name: getattr(made, name) for name in made.__struct_fields__}
    shown = api.Prediction(**values | {"time_s": array(0.2815)})
    assert str(shown).startswith("laplace.hpf (bundled)")
    assert shown._repr_html_().startswith('<div class="esp">')


@pytest.mark.parametrize("view", ["--annotate", "--line 7", "--aau 2", "--per-processor", ""])
def test_every_view_of_a_partial_prediction_says_so(esp, monkeypatch, view):
    made = prediction(complete=False)
    predict_with(monkeypatch, lambda source, system, request, *_: made)
    assert "incomplete" in " ".join(esp("run", "laplace.hpf", "-q", *view.split())[1].split())


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("8", (8,)),
        ("1,2,4", (1, 2, 4)),
        ("4..64", (4, 8, 16, 32, 64)),
        ("3..20", (3, 6, 12, 20)),
        ("4..4", (4,)),
        ("64:512:x2", (64, 128, 256, 512)),
        ("1:9:4", (1, 5, 9)),
        ("2..8,12,2,16:24:4", (2, 4, 8, 12, 16, 20, 24)),
    ],
)
def test_lists_are_written_the_same_way_everywhere(written, numbers):
    assert procs_of(written) == numbers
    assert numbers_of(written) == numbers
    assert values_of(written, "--set") == tuple(map(str, numbers))


def test_options_of_other_tools_are_understood_or_corrected(esp, fake):
    assert esp("run", "laplace.hpf", "-p", "8")[0] == 0
    code, _, err = esp("run", "laplace.hpf", "-n", "8")
    assert code == 2
    assert "Write --procs 8 for processors, --set n=8 for a size." in " ".join(err.split())
    for option in ("--processors", "--np", "--nprocs", "-np"):
        code, _, err = esp("run", "laplace.hpf", option, "8")
        assert (code, f"{option} 8. Write --procs 8 for 8 processors." in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize("several", ["--load 30%,40%", "--bandwidth x2..x8", "--memory-speed x1:x4:x2"])
def test_a_list_of_what_ifs_points_to_sweep(esp, fake, several):
    code, _, err = esp("run", "laplace.hpf", *several.split())
    assert code == 2
    assert f"`esp sweep PROG {several}` predicts each value of a list." in " ".join(err.split())


def test_a_decimal_comma_is_not_a_list(esp):
    assert "'10,5us' is not a time" in " ".join(esp("run", "laplace.hpf", "--latency", "10,5us")[2].split())


@pytest.mark.parametrize("several", ["64,128", "64..512", "64:512:x2"])
def test_a_list_of_values_points_to_sweep(esp, fake, several):
    code, _, err = esp("run", "laplace.hpf", "--set", f"n={several}")
    assert code == 2
    assert f"`esp sweep PROG --set n={several}` predicts each value of a list." in " ".join(err.split())


CACHED = """\
program p
  integer, parameter :: n = 4096
  integer :: k
  double precision :: a(n), b(n)
!HPF$ DISTRIBUTE a(BLOCK)
!HPF$ ALIGN b(i) WITH a(i)
  a = 1.0d0
  b = 2.0d0
  do k = 1, 20
    a = a + b
  end do
end program p
"""
"""64 KiB of data for a cache of 8 KiB: one processor reads 2,048 lines of 32 B in each of 20 iterations. Each of 8
processors has 8 KiB and reads its lines once, 2,048 on all. The first 8,192 stores miss, as no line is allocated."""

UNEVEN = """\
program p
  integer :: k
  double precision :: a(4)
!HPF$ DISTRIBUTE a(BLOCK)
  a = 1.0d0
  do k = 1, 1000
    a = sqrt(a) + 2.0d0
  end do
end program p
"""
"""On 3 processors two elements each, and none for the third, which waits; on 4 processors nobody waits."""


def test_an_efficiency_above_100_percent_has_a_reason(esp):
    code, out, _ = esp("run", "-", "--procs", "1,8", stdin=CACHED)
    assert code == 0
    words = " ".join(out.split())
    (less, more) = re.search(
        r"is more than 8: cache misses take (\S+ ms) on all 8 .* and (\S+ ms) on 1\.", words
    ).groups()
    read = 2048 * 330e-9  # the seconds of a line that is read
    assert float(more.split()[0]) * 1e-3 > 20 * read > read > 0
    assert float(less.split()[0]) * 1e-3 == pytest.approx(read + 8192 * 80e-9, rel=5e-3)  # and of the first writes


def test_an_efficiency_above_100_percent_by_less_waiting_says_so(esp):
    found = [predict(UNEVEN, procs=procs) for procs in (3, 4)]  # as where there is no prediction for 1
    assert "is more than 4: waiting takes 0 s on all 4 processors together" in above_perfect(found)
    assert compared_with(found) == "against 3 processors, which count as 3, as 1 has no prediction"
    assert "is more than" not in esp("run", "-", "--procs", "3,4", stdin=UNEVEN)[1]


def test_an_efficiency_below_100_percent_needs_no_reason(esp):
    assert "is more than" not in esp("run", "pi", "--procs", "1,4")[1]


PLAIN = """program plain
  integer, parameter :: dp = 8, n = 12, m = 3, l = 4, j = 5, k = 6, o = 7
  real(dp), parameter :: h = 0.5d0
  real(dp) :: a(n, n), s(m)
  a = h
  s = 1.0d0
  print *, sum(a) + sum(s)
end program plain
"""


def test_what_distributes_nothing_is_compared_next(tmp_path, capsys):
    """On several numbers of processors, too; one warning for all of them names the array."""
    file = tmp_path / "plain.f90"
    file.write_text(PLAIN, encoding="utf-8")
    assert main(["run", str(file), "--procs", "1,2,4"]) == 0
    text, warned = capsys.readouterr()
    assert " ".join(text.split()).endswith(f"next esp compare {file} --procs 4")
    assert warned.count("W311") == 1
    assert "write DISTRIBUTE for a\n" in warned


def test_a_heading_says_how_many_constants_it_leaves_out(capsys, tmp_path):
    """Eight of them, six are shown; dp is only the kind of a type and comes last."""
    file = tmp_path / "plain.f90"
    file.write_text(PLAIN, encoding="utf-8")
    assert main(["run", str(file), "--procs", "2"]) == 0
    heading = " ".join(capsys.readouterr().out.split("\n\n")[0].split())
    assert "n=12 m=3 l=4 j=5 k=6 o=7 and 2 more" in heading


def test_walked_iterations_are_shown_only_where_some_are_not(capsys):
    assert main(["run", "laplace", "--procs", "4"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "of 50 loop iterations walked with the given figures, the others repeat them" in told
    assert main(["run", "laplace", "--procs", "4", "--unroll"]) == 0
    assert "iterations walked" not in capsys.readouterr().out


def test_an_option_with_one_value_is_not_given_twice(esp, fake):
    code, _, err = esp("run", "laplace.hpf", "--latency", "x0.5", "--latency", "x0.1")
    assert (code, "--latency is given twice." in err) == (2, True)
    assert esp("run", "laplace.hpf", "--set", "n=8", "--set", "k=2")[0] == 0
    assert esp("run", "laplace.hpf", "--latency", "x0.5")[0] == 0
