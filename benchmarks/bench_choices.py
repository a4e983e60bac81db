"""Many predictions in one process: a comparison of twelve distributions, and a sweep of ten thousand scenarios."""

from collections.abc import Iterator

from benchmarks.measure import LAPLACE, Figure, processes

SWEEP = ("--procs", "8", "--bandwidth", "x0.5:x4:/100", "--load", "0%:60%:/100", "--csv")


def figures() -> Iterator[Figure]:
    """laplace_bb on 8 processors: `esp compare`, `esp sweep`, and `esp run` beside them."""
    path = str(LAPLACE)
    compared = ("-m", "esp", "compare", path, "--procs", "8")
    run, compare, short, single, sweep = processes(
        7,
        ("-m", "esp", "run", path, "--procs", "8"),
        compared,
        (*compared, "--size", "none"),
        (*compared, "--jobs", "1"),
        ("-m", "esp", "sweep", path, *SWEEP),
    )
    yield Figure("esp compare laplace_bb, P = 8: 12 choices and crossover, wall", compare.wall_s, "s", 1.0)
    yield Figure("  over esp run, wall", compare.wall_s / run.wall_s, "x")
    yield Figure("  without the crossover, wall", short.wall_s, "s")
    yield Figure("  in one process, over esp run", single.cpu_s / run.cpu_s, "x")
    yield Figure("esp run laplace_bb, P = 8, wall", run.wall_s, "s")
    yield Figure("esp sweep laplace_bb, P = 8: 10,000 scenarios", sweep.cpu_s, "s", 2.0)
    yield Figure("  the same on the wall", sweep.wall_s, "s")
    yield Figure("  over esp run", sweep.cpu_s / run.cpu_s, "x")
