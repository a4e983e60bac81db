"""What a person touches: the command line, the Python API, reports and the terminal interface.

`esp.predict(source, system="ipsc860", procs=8)` answers how long a High Performance Fortran (HPF) program
takes on a parallel machine and where the time goes, without running it. The program is abstracted to an
application abstraction graph (AAG, room `aag`), the machine to a system abstraction graph (SAG, room
`sag`), and `interpreter` reads one in terms of the other.

`esp.compare` ranks the distributions of a program, `esp.whatif` changes one thing at a time, `esp.sweep`
crosses everything that is given as a list, and `esp.advise` searches for the best mapping.

The functions of the API are attributes of this package. They are loaded on first use, so that `import
esp` and the start of the command stay cheap.
"""

from esp.shown import Printed
from esp.version import __version__

TYPE_CHECKING = False
"""As `typing` has it, which a command does not import before it waits for Ctrl-C."""

if TYPE_CHECKING:
    from esp.api import Prediction, predict
    from esp.explore.advise import advise
    from esp.explore.compare import compare
    from esp.explore.sweep import sweep
    from esp.explore.whatif import whatif
    from esp.shown import Renderer

__all__ = ["Prediction", "predict", "compare", "whatif", "sweep", "advise", "__version__"]

_HOMES = {
    "Prediction": "esp.api",
    "predict": "esp.api",
    "compare": "esp.explore.compare",
    "whatif": "esp.explore.whatif",
    "sweep": "esp.explore.sweep",
    "advise": "esp.explore.advise",
}
"""Name of the API -> the module that has it."""


def __getattr__(name: str) -> object:
    """Load a name of the API when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def _renderer() -> "Renderer":
    from esp.output import results

    return results


Printed.renderer = staticmethod(_renderer)


def __dir__() -> list[str]:
    """Show the API although it is not loaded yet."""
    return sorted({*globals(), *__all__})
