"""`esp sensitivity`: what each parameter of the machine decides, as text, JSON and rows."""

from collections.abc import Sequence
from typing import Any

from esp.explore.sensitivity import ParameterSensitivity, SensitiveRun, Sensitivity
from esp.output.columns import Column, TableRow, table
from esp.output.figures import main_constants
from esp.output.numbers import listed, percent, plural, seconds, significant
from esp.output.profile import asked_for, assumed_notes
from esp.output.screen import Screen, flow, paragraph, printable
from esp.quantities import ABOUT
from esp.stated import meeting

SHOWN = 10
"""Parameters of the last run that a screen shows."""
_LEAST = 0.005
"""Share from which a group has a column."""
_NAMED = 3
"""Groups that the sentence names."""


def sensitivity_text(found: Sensitivity, screen: Screen, next_: str = "", *, every: bool = False) -> str:
    """What decides the time. `next_`: the command to try now; `every`: all parameters of the last run."""
    width = screen.columns
    last = found.runs[-1]
    name = printable(found.file.rsplit("/", 1)[-1]) + (" (bundled)" if found.prediction.bundled else "")
    fixed = "" if found.parameter else main_constants(found.prediction)
    head = flow(filter(None, [name, found.system, fixed]), width)
    above = [screen.paint("strong", head), *asked_for(found.prediction, screen)]
    above.append(screen.paint("strong", flow(sentence(last).split(), width, " ", "     ")))
    notes = [paragraph("groups", "the share of the time that the parameters of a group decide together", width)]
    if every:
        notes += [paragraph("", f"{each}: {ABOUT[each]}", width) for each in _groups(found)]
    text = "by how many seconds the time grows for each second that the parameter does (bytes for a time per byte)"
    notes.append(paragraph("times", text, width))
    notes.append(paragraph("at half", "the time with half the parameter", width))
    if abs(last.rest) >= _LEAST:
        text = f"{percent(last.rest)} of the time depends on no parameter, such as a time given for a call"
        if meeting(found.prediction):
            off = percent(abs(last.rest))
            text = f"the shares are {off} off together, as messages that meet do so in another order"
        notes.append(paragraph("rest", text, width))
    bent = [each.path for each in last.parameters[:SHOWN] if each.is_kink]
    if bent:
        verb = "has another influence" if len(bent) == 1 else "have another influence"
        text = f"{listed(bent)} {verb} if slower than if faster: the share is the mean"
        notes.append(paragraph("kinks", text, width))
    notes += assumed_notes([found.prediction], width)
    if next_:
        notes.append(paragraph("next", next_, width))
    blocks = ["\n".join(above), _runs(found, screen), _parameters(last, screen, every=every), "\n".join(notes)]
    return "\n\n".join(blocks) + "\n"


def sentence(run: SensitiveRun) -> str:
    """``1.03 s on 8 processors: operations decide 55% of it, misses 20% and loops 13%``."""
    most = sorted(run.quantities.items(), key=lambda each: -each[1])[:_NAMED]
    first, *more = [each for each in most if each[1] >= _LEAST] or most[:1]
    parts = [f"{first[0]} decide {percent(first[1])} of it", *(f"{name} {percent(share)}" for name, share in more)]
    return f"{seconds(run.time_s)} on {plural(run.processors, 'processor')}: {listed(parts)}"


def _groups(found: Sensitivity) -> list[str]:
    """The groups that decide something in some run."""
    return [each for each in ABOUT if any(abs(run.quantities.get(each, 0.0)) >= _LEAST for run in found.runs)]


def _runs(found: Sensitivity, screen: Screen) -> str:
    groups = _groups(found)
    sized = [Column(found.parameter, width=5)] if found.parameter else []
    columns = [Column("procs", width=5), *sized, Column("time", width=8), *(Column(each, gap=1) for each in groups)]
    rows = []
    for run in found.runs:
        size = [f"{run.size:,}"] if sized else []
        shares = [share(run.quantities.get(each, 0.0)) for each in groups]
        rows.append(TableRow((str(run.processors), *size, seconds(run.time_s), *shares)))
    return table(columns, rows, screen)


def _parameters(run: SensitiveRun, screen: Screen, *, every: bool) -> str:
    shown = run.parameters if every else run.parameters[:SHOWN]
    width = max((len(each.path) for each in shown), default=0)
    columns = [
        Column("parameter", "<", width=width),
        Column("value", width=8),
        Column("times", width=9, gap=1),
        Column("share", width=5, gap=1),
        Column("at half", width=8),
    ]
    rows = [
        TableRow((each.path, value(each), _times(each, run), share(each.elasticity), seconds(each.halved_s)))
        for each in shown
    ]
    more = len(run.parameters) - len(shown)
    note = f"\nand {more} more (--all shows them)" if more else ""
    return table(columns, rows, screen) + note


def share(value: float) -> str:
    """An elasticity in percent."""
    return "-" if value == 0 else percent(value)


def _is_per_byte(path: str) -> bool:
    return path.endswith("per_byte")


def value(each: ParameterSensitivity) -> str:
    """The value of a parameter with its unit."""
    if each.is_rate:
        return f"{significant(each.value)}/s"
    return seconds(each.value) + ("/B" if _is_per_byte(each.path) else "")


def _times(each: ParameterSensitivity, run: SensitiveRun) -> str:
    if each.is_rate:
        return "-"
    often = each.derivative(run.time_s)
    return f"{often:,.0f}" if often >= 100 else significant(often)


def sensitivity_json(found: Sensitivity) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    return {
        "file": found.file,
        "system": found.system,
        "parameter": found.parameter,
        "timed": found.timed,
        "runs": [_run_json(each) for each in found.runs],
    }


def _run_json(run: SensitiveRun) -> dict[str, Any]:
    return {
        "processors": run.processors,
        "size": run.size,
        "time_s": run.time_s,
        "groups": dict(sorted(run.quantities.items())),
        "rest": run.rest,
        "parameters": [
            {
                "path": each.path,
                "group": each.quantity,
                "value": each.value,
                "elasticity": each.elasticity,
                "slower": each.slower,
                "faster": each.faster,
                "derivative": each.derivative(run.time_s),
                "halved_s": each.halved_s,
            }
            for each in run.parameters
        ],
    }


def sensitivity_rows(found: Sensitivity) -> Sequence[dict[str, Any]]:
    """One row for each parameter of each run."""
    return [
        {"processors": run.processors, **({found.parameter: run.size} if found.parameter else {}), "time_s": run.time_s}
        | {"path": each.path, "group": each.quantity, "value": each.value, "elasticity": each.elasticity}
        | {"derivative": each.derivative(run.time_s), "halved_s": each.halved_s}
        for run in found.runs
        for each in run.parameters
    ]
