"""What is asked for of `esp balance`: counts and costs that a user gives, and what cannot be meant."""

from collections.abc import Mapping, Sequence
from math import isfinite

from msgspec import Struct, field

from esp.errors import UsageError
from esp.inspect.balance.sweeping import VARIABLES, check_axes
from esp.user_formulas import UserFormula, formula_of
from interpreter.balance.patterns import PATTERNS

UTILISATION = 0.5
"""What Clement calls efficient."""


class GivenCosts(Struct, frozen=True, kw_only=True):
    """Costs instead of those of the machine."""

    t_phi_s: float | None = None
    c_phi: float | None = None
    c_m: float | None = None
    c_c: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those of C_phi, C_m and C_c that are given."""
        return tuple(name for name in ("c_phi", "c_m", "c_c") if getattr(self, name) is not None)


class GivenCounts(Struct, frozen=True, kw_only=True):
    """Counts instead of those of a program. `startups`: a formula of p, times the pattern; `law`: as written."""

    operations: float
    sequential: float = 0.0
    misses: float = 0.0
    loops: float = 0.0
    startups: UserFormula
    law: str


class BalanceRequest(Struct, frozen=True, kw_only=True):
    """What is asked for, beside program and machine."""

    procs: tuple[int, ...]
    utilisation: float = UTILISATION
    pattern: str = ""
    """One of `PATTERNS`; empty: start-ups are counted, and those of given counts are `neighbours`."""
    base: int | None = None
    costs: GivenCosts = GivenCosts()
    sweep: Mapping[str, Sequence[float]] = field(default_factory=dict)
    price: UserFormula | None = None


def price_of(dollars: str) -> UserFormula | None:
    """The price of a machine as a formula; None: none is given.

    Raises:
        UsageError: it is not a formula.
    """
    example = "p*(1000 + 2000*2**(500/c_c))"
    return formula_of(dollars, VARIABLES, "--dollars", example) if dollars.strip() else None


def given_counts(
    operations: float | None,
    sequential: float | None,
    misses: float | None,
    loops: float | None,
    startups: float | str | None,
) -> GivenCounts | None:
    """Counts that a user gives; None: they give none.

    Raises:
        UsageError: one is not a number from 0 on, or others are given without operations and start-ups.
    """
    named = {"operations": operations, "sequential": sequential, "misses": misses, "loops": loops}
    known = {name: value for name, value in named.items() if value is not None}
    if not known and startups is None:
        return None
    for name, value in known.items():
        if not _is_number(value) or value < 0:
            raise UsageError(f"{value!r} is not a count.", where=f"--{name}", hint="Give a number from 0 on.")
    if operations is None or startups is None:
        missing = "--operations" if operations is None else "--startups"
        hint = "Write for example --operations 1e6 --startups 100."
        raise UsageError("the model needs operations and start-ups.", where=missing, hint=hint)
    if not operations > 0:
        raise UsageError("there are no operations.", where="--operations", hint="Give a number above 0.")
    law = str(startups)
    return GivenCounts(**known, startups=formula_of(law, ("p",), "--startups", "4*(1 + log2(p))"), law=law)


def check(wanted: BalanceRequest) -> None:
    """Refuse what cannot be asked.

    Raises:
        UsageError: utilisation, processors, pattern, base, costs or sweep cannot be meant.
    """
    if not _is_number(wanted.utilisation) or not 0 < wanted.utilisation < 1:
        told = f"{wanted.utilisation!r} is not a utilisation between 0 and 1."
        raise UsageError(told, where="--utilisation", hint="Write 50% or 0.5.")
    if not wanted.procs:
        raise UsageError("a number of processors is missing.", where="--procs", hint="Write --procs 2,4,8.")
    if wanted.pattern and wanted.pattern not in PATTERNS:
        hint = f"It is one of {', '.join(PATTERNS)}."
        raise UsageError(f"{wanted.pattern!r} is not a pattern.", where="--pattern", hint=hint)
    if wanted.base == 1:
        hint = "Give one that communicates, such as --base 4."
        raise UsageError("the base is one processor alone.", where="--base", hint=hint)
    for name in ("t_phi_s", "c_phi", "c_m", "c_c"):
        value = getattr(wanted.costs, name)
        least = name in ("t_phi_s", "c_phi")
        if value is not None and (not _is_number(value) or value < 0 or (least and value == 0)):
            option, bound = f"--{name.removesuffix('_s').replace('_', '-')}", "above 0" if least else "from 0 on"
            raise UsageError(f"{value!r} is not a cost.", where=option, hint=f"Give a number {bound}.")
    check_axes(wanted.sweep, wanted.procs)
    if wanted.price is not None and not wanted.sweep:
        hint = "Add --sweep startup=470:7520:x2."
        raise UsageError("a price needs a sweep of machines.", where="--dollars", hint=hint)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)
