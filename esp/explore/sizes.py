"""Which PARAMETER sizes a program, and the sizes that a user names."""

from collections.abc import Mapping, Sequence

from aag.ir.expressions import Var
from aag.ir.units import Program
from aag.ir.visitors import walk_expressions
from aag.pipeline import main_unit
from esp.errors import UsageError
from esp.explore.axes import values_of
from esp.explore.choices import Distributed
from esp.sizing import sizing_parameter


def size_name(program: Program, constants: Mapping[str, object], distributed: Distributed, wanted: str) -> str | None:
    """The PARAMETER whose values are tried; None where there is none, or none is `wanted`.

    Raises:
        UsageError: no such PARAMETER.
    """
    whole = [name for name, value in constants.items() if isinstance(value, int) and not isinstance(value, bool)]
    if wanted.strip().lower() == "none":
        return None
    if wanted:
        return _asked_size(wanted, whole)
    return sizing_parameter(program, (name for target in distributed.targets for name in target.sizes), whole)


def _asked_size(name: str, whole: Sequence[str]) -> str:
    folded = name.strip().lower()
    if folded not in whole:
        known = f"It is one of {', '.join(whole)}." if whole else "The program has none."
        raise UsageError(
            f"{name} is not an integer PARAMETER of the program, nor a variable with a value of --set.",
            where="--size",
            hint=known,
        )
    return folded


def sizes_of(listed: str) -> list[int]:
    """The sizes that are named, ascending.

    Raises:
        UsageError: they are no whole numbers.
    """
    values = values_of(listed, "--size")
    if not all(each.isdecimal() for each in values):
        raise UsageError(f"{listed!r} are not sizes.", where="--size", hint="Write n=16:256:16 or n=100,200.")
    return sorted({int(each) for each in values})


def others_fixed(
    program: Program, constants: Mapping[str, object], distributed: Distributed, varied: str
) -> dict[str, int]:
    """The other names that size what is distributed, with the values that they keep while one is varied."""
    names = dict.fromkeys(name for target in distributed.targets for name in target.sizes)
    found = {}
    for name in names:
        value = constants.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and not _follows(program, name, varied):
            found[name] = value
    return found


def _follows(program: Program, name: str, varied: str) -> bool:
    """Whether a PARAMETER is computed from another one, or is that one."""
    unit, waiting, seen = main_unit(program), [name], set[str]()
    while waiting:
        each = waiting.pop()
        if each == varied:
            return True
        entity = unit.entity(each)
        initial = None if entity is None or each in seen else entity.initial
        seen.add(each)
        waiting += [] if initial is None else [e.name for e in walk_expressions(initial) if isinstance(e, Var)]
    return False
