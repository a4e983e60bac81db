"""`esp.scalability`: isospeed scalability in Python, with times by predictions or by a formula."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

from aag.ir.units import Form
from esp import arguments
from esp.api import load_machine
from esp.calling import in_python
from esp.errors import UsageError
from esp.explore.scaling import TOLERANCE, Scaling, scaled
from esp.explore.scaling_by_formula import scaled_by_formula
from esp.request import requested
from esp.sources import Name, Source, read_source


@in_python
def scalability(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | Sequence[int] = (1, 2, 4, 8),
    *,
    speed: float | None = None,
    size: str = "",
    work: str = "",
    tol: float = TOLERANCE,
    by: Literal["predictions", "formula"] = "predictions",
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    **options: Any,
) -> Scaling:
    """Find the sizes that keep the average speed of a processor as the system grows (isospeed scalability).

    Args:
        source: as for `esp.predict`.
        system: as for `esp.predict`.
        procs: numbers of processors, ascending.
        speed: flop/s for each processor; by default the speed on the first number at the size of the program.
        size: the PARAMETER to vary; by default the one that sizes the distributed arrays.
        work: the flops of the best sequential program, such as ``"2*n**3"``; by default those of this program on one
            processor.
        tol: the share of the speed by which the speed at a size by Equation 2 may differ.
        by: what gives the times: predictions, or the formula in size and processors (`esp.scaling_formula`), which
            takes no longer for a million processors, but has neither waiting nor cache misses.
        form: as for `esp.predict`.
        cost: as for `esp.predict`.
        **options: all other options of `esp.predict`, each with one value, without a grid.

    Examples:
        >>> import esp
        >>> found = esp.scalability("pi.hpf", procs=[2, 4], n=500)
        >>> [(each.processors, each.size) for each in found.runs]
        [(2, 500), (4, 1019)]
        >>> round(found.runs[1].psi, 3), found.runs[1].predicted.size
        (0.982, 1015)

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        UsageError: an argument does not fit the program.
        PredictionError: no work is done, or a prediction is incomplete.
        esp.SourceError: the program or its values prevent a prediction.
        esp.MachineError: the machine prevents it.
        esp.EspError: a file or an argument prevents it.
    """
    given = (procs,) if isinstance(procs, int) else procs
    numbers = [number for each in given if (number := arguments.processors(each)) is not None]
    if not 0 < tol < 1:
        raise UsageError(f"{tol!r} is not a share of the speed.", where="--tol", hint="Give one between 0 and 1.")
    request = requested(None, **options)
    read, machine = read_source(source, form=form, cost=cost), load_machine(system)
    if by == "formula":
        if request.timed:
            raise UsageError("a formula has the time of the whole program.", where="timed", hint="Leave it out.")
        return scaled_by_formula(read, machine, request, numbers, speed=speed, size=size, work=work)
    if by != "predictions":
        raise UsageError(f"{by!r} gives no times.", where="by", hint="Give 'predictions' or 'formula'.")
    return scaled(read, machine, request, numbers, speed=speed, size=size, work=work, tol=tol)
