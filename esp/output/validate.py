"""What `esp validate` found, as tables."""

from collections.abc import Sequence
from itertools import chain
from statistics import median

from esp.output.numbers import seconds
from esp.validate.cachegrind import MANY, SHIFTS, MissComparison, MissRow, Unsteady
from esp.validate.counted import CountedRun
from esp.validate.native import Executed
from esp.validate.simgrid import LAW, Simulated


def validation_text(found: object) -> str:
    """The table of any method: one line for each number of processors, or for each source line with loop nests."""
    match found:
        case MissComparison():
            return _missed(found) + _unsteady(found.unsteady)
        case (Executed(), *_):
            return _executed([each for each in found if isinstance(each, Executed)])
        case (CountedRun(), *_):
            return _counted([each for each in found if isinstance(each, CountedRun)])
        case (Simulated(), *_):
            return _simulated([each for each in found if isinstance(each, Simulated)])
        case _:
            raise TypeError(f"no table for {found!r}")


_EXECUTED = ("procs", "answer", "messages", "counted", "bytes", "counted", "each processor")


def _executed_cells(outcome: Executed) -> list[str]:
    """One line of the table."""
    sums = [
        str(sum(value[part] for value in counts.values()))
        for part in (0, 1)
        for counts in (outcome.predicted.counts, outcome.counted)
    ]
    answer = "differs" if outcome.difference else "same"
    if outcome.native:
        sums[1] = sums[3] = "-"
    return [str(outcome.procs), answer, *sums, _verdict(outcome)]


def _verdict(outcome: Executed) -> str:
    if outcome.native:
        return "not compared"
    if outcome.wrong:
        return "differs"
    return "may differ" if outcome.different else "same"


def _executed(outcomes: Sequence[Executed]) -> str:
    """One line for each number of processors."""
    return _columns([list(_EXECUTED), *map(_executed_cells, outcomes)])


_SIMULATED = ("procs", "answer", "messages", "bytes", "links", "predicted", "simulated", "error", "any proc.")


def _simulated(outcomes: Sequence[Simulated]) -> str:
    """One line for each number of processors, and what SimGrid cannot do."""
    text = _columns([list(_SIMULATED), *map(_simulated_cells, outcomes)])
    worst = max((each.law_error for each in outcomes), default=0.0)
    if worst > LAW:
        text += (
            "SimGrid scales start-up and hops together: a message takes up to "
            f"{100 * worst:.1f} % more or less\nthere than in the machine file.\n"
        )
    return text


def _simulated_cells(outcome: Simulated) -> list[str]:
    return [
        str(outcome.procs),
        "differs" if outcome.difference else "same",
        str(outcome.messages),
        str(outcome.bytes),
        "shared" if outcome.contended else "free",
        seconds(float(outcome.predicted_s.max())),
        seconds(float(outcome.simulated_s.max())),
        _percent(outcome.error),
        _percent(outcome.worst_error, sign=""),
    ]


_COUNTED = (
    "procs",
    "answer",
    "messages",
    "counted",
    "bytes",
    "counted",
    "operations",
    "predicted",
    "executed",
    "error",
)


def _counted(outcomes: Sequence[CountedRun]) -> str:
    """One line for each number of processors, and the operations that differ."""
    text = _columns([list(_COUNTED), *map(_counted_cells, outcomes)])
    other = [(each.procs, row) for each in outcomes for row in each.other]
    if other:
        rows = [[str(procs), row.operation, f"{row.predicted:.10g}", str(row.counted)] for procs, row in other]
        text += "\n" + _columns([["procs", "operation", "predicted", "counted"], *rows])
    return text + "Times are without a cache.\n"


def _counted_cells(outcome: CountedRun) -> list[str]:
    return [
        str(outcome.procs),
        "differs" if outcome.difference else "same",
        *map(str, (*outcome.messages, *outcome.bytes)),
        "same" if not outcome.other else "may differ" if outcome.assumes else "differ",
        seconds(outcome.predicted_s),
        seconds(outcome.executed_s),
        _percent(outcome.error),
    ]


def _percent(fraction: float, sign: str = "+") -> str:
    """Never a plain 0 for what is not."""
    return f"{100 * fraction:{sign}.2f} %" if abs(fraction) >= 5e-5 else "< 0.01 %" if fraction else "0 %"


_MISSED = ("line", "read", "write", "read", "write", "error")


def _missed(found: MissComparison) -> str:
    """One line for each source line that has nests, and a summary."""
    rows = [list(_MISSED), *map(_missed_cells, found.rows)]
    shown = _columns(rows).splitlines()
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    counted, predicted = (width[at] + 2 + width[at + 1] for at in (1, 3))
    lines = [f"{'':{width[0]}}  {'counted':>{counted}}  {'predicted':>{predicted}}", shown[0]]
    lines += [f"{line}  {row.text}"[:_WIDTH].rstrip() for line, row in zip(shown[1:], found.rows, strict=True)]
    return "\n".join([*lines, "", *_summary(found)]) + "\n"


_WIDTH = 80


def _missed_cells(row: MissRow) -> list[str]:
    off = f"{100 * row.error:+.1f} %" if row.misses >= MANY else f"{row.off:+.0f}"
    return [str(row.line), *(f"{each:.0f}" for each in chain(row.counted, row.predicted)), off]


def _summary(found: MissComparison) -> list[str]:
    """What the errors come to, and in what cache."""
    many = [abs(row.error) for row in found.nests if row.misses >= MANY]
    few = [abs(row.off) for row in found.nests if row.misses < MANY]
    lines = []
    if many:
        lines.append(
            f"{_nests(many)} of at least {MANY} misses: median error {100 * median(many):.1f} %, "
            f"worst {100 * max(many):.1f} %."
        )
    if few:
        lines.append(f"{_nests(few)} of fewer: at most {max(few):.0f} misses off.")
    cache = found.geometry
    lines.append(
        f"Data cache: {cache.size_bytes} bytes, {cache.ways} ways, lines of {cache.line_bytes} bytes, "
        "LRU, allocates on writes."
    )
    if found.aliased:
        lines.append(f"More than {cache.ways} arrays begin in the same set of the cache: {', '.join(found.aliased)}.")
    return lines


def _unsteady(unsteady: Sequence[Unsteady]) -> str:
    """What is said of nests whose misses are those of conflicts."""
    return "".join(
        f"Line {each.row.line} has conflict misses: {each.least:.0f} to {each.most:.0f} are counted when the arrays "
        f"are moved apart by {', '.join(map(str, SHIFTS))} lines.\n"
        for each in unsteady
    )


def _nests(values: Sequence[float]) -> str:
    return f"{len(values)} nest{'' if len(values) == 1 else 's'}"


def _columns(rows: list[list[str]]) -> str:
    """Rows of text as a table, every column flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) + "\n" for row in rows)
