"""The section of `esp report` on procedures: a table of them, and the tree of calls to unfold."""

from html import escape

from esp.inspect.calls import CallRow, ProcedureTime, call_rows, procedures
from esp.output.calls import EXCLUSIVE, place_of, shown_calls, times_called
from esp.output.html import bar
from esp.output.numbers import count, data, percent, plural, seconds
from esp.output.report_tables import row, table
from esp.output.screen import printable
from esp.prediction import Prediction, first, four

_SENT = (6, 7)
"""Columns of messages and bytes, hidden on narrow screens."""


def calls(prediction: Prediction) -> str:
    """Procedures, the largest exclusive time first, and the tree of calls."""
    total_s = first(prediction.time_s)
    rows = [_procedure(each, total_s) for each in procedures(prediction)]
    titles = ("procedure", "calls", "inclusive", "exclusive", "share", "made of", "messages", "bytes")
    told = table("Procedures, the largest exclusive time first", titles, rows, hidden=_SENT, text=(0, 5))
    every = call_rows(prediction)
    shown = shown_calls(every, total_s)
    tree = [_call(each, prediction, total_s) for each in shown]
    columns = ("call", "line", "calls", "inclusive", "exclusive", "made of")
    inside = table("The tree of calls", columns, tree, text=(0, 5), sortable=False)
    if len(shown) < len(every):
        inside += f"\n<p>And {plural(len(every) - len(shown), 'call')} more that take less.</p>"
    return f"{told}\n<p>{EXCLUSIVE}</p>\n<details>\n<summary>The tree of calls</summary>\n{inside}\n</details>"


def _procedure(each: ProcedureTime, total_s: float) -> str:
    cells = [f"<code>{escape(printable(each.name))}</code>", times_called(each.calls)]
    cells += [seconds(each.time_s), seconds(each.own_s)]
    cells += [escape(percent(each.own_s / total_s)) if total_s > 0 else "", bar(each.parts_s, total_s, "bar short")]
    cells += [count(each.messages), data(each.bytes)] if each.messages else ["", ""]
    keys = {1: each.calls, 2: each.time_s, 3: each.own_s, 4: each.own_s, 7: float(each.bytes)}
    return row(cells, hidden=_SENT, text=(0, 5), keys=keys)


def _call(each: CallRow, prediction: Prediction, total_s: float) -> str:
    call = each.call
    name = f'<code style="padding-left:{each.depth}em">{escape(printable(call.procedure))}</code>'
    cells = [name, escape(place_of(each, prediction)), times_called(call.calls)]
    cells += [seconds(first(call.total.time_s)), seconds(first(call.parts.time_s))]
    return row([*cells, bar(four(call.parts), total_s, "bar short")], text=(0, 5))
