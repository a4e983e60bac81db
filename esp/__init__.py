"""Predict High Performance Fortran (HPF): command line, Python API, reports and terminal interface.

`esp.predict(source, system="ipsc860", procs=8)` predicts how long an HPF program takes on a parallel machine
and where the time goes, without running it. Package `aag` abstracts the program to an application abstraction
graph (AAG), `sag` the machine to a system abstraction graph (SAG), and `interpreter` evaluates both.

`esp.compare` ranks the distributions of a program, `esp.whatif` changes one thing at a time, `esp.sweep`
predicts all combinations of values given as lists, `esp.advise` searches for the best mapping, `esp.formula`
gives the time as a formula in the size, `esp.scalability` finds how the size must grow with the system,
`esp.balance` finds which start-ups keep the processors busy, and `esp.fit_runs` fits a machine to measured
runs. Their results print as text, return rows and display in notebooks. `esp.ERRORS` are the exceptions that
they raise.

The functions of the API are attributes of this package. They are loaded on first use, so that `import esp` and
the start of the command are fast.
"""

from esp.shown import Printed
from esp.version import __version__

TYPE_CHECKING = False
"""As `typing` has it, which a command does not import before it waits for Ctrl-C."""

if TYPE_CHECKING:
    from aag.diagnostics import Diagnostic, SourceError, UnresolvedError
    from esp.api import Prediction, predict, read_source
    from esp.calling import ERRORS
    from esp.errors import EspError, PredictionError, UnreadableFileError, UsageError
    from esp.explore.advise import Advice, advise
    from esp.explore.best_machine import BestMachine, optimize_machine
    from esp.explore.compare import Comparison, compare
    from esp.explore.scalability import scalability
    from esp.explore.scaling import Scaling
    from esp.explore.sensitivity import Sensitivity, sensitivity
    from esp.explore.sweep import Sweep, sweep
    from esp.explore.whatif import WhatIf, whatif
    from esp.fit.fitting import FittedMachine, fit_runs
    from esp.formulas.derivation import formula
    from esp.formulas.formula import TimeFormula
    from esp.formulas.scaling_derivation import scaling_formula
    from esp.formulas.scaling_formula import ScalingFormula
    from esp.inspect.balance.analysis import balance
    from esp.inspect.balance.records import Balance
    from esp.shown import Renderer
    from sag.errors import MachineError

__all__ = [
    "predict",
    "compare",
    "whatif",
    "sensitivity",
    "optimize_machine",
    "sweep",
    "advise",
    "formula",
    "scalability",
    "scaling_formula",
    "balance",
    "fit_runs",
    "read_source",
    "Prediction",
    "Comparison",
    "WhatIf",
    "Sensitivity",
    "BestMachine",
    "Sweep",
    "Advice",
    "TimeFormula",
    "ScalingFormula",
    "Scaling",
    "Balance",
    "FittedMachine",
    "Diagnostic",
    "ERRORS",
    "EspError",
    "PredictionError",
    "UsageError",
    "UnreadableFileError",
    "SourceError",
    "UnresolvedError",
    "MachineError",
    "__version__",
]

_HOMES = {
    "esp.api": ("Prediction", "predict", "read_source"),
    "esp.explore.compare": ("Comparison", "compare"),
    "esp.explore.scaling": ("Scaling",),
    "esp.explore.scalability": ("scalability",),
    "esp.explore.whatif": ("WhatIf", "whatif"),
    "esp.explore.best_machine": ("BestMachine", "optimize_machine"),
    "esp.explore.sensitivity": ("Sensitivity", "sensitivity"),
    "esp.explore.sweep": ("Sweep", "sweep"),
    "esp.explore.advise": ("Advice", "advise"),
    "esp.fit.fitting": ("FittedMachine", "fit_runs"),
    "esp.formulas.formula": ("TimeFormula",),
    "esp.formulas.derivation": ("formula",),
    "esp.formulas.scaling_derivation": ("scaling_formula",),
    "esp.formulas.scaling_formula": ("ScalingFormula",),
    "esp.inspect.balance.analysis": ("balance",),
    "esp.inspect.balance.records": ("Balance",),
    "esp.calling": ("ERRORS",),
    "esp.errors": ("EspError", "PredictionError", "UsageError", "UnreadableFileError"),
    "aag.diagnostics": ("Diagnostic", "SourceError", "UnresolvedError"),
    "sag.errors": ("MachineError",),
}
"""Module -> the names of the API that it has."""


def __getattr__(name: str) -> object:
    """Load a name of the API on first use."""
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _renderer() -> "Renderer":
    from esp.output import results

    return results


Printed.renderer = staticmethod(_renderer)


def __dir__() -> list[str]:
    """List the API, including names that are not loaded yet."""
    return sorted({*globals(), *__all__})
