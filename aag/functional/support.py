"""What the Python that `aag.functional.writing` writes calls: Fortran's arithmetic, places in arrays, the budget."""

import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aag.functional.tables import NotComputable, OverBudget, RunLimits

Many = NDArray[Any]

SCALAR_STEP = 100
"""Operations that a scalar statement counts for: about as long as so many elements take in NumPy."""
_CELL = array("f", [0.0])


class Stopped(Exception):
    """STOP or RETURN: the program ends."""


class Meter:
    """What a run has used."""

    def __init__(self, limits: RunLimits) -> None:
        self.limits = limits
        self.steps_left = limits.operations // SCALAR_STEP
        self.operations = 0
        self.bytes = 0

    def rest(self) -> "Meter":
        """A meter for another run with the same limits, which goes on counting."""
        own = Meter(self.limits)
        own.operations = self.operations
        own.steps_left = max(0, self.limits.operations - self.operations) // SCALAR_STEP
        return own

    def spend(self, elements: int, weight: int, line: int) -> None:
        """An array statement of so many elements and operations."""
        self.operations += elements * weight
        if self.operations > self.limits.operations:
            raise OverBudget(self.limits.operations, line)
        if self.bytes + 32 * elements > self.limits.bytes:
            raise NotComputable(f"it takes more than {self.limits.bytes / 2**20:,.0f} MiB", line)

    def spent(self, values: Any, weight: int) -> Any:
        """Values of which a function computes another one."""
        self.spend(np.size(values), weight, 0)
        return values

    def counted(self, first: int, last: int, step: int) -> range:
        """The values of an index for which Python makes something one by one."""
        self.spend(trips(first, last, step), SCALAR_STEP, 0)
        return range(first, last + (1 if step > 0 else -1), step)

    def over(self, line: int) -> None:
        """No scalar statements are left."""
        raise OverBudget(self.limits.operations, line)

    def allocate(self, bounds: Sequence[tuple[int, int]], dtype: str, before: Many | None, line: int) -> Many:
        """An array, instead of the one `before`: reals have no value yet (NaN), all else is 0."""
        self.bytes -= 0 if before is None else before.nbytes
        shape = tuple(max(0, upper - lower + 1) for lower, upper in bounds)
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if self.bytes + size > self.limits.bytes:
            raise NotComputable(f"the arrays take more than {self.limits.bytes / 2**20:,.0f} MiB", line)
        self.bytes += size
        return np.full(shape, np.nan if kind.kind == "f" else 0, dtype=kind, order="F")


# --- scalars ---------------------------------------------------------------------------------------------------------


def r4(value: float) -> float:
    """A real of 4 bytes."""
    _CELL[0] = value
    return _CELL[0]


def outside() -> int:
    """A subscript below the lower bound."""
    raise IndexError


def divide(left: int, right: int) -> int:
    """The quotient of integers, truncated."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def mod(left: Any, right: Any) -> Any:
    """MOD: with the sign of the first argument."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right * divide(left, right)
    return math.fmod(left, right)


def modulo(left: Any, right: Any) -> Any:
    """MODULO: with the sign of the second argument."""
    return left % right


def power(base: Any, exponent: int) -> Any:
    """A number to the power of an integer, by squaring as compilers do it."""
    if exponent < 0:
        return divide(1, wrap(power(base, -exponent), 64)) if isinstance(base, int) else 1.0 / power(base, -exponent)
    if isinstance(base, int):
        return pow(base, exponent, 1 << 64)  # its 64 bits, of which the type takes its own
    result = base if exponent & 1 else None
    while exponent := exponent >> 1:
        base = base * base
        if exponent & 1:
            result = base if result is None else result * base
    return type(base)(1) if result is None else result


def power4(base: float, exponent: int) -> float:
    """`power` of a real of 4 bytes."""
    return float(power(np.float32(base), exponent))


def nint(value: float) -> int:
    """NINT: halves go away from 0."""
    return math.floor(value + 0.5) if value >= 0 else -math.floor(0.5 - value)


def sign(left: Any, right: Any) -> Any:
    """SIGN: the size of the first argument with the sign of the second."""
    positive = math.copysign(1.0, right) > 0
    return abs(left) if positive else -abs(left)


def shift(value: int, count: int, bits: int) -> int:
    """ISHFT."""
    if abs(count) >= bits:
        return 0
    pattern = value & ((1 << bits) - 1)
    return wrap(pattern << count if count >= 0 else pattern >> -count, bits)


def bit(place: int, bits: int) -> int:
    """One bit of an integer."""
    if not 0 <= place < bits:
        raise ValueError
    return 1 << place


def wrap(value: int, bits: int) -> int:
    """An integer of so many bits."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def trips(first: int, last: int, step: int) -> int:
    """Iterations of a DO loop."""
    return max(0, divide(last - first + step, step))


# --- arrays by element ------------------------------------------------------------------------------------------------


def decided(name: str, value: Any, line: int) -> None:
    """Refuse NaN as a real that decides the end of a loop: its comparisons would end the loop at once, or never."""
    if math.isnan(value):
        raise NotComputable(f"{name} is not a number: a value was never assigned, or it is 0/0", line)


def many_divide(left: Any, right: Any) -> Any:
    """Quotients of integers, truncated."""
    if not np.all(right):
        raise ZeroDivisionError
    quotient = np.floor_divide(left, right)
    return quotient + ((np.remainder(left, right) != 0) & ((np.asarray(left) < 0) != (np.asarray(right) < 0)))


def many_modulo(left: Any, right: Any) -> Any:
    """MODULO of integers or reals."""
    if not np.all(right):
        raise ZeroDivisionError
    return np.remainder(left, right)


def many_mod(left: Any, right: Any) -> Any:
    """MOD of integers or reals."""
    if not np.all(right):
        raise ZeroDivisionError
    return np.fmod(left, right)


def many_power(base: Any, exponent: Any) -> Any:
    """Powers with integer exponents."""
    if not np.ndim(exponent):
        count = int(exponent)
        if count >= 0:
            return power(np.asarray(base), count) if count else np.ones_like(base)
        if np.asarray(base).dtype.kind == "f":
            return 1 / power(np.asarray(base), -count)
    if np.asarray(base).dtype.kind == "f":
        return np.power(base, np.asarray(exponent, dtype=np.asarray(base).dtype))
    if np.any(np.asarray(exponent) < 0):
        raise NotComputable("an integer array has negative exponents")
    return np.power(base, exponent)


def many_nint(value: Many) -> Many:
    """NINT."""
    rounded: Many = np.trunc(value + np.copysign(0.5, value)).astype(np.int64)
    return rounded


def many_sign(left: Any, right: Any) -> Any:
    """SIGN."""
    size = np.abs(left)
    return np.where(np.signbit(right) if np.asarray(right).dtype.kind == "f" else np.asarray(right) < 0, -size, size)


def many_whole(value: Any) -> Many:
    """Reals as integers.

    Raises:
        NotComputable: one has no value.
    """
    if not np.isfinite(value).all():
        raise NotComputable("it reads values that were never assigned, or that are not finite")
    return np.asarray(value).astype(np.int64)


# --- places in arrays -------------------------------------------------------------------------------------------------


def _placed(at: int, count: int) -> int:
    if not 0 <= at < count:
        raise IndexError
    return at


def _sliced(part: slice, lower: int, count: int) -> slice:
    step = 1 if part.step is None else part.step
    first = (0 if step > 0 else count - 1) if part.start is None else part.start - lower
    last = (count - 1 if step > 0 else 0) if part.stop is None else part.stop - lower
    number = trips(first, last, step)
    if not number:
        return slice(0, 0)
    last = first + (number - 1) * step
    _placed(first, count), _placed(last, count)
    behind = last + (1 if step > 0 else -1)
    return slice(first, None if behind < 0 else behind, step)


def part(values: Many, lower: Sequence[int], subscripts: Sequence[Any]) -> tuple[Many, tuple[Many, ...] | None]:
    """A view of a section, and the places in it that vector subscripts choose (None: there are none)."""
    basic: list[int | slice] = []
    vectors: list[Many | None] = []
    for subscript, low, count in zip(subscripts, lower, values.shape, strict=True):
        if isinstance(subscript, slice):
            basic.append(_sliced(subscript, low, count))
            vectors.append(None)
        elif isinstance(subscript, np.ndarray):
            chosen = subscript.astype(np.int64) - low
            if chosen.size:
                _placed(int(chosen.min()), count), _placed(int(chosen.max()), count)
            basic.append(slice(None))
            vectors.append(chosen)
        else:
            basic.append(_placed(subscript - low, count))
    view = values[tuple(basic)]
    if all(each is None for each in vectors):
        return view, None
    if math.prod(count if each is None else each.size for each, count in zip(vectors, view.shape, strict=True)) > 2**26:
        raise NotComputable("a section with vector subscripts is too large")
    return view, np.ix_(*(np.arange(view.shape[at]) if each is None else each for at, each in enumerate(vectors)))


def take(values: Many, lower: Sequence[int], subscripts: Sequence[Any]) -> Many:
    """The values of a section."""
    view, chosen = part(values, lower, subscripts)
    return view if chosen is None else view[chosen]


def put(values: Many, lower: Sequence[int], subscripts: Sequence[Any], value: Any) -> int:
    """Assign to a section; the number of its elements."""
    view, chosen = part(values, lower, subscripts)
    view[... if chosen is None else chosen] = value
    return view.size


def put_where(values: Many, lower: Sequence[int], subscripts: Sequence[Any], value: Any, mask: Many) -> None:
    """Assign to a section where a mask holds."""
    view, chosen = part(values, lower, subscripts)
    if chosen is None:
        np.copyto(view, value, where=mask, casting="unsafe")
    else:
        view[chosen] = np.where(mask, value, view[chosen])


Axis = tuple[int, int, int]
"""First value, step and number of values of a loop."""


def box(values: Many, lower: Sequence[int], subscripts: Sequence[Any], axes: Sequence[Axis]) -> Many:
    """The elements that all iterations of a nest touch, as a view with the innermost loop first.

    A subscript is a number, or (loop, factor, offset): loop 0 is the outermost.
    """
    index: list[int | slice] = []
    order: list[int] = []
    for subscript, low, extent in zip(subscripts, lower, values.shape, strict=True):
        if isinstance(subscript, tuple):
            loop, factor, offset = subscript
            first, step, count = axes[loop]
            start, by = factor * first + offset - low, factor * step
            last = start + (count - 1) * by
            _placed(start, extent), _placed(last, extent)
            behind = last + (1 if by > 0 else -1)
            index.append(slice(start, None if behind < 0 else behind, by))
            order.append(len(axes) - 1 - loop)
        else:
            index.append(_placed(subscript - low, extent))
    view = values[tuple(index)]
    if order != sorted(order):
        view = view.transpose(sorted(range(len(order)), key=order.__getitem__))
    if len(order) < len(axes):
        view = view[tuple(slice(None) if at in order else None for at in range(len(axes)))]
    return view


def places(values: Many, lower: Sequence[int], subscripts: Sequence[Any]) -> tuple[Any, ...]:
    """The index of elements one by one: subscripts are numbers or arrays that are combined by element."""
    found = []
    for subscript, low, extent in zip(subscripts, lower, values.shape, strict=True):
        at = subscript - low
        if isinstance(at, np.ndarray):
            if at.size:
                _placed(int(at.min()), extent), _placed(int(at.max()), extent)
        else:
            _placed(at, extent)
        found.append(at)
    return tuple(found)


def spots(values: Many, lower: Sequence[int], subscripts: Sequence[Any], count: int) -> tuple[Any, ...]:
    """As `places`, one for each of so many iterations."""
    return tuple(np.broadcast_to(each, (count,)) for each in places(values, lower, subscripts))


def axis(axes: Sequence[Axis], loop: int) -> Many:
    """The values of a loop variable, along the dimension of its loop."""
    first, step, count = axes[loop]
    values = np.arange(first, first + step * count, step, dtype=np.int64)
    return values.reshape([-1 if at == len(axes) - 1 - loop else 1 for at in range(len(axes))])


def full(value: Any, count: int, dtype: str) -> Many:
    """A value for each of so many iterations, in storage of its own."""
    return np.array(np.broadcast_to(np.asarray(value), (count,)), dtype=dtype)


def expanded(first: Any, last: Any, step: int, outer: int, meter: Meter) -> tuple[Many, Many]:
    """The iterations of an inner loop for each of `outer` iterations around it: the number of the latter, and the
    values of the loop variable."""
    lower = np.broadcast_to(np.asarray(first, dtype=np.int64), (outer,))
    upper = np.broadcast_to(np.asarray(last, dtype=np.int64), (outer,))
    counts = np.maximum(0, (upper - lower + step) // step)  # a step divides what is not below 0 the same way
    meter.spend(int(counts.sum()), 2, 0)
    chosen = np.repeat(np.arange(outer), counts)
    begun = np.repeat(np.cumsum(counts) - counts, counts)
    return chosen, lower[chosen] + step * (np.arange(len(chosen)) - begun)


def last_after(first: Any, last: Any, step: int) -> int:
    """A loop variable after the loop, in the last of the iterations around it."""
    begin, end = int(np.ravel(first)[-1]), int(np.ravel(last)[-1])
    return begin + step * trips(begin, end, step)


def last_of(values: Any) -> Any:
    """The value after the last iteration."""
    return values[(-1,) * values.ndim].item() if isinstance(values, np.ndarray) else values


def chosen(mask: Any, count: int) -> Many:
    """The iterations in which a condition holds."""
    return np.flatnonzero(np.broadcast_to(mask, (count,)))


def combined(name: str, start: Any, value: Any, shape: Sequence[int], dtype: str) -> Any:
    """A scalar combined with the values of all iterations, in their order."""
    values = np.broadcast_to(np.asarray(value), shape).ravel("F")
    if not values.size:
        return start
    return _combined(name, values, dtype, start)


_FOLDS: dict[str, Callable[..., Any]] = {"max": np.max, "min": np.min, "and": np.all, "or": np.any}
_JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "max": lambda one, other: one if one >= other else other,  # noqa: FURB136 (what is not a number must stay)
    "min": lambda one, other: one if one <= other else other,  # noqa: FURB136 (what is not a number must stay)
    "and": lambda one, other: one and other,
    "or": lambda one, other: one or other,
}


def _combined(name: str, values: Many, dtype: str, start: Any) -> Any:
    if name in _FOLDS:
        return _JOINED[name](start, _FOLDS[name](values).item())
    function = np.add if name == "add" else np.multiply
    held = np.empty(len(values) + 1, dtype=dtype)
    held[0], held[1:] = start, values
    return function.accumulate(held)[-1].item()
