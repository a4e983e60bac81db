"""Arguments of `esp.predict` that are easily given in another form than is meant."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import TypeVar

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError
from aag.ir.costs import RoutineCost
from aag.ir.directives import Align
from aag.source.costs import read_cost
from aag.source.directives import read_directive
from aag.source.joining import DirectiveText, Text
from esp.errors import UsageError
from sag.schema import OPERATIONS

_MOST_PROCESSORS = 2**20

ALIGN = "‹align›"
"""What stands for a file in the places of alignments that are no part of the source."""

_KEYWORD = "align "
_WRITE = "write for example 'A(i,j) WITH T(j,i)', as after ALIGN in a directive"

Choice = TypeVar("Choice", bound=str)


def processors(given: object) -> int | None:
    """A number of processors, or None.

    Raises:
        UsageError: something else.
    """
    if given is None:
        return None
    if isinstance(given, list | tuple | range):
        hint = "Predict each number in a loop: [esp.predict(source, procs=p) for p in (1, 2, 4)]."
        raise UsageError("a prediction takes one processor count.", where=f"procs={given!r}", hint=hint)
    number = _whole(given)
    if number is None:
        raise _not_whole("procs", given, "8")
    if not 1 <= number <= _MOST_PROCESSORS:
        told = f"this is not a processor count from 1 to {_MOST_PROCESSORS:,}."
        raise UsageError(told, where=f"procs={given!r}", hint="Give a whole number such as 8.")
    return number


def operations(given: object) -> int:
    """A budget in operations.

    Raises:
        UsageError: something else.
    """
    number = _whole(given)
    if number is None:
        raise _not_whole("budget", given, "1000000")
    if number < 0:
        hint = "Give a whole number; 0 computes nothing."
        raise UsageError("this is not a number of operations.", where=f"budget={given!r}", hint=hint)
    return number


def jobs(given: object) -> int:
    """A number of processes.

    Raises:
        UsageError: it is none.
    """
    number = _whole(given)
    if number is None:
        raise _not_whole("jobs", given, "2")
    if number < 1:
        raise UsageError(f"{given!r} is not a process count.", where="jobs", hint="Give a whole number from 1 on.")
    return number


def grid(given: object) -> tuple[int, ...] | None:
    """Extents of a processor grid: ``(4, 2)`` or ``4x2``, or None.

    Raises:
        UsageError: something else.
    """
    if given is None:
        return None
    hint = "Write extents such as (4, 2) or '4x2'."
    if isinstance(given, str):
        parts: Iterable[object] = [
            int(each) if each.strip().isdecimal() else each for each in given.lower().replace(",", "x").split("x")
        ]
    elif isinstance(given, Iterable):
        parts = given
    else:
        raise UsageError("this is not a processor grid.", where=f"grid={given!r}", hint=hint)
    extents = tuple(_whole(each) for each in parts)
    found = tuple(each for each in extents if each is not None and each >= 1)
    if not found or len(found) != len(extents):
        raise UsageError("this is not a processor grid.", where=f"grid={given!r}", hint=hint)
    return found


def alignments(given: str | Sequence[str] | None) -> tuple[Align, ...]:
    """Alignments as in an ALIGN directive, without its first word: ``A(i,j) WITH T(j,i)``.

    Raises:
        aag.diagnostics.SourceError: one that cannot be read, with its place: the line is its number.
    """
    found: list[Align] = []
    problems: list[Diagnostic] = []
    for number, text in enumerate([given] if isinstance(given, str) else given or (), 1):
        pieces = ((0, ALIGN, number, 1), (len(_KEYWORD), ALIGN, number, 1))
        read = read_directive(DirectiveText(Text(_KEYWORD + text, pieces), 0), {(ALIGN, number): text})
        found += [each for each in read.mapping if isinstance(each, Align)]
        problems += [replace(each, hint=each.hint or _WRITE) for each in read.diagnostics]
    if problems:
        raise SourceError(problems)
    return tuple(found)


def costs(given: str | Sequence[str] | None) -> tuple[RoutineCost, ...]:
    """Costs of procedures, such as ``solve = 2*n**3/3 flop``; the last one for each counts.

    Raises:
        aag.diagnostics.SourceError: one that cannot be read, with its place: the line is its number.
    """
    found: dict[str, RoutineCost] = {}
    problems: list[Diagnostic] = []
    for number, text in enumerate([given] if isinstance(given, str) else given or (), 1):
        try:
            cost = read_cost(text, OPERATIONS, number)
        except SourceError as error:
            problems += error.diagnostics
        else:
            found[cost.name] = cost
    if problems:
        raise SourceError(problems)
    return tuple(found.values())


def switch(name: str, given: object) -> bool:
    """Whether something is on: a boolean, ``on`` or ``off``.

    Raises:
        UsageError: something else.
    """
    text = given.strip().lower() if isinstance(given, str) else ""
    if text in ("on", "off"):
        return text == "on"
    if isinstance(given, str) or given not in (True, False):
        raise UsageError(f"{name} is either on or off.", where=f"{name}={given!r}", hint="Write True or False.")
    return bool(given)


def one_of(name: str, given: Choice, known: Sequence[Choice]) -> Choice:
    """One of the words that an argument may be.

    Raises:
        UsageError: something else.
    """
    if given not in known:
        raise UsageError(f"{given!r} is not a {name}.", where=name, hint=f"Known: {', '.join(known)}.")
    return given


def _not_whole(name: str, given: object, example: str) -> UsageError:
    """What is wrong with a value of another type than a whole number; one in quotes loses them."""
    if isinstance(given, str):
        written = given.strip().isdecimal()
        hint = (
            f"Write {name}={given.strip()}, without quotes." if written else f"Give a whole number such as {example}."
        )
        return UsageError("this is text, not a whole number.", where=f"{name}={given!r}", hint=hint)
    told = f"this is {'None' if given is None else f'a {type(given).__name__}'}, not a whole number."
    return UsageError(told, where=f"{name}={given!r}", hint=f"Give a whole number such as {example}.")


def _whole(given: object) -> int | None:
    """A whole number of any type that counts with whole numbers; 8.0 and True are none."""
    if isinstance(given, bool):
        return None
    try:
        return index(given)  # type: ignore[arg-type]  # what is not a whole number is what this finds out
    except TypeError:
        return None
