"""Operations of random loop nests, as predicted and as a run of the serial program counts them (P = 1).

The program runs under gfortran with counters in its text (`operations.py`). Predictions leave all operations where they
are written (`invariant`, `strength` and `hoist` are off). What a lowering may do more than once or not at all has a
range: bounds and conditions of loops of which it makes several, reductions that it moves out of a loop.
All else is equal.
"""

import re
import subprocess

import pytest

from esp import api
from tests.aag.spmd.emit import tree
from tests.aag.spmd.emit.random_nests import nests
from tests.truth.operation_programs import program
from tests.truth.operations import Counted, constructs

WRITTEN = {"invariant": False, "strength": False, "hoist": False}
MOVES = {"load", "store", "assign", "loop.setup", "loop.iteration", "index.1d", "index.2d"}
"""What depends on registers and on how many loops there are."""
KNOWN = ("the owners run one after the other", "cache misses")
"""Assumptions that do not concern operations."""
STRIDED = re.compile(r":-?\d+[,)]|::")


def run(texts, folder):
    """What the counters of programs say, each compiled on its own."""
    found = []
    for number, text in enumerate(texts):
        place = folder / f"program{number}"
        place.mkdir()
        (place / "main.f90").write_text(text)
        words = ["gfortran", "-O0", "-w", "-ffree-line-length-none", "main.f90", "-o", "main"]
        done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
        assert not done.returncode, f"{done.stderr}\n{text}"
        subprocess.run(["./main"], cwd=place, capture_output=True, check=True)
        found.append([int(each) for each in (place / "counted").read_text().split()])
    return found


def predicted(text, group_of, **options):
    """Operations by construct and class, and whether nothing is assumed of them."""
    prediction = api.predict(text, procs=1, opt={**WRITTEN, **options})
    found = {}
    for line in prediction.lines:
        here = found.setdefault(group_of.get(line.line, 0), {})
        for each in prediction.counts.of(line.aaus):
            name = each.figure.path.partition(".processor.")[2]
            if name and each.paid == "computation" and name not in MOVES:
                here[name] = here.get(name, 0) + each.mean
    sure = all(any(known in each.text for known in KNOWN) for each in prediction.assumptions)
    return found, sure


def check(texts, folder):
    """How many constructs agree exactly, and how many of all were compared."""
    programs = [Counted(each) for each in texts]
    exact, compared, wrong = 0, 0, []
    for text, own, counted in zip(texts, programs, run([each.text for each in programs], folder), strict=True):
        group_of = constructs(text)
        expected = own.by_group(counted, group_of)
        found, sure = predicted(text, group_of)
        if not sure:
            continue
        strided = {group_of[at] for at, each in enumerate(text.splitlines(), 1) if at in group_of and is_strided(each)}
        for group in {*expected, *found}:
            one, other = expected.get(group, {}), found.get(group, {})
            names = {each for each in {*one, *other} if group not in strided or not each.startswith("int.")}
            # Conditions behind CYCLE are joined with those before it, and tested in all iterations.
            names -= {"logical"} if "cycle" in text else set()
            ranges = {each: one.get(each, (0, 0)) for each in names}
            compared += 1
            exact += all(least == most for least, most in ranges.values())
            wrong += [
                f"line {group}: {name} {other.get(name, 0):g}, counted {least} to {most}\n{text}"
                for name, (least, most) in ranges.items()
                if not least * (1 - 1e-9) <= other.get(name, 0) <= most * (1 + 1e-9)
            ]
    assert not wrong, f"{len(wrong)} differences\n" + "\n".join(wrong[:3])
    return exact, compared


def is_strided(line):
    """Whether a line has a section with a stride: its elements are counted by ones in the node program."""
    return bool(re.search(r"[^(,]:[^:,)]+:|::", line.partition("!")[0])) and not line.startswith(("integer", "real"))


def texts(kind, seeds):
    return [program(seed) if kind == "rich" else tree.text(nests(seed, 1, kind)[0]) for seed in seeds]


KINDS = ("rich", "affine", "scalars", "branches", "sections", "totals", "leaving", "all", "tight", "kernels")


def test_operations(tmp_path):
    """A few programs of the kinds that reach most."""
    exact, compared = check([*texts("rich", range(6)), *texts("totals", range(2))], tmp_path)
    assert exact > compared / 2


@pytest.mark.truth
@pytest.mark.parametrize("kind", KINDS)
def test_many_operations(kind, tmp_path):
    exact, compared = check(texts(kind, range(100, 300 if kind == "rich" else 160)), tmp_path)
    assert exact > compared / 2


def test_bounds_of_loops_count(tmp_path):
    """They are computed each time that a loop begins: square roots and conversions, too."""
    text = """program p
integer :: i, j
real(8) :: s, a(20), b(20, 20)
!hpf$ distribute a(block)
!hpf$ distribute b(*, block)
a = 0
b = 1
s = 9
do j = 1, 10
  do i = int(sqrt(s)), j*j/(j + 1) + 2
    a(i) = a(i) + 1
  end do
end do
do j = 2, 10
  do i = int(sqrt(s)) - 2, j*j/(j + 1) + 2
    b(i, j) = b(i, j - 1) + 1
  end do
end do
end program p
"""
    check([text], tmp_path)
    found, sure = predicted(text, constructs(text))
    assert sure
    assert (found[9]["r8.sqrt"], found[14]["r8.sqrt"]) == (10, 9)
