"""Sums over a loop variable in closed form.

What is summed is a polynomial over minima, maxima and floors of expressions affine in the variable. It is cut where
another argument of a minimum or maximum takes over. On each part it is a polynomial, which is summed by Faulhaber's
formula: sum of k**d for k from 0 to n - 1 = 1 / (d + 1) * sum of binomial(d + 1, j) * B_j * n**(d + 1 - j).
A part from l to u is summed as F(max(u, l - 1)) - F(l - 1), which is 0 where the part is empty: so nothing has to be
known about the order of the cuts.
"""

from fractions import Fraction
from functools import cache
from math import comb, lcm

from interpreter.symbolic.polynomial import (
    ZERO,
    Atom,
    Extremum,
    Floor,
    Poly,
    Sign,
    atoms,
    ceiling,
    extremum,
    floor,
    name,
    names_of,
    poly,
    sign_of_number,
    substituted,
    unclosed,
)

PIECES = 64
"""Parts into which a sum is cut at most."""

RESIDUES = 64
"""The largest common divisor of floors that is resolved residue by residue."""

Piece = tuple[Poly, Poly, Poly]
"""A polynomial, and the first and last value of the variable for which it holds."""


def total(body: Poly, var: str, lower: Poly, upper: Poly, sign: Sign = sign_of_number) -> Poly:
    """The sum of `body` over `var` from `lower` to `upper`; 0 where `upper` is less than `lower`."""
    if not body.terms:
        return ZERO
    divisor = _divisor(body, var)
    if divisor > 1:
        if divisor > RESIDUES:
            return unclosed(body, var, lower, upper)
        return _by_residues(body, var, lower, upper, divisor, sign)
    pieces = _pieces(body, var, lower, upper, sign)
    if pieces is None:
        return unclosed(body, var, lower, upper)
    result = ZERO
    for part, first, last in pieces:
        before = first - 1
        end = extremum((last, before), least=False, sign=sign)
        if end == before:
            continue
        found = part.coefficients(var)
        assert found is not None
        for exponent, factor in found.items():
            result = result + factor * (_powers(exponent, end) - _powers(exponent, before))
    return result


def positive(of: Poly, sign: Sign = sign_of_number) -> Poly:
    """A polynomial where it is not negative, else 0."""
    return extremum((of, ZERO), least=False, sign=sign)


def _by_residues(body: Poly, var: str, lower: Poly, upper: Poly, divisor: int, sign: Sign) -> Poly:
    """The variable as divisor * m + r: the floors of multiples of m come out."""
    result = ZERO
    for rest in range(divisor):
        each = substituted(body, {var: name(var) * divisor + rest}, sign)
        first, last = ceiling(lower - rest, divisor), floor(upper - rest, divisor)
        result = result + total(each, var, first, last, sign)
    return result


def _divisor(of: Poly, var: str) -> int:
    """The common multiple of what floors of the variable are divided by."""
    found = 1
    for atom in atoms(of):
        if isinstance(atom, Floor) and var in atom.arg.names:
            found = lcm(found, atom.divisor, _divisor(atom.arg, var))
        elif isinstance(atom, Extremum):
            found = lcm(found, *(_divisor(each, var) for each in atom.args))
    return found


def _pieces(body: Poly, var: str, lower: Poly, upper: Poly, sign: Sign) -> list[Piece] | None:
    """The parts of a sum on which the body is a polynomial in the variable; None: it cannot be cut."""
    done: list[Piece] = []
    left = [(body, lower, upper)]
    while left:
        if len(left) + len(done) > PIECES:
            return None
        part, first, last = left.pop()
        atom = _innermost(part, var)
        if atom is None:
            if part.coefficients(var) is None:
                return None
            done.append((part, first, last))
            continue
        cut = _cut(atom, var, sign)
        if cut is None:
            return None
        for chosen, low, high in cut:
            inside = _with(part, atom, chosen, sign)
            start = extremum((first, *low), least=False, sign=sign)
            end = extremum((last, *high), least=True, sign=sign)
            if sign(start - end - 1) == 1:
                continue
            left.append((inside, start, end))
    return done


def _innermost(of: Poly, var: str) -> Extremum | None:
    """A minimum or maximum that depends on the variable, without another such one inside."""
    for atom in atoms(of):
        inside = atom.args if isinstance(atom, Extremum) else (atom.arg,) if isinstance(atom, Floor) else ()
        for each in inside:
            found = _innermost(each, var)
            if found is not None:
                return found
        if isinstance(atom, Extremum) and var in names_of(atom):
            return atom
    return None


def _with(of: Poly, atom: Extremum, chosen: Poly, sign: Sign) -> Poly:
    """With a polynomial instead of an atom."""
    result = ZERO
    for power, coefficient in of.terms:
        product = poly(coefficient)
        for each, exponent in power:
            product = product * _chosen(each, atom, chosen, sign) ** exponent
        result = result + product
    return result


def _chosen(each: Atom, atom: Extremum, chosen: Poly, sign: Sign) -> Poly:
    if each == atom:
        return chosen
    if isinstance(each, Extremum):
        return extremum([_with(arg, atom, chosen, sign) for arg in each.args], least=each.least, sign=sign)
    if isinstance(each, Floor):
        return floor(_with(each.arg, atom, chosen, sign), each.divisor)
    return Poly(((((each, 1),), 1),))


def _cut(atom: Extremum, var: str, sign: Sign) -> list[tuple[Poly, list[Poly], list[Poly]]] | None:
    """Each argument that can be the least or largest, and bounds of the variable between which it is."""
    slopes: dict[int, list[Poly]] = {}
    for each in atom.args:
        found = each.affine(var)
        if found is None:
            return None
        slopes.setdefault(found[0], []).append(found[1])
    lines = [(slope, extremum(rests, least=atom.least, sign=sign)) for slope, rests in sorted(slopes.items())]
    result = []
    for number, (slope, rest) in enumerate(lines):
        low: list[Poly] = []
        high: list[Poly] = []
        for other, (steeper, offset) in enumerate(lines):
            if other == number:
                continue
            # wanted: slope * v + rest <= steeper * v + offset for the least, >= for the largest; earlier ones win ties
            gap, room = (steeper - slope, rest - offset) if atom.least else (slope - steeper, offset - rest)
            room = room + (1 if other < number else 0)  # gap * v >= room
            if gap > 0:
                low.append(ceiling(room, gap))
            else:
                high.append(floor(-room, -gap))
        result.append((name(var) * slope + rest, low, high))
    return result


@cache
def _bernoulli(number: int) -> Fraction:
    if number == 0:
        return Fraction(1)
    return -sum((comb(number + 1, each) * _bernoulli(each) for each in range(number)), Fraction(0)) / (number + 1)


def _powers(exponent: int, last: Poly) -> Poly:
    """The sum of k**exponent, as the polynomial in `last` whose differences are the powers."""
    after, result = last + 1, ZERO
    for each in range(exponent + 1):
        result = result + after ** (exponent + 1 - each) * (comb(exponent + 1, each) * _bernoulli(each))
    return result * Fraction(1, exponent + 1)
