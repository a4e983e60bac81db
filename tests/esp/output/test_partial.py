"""A prediction that leaves something out says so, and why, in every view."""

import csv
import io
import json
import re

import pytest

import esp
from esp import api
from esp.incomplete import IncompleteError, left_out
from interpreter import engine

TEXT = """program main
  integer, parameter :: n = 32
  real(8) :: a(n, n), s
!HPF$ DISTRIBUTE a(BLOCK, BLOCK)
  call init(a)
  s = sum(a)
  s = f(s)
  print *, s
contains
  recursive subroutine init(x)
    real(8), intent(out) :: x(:, :)
    x = 1.0d0
    if (n < 4) call init(x)
  end subroutine init
  recursive real(8) function f(x) result(y)
    real(8), intent(in) :: x
    y = 2.0d0 * x
    if (y > 9) y = f(y)
  end function f
end program main
"""
WHY = "the bodies of init, f (lines 13, 18) are not interpreted"


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "subr.hpf"
    path.write_text(TEXT)
    return str(path)


def _run(capsys, *words):
    from esp.cli.main import main

    code = main(list(words))
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        "run",
        "run --line 6",
        "run --aau all",
        "run --annotate",
        "run --procs 1,2",
        "compare",
        "advise --procs 2,4",
        "whatif --bandwidth x2",
        "sweep --procs 1,2",
        "query",
        "explain",
        "diff",
        "tui",
    ],
)
def test_every_command_says_why(words, program, capsys):
    name, *more = words.split()
    given = {"explain": [f"{program}:6"], "diff": [program, "laplace"]}.get(name, [program])
    if name != "tui":
        given.append("--partial")
    code, out = _run(capsys, name, *given, *more)
    assert code == 0
    text = " ".join(out.split())
    assert "partial" in text
    assert WHY in text


@pytest.mark.parametrize(
    "words",
    ["run", "run --procs 1,2", "compare", "advise", "whatif --bandwidth x2", "sweep --procs 1,2", "query", "report"],
)
def test_every_command_refuses_with_all_reasons(words, program, capsys, tmp_path):
    from esp.cli.main import main

    name, *more = words.split()
    page = tmp_path / "page.html"
    assert main([name, program, *more, *(["-o", str(page)] if name == "report" else [])]) == 1
    out, err = capsys.readouterr()
    text = " ".join(err.split())
    assert (out, page.exists()) == ("", False)
    assert [text.count(f"{program}:{place}") for place in ("13:5: W202", "18:5: W206")] == [1, 1]
    assert text.endswith("the prediction is incomplete. --partial predicts the rest.")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("real a(8), b(8)\n!HPF$ distribute a(block)\nequivalence (a, b)\na = 1\ncall s(a)\n", ["W202", "W207"]),
        ("real a(8)\n!HPF$ distribute a(block)\na = 1\n* = 2\ncall s(a)\n", ["W101", "W202"]),
    ],
)
def test_reasons_of_every_kind_are_named(text, places, capsys, tmp_path):
    from esp.cli.main import main

    path = tmp_path / "some.hpf"
    path.write_text(f"{text}end\n")
    assert main(["run", str(path), "--procs", "4"]) == 1
    err = capsys.readouterr().err
    assert [code for code in ("W101", "W201", "W202", "W207") if code in err] == places


def test_python_predicts_the_rest_unless_it_is_told_not_to(program):
    from msgspec.structs import replace

    from esp import api
    from esp.incomplete import IncompleteError

    assert not api.predict(program).complete
    source, system = api.read_source(program), api.load_machine("ipsc860")
    with pytest.raises(IncompleteError) as error:
        api.predict_source(source, system, replace(api.requested(4), partial=False))
    assert WHY in str(error.value)


def test_the_profile_says_incomplete(program, capsys):
    lines = _run(capsys, "run", program, "--partial")[1].splitlines()
    assert " incomplete " in lines[1]
    at = next(number for number, line in enumerate(lines) if line.startswith("partial"))
    assert at < next(number for number, line in enumerate(lines) if line.startswith("messages"))
    assert "warnings" not in " ".join(lines)
    assert next(line for line in lines if line.startswith("trust")).startswith("trust    incomplete")


@pytest.mark.parametrize("words", ["compare", "advise --procs 4"])
def test_nothing_is_to_be_pasted(words, program, capsys):
    name, *more = words.split()
    out = _run(capsys, name, program, *more, "--partial")[1]
    assert "!HPF$" not in out
    assert not any(line.startswith(("next", "why", "tie", "=", "size")) for line in out.splitlines())
    assert "best" not in out.replace("vs best", "")
    told = json.loads(_run(capsys, name, program, *more, "--partial", "--json")[1])
    assert {each["rank"] for each in told["choices"]} == {None}
    assert {each["tie"] for each in told["choices"]} == {None}
    assert (told["paste"], told["partial"]) == ([], [WHY])
    assert told.get("crossover") is None


def test_the_report_says_it_and_advises_nothing(program, capsys, tmp_path):
    page = tmp_path / "page.html"
    assert _run(capsys, "report", program, "-o", str(page), "--partial")[0] == 0
    text = page.read_text()
    assert f"Partial, incomplete: {WHY}." in text
    assert "The fastest as directives" not in text


def test_json_names_the_reasons(program, capsys):
    told = json.loads(_run(capsys, "run", program, "--json", "--partial")[1])
    assert (told["complete"], told["partial"]) == (False, [WHY])
    assert json.loads(_run(capsys, "run", "laplace", "--json")[1])["partial"] == []


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("mpi_init(k)", "remove it and the calls of MPI: in HPF the messages follow from the directives"),
        (
            "elsewhere(k)",
            "correct the name, add the file that defines it, or give what a call costs: ‹cost elsewhere='2*n flop'›",
        ),
    ],
)
def test_a_missing_subroutine_has_a_way_out(call, hint):
    found = esp.predict(f"program p\n  call {call}\nend program p\n", procs=2)
    assert [each.hint for each in left_out(found)] == [hint]


@pytest.mark.parametrize(
    ("declared", "before", "said"),
    [
        ("real :: c", "c = 2.0", "c is a variable without a shape, but has arguments in brackets here"),
        ("real :: c", "", "found no function c"),
        ("real, external :: c", "", "found no function c"),
    ],
    ids=["a lost operator", "declared by its type", "external"],
)
@pytest.mark.parametrize("statement", ["forall (i = 1:8) a(i) = c (a(i))", "a(1) = c (a(2))"])
def test_no_function_without_source_is_priced_without_a_word(declared, before, said, statement):
    text = f"program p\n  integer :: i\n  real :: a(8)\n  {declared}\n!hpf$ distribute a(block)\n  a = 1.0\n"
    found = esp.predict(f"{text}  {before}\n  {statement}\nend program p\n", procs=2)
    assert not found.complete
    assert [each.message for each in left_out(found)] == [f"{said}: only its calls are charged"]


@pytest.mark.parametrize("command", ["compare", "advise"])
def test_what_is_not_ranked_has_no_numbers(command, program, capsys):
    _, told = _run(capsys, command, program, "--procs", "4", "--partial")
    marks = re.findall(r"^ *(\S+) .*\(BLOCK", told, re.MULTILINE)
    assert set(marks) == {"-", "-*"}
    if command == "compare":
        _, told = _run(capsys, command, program, "--procs", "4", "--partial", "--csv")
        assert {each["rank"] for each in csv.DictReader(io.StringIO(told))} == {""}


LONG = """program long
  integer, parameter :: n = 400
  real(8) :: a(n, n)
!HPF$ DISTRIBUTE a(*, CYCLIC)
  integer :: i, j, k
  a = 1.0d0
  do k = 1, n
    do j = k + 1, n
      do i = k + 1, n
        a(i, j) = a(i, j)
        - a(i, k) * a(k, j)
      end do
    end do
  end do
  do k = 1, n
    do j = 1, k
      a(j, k) = missing(a(j, k))
    end do
  end do
  print *, a(1, 1)
  + 1
end
"""


def interpreted(text, monkeypatch, *, partial=False):
    """What a prediction raises, and how many iterations it walks."""
    walked = []

    def finish(run, *rest):
        walked.append(run.books.walked)
        return done(run, *rest)

    done = engine.finish
    monkeypatch.setattr(engine, "finish", finish)
    request = api.Request(procs=4, partial=partial)
    try:
        api.predict_source(api.read_source(text), api.load_machine("ipsc860"), request)
    except IncompleteError as problem:
        return problem, walked[-1]
    return None, walked[-1]


@pytest.mark.parametrize("text", [LONG, LONG.replace("        - a(i, k) * a(k, j)\n", "")])
def test_a_long_walk_ends_once_its_result_will_be_refused(text, monkeypatch):
    """All that is left out is said, without 10 million iterations for a time that nobody sees."""
    refused, walked = interpreted(text, monkeypatch)
    assert [each.code for each in refused.findings] == ["W101"] * text.count("- a(i, k)") + ["W206", "W101"]
    assert 0 < walked < 5000


@pytest.mark.truth
def test_a_partial_prediction_walks_all(monkeypatch):
    text = LONG.replace("n = 400", "n = 30")
    refused, few = interpreted(text, monkeypatch)
    made, all_ = interpreted(text, monkeypatch, partial=True)
    assert refused is not None
    assert made is None
    assert all_ > 4 * few
