"""Many predictions in one process: a comparison of twelve distributions, and a sweep of ten thousand scenarios."""

from collections.abc import Iterator

from benchmarks.measure import LAPLACE, Figure, processes

SWEEP = ("--procs", "8", "--bandwidth", "x0.5:x4:/100", "--load", "0%:60%:/100", "--csv")


def figures() -> Iterator[Figure]:
    """laplace_bb on 8 processors: `esp compare`, `esp sweep`, and `esp run` beside them."""
    path = str(LAPLACE)
    run, alone, compare, sweep = processes(
        7, ("-m", "esp", "run", path, "--procs", "8"), ("-m", "esp", "compare", path, "--procs", "8", "--size", "none"),
        ("-m", "esp", "compare", path, "--procs", "8"), ("-m", "esp", "sweep", path, *SWEEP))
    yield Figure("esp compare laplace_bb, P = 8: 12 choices and crossover", compare.cpu_s, "s", 1.0)
    yield Figure("  the same on the wall", compare.wall_s, "s")
    yield Figure("  over esp run", compare.cpu_s / run.cpu_s, "x")
    yield Figure("  without the crossover, over esp run", alone.cpu_s / run.cpu_s, "x")
    yield Figure("esp sweep laplace_bb, P = 8: 10,000 scenarios", sweep.cpu_s, "s", 2.0)
    yield Figure("  the same on the wall", sweep.wall_s, "s")
    yield Figure("  over esp run", sweep.cpu_s / run.cpu_s, "x")
