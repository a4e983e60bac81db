"""Fixed-size, fixed-time and memory-bounded speedup and isoefficiency as a table, JSON and CSV."""

from textwrap import fill
from typing import Any

from esp.explore.speedups import ScaledSize, Speedups
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import percent, seconds, significant
from esp.output.screen import Screen, flow, paragraph, printable


def speedups_text(found: Speedups, screen: Screen, next_: str = "") -> str:
    """One row for each number of processors. `next_`: the command to try now."""
    name, width = found.parameter, screen.columns
    head = screen.paint("strong", flow([printable(found.file.rsplit("/", 1)[-1]), found.system], width))
    columns = [Column("procs"), Column(f"{name}={found.size:,}"), Column(f"in {seconds(found.time_s)}: {name}")]
    columns += [Column("speedup"), Column(f"in memory: {name}"), Column("speedup")]
    columns += [Column(f"{percent(found.efficiency)}: {name}"), Column("work (flop)")]
    rows = []
    for each in found.rows:
        efficient = each.isoefficiency
        rows.append(
            TableRow(
                (
                    str(each.processors),
                    significant(each.fixed_size.speedup),
                    *_cells(each.fixed_time),
                    *_cells(each.memory_bounded),
                    "-" if efficient is None else f"{efficient.size:,}",
                    "-" if efficient is None else significant(efficient.work),
                )
            )
        )
    notes = [
        paragraph("fixed", f"size: time with {name} = {found.size:,} on one processor over that on p", width),
        paragraph("in time", "work of the largest size that takes no longer than one processor with the given", width),
        paragraph("memory", "speed of the largest size with which no processor holds more than one did", width),
        paragraph("isoeff.", f"smallest size with an efficiency of {percent(found.efficiency)}, and its work", width),
        paragraph("work", f"the flops of {found.work}", width),
    ]
    if any(_is_over(each.fixed_time) or _is_over(each.memory_bounded) for each in found.rows):
        notes.append(paragraph("!", "data and copies do not fit in the memory of a node", width))
    if any(each.isoefficiency is None for each in found.rows):
        notes.append(paragraph("-", f"no {name} up to {found.most:,}", width))
    if next_:
        notes.append(paragraph("next", next_, width))
    return (
        "\n\n".join([f"{head}\n{fill(_sentence(found), width)}", table(columns, rows, screen), "\n".join(notes)]) + "\n"
    )


def _sentence(found: Speedups) -> str:
    last = found.rows[-1]
    speedup = significant(last.fixed_size.speedup)
    text = f"On {last.processors:,} processors {found.parameter} = {found.size:,} is {speedup} times as fast as on one"
    if last.fixed_time is not None:
        text += f"; in the time of one they do {significant(last.fixed_time.speedup)} times the work"
    return text + "."


def _cells(of: ScaledSize | None) -> tuple[str, str]:
    if of is None:
        return "-", "-"
    return f"{of.size:,}{'!' if _is_over(of) else ''}", significant(of.speedup)


def _is_over(of: ScaledSize | None) -> bool:
    return of is not None and of.fits is False


def speedups_rows(found: Speedups) -> list[dict[str, Any]]:
    """One row for each number of processors."""
    return [
        {
            "processors": each.processors,
            "fixed_size_time_s": each.fixed_size.time_s,
            "fixed_size_speedup": each.fixed_size.speedup,
            **_scaled_cells("fixed_time", each.fixed_time),
            **_scaled_cells("memory_bounded", each.memory_bounded),
            "isoefficiency_size": None if each.isoefficiency is None else each.isoefficiency.size,
            "isoefficiency_work": None if each.isoefficiency is None else each.isoefficiency.work,
            "isoefficiency": None if each.isoefficiency is None else each.isoefficiency.efficiency,
        }
        for each in found.rows
    ]


def _scaled_cells(name: str, of: ScaledSize | None) -> dict[str, Any]:
    return {
        f"{name}_size": None if of is None else of.size,
        f"{name}_time_s": None if of is None else of.time_s,
        f"{name}_speedup": None if of is None else of.speedup,
        f"{name}_fits": None if of is None else of.fits,
    }


def speedups_json(found: Speedups) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    return {
        "file": found.file,
        "system": found.system,
        "parameter": found.parameter,
        "size": found.size,
        "time_s": found.time_s,
        "memory_bytes": found.memory_bytes,
        "efficiency": found.efficiency,
        "work": found.work,
        "most": found.most,
        "speedups": speedups_rows(found),
    }
