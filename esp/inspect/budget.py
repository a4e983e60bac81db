"""Budgets: what a predicted time or ratio may be at most, or a speed-up at least, as a YAML file says it.

format: 1
limits:                     # of every prediction
  time: 1.6 s
  communication: 10 %       # of the time; a time (150 ms) is as good
  messages: 2500
lines:
  36: {time: 800 ms}        # by number, or by a part of its text
  err = maxval: {waiting: 5 ms}
procs:
  16: {time: 820 ms, efficiency: 70 %}
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from esp.prediction import CATEGORIES, Prediction, first
from interpreter.result import LineMetrics
from sag.document import Findings, Node, Scalar, YamlTable
from sag.errors import Finding, MachineError, MachinePlace, nearest
from sag.quantities import QuantityError, parse_quantity
from sag.reading import FileKind, read_document, read_text

FORMAT = 1
"""Version of the format of budgets."""


class BudgetError(MachineError):
    """A budget that cannot be read, with the places of all that is wrong with it."""

    exit_code: ClassVar[int] = 2


BUDGET = FileKind(noun="budget", letter="B", start=f"format: {FORMAT}", error=BudgetError)


class LimitKey(Struct, frozen=True):
    """A quantity that can be limited: its dimension, whether a share of the time is as good, and which way."""

    dimension: str
    share: bool = False
    at_least: bool = False


_OF_LINE: Mapping[str, LimitKey] = {
    "time": LimitKey("time", share=True),
    **{category: LimitKey("time", share=True) for category in CATEGORIES},
    "messages": LimitKey("count"),
    "bytes": LimitKey("size"),
}

_OF_ALL: Mapping[str, LimitKey] = {
    **_OF_LINE,
    "time": LimitKey("time"),
    "timed": LimitKey("time"),
    "load": LimitKey("time"),
    "io": LimitKey("time", share=True),
    "imbalance": LimitKey("number"),
    "memory": LimitKey("size"),
    "estimated": LimitKey("fraction"),
    "speed-up": LimitKey("number", at_least=True),
    "efficiency": LimitKey("fraction", at_least=True),
}

_SECTIONS = ("format", "limits", "lines", "procs")

ROUNDING = 1e-12
"""A limit that equals the prediction is kept."""


class Limit(Struct, frozen=True, kw_only=True):
    """One limit. `value` in SI units; with `share` it is a part of the time. `line`: number or part of the text of a
    line, empty for the program; `procs`: 0 for every number of processors."""

    what: str
    value: float
    text: str
    place: MachinePlace
    share: bool = False
    at_least: bool = False
    line: str = ""
    procs: int = 0


class LimitFile(Struct, frozen=True, kw_only=True):
    """What a file says; `procs` are the numbers of processors it speaks of, ascending."""

    file: str
    limits: tuple[Limit, ...]
    procs: tuple[int, ...]

    @property
    def compares(self) -> bool:
        """Whether a limit is about speed-up or efficiency, which need a prediction on one processor."""
        return any(each.at_least for each in self.limits)


class Checked(Struct, frozen=True, kw_only=True):
    """A limit held against one prediction; `line` is the number of the source line, 0 for the program."""

    limit: Limit
    value: float
    kept: bool
    processors: int
    line: int


def read_budget(path: Path) -> LimitFile:
    """Read a budget.

    Raises:
        BudgetError: it cannot be read, or what it says is no budget; all faults with their places.
    """
    try:
        return _budget(read_document(read_text(path, BUDGET), str(path), BUDGET), str(path))
    except BudgetError:
        raise
    except MachineError as error:  # the collector of faults knows one error only
        raise BudgetError(error.findings) from None


def _budget(root: YamlTable, file: str) -> LimitFile:
    findings = Findings()
    limits: list[Limit] = []
    numbers: list[int] = []
    for key, node in root:
        match key.text:
            case "format":
                _format(node, findings)
            case "limits":
                limits += _limits(_table(node, findings), _OF_ALL, findings)
            case "lines":
                for line, below in _table(node, findings):
                    limits += _limits(_table(below, findings), _OF_LINE, findings, line=line.text)
            case "procs":
                for number, below in _table(node, findings):
                    many = _number(number, findings)
                    numbers.append(many)
                    limits += _limits(_table(below, findings), _OF_ALL, findings, procs=many)
            case _:
                findings.add(
                    "B103", f"unknown section '{key.text}' in a budget", key.place, nearest(key.text, _SECTIONS)
                )
    if root.get("format") is None:
        findings.add("B104", "the key 'format' is missing", root.place, f"begin with 'format: {FORMAT}'")
    findings.raise_any()
    if not limits:
        findings.add("B105", "this budget limits nothing", root.place, "write for example 'limits: {time: 2 s}'")
        findings.raise_any()
    return LimitFile(file=file, limits=tuple(limits), procs=tuple(sorted(set(numbers))))


def _format(node: Node, findings: Findings) -> None:
    if not isinstance(node, Scalar) or node.text != str(FORMAT):
        findings.add("B104", "this version of esp reads budgets of format 1", node.place, f"write 'format: {FORMAT}'")


def _table(node: Node, findings: Findings) -> YamlTable:
    if isinstance(node, YamlTable):
        return node
    findings.add("B106", "expected limits, each with its value", node.place, "write for example {time: 2 s}")
    return YamlTable((), node.place)


def _number(word: Scalar, findings: Findings) -> int:
    if word.text.isdecimal() and int(word.text) >= 1:
        return int(word.text)
    findings.add("B107", f"'{word.text}' is not a processor count", word.place, "write for example '8: {time: 2 s}'")
    return 0


def _limits(
    table: YamlTable, known: Mapping[str, LimitKey], findings: Findings, *, line: str = "", procs: int = 0
) -> Iterator[Limit]:
    for word, node in table:
        key = known.get(word.text)
        if key is None:
            where = "a line" if known is _OF_LINE else "a program"
            findings.add("B103", f"{where} has no '{word.text}' to limit", word.place, nearest(word.text, known))
            continue
        if not isinstance(node, Scalar):
            findings.add("B106", "expected one value", node.place)
            continue
        share = key.share and node.text.rstrip().endswith("%")
        try:
            value = parse_quantity(node.text, "fraction" if share else key.dimension)
        except QuantityError as error:
            findings.add("B108", error.message, node.place, error.hint)
            continue
        if value < 0:
            findings.add("B108", f"'{node.text}' is below 0", node.place)
            continue
        yield Limit(
            what=word.text,
            value=value,
            text=node.text,
            place=node.place,
            share=share,
            at_least=key.at_least,
            line=line,
            procs=procs,
        )


def check(
    budget: LimitFile, predictions: Sequence[Prediction], ratios: Sequence[tuple[float, float]]
) -> tuple[Checked, ...]:
    """Hold predictions against a budget. `ratios`: speed-up and efficiency of each.

    Raises:
        BudgetError: a limit is about a line that the program does not have or that has no time of its own, or about
            a timed region it lacks.
    """
    found = []
    for prediction, ratio in zip(predictions, ratios, strict=True):
        for limit in budget.limits:
            if limit.procs in (0, prediction.processors):
                found.append(_checked(limit, prediction, ratio))
    return tuple(found)


def _checked(limit: Limit, prediction: Prediction, ratio: tuple[float, float]) -> Checked:
    at = 0
    if limit.line:
        at = _line(limit, prediction)
        metrics = next((e for e in prediction.lines if e.line == at and e.file == prediction.file), None)
        if metrics is None:
            told = (
                f"line {at} has no time of its own: it is a comment, a declaration, or part of another line's statement"
            )
            raise _unfit(limit, f"{told} or loop (`esp run {prediction.file} --line {at}` names that line)")
        value = _of_line(limit.what, metrics)
    else:
        value = _of_all(limit, prediction, ratio)
    if limit.share:
        total_s = first(prediction.time_s)
        value = value / total_s if total_s else 0.0
    room = ROUNDING * abs(limit.value)
    kept = value >= limit.value - room if limit.at_least else value <= limit.value + room
    return Checked(limit=limit, value=value, kept=kept, processors=prediction.processors, line=at)


def _line(limit: Limit, prediction: Prediction) -> int:
    """The number of the line that is meant."""
    lines = prediction.lines_text
    if limit.line.isdecimal():
        if 1 <= int(limit.line) <= len(lines):
            return int(limit.line)
        raise _unfit(limit, f"{prediction.file} has lines 1 to {len(lines)}, but none of number {limit.line}")
    folded = " ".join(limit.line.lower().split())
    found = [at for at, text in enumerate(lines, 1) if folded in " ".join(text.lower().split())]
    if len(found) == 1:
        return found[0]
    if not found:
        raise _unfit(limit, f"no line of {prediction.file} holds '{limit.line}'")
    raise _unfit(limit, f"'{limit.line}' is in several lines: {', '.join(map(str, found[:8]))}")


def _unfit(limit: Limit, message: str) -> BudgetError:
    return BudgetError([Finding(code="B109", message=message, place=limit.place)])


def _of_line(what: str, line: LineMetrics) -> float:
    if what in ("messages", "bytes"):
        return float(getattr(line, what))
    return first(line.time_s if what == "time" else getattr(line.parts, f"{what}_s"))


def _of_all(limit: Limit, prediction: Prediction, ratio: tuple[float, float]) -> float:
    match limit.what:
        case "time" | "load" | "io":
            return first(getattr(prediction, f"{limit.what}_s"))
        case "timed":
            if prediction.timed_s is None:
                raise _unfit(limit, f"{prediction.file} does not read the clock twice, so it has no timed region")
            return first(prediction.timed_s)
        case "messages" | "bytes":
            return float(getattr(prediction, limit.what))
        case "imbalance":
            return first(prediction.imbalance)
        case "memory":
            return float(prediction.memory_needed_bytes)
        case "estimated":
            return first(prediction.estimated_share)
        case "speed-up":
            return ratio[0]
        case "efficiency":
            return ratio[1]
        case category:
            return first(getattr(prediction.parts, f"{category}_s"))
