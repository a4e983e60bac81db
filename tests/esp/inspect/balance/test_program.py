"""The model of programs: counts by hand, times beside those of the engine, and limits that the engine confirms."""

from math import log2

import pytest

import esp
from esp.inspect.balance.counts import tree_stages
from esp.inspect.balance.records import NEGLECTED

SHORT, LONG = 65.0, 147.0
"""Start-ups of the iPSC/860, us."""

FREE = {
    **{f"cube.network.{size}.per_byte": "0us/B" for size in ("short", "long")},
    **{f"cube.network.{size}.per_hop": "0us" for size in ("short", "long")},
    "cube.node.memory.pack": "0us/B",
}
"""A network that only has start-ups, as that of the model."""


@pytest.fixture(scope="module")
def laplace():
    return esp.balance("laplace.hpf", procs=[1, 4, 32])


def test_start_ups_of_laplace_by_hand(laplace):
    """50 iterations shift an edge in 2 directions on a 2 x 2 grid, 4 on 8 x 4; each has a maximum in log2 p stages.

    One sum follows. Edges are longer than 100 B.
    """
    alone, four, many = laplace.runs
    assert alone.startups == 0
    assert four.startups == pytest.approx(2 * 50 + (50 + 1) * 2 * SHORT / LONG)
    assert many.startups == pytest.approx(4 * 50 + (50 + 1) * 5 * SHORT / LONG)


def test_start_ups_of_gauss_by_hand():
    """n - 1 columns below the diagonal, of n - k numbers of 8 B, go to all in log2 p stages. One sum follows."""
    n, p = 48, 8
    lengths = [8 * (n - k) for k in range(1, n)]
    long = sum(each > 100 for each in lengths)
    expected = log2(p) * (long + (len(lengths) - long + 1) * SHORT / LONG)
    assert esp.balance("gauss.hpf", procs=p, n=n).runs[0].startups == pytest.approx(expected)


@pytest.mark.parametrize(("processors", "tree", "trees"), [(8, 8, 1), (16, 4, 4), (32, 2, 16)])
def test_stages_of_trees(processors, tree, trees):
    assert tree_stages(processors, trees * (tree - 1)) == pytest.approx(log2(tree))


def test_fewer_trees_are_not_counted_as_too_many_stages():
    assert 0 < tree_stages(16, 3) <= 2
    assert tree_stages(4, 0) == 0


def test_operations_are_the_flops_of_one_processor(laplace):
    alone = esp.predict("laplace.hpf", procs=1, io=False)
    assert laplace.x_s + laplace.x_p == pytest.approx(sum(alone.counts.flops().values()))
    misses = [each for each in alone.counts.of() if each.name.startswith("memory.")]
    assert laplace.x_m * laplace.c_m * laplace.t_phi_s == pytest.approx(sum(float(each.time_s[0]) for each in misses))


def test_time_on_one_processor_is_that_of_the_engine(laplace):
    (alone, *_) = laplace.runs
    assert alone.engine.time_s == pytest.approx(7.3496, rel=1e-4)
    excess = laplace.x_lambda * laplace.c_phi * laplace.t_phi_s
    assert alone.engine.model_time_s == pytest.approx(alone.engine.time_s, rel=1e-3)
    assert alone.engine.model_time_s - alone.engine.time_s <= excess


def test_what_is_neglected_makes_the_difference(laplace):
    for run in laplace.runs:
        engine = run.engine
        assert tuple(engine.neglected_s) == NEGLECTED
        total = engine.model_time_s + sum(engine.neglected_s.values())
        assert total == pytest.approx(engine.time_s)
        assert engine.deviation == pytest.approx(run.speedup / engine.speedup - 1)


def test_neighbour_exchanges_need_no_more_than_start_ups_bytes_and_hops():
    """In shallow.hpf nobody waits: what remains after all other causes is nothing."""
    for run in esp.balance("shallow.hpf", procs=[2, 16]).runs:
        assert abs(run.engine.neglected_s["waiting"]) < 0.002 * run.engine.time_s
        assert run.engine.neglected_s["startups"] == pytest.approx(0, abs=1e-12)
        assert run.engine.neglected_s["bytes"] > 0


@pytest.mark.parametrize(
    ("program", "values", "within"),
    [("shallow.hpf", {}, 0.03), ("laplace.hpf", {"n": 64, "k": 5}, 0.08), ("gauss.hpf", {"n": 48}, 0.07)],
)
def test_with_free_bytes_and_hops_the_engine_has_the_speedup_of_the_model(program, values, within):
    for run in esp.balance(program, procs=[2, 16], system_set=FREE, **values).runs:
        assert abs(run.engine.deviation) < within


def test_the_engine_confirms_the_largest_start_up():
    (run,) = (found := esp.balance("shallow.hpf", procs=16, system_set=FREE)).runs
    ratio = run.largest_startup / found.c_c
    startups = {"cube.network.long.startup": f"x{ratio}", "cube.network.short.startup": f"x{ratio}"}
    times = [esp.predict("shallow.hpf", procs=p, io=False, system_set=FREE | startups).time_s for p in (1, 16)]
    assert times[0] / times[1] / 16 == pytest.approx(0.5, abs=0.02)


def test_counts_of_a_smaller_base_predict_more_processors():
    """Broadcasts of gauss.hpf on 2 processors are 1 + log2 p stages: half as many as the thesis has for them."""
    counted, small = (
        esp.balance("gauss.hpf", procs=[2, 8], n=48, **more) for more in ({}, {"base": 2, "pattern": "broadcast"})
    )
    assert small.base == 2
    assert small.runs[0].startups == counted.runs[0].startups
    assert small.runs[1].startups == pytest.approx(counted.runs[0].startups * (1 + log2(8)) / (1 + log2(2)))
    assert small.law == "X_c x (1 + log2 p)"
    assert small.runs[1].engine.neglected_s["startups"] != 0


def test_other_costs_have_no_engine_beside_them():
    found = esp.balance("shallow.hpf", procs=4, c_c=470)
    assert (found.given, found.c_c, found.runs[0].engine) == (("c_c",), 470, None)
    assert found.runs[0].speedup > esp.balance("shallow.hpf", procs=4).runs[0].speedup


def test_a_program_without_communication():
    text = """\
program t
  real(8) :: a(64)
!HPF$ DISTRIBUTE a(BLOCK)
  a = 1.5d0
  a = a * 2.5d0
end program t
"""
    (run,) = esp.balance(text, procs=4).runs
    assert (run.startups, run.largest_startup, run.grain, run.least_grain) == (0, None, None, None)
    assert run.reached


def test_sequential_work_alone_may_prevent_the_utilisation():
    text = """\
program t
  real(8) :: a(64), x
  integer :: i
!HPF$ DISTRIBUTE a(BLOCK)
  x = 1.5d0
  do i = 1, 1000
    x = x * 1.001d0
  end do
  a = x
  x = sum(a)
end program t
"""
    found = esp.balance(text, procs=16)
    (run,) = found.runs
    assert found.x_s > found.x_p
    assert run.largest_startup < 0
    assert run.utilisation < run.highest < 0.5
    assert "No start-up is cheap enough for 50%" in " ".join(str(found).split())


PIPELINES = {"heat_sub.hpf", "pipeline.hpf", "pt.hpf", "sor.hpf", "thomas.hpf"}
"""Programs whose processors wait for one another."""

APART = {"lfk02.hpf"}
"""Programs in which another processor sends most in each communication."""

INTEGER = {"floyd.hpf", "life.hpf", "oddeven.hpf"}
"""Programs without flops."""


@pytest.mark.truth
def test_in_most_benchmarks_bytes_and_hops_explain_communication_beyond_start_ups(root):
    for path in sorted((root / "benchmarks_hpf").glob("*.hpf")):
        if path.name in INTEGER:
            with pytest.raises(esp.PredictionError, match="no floating-point operations"):
                esp.balance(path, procs=8)
            continue
        (run,) = esp.balance(path, procs=8).runs
        engine = run.engine
        waiting = engine.neglected_s["waiting"] / engine.time_s
        if path.name in PIPELINES:
            assert waiting > 0.25, path.name
        elif path.name in APART:
            assert waiting < -0.1, path.name
        else:
            assert abs(waiting) < 0.1, path.name
        assert engine.model_time_s + sum(engine.neglected_s.values()) == pytest.approx(engine.time_s)


@pytest.mark.truth
def test_the_table_of_the_page(root):
    """docs/balance.md has the speedups of model and engine for p = 1 to 32."""
    page = (root / "docs" / "balance.md").read_text(encoding="utf-8")
    for program in ("laplace.hpf", "gauss.hpf"):
        rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith(f"| {program} |")]
        found = esp.balance(program, procs=[int(row[1]) for row in rows])
        for row, run in zip(rows, found.runs, strict=True):
            share = f"{run.engine.deviation:+.1%}".replace("-0.0%", "0.0%")
            told = [f"{run.speedup:.2f}", f"{run.engine.speedup:.2f}", share]
            assert [each.strip() for each in row[2:5]] == told
        assert len(rows) == 6
