"""Roundings replaced by their means: how a count grows, without the steps in which it does."""

from fractions import Fraction

from interpreter.symbolic.polynomial import ZERO, Floor, Name, Poly, name, poly


def relaxed(of: Poly) -> Poly | None:
    """The polynomial in the names alone that has `(x - (d - 1)/2)/d`, its mean over all remainders, in place of each
    `floor(x/d)`. Its leading term is that of the count. None: there are minima, maxima or open sums, too."""
    result = ZERO
    for power, coefficient in of.terms:
        product = poly(coefficient)
        for atom, exponent in power:
            match atom:
                case Name(text):
                    product = product * name(text) ** exponent
                case Floor(arg=arg, divisor=divisor):
                    inside = relaxed(arg)
                    if inside is None:
                        return None
                    product = product * ((inside - Fraction(divisor - 1, 2)) * Fraction(1, divisor)) ** exponent
                case _:
                    return None
        result = result + product
    return result


def has_roundings(of: Poly) -> bool:
    """Whether something in it is rounded down."""
    return any(isinstance(atom, Floor) for power, _ in of.terms for atom, _ in power)
