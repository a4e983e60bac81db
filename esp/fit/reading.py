"""Files of measured runs, in whichever form they are."""

from pathlib import Path

from esp.fit.extra_p import is_extra_p, parse_extra_p
from esp.fit.runs import MeasuredRun, parse_runs
from esp.fit.tables import text_of


def read_runs(file: str | Path) -> tuple[MeasuredRun, ...]:
    """Read a table of runs: CSV, or the JSON Lines of Extra-P.

    Raises:
        UnreadableFileError: it cannot be read, or is not as docs/fit_runs.md says; with the line.
    """
    text = text_of(file, "table of runs")
    return (parse_extra_p if is_extra_p(text) else parse_runs)(text, str(file))
