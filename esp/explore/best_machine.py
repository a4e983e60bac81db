"""`esp optimize-machine`: the machine with the most performance per dollar for a program (M. Clement, section 6.2.1).

What is bought are processors by the mean time of an operation, a network by the time of a byte and of a start-up, and a
cache by its size. Their parameters are scaled together, as the groups of `esp.quantities`; the times come from walks of
the engine with a scenario for each point. Caches cannot be scenarios: their sizes are tried one by one, doubled, and
closer where the time has a step.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from aag.diagnostics import Diagnostic
from aag.ir.units import Form
from esp import api
from esp.calling import in_python
from esp.errors import PredictionError, UsageError
from esp.explore.plan import CHUNK, path_of
from esp.explore.price_search import WIDE, Curvature, Price, PricePoint, SearchSpace, cheapest, curvature, point_at
from esp.explore.sensitivity import SensitiveRun, refuse_absolute, sensitivities
from esp.prediction import Prediction
from esp.quantities import kind_of, scaled, timed_parameters
from esp.request import requested
from esp.shown import Printed
from esp.sources import Name, Source, read_source
from esp.user_formulas import UserFormula, formula_of
from sag.quantities import Change, make_change
from sag.unit import Figure, System

Floats = NDArray[np.float64]

VARIABLES = ("ops", "bw", "startup", "cache", "p")
"""Of a price: ns of a mean operation, ns of a byte, ns of a start-up, bytes of cache, processors."""

PRICE = "p*(50 + 100*2**(100/ops) + 800 + 30000*2**(1000/bw) + 5e-12*cache**3)"
"""Dollars of processors, network and caches by the functions that Clement fitted to quotes of 1994."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "ops": ("operations", "loops"),
    "bw": ("bytes",),
    "startup": ("start-ups", "software"),
}
"""Variable -> the groups of parameters that it scales."""

_NANO = 1e-9
_WIDEST = 1e12
"""The largest limit over the least one."""
_DOUBLINGS = range(-5, 7)
"""Powers of two by which caches differ from the machine's."""
_STEP = 0.01
"""Relative difference of times from which a step between two caches is looked for."""
_BISECTIONS = 3
_CACHES_FOLLOWED = 3
"""Caches with the lowest costs whose best point is searched."""

Progress = Callable[[int, int, str], None]
"""Called with caches tried, caches in all as far as known, and which one is next."""


class CacheTried(Struct, frozen=True, kw_only=True):
    """A size of the cache, its time with all else as it is, and the best point with it where it was searched."""

    size: int
    time_s: float
    best: PricePoint | None = None
    speed_per_dollar: float | None = None


class BestMachine(Printed, Struct, frozen=True, kw_only=True, eq=False):
    """The result of `optimize_machine`."""

    file: str
    system: str
    price: str
    """The formula."""
    names: tuple[str, ...]
    """Variables of the price that are searched, besides the cache."""
    now: PricePoint
    best: PricePoint
    minima: int
    """How many minima the first grid has."""
    curvature: Curvature
    flops: float
    caches: tuple[CacheTried, ...]
    prediction: Prediction
    """With the machine as it is."""
    warnings: tuple[Diagnostic, ...] = ()

    def speed_per_dollar(self, point: PricePoint) -> float:
        """Flop/s per dollar."""
        return self.flops / point.cost


@in_python
def optimize_machine(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | None = None,
    *,
    price: str = PRICE,
    limits: Mapping[str, tuple[float, float]] | None = None,
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    **options: Any,
) -> BestMachine:
    """Find the machine with the most performance per dollar for a program.

    Args:
        source: as for `esp.predict`.
        system: the machine whose parameters are scaled, as for `esp.predict`.
        procs: as for `esp.predict`.
        price: dollars of the whole machine as a formula in ``ops`` (ns of a mean operation), ``bw`` (ns of a byte),
            ``startup`` (ns of a start-up), ``cache`` (bytes) and ``p``. What is not in it stays as it is.
        limits: variable -> least and largest value; by default 1/256 to 256 times the machine's value.
        form: as for `esp.predict`.
        cost: as for `esp.predict`.
        **options: all other options of `esp.predict`, each with one value.

    Examples:
        >>> import esp
        >>> found = esp.optimize_machine("laplace.hpf", procs=4, n=32, price="p*(100 + 200*2**(100/ops))")
        >>> abs(found.best.time_shares["ops"] - found.best.price_shares["ops"]) < 0.01
        True

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        UsageError: the price is not a formula, or has no value.
        PredictionError: a prediction is incomplete.
        esp.SourceError: the program or its values prevent a prediction.
        esp.MachineError: the machine prevents it.
    """
    request = requested(procs=procs, **options)
    read = read_source(source, form=form, cost=cost)
    return best_machine(read, api.load_machine(system), request, price, limits or {})


def price_of(text: str) -> UserFormula:
    """The price as a formula.

    Raises:
        UsageError: it is not one.
    """
    return formula_of(text, VARIABLES, "--price", "'p*(500 + 100*2**(100/ops))'")


class _Positive:
    """A price that is refused where it is 0, as nobody sells that."""

    def __init__(self, formula: UserFormula) -> None:
        self._formula = formula
        self.used = formula.used

    def __call__(self, values: Mapping[str, float]) -> float:
        found = self._formula(values)
        if not found > 0:
            shown = ", ".join(f"{name} = {value:.3g}" for name, value in values.items())
            raise UsageError(f"a machine costs nothing with {shown}.", where="--price", hint="Add what each costs.")
        return found


def best_machine(
    source: Source,
    system: System,
    request: api.Request,
    price: str = PRICE,
    limits: Mapping[str, tuple[float, float]] | None = None,
    progress: Progress | None = None,
) -> BestMachine:
    """As `optimize_machine`, for a program that is read and a machine that is loaded."""
    formula = _Positive(price_of(price))
    if request.scenario.has_lists:
        raise UsageError("one machine is searched.", hint="Give each change one value.")
    if request.timed:
        raise UsageError("a machine runs the whole program.", where="timed", hint="Leave it out.")
    refuse_absolute(request)
    sensitive = sensitivities(source, system, request, [request.procs])
    run = sensitive.runs[0]
    now = _values(run)
    wanted = [name for name in GROUPS if name in formula.used]
    if idle := [name for name in wanted if name not in now]:
        hint = f"Leave {idle[0]} out of the formula, or take more processors."
        raise UsageError(f"the time does not depend on {idle[0]}.", where="--price", hint=hint)
    names = tuple(wanted)
    times = _Times(source, system, request, names)
    cache = times.cache
    fixed = {"p": float(run.processors), **({} if cache is None else {"cache": float(cache)})}
    if "cache" in formula.used and cache is None:
        hint = "Leave cache out of the formula, or describe the cache of the machine."
        raise UsageError(f"{system.name} has no cache.", where="--price", hint=hint)
    if not {*names, *(["cache"] if "cache" in formula.used else [])}:
        hint = f"Write it in {', '.join(VARIABLES[:-1])}; `esp sensitivity` says what matters."
        raise UsageError("the price is the same for all machines.", where="--price", hint=hint)
    space = SearchSpace(names=names, now=now, limits=_limits(names, now, limits or {}), fixed=fixed)
    here = point_at(space, np.zeros(len(names)), times.at(times.cache), formula)
    sized = "cache" in formula.used
    tried = _caches(times, progress) if sized else {cache: here.time_s}
    found = _best_of(space, times, formula, tried)
    (size, (best, minima)) = min(found.items(), key=lambda each: each[1][0].cost)
    bent = curvature(_with_cache(space, size), times.at(size), formula)
    flops = sum(times.base.counts.flops().values())
    if not flops > 0:
        raise PredictionError("the program has no floating-point operations.", where=source.program.file)
    return BestMachine(
        file=source.program.file,
        system=system.name,
        price=price,
        names=names,
        now=here,
        best=best,
        minima=minima,
        curvature=bent,
        flops=flops,
        caches=tuple(
            CacheTried(
                size=size,
                time_s=time_s,
                best=found[size][0] if size in found else None,
                speed_per_dollar=flops / found[size][0].cost if size in found else None,
            )
            for size, time_s in sorted(tried.items())
            if size is not None and sized
        ),
        prediction=times.base,
        warnings=sensitive.warnings,
    )


def _values(run: SensitiveRun) -> dict[str, float]:
    """Variable -> its value: the mean time of what it scales, each as often as the time of the program contains it."""
    found = {}
    for name, groups in GROUPS.items():
        inside = [each for each in run.parameters if kind_of(each.quantity) in groups and each.elasticity > 0]
        often = sum(each.derivative(run.time_s) for each in inside)
        if often > 0:
            found[name] = sum(each.elasticity for each in inside) * run.time_s / often / _NANO
    return found


def _limits(
    names: Sequence[str], now: Mapping[str, float], given: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Between which values each variable is searched.

    Raises:
        UsageError: limits are of nothing that is searched, or none.
    """
    for name, (low, high) in given.items():
        if name not in names:
            known = f"Known here: {', '.join(names)}." if names else ""
            known = "Caches are tried from 1/32 to 64 times the machine's cache." if name == "cache" else known
            raise UsageError(f"{name!r} is not searched.", where="--limits", hint=known)
        if not 0 < low < high < low * _WIDEST:
            raise UsageError(
                f"{name} from {low:g} to {high:g} is not a range.", where="--limits", hint="Write ops=5..500."
            )
    return {name: given.get(name, (now[name] / WIDE, now[name] * WIDE)) for name in names}


def _with_cache(space: SearchSpace, size: int | None) -> SearchSpace:
    return space if size is None else structs.replace(space, fixed={**space.fixed, "cache": float(size)})


def _caches(times: "_Times", progress: Progress | None) -> dict[int | None, float]:
    """Sizes of the cache with their times: doubled, and halfway where there is a step between two of them."""
    unit, cache = times.cache_unit, times.cache
    assert cache is not None
    sizes = sorted({max(unit, round(cache * 2.0**by / unit) * unit) for by in _DOUBLINGS})
    sizes = [each for each in sizes if times.next_cache is None or each < times.next_cache]
    found: dict[int | None, float] = {}
    for at, size in enumerate(sizes):
        if progress is not None:
            progress(at, len(sizes), f"a cache of {size:,} B")
        found[size] = times.plain(size)
    for low, high in pairwise(sizes):
        _bisected(low, high, found, times, _BISECTIONS)
    return found


def _bisected(low: int, high: int, found: dict[int | None, float], times: "_Times", left: int) -> None:
    """Add sizes between two whose times differ."""
    middle = (low + high) // 2 // times.cache_unit * times.cache_unit
    if not left or middle in (low, high) or abs(found[low] - found[high]) <= _STEP * found[high]:
        return
    found[middle] = times.plain(middle)
    _bisected(low, middle, found, times, left - 1)
    _bisected(middle, high, found, times, left - 1)


def _best_of(
    space: SearchSpace, times: "_Times", formula: Price, tried: Mapping[int | None, float]
) -> dict[int | None, tuple[PricePoint, int]]:
    """The best points of the caches that can have the best of all: first a price with all else as it is best for the
    middle one, then the caches with the lowest cost there."""
    sizes = list(tried)
    middle = sizes[len(sizes) // 2]
    found = {middle: cheapest(_with_cache(space, middle), times.at(middle), formula)}
    for _ in range(2):
        best = min(found.values(), key=lambda each: each[0].cost)[0]
        factors = np.array([[best.values[name] / space.now[name] for name in space.names]])
        costs = {
            size: float(times.at(size)(factors)[0]) * formula({**best.values, "cache": float(size or 0)})
            for size in sizes
        }
        for size in sorted(costs, key=lambda each: costs[each])[:_CACHES_FOLLOWED]:
            if size not in found:
                found[size] = cheapest(_with_cache(space, size), times.at(size), formula)
    return found


class _Times:
    """Times of a program by the factors of the variables, for sizes of the cache."""

    def __init__(self, source: Source, system: System, request: api.Request, names: Sequence[str]) -> None:
        self._system, self._request = system, structs.replace(request, partial=False)
        timed = timed_parameters(system)
        self._paths = [[path for path, group in timed.items() if kind_of(group) in GROUPS[name]] for name in names]
        self._stages = api.lower_source(source, system, self._request)
        self.base = api.interpret_stages(self._stages, system, self._request)
        self._path = path_of(system, "cache")
        figures = {path: each.value for path, each in system.parameters().items() if isinstance(each, Figure)}
        memory = self._path.rpartition(".")[0]
        given = dict(request.scenario.sets).get(self._path, figures.get(self._path))
        self.cache = None if given is None else int(make_change(given, "size", plain_is_factor=False).amount[0])
        """Bytes of the machine's cache."""
        self.cache_unit = int(figures.get(f"{memory}.line", 1) * figures.get(f"{memory}.associativity", 1))
        """Bytes of which a cache has a whole number: one line in each set."""
        further = [at for path, at in figures.items() if path.startswith(memory) and path.endswith(".cache_size")]
        self.next_cache = min((each for each in further if each != figures.get(self._path)), default=None)
        """Bytes of the second cache of the machine, which is larger; None: there is none."""

    def plain(self, size: int) -> float:
        """The time with a cache and all else as it is."""
        return float(self.at(size)(np.ones((1, len(self._paths))))[0])

    def at(self, size: int | None) -> Callable[[Floats], Floats]:
        """Factors (S, K) -> the times with a cache (S,)."""
        sized = () if size is None else ((self._path, float(size)),)

        def times(factors: Floats) -> Floats:
            return np.concatenate([self._walked(sized, part) for part in _chunks(factors)])

        return times

    def _walked(self, sized: tuple[tuple[str, float], ...], factors: Floats) -> Floats:
        changes = tuple(
            (path, Change(is_factor=True, amount=column.copy(), text=f"{column.size} values"))
            for column, paths in zip(factors.T, self._paths, strict=True)
            for path in paths
        )
        kept = tuple(each for each in self._request.scenario.sets if not sized or each[0] != self._path)
        scenario = structs.replace(self._request.scenario, sets=scaled(self._system, (*kept, *sized), changes))
        made = api.interpret_stages(self._stages, self._system, structs.replace(self._request, scenario=scenario))
        return np.broadcast_to(np.atleast_1d(np.asarray(made.time_s, dtype=np.float64)), len(factors)).copy()


def _chunks(factors: Floats) -> list[Floats]:
    return [factors[at : at + CHUNK] for at in range(0, max(1, len(factors)), CHUNK)]
