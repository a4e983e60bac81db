"""Rewrite the tables of docs/accuracy.md: ``python -m tests.truth.write_accuracy`` (minutes; needs SimGrid).
Names of tables choose: ``python -m tests.truth.write_accuracy programs readings``.

Text between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` is replaced, everything else is left as it stands.
"""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import numpy as np

from esp.api import predict
from tests.truth import clement, simulated
from tests.truth.laplace_table import DISTRIBUTIONS, SWEEPS, Row, table
from tests.truth.pairs import CLASSES, results_of
from tests.truth.predicted import PROGRAMS
from tests.truth.simulated import DATA_DECIDE

ACCURACY = Path(__file__).parents[2] / "docs" / "accuracy.md"

PUBLISHED_MS: Mapping[str, tuple[float, ...]] = {
    "all": (580.6, 291.0, 146.2, 73.84, 37.9, 19.9),
    "any": (606.2, 303.7, 152.6, 77.1, 39.4, 20.7),
    "maxval": (658.8, 330.4, 166.1, 84.1, 43.4, 23.2),
    "product": (90.1, 50.0, 25.1, 13.1, 7.2, 4.2),
    "dot_product": (164.8, 83.0, 42.2, 22.0, 12.1, 7.4),
    "transpose": (299.0, 575.0, 395.0, 213.0, 121.0, 69.0),
}
"""Milliseconds on 1, 2, 4, 8, 16, 32 nodes: Z. Bozkus, A. Choudhary, G. Fox, T. Haupt, S. Ranka, Fortran 90D/HPF
compiler for distributed-memory MIMD computers (SC'93, HICSS-26). Cited, not re-read."""

NODES = (1, 2, 4, 8, 16, 32)

TITLES = {
    "all": "ALL 1024 x 1024",
    "any": "ANY 1024 x 1024",
    "maxval": "MAXVAL 1024 x 1024",
    "product": "PRODUCT 262144",
    "dot_product": "DOT_PRODUCT 262144",
    "transpose": "TRANSPOSE 512 x 512",
}


def percent(fraction: float) -> str:
    """Two digits that count, and never a plain 0 for what is not."""
    return f"{100 * fraction:.2f}" if fraction >= 5e-5 else "< 0.01"


def classes() -> str:
    """The errors of each class of program."""
    lines = [
        "| class | pairs | time: median % | worst % | worst pair | waiting: median % | worst % | bounds % |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: | --- |",
    ]
    return "\n".join([*lines, *(class_row(name) for name in CLASSES)])


def class_row(name: str) -> str:
    """The line of a class in the table of errors."""
    each, results = CLASSES[name], results_of(name)
    strangers = [result for result in results if not result.same_messages]
    assert not strangers, f"{name}: messages or bytes differ"
    worst = max(results, key=lambda result: result.time_error)
    waiting = [result.waiting_error for result in results]
    return (
        f"| {each.title} | {len(results)} | {percent(median(result.time_error for result in results))} | "
        f"{percent(worst.time_error)} | `{worst.pair}` | {percent(median(waiting))} | {percent(max(waiting))} | "
        f"{100 * each.bounds.median:g}, {100 * each.bounds.worst:g} |"
    )


def programs() -> str:
    """Every benchmark beside its own node program, simulated on the machine as it is described."""
    lines = [
        "| program | no computation: P = 8 % | P = 64 % | messages meet at P | error: worst % | any processor % |",
        "| --- | ---: | ---: | --- | ---: | ---: |",
    ]
    rows = [*map(programs_row, simulated.PROGRAMS), *(f"| `{name}` | - | - | - | - | - |" for name in DATA_DECIDE)]
    return "\n".join([*lines, *sorted(rows)])


def programs_row(name: str) -> str:
    """The line of a benchmark."""
    results = simulated.results_of(programs=(name,))
    shares = " | ".join(f"{100 * each.share:.0f}" for each in results if each.procs in (8, 64))
    meet = ", ".join(str(each.procs) for each in results if each.outcome.contended) or "none"
    worst, any_processor = (
        max(found)
        for found in zip(*((abs(each.outcome.error), each.outcome.worst_error) for each in results), strict=True)
    )
    return f"| `{name}` | {shares} | {meet} | {percent(worst)} | {percent(any_processor)} |"


def readings() -> str:
    """All benchmarks under other readings of the machine."""
    lines = [
        "| iPSC/860 | runs | free: worst % | meet | median % | worst % | worst run | any one % | span % | beyond % |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    return "\n".join([*lines, *(readings_row(reading) for reading in simulated.READINGS)])


def readings_row(reading: str) -> str:
    """The line of a reading."""
    results = simulated.results_of(reading)
    free = max(abs(each.outcome.error) for each in results if not each.outcome.contended)
    meeting = [each for each in results if each.outcome.contended]
    worst = max(meeting, key=lambda each: abs(each.outcome.error))
    middle = median(abs(each.outcome.error) for each in meeting)
    any_processor = max(each.outcome.worst_error for each in results)
    return (
        f"| {reading} | {len(results)} | {percent(free)} | {len(meeting)} | {percent(middle)} | "
        f"{percent(abs(worst.outcome.error))} | `{worst}` | {percent(any_processor)} | "
        f"{percent(max(each.span for each in meeting))} | "
        f"{percent(max(each.beyond for each in meeting))} |"
    )


def ties() -> str:
    """Complete exchanges in which many messages of the same instant want the same links."""
    lines = [
        "Milliseconds for two exchanges of 2048 bytes between any two processors.",
        "",
        "| P | order | predicted | simulated, lower rank first | as the simulator takes them | by lot (four seeds) |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for result in results_of("contended"):
        pair = result.pair
        if pair.procs in (8, 12, 16, 24, 32, 48, 64) and pair.program == "turn" and "2048" in pair.label:
            lots = [1e3 * pair.simulation(ties=seed).time_s for seed in range(4)]
            plain = 1e3 * pair.simulation(ties="simulator").time_s
            order = "all at once" if "at once" in pair.label else "ring"
            lines.append(
                f"| {pair.procs} | {order} | {1e3 * result.predicted.time_s:.2f} | {1e3 * result.time_s:.2f} | "
                f"{plain:.2f} | {min(lots):.2f} to {max(lots):.2f} |"
            )
    return "\n".join(lines)


def _order(rows: list[Row], key: Callable[[Row], float]) -> str:
    return " < ".join(row.distribution for row in sorted(rows, key=key))


def laplace() -> str:
    """The kernel's time of the three distributions."""
    lines = [
        f"Milliseconds for {SWEEPS} sweeps; predicted, and simulated where a digit differs.",
        "",
        "| P | N | bb `(BLOCK,BLOCK)` | bx `(BLOCK,*)` | xb `(*,BLOCK)` | predicted order | simulated order |",
        "| ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for rows in table():
        cells = [f"| {rows[0].procs} | {rows[0].n} "]
        for row in rows:
            shown, other = (f"{1e3 * time:.2f}" for time in (row.predicted_s, row.simulated_s))
            cells.append(f"| {shown} " if shown == other else f"| {shown} ({other}) ")
        cells += [f"| {_order(rows, lambda row: row.predicted_s)} ", f"| {_order(rows, lambda row: row.simulated_s)} |"]
        lines.append("".join(cells))
    return "\n".join(lines)


def costs() -> str:
    """What the three distributions consist of."""
    lines = [
        "Milliseconds, means over processors.",
        "",
        "| P | N | distribution | computation | lines missed | communication | overhead | of it packing | waiting |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for rows in table():
        if rows[0].n not in (16, 64, 256):
            continue
        for row in rows:
            parts = row.timed.parts
            misses = sum(aau.misses for aau in row.timed.aaus) / row.procs
            each = (parts.computation_s, parts.communication_s, parts.overhead_s, parts.waiting_s)
            computation, communication, overhead, waiting = (f"{1e3 * float(part[0]):.2f}" for part in each)
            lines.append(
                f"| {row.procs} | {row.n} | {row.distribution} | {computation} | {misses:.0f} | {communication} | "
                f"{overhead} | {1e3 * row.packing_s:.2f} | {waiting} |"
            )
    return "\n".join(lines)


def intrinsics() -> str:
    """The Fortran 90D intrinsics, as published and as predicted."""
    lines = [
        "Milliseconds, published / predicted.",
        "",
        "| nodes | " + " | ".join(TITLES[name] for name in PUBLISHED_MS) + " |",
        "| ---: |" + " ---: |" * len(PUBLISHED_MS),
    ]
    found = {name: [_timed_ms(name, procs) for procs in NODES] for name in PUBLISHED_MS}
    for at, procs in enumerate(NODES):
        cells = [f"{PUBLISHED_MS[name][at]:g} / {found[name][at]:.1f}" for name in PUBLISHED_MS]
        lines.append(f"| {procs} | " + " | ".join(cells) + " |")
    errors = {name: np.array(found[name]) / PUBLISHED_MS[name] - 1 for name in PUBLISHED_MS}
    lines.append(
        "| error % | "
        + " | ".join(f"{100 * error.min():+.0f} to {100 * error.max():+.0f}" for error in errors.values())
        + " |"
    )
    return "\n".join(lines)


def _timed_ms(name: str, procs: int) -> float:
    found = predict(PROGRAMS / f"intrinsic_{name}.hpf", system="ipsc860-f90d", procs=procs, io=False).timed_s
    assert isinstance(found, float)
    return 1e3 * found


def equation() -> str:
    """Clement's equation of an elimination on the nCUBE 3200, and predictions."""
    lines = [
        "Seconds, equation / predicted.",
        "",
        "| nodes | " + " | ".join(f"N = {n}" for n in clement.SIZES) + " |",
        "| ---: |" + " ---: |" * len(clement.SIZES),
    ]
    for procs in clement.PROCS:
        cells = []
        for n in clement.SIZES:
            values = {"n": n}
            found = predict(PROGRAMS / "published_gauss.hpf", system="ncube3200", procs=procs, set=values, io=False)
            fitted = clement.elimination_s(n, procs)
            cells.append(f"{fitted:.2f} / {found.timed_s:.2f} ({100 * (found.timed_s / fitted - 1):+.0f} %)")
        lines.append(f"| {procs} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


TABLES: Mapping[str, Callable[[], str]] = {
    "classes": classes,
    "ties": ties,
    "programs": programs,
    "readings": readings,
    "laplace": laplace,
    "costs": costs,
    "intrinsics": intrinsics,
    "equation": equation,
}


def rewritten(text: str, tables: Mapping[str, str]) -> str:
    """The page with its tables replaced.

    Raises:
        ValueError: the page lacks one.
    """
    for name, fresh in tables.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"the page has no place, or several, for {name}")
        text = pattern.sub(lambda found, fresh=fresh: f"{found[1]}{fresh}\n{found[2]}", text)
    return text


def main() -> None:
    """Compare, and write the page: all tables, or those that are named."""
    assert set(DISTRIBUTIONS) == {"bb", "bx", "xb"}
    for name in sys.argv[1:] or TABLES:
        table = TABLES[name]()
        page = ACCURACY.read_text(encoding="utf-8")
        ACCURACY.write_text(rewritten(page, {name: table}), encoding="utf-8")


if __name__ == "__main__":
    main()
