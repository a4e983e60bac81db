"""Which class of Table 1 each construct becomes."""

import pytest

from aag.graph import aau as g

SHIFT = "forall (i = 2:n) x(i) = y(i-1)"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("s = 1", "Seq"),
        ("s = 1\nt = 2", "Seq Seq"),
        ("c = 0", "IterD"),
        ("x = 0", "IterD"),
        (SHIFT, "Comm IterD"),
        ("x(3) = 1", "IterD"),
        ("do it = 1, 3\n  s = s + 1\n  if (s > 2) t = 1\nend do", "IterD(Seq CondtD(Seq))"),
        ("do it = 1, 3\n  x = y\n  y = x\nend do", "IterD(IterD IterD)"),
        (f"do it = 1, 3\n  {SHIFT}\n  y = x\nend do", "IterSync(Comm IterD IterD)"),
        ("do it = 1, 3\n  s = sum(x)\n  y = s\nend do", "IterSync(IterD SyncSeq IterD)"),
        (f"do it = 1, 3\n  do l = 1, 2\n  {SHIFT}\n  y = x\n  end do\nend do", "IterSync(IterSync(Comm IterD IterD))"),
        ("do i = 2, n\n  x(i) = x(i-1)\nend do", "IterSync"),
        ("do it = 1, 3\n do i = 2, n\n  x(i) = x(i-1)\n end do\nend do", "IterSync(IterSync)"),
        ("do while (s < 3)\n  s = s + 1\nend do", "IterND(Seq)"),
        ("do\n  s = s + 1\n  if (s > 3) exit\nend do", "IterND(Seq CondtD(Seq))"),
        ("do while (s < 3)\n  s = s + sum(x)\nend do", "IterND(IterD SyncSeq Seq)"),
        ("if (s > 1) then\n  x = 0\nelse\n  x = 1\nend if", "CondtD(IterD IterD)"),
        (f"if (s > 1) then\n  x = 0\nelse\n  {SHIFT}\nend if", "CondtSync(IterD Comm IterD)"),
        ("if (s > 1) then\n do i = 2, n\n  x(i) = x(i-1)\n end do\nend if", "CondtSync(IterSync)"),
        ("if (s > 1) then\n  t = maxval(x)\nend if", "CondtSync(IterD SyncSeq)"),
        ("select case (l)\ncase (1)\n  s = 1\ncase default\n  s = 2\nend select", "CondtD(Seq Seq)"),
        ("s = sum(x)", "IterD SyncSeq"),
        ("s = maxval(a)", "IterD SyncSeq"),
        ("call system_clock(it)", "Seq"),
        ("print *, s", "Comm"),
        ("print *, x", "Comm Comm"),
        ("read *, s", "Comm"),
        ("stop", "Seq"),
    ],
)
def test_class(graph_of, outline, body, expected):
    assert outline(graph_of(body)) == expected


def test_a_procedure_becomes_a_call(graph_of, outline):
    graph = graph_of("call outside(s)")
    assert outline(graph) == "Call"
    (call,) = [each for each in g.walk(graph.body) if isinstance(each, g.Call)]
    assert call.name == "outside"
    assert dict(call.work.computation) == {"call": 1}
    assert "outside" in call.assumption


def test_communication_that_is_hoisted_leaves_a_loop_without_communication(graph_of, outline):
    body = f"do it = 1, 3\n  {SHIFT}\nend do"
    assert outline(graph_of(body)) == "Comm IterD(IterD)"
    assert outline(graph_of(body, off=["hoist", "redundant"])) == "IterSync(Comm IterD)"


def test_one_processor_does_not_combine_with_itself(graph_of, outline):
    assert outline(graph_of("s = sum(x)\nt = maxval(a)", procs=1)) == "IterD IterD"


def test_a_clock_a_leave_and_what_is_not_modelled_are_marked(graph_of):
    graph = graph_of("call system_clock(it)\ndo\n  exit\nend do\nx = grade_up(a(1, :))")
    simple = [each for each in g.walk(graph.body) if isinstance(each, g.Seq)]
    assert [each.clock_mark for each in simple] == [True, False, False]
    assert [each.leave for each in simple] == ["", "exit", ""]
    assert "GRADE_UP" in simple[2].unmodelled


@pytest.mark.parametrize("name", ["laplace", "gauss", "pipeline", "redblack", "pbs3", "lfk22", "pbs4"])
def test_ids_count_in_program_order(bundled, name):
    graph = bundled(name)
    numbers = [each.id for each in g.walk(graph.body)]
    assert numbers == list(range(graph.count))


@pytest.mark.parametrize("name", ["laplace", "gauss", "pipeline", "redblack", "pbs3", "lfk22", "pbs4"])
def test_lines_do_not_run_backwards_inside_a_body(bundled, name):
    def check(body):
        lines = [each.span.line for each in body if not isinstance(each, g.Comm)]
        assert lines == sorted(lines)
        for each in body:
            check(g.children(each))

    check(bundled(name).body)


def test_names_of_bodies_reach_the_compound_unit(graph_of):
    graph = graph_of("do it = 1, 3\n  do l = 1, it\n    s = s + l\n  end do\n  if (s > t) err = 1\nend do")
    loop = next(each for each in g.walk(graph.body) if isinstance(each, g.IterD))
    assert {"it", "s", "t"} <= loop.uses
    assert {"it", "l", "s", "err"} <= loop.defines


def test_two_runs_make_the_same_graph(bundled):
    one, two = bundled("redblack"), bundled("redblack")
    shown = [[(each.id, type(each).__name__, each.label, each.span) for each in g.walk(x.body)] for x in (one, two)]
    assert shown[0] == shown[1]
    assert one.edges == two.edges


def test_the_label_of_a_nest_names_the_arrays_it_computes(graph_of):
    def label(body):
        return next(each.label for each in g.walk(graph_of(body).body) if isinstance(each, g.IterD))

    assert label("x = matmul(a, c)") == "x(:)"
    loop = "!hpf$ independent, new(s)\ndo i = 1, n\n  s = y(i)\n  x(i) = s\n  z(i) = 2*s\nend do"
    assert label(loop) == "x(i), z(i) for (i)"
    assert label("s = maxval(x)") == "max into s"
    assert label("x(3) = 1") == "x(3)"
    assert label("s = s * sum(x)") == "sum into sum"  # a temporary, without its number


def test_the_label_of_a_loop_has_its_bounds(graph_of):
    graph = graph_of("do i = 1, l, 2\n  s = s + 1\nend do\ndo j = 2, n\n  x(j) = x(j-1)\nend do")
    loops = [each.label for each in g.walk(graph.body) if isinstance(each, g.IterD | g.IterSync)]
    assert loops == ["do i = 1, l, 2", "do j = 2, n by owners in order"]
