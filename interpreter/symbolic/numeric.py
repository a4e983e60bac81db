"""Expressions at many values of their names at once."""

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from interpreter.symbolic.polynomial import Atom, Extremum, Floor, Name, Poly, Total

Array = NDArray[np.float64]

BLOCK = 8192
"""Values that are evaluated together: what is computed on the way stays in the cache of the processor."""


def largest_at(polys: Sequence[Poly], values: Mapping[str, Array]) -> Array:
    """The largest of some expressions, for each of N values (N,) of their names."""
    size = next(iter(values.values())).size
    found = np.zeros(size)
    for start in range(0, size, BLOCK):
        part = {name: each[start : start + BLOCK] for name, each in values.items()}
        known: dict[Poly | Atom, Array] = {}
        each = [_poly(one, part, known) for one in dict.fromkeys(polys)]
        found[start : start + BLOCK] = reduce(np.maximum, each)
    return found


def _poly(of: Poly, values: dict[str, Array], known: dict[Poly | Atom, Array]) -> Array:
    if of not in known:
        shape = next(iter(values.values())).shape
        total = np.zeros(shape)
        for power, coefficient in of.terms:
            product: Array | float = float(coefficient)
            for atom, exponent in power:
                value = _atom(atom, values, known)
                for _ in range(exponent):
                    product = product * value
            total += product
        known[of] = total
    return known[of]


def _atom(atom: Atom, values: dict[str, Array], known: dict[Poly | Atom, Array]) -> Array:
    if atom not in known:
        known[atom] = _value(atom, values, known)
    return known[atom]


def _value(atom: Atom, values: dict[str, Array], known: dict[Poly | Atom, Array]) -> Array:
    match atom:
        case Name(name):
            return values[name]
        case Extremum(least=least, args=args):
            which = np.minimum if least else np.maximum
            found: Array = reduce(which, [_poly(each, values, known) for each in args])
            return found
        case Floor(arg=arg, divisor=divisor):
            return np.floor(_poly(arg, values, known) / divisor)
        case Total(body=body, var=var, lower=lower, upper=upper):
            first, last = _poly(lower, values, known), _poly(upper, values, known)
            total = np.zeros(first.shape)
            for each in range(int(first.min(initial=0)), int(last.max(initial=-1)) + 1):
                inside = (first <= each) & (each <= last)
                at = _poly(body, {**values, var: np.full(first.shape, float(each))}, {})
                total += np.where(inside, at, 0.0)
            return total
