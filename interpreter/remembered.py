"""Results that functions of the models keep while a program is interpreted, each its own."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from aag.graph.aau import AAU
from aag.ir.evaluate import Environment, Value
from aag.ir.values import ArrayValues
from interpreter import shared
from interpreter.state import Run

Given = ParamSpec("Given")
Result = TypeVar("Result")
Function = Callable[Concatenate[Run, Given], Result]
Key = tuple[Hashable, ...]
"""Which question, and last the values on which its answer depends."""


def nothing(*_: object) -> Key:
    """The answer depends on the run alone."""
    return ()


def remembered(
    question: Callable[..., Hashable] = nothing, values: Callable[..., Hashable] = nothing
) -> Callable[[Function[Given, Result]], Function[Given, Result]]:
    """Let a function compute its result once for each question and values, both of which are functions of its
    arguments. On very many processors only the result for the latest values of a question is kept."""

    def decorated(function: Function[Given, Result]) -> Function[Given, Result]:
        @wraps(function)
        def found(run: Run, /, *given: Given.args, **named: Given.kwargs) -> Result:
            asked, now = question(run, *given), values(run, *given)
            known = run.results.setdefault((found, asked), {})
            if now not in known:
                result = function(run, *given, **named)
                if run.procs >= shared.MANY:
                    known.clear()
                known[now] = result
            return known[now]  # type: ignore[return-value]  # this function put it there

        return found

    return decorated


def of_aau(_: Run, aau: AAU, *_rest: object) -> int:
    """The result is that of an AAU."""
    return aau.id


def by_values(run: Run, aau: AAU, *_rest: object) -> tuple[Value | ArrayValues | None, ...]:
    """It depends on the values that the AAU uses."""
    return values_of(sorted_uses(run, aau), run.env)


def values_of(names: tuple[str, ...], env: Environment) -> tuple[Value | ArrayValues | None, ...]:
    """The values on which an answer about a node depends."""
    return tuple([env.get(name) for name in names])


@remembered(of_aau)
def sorted_uses(_: Run, aau: AAU) -> tuple[str, ...]:
    """The names an AAU uses, in a fixed order."""
    return tuple(sorted(aau.uses))
