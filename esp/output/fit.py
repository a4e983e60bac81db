"""`esp system fit`: a fitted message law as text, as JSON, and as the YAML of a machine."""

from collections.abc import Mapping, Sequence
from typing import Any

from esp.fit.law import Estimate, FittedLaw, FittedRange, Tried
from esp.output.columns import Column, TableRow, table
from esp.output.json import text_of
from esp.output.numbers import plural, significant
from esp.output.screen import Screen, paragraph
from sag.unit import Simple, System

_NAMES: Mapping[int, tuple[str, ...]] = {
    1: ("measured",),
    2: ("measured_short", "measured_long"),
    3: ("measured_short", "measured_middle", "measured_long"),
}
"""Names of the ranges: none that a machine of ours has, so that no figure of theirs shines through."""

_SOURCE = "pingpong"

_MANY = 10_000
"""More than that many times smaller is all the same to a reader."""

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps"))


def law_text(law: FittedLaw, screen: Screen, *, following: str = "") -> str:
    """The figures with their standard errors, how good they are, and why there are so many ranges."""
    hops = law.ranges[0].per_hop_s is not None
    columns = [Column("messages", "<"), Column("start-up"), Column("per byte")]
    columns += [Column("per hop" if hops else "bandwidth")]
    columns += [Column("points"), Column("rms", gap=1), Column("worst", gap=1)]
    rows = []
    for each in law.ranges:
        cells = [_sizes(each, law), _with_error(each.startup_s), _with_error(each.per_byte_s, "/B")]
        cells += [_bandwidth(each) if each.per_hop_s is None else _with_error(each.per_hop_s)]
        cells += [str(each.points), _share(each.rms), _share(abs(each.worst))]
        rows.append(TableRow(tuple(cells)))
    head = f"{law.table.name}  {plural(law.table.rows, 'row')}, {plural(law.table.sizes_bytes.size, 'size')}"
    head += f"  {plural(len(law.ranges), 'range')}"
    notes = [paragraph("fit", _quality(law), screen.columns)]
    notes += [paragraph("ranges" if not at else "", each, screen.columns) for at, each in enumerate(_why(law.tried))]
    notes += [paragraph("note" if not at else "", each, screen.columns) for at, each in enumerate(_contained(law))]
    if following:
        notes.append(paragraph("next", following, screen.columns))
    return "\n\n".join([screen.paint("strong", head), table(columns, rows, screen), "\n".join(notes)]) + "\n"


def _quality(law: FittedLaw) -> str:
    worst = max(law.ranges, key=lambda each: abs(each.worst))
    where = f"{_share(law.worst)} at worst ({_bytes(worst.worst_bytes)})"
    return f"relative residuals {_share(law.rms)} (root mean square), {where}; +- is one standard error"


def _why(tried: Sequence[Tried]) -> list[str]:
    """Why there are so many ranges and no more."""
    told = []
    for each in tried:
        times = significant(each.gain) if each.gain < _MANY else f"over {_MANY:,}"
        gain = f"{each.more} instead of {each.fewer}: squares of the residuals {times} times smaller"
        chance = "by chance" if each.by_chance else "never by chance"
        chance += f" in {each.by_chance} of {each.tables} random tables" if each.by_chance else ""
        told.append(f"{gain}, {chance}: {'accepted' if each.believed else 'rejected'}")
    return told or ["one range fits all measurements"]


def _contained(law: FittedLaw) -> list[str]:
    """What the start-up holds."""
    told = ["the start-up includes the work of the receiver"]
    if law.ranges[0].per_hop_s is None:
        hops = {float(each) for each in law.table.hops}
        way = f"{significant(hops.pop(), 1)} hops" if law.table.has_hops else "the way between the two processors"
        told.append(f"only one distance was measured: the start-up includes {way}, more hops cost nothing")
    return told


def _sizes(each: FittedRange, law: FittedLaw) -> str:
    """The range in words: the last one has no end."""
    if each is not law.ranges[-1]:
        return f"to {_bytes(each.last_bytes)}"
    return f"from {_bytes(each.first_bytes)}" if len(law.ranges) > 1 else "all"


def _bytes(number: float) -> str:
    for unit, size in (("MB", 2**20), ("KB", 2**10)):
        if number >= size and number % size == 0:
            return f"{number / size:.0f} {unit}"
    return f"{number:.0f} B"


def _with_error(estimate: Estimate, per: str = "") -> str:
    size, unit = _unit(estimate.value)
    return (
        f"{significant(estimate.value / size)} {unit}{per} +-{_share(estimate.error / estimate.value)}"
        if (estimate.value > 0)
        else f"0 s{per}"
    )


def _unit(value: float) -> tuple[float, str]:
    return next((pair for pair in _UNITS if abs(value) >= pair[0]), _UNITS[-1])


def _bandwidth(each: FittedRange) -> str:
    return "-" if each.per_byte_s.value <= 0 else f"{significant(1e-6 / each.per_byte_s.value)} MB/s"


def _share(value: float) -> str:
    """A small share: two digits, and no more than tenths of a percent."""
    percent = 100.0 * value
    return f"{percent:.0f}%" if percent >= 9.95 else f"{percent:.1f}%"


def law_json(law: FittedLaw) -> str:
    """The JSON text; docs/fit.md describes its fields."""
    return text_of(
        {
            "table": law.table.name,
            "rows": law.table.rows,
            "rms": law.rms,
            "worst": law.worst,
            "ranges": [_range_json(each, law) for each in law.ranges],
            "tried": [
                {
                    "fewer": each.fewer,
                    "more": each.more,
                    "gain": each.gain,
                    "by_chance": each.by_chance,
                    "tables": each.tables,
                    "believed": each.believed,
                }
                for each in law.tried
            ],
            "points": [
                {"size_bytes": size, "hops": hops, "time_s": time_s, "residual": residual}
                for size, hops, time_s, residual in zip(
                    law.table.size_bytes.tolist(),
                    law.table.hops.tolist(),
                    law.table.time_s.tolist(),
                    law.residuals.tolist(),
                    strict=True,
                )
            ],
        }
    )


def _range_json(each: FittedRange, law: FittedLaw) -> dict[str, Any]:
    told: dict[str, Any] = {"upto_bytes": None if each is law.ranges[-1] else each.last_bytes}
    told |= {"first_bytes": each.first_bytes, "last_bytes": each.last_bytes, "points": each.points}
    for name in ("startup_s", "per_byte_s", "per_hop_s"):
        estimate = getattr(each, name)
        told[name] = None if estimate is None else estimate.value
        told[f"{name}_error"] = None if estimate is None else estimate.error
    return told | {"rms": each.rms, "worst": each.worst, "worst_bytes": each.worst_bytes}


def machine_yaml(law: FittedLaw, base: System, *, extends: str, name: str, command: str) -> str:
    """A machine file: `base`, which the file names `extends`, with this message law.

    `base` must have a network of its own; `command` is said in the first line.
    """
    found = base.find("network")
    assert found is not None
    path, unit = found
    content = unit.components["network"]
    assert isinstance(content, Simple)
    old = dict.fromkeys(key.partition(".")[0] for key in content.figures if key.endswith(".per_byte"))
    new = dict(zip(_NAMES[len(law.ranges)], law.ranges, strict=True))
    title = f"{base.title or base.name}, messages as {_file(law.table.name)} has them"
    rows = f"{plural(law.table.rows, 'row')}, {plural(law.table.sizes_bytes.size, 'size')}"
    quality = f"residuals {_share(law.rms)} (rms), {_share(law.worst)} at worst"
    source = f"{law.table.name}: {rows}, weighted least squares on relative errors; {quality}"
    lines = [
        f"# {command}",
        "format: 1",
        f"extends: {quoted(extends)}",
        f"name: {quoted(name)}",
        f"title: {quoted(title)}",
        "notes:",
        f"  - {quoted(_note(law, base))}",
        "sources:",
        f"  {_SOURCE}: {quoted(source)}",
        "system:",
    ]
    depth = 1
    for part in filter(None, path.split(".")):
        lines += ["  " * depth + "units:", "  " * (depth + 1) + f"{part}:"]
        depth += 2
    lines.append("  " * depth + "network:")
    inner = "  " * (depth + 1)
    lines += [f"{inner}source: {_SOURCE}", f"{inner}certainty: measured", f"{inner}ranges:"]
    lines += [f"{inner}  {each}: void" for each in old if each not in new]
    for each, measured in new.items():
        lines.append(f"{inner}  {each}:")
        lines += [f"{inner}    {line}" for line in _range_yaml(measured, law)]
    return "\n".join(lines) + "\n"


def _range_yaml(each: FittedRange, law: FittedLaw) -> list[str]:
    last = each is law.ranges[-1]
    lines = []
    if not last:
        after = law.ranges[law.ranges.index(each) + 1].first_bytes
        remark = f"the next larger size measured is {after:.0f} B"
        lines.append(f"upto: {{value: {each.last_bytes:.0f} B, remark: {remark}}}")
    lines.append(_figure("startup", each.startup_s, ""))
    lines.append(_figure("per_byte", each.per_byte_s, "/B"))
    if each.per_hop_s is not None:
        lines.append(_figure("per_hop", each.per_hop_s, ""))
    else:
        lines.append("per_hop: {value: 0 us, remark: one distance was measured and is in the start-up}")
    lines.append("receive_overhead: {value: 0 us, remark: contained in the start-up}")
    return lines


def _figure(key: str, estimate: Estimate, per: str) -> str:
    size, unit = _unit(estimate.value) if estimate.value > 0 else (1e-6, "us")
    value = f"{estimate.value / size:.6g} {unit}{per}"
    return f"{key}: {{value: {value}, remark: standard error {estimate.error / size:.2g} {unit}{per}}}"


def _note(law: FittedLaw, base: System) -> str:
    return f"the message law is fitted to {_file(law.table.name)}, all else is that of {base.name}"


def _file(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def quoted(text: str) -> str:
    """A word of YAML, in quotes wherever anything could be meant by it."""
    plain = text.replace("_", "").replace("-", "").isalnum() and not text[:1].isdigit()
    return text if plain else "'" + text.replace("'", "''") + "'"
