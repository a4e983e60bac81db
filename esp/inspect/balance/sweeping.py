"""Speedup, speed and price over start-ups and miss penalties, as in Figures 3.3 to 3.6 of Clement."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from esp.errors import UsageError
from esp.inspect.balance.records import SweepPoint
from esp.user_formulas import UserFormula
from interpreter.balance.model import Costs, Workload, speedup, time_on, utilisation

AXES = ("startup", "cache")
"""What is swept: C_c and C_m."""

MOST = 100_000
"""Points of a sweep."""

VARIABLES = ("p", "c_c", "c_m")
"""Of the price of a machine."""


def check_axes(sweep: Mapping[str, Sequence[float]], processors: Sequence[int]) -> None:
    """Refuse what cannot be swept.

    Raises:
        UsageError: an axis is unknown or has no values or one below 0, or there are too many points.
    """
    points = len(processors)
    for name, values in sweep.items():
        if name not in AXES:
            hint = f"Write {' or '.join(AXES)}: --sweep startup=470:5280:x2."
            raise UsageError(f"{name!r} cannot be swept.", where="--sweep", hint=hint)
        if not values or not all(0 <= each < float("inf") for each in values):
            raise UsageError(f"{name} needs numbers from 0 on.", where="--sweep", hint="In units of T_phi, or as 23us.")
        points *= len(values)
    if points > MOST:
        told = f"{points:,} points are more than {MOST:,}."
        raise UsageError(told, where="--sweep", hint="Give fewer values or processors.")


def swept(
    work: Workload,
    costs: Costs,
    t_phi_s: float,
    processors: Sequence[int],
    sweep: Mapping[str, Sequence[float]],
    price: UserFormula | None,
) -> Iterator[SweepPoint]:
    """All combinations, the last processors fastest.

    Args:
        work: what the program does.
        costs: those of the machine, for axes that are not swept.
        t_phi_s: T_phi.
        processors: numbers of them.
        sweep: axis -> values.
        price: dollars, by the variables `VARIABLES`.
    """
    for startup in sweep.get("startup", [costs.startup]):
        for miss in sweep.get("cache", [costs.miss]):
            there = replace(costs, startup=startup, miss=miss)
            for number in processors:
                speed = work.operations / (time_on(work, there, number) * t_phi_s)
                values = dict(zip(VARIABLES, (float(number), startup, miss), strict=True))
                dollars = None if price is None else price(values)
                yield SweepPoint(
                    processors=number,
                    startup=startup,
                    miss=miss,
                    speedup=speedup(work, there, number),
                    utilisation=utilisation(work, there, number),
                    speed=speed,
                    dollars=dollars,
                    speed_per_dollar=speed / dollars if dollars else None,
                )
