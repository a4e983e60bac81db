"""Student's distribution, from SciPy."""

from importlib.util import find_spec

from esp.errors import PredictionError

CONFIDENCE = 0.95
"""What an interval of a fit promises."""


def half_width(free: float) -> float:
    """Half of a 95 % interval in standard deviations, with so many degrees of freedom.

    Raises:
        PredictionError: SciPy is not installed.
    """
    if find_spec("scipy") is None:
        hint = "Install it with pip install 'esp-hpf[model]'."
        raise PredictionError("intervals need SciPy, which is not installed.", hint=hint)
    from scipy.special import stdtrit

    return float(stdtrit(free, 0.5 + CONFIDENCE / 2.0))
