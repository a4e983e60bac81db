"""A prediction at a coarser granularity: AAUs and lines folded into the units that they belong to."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from interpreter.result import AauMetrics, CallShare, Figure, LineMetrics, MessageSummary, Parts, Result

SEVERAL = "several"
"""Pattern of the communication of a unit with more than one pattern inside."""


def folded(found: Result, unit_of: Mapping[int, int]) -> Result:
    """The prediction with one AAU for each unit, and what a unit costs in its line. Totals stay.

    `unit_of`: id of an AAU -> that of its unit, which is itself or an AAU around it.
    """
    inside: dict[int, list[AauMetrics]] = {}
    for each in found.aaus:
        inside.setdefault(unit_of[each.id], []).append(each)
    aaus = tuple(_unit(each, inside[each.id]) for each in found.aaus if each.id in inside)
    known = {(each.file, each.line): each for each in found.lines}
    places: dict[tuple[str, int], list[AauMetrics]] = {}
    for each in aaus:
        places.setdefault((each.span.file or found.file, each.span.line), []).append(each)
    lines = []
    for place, units in sorted(places.items()):
        before = known[place]
        same = before.aaus == tuple(each.id for unit in units for each in inside[unit.id])
        lines.append(before if same and len(before.aaus) == len(units) else _line(place, units))
    entries = tuple(replace(each, aau=unit_of[each.aau]) for each in found.counts.entries)
    return replace(found, aaus=aaus, lines=tuple(lines), counts=replace(found.counts, entries=entries))


def _unit(unit: AauMetrics, inside: Sequence[AauMetrics]) -> AauMetrics:
    if len(inside) == 1:
        return unit
    return replace(
        unit,
        parts=_sum([each.parts for each in inside]),
        comm=_talk([each.comm for each in inside if each.comm is not None]),
        hidden_s=_total([each.hidden_s for each in inside]),
        misses=sum(each.misses for each in inside),
        division=_division([share for each in inside for share in each.division]),
    )


def _division(shares: Sequence[CallShare]) -> tuple[CallShare, ...]:
    found: dict[int, list[Parts]] = {}
    for each in shares:
        found.setdefault(each.call, []).append(each.parts)
    return tuple(CallShare(call=call, parts=_sum(parts)) for call, parts in found.items())


def _sum(parts: Sequence[Parts]) -> Parts:
    return Parts(
        computation_s=_total([each.computation_s for each in parts]),
        communication_s=_total([each.communication_s for each in parts]),
        overhead_s=_total([each.overhead_s for each in parts]),
        waiting_s=_total([each.waiting_s for each in parts]),
    )


def _total(figures: Sequence[Figure]) -> Figure:
    return np.asarray(np.stack(figures).sum(axis=0))


def _talk(told: Sequence[MessageSummary]) -> MessageSummary | None:
    if len(told) < 2:
        return told[0] if told else None
    sizes: dict[int, int] = {}
    for summary in told:
        for size, count in summary.sizes:
            sizes[size] = sizes.get(size, 0) + count
    patterns = dict.fromkeys(each.pattern for each in told)
    return MessageSummary(
        array=", ".join(dict.fromkeys(each.array for each in told if each.array)),
        pattern=next(iter(patterns)) if len(patterns) == 1 else SEVERAL,
        executions=max(each.executions for each in told),
        messages=sum(each.messages for each in told),
        bytes=sum(each.bytes for each in told),
        sizes=tuple(sorted(sizes.items(), reverse=True)),
        varies=next((each.varies for each in told if each.varies), ""),
        hops=max(each.hops for each in told),
        contended=any(each.contended for each in told),
    )


def _line(place: tuple[str, int], units: Sequence[AauMetrics]) -> LineMetrics:
    alone = units[0] if len(units) == 1 else None
    talk = [each.comm for each in units if each.comm is not None]
    return LineMetrics(
        file=place[0],
        line=place[1],
        parts=_sum([each.parts for each in units]),
        max_s=None if alone is None else alone.max_s,
        max_processor=None if alone is None else alone.max_processor,
        messages=sum(each.messages for each in talk),
        bytes=sum(each.bytes for each in talk),
        hidden_s=_total([each.hidden_s for each in units]),
        aaus=tuple(each.id for each in units),
    )
