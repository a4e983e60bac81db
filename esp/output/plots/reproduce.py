"""A figure of the paper as a picture: the curves of a sweep, or a bar for each phase of a program."""

from typing import TYPE_CHECKING

from esp.output.plots import sweep
from esp.output.plots.bars import bars
from esp.prediction import CATEGORIES
from esp.reproduce.figures import Reproduced

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(found: Reproduced) -> "Figure":
    """Draw an experiment."""
    if found.sweep is not None:
        return sweep.figure(found.sweep, versus=found.experiment.versus)
    names = [each.name for each in found.phases]
    rows = [{f"{name}_s": getattr(each, f"{name}_s") for name in ("time", *CATEGORIES)} for each in found.phases]
    axes = [f"P = {text}" if name == "procs" else text for name, text in found.experiment.axes]
    return bars(names, rows, [*found.experiment.programs, *axes])
