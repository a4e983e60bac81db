"""`esp diff` as text: one tree with both times and the change of each part."""

from collections.abc import Iterator, Mapping
from math import fsum
from typing import Any

from esp.inspect.difference import Difference, Pair, TreeNode, change
from esp.output.columns import Column, TableRow, table
from esp.output.figures import grid, options
from esp.output.numbers import count, data, plural, seconds
from esp.output.partial import partial_lines, reasons_said
from esp.output.screen import Screen, flow, paragraph, printable
from esp.prediction import CATEGORIES

SMALL = 0.001
"""Share of the longer time from which a change is shown."""

_MUCH = 100
"""Small changes that are a great one."""

_SHORT = dict(zip(CATEGORIES, ("comp", "comm", "wait", "ovhd"), strict=True))


def diff(found: Difference, screen: Screen, *, every: bool = False) -> str:
    """The text. `every`: also parts that take the same time."""
    heads = []
    for name, said in (("A", found.a), ("B", found.b)):
        heads += [_side(name, said, screen), *partial_lines(reasons_said(said), screen)]
    longest_s = max(found.a["time_s"], found.b["time_s"])
    small_s = 0.0 if every else SMALL * longest_s
    rows = [_total("time", found.a["time_s"], found.b["time_s"], "strong")]
    rows += [_total(name, found.a[f"{name}_s"], found.b[f"{name}_s"]) for name in CATEGORIES]
    hidden: list[Pair] = []
    rows += [row for pair in found.pairs for row in _rows(pair, small_s, 0, hidden)]
    columns = [
        Column("A", width=7),
        Column("B", width=7),
        Column("B - A", width=8),
        Column("", width=7, gap=1),
        Column("most", "<", 4),
        Column("line", width=4),
        Column("what", "<"),
    ]
    blocks = ["\n".join(heads), table(columns, rows, screen, flexible=True)]
    notes = []
    if hidden and not any(pair.change_s for pair in hidden) and len(rows) == 1 + len(CATEGORIES):
        notes.append(paragraph("alike", "A and B take the same time, part by part", screen.columns))
    elif hidden:
        left_s = fsum(pair.change_s for pair in hidden)
        if change(longest_s, longest_s + left_s) == 0.0:  # what is gained here is lost there
            left_s = 0.0
        notes.append(
            paragraph(
                "alike",
                f"{plural(len(hidden), 'part')} with changes below {seconds(small_s)} "
                f"each, {_signed(left_s)} together (--all shows them)",
                screen.columns,
            )
        )
    notes.append(paragraph("messages", _moved(found), screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]) + "\n"


def _side(name: str, said: Mapping[str, Any], screen: Screen) -> str:
    shape = f" ({grid(tuple(said['grid']))})" if said["grid"] else ""
    pieces = [f"{name}  {printable(said['file'])}", f"{plural(said['processors'], 'proc')}{shape}", said["system"]]
    pieces += [f"{key}={value}" for key, value in list(said["constants"].items())[:4]]
    pieces += map(printable, options(said.get("options", {})))
    return screen.paint("strong", flow(pieces, screen.columns, "  ", "   "))


def _total(name: str, a_s: float, b_s: float, role: str = "") -> TableRow:
    return TableRow((seconds(a_s), seconds(b_s), _signed(change(a_s, b_s)), _percent(a_s, b_s), "", "", name), role)


def _rows(pair: Pair, small_s: float, depth: int, hidden: list[Pair]) -> Iterator[TableRow]:
    """The row of a pair and those inside it that matter; what does not is added to `hidden`."""
    inside = [row for each in pair.inside for row in _rows(each, small_s, depth + 1, hidden)]
    if abs(pair.change_s) < small_s and not inside:
        if not pair.inside:
            hidden.append(pair)
        return
    changes = pair.by_category()
    most = max(range(len(changes)), key=lambda at: abs(changes[at]))
    one = pair.b or pair.a
    assert one is not None
    cells = (
        "-" if pair.a is None else seconds(pair.a.time_s),
        "-" if pair.b is None else seconds(pair.b.time_s),
        _signed(pair.change_s),
        "" if pair.a is None or pair.b is None else _percent(pair.a.time_s, pair.b.time_s),
        _SHORT[CATEGORIES[most]] if changes[most] else "",
        _lines(pair),
        "  " * depth + _label(pair),
    )
    yield TableRow(cells, _role(pair.change_s, small_s))
    yield from inside


def _role(change_s: float, small_s: float) -> str:
    if not small_s or abs(change_s) < _MUCH * small_s:
        return ""
    return "hot" if change_s > 0 else "good"


def _label(pair: Pair) -> str:
    match pair:
        case Pair(a=TreeNode() as a, b=TreeNode() as b):
            return _named(a) if a.key == b.key else f"{_named(a)} -> {_named(b)}"
        case Pair(a=TreeNode() as only) | Pair(b=TreeNode() as only):
            return _named(only)
        case _:
            return ""


def _named(node: TreeNode) -> str:
    return printable(node.label if node.kind == "line" else f"{node.kind} {node.label}")


def _lines(pair: Pair) -> str:
    found = dict.fromkeys(str(each.line) for each in (pair.a, pair.b) if each is not None and each.line)
    return "/".join(found)


def _moved(found: Difference) -> str:
    told = [
        f"{count(said['messages'])} ({data(said['bytes'])}) in {name}"
        for name, said in (("A", found.a), ("B", found.b))
    ]
    return ", ".join(told)


def _signed(value: float) -> str:
    return f"+{seconds(value)}" if value > 0 else seconds(value)


def _percent(old: float, new: float) -> str:
    if not old:
        return ""
    change = 100.0 * (new / old - 1.0)
    return f"{change:+.0f}%" if abs(change) >= 100 else f"{change:+.1f}%"
