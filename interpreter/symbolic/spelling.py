"""Expressions as text: for people, and as code of Python, NumPy and Fortran."""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from interpreter.symbolic.polynomial import Atom, Extremum, Floor, Name, Number, Poly, Power, Total, poly

Style = Literal["text", "python", "numpy", "fortran"]


class _Words(Struct, frozen=True):
    """How a language spells what expressions are made of."""

    times: str
    power: str
    least: str
    largest: str
    number: Callable[[Number | float], str]
    floor: Callable[[str, int], str]
    name: Callable[[str], str]
    pairs: bool = False
    """Minima and maxima have two arguments."""


def spelled(of: Poly, style: Style) -> str:
    """An expression."""
    return _sum(of, _STYLES[style])


def sizes_in_words(floor: Floor) -> str:
    """A quotient as people write it: ceil(n/4) for floor((n + 3)/4)."""
    number = int(floor.arg.table.get((), 0))
    rest = floor.arg - poly(number)
    name, inside = ("ceil", rest) if number == floor.divisor - 1 else ("floor", floor.arg)
    text = spelled(inside, "text")
    return f"{name}({text}/{floor.divisor})" if len(inside.terms) == 1 else f"{name}(({text})/{floor.divisor})"


def _sum(of: Poly, words: _Words) -> str:
    if not of.terms:
        return words.number(0)
    text = ""
    for power, coefficient in sorted(of.terms, key=_degree):
        negative = coefficient < 0
        sign = ("-" if negative else "") if not text else (" - " if negative else " + ")
        text += sign + _product(power, -coefficient if negative else coefficient, words)
    return text


def _degree(term: tuple[Power, Number]) -> tuple[int, str]:
    return -sum(exponent for _, exponent in term[0]), "".join(atom.key for atom, _ in term[0])


def _product(power: Power, coefficient: Number, words: _Words) -> str:
    factors = [_power(atom, exponent, words) for atom, exponent in power]
    if coefficient != 1 or not factors:
        factors.insert(0, words.number(coefficient))
    return words.times.join(factors)


def _power(atom: Atom, exponent: int, words: _Words) -> str:
    base = _atom(atom, words)
    return base if exponent == 1 else f"{base}{words.power}{exponent}"


def _atom(atom: Atom, words: _Words) -> str:
    match atom:
        case Name(name):
            return words.name(name)
        case Extremum(least=least, args=args):
            which, texts = words.least if least else words.largest, [_sum(each, words) for each in args]
            if not words.pairs:
                return f"{which}({', '.join(texts)})"
            found = texts[-1]
            for each in reversed(texts[:-1]):
                found = f"{which}({each}, {found})"
            return found
        case Floor() if words is _STYLES["text"]:
            return sizes_in_words(atom)
        case Floor(arg=arg, divisor=divisor):
            text = _sum(arg, words)
            return words.floor(f"({text})" if " " in text else text, divisor)
        case Total(body=body, var=var, lower=lower, upper=upper):
            if words is _STYLES["text"]:
                return f"sum({_sum(body, words)}, {var} = {_sum(lower, words)}..{_sum(upper, words)})"
            raise NotSpelled("a sum that does not close")


class NotSpelled(Exception):
    """A language has no expression for something."""


def _for_people(value: Number | float) -> str:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _in_python(value: Number | float) -> str:
    return f"({value.numerator}/{value.denominator})" if isinstance(value, Fraction) else repr(value)


def _in_fortran(value: Number | float) -> str:
    return repr(float(value)).replace("e", "d") + ("" if "e" in repr(float(value)) else "d0")


_STYLES: dict[Style, _Words] = {
    "text": _Words(" ", "^", "min", "max", _for_people, lambda arg, by: f"floor({arg}/{by})", str),
    "python": _Words("*", "**", "min", "max", _in_python, lambda arg, by: f"({arg} // {by})", str),
    "numpy": _Words(
        "*", "**", "np.minimum", "np.maximum", _in_python, lambda arg, by: f"np.floor({arg} / {by})", str, pairs=True
    ),
    "fortran": _Words("*", "**", "min", "max", _in_fortran, lambda arg, by: f"aint({arg} / {by}.0d0 + 1.0d-9)", str),
}
