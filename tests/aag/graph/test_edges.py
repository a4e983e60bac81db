"""Communication edges: who produced the data, what moves them, who needs them."""

import pytest

from aag.graph import aau as g


@pytest.fixture
def edges(graph_of):
    """(line of the producer, line of the communication, line of the consumer, array, pattern) of each edge; line 1 is
    the first statement."""

    def of(body, **options):
        graph = graph_of(body, **options)
        units = {each.id: each for each in g.walk(graph.body)}
        first = min(each.span.line for each in units.values() if not isinstance(each, g.Spawn | g.Start)) - 1
        for each in graph.edges:
            assert isinstance(units[each.comm], g.Comm | g.SyncSeq | g.IterSync)
        return [
            (
                None if each.source is None else units[each.source].span.line - first,
                units[each.comm].span.line - first,
                units[each.target].span.line - first,
                each.array,
                each.pattern,
            )
            for each in graph.edges
        ]

    return of


def test_the_last_producer_before_the_communication(edges):
    assert edges("y = 1\ny = 2\nforall (i = 2:n) x(i) = y(i-1)\ny = 3") == [(2, 3, 3, "y", "overlap_shift")]


def test_data_that_nobody_produced(edges):
    assert edges("forall (i = 2:n) x(i) = y(i-1)") == [(None, 1, 1, "y", "overlap_shift")]


def test_the_producer_of_the_next_iteration_stands_later(edges):
    found = edges("y = 1\ndo it = 1, 9\n  forall (i = 2:n) x(i) = y(i-1)\n  y = x\nend do")
    assert found == [(1, 3, 3, "y", "overlap_shift"), (4, 3, 3, "y", "overlap_shift")]


def test_two_loops_deep(edges):
    inner = "do l = 1, 2\n  forall (i = 2:n) x(i) = y(i-1)\n  z = x\nend do"
    found = edges(f"y = 1\ndo it = 1, 9\n{inner}\ny = z\nend do", off=["hoist", "redundant"])
    assert found == [(1, 4, 4, "y", "overlap_shift"), (7, 4, 4, "y", "overlap_shift")]


def test_hoisted_communication_is_needed_inside_the_loop(edges):
    body = "y = 1\ndo it = 1, 9\n  z = it\n  forall (i = 2:n) x(i) = y(i-1)\nend do"
    assert edges(body) == [(1, 4, 4, "y", "overlap_shift")]


def test_after_a_conditional_either_branch_may_have_produced(edges):
    body = "y = 0\nif (s > 1) then\n  y = 1\nelse\n  y = 2\nend if\nforall (i = 2:n) x(i) = y(i-1)"
    assert edges(body) == [(3, 7, 7, "y", "overlap_shift"), (5, 7, 7, "y", "overlap_shift")]


def test_without_else_the_old_value_may_be_there(edges):
    body = "y = 0\nif (s > 1) then\n  y = 1\nend if\nforall (i = 2:n) x(i) = y(i-1)"
    assert edges(body) == [(1, 5, 5, "y", "overlap_shift"), (3, 5, 5, "y", "overlap_shift")]


def test_a_reduction_goes_from_the_partial_results_to_who_reads_the_sum(edges):
    assert edges("x = 1\ns = sum(x)\nt = 1\ny = s") == [(2, 2, 4, "x", "reduction")]


def test_a_reduction_that_decides_a_while_loop(edges):
    body = "err = 1\ndo while (err > 0.1d0)\n  err = maxval(x)\nend do"
    assert edges(body) == [(3, 3, 2, "x", "reduction")]


def test_a_reduction_that_decides_a_conditional(edges):
    assert edges("s = sum(x)\nif (s > 1) y = 0") == [(1, 1, 2, "x", "reduction")]


def test_a_reduction_whose_result_nobody_reads(edges):
    assert edges("s = sum(x)") == [(1, 1, 1, "x", "reduction")]


def test_an_element_that_all_processors_need(edges):
    assert edges("x = 1\ns = x(3)\nt = s") == [(1, 2, 2, "x", "multicast")]


def test_output_needs_what_is_gathered_for_it(edges):
    assert edges("x = 1\nprint *, x") == [(1, 2, 2, "x", "gather")]


def test_a_recurrence_feeds_itself(edges):
    assert edges("do i = 2, n\n  x(i) = x(i-1)\nend do") == [(1, 1, 1, "x", "transfer")]


@pytest.mark.parametrize("name", ["laplace", "gauss", "redblack", "lfk22", "pbs4", "lfk09"])
def test_every_communication_has_an_edge_and_every_edge_a_reader(bundled, name):
    graph = bundled(name)
    units = {each.id: each for each in g.walk(graph.body)}
    moving = {
        number
        for number, each in units.items()
        if isinstance(each, g.SyncSeq) or (isinstance(each, g.Comm) and each.operation is not None)
    }
    assert moving == {edge.comm for edge in graph.edges if not isinstance(units[edge.comm], g.IterSync)}
    for edge in graph.edges:
        consumer = units[edge.target]
        if isinstance(consumer, g.IterD) and edge.pattern != "reduction":
            assert edge.array in {need.reference.array for need in units[edge.comm].operation.needs}
            assert consumer.nest is not None


def test_very_deep_loops(edges):
    """Each of them a second iteration, but not 2**30 of the innermost body."""
    loops = "do while (s < 1)\n" * 30
    body = f"y = 1\n{loops}  forall (i = 2:n) x(i) = y(i-1)\n  y = x\n" + "end do\n" * 30
    assert edges(body, off=["hoist"]) == [(1, 32, 32, "y", "overlap_shift"), (33, 32, 32, "y", "overlap_shift")]
