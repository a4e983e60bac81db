"""Clustering changes the granularity and nothing else."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aag.graph import aau as g
from aag.graph.cluster import cluster
from aag.graph.synchronize import synchronize
from aag.pipeline import Options, Overrides, abstract, lower, read_program
from tests.aag.graph.totals import total

HEAD = """\
program test
  double precision :: x(64), y(64), s, t
  integer :: i, it, l
!hpf$ distribute (block) :: x, y
"""

STATEMENTS = (
    ("s = s*2 + t",),
    ("t = s/3",),
    ("it = it + 1",),
    ("l = 3",),
    ("x = y*s",),
    ("forall (i = 2:64) x(i) = y(i-1)",),
    ("s = sum(x)",),
    ("call system_clock(it)",),
    ("print *, s",),
    ("y(3) = t",),
    ("call outside(s)",),
)
BLOCKS = (
    ("do i = 1, 3", "end do"),
    ("do while (it < 5)", "end do"),
    ("if (s > 1) then", "end if"),
    ("if (s > 1) then\ns = 1\nt = 2\nelse", "end if"),
)


def indented(head, body, end):
    return (head, *(line for part in body for line in part), end)


programs = st.lists(
    st.recursive(
        st.sampled_from(STATEMENTS),
        lambda inner: st.builds(
            lambda block, body: indented(block[0], body, block[1]),
            st.sampled_from(BLOCKS),
            st.lists(inner, min_size=1, max_size=4),
        ),
        max_leaves=10,
    ),
    min_size=1,
    max_size=6,
)


def with_own_variables(lines):
    """Each loop in another one has a variable of its own."""
    depth = 0
    for line in lines:
        depth -= line == "end do"
        yield line.replace("do i =", f"do i{depth} =")
        depth += line.startswith("do ")


def graph_of(parts):
    lines = with_own_variables(line for part in parts for line in part)
    text = HEAD + "\n".join(lines) + "\nend program test\n"
    return abstract(lower(read_program(text, "test.f90"), Overrides(procs=4), 4, Options()))


def assigns(graph):
    return [one for each in g.walk(graph.body) if isinstance(each, g.Seq) for one in each.assigns]


@settings(max_examples=25)
@given(programs)
def test_totals_order_ids_and_edges_survive(parts):
    check_merged(parts)


@pytest.mark.truth
@settings(max_examples=100)
@given(programs)
def test_totals_order_ids_and_edges_often_survive(parts):
    check_merged(parts)


def check_merged(parts):
    graph = graph_of(parts)
    merged = cluster(graph, "block")
    assert total(merged) == total(graph)
    assert assigns(merged) == assigns(graph)
    assert merged.critical == graph.critical
    numbers = [each.id for each in g.walk(merged.body)]
    assert numbers == list(range(merged.count))
    assert merged.count <= graph.count
    # Finding the edges of the merged graph anew gives the same edges.
    assert set(synchronize(merged).edges) == set(merged.edges)


@settings(max_examples=25)
@given(programs)
def test_no_two_plain_sequences_are_neighbours(parts):
    def plain(aau):
        return isinstance(aau, g.Seq) and not (aau.clock_mark or aau.leave or aau.unmodelled)

    def check(body):
        assert not any(plain(one) and plain(other) for one, other in pairwise(body))
        for aau in body:
            if isinstance(aau, g.CondtD | g.CondtSync):
                for branch in aau.branches:
                    check(branch.body)
            else:
                check(g.children(aau))

    check(cluster(graph_of(parts), "block").body)


def test_a_block_has_the_first_line_and_the_sum_of_the_work():
    merged = cluster(graph_of((("s = t*2",), ("it = it + 1",), ("t = s + s",), ("x = 0",), ("s = 1",))), "block")
    block, last = (each for each in g.walk(merged.body) if isinstance(each, g.Seq))
    assert block.span.line == 5
    assert dict(block.work.computation) == {"assign": 3, "int.add": 1, "r8.add": 1, "r8.mul": 1}
    assert block.label == "s = ..., it = ..., t = ..."
    assert block.defines == {"s", "it", "t"}
    assert dict(last.work.computation) == {"assign": 1}


def test_clock_marks_and_leaves_stay_by_themselves():
    parts = (("s = 1",), ("call system_clock(it)",), ("t = 2",), ("stop",), ("s = 3",))
    merged = cluster(graph_of(parts), "block")
    assert sum(isinstance(each, g.Seq) for each in g.walk(merged.body)) == 5


def test_the_finest_level_is_the_graph_itself():
    graph = graph_of((("s = 1",), ("t = 2",)))
    assert cluster(graph, "statement") is graph


def test_a_level_that_does_not_exist():
    with pytest.raises(ValueError, match="statement, block, loop, procedure"):
        cluster(graph_of((("s = 1",),)), "coarse")
