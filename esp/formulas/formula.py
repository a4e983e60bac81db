"""The time of a program as a formula in its size: counts of each figure of the machine, times the figures (Def 21)."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from esp import api
from esp.errors import PredictionError, UsageError
from esp.shown import Printed
from interpreter.symbolic.across import ScaleNames
from interpreter.symbolic.facts import Facts
from interpreter.symbolic.numeric import largest_at
from interpreter.symbolic.polynomial import Poly, poly, weighted
from interpreter.symbolic.relaxed import relaxed
from interpreter.symbolic.spelling import spelled

TERMS = {
    "X_ops": "operations",
    "X_vp": "loop set-ups and iterations",
    "X_L1": "cache lines that calls of libraries read",
    "X_st": "message start-ups",
    "X_bw": "message bytes",
    "X_hop": "message hops",
    "X_copy": "bytes packed, unpacked and copied",
    "X_stage": "stages of run-time software",
    "X_io": "input and output",
    "X_given": "seconds given for calls",
}
"""Terms after Clement, and what they count."""

Origin = Literal["derived", "interpolated", "averaged"]


def term_of(figure: str) -> str:
    """The term to which a figure of the machine belongs, called by its component and key."""
    component, _, key = figure.partition(".")
    last = key.partition(" ")[0].rpartition(".")[2]
    match component, last:
        case "processor", _:
            return "X_vp" if key.startswith("loop.") else "X_ops"
        case "network", "per_byte":
            return "X_bw"
        case "network", "per_hop":
            return "X_hop"
        case "network", "stage_software":
            return "X_stage"
        case "network", _:
            return "X_st"
        case "memory", "pack" | "copy":
            return "X_copy"
        case "memory", _:
            return "X_L1"
        case "given", _:
            return "X_given"
        case _:
            return "X_io"


class Expression(Struct, frozen=True):
    """An expression in the free parameter; with `names` in the number of processors, too."""

    poly: Poly
    parameter: str
    names: ScaleNames | None = None

    def __str__(self) -> str:
        return spelled(self.poly, "text")

    def evaluate(self, value: ArrayLike, procs: ArrayLike | None = None) -> NDArray[np.float64]:
        """Its value for each value of the parameter, and with `names` of the number of processors."""
        given = np.atleast_1d(np.asarray(value, dtype=np.float64))
        if self.names is None:
            return largest_at([self.poly], {self.parameter: given.ravel()}).reshape(given.shape)
        if procs is None:
            raise TypeError("evaluate() needs the number of processors")
        given, among = np.broadcast_arrays(given, np.atleast_1d(np.asarray(procs, dtype=np.float64)))
        return largest_at([self.poly], self.names.values(given.ravel(), among.ravel())).reshape(given.shape)

    def to_sympy(self) -> Any:
        """An expression of SymPy.

        Raises:
            PredictionError: SymPy is not installed.
        """
        need_sympy("to_sympy")
        from interpreter.symbolic.algebra import as_sympy

        return as_sympy(self.poly)

    def to_latex(self) -> str:
        """LaTeX.

        Raises:
            PredictionError: SymPy is not installed.
        """
        need_sympy("to_latex")
        from interpreter.symbolic.algebra import latex

        return latex(self.poly)


def need_sympy(where: str) -> None:
    """Find out whether SymPy can be used.

    Raises:
        PredictionError: it is not installed.
    """
    if find_spec("sympy") is None:
        hint = "Install it with pip install 'esp-hpf[model]'."
        raise PredictionError("this form needs SymPy, which is not installed.", where=where, hint=hint)


class FormulaTerm(Struct, frozen=True, kw_only=True):
    """How often a figure of the machine is paid.

    Attributes:
        term: The term of the thesis, such as ``X_ops``.
        name: The figure by component and key.
        figure: Its path in the machine file.
        unit: What one of it is.
        paid: What for: computation, overhead, sending, receiving.
        seconds: The time of one.
        count: How often the slowest processor pays it.
        counts: How often each processor does.
    """

    term: str
    name: str
    figure: str
    unit: str
    paid: str
    seconds: float
    count: Expression
    counts: tuple[Poly, ...]


class FormulaLine(Struct, frozen=True, kw_only=True):
    """The terms of a source line. `origin`: ``derived`` from loops and layouts, or partly ``interpolated``, or partly
    ``averaged`` over all processors."""

    file: str
    line: int
    origin: Origin
    terms: tuple[FormulaTerm, ...]

    def time(self, parameter: str, names: ScaleNames | None = None) -> Expression:
        """Seconds of the slowest processor."""
        return Expression(_seconds(self.terms, [each.count.poly for each in self.terms]), parameter, names)


class Outside(Struct, frozen=True, kw_only=True):
    """Time that is not in the formula, at the given size: `what`, why, and seconds. `line`: of a count without a closed
    form; None: it is of the whole program."""

    what: str
    why: str
    time_s: float
    line: int | None = None


class TimeFormula(Printed, Struct, frozen=True, kw_only=True):
    """The time of a program as a formula in one parameter, for a fixed number of processors.

    Attributes:
        prediction: The prediction at the given size.
        parameter: The free parameter.
        given: Its given value.
        size: The value at which the formula is compared with a prediction: the given one, or the next one for which
            the formula holds.
        least: The least value for which the formula holds.
        most: The largest value, from which on messages would change their range; None: there is none.
        cells: Cells of each BLOCK dimension that each processor has at least where the formula holds.
        samples: Values at which the engine has counted, to interpolate and to check.
        checked: Values at which its counts equal the formula's and which no interpolation used.
        slowest: The processor that takes most time at `size`, waiting not included.
        groups: Processors whose formulas are alike.
        terms: What the whole program pays.
        lines: What each line pays.
        outside: What is not in the formula.
        facts: The values for which it holds.
    """

    prediction: api.Prediction
    parameter: str
    given: int
    size: int
    least: int
    most: int | None
    cells: int
    samples: tuple[int, ...]
    checked: tuple[int, ...]
    slowest: int
    groups: tuple[tuple[int, ...], ...]
    terms: tuple[FormulaTerm, ...]
    lines: tuple[FormulaLine, ...]
    outside: tuple[Outside, ...]
    facts: Facts

    @property
    def counts(self) -> Mapping[str, Expression]:
        """Figure of the machine -> how often the slowest processor pays it, for whatever."""
        found: dict[str, Poly] = {}
        for each in self.terms:
            found[each.name] = found.get(each.name, poly(0)) + each.count.poly
        return {each: Expression(value, self.parameter) for each, value in found.items()}

    @property
    def time(self) -> Expression:
        """Seconds of the slowest processor at the given size; at others another one may be the slowest (`evaluate`)."""
        return Expression(self.seconds_of(self.slowest), self.parameter)

    @property
    def relaxed(self) -> Expression | None:
        """`time` as a polynomial, with the mean of each rounding in its place; None: it has more than roundings."""
        return relaxed_time(self.terms, self.parameter)

    def seconds_of(self, processor: int) -> Poly:
        """Seconds of a processor, as an expression."""
        return _seconds(self.terms, [each.counts[processor] for each in self.terms])

    def evaluate(self, **values: ArrayLike) -> NDArray[np.float64]:
        """Seconds of the slowest processor for each value of the parameter: ``formula.evaluate(n=[256, 512])``.

        Raises:
            TypeError: it is not the one parameter of the formula.
            UsageError: the formula does not hold for some value.
        """
        if values.keys() != {self.parameter}:
            raise TypeError(f"evaluate() takes the argument {self.parameter!r}")
        given = np.atleast_1d(np.asarray(values[self.parameter], dtype=np.float64))
        flat = given.ravel()
        wrong = flat[~self.holds(flat)]
        if wrong.size:
            hint = f"It holds {self.validity}."
            raise UsageError(f"the formula does not hold for {self.parameter} = {wrong[0]:g}.", hint=hint)
        polys = [self.seconds_of(group[0]) for group in self.groups]
        return largest_at(polys, {self.parameter: flat}).reshape(given.shape)

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether the formula holds for values of the parameter."""
        found = (values >= self.least) & (values == np.floor(values))
        if self.most is not None:
            found &= values <= self.most
        for each in self.facts.blocks:
            extent = largest_at([each.extent], {self.parameter: values})
            found &= extent - (each.procs - 1) * np.ceil(extent / each.procs) >= self.cells
        return np.asarray(found)

    @property
    def validity(self) -> str:
        """The values for which it holds, in words."""
        text = f"for {self.parameter} >= {self.least}"
        if self.most is not None:
            text = f"for {self.parameter} from {self.least} to {self.most}"
        if self.facts.blocks:
            text += f", where each processor has at least {self.cells} cells of each BLOCK dimension"
        return text

    def to_latex(self) -> str:
        """The time of the slowest processor as LaTeX.

        Raises:
            PredictionError: SymPy is not installed.
        """
        return self.time.to_latex()


def relaxed_time(terms: Sequence[FormulaTerm], parameter: str) -> Expression | None:
    """The seconds of some terms without roundings; None: they have more than roundings."""
    smooth = [relaxed(each.count.poly) for each in terms]
    counts = [each for each in smooth if each is not None]
    return Expression(_seconds(terms, counts), parameter) if len(counts) == len(terms) else None


def _seconds(terms: Sequence[FormulaTerm], counts: Sequence[Poly]) -> Poly:
    return weighted(counts, [each.seconds for each in terms])
