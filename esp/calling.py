"""What the functions of the Python API share: unknown arguments are a TypeError, and findings name arguments as Python
spells them, ``load`` and ``n``, not the options of the command."""

import re
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError
from esp.errors import EspError
from esp.request import requested
from esp.visible import with_parameters
from interpreter.result import Assumption
from sag.errors import Finding, MachineError, nearest

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

ERRORS = (EspError, SourceError, MachineError)
"""What the functions of the Python API raise beside TypeError, for ``except esp.ERRORS``."""

_FINDINGS = ("assumptions", "base", "impossible", "outcomes", "prediction", "problems", "ranked", "warnings")
"""Fields of results that hold findings, or results that do."""

_UNKNOWN = re.compile(r"‹set (\w+)›: (.*)", re.DOTALL)
_OPTION = re.compile(r"--([a-z][a-z-]*)")


def in_python(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """A function of the API: its `**options` may be options of `esp.predict` or names of the program."""

    @wraps(function)
    def called(*args: Given.args, **keywords: Given.kwargs) -> Returned:
        try:
            return cast(Returned, respelled(function(*args, **keywords)))
        except SourceError as error:
            if unknown := _unknown(error.diagnostics, keywords):
                name, why, hint = unknown
                hint = nearest(name, _arguments(function)) if _near(name, function) else _spelled(hint)
                told = f"{function.__name__}() has no argument {name!r}, and {why}"
                raise TypeError(f"{told} ({hint})" if hint else told) from None
            error.diagnostics = respelled(error.diagnostics)
            error.args = ("\n".join(map(str, error.diagnostics)),)
            raise
        except MachineError as error:
            error.findings = respelled(error.findings)
            error.message, error.hint = error.findings[0].message, error.findings[0].hint
            error.args = ("\n".join(map(str, error.findings)),)
            raise
        except EspError as error:
            error.what, error.where, error.why, error.hint = (
                _OPTION.sub(lambda found: found[1].replace("-", "_"), each)
                for each in (error.what, error.where, error.why, error.hint)
            )
            error.args = (error.what,)
            raise

    return called


def _unknown(found: Iterable[Diagnostic], keywords: Iterable[str]) -> tuple[str, str, str] | None:
    """A keyword that the program has no name for, what is said of it, and the hint."""
    given = {name.lower(): name for name in keywords}
    for each in found:
        told = _UNKNOWN.fullmatch(each.message)
        if each.code == "E301" and told and told[1].lower() in given:
            return given[told[1].lower()], told[2], each.hint
    return None


def _arguments(function: Callable[..., object]) -> list[str]:
    both = (*signature(function).parameters.values(), *signature(requested).parameters.values())
    return list(dict.fromkeys(each.name for each in both if each.kind is not Parameter.VAR_KEYWORD))


def _near(name: str, function: Callable[..., object]) -> bool:
    return nearest(name, _arguments(function)).startswith("did you mean")


def respelled(found: Any) -> Any:
    """A result, or findings, in which parameters are spelled as Python does."""
    match found:
        case Diagnostic():
            return replace(
                found,
                message=_spelled(found.message),
                hint=_spelled(found.hint),
                span=replace(found.span, file=_spelled(found.span.file)),
            )
        case Finding():
            return replace(found, message=_spelled(found.message), hint=_spelled(found.hint))
        case Assumption():
            return replace(found, text=_spelled(found.text))
        case tuple():
            return tuple(respelled(each) for each in found)
        case Struct():
            names = [name for name in found.__struct_fields__ if name in _FINDINGS]
            return replace(found, **{name: respelled(getattr(found, name)) for name in names}) if names else found
        case _:
            return found


def _spelled(text: str) -> str:
    """``set n=4`` as ``n=4``; other parameters have the names of arguments."""
    return with_parameters(text, lambda name, value: value or name if name == "set" else f"{name} {value}".rstrip())
