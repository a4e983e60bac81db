"""Input and output through the host (Def 2, 15): rank 0 formats, the host link carries the bytes.

Formatting is overhead, the host link communication; both together are `io_s`. Replicated data that were read go on to
all processors in a broadcast. Internal files are formatted by every processor.
"""

import numpy as np

from aag.graph.aau import Comm
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Expr
from aag.spmd.nodes import HostIo
from interpreter.counts import SENDING, CountColumn, Counts
from interpreter.listeners import Traffic
from interpreter.metrics import COMMUNICATION, OVERHEAD, Tally
from interpreter.models.communication import Plan, execute, make_plan
from interpreter.models.sync import everybody
from interpreter.remembered import remembered
from interpreter.state import Run

ROOT = slice(0, 1)
HOST = Traffic("host")
FORMAT = CountColumn(((OVERHEAD, "io.format_item", 1.0),))
LINK = (CountColumn(((SENDING, "link.startup", 1.0),)), CountColumn(((SENDING, "link.per_byte", 1.0),)))


def host_io(run: Run, aau: Comm) -> None:
    """Interpret PRINT, WRITE, READ and other I/O statements."""
    host = aau.host
    if host is None:
        return
    if run.setting.io and host.kind != "control":
        _link(run, aau, host)
    run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
    for shared in host.shared:
        amount = _number(run, shared.bytes, aau)
        if run.procs == 1 or not amount:
            continue
        execute(run, aau.id, _plan(run, amount))
        run.books.count(aau.id, Tally.EXECUTIONS, -1.0)


@remembered(lambda _, amount: amount)
def _plan(run: Run, amount: int) -> Plan:
    """How rank 0 tells all processors so many bytes."""
    return make_plan(run, (everybody(run, "broadcast", 1, amount),), array="", pattern_name="broadcast")


def _link(run: Run, aau: Comm, host: HostIo) -> None:
    io = run.machine.io
    if io is None:
        text = f"the machine {run.machine.name} describes no input and output: they could not be charged"
        run.books.assume("no-io", text)
        run.books.complete = False
        return
    items = _number(run, host.items, aau)
    formatting = (io.format_item_s * items)[:, None]
    if host.kind == "format":  # an internal file of each processor
        run.busy(aau.id, OVERHEAD, formatting)
        run.books.pay(aau.id, Counts(run.prices.basis(FORMAT), np.full((1, 1), float(items))))
        return
    records, size = _number(run, host.records, aau), _number(run, host.bytes, aau)
    link = (io.host_latency_s * records + io.host_per_byte_s * size)[:, None]
    if host.kind == "read":
        run.spend(aau.id, COMMUNICATION, link, ROOT, HOST)
        run.busy(aau.id, OVERHEAD, formatting, ROOT)
    else:
        run.busy(aau.id, OVERHEAD, formatting, ROOT)
        run.spend(aau.id, COMMUNICATION, link, ROOT, HOST)
    often = np.array([[items], [records], [size]], np.float64)
    run.books.pay(aau.id, Counts(run.prices.basis(FORMAT, *LINK), often), ROOT)


def _number(run: Run, expr: Expr, aau: Comm) -> int:
    """An amount that is known; one item where it is not, which is announced."""
    try:
        return max(0, evaluate_int(expr, run.env))
    except Unknown as unknown:
        run.books.assume(
            "io-amount",
            f"line {aau.span.line}: the amount read or written depends on {unknown.name}, which is unknown: "
            "assuming 8 items or bytes",
            aau.span,
        )
        return 8
