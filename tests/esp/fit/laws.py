"""Laws that tables are made from, and such tables."""

import numpy as np

from esp.fit.table import parse_table

SIZES = (0, 8, 16, 32, 64, 100, 101, 128, 256, 512, 1024, 4096, 8192, 65536)
POWERS = (0, 8, 32, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576)


def bokhari(size, hops):
    """Microseconds of a message on the iPSC/860 (S. Bokhari, ICASE Interim Report 10, 1990)."""
    return 65.0 + 0.425 * size + 10.0 * hops if size <= 100 else 147.0 + 0.390 * size + 30.5 * hops


def straight(size, hops):
    return 12.0 + 0.01 * size


def three(size, hops):
    """As clusters have it: copied, buffered, with a handshake."""
    return 1.0 + 0.004 * size if size <= 512 else 2.4 + 0.0006 * size if size <= 16384 else 9.0 + 0.00009 * size


def table(law, sizes=SIZES, hops=(1,), noise=0.0, seed=0, repeats=1):
    """A table of the law in microseconds, with relative scatter."""
    random = np.random.default_rng(seed)
    rows = [
        f"{size},{far},{law(size, far) * _scattered(random, noise):.12g}"
        for size in sizes
        for far in hops
        for _ in range(repeats)
    ]
    return parse_table("size [B],hops,time [us]\n" + "\n".join(rows), "made.csv")


def _scattered(random, noise):
    """A factor about 1; where the noise is large it must not become negative."""
    draw = noise * random.standard_normal()
    return 1.0 + draw if noise < 0.2 else float(np.exp(draw))
