"""Exact expressions of counting: polynomials with rational coefficients over names, minima, maxima and floors.

A `Poly` is kept in one normal form, so equal polynomials compare equal. It holds what counting iterations of affine
loops over BLOCK and CYCLIC parts needs, and no more: a sum that does not close is the atom `Total`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

Number = int | Fraction


class Keyed:
    """An atom: by its text, which is computed once, products are sorted."""

    @cached_property
    def key(self) -> str:
        """The text."""
        return repr(self)


@dataclass(frozen=True)
class Name(Keyed):
    """A free parameter, or the variable of a loop."""

    name: str


@dataclass(frozen=True)
class Extremum(Keyed):
    """The least or the largest of some polynomials."""

    least: bool
    args: tuple["Poly", ...]


@dataclass(frozen=True)
class Floor(Keyed):
    """The quotient of a polynomial with integer values and a positive integer, rounded down."""

    arg: "Poly"
    divisor: int


@dataclass(frozen=True)
class Total(Keyed):
    """The sum of `body` over the integers from `lower` to `upper` (0 if there is none) that does not close."""

    body: "Poly"
    var: str
    lower: "Poly"
    upper: "Poly"


Atom = Name | Extremum | Floor | Total
Power = tuple[tuple[Atom, int], ...]
"""A product of powers of atoms, sorted by their texts."""


@dataclass(frozen=True)
class Poly:
    """A polynomial: products of powers of atoms with their coefficients, none of them 0, sorted."""

    terms: tuple[tuple[Power, Number], ...]

    @cached_property
    def table(self) -> Mapping[Power, Number]:
        """The coefficient of each product."""
        return dict(self.terms)

    @cached_property
    def key(self) -> str:
        """A text by which expressions are sorted."""
        return repr(self)

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it depends on; the variable of a sum inside is none."""
        return frozenset(name for power, _ in self.terms for atom, _ in power for name in names_of(atom))

    @property
    def constant(self) -> Number | None:
        """Its value, where it is a number."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def __add__(self, other: "Poly | Number") -> "Poly":
        table = dict(self.table)
        for power, coefficient in poly(other).terms:
            table[power] = table.get(power, 0) + coefficient
        return _from(table)

    __radd__ = __add__

    def __neg__(self) -> "Poly":
        return self * -1

    def __sub__(self, other: "Poly | Number") -> "Poly":
        return self + -poly(other)

    def __rsub__(self, other: "Poly | Number") -> "Poly":
        return poly(other) - self

    def __mul__(self, other: "Poly | Number") -> "Poly":
        if not isinstance(other, Poly):
            return Poly(tuple((power, _plain(each * other)) for power, each in self.terms)) if other else ZERO
        table: dict[Power, Number] = {}
        for mine, first in self.terms:
            for theirs, second in other.terms:
                power = _product(mine, theirs)
                table[power] = table.get(power, 0) + first * second
        return _from(table)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> "Poly":
        result = ONE
        for _ in range(exponent):
            result = result * self
        return result

    def coefficients(self, name: str) -> dict[int, "Poly"] | None:
        """Exponent of a name -> what it is multiplied with; None: the name is inside another atom, too."""
        found: dict[int, dict[Power, Number]] = {}
        atom = Name(name)
        for power, coefficient in self.terms:
            exponent = dict(power).get(atom, 0)
            rest = tuple((each, times) for each, times in power if each != atom)
            if any(name in names_of(each) for each, _ in rest):
                return None
            found.setdefault(exponent, {})[rest] = coefficient
        return {exponent: _from(table) for exponent, table in found.items()}

    def affine(self, name: str) -> tuple[int, "Poly"] | None:
        """(a, b) where it is a * name + b with a whole number a and no name in b."""
        found = self.coefficients(name)
        if found is None or max(found, default=0) > 1:
            return None
        slope = found.get(1, ZERO).constant
        return None if slope is None or int(slope) != slope else (int(slope), found.get(0, ZERO))

    def value(self, values: Mapping[str, Any]) -> Any:
        """Its value, exact for whole numbers and fractions."""
        return value_of(self, values, {})

    def __repr__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return " + ".join(
            f"{coefficient}{''.join(f'*{atom.key}^{exponent}' for atom, exponent in power)}"
            for power, coefficient in self.terms
        )


ZERO = Poly(())
ONE = Poly((((), 1),))


def weighted(polys: Iterable[Poly], weights: Iterable[float]) -> Poly:
    """The sum of polynomials times real weights, such as counts times seconds. Its coefficients are real numbers."""
    total: dict[Power, Any] = {}
    for each, weight in zip(polys, weights, strict=True):
        for power, coefficient in each.terms:
            total[power] = total.get(power, 0.0) + weight * float(coefficient)
    kept = ((power, value) for power, value in total.items() if value)
    return Poly(tuple(sorted(kept, key=_by_keys)))


def poly(value: "Poly | Number") -> Poly:
    """A number as a polynomial."""
    return value if isinstance(value, Poly) else Poly((((), _plain(value)),)) if value else ZERO


def name(text: str) -> Poly:
    """A name as a polynomial."""
    return _of(Name(text))


def atoms(of: Poly) -> Iterator[Atom]:
    """The atoms of a polynomial, each once, not those inside others."""
    return iter(dict.fromkeys(atom for power, _ in of.terms for atom, _ in power))


def names_of(atom: Atom) -> frozenset[str]:
    """The names that an atom depends on."""
    match atom:
        case Name(text):
            return frozenset((text,))
        case Extremum(args=args):
            return frozenset().union(*(each.names for each in args))
        case Floor(arg=arg):
            return arg.names
        case Total(body=body, var=var, lower=lower, upper=upper):
            return (body.names - {var}) | lower.names | upper.names


Sign = Callable[[Poly], int | None]
"""1: never negative; -1: never positive; None: that is not known."""


def sign_of_number(of: Poly) -> int | None:
    """What is known of a sign without any facts."""
    value = of.constant
    return None if value is None else 1 if value >= 0 else -1


def extremum(args: Iterable[Poly], *, least: bool, sign: Sign = sign_of_number) -> Poly:
    """The least or the largest of some polynomials, without those that are known not to be it."""
    flat: dict[Poly, None] = {}
    for each in args:
        atom = _single(each)
        for one in atom.args if isinstance(atom, Extremum) and atom.least == least else (each,):
            flat[one] = None
    kept: list[Poly] = []
    for each in flat:
        known = [sign(each - other) for other in kept]
        beaten = 1 if least else -1
        if beaten in known:
            continue
        kept = [other for other, found in zip(kept, known, strict=True) if found != -beaten]
        kept.append(each)
    if len(kept) == 1:
        return kept[0]
    return _of(Extremum(least, tuple(sorted(kept, key=lambda each: each.key))))


def floor(arg: Poly, divisor: int) -> Poly:
    """A quotient rounded down; whole multiples of the divisor come out."""
    if divisor == 1:
        return arg
    if not all(isinstance(each, int) for _, each in arg.terms):
        return _of(Floor(arg, divisor))
    whole = _from({power: each // divisor for power, each in arg.terms if power})
    rest = arg - whole * divisor
    inside = _from({power: each for power, each in rest.terms if power})
    number = int(rest.table.get((), 0))
    if not inside.terms:
        return whole + number // divisor
    return whole + number // divisor + _of(Floor(inside + number % divisor, divisor))


def ceiling(arg: Poly, divisor: int) -> Poly:
    """A quotient of whole numbers rounded up."""
    return floor(arg + (divisor - 1), divisor)


def unclosed(body: Poly, var: str, lower: Poly, upper: Poly) -> Poly:
    """A sum that does not close."""
    return _of(Total(body, var, lower, upper))


def substituted(of: Poly, values: Mapping[str, Poly], sign: Sign = sign_of_number) -> Poly:
    """With polynomials instead of some names."""
    if not of.names & values.keys():
        return of
    result = ZERO
    for power, coefficient in of.terms:
        product = poly(coefficient)
        for atom, exponent in power:
            product = product * _replaced(atom, values, sign) ** exponent
        result = result + product
    return result


def _replaced(atom: Atom, values: Mapping[str, Poly], sign: Sign) -> Poly:
    match atom:
        case Name(text):
            return values.get(text, _of(atom))
        case Extremum(least=least, args=args):
            return extremum([substituted(each, values, sign) for each in args], least=least, sign=sign)
        case Floor(arg=arg, divisor=divisor):
            return floor(substituted(arg, values, sign), divisor)
        case Total(body=body, var=var, lower=lower, upper=upper):
            inside = {text: value for text, value in values.items() if text != var}
            return unclosed(
                substituted(body, inside, sign), var, substituted(lower, values, sign), substituted(upper, values, sign)
            )


def value_of(of: Poly, values: Mapping[str, Any], known: dict[Poly | Atom, Any]) -> Any:
    """The value of a polynomial; `known` keeps those of parts that occur several times."""
    if of not in known:
        total: Any = 0
        for power, coefficient in of.terms:
            product: Any = coefficient
            for atom, exponent in power:
                product = product * _value(atom, values, known) ** exponent
            total = total + product
        known[of] = total
    return known[of]


def _value(atom: Atom, values: Mapping[str, Any], known: dict[Poly | Atom, Any]) -> Any:
    match atom:
        case Name(text):
            return values[text]
        case Extremum(least=least, args=args):
            if atom not in known:
                known[atom] = (min if least else max)(value_of(each, values, known) for each in args)
            return known[atom]
        case Floor(arg=arg, divisor=divisor):
            return value_of(arg, values, known) // divisor
        case Total(body=body, var=var, lower=lower, upper=upper):
            first, last = value_of(lower, values, known), value_of(upper, values, known)
            return sum(value_of(body, {**values, var: each}, {}) for each in range(int(first), int(last) + 1))


def _of(atom: Atom) -> Poly:
    return Poly(((((atom, 1),), 1),))


def _single(of: Poly) -> Atom | None:
    """The atom that a polynomial consists of."""
    if len(of.terms) == 1 and of.terms[0][1] == 1 and len(of.terms[0][0]) == 1 and of.terms[0][0][0][1] == 1:
        return of.terms[0][0][0][0]
    return None


def _product(mine: Power, theirs: Power) -> Power:
    if not mine or not theirs:
        return mine or theirs
    joined = dict(mine)
    for atom, exponent in theirs:
        joined[atom] = joined.get(atom, 0) + exponent
    return tuple(sorted(joined.items(), key=_by_key))


def _from(table: Mapping[Power, Number]) -> Poly:
    kept = ((power, _plain(each)) for power, each in table.items() if each)
    return Poly(tuple(sorted(kept, key=_by_keys)))


def _by_key(each: tuple[Atom, int]) -> str:
    return each[0].key


def _by_keys(each: tuple[Power, Number]) -> tuple[tuple[str, int], ...]:
    return tuple((atom.key, exponent) for atom, exponent in each[0])


def _plain(value: Number) -> Number:
    return int(value) if not isinstance(value, int) and value.denominator == 1 else value
