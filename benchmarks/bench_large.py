"""Many processors: time and memory of a process up to the largest cube."""

from collections.abc import Iterator

from benchmarks.measure import LAPLACE, Figure, processes

RUNS = 7

BOUNDS = ((1 << 10, (None, None)), (1 << 20, (2.0, 1024.0)))
"""Processors, and the most seconds and MiB."""


def figures() -> Iterator[Figure]:
    """laplace_bb, N = 8192, K = 100, on 2^10 and 2^20 processors: medians, and the largest peak."""
    commands = [
        ("-m", "esp", "run", str(LAPLACE), "--procs", str(procs), "--set", "n=8192", "--set", "k=100")
        for procs, _ in BOUNDS
    ]
    spent = processes(RUNS, *commands)
    for (procs, bounds), each in zip(BOUNDS, spent, strict=True):
        yield Figure(f"esp run laplace_bb, N = 8192, K = 100, P = {procs:,}", each.cpu_s, "s", bounds[0])
        yield Figure("  the same on the wall", each.wall_s, "s")
        yield Figure("  peak memory", each.peak_bytes / (1 << 20), "MiB", bounds[1])
    yield Figure("  the larger over the smaller", spent[1].cpu_s / spent[0].cpu_s, "x")
