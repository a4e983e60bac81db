"""What X.-H. Sun and J. Zhu publish about scalability, from their own formulas and inputs.

"Performance Prediction: A Case Study Using a Scalable Shared-Virtual-Memory Machine": a regularised least-squares
problem by the Householder transformation on a KSR-1, and two solvers of periodic tridiagonal systems. Nothing is
predicted from a program here; the laws of `interpreter.scalability` are held against printed numbers.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import log10, sqrt

from msgspec import Struct

from interpreter.scalability.crossing import crossing, first_power
from interpreter.scalability.isospeed import scalability

PROCESSORS = (1, 2, 4, 8, 16, 32, 56)
SPEED = 3.25e6
"""The average speed that Table 1 keeps, flop/s."""
RATE_S, NEAR_S, FAR_S = 0.18e-6, 3.37e-6, 6.27e-6
"""tau', beta', beta'' of Equations 18 and 20: seconds for each flop, for each element from the own ring and from
another."""
PEAK_RATE_S, PEAK_NEAR_S, PEAK_FAR_S = 0.025e-6, 7.5e-6, 28.5e-6
"""The same by the specification of the machine (Equations 17 and 19)."""
PEAK_SPEED = 23.2e6
"""58 % of the peak of 40 Mflop/s."""
OWN_RING = 32
"""Processors of a ring."""
PREDICTED_SIZES = (29, 54, 115, 238, 484, 976, 2889)
MEASURED_SIZES = (29, 57, 109, 230, 461, 1006, 2773)
"""Table 1. Its prediction for one processor is missing; Table 2 begins with the measured size."""
OWN_RING_SIZE = 1715
"""The size for 56 processors that the text predicts with the latency of the own ring."""
PREDICTED_SCALABILITY = (
    (0.33238, 0.07183, 0.01652, 0.00397, 0.00097, 0.00007),
    (0.21611, 0.04971, 0.01193, 0.00292, 0.00020),
    (0.23003, 0.05520, 0.01352, 0.00092),
    (0.23999, 0.05879, 0.00398),
    (0.24499, 0.01658),
    (0.06767,),
)
"""Table 2: psi(p, p') above the diagonal."""
MEASURED_SCALABILITY = (
    (0.28382, 0.08418, 0.01830, 0.00459, 0.00089, 0.00007),
    (0.29660, 0.06446, 0.01616, 0.00313, 0.00026),
    (0.21734, 0.05449, 0.01054, 0.00088),
    (0.25070, 0.04849, 0.00406),
    (0.19343, 0.01621),
    (0.08378,),
)
"""Table 3."""
CASES = (("A1", 1e-3, 1e-5, 1024), ("A2", 1e-2, 1e-4, 1024), ("A3", 1e-3, 1e-5, 512))
"""Figure A: name, start-up, time of a byte, order of the system."""
CROSSINGS = (64, 16, 32)
"""What the sidebar says of them."""
RIGHT_SIDES, FLOP_S = 1024, 1e-4
MOST = 1024
"""Processors up to which a crossing is searched."""


TableCells = tuple[str | float | None, ...]


class PublishedTable(Struct, frozen=True, kw_only=True):
    """A table or a figure of the article. Cells are numbers or text; None: the article has none."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableCells, ...]
    digits: int
    """Decimals of its numbers that are not whole."""


class PublishedStatement(Struct, frozen=True, kw_only=True):
    """A sentence, whether it holds, and whether the article says so."""

    text: str
    holds: bool
    paper: bool = False


TITLE = "scalability on a KSR-1, and of two tridiagonal solvers"


class PublishedResults(Struct, frozen=True, kw_only=True):
    """All tables and figures, and what is stated about them."""

    tables: tuple[PublishedTable, ...]
    checked: tuple[PublishedStatement, ...]


def work_of_tables(n: float) -> float:
    """The flops of order n from which all entries of Tables 2 and 3 follow: 2 n^3 + 8.5 n^2 + 26.5 n.

    The article does not print it: it was found by a fit to the tables. Equation 8, 2 n^3 + 3 n^2, does not give them.
    """
    return 2 * n**3 + 8.5 * n**2 + 26.5 * n


def size_at(speed: float, processors: int, rate_s: float, fetch_s: float, *, halved: bool) -> float:
    """The order n' that keeps a speed (Equation 12). `halved`: with its factor 2 in the denominator, as it is printed
    and as it follows from Equation 11; Table 1 was made without it."""
    above = 3 * speed * rate_s * processors + speed * fetch_s * processors - 3
    return above / ((2 if halved else 1) * (1 - speed * rate_s))


def run_time(n: float, processors: int, rate_s: float, fetch_s: float) -> float:
    """Seconds of the Householder transformation (Equation 9)."""
    return (2 * n**3 / processors + 3 * n**2) * rate_s + n**2 * fetch_s


def diagonal_dominant(processors: float, startup_s: float, byte_s: float, n: int) -> float:
    """Seconds of the parallel diagonal dominant algorithm (sidebar)."""
    return (9 * n / processors + 1) * RIGHT_SIDES * FLOP_S + 2 * (startup_s + 4 * RIGHT_SIDES * byte_s)


def parallel_thomas(processors: float, startup_s: float, byte_s: float, n: int) -> float:
    """Seconds of the parallelised Thomas algorithm (sidebar)."""
    return 7 * n / processors * RIGHT_SIDES * FLOP_S + 2 * processors * (startup_s + 6 * RIGHT_SIDES * byte_s)


def reproduce_sun_zhu() -> PublishedResults:
    """Compute everything that the article prints or draws, as far as it can be computed from it."""
    return PublishedResults(
        tables=(_sizes(), *_scalabilities(), _crossings(), _times(), _rings()), checked=tuple(_statements())
    )


def _fetch_s(processors: int, near_s: float, far_s: float) -> float:
    return near_s if processors <= OWN_RING else far_s


def _predicted(processors: int, *, halved: bool) -> float:
    return size_at(SPEED, processors, RATE_S, _fetch_s(processors, NEAR_S, FAR_S), halved=halved)


def _sizes() -> PublishedTable:
    rows: list[TableCells] = []
    for at, processors in enumerate(PROCESSORS):
        if processors == 1:
            rows.append((processors, None, None, None, MEASURED_SIZES[at]))
            continue
        found = [round(_predicted(processors, halved=each), 2) for each in (False, True)]
        rows.append((processors, PREDICTED_SIZES[at], *found, MEASURED_SIZES[at]))
    return PublishedTable(
        name="table1",
        title="matrix sizes that keep 3.25 Mflop/s on each processor",
        columns=("processors", "paper", "Eq. 12 without its 2", "Eq. 12", "paper: measured"),
        rows=tuple(rows),
        digits=2,
    )


def _psi(sizes: Sequence[int]) -> dict[tuple[int, int], float]:
    """psi for each pair of positions."""
    works = [work_of_tables(n) for n in sizes]
    pairs = combinations(range(len(PROCESSORS)), 2)
    return {(a, b): scalability(PROCESSORS[a], works[a], PROCESSORS[b], works[b]) for a, b in pairs}


def _scalabilities() -> tuple[PublishedTable, ...]:
    tables = []
    for name, what, sizes in (("table2", "predicted", PREDICTED_SIZES), ("table3", "measured", MEASURED_SIZES)):
        psi = _psi(sizes)
        rows = [
            (p, *(1.0 if a == b else round(psi[a, b], 5) if a < b else None for b in range(len(PROCESSORS))))
            for a, p in enumerate(PROCESSORS)
        ]
        title = f"scalability psi(p, p') from the {what} sizes of Table 1"
        columns = ("p", *(f"p' = {each}" for each in PROCESSORS))
        tables.append(PublishedTable(name=name, title=title, columns=columns, rows=tuple(rows), digits=5))
    return tuple(tables)


def _two_times(startup_s: float, byte_s: float, n: int) -> tuple[Callable[[float], float], Callable[[float], float]]:
    return (
        lambda processors: parallel_thomas(processors, startup_s, byte_s, n),
        lambda processors: diagonal_dominant(processors, startup_s, byte_s, n),
    )


def _crossings() -> PublishedTable:
    rows = []
    for (name, startup_s, byte_s, n), printed in zip(CASES, CROSSINGS, strict=True):
        both = _two_times(startup_s, byte_s, n)
        exact = crossing(*both, 1, MOST)
        rows.append((name, n, printed, first_power(*both, MOST), None if exact is None else round(exact, 2)))
    return PublishedTable(
        name="figA",
        title="where the parallel diagonal dominant algorithm overtakes the parallelised Thomas algorithm",
        columns=("case", "order", "paper", "first power of two", "exactly"),
        rows=tuple(rows),
        digits=2,
    )


def _times() -> PublishedTable:
    rows = []
    for processors in (2, 4, 8, 16, 22, 32, 36, 56, 64):
        n = round(256 * sqrt(processors))
        fetch_s = NEAR_S if processors < OWN_RING else FAR_S  # some processors of the ring serve input and output
        rows.append((processors, n, round(run_time(n, processors, RATE_S, fetch_s), 2)))
    return PublishedTable(
        name="fig4",
        title="seconds by Equation 9, where memory limits the order to 256 sqrt(p)",
        columns=("processors", "order", "seconds"),
        rows=tuple(rows),
        digits=2,
    )


def _rings() -> PublishedTable:
    """Figures 5 and 6a: how much the second ring takes away, by the fit and by the specification."""
    own = _psi((*PREDICTED_SIZES[:-1], OWN_RING_SIZE))
    measured = _psi(MEASURED_SIZES)
    sizes = [
        [round(size_at(PEAK_SPEED, p, PEAK_RATE_S, _fetch_s(p, PEAK_NEAR_S, far_s), halved=False)) for p in PROCESSORS]
        for far_s in (PEAK_NEAR_S, PEAK_FAR_S)
    ]
    last = len(PROCESSORS) - 1
    near, far = (_psi(each) for each in sizes)
    rows = [
        (
            p,
            *(round(-log10(psi[at, last]), 3) if at < last else None for psi in (measured, own)),
            sizes[1][at],
            *(round(-log10(psi[at, last]), 3) if at < last else None for psi in (far, near)),
        )
        for at, p in enumerate(PROCESSORS)
    ]
    return PublishedTable(
        name="fig5, fig6a",
        title="-log10 psi(p, 56): measured, and predicted as if all were one ring; the same by the specification",
        columns=("p", "measured", "one ring", "order (6a)", "two rings (6a)", "one ring (6a)"),
        rows=tuple(rows),
        digits=3,
    )


def _statements() -> list[PublishedStatement]:
    near = [_predicted(p, halved=False) for p in PROCESSORS[1:-1]]
    apart = [abs(found - printed) for found, printed in zip(near, PREDICTED_SIZES[1:-1], strict=True)]
    halves = [_predicted(p, halved=True) for p in PROCESSORS[1:-1]]
    double = [abs(2 * half - found) for half, found in zip(halves, near, strict=True)]
    far = _predicted(56, halved=False) / PREDICTED_SIZES[-1]
    equal = [
        round(_psi(sizes)[a, a + 1 + at], 5) == printed
        for sizes, rows in ((PREDICTED_SIZES, PREDICTED_SCALABILITY), (MEASURED_SIZES, MEASURED_SCALABILITY))
        for a, row in enumerate(rows)
        for at, printed in enumerate(row)
    ]
    found = [first_power(*_two_times(startup_s, byte_s, n), MOST) for _, startup_s, byte_s, n in CASES]
    return [
        PublishedStatement(
            text="Without the factor 2 of Equation 12, the sizes of Table 1 up to 32 processors follow within 4.",
            holds=max(apart) < 4 and max(double) < 1e-6,
        ),
        PublishedStatement(
            text="For 56 processors Table 1 is 3 % lower than that: its size needs a latency of 6.03 us, not the "
            "6.27 us of Equation 20.",
            holds=1.03 < far < 1.035 and abs(size_at(SPEED, 56, 0.1806e-6, 6.03e-6, halved=False) - 2889) < 15,
        ),
        PublishedStatement(
            text=f"All {len(equal)} entries of Tables 2 and 3 follow from the sizes of Table 1 to five decimals, with "
            "2 n^3 + 8.5 n^2 + 26.5 n flops.",
            holds=all(equal),
        ),
        PublishedStatement(
            text="The parallel diagonal dominant algorithm is faster from 64, 16 and 32 processors on.",
            holds=tuple(found) == CROSSINGS,
            paper=True,
        ),
    ]
