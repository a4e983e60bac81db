"""Expressions as expressions of SymPy. Only this file imports it."""

from typing import Any

import sympy

from interpreter.symbolic.polynomial import Atom, Extremum, Floor, Name, Poly, Total


def as_sympy(of: Poly) -> Any:
    """A polynomial; its names are integer symbols, rational numbers stay exact."""
    terms = []
    for power, coefficient in of.terms:
        number = (
            sympy.Float(coefficient)
            if isinstance(coefficient, float)
            else sympy.Rational(coefficient.numerator, coefficient.denominator)
        )
        terms.append(sympy.Mul(number, *(_atom(atom) ** exponent for atom, exponent in power)))
    return sympy.Add(*terms)


def _atom(atom: Atom) -> Any:
    match atom:
        case Name(name):
            return sympy.Symbol(name, integer=True, positive=True)
        case Extremum(least=least, args=args):
            which = sympy.Min if least else sympy.Max
            return which(*(as_sympy(each) for each in args))
        case Floor(arg=arg, divisor=divisor):
            number = int(arg.table.get((), 0))
            if number == divisor - 1:
                return sympy.ceiling((as_sympy(arg) - number) / divisor)
            return sympy.floor(as_sympy(arg) / divisor)
        case Total(body=body, var=var, lower=lower, upper=upper):
            variable = sympy.Symbol(var, integer=True, positive=True)
            return sympy.Sum(as_sympy(body), (variable, as_sympy(lower), as_sympy(upper)))


def latex(*polys: Poly) -> str:
    """The largest of some polynomials as LaTeX."""
    return str(sympy.latex(_largest(polys)))


def source(*polys: Poly) -> str:
    """The largest of some polynomials as the text of a Python expression of SymPy."""
    return str(sympy.sstr(_largest(polys)))


def _largest(polys: tuple[Poly, ...]) -> Any:
    each = [as_sympy(one) for one in polys]
    return sympy.Max(*each, evaluate=False) if len(each) > 1 else each[0]
