"""`esp check` as text: the limits that are not kept, each with the place where the budget says it."""

from collections.abc import Mapping, Sequence

from esp.inspect.budget import Checked, LimitFile
from esp.output.diagnostics import machine_finding
from esp.output.numbers import count, memory, percent, plural, seconds, significant
from esp.output.screen import Screen
from sag.errors import Finding


def broken(checked: Sequence[Checked], screen: Screen) -> str:
    """One finding for each limit that is not kept, in the order of the budget."""
    shown = []
    for each in sorted((one for one in checked if not one.kept), key=lambda one: one.limit.place.line):
        limit = each.limit
        where = f"line {each.line}: " if each.line else ""
        way = "below" if limit.at_least else "above"
        by = f" ({100 * (each.value / limit.value - 1):+.1f}%)" if limit.value else ""
        share = " of the time" if limit.share else ""
        text = (
            f"{where}{limit.what} {_value(each, each.value)}{share} is {way} {_value(each, limit.value)}{by}, "
            f"{plural(each.processors, 'processor')}"
        )
        shown.append(machine_finding(Finding(code="B301", message=text, place=limit.place), screen))
    return "".join(f"{each}\n" for each in shown)


def _value(checked: Checked, value: float) -> str:
    limit = checked.limit
    if limit.share or limit.what in ("efficiency", "estimated"):
        return percent(value) if 0 < value < 0.01 else f"{100 * value:.1f}%"
    if limit.what == "messages":
        return count(round(value))
    if limit.what in ("bytes", "memory"):
        return memory(value)
    return significant(value) if limit.what in ("imbalance", "speed-up") else seconds(value)


def as_json(budget: LimitFile, checked: Sequence[Checked], partial: Sequence[str] = ()) -> Mapping[str, object]:
    """What `--json` says; docs/inspect.md describes the fields. `partial`: why figures are incomplete."""
    return {
        "budget": budget.file,
        "kept": not partial and all(each.kept for each in checked),
        "complete": not partial,
        "partial": list(partial),
        "checks": check_rows(checked),
    }


def check_rows(checked: Sequence[Checked]) -> list[dict[str, object]]:
    """One row for each limit."""
    return [
        {
            "what": each.limit.what,
            "line": each.line or None,
            "processors": each.processors,
            "at_least": each.limit.at_least,
            "share": each.limit.share,
            "limit": each.limit.value,
            "value": each.value,
            "kept": each.kept,
            "budget_line": each.limit.place.line,
        }
        for each in checked
    ]
