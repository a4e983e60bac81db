"""A prediction that leaves something out says so, and why, in every view."""

import json

import pytest

TEXT = """program main
  integer, parameter :: n = 32
  real(8) :: a(n, n), s
!HPF$ DISTRIBUTE a(BLOCK, BLOCK)
  call init(a)
  s = sum(a)
  s = f(s)
  print *, s
contains
  subroutine init(x)
    real(8), intent(out) :: x(:, :)
    x = 1.0d0
  end subroutine init
  real(8) function f(x)
    real(8), intent(in) :: x
    f = 2.0d0 * x
  end function f
end program main
"""
WHY = "the bodies of init, f (lines 5, 7) are not interpreted"


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
    code, out = _run(capsys, name, *given, *more)
    assert code == 0
    text = " ".join(out.split())
    assert "partial" in text
    assert WHY in text


def test_the_profile_says_incomplete(program, capsys):
    lines = _run(capsys, "run", program)[1].splitlines()
    assert " incomplete " in lines[1]
    at = next(number for number, line in enumerate(lines) if line.startswith("partial"))
    assert at < next(number for number, line in enumerate(lines) if line.startswith("messages"))
    assert "warnings" not in " ".join(lines)
    assert next(line for line in lines if line.startswith("trust")).startswith("trust    incomplete")


@pytest.mark.parametrize("words", ["compare", "advise --procs 4"])
def test_nothing_is_to_be_pasted(words, program, capsys):
    name, *more = words.split()
    out = _run(capsys, name, program, *more)[1]
    assert "!HPF$" not in out
    assert "next" not in out
    told = json.loads(_run(capsys, name, program, *more, "--json")[1])
    assert (told["paste"], told["partial"]) == ([], [WHY])
    assert told.get("crossover") is None


def test_the_report_says_it_and_advises_nothing(program, capsys, tmp_path):
    page = tmp_path / "page.html"
    assert _run(capsys, "report", program, "-o", str(page))[0] == 0
    text = page.read_text()
    assert f"Partial, incomplete: {WHY}." in text
    assert "The fastest as directives" not in text


def test_json_names_the_reasons(program, capsys):
    told = json.loads(_run(capsys, "run", program, "--json")[1])
    assert (told["complete"], told["partial"]) == (False, [WHY])
    assert json.loads(_run(capsys, "run", "laplace", "--json")[1])["partial"] == []
