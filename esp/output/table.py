"""One program on several numbers of processors: time, speed-up, efficiency."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from aag.diagnostics import Diagnostic
from esp.output.columns import Column, TableRow, table
from esp.output.figures import grid, main_constants, not_fitting
from esp.output.numbers import count, data, percentages, plural, seconds, significant
from esp.output.partial import partial_notes
from esp.output.profile import asked_for, assumed_notes
from esp.output.screen import Screen, flow, paragraph, printable
from esp.prediction import CATEGORIES, Prediction, first, four
from sag.figures import cache_of

_ABOVE = 1.005
"""From this efficiency on it is shown as more than 100 %."""


def speed_up(predictions: Sequence[Prediction], one: Prediction | None = None) -> tuple[tuple[float, float], ...]:
    """Speed-up and efficiency of each against one processor: `one`, or the prediction among them.

    Where there is none, against the fewest processors, whose own efficiency counts as 1.
    """
    base = _base(predictions, one)
    base_s = first(base.time_s) * base.processors
    told = []
    for each in predictions:
        time_s = first(each.time_s)
        ratio = base_s / time_s if time_s > 0 else 0.0
        told.append((ratio, ratio / each.processors))
    return tuple(told)


def _base(predictions: Sequence[Prediction], one: Prediction | None) -> Prediction:
    return min((*predictions, *([] if one is None else [one])), key=lambda each: each.processors)


def compared_with(predictions: Sequence[Prediction], one: Prediction | None = None) -> str:
    """What speed-up is against."""
    base = _base(predictions, one).processors
    if base == 1:
        return "against 1 processor; efficiency is speed-up / processors"
    return f"against {base} processors, which count as {base}, as 1 has no prediction"


def above_perfect(predictions: Sequence[Prediction], one: Prediction | None = None) -> str:
    """Why the best efficiency is above 100 %; nothing where it is not: which part of the time takes less on all
    processors together than on those that the speed-up is against."""
    ratios = speed_up(predictions, one)
    (ratio, efficiency), many = max(zip(ratios, predictions, strict=True), key=lambda each: each[0][1])
    few = _base(predictions, one)
    if efficiency < _ABOVE or not all(each.complete for each in predictions):
        return ""

    def all_s(mean_s: Callable[[Prediction], float]) -> tuple[float, float]:
        return many.processors * mean_s(many), few.processors * mean_s(few)

    spent = {name: all_s(partial(_part_s, at)) for at, name in enumerate(CATEGORIES)}
    what = max(spent, key=lambda name: spent[name][1] - spent[name][0])
    (now_s, before_s), (misses_s, missed_s) = spent[what], all_s(_misses_s)
    verb, reason = "takes", ""
    if missed_s - misses_s > (before_s - now_s) / 2:
        what, verb, now_s, before_s = "cache misses", "take", misses_s, missed_s
        reason = ". Smaller parts of the data fit the caches better"
    text = f"{significant(ratio)} is more than {many.processors}: {what} {verb} {seconds(now_s)} on all"
    return f"{text} {many.processors} processors together, and {seconds(before_s)} on {few.processors}{reason}"


def _part_s(category: int, prediction: Prediction) -> float:
    return four(prediction.parts)[category]


def _misses_s(prediction: Prediction) -> float:
    """What cache misses take, mean over processors."""
    counts = prediction.counts.of(tuple(each.id for each in prediction.aaus))
    return sum(first(each.time_s) for each in counts if cache_of(each.figure.unit))


def scaling(
    predictions: Sequence[Prediction],
    screen: Screen,
    *,
    following: str = "",
    impossible: Mapping[int, Diagnostic] | None = None,
    one: Prediction | None = None,
) -> str:
    """The table of ``--procs 1,2,4,8``; `impossible`: number of processors -> why there is no prediction; `one`: what
    speed-up is against."""
    sample = predictions[0]
    name = printable(sample.file.rsplit("/", 1)[-1]) + (" (bundled)" if sample.bundled else "")
    head = flow(filter(None, [name, sample.system, main_constants(sample)]), screen.columns)
    columns = [
        Column("procs", width=5),
        Column("grid", width=5),
        Column("time", width=8),
        Column("speed-up", width=8),
        Column("efficiency", width=10),
        Column("comp", width=4),
        Column("comm", width=4, gap=1),
        Column("wait", width=4, gap=1),
        Column("ovhd", width=4, gap=1),
        Column("msgs", width=5),
        Column("bytes", width=7, gap=1),
    ]
    if screen.columns < 80:
        columns[3:5] = [Column("speed", width=5), Column("eff", width=4, gap=1)]
        del columns[1]
        del columns[-1]
    rows = []
    marked = not all(each.fits for each in predictions)
    fastest = min((first(each.time_s) for each in predictions if each.fits), default=0.0)
    for each, (ratio, efficiency) in zip(predictions, speed_up(predictions, one), strict=True):
        cells = [
            f"{each.processors}{' ' if each.fits else '!'}" if marked else str(each.processors),
            grid(each.grid) or "-",
            seconds(first(each.time_s)),
            significant(ratio),
        ]
        cells += [f"{100 * efficiency:.0f}%", *(f"{share}%" for share in percentages(four(each.parts)))]
        cells += [count(each.messages), data(each.bytes)]
        if screen.columns < 80:
            del cells[1]
            del cells[-1]
        role = "warm" if not each.fits else "good" if first(each.time_s) == fastest else ""
        rows.append(TableRow(tuple(cells), role))
    refused = impossible or {}
    rows += [TableRow((f"{number}{' ' * marked}", *["-"] * (len(columns) - 1)), "faint") for number in refused]
    if refused:
        rows.sort(key=lambda row: int(row.cells[0].rstrip("! ")))
    above = [screen.paint("strong", head), *asked_for(sample, screen), *partial_notes(predictions, screen)]
    blocks = ["\n".join(above), table(columns, rows, screen)]
    notes = [paragraph("speed-up", compared_with(predictions, one), screen.columns)]
    if beyond := above_perfect(predictions, one):
        notes.append(paragraph("speed-up", beyond, screen.columns))
    for number, why in refused.items():
        reason = f"impossible: {why.code} {why.message}" + (f" (line {why.span.line})" if why.span.line else "")
        notes.append(screen.paint("warm", paragraph(plural(number, "proc"), reason, screen.columns)))
    if over := not_fitting(predictions):
        notes.append(screen.paint("warm", paragraph("!", over, screen.columns)))
    notes += assumed_notes(predictions, screen.columns)
    if following:
        notes.append(paragraph("next", following, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]) + "\n"
