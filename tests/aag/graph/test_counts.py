"""Operation counts against counts by hand."""

import pytest

from aag.graph import aau as g
from tests.aag.graph.totals import total


@pytest.fixture
def work(graph_of):
    """The computation of the first AAU of a body that counts anything: {"before": .., "loop i": ..}, no empty ones."""

    def of(body, **options):
        from aag.graph.tally import works

        graph = graph_of(body, **options)
        found = next(
            found
            for each in g.walk(graph.body)
            if not isinstance(each, g.Spawn | g.Start | g.End | g.Comm)
            and (found := {name: dict(done.computation) for name, done in works(each) if done.computation})
        )
        return next(iter(found.values())) if set(found) == {"once"} else found

    return of


def test_the_laplace_update(bundled):
    graph = bundled("laplace")
    update = next(each for each in g.walk(graph.body) if each.label == "b(i, j) for (j, i)")
    expected = {"r8.add": 3, "r8.mul": 1, "load": 4, "store": 1, "index.2d": 5}
    assert dict(update.work.computation) == expected
    assert [level.computation for level in (update.setup, *update.outer)] == [(), ()]
    # Local bounds of two partitioned loops: an offset and a clip at either end of each.
    assert dict(update.setup.overhead) == {"int.add": 8, "int.cmp": 4}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("s = 1", {"assign": 1}),
        ("s = t", {"assign": 1}),
        ("s = t + s*t - err/t", {"r8.add": 2, "r8.mul": 1, "r8.div": 1, "assign": 1}),
        ("s = -t", {"r8.add": 1, "assign": 1}),
        ("s = +t", {"assign": 1}),
        ("it = it + 1", {"int.add": 1, "assign": 1}),
        ("l = it*l/2", {"int.mul": 1, "int.div": 1, "assign": 1}),
        ("r = r*2.0", {"r4.mul": 1, "assign": 1}),
        # what the compiler computes
        ("s = 2.0d0*omega", {"assign": 1}),
        ("s = (1 - omega)*t", {"r8.mul": 1, "assign": 1}),
        ("s = dble(n - 1)*t", {"r8.mul": 1, "assign": 1}),
        ("s = 2*t", {"r8.mul": 1, "assign": 1}),
        ("s = 1.0*t", {"r8.mul": 1, "assign": 1}),
        ("s = n*t", {"r8.mul": 1, "assign": 1}),
        # conversions
        ("s = it", {"convert": 1, "assign": 1}),
        ("s = it*t", {"convert": 1, "r8.mul": 1, "assign": 1}),
        ("s = r*t", {"convert": 1, "r8.mul": 1, "assign": 1}),
        ("r = r + t", {"convert": 2, "r8.add": 1, "assign": 1}),
        ("it = s", {"convert": 1, "assign": 1}),
        ("it = int(s)", {"convert": 1, "assign": 1}),
        ("it = int(it)", {"assign": 1}),
        ("s = dble(it)", {"convert": 1, "assign": 1}),
        ("s = dble(t)", {"assign": 1}),
        ("it = nint(s)", {"convert": 1, "r8.add": 1, "assign": 1}),
        ("it = floor(s)", {"convert": 1, "r8.cmp": 1, "assign": 1}),
        ("s = real(it, 8)", {"convert": 1, "assign": 1}),
        ("done = it > s", {"convert": 1, "r8.cmp": 1, "assign": 1}),
        ("done = s > 1", {"r8.cmp": 1, "assign": 1}),
        ("done = it > 1 .and. .not. done", {"int.cmp": 1, "logical": 2, "assign": 1}),
        # powers by repeated squaring: t**2 is 1, t**3 2, t**7 4 (2, 3, 6, 7), t**8 3, t**(-2) 1 and a reciprocal
        ("s = t**0", {"assign": 1}),
        ("s = t**1", {"assign": 1}),
        ("s = t**2", {"r8.mul": 1, "assign": 1}),
        ("s = t**3", {"r8.mul": 2, "assign": 1}),
        ("s = t**7", {"r8.mul": 4, "assign": 1}),
        ("s = t**8", {"r8.mul": 3, "assign": 1}),
        ("s = t**(-2)", {"r8.mul": 1, "r8.div": 1, "assign": 1}),
        ("s = t**n", {"r8.mul": 6, "assign": 1}),
        ("s = t**it", {"r8.mul": 4, "assign": 1}),
        ("it = l**it", {"int.pow": 1, "assign": 1}),
        ("s = t**err", {"r8.pow": 1, "assign": 1}),
        ("s = t**0.5", {"r8.pow": 1, "assign": 1}),
        ("s = 2**t", {"r8.pow": 1, "assign": 1}),
        # functions
        ("s = sqrt(t) + exp(t)", {"r8.sqrt": 1, "r8.exp": 1, "r8.add": 1, "assign": 1}),
        ("r = sin(r) + log10(r)", {"r4.sin": 1, "r4.log": 1, "r4.add": 1, "assign": 1}),
        ("s = abs(t)", {"r8.cmp": 1, "assign": 1}),
        ("s = max(t, err, s)", {"r8.cmp": 2, "assign": 1}),
        ("it = mod(it, 7)", {"int.div": 1, "assign": 1}),
        ("s = mod(s, t)", {"r8.div": 1, "r8.mul": 1, "r8.add": 1, "assign": 1}),
        ("s = sign(s, t)", {"r8.cmp": 1, "assign": 1}),
        ("it = ieor(it, l)", {"logical": 1, "assign": 1}),
        ("s = f(t) + 1", {"call": 1, "r8.add": 1, "assign": 1}),
        # complex arithmetic: (a+bi)(c+di) is four products and two sums
        ("q = q + q", {"r4.add": 2, "assign": 1}),
        ("q = q*q", {"r4.mul": 4, "r4.add": 2, "assign": 1}),
        ("q = q*r", {"r4.mul": 4, "r4.add": 2, "assign": 1}),
        ("r = abs(q)", {"r4.mul": 2, "r4.add": 1, "r4.sqrt": 1, "assign": 1}),
    ],
)
def test_scalar_statement(work, statement, expected):
    assert work(statement) == expected


def test_a_condition_is_counted_where_it_is_tested(graph_of):
    graph = graph_of("if (s > 1 .or. it == 2) then\n  s = 1\nelse if (t < s) then\n  s = 2\nelse\n  s = 3\nend if")
    (conditional,) = [each for each in g.walk(graph.body) if isinstance(each, g.CondtD)]
    tests = [dict(each.work.computation) for each in conditional.branches]
    assert tests == [{"r8.cmp": 1, "int.cmp": 1, "logical": 1}, {"r8.cmp": 1}, {}]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("forall (i = 1:n) x(i) = y(i)", {"loop i": {"load": 1, "store": 1, "index.1d": 2}}),
        # read twice, loaded once; read and written, one address
        ("forall (i = 1:n) x(i) = y(i)*y(i)", {"loop i": {"load": 1, "store": 1, "index.1d": 2, "r8.mul": 1}}),
        ("forall (i = 1:n) x(i) = x(i) + 1", {"loop i": {"load": 1, "store": 1, "index.1d": 1, "r8.add": 1}}),
        ("forall (i = 2:n) x(i) = y(i-1)", {"loop i": {"load": 1, "store": 1, "index.1d": 2}}),
        # a subscript that is no index with an offset is computed
        ("forall (i = 1:n/2) x(i) = c(2*i)", {"loop i": {"load": 1, "store": 1, "index.1d": 2, "int.mul": 1}}),
        ("forall (i = 1:n) x(i) = u(i)", {"loop i": {"load": 1, "store": 1, "index.1d": 2, "convert": 1}}),
        ("forall (i = 1:n) x(i) = i", {"loop i": {"store": 1, "index.1d": 1, "convert": 1}}),
        ("forall (i = 1:n) k(i) = i*i", {"loop i": {"store": 1, "index.1d": 1, "int.mul": 1}}),
        (
            "forall (i = 1:n) w(i) = w(i)*q",
            {"loop i": {"load": 1, "store": 1, "index.1d": 1, "r4.mul": 4, "r4.add": 2}},
        ),
        # invariant: the product of scalars before the loops, what depends on j in the loop over j
        (
            "forall (i = 1:n) x(i) = (s*t)*y(i)",
            {"before": {"r8.mul": 1}, "loop i": {"load": 1, "store": 1, "index.1d": 2, "r8.mul": 1}},
        ),
        (
            "forall (i = 1:n) x(i) = it*y(i)",
            {"before": {"convert": 1}, "loop i": {"load": 1, "store": 1, "index.1d": 2, "r8.mul": 1}},
        ),
        (
            "forall (i = 1:n, j = 1:n) a(i, j) = sqrt(s) + dble(j)",
            {"before": {"r8.sqrt": 1}, "loop j": {"convert": 1, "r8.add": 1}, "loop i": {"store": 1, "index.2d": 1}},
        ),
        (
            "forall (i = 1:n, j = 1:n) a(i, j) = b(i, j)*c(j)",
            {"loop j": {"load": 1, "index.1d": 1}, "loop i": {"load": 1, "store": 1, "index.2d": 2, "r8.mul": 1}},
        ),
        # a function that is not known may do anything: it stays
        (
            "forall (i = 1:n) x(i) = f(s)*y(i)",
            {"loop i": {"call": 1, "load": 1, "store": 1, "index.1d": 2, "r8.mul": 1}},
        ),
    ],
)
def test_nest(work, statement, expected):
    assert work(statement) == expected


def test_what_an_iteration_assigns_is_not_invariant(work):
    """The product of `t` is computed in each iteration that assigns `t`, that of `s` once."""
    assert work("do i = 1, n\nt = y(i) + 1\nx(i) = t*s*t + (s*s)\nend do") == {
        "before": {"r8.mul": 1},
        "loop i": {"load": 1, "store": 1, "index.1d": 2, "assign": 1, "r8.add": 2, "r8.mul": 2},
    }


def test_without_invariant_everything_is_innermost(work):
    statement = "forall (i = 1:n, j = 1:n) a(i, j) = s*t + b(i, j)*c(j)"
    assert work(statement) == {
        "before": {"r8.mul": 1},
        "loop j": {"load": 1, "index.1d": 1},
        "loop i": {"load": 1, "store": 1, "index.2d": 2, "r8.mul": 1, "r8.add": 1},
    }
    assert work(statement, off=["invariant"]) == {
        "loop i": {"load": 2, "store": 1, "index.1d": 1, "index.2d": 2, "r8.mul": 2, "r8.add": 1}
    }


@pytest.mark.parametrize(
    "body",
    ["forall (i = 1:n, j = 1:n) a(i, j) = s*t + b(i, j)*c(j)*sqrt(s + j)", "a = exp(s)*b + it\nx = y*s**3 + t/s"],
)
def test_moving_invariants_outwards_changes_no_total(graph_of, body):
    assert total(graph_of(body)) == total(graph_of(body, off=["invariant"]))


def test_a_mask_is_tested_always_and_the_rest_is_done_where_it_holds(work):
    # Always: the mask (y loaded, compared). Where it holds: z loaded, a product, the store.
    assert work("where (y > 0) x = z*y") == {
        "loop i$1": {"load": 1, "index.1d": 1, "r8.cmp": 1},
        "where the mask holds": {"load": 1, "index.1d": 2, "r8.mul": 1, "store": 1},
    }


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("s = sum(x)", {"load": 1, "index.1d": 1, "r8.add": 1}),
        ("s = product(x)", {"load": 1, "index.1d": 1, "r8.mul": 1}),
        ("s = maxval(abs(x - y))", {"load": 2, "index.1d": 2, "r8.add": 1, "r8.cmp": 2}),
        ("it = count(x > y)", {"load": 2, "index.1d": 2, "r8.cmp": 1, "int.add": 1}),
        ("done = any(x > y)", {"load": 2, "index.1d": 2, "r8.cmp": 1, "logical": 1}),
        ("q = sum(w)", {"load": 1, "index.1d": 1, "r4.add": 2}),
        ("s = dot_product(x, y)", {"load": 2, "index.1d": 2, "r8.add": 1, "r8.mul": 1}),
    ],
)
def test_reduction(work, statement, expected):
    found = work(statement)
    assert found["before"] == {"assign": 1}
    assert [found[each] for each in found if each != "before"] == [expected]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("s = sum(x)", {"r8.add": 1}),
        ("it = count(x > 0)", {"int.add": 1}),
        ("s = maxval(x)", {"r8.cmp": 1}),
        ("done = all(x > 0)", {"logical": 1}),
        ("q = sum(w)", {"r4.add": 2}),
        ("q = product(w)", {"r4.mul": 4, "r4.add": 2}),
    ],
)
def test_combining_two_partial_results(graph_of, statement, expected):
    (combine,) = [each for each in g.walk(graph_of(statement).body) if isinstance(each, g.SyncSeq)]
    assert dict(combine.work.computation) == expected


@pytest.mark.parametrize(
    ("off", "outer", "inner"),
    [
        # The first dimension is reduced and runs innermost: the sum of a column stays in a register meanwhile.
        ((), {"load": 1, "store": 1, "index.1d": 1}, {"load": 1, "index.2d": 1, "r8.add": 1}),
        (["invariant"], {}, {"load": 2, "store": 1, "index.1d": 1, "index.2d": 1, "r8.add": 1}),
    ],
)
def test_a_reduction_along_a_dimension(graph_of, off, outer, inner):
    graph = graph_of("x = sum(a, dim=1)", off=off)
    nest = next(each for each in g.walk(graph.body) if isinstance(each, g.IterD))
    assert nest.nest.reduce == "sum"
    assert [dict(each.computation) for each in (*nest.outer, nest.work)] == [outer, inner]


def test_matrix_vector_product_accumulates_in_a_register(graph_of):
    graph = graph_of("x = matmul(a, c)")
    nest = next(each for each in g.walk(graph.body) if isinstance(each, g.IterD))
    assert dict(nest.work.computation) == {"load": 2, "index.1d": 1, "index.2d": 1, "r8.mul": 1, "r8.add": 1}
    # Around the inner loop the sum is set to zero, and its value stored.
    assert [dict(each.computation) for each in nest.outer] == [{"assign": 1, "store": 1, "index.1d": 1}]


def test_a_forall_that_reads_what_it_writes_goes_through_a_temporary(work):
    # As without: load, add, store, two addresses. The temporary: stored and loaded, two more addresses, its own loop.
    assert work("forall (i = 2:n) c(i) = c(i-1) + 1") == {
        "before": {"loop.setup": 1},
        "loop i": {"load": 2, "store": 2, "index.1d": 4, "r8.add": 1, "loop.iteration": 1},
    }


def test_a_subscript_that_goes_round_costs_what_another_does(work):
    """A loop is split where it goes round."""
    assert work("x = cshift(y, 1)") == work("x(1:n-1) = y(2:n)")


def test_where_conditions_differ_each_branch_has_its_own_work(work):
    """Nothing is chosen or loaded that an IF would leave alone, and what a branch has loaded others load, too."""
    body = """do i = 1, n
      s = y(i)*2
      if (s > 0) then
        x(i) = s
      else if (i > 4) then
        x(i) = -s
      else
        x(i) = x(i)*s
      end if
    end do"""
    found = work(body)
    first, second, third = (found.pop(each) for each in [*found] if each.endswith("run"))
    (test,) = (found.pop(each) for each in [*found] if each.endswith("tested"))
    assert found == {"loop i": {"r8.mul": 1, "assign": 1, "load": 1, "index.1d": 1, "r8.cmp": 1}}
    assert (first, test) == ({"store": 1, "index.1d": 1}, {"int.cmp": 1})
    assert second == {"r8.add": 1, "store": 1, "index.1d": 1}
    assert third == {"load": 1, "r8.mul": 1, "store": 1, "index.1d": 1}


def test_overhead_of_a_share_and_of_a_guard(graph_of):
    def overhead(body):
        nest = next(each for each in g.walk(graph_of(body).body) if isinstance(each, g.IterD))
        return dict(nest.setup.overhead) or dict(nest.work.overhead)

    assert overhead("c = 0") == {}
    assert overhead("x = 0") == {"int.add": 4, "int.cmp": 2}
    assert overhead("forall (j = 1:n) a(1, j) = 0") == {"int.add": 4, "int.cmp": 2, "guard": 1}


def test_the_owner_loop_does_the_work_and_all_test_the_guard(graph_of):
    graph = graph_of("do i = 2, n\n  x(i) = x(i-1)*t\nend do")
    (loop,) = [each for each in g.walk(graph.body) if isinstance(each, g.IterSync)]
    assert dict(loop.work.computation) == {"load": 1, "store": 1, "index.1d": 2, "r8.mul": 1}
    assert dict(loop.work.overhead) == {"guard": 1}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # One address steps along each array, whose first is computed before the loop.
        ("forall (i = 1:n) c(i) = s", {"before": {"index.1d": 1}, "loop i": {"store": 1, "index.1d": 1}}),
        # b(i-1, j) and b(i+1, j) are at constant distances from each other, and so is b(i, j+1).
        (
            "forall (i = 2:n-1, j = 2:n-1) a(i, j) = b(i-1, j) + b(i+1, j) + b(i, j+1)",
            {"loop j": {"index.2d": 2}, "loop i": {"load": 3, "store": 1, "r8.add": 2, "index.1d": 2}},
        ),
        # c(j) does not move in the inner loop: its address steps in the outer one.
        (
            "forall (i = 1:n, j = 1:n) a(i, j) = c(j)",
            {
                "before": {"index.1d": 1},
                "loop j": {"load": 1, "index.1d": 1, "index.2d": 1},
                "loop i": {"store": 1, "index.1d": 1},
            },
        ),
        # 2*i - 1 is linear: one multiplication and one addition before the loop, none in it.
        (
            "forall (i = 1:n/2) c(2*i - 1) = s",
            {"before": {"index.1d": 1, "int.add": 1, "int.mul": 1}, "loop i": {"store": 1, "index.1d": 1}},
        ),
        # c(i*i) cannot be stepped.
        (
            "forall (i = 1:8) z(i) = c(i*i)",
            {"before": {"index.1d": 1}, "loop i": {"load": 1, "store": 1, "index.1d": 2, "int.mul": 1}},
        ),
        ("c(l) = s", {"store": 1, "index.1d": 1}),
        # In a DO loop an address either steps or stays in its register.
        ("do i = 1, n\n  c(i) = c(l)*t\nend do", {"load": 1, "store": 1, "index.1d": 1, "r8.mul": 1}),
    ],
)
def test_addresses_that_step(work, body, expected):
    assert work(body, on=["strength"]) == expected


MASKED = "forall (i = 1:n, j = 1:n, c(i) > 0.0d0) a(i, j) = b(i, j)*x(j)"


@pytest.mark.parametrize(
    ("on", "order", "tested", "mask"),
    [
        ([], ["j", "i"], 2, {"load": 1, "index.1d": 1, "r8.cmp": 1}),
        (["masks"], ["i", "j"], 1, {"load": 1, "index.1d": 1, "r8.cmp": 1}),
    ],
)
def test_where_a_mask_is_tested(graph_of, on, order, tested, mask):
    graph = graph_of(MASKED, on=on)
    nest = next(each for each in g.walk(graph.body) if isinstance(each, g.IterD))
    assert ([each.name for each in nest.nest.indices], nest.tested or 2) == (order, tested)
    level = dict(((*nest.outer, nest.work)[tested - 1]).computation)
    assert level == mask


def test_a_mask_of_all_indices_stays_inside(graph_of):
    graph = graph_of("forall (i = 1:n, j = 1:n, a(i, j) > 0) a(i, j) = b(i, j)", on=["masks"])
    nest = next(each for each in g.walk(graph.body) if isinstance(each, g.IterD))
    assert [each.name for each in nest.nest.indices] == ["j", "i"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # bounds of a nest, of a loop of processors in turn, of a loop that all run
        (
            "do i = l + 1, min(n, it)\n  c(i) = s\nend do",
            {"before": {"int.add": 1, "int.cmp": 1}, "loop i": {"store": 1, "index.1d": 1}},
        ),
        # an element that an inner loop stores again and again stays in a register, too
        (
            "do i = 1, n\n  do j = 1, n\n    x(i) = x(i) + c(j)*y(i)\n  end do\nend do",
            {
                "loop i": {"load": 2, "index.1d": 2},
                "loop j": {"load": 1, "store": 1, "index.1d": 2, "r8.add": 1, "r8.mul": 1},
            },
        ),
        (
            "do i = 2*l, n\n  x(i) = x(i-1)\nend do",
            {"before": {"int.mul": 1}, "loop i": {"load": 1, "store": 1, "index.1d": 2}},
        ),
        ("do i = int(s), k(l)\n  print *, i\nend do", {"before": {"convert": 1, "load": 1, "index.1d": 1}}),
        # those of an inner loop are computed in each iteration of the loop around it
        (
            "do j = 1, n\n  do i = j + 1, n\n    z(i) = c(i)\n  end do\nend do",
            {"loop j": {"int.add": 1}, "loop i": {"load": 1, "store": 1, "index.1d": 2}},
        ),
        # two sections at a constant distance, and a named constant in a subscript
        ("z(0+1:n-2) = c(3-0:n)", {"loop i": {"load": 1, "store": 1, "index.1d": 2}}),
        ("forall (i = 1:4) z(i) = c(n/2 + i - 1)", {"loop i": {"load": 1, "store": 1, "index.1d": 2}}),
        # a difference is one operation
        (
            "do i = 1, n\n  s = s - x(i)*t\nend do",
            {"before": {"assign": 1}, "loop i": {"load": 1, "index.1d": 1, "r8.add": 1, "r8.mul": 1}},
        ),
    ],
)
def test_what_loops_need(work, body, expected):
    found = work(body)
    assert {name.replace("i$1", "i"): done for name, done in found.items()} == expected


def test_count_costs_the_same_in_a_loop_inside_and_alone(graph_of):
    inner = graph_of("forall (i = 1:n) k(i) = count(a(:, i) > 0)")
    alone = graph_of("it = count(c > 0)")
    steps = [next(each for each in g.walk(graph.body) if isinstance(each, g.IterD)).work for graph in (inner, alone)]
    assert [
        {name: many for name, many in each.computation if "." in name and "index" not in name} for each in steps
    ] == [{"int.add": 1, "r8.cmp": 1}] * 2
