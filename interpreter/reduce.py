"""Reductions over processors, (S, P) -> (S,), that are also fast where there are many scenarios and few processors.

NumPy reduces a short last axis row by row; a transposed copy makes it whole vectors of scenarios instead. Of a few
numbers it is quicker to count those that are not 0 than to ask for `any` or `all`.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

SHORT = 64


def _rows(values: NDArray[np.generic]) -> bool:
    return bool(values.shape[0] > 1 and 1 < values.shape[1] <= SHORT)


def largest(values: Array) -> Array:
    """The largest of each row."""
    result: Array = np.ascontiguousarray(values.T).max(axis=0) if _rows(values) else values.max(axis=1)
    return result


def least(values: Array) -> Array:
    """The smallest of each row."""
    result: Array = np.ascontiguousarray(values.T).min(axis=0) if _rows(values) else values.min(axis=1)
    return result


def mean(values: Array) -> Array:
    """The mean of each row."""
    if _rows(values):
        result: Array = np.ascontiguousarray(values.T).sum(axis=0) / values.shape[1]
        return result
    plain: Array = values.sum(axis=1) / values.shape[1]
    return plain


def means_of(parts: Array) -> Array:
    """The means of several such arrays, (N, S, P) -> (N, S)."""
    if _rows(parts[0]):
        return np.stack([mean(part) for part in parts])
    plain: Array = parts.sum(axis=2) / parts.shape[2]
    return plain


def any_of(values: NDArray[np.generic]) -> bool:
    """Whether one of all numbers is not 0."""
    return bool(np.count_nonzero(values))


def all_of(values: NDArray[np.generic]) -> bool:
    """Whether none is 0."""
    return bool(np.count_nonzero(values) == values.size)


def every(values: Bools) -> Bools:
    """Whether a whole row is true."""
    return np.asarray(np.ascontiguousarray(values.T).all(axis=0) if _rows(values) else values.all(axis=1))
