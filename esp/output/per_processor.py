"""How each processor spends the time: the four categories of a row add up to the same total (Def 3)."""

import numpy as np

from esp.output.columns import Column, TableRow, table
from esp.output.numbers import percentages, seconds
from esp.output.screen import Screen
from esp.prediction import Prediction, first

_ALL_UP_TO = 64
_SHOWN_OF_MANY = 16
_WITH_BARS = 80


def per_processor(prediction: Prediction, screen: Screen) -> str:
    """A table of the processors; of very many, those that work longest."""
    count = prediction.processors
    data = prediction.per_processor
    busy = data.computation_s[0] + data.overhead_s[0]
    ranks = np.arange(count) if count <= _ALL_UP_TO else np.argsort(-busy, kind="stable")[:_SHOWN_OF_MANY]
    columns = [Column("proc", width=4), *(Column(name, width=8) for name in ("comp", "comm", "wait", "ovhd"))]
    columns += [Column("own end", width=8), Column("busy", width=4), Column("", "<", 20)]
    total_s = first(prediction.time_s)
    kinds = (data.computation_s[0], data.communication_s[0], data.waiting_s[0], data.overhead_s[0])
    rows = []
    for rank in ranks:
        times = [float(kind[rank]) for kind in kinds]
        shares = percentages(times)
        cells = [str(rank), *map(seconds, times), seconds(float(data.end_s[0, rank]))]
        bar = _bar(times, total_s, 20 if screen.columns >= _WITH_BARS else 0)
        rows.append(TableRow((*cells, f"{100 - shares[2] if total_s > 0 else 0}%", bar)))
    for name, of in (("min", np.min), ("mean", np.mean), ("max", np.max)):
        cells = [name, *(seconds(float(of(kind))) for kind in kinds), seconds(float(of(data.end_s[0])))]
        rows.append(TableRow((*cells, "", ""), "faint"))
    text = table(columns, rows, screen)
    if count > len(ranks):
        text += f"\nand {count - len(ranks):,} more that work less (--per-processor --csv lists all)"
    key = "" if screen.columns < _WITH_BARS else "\n# computation  = communication  . waiting  o overhead"
    return text + key + "\n"


def _bar(times: list[float], total_s: float, width: int) -> str:
    """Computation, communication, waiting, overhead as stretches of ``#``, ``=``, ``.`` and ``o``."""
    if total_s <= 0:
        return ""
    ends = [round(width * sum(times[: i + 1]) / total_s) for i in range(4)]
    starts = [0, *ends[:3]]
    return "".join(mark * (end - start) for mark, start, end in zip("#=.o", starts, ends, strict=True))
