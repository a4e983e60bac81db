"""Figures as a person reads them: three significant digits, units, percentages that add up to 100."""

import math
from collections.abc import Sequence

_TIMES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_FIRST_MINUTE_S = 1000.0
"""Up to here seconds are easier to compare than minutes."""

_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def significant(value: float, digits: int = 3) -> str:
    """`value` with so many significant digits, never in scientific notation between 1e-4 and 1e6.

    >>> [significant(x) for x in (0.0, 1.2, 279.4, 12.0, 0.0333333, 1234.5)]
    ['0', '1.20', '279', '12.0', '0.0333', '1,230']
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    rounded = _round(value, digits)
    exponent = math.floor(math.log10(abs(rounded)))
    if not -5 <= exponent < 7:
        return f"{rounded:.{digits - 1}e}"
    return f"{rounded:,.{max(0, digits - 1 - exponent)}f}"


def seconds(value: float) -> str:
    """A time with its unit.

    >>> [seconds(x) for x in (0.0, 0.2823, 9.0e-4, 1.5, 0.99999, 2e-10, 7200)]
    ['0 s', '282 ms', '900 us', '1.50 s', '1.00 s', '0.200 ns', '2.00 h']
    """
    rounded = _round(value, 3)
    if rounded == 0 or not math.isfinite(rounded):
        return f"{significant(rounded)} s"
    size = abs(rounded)
    for unit_s, unit in _TIMES:
        if size >= unit_s * (1 - 1e-12) and (unit_s <= 1.0 or size >= _FIRST_MINUTE_S):
            return f"{significant(rounded / unit_s)} {unit}"
    return f"{significant(rounded / 1e-9)} ns"


def seconds_as(value: float, largest: float) -> str:
    """A time in the unit of the largest one beside it, so that a column has one unit.

    >>> [seconds_as(x, 0.491) for x in (0.491, 2.08e-3, 3e-4, 2e-6, 0.0)]
    ['491 ms', '2.08 ms', '0.30 ms', '<0.01 ms', '0.00 ms']
    """
    unit_s, unit = next((each for each in _TIMES[3:] if largest >= each[0] * (1 - 5e-4)), _TIMES[-1])
    if largest >= _FIRST_MINUTE_S:
        unit_s, unit = next(each for each in _TIMES if largest >= each[0])
    number = value / unit_s
    if 0 < number < 0.01:
        return f"<0.01 {unit}"
    return f"{significant(number) if number >= 1 else f'{number:.2f}'} {unit}"


def count(value: int) -> str:
    """How many, exactly up to five digits.

    >>> [count(n) for n in (0, 1600, 99999, 123456, 7_000_000)]
    ['0', '1,600', '99,999', '123k', '7.00M']
    """
    return f"{value:,}" if abs(value) < 100_000 else _decimal(value, "")


def data(value: float) -> str:
    """Bytes that travel, in powers of 1000 as network figures are.

    >>> [data(n) for n in (0, 512, 1024, 1_638_400)]
    ['0 B', '512 B', '1.02 kB', '1.64 MB']
    """
    return f"{value:.0f} B" if abs(value) < 1000 else _decimal(value, " ") + "B"


def memory(value: float) -> str:
    """Bytes that lie in memory, in powers of 1024 as memories are built.

    >>> [memory(n) for n in (100, 8 * 2**20, 1_100_000)]
    ['100 B', '8.00 MiB', '1.05 MiB']
    """
    step = 0
    while abs(value) >= 1023.5 and step < len(_BINARY) - 1:
        value /= 1024
        step += 1
    return f"{value:.0f} B" if step == 0 else f"{significant(value)} {_BINARY[step]}"


def percentages(parts: Sequence[float]) -> tuple[int, ...]:
    """Whole percentages of the parts of a sum, which add up to 100 (largest remainder); zeros without a sum.

    >>> percentages((1.0, 1.0, 1.0))
    (34, 33, 33)
    """
    total = math.fsum(parts)
    if not parts or total <= 0 or not math.isfinite(total):
        return (0,) * len(parts)
    exact = [100.0 * part / total for part in parts]
    whole = [math.floor(each) for each in exact]
    # Ties go to the earlier part, so that equal input gives equal output everywhere.
    by_remainder = sorted(range(len(parts)), key=lambda i: (whole[i] - exact[i], i))
    for i in by_remainder[: 100 - sum(whole)]:
        whole[i] += 1
    return tuple(whole)


def percent(value: float) -> str:
    """A share between 0 and 1 that stands alone: what is not nothing is not called 0 %.

    >>> [percent(x) for x in (0.0, 0.001, 0.18, 1.0)]
    ['0%', '<1%', '18%', '100%']
    """
    if 0 < value < 0.01:
        return "<1%"
    return f"{round(100 * value)}%"


def value(of: object) -> str:
    """The value of a PARAMETER, short.

    >>> [value(x) for x in (256, 1.0e-4, True, "abc")]
    ['256', '0.0001', '.true.', "'abc'"]
    """
    if isinstance(of, bool):
        return ".true." if of else ".false."
    if isinstance(of, float):
        return f"{of:.6g}"
    return repr(of) if isinstance(of, str) else str(of)


def plural(number: int, thing: str) -> str:
    """A number with its thing.

    >>> plural(1, "message"), plural(1600, "message")
    ('1 message', '1,600 messages')
    """
    return f"{count(number)} {thing}" + ("" if number == 1 else "s")


def listed(words: Sequence[str]) -> str:
    """Words as a sentence has them.

    >>> [listed(each) for each in (["a"], ["a", "b"], ["a", "b", "c"])]
    ['a', 'a and b', 'a, b and c']
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def one_of(words: Sequence[str], most: int = 4) -> str:
    """Words of which one is enough; beyond so many they are counted.

    >>> one_of(["a"]), one_of(["a", "b", "c"]), one_of(["a", "b", "c", "d", "e", "f"], 3)
    ('a', 'a, b or c', 'a, b, c or 3 more')
    """
    shown = [*words[:most], *([f"{len(words) - most} more"] if len(words) > most else [])]
    return " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _round(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _decimal(value: float, gap: str) -> str:
    value = _round(value, 3)
    step = 0
    while abs(value) >= 1000 and step < len(_DECIMAL) - 1:
        value /= 1000
        step += 1
    return f"{significant(value)}{gap}{_DECIMAL[step]}"


def listed_ranks(ranks: Sequence[int], word: str = "and") -> str:
    """The ranks as `1 and 3`, `2 to 6`, or `1, 3 to 6 and 8`."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and runs[-1][-1] == rank - 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    parts = [
        part
        for run in runs
        for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 3 and word == "and" else map(str, run))
    ]
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last


def flop_rate(speed: float) -> str:
    """A speed with its unit.

    >>> flop_rate(3.25e6)
    '3.25 Mflop/s'
    """
    for factor, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if speed >= factor:
            return f"{significant(speed / factor)} {unit}flop/s"
    return f"{significant(speed)} flop/s"
