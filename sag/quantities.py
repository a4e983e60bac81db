"""Text with units to SI numbers, and the changes of a what-if. Units die here: inside, everything is SI.

Sizes of memory and of messages are binary, as machine papers write them (1 KB = 1024 B); bandwidths, rates,
clocks and times are decimal (1 MB/s = 10^6 B/s). A time per byte may also be given as a bandwidth.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sag.errors import nearest

Array = NDArray[np.float64]

_SMALL = ("p", "n", "u", "m", "")
_LARGE = ("", "K", "M", "G", "T")


def _ladder(prefixes: Sequence[str], unit: str, bottom: float, step: int = 1000) -> dict[str, float]:
    return {prefix + unit: bottom * float(step) ** rung for rung, prefix in enumerate(prefixes)}


_TIMES = {prefix + "s": 1.0 / 1000.0 ** (4 - rung) for rung, prefix in enumerate(_SMALL)}
_PER_BYTE = {unit + "/B": factor for unit, factor in _TIMES.items()}

UNITS: Mapping[str, Mapping[str, float]] = {
    "time": _TIMES,
    "per_byte": _PER_BYTE,
    "size": _ladder(_LARGE, "B", 1.0, 1024),
    "bandwidth": _ladder(_LARGE, "B/s", 1.0) | _ladder(_LARGE, "bit/s", 0.125),
    "frequency": _ladder(_LARGE, "Hz", 1.0),
    "rate": _ladder(_LARGE, "flop/s", 1.0),
    "fraction": {"": 1.0, "%": 0.01},
    "number": {"": 1.0},
    "count": {"": 1.0},
}
"""Dimension -> unit -> factor to SI (seconds, bytes, hertz)."""

EXAMPLES: Mapping[str, str] = {
    "time": "65 us",
    "per_byte": "0.39 us/B or 2.8 MB/s",
    "size": "8 KB",
    "bandwidth": "2.8 MB/s",
    "frequency": "40 MHz",
    "rate": "40 Mflop/s",
    "fraction": "30% or 0.3",
    "number": "2.5",
    "count": "8",
}
"""How a value of each dimension is written."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ALIASES = {"µ": "u", "μ": "u", "kB": "KB", "kHz": "KHz", "kflop": "Kflop", "kbit": "Kbit"}


class QuantityError(ValueError):
    """A text that is not a value of the dimension; whoever knows where it stands makes the final error."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def parse_quantity(text: str, dimension: str) -> float:
    """SI value of `text`: ``parse_quantity("65 us", "time") == 6.5e-05``.

    Raises:
        QuantityError: no number, a unit of another dimension, an unknown unit, or a count with a fraction.
    """
    number, unit = _split(text, dimension)
    if dimension == "per_byte" and unit in UNITS["bandwidth"]:
        bandwidth = number * UNITS["bandwidth"][unit]
        if bandwidth <= 0:
            raise QuantityError(f"'{text}' is not a bandwidth", "it must be above 0")
        return 1.0 / bandwidth
    units = UNITS[dimension]
    if unit not in units:
        raise _wrong_unit(text, unit, dimension)
    value = number / _inverse(units[unit]) if units[unit] < 1.0 else number * units[unit]
    if dimension == "count" and value != int(value):
        raise QuantityError(f"'{text}' is not a whole number")
    return value


def parse_range(text: str, dimension: str, value: float) -> tuple[float, float]:
    """The ends of a range in SI: ``0.05 to 0.20 us``, or as factors of `value`: ``x0.5 to x2``.

    Raises:
        QuantityError: neither of these.
    """
    ends = [each.strip() for each in text.split(" to ")]
    if len(ends) != 2:
        example = EXAMPLES[dimension]
        raise QuantityError(f"'{text}' is not a range", f"write for example 0.5 to {example}, or x0.5 to x2")
    first, second = ends
    if first[:1] == "x" and second[:1] == "x":
        low, high = (value * parse_quantity(each[1:], "number") for each in ends)
        return low, high
    number = _NUMBER.match(second)
    unit = second[number.end() :] if number and _NUMBER.fullmatch(first) else ""
    low, high = sorted((parse_quantity(first + unit, dimension), parse_quantity(second, dimension)))
    return low, high


def _inverse(factor: float) -> float:
    """Dividing by the exact power of ten keeps 65 us equal to the literal 65e-6."""
    return float(round(1.0 / factor))


def _split(text: str, dimension: str) -> tuple[float, str]:
    stripped = text.strip()
    found = _NUMBER.match(stripped)
    if found is None:
        hint = f"write for example {EXAMPLES[dimension]}"
        raise QuantityError(f"'{text}' is not a {_noun(dimension)}", hint)
    unit = stripped[found.end() :].strip().replace(" ", "")
    for alias, name in _ALIASES.items():
        unit = unit.replace(alias, name)
    number = float(found.group())
    if not np.isfinite(number):
        raise QuantityError(f"'{text}' is too large to represent")
    return number, unit


def _wrong_unit(text: str, unit: str, dimension: str) -> QuantityError:
    example = f"write for example {EXAMPLES[dimension]}"
    if unit[:1] == "," and unit[1:2].isdigit():
        return QuantityError(f"'{text}' is not a {_noun(dimension)}", f"write {text.replace(',', '.')}")
    if not unit:
        return QuantityError(f"'{text}' lacks its unit: expected a {_noun(dimension)}", example)
    for other, units in UNITS.items():
        if unit in units:
            message = f"'{text}' is a {_noun(other)}, expected a {_noun(dimension)}"
            return QuantityError(message, example)
    known = [*UNITS[dimension], *(UNITS["bandwidth"] if dimension == "per_byte" else ())]
    near = nearest(unit, [name for name in known if name])
    message = f"unknown unit '{unit}' in '{text}': expected a {_noun(dimension)}"
    return QuantityError(message, near if near.startswith("did") else example)


def _noun(dimension: str) -> str:
    return {"per_byte": "time per byte", "count": "whole number"}.get(dimension, dimension)


class Change(Struct, frozen=True, eq=False):
    """One what-if (Def 11): a factor on what the machine has, or a value in its place.

    `amount` has shape (S,), or (1,) for the same change in every scenario; a value is in SI units.
    """

    is_factor: bool
    amount: Array
    text: str

    def apply(self, nominal: ArrayLike) -> Array:
        """The changed figure, shape (S,) or (1,)."""
        base = np.atleast_1d(np.asarray(nominal, dtype=np.float64))
        changed: Array = base * self.amount if self.is_factor else self.amount + np.zeros_like(base)
        return changed

    @property
    def scenarios(self) -> int:
        """Length of the scenario axis."""
        return self.amount.size


def parse_change(text: str, dimension: str) -> Change:
    """``x2``, ``30%`` or a value with unit.

    A percentage of a fraction (load, overlap) is the value itself, of anything else it is a factor.

    Raises:
        QuantityError: neither of the three, or a factor that is not above 0.
    """
    stripped = text.strip()
    if stripped.startswith("+"):
        raise QuantityError(f"'{text}' is not a change", _instead_of_more(stripped))
    if stripped[:1] in {"x", "X"}:
        return Change(is_factor=True, amount=_factor(stripped[1:], text), text=stripped)
    if stripped.endswith("%") and dimension != "fraction":
        return Change(is_factor=True, amount=_factor(stripped[:-1], text) / 100.0, text=stripped)
    if _NUMBER.fullmatch(stripped[:-1]) and stripped[-1:] in {"x", "X"}:
        raise QuantityError(f"'{text}' is not a change", f"write x{stripped[:-1]}")
    try:
        value = parse_quantity(stripped, dimension)
    except QuantityError as error:
        hint = f"a change is 'x2', '30%' or a value such as {EXAMPLES[dimension]}"
        raise QuantityError(error.message, error.hint if error.hint.startswith("did") else hint) from None
    return Change(is_factor=False, amount=np.array([value]), text=stripped)


def _instead_of_more(text: str) -> str:
    """The way out for ``+10%``, which says "more by" while a percentage here says "of"."""
    try:
        share = 1.0 + float(text[1:-1]) / 100.0 if text.endswith("%") else 0.0
    except ValueError:
        share = 0.0
    return f"write x{share:g} for that increase" if share else "write it without the +"


def _factor(number: str, text: str) -> Array:
    try:
        factor = parse_quantity(number, "number")
    except QuantityError:
        raise QuantityError(f"'{text}' is not a factor", "write for example x2 or 30%") from None
    if factor <= 0:
        raise QuantityError(f"'{text}' is not a factor", "it must be above 0")
    return np.array([factor])


def make_change(given: Change | ArrayLike, dimension: str, *, plain_is_factor: bool) -> Change:
    """A change from what the Python API is given: text, a number, or a sequence with one of them a scenario.

    A plain number is a factor where `plain_is_factor` says so, else an SI value.

    Raises:
        QuantityError: text that is no change, numbers that are not finite, or factors and values mixed.
    """
    if isinstance(given, Change):
        return given
    if isinstance(given, str):
        return parse_change(given, dimension)
    if isinstance(given, (list, tuple)) and given and all(isinstance(each, str) for each in given):
        return _stack([parse_change(str(each), dimension) for each in given])
    try:
        amount = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        raise QuantityError(f"'{given!r}' is neither a change nor a series of numbers") from None
    if amount.ndim != 1 or amount.size == 0 or not np.isfinite(amount).all():
        raise QuantityError("a what-if needs finite numbers in one dimension")
    if plain_is_factor and not (amount > 0).all():
        raise QuantityError("a factor must be above 0")
    text = f"{amount[0]:g}" if amount.size == 1 else f"{amount.size} values"
    return Change(is_factor=plain_is_factor, amount=amount, text=text)


def _stack(changes: Sequence[Change]) -> Change:
    if len({change.is_factor for change in changes}) > 1:
        raise QuantityError("a series of changes must be all factors or all values")
    amount = np.concatenate([change.amount for change in changes])
    text = ", ".join(change.text for change in changes)
    return Change(is_factor=changes[0].is_factor, amount=amount, text=text)
