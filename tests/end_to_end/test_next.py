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

SMALL = {"n": 24, "m": 24, "k": 2, "reps": 2, "niter": 2, "iterations": 2}
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


@pytest.mark.parametrize("name", program_names())
def test_proposals_for_bundled_programs(esp, root, name):
    text = (root / "benchmarks_hpf" / f"{name}.hpf").read_text().lower()
    constants = re.findall(r"(\w+) *= *\d+", " ".join(re.findall(r"integer, *parameter *::(.*)", text)))
    small = [word for each in constants if each in SMALL for word in ("--set", f"{each}={SMALL[each]}")]
    assert not failures(esp, ("run", f"{name}.hpf", *small), 2)


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "--procs", "2,4"),
        ("compare", "--procs", "4"),
        ("advise", "--procs", "4"),
        ("whatif", "--procs", "4", "--bandwidth", "x2"),
        ("run", "--procs", "4", "--distribute", "(*,BLOCK)"),
        ("run", "--procs", "4", "--grid", "4", "--load", "30%"),
    ],
)
def test_proposals_where_the_sizes_are_read(esp, tmp_path, words):
    (tmp_path / "sized.hpf").write_text(SIZED)
    sizes = ("--set", "n=24", "--set", "steps=3")
    assert proposed(esp(words[0], "sized.hpf", *words[1:], *sizes).stdout)
    assert not failures(esp, (words[0], "sized.hpf", *words[1:], *sizes), 3)


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


@pytest.mark.parametrize("command", ["run", "compare", "advise", "sweep", "report", "tui"])
def test_sizes_that_are_missing_are_named_everywhere(esp, tmp_path, command):
    (tmp_path / "sized.hpf").write_text(SIZED)
    done = esp(command, "sized.hpf", "--procs", "4")
    assert done.returncode == 1
    assert "--set n=VALUE" in done.stderr
