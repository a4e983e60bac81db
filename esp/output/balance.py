"""Balance by the static model as tables, JSON and CSV."""

from textwrap import fill
from typing import Any

from esp.inspect.balance.records import COUNTED, NEGLECTED, Balance, BalanceRun
from esp.output.cells import rows_as_csv, told_as_csv
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import flop_rate, listed, percent, plural, seconds, significant
from esp.output.screen import Screen, flow, paragraph

_UNSEEN_S = 5e-9
"""Seconds that have no column."""


def balance_text(found: Balance, screen: Screen) -> str:
    """What the machine needs, the model on each number of processors, and the engine beside it."""
    name = [] if found.file is None else [found.file]
    head = flow([*name, found.system, f"{percent(found.utilisation)} utilisation"], screen.columns)
    blocks = [f"{screen.paint('strong', head)}\n{fill(_sentence(found), screen.columns)}"]
    if found.points:
        blocks.append(_points(found, screen))
    elif found.runs:
        blocks.append(_runs(found, screen))
        if found.runs[0].engine is not None:
            blocks.append(_engine(found, screen))
    elif not found.given:
        blocks.append(_ranges(found, screen))
    blocks.append("\n".join(_notes(found, screen)))
    return "\n\n".join(blocks) + "\n"


def _unit(found: Balance) -> str:
    return "operations" if found.file is None and found.runs else "flops"


FAR = 0.1
"""A deviation from the prediction that the first sentences name."""


def _sentence(found: Balance) -> str:
    """The answer, and how far the model is from the prediction where that is far."""
    run = max(found.runs, key=lambda each: each.processors, default=None)
    text = _answer(found)
    if run is None or run.engine is None or abs(run.engine.deviation) <= FAR:
        return text
    predicted = run.engine.speedup
    share = percent(predicted / run.processors)
    return (
        f"{text} But the prediction has a speedup of {significant(predicted)} ({share} utilisation), not "
        f"{significant(run.speedup)}: the second table lists what the model neglects."
    )


def _answer(found: Balance) -> str:
    share = percent(found.utilisation)
    if not found.runs:
        return (
            f"On {found.system}, {share} utilisation needs at least {significant(found.least_grain)} flops for each "
            "start-up, if nothing else takes time."
        )
    run = max(found.runs, key=lambda each: each.processors)
    on = f"On {plural(run.processors, 'processor')}"
    if run.largest_startup is None:
        alone = f"{on} there are no start-ups, and the model has {percent(run.utilisation)} utilisation."
        return alone if run.reached else f"{alone} {_less(found, run)}"
    if run.largest_startup <= 0:
        return (
            f"{on}, sequential work and loops alone limit the utilisation to {percent(run.highest)}. No start-up is "
            f"cheap enough for {share}. {_less(found, run)}"
        )
    limit = f"{significant(run.largest_startup)} ({seconds(run.largest_startup * found.t_phi_s)})"
    now = f"{significant(found.c_c)} ({seconds(found.c_c * found.t_phi_s)})"
    has = "" if run.grain is None else f"; there are {significant(run.grain)}"
    needs = "" if run.least_grain is None else f"{significant(run.least_grain)} {_unit(found)} for each start-up{has}"
    if run.reached:
        also = f" That needs at least {needs}." if needs else ""
        return f"{on}, a start-up may cost up to C_c = {limit} for {share} utilisation. It costs {now}.{also}"
    also = f" needs at least {needs}" if needs else f" is not reached with any number of {_unit(found)}"
    return (
        f"{on}, {share} utilisation{also}. It needs start-ups up to C_c = {limit} instead of {now}. {_less(found, run)}"
    )


def _less(found: Balance, run: BalanceRun) -> str:
    """The ways out of a utilisation that is not reached."""
    enough = [each.processors for each in found.runs if each.reached and 1 < each.processors < run.processors]
    fewer = f"{plural(max(enough), 'processor')} (which reach it)" if enough else "fewer processors"
    messages = ", fewer messages" if run.startups else ""
    if not found.x_p:
        return f"No operation is divided among the processors: distribute arrays, or take {fewer}."
    return f"Ways out: a larger problem{messages}, or {fewer}."


def _runs(found: Balance, screen: Screen) -> str:
    engine = any(each.engine is not None for each in found.runs)
    unit = _unit(found)
    columns = [
        Column("procs"),
        Column("X(p)"),
        Column(f"{unit}/start-up"),
        Column("needed"),
        Column("C_c up to"),
        Column("speedup"),
        Column("utilisation"),
    ]
    columns += [Column("engine"), Column("deviation")] if engine else []
    rows = []
    for each in found.runs:
        cells = [
            str(each.processors),
            significant(each.startups),
            "-" if each.grain is None else significant(each.grain),
            "-" if each.least_grain is None else significant(each.least_grain),
            "-" if each.largest_startup is None else "none" if each.largest_startup <= 0 else _limit(each),
            significant(each.speedup),
            f"{each.utilisation:.1%}",
        ]
        if each.engine is not None:
            cells += [significant(each.engine.speedup), _deviation(each.engine.deviation)]
        rows.append(TableRow(tuple(cells), "" if each.reached else "warm"))
    return table(columns, rows, screen)


def _deviation(share: float) -> str:
    """A share with its sign.

    >>> _deviation(0.1368), _deviation(-0.0001)
    ('+13.7%', '0.0%')
    """
    return "0.0%" if abs(share) < 5e-4 else f"{share:+.1%}"


def _limit(run: BalanceRun) -> str:
    return significant(run.largest_startup or 0.0)


def _engine(found: Balance, screen: Screen) -> str:
    """The times of the engine and of the model, and what the model neglects."""
    engines = [(each.processors, each.engine) for each in found.runs if each.engine is not None]
    seen = [
        name for name in NEGLECTED if any(abs(each.neglected_s[name]) > _UNSEEN_S for _, each in engines)
    ]  # what is nothing everywhere has no column
    columns = [Column("procs"), Column("engine"), Column("model"), *(Column(name) for name in seen)]
    rows = [
        TableRow(
            (
                str(processors),
                seconds(each.time_s),
                seconds(each.model_time_s),
                *(_signed(each.neglected_s[name]) for name in seen),
            )
        )
        for processors, each in engines
    ]
    return table(columns, rows, screen)


def _signed(value_s: float) -> str:
    return "0" if abs(value_s) <= _UNSEEN_S else f"{'+' if value_s > 0 else ''}{seconds(value_s)}"


def _ranges(found: Balance, screen: Screen) -> str:
    """The start-ups of the machine."""
    columns = [Column("messages", "<"), Column("start-up"), Column("C_c"), Column("flops/start-up")]
    rows = []
    for each in found.ranges:
        sizes = "longer" if any(other.upto_bytes is not None for other in found.ranges) else "any"
        sizes = sizes if each.upto_bytes is None else f"up to {each.upto_bytes:,.0f} B"
        if each.upto_hops is not None:
            sizes += f", {each.upto_hops:g} links"
        elif any(other.upto_hops is not None for other in found.ranges):
            sizes += ", farther"
        needed = found.least_grain * each.cost / found.c_c if found.c_c else 0.0
        cost = seconds(each.cost * found.t_phi_s)
        rows.append(TableRow((sizes, cost, significant(each.cost), significant(needed))))
    return table(columns, rows, screen)


def _points(found: Balance, screen: Screen) -> str:
    columns = [Column(name) for name in ("procs", "C_c", "C_m", "speedup", "utilisation", "speed")]
    priced = any(each.dollars is not None for each in found.points)
    columns += [Column("price"), Column("speed/dollar")] if priced else []
    rows = []
    for each in found.points:
        cells = [
            str(each.processors),
            significant(each.startup),
            significant(each.miss),
            significant(each.speedup),
            f"{each.utilisation:.1%}",
            flop_rate(each.speed),
        ]
        if priced:
            cells.append("-" if each.dollars is None else f"${significant(each.dollars)}")
            cells.append("-" if each.speed_per_dollar is None else flop_rate(each.speed_per_dollar))
        rows.append(TableRow(tuple(cells)))
    return table(columns, rows, screen)


def _notes(found: Balance, screen: Screen) -> list[str]:
    def note(name: str, text: str) -> str:
        return paragraph(name, text, screen.columns)

    own = {"c_phi": "an addition or multiplication", "c_m": "a cache miss", "c_c": "a message start-up"}
    if found.file is not None:
        own["c_phi"] = "a flop, with its loads, stores and loops"
    if len(found.ranges) > 1:
        own["c_c"] = "the start-up of a long message"
        if any(each.upto_hops is not None for each in found.ranges):
            own["c_c"] += " over any distance"
    notes = [note("T_phi", f"{seconds(found.t_phi_s)}, the unit of the costs")]
    for name, text in own.items():
        given = ", as given" if name in found.given else ""
        notes.append(note(name.replace("c_", "C_"), f"{significant(getattr(found, name))}, {text}{given}"))
    if found.x_p is not None:
        counts = {"X_s": found.x_s, "X_p": found.x_p, "X_m": found.x_m, "X_lambda": found.x_lambda}
        notes.append(note("counts", ", ".join(f"{name} {significant(each or 0.0)}" for name, each in counts.items())))
        on = "" if found.base is None else f"; the other counts from 1 and {found.base:,} processors"
        law = "counted on each number of processors" if found.law == COUNTED else found.law
        notes.append(note("X(p)", law + on))
    best = [each for each in found.points if each.speed_per_dollar is not None]
    if best:
        top = max(best, key=lambda each: each.speed_per_dollar or 0.0)
        where = listed([f"C_c = {significant(top.startup)}", f"C_m = {significant(top.miss)}"])
        speed, on = flop_rate(top.speed_per_dollar or 0.0), plural(top.processors, "processor")
        notes.append(note("best", f"{speed} for a dollar with {where} on {on}"))
    return notes


def balance_rows(found: Balance) -> list[dict[str, object]]:
    """One row for each point of a sweep, else one for each number of processors, else one for the machine."""
    if found.points:
        return _point_rows(found)
    if found.runs:
        return _run_rows(found)
    return [{"c_phi": found.c_phi, "c_m": found.c_m, "c_c": found.c_c, "least_grain": found.least_grain}]


def _run_rows(found: Balance) -> list[dict[str, object]]:
    return [
        {
            "processors": each.processors,
            "startups": each.startups,
            "speedup": each.speedup,
            "utilisation": each.utilisation,
            "reached": each.reached,
            "highest_utilisation": each.highest,
            "largest_startup": each.largest_startup,
            "grain": each.grain,
            "least_grain": each.least_grain,
            "engine_time_s": None if each.engine is None else each.engine.time_s,
            "engine_speedup": None if each.engine is None else each.engine.speedup,
            "model_time_s": None if each.engine is None else each.engine.model_time_s,
            "deviation": None if each.engine is None else each.engine.deviation,
            "neglected_s": None if each.engine is None else dict(each.engine.neglected_s),
        }
        for each in found.runs
    ]


def _point_rows(found: Balance) -> list[dict[str, object]]:
    return [
        {
            "processors": each.processors,
            "c_c": each.startup,
            "c_m": each.miss,
            "speedup": each.speedup,
            "utilisation": each.utilisation,
            "speed": each.speed,
            "dollars": each.dollars,
            "speed_per_dollar": each.speed_per_dollar,
        }
        for each in found.points
    ]


def balance_csv(found: Balance) -> str:
    """A line for each row."""
    rows = balance_rows(found)
    return told_as_csv(rows) if found.runs and not found.points else rows_as_csv(rows)


def balance_json(found: Balance) -> str:
    """The JSON text; docs/json_other.md describes its fields."""
    from esp.output.json import text_of

    told: dict[str, Any] = {
        "file": found.file,
        "system": found.system,
        "utilisation": found.utilisation,
        "t_phi_s": found.t_phi_s,
        "c_phi": found.c_phi,
        "c_m": found.c_m,
        "c_c": found.c_c,
        "given": list(found.given),
        "ranges": [
            {"upto_bytes": each.upto_bytes, "upto_hops": each.upto_hops, "c_c": each.cost} for each in found.ranges
        ],
        "x_s": found.x_s,
        "x_p": found.x_p,
        "x_m": found.x_m,
        "x_lambda": found.x_lambda,
        "law": found.law,
        "base": found.base,
        "least_grain": found.least_grain,
        "runs": _run_rows(found),
        "points": _point_rows(found),
    }
    return text_of(told)
