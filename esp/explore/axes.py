"""What a sweep varies: axes, and the lists and ranges that they are written as.

64,128,256        a list; its items may be ranges
4..64             4, 8, 16, 32, 64: twice as much each time, and the end
64:1024:x2        from 64 to 1024, twice as much each time
16:256:16         in steps of 16
x0.5:x4:/100      100 values, equally far apart; also 0%:60%:/25 and 1MB/s:8MB/s:/8
"""

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from msgspec import Struct

from esp.errors import UsageError

MOST = 1_000_000
"""Values of a range, and cells of a sweep: beyond it something was mistyped."""

_END = re.compile(r"([xX]?)([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\D*)")

_HINT = "Write for example 4..64, 64:1024:x2, 16:256:16 or x0.5:x4:/100."


class Axis(Struct, frozen=True, kw_only=True):
    """One varied quantity. `kind`: which; `key`: its name if there are several of the kind."""

    name: str
    """How a column is headed."""
    kind: str
    key: str = ""
    values: tuple[Any, ...]
    """What goes into the request for each value."""
    labels: tuple[str, ...]
    """How each value is shown."""

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The values as numbers, for a plot; None where they are none, or of different units."""
        found = [_END.fullmatch(each.strip()) for each in self.labels]
        ends = [each for each in found if each is not None]
        if len(ends) < len(found) or len({(each[1].lower(), each[3]) for each in ends}) != 1:
            return None
        return tuple(float(each[2]) for each in ends)

    def __len__(self) -> int:
        return len(self.values)


def values_of(text: str, where: str) -> tuple[str, ...]:
    """The values of a list whose items may be ranges, without repetition.

    Raises:
        UsageError: an item is empty, or a range cannot be read; `where`: the option to blame.
    """
    if text[:1] in ("'", '"'):
        return (text,)
    found: dict[str, None] = {}
    for item in text.split(","):
        if not item.strip():
            raise UsageError(f"{text!r} has an empty item.", where=where, hint="Write a list such as 64,128,256.")
        ranged = ":" in item or ".." in item
        found |= dict.fromkeys(_range(item.strip(), where) if ranged else (item.strip(),))
    return tuple(found)


def _range(item: str, where: str) -> Iterable[str]:
    doubled = ".." in item and ":" not in item
    start, end, *rest = (*item.split("..", 1), "x2") if doubled else item.split(":")
    step = rest[0].strip() if rest else "1"
    first, last = _END.fullmatch(start.strip()), _END.fullmatch(end.strip())
    if len(rest) > 1 or first is None or last is None or not step:
        raise UsageError(f"{item!r} is not a range.", where=where, hint=_HINT)
    prefix, unit = last[1].lower(), last[3].strip()
    if first[1].lower() != prefix or first[3].strip() not in (unit, ""):
        raise UsageError(f"the ends of {item!r} are of different units.", where=where, hint=_HINT)
    low, high = float(first[2]), float(last[2])
    values = _values(low, high, step, item, where)
    if doubled and values[-1] != high:
        values.append(high)
    return [f"{prefix}{_number(value)}{unit}" for value in values]


def _values(low: float, high: float, step: str, item: str, where: str) -> list[float]:
    kind, number = (step[0], step[1:]) if step[0] in "xX/" else ("+", step)
    try:
        by = float(number)
    except ValueError:
        raise UsageError(f"{step!r} is not a step of the range {item!r}.", where=where, hint=_HINT) from None
    if kind == "/":
        if by != int(by) or not 2 <= by <= MOST:
            raise UsageError(f"{step!r} is not a number of values.", where=where, hint=_HINT)
        many = int(by)
        return [low + (high - low) * at / (many - 1) for at in range(many)]
    if not (isfinite(low) and isfinite(high) and isfinite(by)):
        raise UsageError(f"an end of the range {item!r} is too large.", where=where, hint=_HINT)
    up = by > 1 if kind in "xX" else by > 0
    if not up or low > high or (kind in "xX" and low <= 0):
        told = f"the range {item!r} never gets from {_number(low)} to {_number(high)}."
        raise UsageError(told, where=where, hint=_HINT)
    values: list[float] = []
    value = low
    while value <= high * (1 + 1e-12) + 1e-300:
        values.append(value)
        if len(values) > MOST:
            raise UsageError(f"the range {item!r} has more than {MOST:,} values.", where=where, hint=_HINT)
        value = low * by ** len(values) if kind in "xX" else low + by * len(values)
    return values


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10g}"


def cells_of(axes: Sequence[Axis]) -> int:
    """How many predictions the axes stand for.

    Raises:
        UsageError: too many.
    """
    cells = 1
    for axis in axes:
        cells *= len(axis)
    if cells > MOST:
        sizes = " x ".join(f"{len(axis)} {axis.name}" for axis in axes)
        raise UsageError(f"{sizes} are {cells:,} predictions, more than {MOST:,}.", hint="Leave some values out.")
    return cells
