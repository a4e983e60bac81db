"""A coarser granularity says in fewer units what the finest says, and nothing else."""

import numpy as np
import pytest

from aag.graph import aau as g
from aag.graph.cluster import LEVELS, outline, unit_of
from esp import api
from esp.errors import UsageError

PROGRAMS = ("laplace_bb", "gauss", "pipeline", "redblack")

PROGRAM = """\
program small
  integer, parameter :: n = 64
  integer :: i, k
  double precision :: x(n), y(n), s, t
!HPF$ DISTRIBUTE (BLOCK) :: x, y
  s = 1.0d0
  t = s*2.0d0
  x = s
  do k = 1, 3
    forall (i = 2:n) y(i) = x(i-1)
    s = s + 1.0d0
    t = sum(y)
    x = y*t
  end do
  print *, t
end program small
"""


def predicted(program, granularity, **values):
    return api.predict(program, procs=4, granularity=granularity, **values)


def four(parts):
    return np.array([parts.computation_s, parts.communication_s, parts.overhead_s, parts.waiting_s])


@pytest.mark.parametrize(
    ("program", "granularity"),
    [
        pytest.param(program, level, marks=() if (one - two) % len(LEVELS[1:]) == 0 else pytest.mark.truth)
        for one, program in enumerate([*PROGRAMS, PROGRAM])
        for two, level in enumerate(LEVELS[1:])
    ],
)
def test_totals_stay(program, granularity):
    fine, coarse = (predicted(program, each, n=32, bandwidth=[1.0, 2.0]) for each in ("statement", granularity))
    assert coarse.time_s == pytest.approx(fine.time_s, rel=1e-12)
    assert (coarse.messages, coarse.bytes) == (fine.messages, fine.bytes)
    for rows in (coarse.aaus, coarse.lines):
        assert sum(four(each.parts) for each in rows) == pytest.approx(four(fine.parts), rel=1e-12, abs=1e-18)
    assert sum(each.messages for each in coarse.lines) == fine.messages
    assert sum(each.bytes for each in coarse.lines) == fine.bytes
    assert sum(each.misses for each in coarse.aaus) == pytest.approx(sum(each.misses for each in fine.aaus))
    assert len(coarse.aaus) <= len(fine.aaus)


def test_the_units_of_a_small_program():
    rows = {each: [(aau.kind, aau.span.line) for aau in predicted(PROGRAM, each).aaus] for each in LEVELS}
    inside = [("Comm", 10), ("IterD", 10), ("Seq", 11), ("IterD", 12), ("SyncSeq", 12), ("IterD", 13)]
    end = [("Comm", 15), ("End", 16)]
    start = [("Spawn", 1), ("Start", 1)]
    loop = [("IterSync", 9)]
    assert rows["statement"] == [*start, ("Seq", 6), ("Seq", 7), ("IterD", 8), *loop, *inside, *end]
    assert rows["block"] == [*start, ("Seq", 6), ("IterD", 8), *loop, *inside, *end]
    assert rows["loop"] == [*start, ("Seq", 6), ("IterD", 8), *loop, *end]
    assert rows["procedure"] == [("Spawn", 1)]


def test_a_unit_has_what_is_inside_it():
    fine, coarse = (predicted(PROGRAM, each) for each in ("block", "loop"))
    (loop,) = (each for each in coarse.aaus if each.kind == "IterSync")
    before = next(each for each in fine.aaus if each.kind == "IterSync")
    assert loop.parts.time_s == pytest.approx(before.total_s, rel=1e-12)
    assert (loop.total_s, loop.max_s, loop.executions) == (before.total_s, before.max_s, before.executions)
    # In each of 3 iterations, 3 of 4 processors send one element, and all of them 2 partial sums.
    assert loop.comm.messages == 3 * (3 + 8)
    assert loop.comm.pattern == "several"
    (line,) = (each for each in coarse.lines if each.line == 9)
    assert line.messages == 33
    assert line.time_s == loop.parts.time_s
    assert line.max_processor == loop.max_processor


def test_the_outline_has_units_alone_and_edges_between_them():
    stages = api.lower_source(api.read_source(PROGRAM), api.load_machine("ipsc860"), api.Request(procs=4))
    for level in LEVELS:
        graph, units = outline(stages.graph, level), unit_of(stages.graph, level)
        assert [each.id for each in g.walk(graph.body)] == [each for each, unit in units.items() if each == unit]
        assert {end for each in graph.edges for end in (each.comm, each.target)} <= set(units.values())
    assert outline(stages.graph, "procedure").edges == ()
    assert outline(stages.graph, "statement").edges == stages.graph.edges


def test_a_granularity_that_does_not_exist():
    with pytest.raises(UsageError, match="not a granularity"):
        predicted(PROGRAM, "coarse")
