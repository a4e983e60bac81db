"""Critical names: scalars whose values decide the flow, and those from which they are computed (D8)."""

import pytest


@pytest.mark.parametrize(
    ("body", "critical", "free"),
    [
        ("do i = 1, l\n  s = s + 1\nend do", {"l"}, {"s", "t"}),
        ("do i = 1, n, it\n  s = s + 1\nend do", {"it"}, {"s"}),
        ("forall (i = 2:l) x(i) = s", {"l"}, {"s"}),
        ("x(l) = s", {"l"}, {"s"}),
        ("s = x(l)", {"l"}, {"s"}),
        ("forall (i = 2:n) x(i) = c(l)", {"l"}, set()),
        ("if (s > 1) t = 2", {"s"}, {"t"}),
        ("do while (s > t)\n  s = s/2\nend do", {"s", "t"}, {"err"}),
        # traced back through assignments, wherever they stand
        ("l = it + 1\nx(l) = s", {"l", "it"}, {"s"}),
        ("if (done) then\n  l = it\nend if\nx(l) = s", {"done", "l", "it"}, {"s"}),
        ("do i = 1, 3\n  l = it\n  it = j\nend do\nx(l) = s", {"l", "it", "j"}, {"s"}),
        ("s = 2*omega\ndo while (err > s)\n  err = maxval(x)\nend do", {"err", "s", "omega"}, {"t"}),
        ("read *, l\nx(l) = 0", {"l"}, {"s"}),
        ("s = sum(x)\nt = s", set(), {"s", "t"}),
    ],
)
def test_critical_names(graph_of, body, critical, free):
    found = graph_of(body).critical
    assert critical <= found
    assert not free & found


def test_laplace_ends_by_its_tolerance_or_its_bound(bundled):
    assert {"err", "tol", "it", "k"} <= bundled("laplace").critical
    assert not {"check", "start", "finish"} & bundled("laplace").critical
