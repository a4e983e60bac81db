"""Isospeed scalability as a table, JSON and CSV."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from esp.explore.scaling import FittedRate, FittedSize, MeasuredSize, Scaling
from esp.explore.scaling_predicted import PredictedRun
from esp.output.cells import rows_as_csv
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import flop_rate, listed, plural, seconds, significant
from esp.output.screen import Screen, flow, paragraph

_PREDICTED = ("size", "work", "overhead_s", "speed", "psi", "kept", "predictions")
_MEASURED = ("size", "work", "time_s", "speed", "psi", "kept", "runs")
_FITTED = ("size", "work", "time_s", "overhead_s", "speed", "psi", "kept", "known")
_PSI = "work for each of p processors over that for each of q: 1 where it need not grow"


def scaling_text(found: Scaling, screen: Screen, next_: str = "") -> str:
    """What is kept, the sizes, and what limits them. `next_`: the command to try now."""
    name = found.parameter
    columns = [
        Column("procs"),
        Column(name),
        Column("time"),
        Column("work (flop)"),
        Column("each processor"),
        Column(f"psi({found.runs[0].processors if found.runs else 'p'},p)"),
        Column("psi(step)"),
        Column("T/psi"),
        Column("", "<"),
    ]
    rows = [
        TableRow(
            (
                str(each.processors),
                f"{each.size:,}",
                seconds(each.time_s),
                significant(each.work),
                flop_rate(each.speed),
                _psi(each.psi),
                _psi(each.step),
                seconds(each.scaled_time_s),
                "does not fit" if each.fits is False else "",
            )
        )
        for each in found.runs
    ]
    head = screen.paint("strong", flow([found.file, found.system, f"{name} free"], screen.columns))
    blocks = [f"{head}\n{fill(sentence(found), screen.columns)}"]
    if rows:
        blocks.append(table(columns, rows, screen))
        blocks += [_by_overhead(found, screen)] if any(each.predicted for each in found.runs) else []
        blocks += [_by_rates(found, screen)] if found.rates else []
        blocks += [_by_runs(found, screen)] if any(each.measured for each in found.runs) else []
    notes = [paragraph("speed", f"{flop_rate(found.speed)} for each processor", screen.columns)]
    notes.append(paragraph("work", f"the flops of {found.work}", screen.columns))
    if found.runs:
        text = "the smallest size that keeps the speed, as the next 2 p sizes do"
        notes.append(paragraph(name, text, screen.columns))
    if len(found.runs) > 1:
        notes.append(paragraph("psi(p,q)", _PSI, screen.columns))
        text = f"time on {plural(found.runs[0].processors, 'processor')} over psi, the time by equation 4"
        notes.append(paragraph("T/psi", text, screen.columns))
    if found.rate is not None and found.tol is not None:
        text = f"{flop_rate(1 / found.rate)}, the speed of one processor alone"
        notes.append(paragraph("1/tau", text, screen.columns))
        notes.append(paragraph("eq. 2", _equation(found, found.rate, found.tol), screen.columns))
    else:
        text = "by a formula, without waiting and cache misses; sizes are those for which it is exact"
        notes.append(paragraph("times", text, screen.columns))
    if found.misfit is not None:
        where = listed([str(each) for each in found.fitted_on])
        rates = listed([_rate(each, found.system) for each in found.rates])
        text = f"{rates}, which fit {found.current:,} and {2 * found.current:,} on {where} processors within "
        text += f"{found.misfit:.1%}"
        notes.append(paragraph("rates", text, screen.columns))
    if any(each.measured for each in found.runs) and found.tol is not None:
        text = f"the program counts what it does, on a simulated machine without caches; within {100 * found.tol:.3g}%"
        notes.append(paragraph("runs", f"{text} of the speed", screen.columns))
    if found.missing:
        text = f"on {listed([str(each) for each in found.missing])} no {name} up to {found.most:,} keeps the speed"
        notes.append(paragraph("never", text, screen.columns))
    if next_:
        notes.append(paragraph("next", next_, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]) + "\n"


def _equation(found: Scaling, rate: float, tol: float) -> str:
    """What Equation 2 gives, or why it gives nothing."""
    if found.speed * rate >= 1:
        return "has no sizes: one processor alone is not faster than the speed to keep"
    if not any(each.predicted for each in found.runs):
        return "has no sizes: nothing is overhead, or work does not grow faster than it"
    text = f"a p T0/(1 - a tau): work for a speed a and an overhead T0, within {100 * tol:.3g}% of the speed"
    return text + (", - where it has no size" if not all(each.predicted for each in found.runs) else "")


def _psi(value: float) -> str:
    """A scalability with four decimals, or with two digits where it is small."""
    return f"{value:.4f}" if value >= 0.01 else f"{value:.2g}"


def _by_overhead(found: Scaling, screen: Screen) -> str:
    """The sizes by Equation 2, beside those above."""
    columns = [
        Column("procs"),
        Column(f"{found.parameter} by eq. 2"),
        Column("overhead"),
        Column("each processor"),
        Column("psi"),
        Column("predictions"),
        Column("", "<"),
    ]
    rows = []
    for each in found.runs:
        one = each.predicted
        if one is None:
            rows.append(TableRow((str(each.processors), "-", "-", "-", "-", "-", "")))
            continue
        beyond = "" if one.kept else f"{abs(one.speed / found.speed - 1):.1%} off"
        rows.append(
            TableRow(
                (
                    str(each.processors),
                    f"{one.size:,}",
                    seconds(one.overhead_s),
                    flop_rate(one.speed),
                    _psi(one.psi),
                    str(one.predictions),
                    beyond,
                )
            )
        )
    return table(columns, rows, screen)


def _rate(rate: FittedRate, system: str) -> str:
    """What something takes."""
    if rate.what == "flop":
        return f"{seconds(rate.value)} for a flop{'' if rate.level else ' on data in the cache'}"
    which = f"messages of distance {rate.level + 1}" if rate.level else "messages"
    return f"{which} {significant(rate.value)} times as long as {system} has them"


def _by_rates(found: Scaling, screen: Screen) -> str:
    """The sizes by fitted rates, beside those above."""
    columns = [
        Column("procs"),
        Column(f"{found.parameter} by fit"),
        Column("time"),
        Column("overhead"),
        Column("each processor"),
        Column("psi"),
        Column("", "<"),
    ]
    rows = []
    for each in found.runs:
        one = each.fitted
        if one is None:
            rows.append(TableRow((str(each.processors), "-", "-", "-", "-", "-", "")))
            continue
        off = "" if one.kept else f"{abs(one.speed / found.speed - 1):.1%} off"
        unlike = "" if one.known else "unlike the runs"
        cells = (f"{one.size:,}", seconds(one.time_s), seconds(one.overhead_s), flop_rate(one.speed), _psi(one.psi))
        rows.append(TableRow((str(each.processors), *cells, ", ".join(filter(None, (off, unlike))))))
    return table(columns, rows, screen)


def _by_runs(found: Scaling, screen: Screen) -> str:
    """The sizes by runs, beside those above."""
    columns = [
        Column("procs"),
        Column(f"{found.parameter} by runs"),
        Column("time"),
        Column("each processor"),
        Column("psi"),
        Column("runs"),
        Column("", "<"),
    ]
    rows = [
        TableRow(
            (
                str(each.processors),
                f"{one.size:,}",
                seconds(one.time_s),
                flop_rate(one.speed),
                _psi(one.psi),
                str(one.runs),
                "" if one.kept else f"{abs(one.speed / found.speed - 1):.1%} off",
            )
        )
        for each in found.runs
        if (one := each.measured) is not None
    ]
    return table(columns, rows, screen)


def sentence(found: Scaling) -> str:
    """By how much the problem must grow."""
    if len(found.runs) < 2:
        if not found.missing:
            (one,) = found.runs
            return (
                f"On {plural(one.processors, 'processor')} alone there is nothing to compare: give more with --procs."
            )
        text = f"No larger system keeps {flop_rate(found.speed)} on each processor"
        if found.runs and found.runs[0].processors == 1:
            return f"{text}: one processor sends no messages. Begin with 2, or give a lower --speed."
        return f"{text}: give a lower --speed."
    low, high = found.runs[0], found.runs[-1]
    if low.size == high.size == 1:
        return f"Even the smallest size keeps {flop_rate(found.speed)} on each processor: give a higher --speed."
    return (
        f"To keep {flop_rate(found.speed)} on each processor, {found.parameter} must grow from {low.size:,} on "
        f"{plural(low.processors, 'processor')} to {high.size:,} on {high.processors:,}: "
        f"psi({low.processors},{high.processors}) = {high.psi:.3g}, as each processor then has "
        f"{significant(1.0 / high.psi)} times the work."
    )


def scaling_rows(found: Scaling) -> list[dict[str, object]]:
    """One row for each number of processors."""
    return [
        {
            "processors": each.processors,
            "size": each.size,
            "time_s": each.time_s,
            "work": each.work,
            "speed": each.speed,
            "psi": each.psi,
            "psi_step": each.step,
            "scaled_time_s": each.scaled_time_s,
            "fits": each.fits,
            **_cells("predicted", each.predicted, _PREDICTED),
            **_cells("measured", each.measured, _MEASURED),
            **_cells("fitted", each.fitted, _FITTED),
        }
        for each in found.runs
    ]


def _cells(kind: str, one: PredictedRun | MeasuredSize | FittedSize | None, names: Sequence[str]) -> dict[str, object]:
    return {f"{kind}_{name}": None if one is None else getattr(one, name) for name in names}


def scaling_csv(found: Scaling) -> str:
    """A line for each number of processors."""
    return rows_as_csv(scaling_rows(found))


def scaling_json(found: Scaling) -> str:
    """The JSON text; docs/json_other.md describes its fields."""
    from esp.output.json import text_of

    told: dict[str, Any] = {
        "file": found.file,
        "system": found.system,
        "parameter": found.parameter,
        "speed": found.speed,
        "work": found.work,
        "rate": found.rate,
        "tol": found.tol,
        "by": found.by,
        "most": found.most,
        "rates": [{"what": each.what, "level": each.level, "value": each.value} for each in found.rates],
        "fitted_on": list(found.fitted_on),
        "misfit": found.misfit,
        "runs": scaling_rows(found),
        "missing": list(found.missing),
    }
    return text_of(told)
