"""The algorithms of Sun and Zhu as programs: work, messages and times beside the article's formulas.

Reals have 8 bytes here, so that n1 numbers are 8 n1 bytes where the article has 4 n1 of them.
"""

from pathlib import Path

import numpy as np
import pytest

import esp
from esp.api import load_machine
from esp.locate import find_program
from sag.scenario import Scenario, export


def timed_lines(name):
    """The line numbers of the two readings of the clock."""
    lines = Path(find_program(name)).read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if "call system_clock" in line]


class Kernel:
    """What a program does between the two readings of the clock, on an iPSC/860."""

    def __init__(self, name, procs, **values):
        start, finish = timed_lines(name)
        self.made = esp.predict(name, system="ipsc860", procs=procs, **values)
        self.lines = [each for each in self.made.lines if start < each.line < finish]
        aaus = {aau for each in self.lines for aau in each.aaus}
        self.flops = sum(self.made.counts.flops(aaus).values())
        self.messages = [(each.messages, each.bytes) for each in self.lines if each.messages]
        self.time_s = self.made.timed_s


@pytest.mark.parametrize(("name", "leading"), [("householder.hpf", 2), ("givens.hpf", 3)])
def test_leading_term_of_least_squares(name, leading):
    """The third difference of leading x n**3 + ... at distances of 4 is 6 x leading x 4**3 (Equation 8: 2 n**3)."""
    works = [Kernel(name, 1, n=n).flops for n in (4, 8, 12, 16)]
    assert np.diff(works, 3).tolist() == [pytest.approx(6 * leading * 4**3, rel=1e-12)]


@pytest.mark.parametrize("name", ["householder.hpf", "givens.hpf"])
def test_each_step_of_least_squares_sends_a_vector(name):
    """n + 1 numbers at each of n steps (Equation 9), to each of the others."""
    n, procs = 12, 4
    assert Kernel(name, procs, n=n).messages == [(n * (procs - 1), n * (procs - 1) * 8 * (n + 1))]


@pytest.mark.parametrize("procs", [4, 16])
def test_parallel_diagonal_dominant_algorithm(procs):
    """T = (9 n/p + 1) n1 tau + 2 (alpha + 4 n1 beta), where each processor has one block."""
    n1, length = 16, 24
    found = Kernel("pdd.hpf", procs, n=length * procs, m=n1, q=procs)
    assert found.flops == (9 * length + 1) * n1 * procs
    assert found.messages == [(procs, procs * 8 * n1)] * 2
    slower = {
        what: Kernel("pdd.hpf", procs, n=length * procs, m=n1, q=procs, **{what: change}).time_s - found.time_s
        for what, change in (("latency", "x2"), ("bandwidth", "x0.5"))
    }
    law = law_of(8 * n1)
    assert slower["latency"] == pytest.approx(2 * law[0], rel=1e-9)
    assert slower["bandwidth"] == pytest.approx(2 * law[1] * 8 * n1, rel=1e-9)


def test_parallel_diagonal_dominant_algorithm_is_perfectly_scalable():
    """T(N p, N W) = T(p, W), the sidebar's result, but for some cache misses at both ends of the array."""
    times = [Kernel("pdd.hpf", procs, n=24 * procs, m=16, q=procs).time_s for procs in (4, 8, 16)]
    assert times == [pytest.approx(times[0], rel=1e-3)] * 3


@pytest.mark.parametrize("procs", [1, 4, 8])
def test_parallelised_thomas_algorithm(procs):
    """7 n n1 operations, and of T = (7 n/p) n1 tau + 2 p (alpha + 6 n1 beta) the messages.

    Numbers go forth and back over p - 1 boundaries, not p; then both ends go to all in log2(p) steps each. Each of the
    others computes the three operations of their combination, too.
    """
    n1, n = 16, 96
    found = Kernel("pt.hpf", procs, n=n, m=n1, w=n1)
    assert found.flops == (7 * n - 1) * n1 + 3 * n1 * (procs - 1)
    once = (procs - 1, (procs - 1) * 8 * n1)
    assert found.messages == ([once, once, (2 * once[0], 2 * once[1])] if procs > 1 else [])
    if procs == 1:
        return
    law = law_of(8 * n1)
    steps = 2 * (procs - 1) + 2 * np.log2(procs)
    slow = Kernel("pt.hpf", procs, n=n, m=n1, w=n1, latency="x2").time_s - found.time_s
    assert slow == pytest.approx(steps * law[0], rel=1e-9)
    narrow = Kernel("pt.hpf", procs, n=n, m=n1, w=n1, bandwidth="x0.5").time_s - found.time_s
    assert narrow == pytest.approx(steps * law[1] * 8 * n1, rel=1e-9)


def test_groups_of_right_sides_are_a_pipeline():
    """With one group a processor waits until all before it are done; with many, for the first group alone."""
    alone, groups = (Kernel("pt.hpf", 4, n=64, m=64, w=w, latency="x0.001", bandwidth="x1000").time_s for w in (64, 8))
    assert groups < 0.6 * alone


def law_of(size_bytes):
    """alpha and beta of a message of so many bytes to a neighbour."""
    network = export(load_machine("ipsc860"), Scenario()).network
    law = next(each for each in network.ranges if size_bytes <= each.upto_bytes)
    return float((law.call_overhead_s + law.startup_s + law.per_hop_s).item()), float(law.per_byte_s.item())
