"""How often conditions hold that data decide: what gfortran counts in the same program, with counters in its text."""

import subprocess
from random import Random

import pytest

from esp import api
from interpreter.engine import interpret
from sag.scenario import export

N, STEPS = 12, 5
TESTS = (
    "a({i}, {j}) > {v}",
    "b({i}, {j}) < {v}",
    "mod(a({i}, {j}) + b({i}, {j}), 3) == {w}",
    "a({i}, {j}) /= b({j}, {i})",
)
VALUES = ("mod(a({i}, {j}) * 3 + {v}, 17)", "b({i}, {j}) + {v}", "mod(b({i}, {j}) + a({i}, {j}), 13)")


class Writer:
    """A program, and the same with counters: each has the name by which its share is asked for, without the index."""

    def __init__(self, seed):
        self.chooser = Random(seed)
        self.plain = ["program conditions", f"  integer, parameter :: n = {N}"]
        self.plain += ["  integer :: a(n, n), b(n, n), i, j, k, hot"]
        self.plain += ["!hpf$ distribute (block, *) :: a, b"]
        self.plain += ["  hot = 0", "  forall (i = 1:n, j = 1:n) a(i, j) = mod(i * 7 + j * 3, 10)"]
        self.plain += ["  forall (i = 1:n, j = 1:n) b(i, j) = mod(i * j, 7)", f"  do k = 1, {STEPS}"]
        self.counted = [*self.plain]
        self.counted[2:3] = [*self.plain[2:3], "  integer :: did(40) = 0, all_of(40) = 0"]
        self.names = []
        for _ in range(self.chooser.randint(2, 4)):
            self.chooser.choice((self.where, self.where_of_arrays, self.loops, self.forall, self.scalar))()
        for lines in (self.plain, self.counted):
            lines += ["  end do"]
        self.plain += ["  print *, sum(a), sum(b), hot", "end program"]
        self.counted += [f"  print *, did(1:{len(self.names)}), all_of(1:{len(self.names)})", "end program"]

    def add(self, line, *before):
        """A line of both texts, in the counted one after some others."""
        self.plain.append(line)
        self.counted += [*before, line]

    def counter(self, name, did, every):
        """What counts how often a condition holds, of how often it is reached."""
        self.names.append(name)
        at = len(self.names)
        return f"did({at}) = did({at}) + {did}; all_of({at}) = all_of({at}) + {every}"

    def test(self, i="i", j="j"):
        values = {"i": i, "j": j, "v": self.chooser.randint(0, 12), "w": self.chooser.randrange(3)}
        return self.chooser.choice(TESTS).format(**values)

    def value(self, i="i", j="j"):
        return self.chooser.choice(VALUES).format(i=i, j=j, v=self.chooser.randint(1, 9))

    def where(self):
        """WHERE of a row inside a DO loop over the rows, of which each is an iteration."""
        mask = self.test("i", ":").replace("b(:, i)", "b(i, :)")
        line = len(self.plain) + 3
        self.add("    do i = 1, n")
        count = self.counter(f"mask_{line}", f"count({mask})", "n")
        self.add(f"      where ({mask})", count)
        self.add(f"        a(i, :) = {self.value('i', ':')}")
        self.add("      end where")
        self.add("    end do")

    def where_of_arrays(self):
        """WHERE and ELSEWHERE."""
        first = self.test(":", ":").replace("a(:, :)", "a").replace("b(:, :)", "b")
        second = f"a > {self.chooser.randint(0, 9)}"
        line = len(self.plain) + 2
        counts = [
            self.counter(f"mask_{line}", f"count({first})", "n * n"),
            self.counter(f"mask_{line + 2}", f"count(.not. ({first}) .and. ({second}))", "n * n"),
        ]
        self.add(f"    where ({first})", *counts)
        self.add("      b = mod(b * 5 + 1, 19)")
        self.add(f"    elsewhere ({second})")
        self.add("      b = mod(b + a, 11)")
        self.add("    end where")

    def loops(self):
        """A DO nest with IF and ELSE, or with IF inside IF."""
        outer, inner = self.test(), self.test()
        nested = self.chooser.random() < 0.5
        self.add("    do j = 1, n")
        self.add("      do i = 1, n")
        line = len(self.plain) + (3 if nested else 2)
        holds = f"({outer}) .and. ({inner})" if nested else outer
        count = self.counter(f"mask_{line}", f"merge(1, 0, {holds})", "1")
        self.add(f"        if ({outer}) then", count)
        if nested:
            self.add(f"          if ({inner}) then")
        self.add("            a(i, j) = mod(a(i, j) * 2 + 1, 23)")
        if nested:
            self.add("          end if")
        self.add("        end if")
        self.add("      end do")
        self.add("    end do")

    def forall(self):
        mask = self.test()
        line = len(self.plain) + 1
        count = self.counter(f"mask_{line}", f"count((/ ((({mask}), i = 1, n), j = 1, n) /))", "n * n")
        self.add(f"    forall (i = 1:n, j = 1:n, {mask}) b(i, j) = mod(a(i, j) + 3, 8)", count)

    def scalar(self):
        line = len(self.plain) + 1
        holds = f"mod(sum(a) + k, {self.chooser.randint(2, 4)}) == 0"
        count = self.counter(f"if_{line}", f"merge(1, 0, {holds})", "1")
        self.add(f"    if ({holds}) then", count)
        self.add("      hot = hot + 1")
        self.add("      a = mod(a + 1, 15)")
        self.add("    end if")


def shares(text, procs):
    """What an interpretation asks for, and finds."""
    source, system, request = api.read_source(text), api.load_machine("ipsc860"), api.Request(procs=procs)
    stages, machine = api.lower_source(source, system, request), export(system, request.scenario)
    _, known = api.interpreted(
        stages, request, lambda setting: interpret(stages.node_program, stages.graph, machine, setting)
    )
    return known.shares


def compared(seed, folder):
    """Shares that are found, after each is held against what gfortran counts."""
    written = Writer(seed)
    found = shares("\n".join(written.plain) + "\n", (1, 2, 4)[seed % 3])
    path = folder / f"counted{seed}.f90"
    path.write_text("\n".join(written.counted) + "\n", encoding="utf-8")
    subprocess.run(["gfortran", "-o", path.with_suffix(""), path], check=True, cwd=folder)
    numbers = [int(each) for each in subprocess.check_output([path.with_suffix("")], text=True).split()]
    did, every = numbers[: len(written.names)], numbers[len(written.names) :]
    counted = {name: (one / of if of else 0.0) for name, one, of in zip(written.names, did, every, strict=True)}
    for name, share in found.masks.items():
        assert share == pytest.approx(counted[name.rpartition("_")[0]], abs=2e-6), (seed, name)
    for line, weights in found.branches.items():
        assert weights[0] == pytest.approx(counted[f"if_{line}"], abs=1e-12), (seed, line)
    assert not found.unknown, (seed, found)
    return len(found.masks) + len(found.branches)


HEAD = ("program p", "integer, parameter :: n = 30", "integer :: a(n), b(n), i", "!hpf$ distribute (block) :: a, b")
MIXED = ("do i = 1, 3", "  a = mod(a*3 + cshift(a, 1), 10)", "end do", "b = 0")
FILLED = ("do i = 1, n", "  a(i) = mod(7*i, 10)", "end do", *MIXED)
"""After it 6 of 30 elements are above 7."""


def test_branches_in_one_line_are_not_mixed_up():
    one = "do i = 1, n; if (a(i) > 7) then; b(i) = 1; else; b(i) = b(i) + 1; end if; end do"
    several = one.replace("; ", "\n")
    text = "\n".join((*HEAD, *FILLED, "{}", "print *, b", "end program", ""))
    assert shares(text.format(one), 2).masks == {}
    assert [round(each, 3) for each in sorted(shares(text.format(several), 2).masks.values())] == [0.2, 0.8]


def test_masks_of_procedures_are_computed():
    body = ("do i = 1, n", "if (a(i) > 7) then", "b(i) = b(i) + 1", "end if", "end do")
    sub = ("subroutine s(a, b, n)", "integer :: n, i", "integer :: a(n), b(n)", "!hpf$ inherit a", "!hpf$ inherit b")
    main = (*HEAD, *FILLED, "call s(a, b, n)", "print *, b", "end program")
    found = shares("\n".join((*main, *sub, *body, "end subroutine", "")), 2)
    assert [round(each, 3) for each in found.masks.values()] == [0.2]
    assert not found.unknown


def test_shares_are_what_gfortran_counts(tmp_path):
    assert sum(compared(seed, tmp_path) for seed in range(6)) > 6


@pytest.mark.truth
def test_many_shares_are_what_gfortran_counts(tmp_path):
    assert sum(compared(seed, tmp_path) for seed in range(100, 220)) > 150
