"""`esp fit`: a machine fitted to runs as text, JSON and rows."""

from statistics import median
from typing import Any

import numpy as np

from esp.fit.fitting import FittedMachine, FittedRun, RunForecast
from esp.fit.student import CONFIDENCE
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import listed, percent, plural, seconds, significant
from esp.output.screen import Screen, paragraph, printable
from esp.quantities import ABOUT, kind_of

OUTLIER = 3.0
"""Standard deviations from which on a run is named as an outlier."""
FAR = 20.0
"""How many times faster or slower than described a machine may be without a question."""
LARGE = 0.25
"""Relative error of a run from which on the fit explains nothing."""
REPEATED = 1.5
"""Factor by which runs with the same sizes and processors may differ."""
_UNSURE = 2.0
"""Factor between the ends of an interval and its middle from which on the runs say little of a quantity."""
_NAMED = 3
"""Outliers, and influential runs, that are named."""


def fit_text(found: FittedMachine, screen: Screen, next_: str = "") -> str:
    """What the runs say, how good it is, and what follows. `next_`: the command to try now."""
    width = screen.columns
    names = listed([printable(each.rsplit("/", 1)[-1]) for each in found.programs])
    head = f"{plural(len(found.runs), 'run')} of {names}  {found.system.name}"
    blocks = [f"{screen.paint('strong', head)}\n{paragraph('', _sentence(found), width, 0).strip()}"]
    blocks.append(_quantities(found, screen))
    if found.forecasts:
        blocks.append(_forecasts(found.forecasts, screen))
    notes = [paragraph("error", _error(found), width), paragraph("checked", _validated(found), width)]
    notes += [paragraph("outlier", each, width) for each in _outliers(found)]
    notes += [paragraph("decides", each, width) for each in _influential(found)]
    little = [each.name for each in found.quantities if each.high > _UNSURE * each.factor]
    if little:
        text = f"the runs say little of {listed(little)}: measure runs in which they take more of the time"
        notes.append(paragraph("little", text, width))
    for each in doubts(found):
        notes.append(screen.paint("warm", paragraph("doubtful", each, width)))
    notes += [paragraph("assumed", each, width) for each in found.assumed[:_NAMED]]
    if found.without:
        notes.append(paragraph("unused", f"{listed(list(found.without))}: no run depends on them", width))
    if next_:
        notes.append(paragraph("next", next_, width))
    return "\n\n".join([*blocks, "\n".join(notes)]) + "\n"


def is_poor(found: FittedMachine) -> bool:
    """Whether the fit does not explain the runs."""
    return found.factors.error * found.factors.widening > LARGE


def doubts(found: FittedMachine) -> list[str]:
    """What looks as if the table were not of this program, this machine or these units."""
    said = []
    ratio = median(each.run.time_s / each.described_s for each in found.runs)
    if not 1 / FAR < ratio < FAR:
        times = f"{significant(max(ratio, 1 / ratio))} times {'longer' if ratio > 1 else 'shorter'}"
        text = f"runs take {times} than on {found.system.name}: is the unit of the times right, and --system?"
        said.append(text)
    if is_poor(found):
        text = "the fit does not explain the runs: is a column of the table missing, or other work in the runs?"
        said.append(text)
    same: dict[str, list[float]] = {}
    for each in found.runs:
        same.setdefault(each.run.label, []).append(each.run.time_s)
    label, times_s = max(same.items(), key=lambda pair: max(pair[1]) / min(pair[1]))
    if max(times_s) > REPEATED * min(times_s):
        factor = significant(max(times_s) / min(times_s))
        said.append(f"runs with {label} differ by a factor of {factor}: is a column with a size missing?")
    return said


def _off(found: FittedMachine, *, described: bool) -> float:
    """Root of the mean square of the relative errors."""
    times = np.array([each.described_s if described else each.fitted_s for each in found.runs])
    measured = np.array([each.run.time_s for each in found.runs])
    return float(np.sqrt(np.mean((times / measured - 1.0) ** 2)))


def _sentence(found: FittedMachine) -> str:
    text = f"The fitted times are {percent(_off(found, described=False))} off the measured ones on average"
    return f"{text}; with {found.system.name} as it was they are {percent(_off(found, described=True))} off."


def _quantities(found: FittedMachine, screen: Screen) -> str:
    columns = [Column("quantity", "<"), Column("factor"), Column("95% between"), Column("of time")]
    rows = [
        TableRow(
            (
                each.name,
                significant(each.factor),
                f"{significant(each.low)} and {significant(each.high)}",
                percent(each.share),
                ABOUT[kind_of(each.name)],
            )
        )
        for each in found.quantities
    ]
    return table([*columns, Column("of which parameters", "<")], rows, screen, flexible=True)


def _forecasts(forecasts: tuple[RunForecast, ...], screen: Screen) -> str:
    columns = [Column("run", "<"), Column("unfitted"), Column("fitted"), Column("95% between")]
    rows = [
        TableRow(
            (
                each.run.label,
                seconds(each.described_s),
                seconds(each.time_s),
                f"{seconds(each.low_s)} and {seconds(each.high_s)}",
            )
        )
        for each in forecasts
    ]
    return table(columns, rows, screen)


def _error(found: FittedMachine) -> str:
    error = f"a run differs from its fitted time by {percent(found.factors.error)} (standard deviation)"
    return f"{error}; uncentred R^2 {found.explained:.5f}"


def _validated(found: FittedMachine) -> str:
    """What the runs say of predictions of other runs."""
    made = found.factors.validations
    if not made:
        return "nothing: there are runs on one number of processors only"
    texts = []
    for kind, name in (("procs", "number of processors"), ("program", "program")):
        own = [each for each in made if each.kind == kind]
        if own:
            worst = max(own, key=lambda each: max(map(abs, each.errors)))
            most = percent(max(map(abs, worst.errors)))
            left = f"{worst.left} processors" if kind == "procs" else printable(worst.left)
            texts.append(f"each {name} predicted from the others: {most} off at most ({left})")
    wide = found.factors.widening
    texts.append("intervals hold" if wide < 1.005 else f"intervals are {significant(wide)} times as wide for that")
    return "; ".join(texts)


def _outliers(found: FittedMachine) -> list[str]:
    far = [each for each in found.runs if abs(each.studentised) > OUTLIER]
    far.sort(key=lambda each: -abs(each.studentised))
    return [f"{_where(each)} takes {_more(each)} than fitted; it is not left out" for each in far[:_NAMED]]


def _influential(found: FittedMachine) -> list[str]:
    """Runs without which the fit would be another one: a Cook's distance above 1."""
    far = sorted((each for each in found.runs if each.influence > 1.0), key=lambda each: -each.influence)
    return [f"{_where(each)} decides much of the fit: measure runs like it" for each in far[:_NAMED]]


def _where(each: FittedRun) -> str:
    return f"line {each.run.line}: {printable(each.run.label)}"


def _more(each: FittedRun) -> str:
    return f"{percent(abs(each.residual))} {'longer' if each.residual > 0 else 'less'}"


def fit_json(found: FittedMachine) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    factors = found.factors
    return {
        "system": found.system.name,
        "programs": list(found.programs),
        "timed": found.timed,
        "confidence": CONFIDENCE,
        "error": factors.error,
        "free": factors.free,
        "widening": factors.widening,
        "explained": found.explained,
        "quantities": [
            {
                "name": each.name,
                "factor": each.factor,
                "low": each.low,
                "high": each.high,
                "known": each.learnt,
                "share": each.share,
                "figures": list(each.paths),
            }
            for each in found.quantities
        ],
        "covariance": [[float(cell) for cell in row] for row in factors.covariance],
        "without": list(found.without),
        "runs": fit_rows(found),
        "forecasts": [
            {
                "program": each.run.program,
                "processors": each.run.processors,
                "values": dict(each.run.values),
                "described_s": each.described_s,
                "time_s": each.time_s,
                "low_s": each.low_s,
                "high_s": each.high_s,
            }
            for each in found.forecasts
        ],
        "validations": [
            {"kind": each.kind, "left": each.left, "errors": list(each.errors), "spread": each.spread}
            for each in factors.validations
        ],
    }


def fit_rows(found: FittedMachine) -> list[dict[str, Any]]:
    """One row for each run."""
    return [
        {
            "line": each.run.line,
            "run": each.run.label,
            "processors": each.run.processors,
            "time_s": each.run.time_s,
            "fitted_s": each.fitted_s,
            "described_s": each.described_s,
            "residual": each.residual,
            "studentised": each.studentised,
            "influence": each.influence,
        }
        for each in found.runs
    ]
