"""Def 20, for all commands alike: an option that is wrong for the program ends with 2, a program with 1."""

import pytest

PLAIN = (
    "run",
    "explain",
    "formula",
    "layout",
    "query",
    "check",
    "show",
    "graph",
    "trace",
    "plot",
    "compile",
    "validate",
    "report",
    "tui",
    "whatif",
    "sweep",
)
"""Commands that take one mapping; `compare` and `advise` choose among several."""

WRONG = {
    "a grid of another size": ("--procs", "8", "--grid", "3x3"),
    "a grid of another rank": ("--procs", "8", "--grid", "8"),
    "a name that is not there": ("--set", "zz=3"),
    "a value of another type": ("--set", "n=0.5"),
    "formats of another rank": ("--distribute", "temp=(BLOCK)"),
    "formats for nothing": ("--distribute", "qq=(BLOCK,*)"),
    "formats that are none": ("--distribute", "temp=(BLOK,*)"),
    "blocks that do not hold all": ("--procs", "8", "--distribute", "temp=(BLOCK(2),*)"),
}

BROKEN = """\
program p
  real :: a(8)
!HPF$ DISTRIBUTE c(BLOCK)
  a = 1.0
end program p
"""


def words_of(command, program, tmp_path):
    (tmp_path / "budget.yaml").write_text("format: 1\nlimits: {time: 60 s}\n")
    line = f"{program}:4" if program.endswith(".hpf") else program
    own = {
        "explain": ("explain", line),
        "show": ("show", "layouts", program),
        "graph": ("graph", "aag", program),
        "trace": ("trace", program, "--format", "chrome", "-o", str(tmp_path / "x.json")),
        "plot": ("plot", "balance", program, "-o", str(tmp_path / "x.svg")),
        "compile": ("compile", program, "-o", str(tmp_path / "build")),
        "check": ("check", program, "--budget", str(tmp_path / "budget.yaml")),
        "whatif": ("whatif", program, "--load", "20%"),
    }
    return own.get(command, (command, program))


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        pytest.param(command, wrong, marks=() if (one - two) % 3 == 0 else pytest.mark.truth)
        for one, command in enumerate([*PLAIN, "compare", "advise"])
        for two, wrong in enumerate(WRONG)
    ],
)
def test_options_that_do_not_fit_the_program_are_wrong_options(command, wrong, esp, tmp_path):
    if command == "advise" and wrong == "blocks that do not hold all":
        wrong = "formats for nothing"  # what is impossible is a choice less, the source's own remains
    given = WRONG[wrong]
    if command in ("compare", "advise", "tui") and wrong == "a grid of another rank":
        given = ("--procs", "8", "--grid", "2x2x2")  # a grid of rank 1 fits other choices
    code, out, err = esp(*words_of(command, "laplace.hpf", tmp_path), *given)
    assert (code, out) == (2, ""), err
    assert given[-2] in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["compare", "advise", "tui"])
def test_a_grid_chooses_the_formats_that_it_fits(command, esp):
    code, out, err = esp(command, "laplace.hpf", "--set", "n=16", "--set", "k=2", "--procs", "8", "--grid", "8")
    assert code == 0, err
    assert "(*,BLOCK)" in out
    assert "(BLOCK,CYCLIC)" not in out
    assert "failed   (BLOCK,BLOCK): E311" in out  # the mapping of the source, which always takes part


@pytest.mark.parametrize("command", [*PLAIN, "compare", "advise"])
def test_a_program_that_cannot_be_mapped_ends_with_1(command, esp, tmp_path):
    program = tmp_path / "p.hpf"
    program.write_text(BROKEN)
    code, out, err = esp(*words_of(command, str(program), tmp_path))
    assert (code, out) == (1, ""), err
    assert "there is no array or template c" in err
