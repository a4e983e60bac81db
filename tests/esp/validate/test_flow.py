"""Which lines' messages data decide: those of the loop or branch concerned, and no others."""

import pytest
from msgspec import structs

from esp import api
from esp.cli.main import main
from esp.output.validate import validation_text
from esp.validate.counts import PredictedCounts, predicted
from esp.validate.native import Executed, faults, remarks

HEAD = """\
program t
  integer, parameter :: n = 12
  integer :: i, it, again
  double precision :: a(n), b(n), d
!hpf$ processors prc(4)
!hpf$ distribute a(block) onto prc
!hpf$ align b(i) with a(i)
  forall (i = 1:n) a(i) = dble(i * i)
  b = cshift(a, 1)
"""
TAIL = """\
  b = cshift(a, -1)
  print *, sum(a), sum(b)
end program
"""

EXIT = """\
  do it = 1, 10
    forall (i = 2:n-1) a(i) = 0.5d0 * (b(i-1) + b(i+1))
    d = maxval(abs(a - b))
    if (d < 30.0d0) then
      a = cshift(b, 2)
      exit
    end if
    b = a
  end do
"""

BRANCH = """\
  if (sum(a) > 7.0d0) then
    b = cshift(a, 1)
  else
    b = cshift(a, 2)
  end if
"""

NAMED = """\
  far: do again = 1, 3
    do it = 1, 4
      if (a(3) > 7.0d0) exit far
      a = cshift(b, 1)
    end do
    b = cshift(a, 2)
  end do far
"""

WHILE = """\
  it = 0
  do while (a(3) > 7.0d0 .and. it < 9)
    it = it + 1
    a = cshift(b, 1)
  end do
  a = cshift(b, 3)
"""

DECIDED = """\
  if (n > 7) b = cshift(a, 1)
  do it = 1, 3
    a = cshift(b, 1)
    if (it > 2) exit
  end do
"""

CASES = {
    "exit": (EXIT, {11, 12, 14}),
    "branch": (BRANCH, {10, 11, 13}),
    "named": (NAMED, {12, 13, 15}),
    "inner": (NAMED.replace("exit far", "cycle"), {12, 13}),
    "while": (WHILE, {11, 13}),
    "stop": ("  if (a(3) > 700.0d0) stop\n", {10, 11, 12}),
    "decided": (DECIDED, set()),
}
"""Statements from line 10 on, and the lines that send and need not do so as predicted, if nothing is computed."""
COMPUTED = ("exit", "branch", "named", "inner")
"""Those of which esp computes when the loop ends, or that a branch is always taken."""


@pytest.mark.parametrize("name", CASES)
def test_only_the_loop_or_branch_concerned(name, system):
    text, lines = CASES[name]
    found = expectation(text, system, 4, budget=0)
    sending = {line for _, line in found.counts}
    assert found.undecided & sending == lines & sending
    assert 9 in sending - found.undecided


@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_is_decided(name, system):
    text, _ = CASES[name]
    others = frozenset() if name in COMPUTED else expectation(text, system, 4, budget=0).undecided
    assert expectation(text, system, 4).undecided == others


def expectation(text, system, procs, budget=api.BUDGET):
    source = api.read_source(HEAD + text + TAIL)
    return predicted(source, system, api.Request(procs=procs, budget=budget))


@pytest.fixture(scope="module")
def system():
    return api.load_machine("ipsc860")


def test_a_difference_elsewhere_is_a_fault():
    counts = {(0, 9): (1, 8), (0, 12): (2, 16)}
    expected = PredictedCounts(counts=counts, undecided=frozenset({11, 12, 13}))
    outcome = Executed(procs=4, difference="", predicted=expected, counted={(0, 9): (1, 8), (0, 12): (7, 56)})
    assert faults([outcome]) == ()
    assert "the messages of line 12" in remarks([outcome])[0]
    assert validation_text((outcome,)).splitlines()[1].endswith("may differ")
    for counted in ({(0, 12): (2, 16)}, {(0, 9): (1, 9), (0, 12): (7, 56)}, {**counts, (3, 19): (1, 8)}):
        wrong = structs.replace(outcome, counted=counted)
        assert len(faults([wrong])) == 1
        assert validation_text((wrong,)).splitlines()[1].endswith("  differs")
    partners = structs.replace(outcome, counted=counts, other_partners=frozenset({9}))
    assert "line 9 differ" in faults([partners])[0]


def test_a_run_that_ends_its_loop_early(tmp_path, capsys):
    (tmp_path / "t.hpf").write_text(HEAD + EXIT + TAIL)
    words = ["validate", str(tmp_path / "t.hpf"), "--procs", "4"]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("same")
    assert main([*words, "--budget", "0"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1].endswith("may differ")
    assert "lines 11, 12, 14 may differ from the prediction" in " ".join(told.err.split())
