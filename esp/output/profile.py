"""The first screen of `esp run`: total, hot lines, why, and what the figure rests on."""

from collections.abc import Sequence

from esp.explore.interval import cheap, possible
from esp.output.assumptions import assumed
from esp.output.columns import Column, TableRow, table
from esp.output.figures import (
    grid,
    hottest_communication,
    hottest_first,
    input_output_s,
    is_end,
    line_source,
    lines_named,
    main_constants,
    memory_needed,
    not_fitting,
    options,
    place,
    placed,
    why,
    without_elements,
    without_rounding,
)
from esp.output.numbers import count, data, memory, percent, percentages, plural, seconds, seconds_as, significant
from esp.output.partial import partial_notes, time_shown
from esp.output.screen import Screen, flow, paragraph, printable
from esp.output.sureness import sure
from esp.prediction import CATEGORIES, Prediction, first, four, least_and_most
from interpreter.result import LineMetrics

HOT_LINES = 10
"""Lines shown before "and 37 more"."""

_WORTH_SAYING = 0.01
"""Share of the time from which input and output are mentioned."""

_WORTH_A_LINE = 0.001
"""Share of the time from which a line is shown rather than counted, beyond the first few."""

_FIRST_FEW = 3

_ROOM_FOR_MESSAGES = 100
"""Columns from which messages and bytes leave enough room for the source; `--line` shows them, too."""

WAITING = "waiting for the last processor"
"""In place of the END statement, where processors wait for each other."""


def profile(prediction: Prediction, screen: Screen, *, following: str = "") -> str:
    """The profile of a prediction, at most `screen.columns` wide.

    Args:
        prediction: what to show; its first scenario is shown.
        screen: width and colour.
        following: the next command worth typing.
    """
    blocks = [heading(prediction, screen), hot_lines(prediction, screen)]
    notes = footnotes(prediction, screen)
    if following:
        notes.append(paragraph("next", following, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]).rstrip() + "\n"


def heading(prediction: Prediction, screen: Screen) -> str:
    """What was predicted, for what machine, and the total with its four categories."""
    name = prediction.file.rsplit("/", 1)[-1] + (" (bundled)" if prediction.bundled else "")
    shape = f"({grid(prediction.grid)})" if prediction.grid else ""
    procs = f"{plural(prediction.processors, 'proc')} {shape}".rstrip()
    subject = [printable(name), procs, prediction.system, main_constants(prediction)]
    shares = percentages(four(prediction.parts))
    total = [f"{name} {share}%" for name, share in zip(CATEGORIES, shares, strict=True)]
    width = screen.columns
    lines = [
        screen.paint("strong", flow(filter(None, subject), width, indent="  ")),
        *asked_for(prediction, screen),
        *_which_scenario(prediction),
        screen.paint("strong", flow(answer(prediction).split(), width, " ", "     ")),
        flow(total, width, "   ", "     "),
        *partial_notes([prediction], screen),
        *memory_notes([prediction], screen),
        flow(_particulars(prediction), width, "   ", "     "),
    ]
    return "\n".join(lines)


def answer(prediction: Prediction) -> str:
    """One sentence: how long, on how many processors, what takes most of it, and which line."""
    time_s = first(prediction.time_s)
    text = f"{time_shown(prediction, seconds(time_s))} on {plural(prediction.processors, 'processor')}"
    shares = percentages(four(prediction.parts))
    hottest = next(iter(hottest_first(prediction.lines)), None)
    if hottest is None or not max(shares):
        return text
    text += f", {max(shares)}% {CATEGORIES[shares.index(max(shares))]}"
    waits = is_end(hottest, prediction)
    who = WAITING if waits else lines_named(hottest, prediction.file)
    verb = "takes" if waits or hottest.through <= hottest.line else "take"
    return f"{text}; {who} {verb} {_so_much(first(hottest.parts.time_s) / time_s)}"


def _so_much(share: float) -> str:
    return "half" if 0.48 <= share <= 0.52 else "nearly all" if share >= 0.99 else percent(share)


def _which_scenario(prediction: Prediction) -> list[str]:
    """That there are others than the one that is shown, where there are."""
    if prediction.scenarios == 1:
        return []
    low, high = least_and_most(prediction.time_s)
    return [f"{prediction.scenarios} scenarios, {seconds(low)} to {seconds(high)} (time_s); the first is shown"]


def asked_for(prediction: Prediction, screen: Screen) -> list[str]:
    """The line that says what is different from a plain run, where anything is."""
    given = [printable(each) for each in options(prediction.asked)]
    return [flow(["with", *given], screen.columns, "  ", "     ")] if given else []


def _particulars(prediction: Prediction) -> list[str]:
    told = []
    if prediction.timed_s is not None:
        told.append(f"timed region {seconds(first(prediction.timed_s))}")
    told.append(f"messages {count(prediction.messages)} ({data(prediction.bytes)})")
    if prediction.processors > 1:
        told.append(f"imbalance {significant(first(prediction.imbalance))}")
    one_s, waited_s = input_output_s(prediction)
    if one_s >= _WORTH_SAYING * first(prediction.time_s) > 0:
        where = " on 1 processor" if prediction.processors > 1 else ""
        waiting = f", {seconds(waited_s)} waiting at the end" if waited_s else ""
        told.append(f"I/O {seconds(one_s)}{where}{waiting}")
    return told


def hot_lines(prediction: Prediction, screen: Screen) -> str:
    """The table of the lines that take the time, the longest first."""
    ranked = hottest_first(prediction.lines)
    if not ranked:
        return "No line takes any time."
    least_s = _WORTH_A_LINE * first(prediction.time_s)
    worth = sum(1 for each in ranked if first(each.parts.time_s) >= least_s)
    many = min(HOT_LINES, max(worth, _FIRST_FEW))
    # One line too many is shown rather than counted: "and 1 more" would take as much room.
    shown = ranked if len(ranked) <= many + 1 else ranked[:many]
    text = line_table(prediction, shown, screen)
    rest = ranked[len(shown) :]
    if rest:
        left_s = sum(first(each.parts.time_s) for each in rest)
        left = seconds_as(left_s, first(ranked[0].parts.time_s))
        text += f"\nand {len(rest)} more, {left} together (--annotate shows all)"
    return text


def line_table(prediction: Prediction, lines: tuple[LineMetrics, ...], screen: Screen) -> str:
    """Time, categories, messages and source of each of the given lines."""
    total_s = first(prediction.time_s)
    wide = screen.columns >= _ROOM_FOR_MESSAGES
    bar = 0 if screen.columns < 72 else 16 if wide else 6
    columns = [Column("line", width=4), Column("time", width=7), Column("share", width=5)]
    columns += [Column("", "<", bar, gap=1)] if bar else []
    columns += [
        Column("comp", width=4, gap=1 if bar else 2),
        *(Column(name, width=4, gap=1) for name in ("comm", "wait", "ovhd")),
    ]
    columns += [Column("msgs", width=5), Column("bytes", width=7, gap=1)] if wide else []
    columns += [Column("source", "<")]
    times = [without_rounding(first(line.parts.time_s), total_s) for line in lines]
    longest_s = max(times, default=0.0)
    rows = []
    for line, time_s in zip(lines, times, strict=True):
        share = time_s / total_s if total_s > 0 else 0.0
        cells = [place(line, prediction.file), seconds_as(time_s, longest_s), percent(share) if time_s > 0 else ""]
        cells += ["#" * round(bar * share)] if bar else []
        cells += [f"{each}%" if time_s > 0 else "" for each in percentages(four(line.parts))]
        if wide:
            cells += [count(line.messages), data(line.bytes)] if line.messages else ["", ""]
        waits = is_end(line, prediction)
        cells += [WAITING if waits else printable(line_source(prediction, line))]
        rows.append(TableRow(tuple(cells), _heat(time_s, total_s)))
    return table(columns, rows, screen, flexible=True)


def _heat(time_s: float, total_s: float) -> str:
    share = time_s / total_s if total_s > 0 else 0.0
    return "hot" if share >= 0.5 else "warm" if share >= 0.1 else ""


def footnotes(prediction: Prediction, screen: Screen) -> list[str]:
    """Why the hottest communication costs what it does, and what the figure rests on."""
    width = screen.columns
    notes = []
    hottest = hottest_communication(prediction.aaus)
    if hottest is not None:
        where = placed(hottest.span.file, hottest.span.line, prediction.file)
        notes.append(paragraph(f"line {where}", why(hottest, prediction.processors), width))
    notes += assumed_notes([prediction], width)
    if first(prediction.load_s) > 0:
        loading = f"{seconds(first(prediction.load_s))} before the program starts, not part of its time"
        notes.append(paragraph("loading", loading, width))
    if prediction.fits:
        notes.append(paragraph("memory", _memory(prediction), width))
    if idle := without_elements(prediction):
        notes.append(paragraph("idle", idle, width))
    notes.append(paragraph("trust", _trust(prediction), width))
    return notes


def assumed_notes(predictions: Sequence[Prediction], width: int) -> list[str]:
    """The footnotes that say what was assumed."""
    return assumed_lines(assumed(predictions), width)


def assumed_lines(texts: Sequence[str], width: int) -> list[str]:
    """The same, of what `esp.output.assumptions` found."""
    return [paragraph("" if at else "assumed", each, width) for at, each in enumerate(texts)]


def result_notes(prediction: Prediction, screen: Screen) -> list[str]:
    """What every view of a result says of it: whether it fits in memory, and what it rests on."""
    return [*memory_notes([prediction], screen), *basis_notes(prediction, screen)]


def basis_notes(prediction: Prediction, screen: Screen) -> list[str]:
    """As `result_notes`, below a heading: what was assumed, and how much is estimated."""
    trust = paragraph("trust", _trust(prediction), screen.columns)
    return [*assumed_notes([prediction], screen.columns), trust]


def memory_notes(predictions: Sequence[Prediction], screen: Screen) -> list[str]:
    """The note that data do not fit in the memory of a node, where they do not."""
    over = not_fitting(predictions)
    return [screen.paint("warm", paragraph("memory", over, screen.columns))] if over else []


def _memory(prediction: Prediction) -> str:
    text = memory_needed(prediction)
    usable = prediction.memory_usable_bytes
    if usable is None:
        return text
    return f"{text}, {percent(prediction.memory_needed_bytes / usable)} of the {memory(usable)} usable"


def _trust(prediction: Prediction) -> str:
    text = sure(prediction)
    walked, all_of_them = prediction.iterations_walked, prediction.iterations
    if walked < all_of_them:
        given = "" if prediction.interval is None else " with the given figures"  # scenarios have walks of their own
        text += f"; {count(walked)} of {count(all_of_them)} loop iterations walked{given}, the others repeat them"
    if prediction.interval is None and possible(prediction) and not cheap(prediction):
        text += "; the range of the time takes longer: --interval"
    return text
