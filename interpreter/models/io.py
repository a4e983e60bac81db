"""Input and output through the host (Def 2, 15): rank 0 formats, the host link carries the bytes.

Formatting is overhead, the host link communication; both together are `io_s`. What is read goes on to all
processors in a broadcast.
"""

from aag.graph.aau import Comm
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Expr
from interpreter.listeners import Traffic
from interpreter.metrics import COMMUNICATION, OVERHEAD, Tally
from interpreter.models.communication import Plan, execute, make_plan
from interpreter.models.sync import everybody
from interpreter.state import Run

ROOT = slice(0, 1)
HOST = Traffic("host")


def host_io(run: Run, aau: Comm) -> None:
    """Interpret PRINT, WRITE or READ."""
    host = aau.host
    if host is None:
        return
    amount = _number(run, host.bytes, aau)
    if run.setting.io:
        _link(run, aau, _number(run, host.items, aau), amount)
    run.count(aau.id, Tally.EXECUTIONS, 1.0)
    spread = _number(run, host.spread, aau) if host.kind == "read" else 0
    if run.procs > 1 and spread:
        key = ("read", aau.id, spread)
        plan = run.memo.get(key)
        if not isinstance(plan, Plan):
            plan = make_plan(run, (everybody(run, "broadcast", 1, spread),), array="", pattern_name="broadcast")
            run.memo[key] = plan
        execute(run, aau.id, plan)
        run.count(aau.id, Tally.EXECUTIONS, -1.0)


def _link(run: Run, aau: Comm, items: int, amount: int) -> None:
    io = run.machine.io
    if io is None:
        run.assume("no-io", f"the machine {run.machine.name} describes no input and output: they could not be charged")
        run.complete = False
        return
    formatting = (io.format_item_s * items)[:, None]
    link = (io.host_latency_s + io.host_per_byte_s * amount)[:, None]
    host = aau.host
    if host is not None and host.kind == "read":
        run.spend(aau.id, COMMUNICATION, link, ROOT, HOST)
        run.spend(aau.id, OVERHEAD, formatting, ROOT)
    else:
        run.spend(aau.id, OVERHEAD, formatting, ROOT)
        run.spend(aau.id, COMMUNICATION, link, ROOT, HOST)
    run.count(aau.id, Tally.IO_S, (formatting + link)[:, 0] / run.procs)
    if io.estimated:
        run.count(aau.id, Tally.ESTIMATED_S, (formatting + link)[:, 0] / run.procs)


def _number(run: Run, expr: Expr, aau: Comm) -> int:
    """An amount that is known; one item where it is not, which is announced."""
    try:
        return max(0, evaluate_int(expr, run.env))
    except Unknown as unknown:
        run.assume("io-amount", f"line {aau.span.line}: how much is read or written depends on {unknown.name}, which "
                   "is not known: 8 items or bytes are charged", aau.span)
        return 8


