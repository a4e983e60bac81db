"""Why there is no result, as a person reads it."""

from aag import diagnostics as found
from aag.diagnostics import SourceError, UnresolvedError
from esp.output import diagnostics
from esp.output.screen import Screen
from esp.tui.question import Failure
from esp.visible import visible
from sag.errors import MachineError

_WIDE = Screen(76)


def failure(error: Exception, lines: tuple[str, ...] = ()) -> Failure:
    """The text of an error, and the first place in a program that it names. `lines`: of the program."""
    match error:
        case UnresolvedError():
            reasons = tuple(visible(f"{each.span}: {each.message}") for each in error.missing.values())
            return Failure(text=_text(error, lines), names=tuple(error.missing), reasons=reasons, place=_place(error))
        case SourceError():
            return Failure(text=_text(error, lines), place=_place(error))
        case MachineError():
            return Failure(text=diagnostics.several(diagnostics.machine_finding(e, _WIDE) for e in error.findings))
        case _:
            return Failure(text=str(error))


def _text(error: SourceError, lines: tuple[str, ...]) -> str:
    shown = [diagnostics.diagnostic(each, _WIDE, lines) for each in error.diagnostics]
    return "\n".join([f"{len(shown)} errors:", *shown] if len(shown) > 1 else shown)


def _place(error: SourceError) -> found.Span:
    return next((each.span for each in error.diagnostics if each.span.line), found.NOWHERE)
