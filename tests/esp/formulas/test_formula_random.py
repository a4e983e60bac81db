"""Formulas of random programs: nests of all shapes over BLOCK and CYCLIC, inside sequential loops, with messages.

Counts must be those of predictions at sizes that no interpolation used; iterations must be derived.
"""

import random

import numpy as np
import pytest

import esp

MISSES = ("read_miss", "write_miss", "writeback", "tlb_miss")

PACKED = "byte packed or unpacked"

FORMATS = ("(BLOCK,*)", "(*,BLOCK)", "(BLOCK,BLOCK)", "(CYCLIC,*)", "(*,CYCLIC)", "(CYCLIC(2),*)", "(BLOCK,CYCLIC)")

LOWER = ("1", "2", "k", "k + 1")
UPPER = ("n", "n - 1", "k", "n - k")


def index(chance, name, *, inside):
    lower, upper = chance.choice(LOWER if inside else LOWER[:2]), chance.choice(UPPER if inside else UPPER[:2])
    step = chance.choice(("", "", "", ":2"))
    return f"{name} = {lower}:{upper}{step}"


def forall(chance, *, inside):
    """A FORALL over two indices, or over one on a row or column; with or without messages."""
    right = chance.choice(("b(i, j)", "a(i, j) * b(i, j)", "b(i, j) + c(j)"))
    if chance.random() < 0.3:
        one = index(chance, "i", inside=inside)
        column = chance.choice(("k", "1", "n")) if inside else "2"
        return f"forall ({one}) a(i, {column}) = a(i, {column}) + 1.0"
    return f"forall ({index(chance, 'i', inside=inside)}, {index(chance, 'j', inside=inside)}) a(i, j) = {right}"


def program(seed):
    chance = random.Random(seed)
    lines = ["program r", "  integer, parameter :: n = 48", "  real :: a(n, n), b(n, n), c(n)", "  integer :: i, j, k"]
    formats = FORMATS[seed % len(FORMATS)]
    lines += [f"!HPF$ DISTRIBUTE a{formats}", "!HPF$ ALIGN b(i, j) WITH a(i, j)"]
    lines += ["  b = 2.0", "  c = 1.0"]
    for _ in range(chance.randint(1, 2)):
        lines.append("  " + forall(chance, inside=False))
    first, last = chance.choice(("1", "2")), chance.choice(("n", "n - 1", "n / 2"))
    lines.append(f"  do k = {first}, {last}")
    for _ in range(chance.randint(1, 2)):
        lines.append("    " + forall(chance, inside=True))
    if chance.random() < 0.5:
        lines.append("    forall (i = 2:n, j = 1:n) a(i, j) = b(i - 1, j)")
    return "\n".join([*lines, "  end do", "  print *, sum(a)", "end program r", ""])


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed in (2, 3) else pytest.mark.truth) for seed in range(40)]
)
def test_counts_are_those_of_predictions(seed):
    text, procs = program(seed), random.Random(-seed).choice((2, 3, 4))
    formula = esp.formula(text, procs=procs)
    lost = [each.what for each in formula.outside if each.line is not None]
    assert all(each.endswith(PACKED) for each in lost), text  # whether a section is contiguous may depend on n
    chance = random.Random(seed)
    sizes = [n for n in range(formula.least, 8 * formula.least) if formula.holds(np.array([float(n)]))[0]]
    (n,) = chance.sample([n for n in sizes if n not in formula.samples], 1)
    expected = {
        (each.figure.path, each.paid): each.of_each(procs)
        for each in esp.predict(text, procs=procs, n=n).counts.of()
        if not each.figure.path.endswith(MISSES) and not (lost and each.figure.unit == PACKED)
    }
    found = {(each.figure, each.paid): each.counts for each in formula.terms}
    assert found.keys() >= expected.keys(), text
    for key, counts in found.items():
        if lost and key[0].endswith("memory.pack"):
            continue
        values = [float(each.value({"n": n})) for each in counts]
        assert np.allclose(values, expected.get(key, 0.0), rtol=1e-12, atol=1e-9), (n, key, text)
