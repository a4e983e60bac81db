"""Functions of whole arrays, for the Python that `aag.functional.writing` writes. Sums are rounded as in the program:
one value after the other, in the order of the elements."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aag.functional.support import Many, Meter
from aag.functional.tables import NotComputable

_BITWISE: dict[str, tuple[np.ufunc, int]] = {
    "and": (np.bitwise_and, -1),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
}
"""Function and the value that changes nothing."""


def reduced(name: str, values: Any, dim: int | None = None, mask: Any = None) -> Any:
    """SUM, PRODUCT, MAXVAL, MINVAL, IALL, IANY and IPARITY, one value after the other."""
    values = np.asarray(values)
    kind = values.dtype
    if name in _BITWISE:
        combine, start = _BITWISE[name]
        kept = values if mask is None else np.where(mask, values, kind.type(start))
        return _plain(combine.reduce(kept, axis=None if dim is None else dim - 1, initial=kind.type(start)))
    if name in ("max", "min"):
        neutral = _extreme(name, kind)
        function = np.maximum if name == "max" else np.minimum
        kept = values if mask is None else np.where(mask, values, kind.type(neutral))
        return _plain(function.reduce(kept, axis=None if dim is None else dim - 1, initial=kind.type(neutral)))
    accumulating, neutral = (np.add, 0) if name == "add" else (np.multiply, 1)
    if dim is None:
        flat = values.ravel("F") if mask is None else values.ravel("F")[np.broadcast_to(mask, values.shape).ravel("F")]
        return accumulating.accumulate(flat, dtype=kind)[-1].item() if flat.size else kind.type(neutral).item()
    kept = values if mask is None else np.where(mask, values, kind.type(neutral))
    at = dim - 1
    if not kept.shape[at]:
        return np.full(kept.shape[:at] + kept.shape[at + 1 :], neutral, dtype=kind)
    return _plain(accumulating.accumulate(kept, axis=at, dtype=kind).take(-1, axis=at))


def _plain(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) and value.ndim else value.item()


def truth(name: str, mask: Any, dim: int | None = None) -> Any:
    """ANY, ALL, PARITY and COUNT."""
    along = None if dim is None else dim - 1
    mask = np.asarray(mask)
    match name:
        case "any":
            return _plain(np.any(mask, axis=along))
        case "all":
            return _plain(np.all(mask, axis=along))
        case "parity":
            return (
                _plain(np.count_nonzero(mask, axis=along) % 2 == 1)
                if along is not None
                else bool(np.count_nonzero(mask) % 2)
            )
        case _:
            found = np.count_nonzero(mask, axis=along)
            return found.astype(np.int32) if isinstance(found, np.ndarray) else int(found)


def located(name: str, values: Any, dim: int | None = None, mask: Any = None) -> Any:
    """MAXLOC and MINLOC: the first place; 0 where there is none."""
    values = np.asarray(values)
    worst: Any = -np.inf if name == "max" else np.inf
    kept = values.astype(np.float64) if mask is None else np.where(mask, values.astype(np.float64), worst)
    find = np.argmax if name == "max" else np.argmin
    found_any = np.broadcast_to(np.asarray(True if mask is None else mask), values.shape)
    if dim is not None:
        at = dim - 1
        places_found = find(kept, axis=at) + 1
        return _plain(np.where(found_any.any(axis=at), places_found, 0).astype(np.int32))
    if not kept.size or not found_any.any():
        return np.zeros(values.ndim, dtype=np.int32)
    flat = int(find(kept.ravel("F")))
    return np.array(np.unravel_index(flat, values.shape, order="F"), dtype=np.int32) + np.int32(1)


def matmul(left: Many, right: Many, dtype: str, meter: Meter) -> Many:
    """MATMUL."""
    rows = left.shape[0] if left.ndim > 1 else 1
    meter.spend(rows * right.size, 1, 0)
    product: Many = np.matmul(left.astype(dtype), right.astype(dtype))
    return product


def moved(values: Many, by: Any, dim: int = 1) -> Many:
    """CSHIFT."""
    if isinstance(by, np.ndarray):
        raise NotComputable("CSHIFT has an array of shifts")
    return np.roll(values, -by, axis=dim - 1)


def shifted_out(values: Many, by: Any, boundary: Any = None, dim: int = 1) -> Many:
    """EOSHIFT."""
    if isinstance(by, np.ndarray) or isinstance(boundary, np.ndarray):
        raise NotComputable("EOSHIFT has an array of shifts or of boundaries")
    count = values.shape[dim - 1]
    by = max(-count, min(count, by))
    result = np.full(values.shape, 0 if boundary is None else boundary, dtype=values.dtype, order="F")
    into, of = np.moveaxis(result, dim - 1, 0), np.moveaxis(values, dim - 1, 0)
    if by >= 0:
        into[: count - by] = of[by:]
    else:
        into[-by:] = of[: count + by]
    return result


def _extreme(name: str, kind: np.dtype[Any]) -> Any:
    """The least or greatest value of a type, which a maximum or minimum begins with."""
    ends: Any = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    return ends.min if name == "max" else ends.max


def scanned(name: str, values: Any, dim: int, exclusive: bool, backwards: bool, dtype: str) -> Many:
    """SUM_PREFIX, and other scans of one dimension."""
    function = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[name]
    axis, kind = dim - 1, np.dtype(dtype)
    turned = np.flip(values, axis) if backwards else np.asarray(values)
    found = function.accumulate(turned, axis=axis, dtype=kind)
    if exclusive and turned.shape[axis]:
        first = {"add": 0, "mul": 1}.get(name, _extreme(name, kind) if name in ("max", "min") else 0)
        shape = [1 if at == axis else extent for at, extent in enumerate(turned.shape)]
        found = np.concatenate([np.full(shape, first, kind), np.delete(found, -1, axis)], axis)
    return np.flip(found, axis) if backwards else found


def spread(values: Any, dim: int, copies: int, meter: Meter) -> Many:
    """SPREAD."""
    meter.spend(np.size(values) * max(0, copies), 1, 0)
    return np.repeat(np.expand_dims(values, dim - 1), max(0, copies), axis=dim - 1)


def reshaped(values: Many, shape: Any) -> Many:
    """RESHAPE without PAD and ORDER."""
    extents = [int(each) for each in shape]
    return values.ravel("F")[: math.prod(extents)].reshape(extents, order="F")


def packed(values: Many, mask: Any) -> Many:
    """PACK without VECTOR."""
    kept: Many = values.ravel("F")[np.broadcast_to(mask, values.shape).ravel("F")]
    return kept


def joined(parts: Sequence[Any], dtype: str) -> Many:
    """The values of an array constructor."""
    return (
        np.concatenate([np.asarray(each).ravel("F") for each in parts]).astype(dtype) if parts else np.empty(0, dtype)
    )


def bound(values: Many, lower: Sequence[int] | None, dim: int | None, upper: bool) -> Any:
    """LBOUND and UBOUND."""
    low = lower or (1,) * values.ndim
    found = [each + count - 1 if upper else each for each, count in zip(low, values.shape, strict=True)]
    found = [(0 if upper else 1) if not count else each for each, count in zip(found, values.shape, strict=True)]
    return found[dim - 1] if dim else np.array(found, dtype=np.int32)
