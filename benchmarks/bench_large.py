"""Many processors: time and memory of a process up to the largest cube."""

from collections.abc import Iterator

from benchmarks.measure import LAPLACE, Figure, process


def figures() -> Iterator[Figure]:
    """laplace_bb, N = 8192, K = 100, on 2^10 and 2^20 processors."""
    for procs, bounds in ((1 << 10, (None, None)), (1 << 20, (2.0, 1024.0))):
        spent = process("-m", "esp", "run", str(LAPLACE), "--procs", str(procs), "--set", "n=8192", "--set", "k=100")
        yield Figure(f"esp run laplace_bb, N = 8192, K = 100, P = {procs:,}", spent.cpu_s, "s", bounds[0])
        yield Figure("  peak memory", spent.peak_bytes / (1 << 20), "MiB", bounds[1])
