"""Every command that a screen proposes as the next one can be typed, as it is written."""

import re
import shlex

import pytest

from esp.locate import program_names

SIZED = """\
program sized
  integer :: n, steps, i, it
  real, allocatable :: a(:,:), b(:,:)
!HPF$ DISTRIBUTE a(BLOCK,*)
!HPF$ ALIGN b(i,j) WITH a(i,j)
  read *, n, steps
  allocate(a(n,n), b(n,n))
  a = 1.0
  b = 0.0
  do it = 1, steps
    forall (i = 2:n-1) b(i,:) = 0.5 * (a(i-1,:) + a(i+1,:))
    a = b
  end do
  print *, sum(a)
end program sized
"""

SMALL = {"n": 16, "m": 16, "k": 2, "reps": 2, "niter": 2, "iterations": 2}
"""Small values for PARAMETERs of the benchmarks, so that a command takes a moment."""


def proposed(screen):
    """The commands after ``next``, continued lines joined."""
    found = re.findall(r"^next ((?:.*\n)(?:         .*\n)*)", screen, re.MULTILINE)
    return [tuple(shlex.split(" ".join(each.split()))[1:]) for each in found]


def failures(esp, words, depth):
    """Commands that fail among this one and, so many steps on, those that it proposes."""
    done = esp(*words)
    if done.returncode:
        return [f"{shlex.join(words)}: {done.stderr}"]
    return [each for following in proposed(done.stdout) if depth for each in failures(esp, following, depth - 1)]


FEW = {"gausspivot_array": 1, "laplace": 2, "pi": 2}
"""Programs, each with how many steps on; `make truth` goes two steps on from all."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "depth"),
    [*FEW.items(), *(pytest.param(each, 2, marks=pytest.mark.truth) for each in program_names() if FEW.get(each) != 2)],
)
def test_proposals_for_bundled_programs(esp, root, name, depth):
    text = (root / "benchmarks_hpf" / f"{name}.hpf").read_text().lower()
    constants = re.findall(r"(\w+) *= *\d+", " ".join(re.findall(r"integer, *parameter *::(.*)", text)))
    small = [word for each in constants if each in SMALL for word in ("--set", f"{each}={SMALL[each]}")]
    assert not failures(esp, ("run", f"{name}.hpf", *small), depth)


def test_proposals_where_there_is_no_array(esp, tmp_path):
    (tmp_path / "scalars.f90").write_text("program p\n  real :: x\n  read *, x\n  print *, 2*x\nend program p\n")
    for words in (("run",), ("run", "--procs", "4"), ("whatif", "--procs", "4", "--bandwidth", "x2")):
        assert not failures(esp, (words[0], "scalars.f90", *words[1:]), 2)


@pytest.mark.sampled
@pytest.mark.parametrize("depth", [2, pytest.param(3, marks=pytest.mark.truth)])
@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "--procs", "2,4"),
        ("compare", "--procs", "4"),
        ("advise", "--procs", "4"),
        ("layout", "--procs", "4", "--distribute", "(*,BLOCK)"),
        ("explain", "11", "--procs", "4", "--load", "30%"),
        ("run", "--procs", "4", "--unroll"),
        ("whatif", "--procs", "4", "--bandwidth", "x2"),
        ("run", "--procs", "4", "--distribute", "(*,BLOCK)"),
        ("run", "--procs", "4", "--grid", "4", "--load", "30%"),
    ],
)
def test_proposals_where_the_sizes_are_read(esp, tmp_path, words, depth):
    (tmp_path / "sized.hpf").write_text(SIZED)
    sizes = ("--set", "n=24", "--set", "steps=3")
    assert proposed(esp(words[0], "sized.hpf", *words[1:], *sizes).stdout)
    assert not failures(esp, (words[0], "sized.hpf", *words[1:], *sizes), depth)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("compare", "--procs", "4"), "(*,BLOCK)"),
        (("advise", "--procs", "4"), "(*,BLOCK)"),
        (("sweep", "--procs", "4", "--distribute", "all"), "(*,BLOCK)"),
        (("sweep", "--procs", "4", "--set", "n=16,24"), "24"),
        (("report", "--procs", "4"), "(*,BLOCK)"),
        (("tui", "--procs", "4"), "(*,BLOCK)"),
    ],
)
def test_sizes_that_are_read_can_be_set_everywhere(esp, tmp_path, words, shown):
    (tmp_path / "sized.hpf").write_text(SIZED)
    sizes = ("--set", "steps=3") if "n=16,24" in words else ("--set", "n=24", "--set", "steps=3")
    done = esp(words[0], "sized.hpf", *words[1:], *sizes)
    assert (done.returncode, shown in done.stdout) == (0, True), done.stderr


def test_no_distribution_proposes_one_without_options_of_its_own(esp, tmp_path):
    (tmp_path / "plain.hpf").write_text(re.sub(r"!HPF.*\n", "", SIZED))
    words = ("run", "plain.hpf", "--procs", "4", "--unroll", "--set", "n=24", "--set", "steps=3")
    assert proposed(esp(*words).stdout)[0][0] == "compare"
    assert not failures(esp, words, 2)


def test_a_size_that_is_read_is_searched_for_a_crossover(esp, tmp_path):
    (tmp_path / "sized.hpf").write_text(SIZED)
    words = ("compare", "sized.hpf", "--procs", "4", "--set", "n=24", "--set", "steps=3")
    assert re.search(r"^size .* at n = \d+", esp(*words).stdout, re.MULTILINE)
    assert "fastest  n = 16 to 32:" in esp(*words, "--size", "n=16,32").stdout


@pytest.mark.parametrize("command", ["run", "compare", "advise", "sweep", "report", "tui"])
def test_sizes_that_are_missing_are_named_everywhere(esp, tmp_path, command):
    (tmp_path / "sized.hpf").write_text(SIZED)
    done = esp(command, "sized.hpf", "--procs", "4")
    assert done.returncode == 1
    assert "--set n=VALUE" in done.stderr


def test_a_grid_that_is_not_used_is_not_assumed(esp):
    small = ("laplace.hpf", "--procs", "8", "--set", "n=16", "--set", "k=2")
    given = esp("run", *small, "--grid", "8", "--distribute", "(BLOCK,*)").stdout
    assert "(8)" in given
    assert "using grid" not in given
    assert "using grid 4x2 instead of PRC(2,2)" in esp("run", *small).stdout
    assert "using grid 1x1, 2x1 or 4x2 instead of PRC(2,2)" in esp(*("run", "laplace.hpf", "--procs", "1,2,8")).stdout


@pytest.mark.truth
def test_all_views_of_a_result_say_what_it_rests_on(esp):
    small = ("laplace.hpf", "--procs", "8", "--set", "n=16", "--set", "k=2")
    for command in ("run", "query", "compare", "advise", "whatif", "tui"):
        words = (command, *small, "--load", "30%") if command == "whatif" else (command, *small)
        told = esp(*words).stdout
        assert "\nassumed  the loop exit depends on data: assuming all 2 iterations (line 35)\n" in told, command
        basis = " ".join(told.partition("\ntrust ")[2].split())
        assert re.search(r"\d+% of (the (best )?time|it) rests on estimated figures", basis), command
    for view in (["--annotate"], ["--per-processor"], ["--lines", "36"], ["--aau", "11"]):
        told = esp("run", *small, *view).stdout
        assert re.search(r"\n\nassumed  the loop exit .*\n(  .*\n)*trust    \d+% of the time rests (.*\n)+$", told), (
            view
        )
    assert (
        "\nassumed  the loop exit"
        in esp("sweep", "laplace.hpf", "--procs", "8", "--set", "k=2", "--set", "n=16,32").stdout
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run laplace.hpf --procs 8 --grid 8", "--grid 8 has 1 dimension, but the grids of the program have 2"),
        ("compare pi.hpf --procs 4", "1 and 2, (CYCLIC), tie at n = 4096; at n = 512, they tie, too"),
        ("compare -", "assumed no processor count given: using the machine's 8"),
        ("advise -", "assumed no processor count given: using the machine's 8"),
        ("compare - --procs 8", "assumed nothing"),
        ("compare laplace.hpf --procs 4 --distribute (BLOCK)", "this is for 1 dimension, but what"),
    ],
)
def test_what_is_said_is_so(esp, words, told):
    text = "real a(64), b(64)\n!HPF$ DISTRIBUTE a(BLOCK)\n!HPF$ ALIGN b(:) WITH a(:)\na = cshift(b, 1)\nend\n"
    done = esp(*shlex.split(words), stdin=text)
    assert told in " ".join((done.stdout + done.stderr).split())
