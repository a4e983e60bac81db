"""Errors to text and exit code; imported only when something went wrong."""

import platform
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from aag.diagnostics import SourceError
from esp.cli.console import screen_for
from esp.errors import EspError, PredictionError, UsageError
from esp.incomplete import IncompleteError
from esp.output import diagnostics
from esp.output.screen import Screen, flow
from esp.version import __version__
from esp.writing import put
from sag.errors import MachineError

_MOST_FINDINGS = 10
"""More errors than anybody corrects before the next run."""


def report(error: Exception, words: Sequence[str]) -> int:
    """Say on standard error what went wrong.

    Returns:
        The exit code (Def 20).
    """
    screen = screen_for(sys.stderr, _colour(words))
    if "--debug" in words:
        put(sys.stderr, "".join(traceback.format_exception(error)))
    text, code = describe(error, screen, words)
    put(sys.stderr, text + "\n")
    return code


def describe(error: Exception, screen: Screen, words: Sequence[str] = ()) -> tuple[str, int]:
    """The text for an error, and its exit code."""
    match error:
        case IncompleteError() if error.findings:
            findings = diagnostics.together(error.findings)
            shown = [diagnostics.diagnostic(each, screen, error.lines) for each in findings]
            short = PredictionError("the prediction is incomplete.", where=error.where, hint=error.hint)
            return "\n".join([*shown, diagnostics.error(short, screen)]), error.exit_code
        case EspError():
            return diagnostics.error(error, screen), error.exit_code
        case SourceError():
            shown = [diagnostics.diagnostic(each, screen) for each in error.diagnostics[:_MOST_FINDINGS]]
            return _counted(shown, len(error.diagnostics)), _code(error)
        case MachineError():
            shown = [diagnostics.machine_finding(each, screen) for each in error.findings[:_MOST_FINDINGS]]
            # What no file is to blame for was given as an option, and so was a budget.
            return _counted(shown, len(error.findings)), getattr(error, "exit_code", 1 if error.file else 2)
        case MemoryError():
            text = "this computer does not have enough memory."
            return diagnostics.error(EspError(text, hint="Try fewer processors or scenarios."), screen), 1
        case OSError():
            what = EspError(f"{error.strerror or error}.", where=str(error.filename or ""))
            return diagnostics.error(what, screen), 2
        case _:
            return _bug(error, screen, words), 1


def _code(error: SourceError) -> int:
    """Of findings about options alone, such as a grid that does not fit, it is that of a wrong option; what is wrong
    with the program would remain without them."""
    of_options = [each.span.is_option or each.message.startswith("‹") for each in error.diagnostics]
    return UsageError.exit_code if of_options and all(of_options) else EspError.exit_code


def _counted(shown: list[str], of_them: int) -> str:
    if of_them == 1:
        return shown[0]
    more = f" (the first {len(shown)} are shown)" if of_them > len(shown) else ""
    return "\n".join([*shown, f"{of_them} errors{more}"])


def _bug(error: Exception, screen: Screen, words: Sequence[str]) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    what = " ".join(str(error).split())[:200]
    system = f"esp {__version__}, Python {platform.python_version()}, {platform.system()}"
    text = (
        f"esp: this is a bug in esp, not in your program: {type(error).__name__}{where}: {what}. "
        f"Please report this line, the program, and the command `esp {' '.join(words)}` ({system}); "
        "with --debug it also prints a traceback."
    )
    return flow(text.split(), screen.columns, " ", "     ")


def _colour(words: Sequence[str]) -> str:
    """The choice of --color, also where the options could not be read."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--color="):
            return word.removeprefix("--color=")
        if word == "--color":
            return following
    return "auto"
