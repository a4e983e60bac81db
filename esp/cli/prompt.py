"""Values that the program does not give: asked for on a terminal (D8)."""

import sys
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from aag.diagnostics import UnresolvedError
from aag.ir.evaluate import Value
from esp.api import Request
from esp.errors import UsageError
from esp.values import value_of
from esp.writing import put

Made = TypeVar("Made")


def with_answers(predict: Callable[[Request], Made], request: Request) -> tuple[Made, Request]:
    """What is made of a request, such as a prediction, and the request with the values that were asked for on the way.

    Raises:
        UnresolvedError: values are missing and there is nobody to ask.
    """
    while True:
        try:
            return predict(request), request
        except UnresolvedError as error:
            if not _somebody_is_there():
                raise
            request = replace(request, values={**request.values, **_answers(error)})


def answered(complete: Request, request: Request) -> list[str]:
    """``NAME=VALUE`` for what was asked for on the way: it belongs to the next command."""
    return [f"{name}={value!r}" for name, value in complete.values.items() if name not in request.values]


def _somebody_is_there() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _answers(error: UnresolvedError) -> dict[str, Value]:
    """A value for each name; an empty answer gives up.

    Raises:
        UnresolvedError: the user gave up.
    """
    sys.stderr.write("The program does not give these values; Enter alone cancels.\n")
    return {name: _answer(name, f"{found.span}: {found.message}", error) for name, found in error.missing.items()}


def _answer(name: str, why: str, error: UnresolvedError) -> Value:
    put(sys.stderr, f"{why}\n")
    while True:
        put(sys.stderr, f"  {name} = ")
        sys.stderr.flush()
        text = sys.stdin.readline().strip()
        if not text:
            raise error
        try:
            return value_of(name, text)
        except UsageError as wrong:
            put(sys.stderr, f"  {wrong}\n")
