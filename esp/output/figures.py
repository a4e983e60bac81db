"""What the reports share: scenario 0 of a prediction as plain floats, ordered and described."""

import re
from collections.abc import Iterable, Mapping, Sequence

from esp.output.numbers import count, data, listed, memory, one_of, plural, seconds, significant, value
from esp.prediction import CATEGORIES, Plain, Prediction, first, four
from interpreter.result import AauMetrics, LineMetrics, MessageSummary

ROUNDING = 1e-12
"""Share of the time below which a time is what the subtraction of larger ones left."""

_SIZES = 4
"""Message sizes that are named: a shift in two dimensions has no more, corners apart."""

_INPUT_OUTPUT = frozenset({"print", "read", "file"})
"""Labels of AAUs that the processor with the files does (`aag.graph.labels`)."""

_MOST_CONTINUATIONS = 5
"""More of a statement than fits in any column."""


NOT_FITTING = "does not fit"
"""What a table says beside a prediction whose data no node can hold."""


def not_fitting(predictions: Sequence[Prediction]) -> str:
    """What does not fit in memory, and by how much; nothing where all predictions fit."""
    over = [each for each in predictions if not each.fits]
    if not over:
        return ""
    usable = memory(over[0].memory_usable_bytes or 0)
    what = "nothing fits" if len(over) == len(predictions) > 1 else NOT_FITTING
    held = _range([each.memory_bytes for each in over])
    copies = _range([each.memory_copies_bytes for each in over])
    return f"{what}: {_needed(held, copies)} on the fullest processor, a node can use {usable}"


def memory_needed(prediction: Prediction) -> str:
    """What the fullest processor needs memory for."""
    held, copies = memory(prediction.memory_bytes), memory(prediction.memory_copies_bytes)
    return f"{_needed(held, copies if prediction.memory_copies_bytes else '')} on the fullest processor"


def _needed(held: str, copies: str) -> str:
    return f"{held} of data and {copies} of copies" if copies else f"{held} of data"


def _range(sizes: Sequence[int]) -> str:
    """The smallest to the largest of some sizes; nothing where all are 0."""
    least, most = memory(min(sizes)), memory(max(sizes))
    return "" if not max(sizes) else most if least == most else f"{least} to {most}"


def without_rounding(time_s: float, total_s: float) -> float:
    """A time, or nothing where it is a rounding error of the whole."""
    return time_s if abs(time_s) > ROUNDING * total_s else 0.0


def ranked_columns(prediction: Prediction, time_s: float) -> dict[str, float]:
    """Time, its four categories and the messages of a choice among others, as JSON and CSV name them."""
    parts = {f"{name}_s": part_s for name, part_s in zip(CATEGORIES, four(prediction.parts), strict=True)}
    return {"time_s": time_s, **parts, "messages": prediction.messages, "bytes": prediction.bytes}


def uncharged(prediction: Prediction) -> frozenset[tuple[str, int]]:
    """File and line of each statement that could not be charged, where single statements are to blame."""
    spans = (each.span for each in prediction.assumptions if each.code == "unmodelled")
    return frozenset((span.file, span.line) for span in spans if span is not None and span.line)


def hottest_first(lines: Iterable[LineMetrics]) -> tuple[LineMetrics, ...]:
    """Lines that take time or send messages, the longest first; equal ones in source order."""
    lines = tuple(lines)
    total_s = sum(first(each.parts.time_s) for each in lines)
    busy = [each for each in lines if without_rounding(first(each.parts.time_s), total_s) > 0 or each.messages]
    return tuple(sorted(busy, key=lambda each: (-first(each.parts.time_s), each.file, each.line)))


def place(line: LineMetrics, main_file: str) -> str:
    """The line number, with its file where that is not the main one."""
    return placed(line.file, line.line, main_file)


def placed(file: str, line: int, main_file: str) -> str:
    """A line number, with its file where that is not the main one."""
    return str(line) if file in ("", main_file) else f"{file}:{line}"


def is_end(line: LineMetrics, prediction: Prediction) -> bool:
    """Whether nothing but the end of the program is on a line, where processors wait for the last one."""
    return bool(line.aaus) and all(each.kind == "End" for each in prediction.aaus if each.id in line.aaus)


def input_output_s(prediction: Prediction) -> tuple[float, float]:
    """What input and output take on the processor that does them, and the mean waiting for it at the end of the
    program, where these are known."""
    own_s = first(prediction.io_s)
    most_s = sum(
        first(each.max_s) for each in prediction.aaus if each.label in _INPUT_OUTPUT and each.max_s is not None
    )
    ends_s = sum(first(each.parts.waiting_s) for each in prediction.aaus if each.kind == "End")
    return max(own_s, most_s), max(0.0, min(ends_s, most_s - own_s))


_CONSTANTS = 6
"""PARAMETER values in a heading."""

_KIND = re.compile(r"\s*(?:real|integer|complex|logical)\s*\(\s*(?:kind\s*=\s*)?([a-z]\w*)\s*\)", re.IGNORECASE)
"""A declaration with the name of a kind; a statement that begins so is nothing else."""


def source_text(prediction: Prediction, file: str, line: int) -> str:
    """The statement that begins at a line, continuation lines joined."""
    if file == prediction.file:
        found = prediction.lines_text[line - 1 : line + _MOST_CONTINUATIONS] if line >= 1 else ()
    else:
        other = prediction.others_text.get(file, {})
        found = tuple(other.get(at, "") for at in range(line, line + 1 + _MOST_CONTINUATIONS))
    text = found[0].rstrip() if found else ""
    for more in found[1:]:
        if not text.endswith("&"):
            break
        text = text[:-1].rstrip() + " " + more.strip().removeprefix("&").lstrip()
    return text


def line_source(prediction: Prediction, line: LineMetrics) -> str:
    """The first statement that is counted at a line, and where the last of them stands, if they are several."""
    text = source_text(prediction, line.file, line.line).strip()
    return f"to line {line.through}: {text}" if line.through > line.line else text


def lines_named(line: LineMetrics, main_file: str) -> str:
    """``line 22``, or ``lines 22 to 32``."""
    where = place(line, main_file)
    return f"lines {where} to {line.through}" if line.through > line.line else f"line {where}"


def grid(shape: tuple[int, ...]) -> str:
    """Extents of a processor grid: ``4x2``."""
    return "x".join(str(extent) for extent in shape)


def constants(values: Mapping[str, object], lines: Sequence[str] = ()) -> tuple[str, ...]:
    """PARAMETER values: sizes and counts first, then the others, each in the order of the source; those that are only
    the kind of a type in these lines of the source last."""
    kinds = {match[1].lower() for line in lines if (match := _KIND.match(line))}

    def place(name: str) -> tuple[bool, bool]:
        is_other = isinstance(values[name], bool) or not isinstance(values[name], int)
        return name.lower() in kinds, is_other

    return tuple(f"{name}={value(values[name])}" for name in sorted(values, key=place))


def main_constants(prediction: Prediction, most: int = _CONSTANTS) -> str:
    """The first PARAMETER values for a heading, and how many more there are."""
    found = constants(prediction.constants, prediction.lines_text)
    more = len(found) - most
    return " ".join(found[:most]) + (f" and {more} more" if more > 0 else "")


def options(asked: Mapping[str, Plain]) -> tuple[str, ...]:
    """What was asked for as options of `esp run`, those left alone not: ``--load 30%``."""
    told: list[str] = []
    for name, given in asked.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(given, dict):
            told += [f"{option} {part}{'=' * bool(part)}{_written(name, each)}" for part, each in given.items()]
        elif name in ("align", "cost") and isinstance(given, list):
            told += [f"{option} {each}" for each in given]
        elif isinstance(given, bool):
            told += [f"{option} off"] if name == "io" and not given else [option] * (given and name != "io")
        elif given is not None:
            told.append(f"{option} {_written(name, given)}")
    return tuple(told)


def _written(name: str, given: Plain) -> str:
    if name == "opt":
        return "on" if given else "off"
    if name == "grid" and isinstance(given, list):
        return grid(tuple(given))
    if isinstance(given, list):
        return ",".join(_written(name, each) for each in given)
    if name == "set":
        return value(given)
    return f"{given:g}" if isinstance(given, float) else str(given)


def messages(summary: MessageSummary, processors: int) -> str:
    """What one communication moves: pattern, sizes, how often, how far.

    Sizes are those of one execution over all processors (Def 8). Where executions differ, their mean comes first, then
    what differs, with the sizes of the first one that sends anything.
    """
    array = summary.array.partition("$")[0]  # the name in the source, whatever version of its mapping is sent
    of = "over" if summary.pattern == "reduction" else "of"  # a sum of u*v is computed where u lies
    what = summary.pattern.replace("_", " ") + (f" {of} {array}" if array else "")
    if not summary.messages or not summary.executions:
        return f"{what}: no message"
    sizes = [f"{count(number)} x {_exactly(size)}" for size, number in summary.sizes[:_SIZES]]
    if len(summary.sizes) > _SIZES:
        sizes.append(plural(len(summary.sizes) - _SIZES, "other size"))
    each = summary.messages / summary.executions
    often = plural(summary.executions, "time")
    mean = f"({significant(each / processors)} messages per processor), {plural(summary.hops, 'hop')}"
    end = ", links contended" if summary.contended else ""
    if not summary.varies or not sizes:
        return f"{what}, {often}: {listed(sizes) or data(summary.bytes)} {mean}{end}"
    sent = f"{_mean(each)} of {data(summary.bytes / summary.messages)} on average"
    all_of_them = f"{plural(summary.messages, 'message')}, {data(summary.bytes)} in all"
    if each < 1:  # one in a while: the mean of an execution says nothing
        where = f"({significant(summary.messages / processors)} per processor), {plural(summary.hops, 'hop')}{end}"
        alike = len(summary.sizes) == 1 and summary.sizes[0][0] * summary.messages == summary.bytes
        size = _exactly(summary.sizes[0][0]) if alike else f"{data(summary.bytes / summary.messages)} on average"
        return (
            f"{what}: {plural(summary.messages, 'message')} of {size} in {often.replace('time', 'execution')} {where}"
        )
    differ, at = "sizes differ", "the first time"
    if summary.varies == "messages":
        differ, at = "numbers and sizes differ", "the first time that any is sent"
    return f"{what}, {often}: {sent} {mean}{end}; {differ}, {listed(sizes)} {at}; {all_of_them}"


def _mean(number: float) -> str:
    """So many messages on average; a whole number has no decimal places."""
    return plural(round(number), "message") if number == round(number) else f"{significant(number)} messages"


def _exactly(size: int) -> str:
    return f"{size:,} B" if size < 100_000 else data(size)


def missed_by_all(misses: float) -> str:
    """Cache misses of an AAU or line, with their kind and basis; `esp explain` tells those of one processor apart."""
    return f"{count(round(misses))} cache misses (reads and writes, all processors)"


def without_elements(prediction: Prediction) -> str:
    """That processors own nothing of what is distributed, where some do not."""
    empty, arrays = prediction.without_elements, prediction.distributed
    if not empty:
        return ""
    verb = "owns" if empty == 1 else "own"
    return f"{count(empty)} of {plural(prediction.processors, 'processor')} {verb} no element of {one_of(arrays)}"


def communication_s(aau: AauMetrics) -> float:
    """Time of an AAU that moving data costs, waiting for it included."""
    return first(aau.parts.communication_s) + first(aau.parts.waiting_s)


def hottest_communication(aaus: Iterable[AauMetrics]) -> AauMetrics | None:
    """The AAU whose messages cost most, or None where nothing is sent."""
    sending = [aau for aau in aaus if aau.comm is not None and aau.comm.messages]
    return max(sending, key=lambda aau: (communication_s(aau), -aau.id), default=None)


def why(aau: AauMetrics, processors: int) -> str:
    """Why a communication costs what it costs, in one sentence."""
    if aau.comm is None:
        return aau.label
    text = messages(aau.comm, processors)
    return f"{text}; {seconds(communication_s(aau) / max(1, aau.comm.executions))} each (comm + wait)"
