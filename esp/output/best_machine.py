"""`esp optimize-machine`: the machine with the most performance per dollar, as text, JSON and rows."""

from typing import Any

from esp.explore.best_machine import PRICE, BestMachine
from esp.explore.price_search import PricePoint
from esp.output.columns import Column, TableRow, table
from esp.output.figures import main_constants
from esp.output.numbers import listed, memory, percent, plural, seconds, significant
from esp.output.profile import asked_for, assumed_notes
from esp.output.screen import Screen, flow, paragraph, printable
from esp.prediction import Prediction

_NANO = 1e-9
_SLIGHT = 1e-3
"""Elasticity of a price that is none."""
_SLOW = 3.0
"""How many times as long the best machine may take as today's without a question."""
_ABOUT = {"ops": "a mean operation", "bw": "a byte of a message", "startup": "a start-up", "cache": "cache"}


def best_text(found: BestMachine, screen: Screen, next_: str = "") -> str:
    """What to buy, and why. `next_`: the command to try now."""
    width, base = screen.columns, found.prediction
    name = printable(found.file.rsplit("/", 1)[-1]) + (" (bundled)" if base.bundled else "")
    procs = plural(base.processors, "proc")
    above = [screen.paint("strong", flow(filter(None, [name, procs, found.system, main_constants(base)]), width))]
    above += asked_for(base, screen)
    above.append(screen.paint("strong", flow(_sentence(found).split(), width, " ", "     ")))
    notes = [paragraph("price", found.price + (", of 1994 (M. Clement)" if found.price == PRICE else ""), width)]
    text = "a variable has the same share of the time as of the price where 1% more of it gains what it costs"
    notes.append(paragraph("shares", text + (", not at a limit" if found.best.limits else ""), width))
    notes.append(paragraph("maxima", _maxima(found), width))
    if found.best.limits:
        verb = "lies" if len(found.best.limits) == 1 else "lie"
        text = f"{listed(found.best.limits)} {verb} at the end of what was searched (--limits)"
        notes.append(screen.paint("warm", paragraph("limits", text, width)))
    notes += [screen.paint("warm", paragraph("doubtful", each, width)) for each in _doubts(found)]
    notes += assumed_notes([base], width)
    if next_:
        notes.append(paragraph("next", next_, width))
    blocks = ["\n".join(above), _variables(found, screen)]
    if found.caches:
        blocks.append(_caches(found, screen))
    return "\n\n".join([*blocks, "\n".join(notes)]) + "\n"


def _doubts(found: BestMachine) -> list[str]:
    """What looks as if the price were not meant so."""
    doubts = [
        f"the price falls if {_ABOUT[name]} takes less time: is the formula the right way round?"
        for name in found.names
        if min(found.now.price_shares[name], found.best.price_shares[name]) < -_SLIGHT
    ]
    if found.best.limits and found.best.time_s > _SLOW * found.now.time_s:
        slower = significant(found.best.time_s / found.now.time_s)
        doubts.append(f"this machine takes {slower} times as long: does the price lack what every machine costs?")
    return doubts


def _sentence(found: BestMachine) -> str:
    """``The best machine does 65.2 flop/s per dollar, 5.88 times as many as ipsc860``."""
    now, best = found.speed_per_dollar(found.now), found.speed_per_dollar(found.best)
    than = f"{significant(best / now)} times as many as {found.system}"
    return f"the best machine does {significant(best)} flop/s per dollar, {than}"


def _maxima(found: BestMachine) -> str:
    bent = found.curvature
    if not bent.points:
        return "no price could be compared around the best point"
    if bent.is_unimodal:
        text = f"the price is convex and the performance concave at {bent.points} points"
        each = "one for each cache" if found.caches else "one"
        return f"{each}, as in the speeds {text} (Theorem 6.1)"
    broken = [
        f"{what} at {bent.points - held} of {bent.points} points"
        for what, held in (("the price is not convex", bent.convex), ("the performance is not concave", bent.concave))
        if held < bent.points
    ]
    return f"there may be several, as in the speeds {listed(broken)}; the first grid has {found.minima}"


def _variables(found: BestMachine, screen: Screen) -> str:
    columns = [
        Column("", "<"),
        Column(found.system, width=10),
        Column("best", width=10),
        Column("of time", width=7),
        Column("of price", width=8),
    ]
    rows = [
        TableRow(
            (
                _ABOUT[name],
                *(_value(name, each) for each in (found.now, found.best)),
                percent(found.best.time_shares[name]),
                percent(found.best.price_shares[name]),
            )
        )
        for name in found.names
    ]
    if found.caches:
        rows.append(TableRow((_ABOUT["cache"], *(_value("cache", each) for each in (found.now, found.best)), "", "")))
    rows.append(TableRow(("time", seconds(found.now.time_s), seconds(found.best.time_s), "", "")))
    rows.append(TableRow(("price", *(_dollars(each.dollars) for each in (found.now, found.best)), "", "")))
    speeds = [significant(found.speed_per_dollar(each)) for each in (found.now, found.best)]
    rows.append(TableRow(("flop/s per dollar", *speeds, "", ""), "good"))
    return table(columns, rows, screen)


def _value(name: str, point: PricePoint) -> str:
    value = point.values[name]
    if name == "cache":
        return memory(value)
    return seconds(value * _NANO) + ("/B" if name == "bw" else "")


def _dollars(value: float) -> str:
    return f"${value:,.0f}" if value >= 100 else f"${significant(value)}"


def _caches(found: BestMachine, screen: Screen) -> str:
    followed = [each for each in found.caches if each.best is not None]
    columns = [
        Column("cache", width=9),
        Column("price", width=10),
        Column("time", width=8),
        Column("flop/s per dollar"),
    ]
    rows = []
    for each in followed:
        assert each.best is not None
        assert each.speed_per_dollar is not None
        cells = (memory(each.size), _dollars(each.best.dollars), seconds(each.best.time_s))
        role = "good" if each.best == found.best else ""
        rows.append(TableRow((*cells, significant(each.speed_per_dollar)), role))
    more = len(found.caches) - len(followed)
    return table(columns, rows, screen) + (f"\n{more} other sizes give less with the best of the rest" if more else "")


def best_json(found: BestMachine) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    base: Prediction = found.prediction
    return {
        "file": found.file,
        "system": found.system,
        "processors": base.processors,
        "price": found.price,
        "flops": found.flops,
        "now": _point_json(found, found.now),
        "best": _point_json(found, found.best),
        "minima": found.minima,
        "theorem": {
            "points": found.curvature.points,
            "convex": found.curvature.convex,
            "concave": found.curvature.concave,
        },
        "caches": [
            {"bytes": each.size, "time_s": each.time_s, "speed_per_dollar": each.speed_per_dollar}
            for each in found.caches
        ],
    }


def _point_json(found: BestMachine, point: PricePoint) -> dict[str, Any]:
    return {
        "values": dict(point.values),
        "time_s": point.time_s,
        "dollars": point.dollars,
        "speed_per_dollar": found.speed_per_dollar(point),
        "time_shares": dict(point.time_shares),
        "price_shares": dict(point.price_shares),
        "limits": list(point.limits),
    }


def best_rows(found: BestMachine) -> list[dict[str, Any]]:
    """The machine as it is and the best one."""
    return [
        {"machine": name, **each.values, "time_s": each.time_s, "dollars": each.dollars}
        | {"speed_per_dollar": found.speed_per_dollar(each)}
        for name, each in ((found.system, found.now), ("best", found.best))
    ]
