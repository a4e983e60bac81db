"""How often loops run, as far as known values decide it."""

from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.statements import Do


def runs(loop: Do, env: Environment, least: int = 1) -> bool:
    """Whether a loop certainly has at least so many iterations."""
    try:
        first, last = evaluate_int(loop.lower, env), evaluate_int(loop.upper, env)
        step = 1 if loop.step is None else evaluate_int(loop.step, env)
    except Unknown:
        return False
    return step != 0 and (last - first + step) // step >= least
