"""The interpretation algorithm: one walk over the application graph, one interpretation function for each class.

    interpret(program, graph, machine, setting) -> Prediction

The walk keeps a clock for every processor and scenario (D4) and asks a model what each AAU does to it. It is a
loop over a table; all ideas of cost are in `interpreter.models`.
Source: Parashar and Hariri, section 2.3 (interpretation function, interpretation algorithm).
"""

from collections.abc import Callable, Mapping

import numpy as np
from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.graph import aau as g
from aag.ir.evaluate import NUMBER_OF_PROCESSORS, Unknown, Value
from aag.ir.values import ArrayValues
from aag.mapping.resolve import NO_ASSUMPTIONS
from aag.mapping.settable import TRIPS
from aag.spmd.program import NodeProgram
from aag.spmd.vector import TooLarge
from interpreter.application import Application
from interpreter.books import Books
from interpreter.counts import Prices
from interpreter.errors import InterpretationError
from interpreter.evaluate import Scalars, leave_of
from interpreter.exits import without_conditions
from interpreter.listeners import Listener, Timekeeper, Watch
from interpreter.metrics import WAITING, Array, Ledger, Shape, Tally, difference, merged
from interpreter.models.asking import ask
from interpreter.models.communication import communicate
from interpreter.models.compute import charge_work
from interpreter.models.condition import choose
from interpreter.models.io import host_io
from interpreter.models.iteration import iterate, synchronised, undetermined
from interpreter.models.library import charge_library
from interpreter.models.message import Overtaken
from interpreter.models.sync import reduce
from interpreter.network import network_of
from interpreter.reduce import largest
from interpreter.result import Result
from interpreter.setting import Setting
from interpreter.state import Run
from interpreter.summary import About, summarise
from sag.machine import Machine

NO_SETTING = Setting()


def interpret(
    program: NodeProgram,
    graph: g.Graph,
    machine: Machine,
    setting: Setting = NO_SETTING,
    listener: Callable[[], Listener] | None = None,
    watch: Watch | None = None,
) -> Result:
    """Predict the time of a node program on a machine.

    Args:
        program: the node program.
        graph: its graph.
        machine: the machine.
        setting: options.
        listener: makes what is told what happens; the last one that it makes has heard all, as the walk may begin anew.
        watch: told how far the walk has come.

    Raises:
        UnresolvedError: values that decide the flow are not known; it lists all of them (D8).
        InterpretationError: a loop never ends.
    """
    application = Application(program)
    about = About(
        program=program.unit.name,
        file=program.file,
        lines=program.lines,
        others=program.others,
        constants=application.constants,
        complete=program.complete,
        notes=tuple(
            (note.code, note.message, note.span)
            for note in (*program.notes, *program.layouts.notes)
            if note.code not in NO_ASSUMPTIONS
        ),
    )
    return interpret_with(application, graph, machine, setting, about, listener, watch)


def interpret_with(
    application: Application,
    graph: g.Graph,
    machine: Machine,
    setting: Setting,
    about: About,
    listener: Callable[[], Listener] | None = None,
    watch: Watch | None = None,
) -> Result:
    """As `interpret`, for any answers to the engine's questions."""
    try:
        return _interpreted(application, graph, machine, setting, about, listener and listener(), watch)
    except Overtaken:
        setting = replace(setting, events=True)
        return _interpreted(application, graph, machine, setting, about, listener and listener(), watch)


def _interpreted(
    application: Application,
    graph: g.Graph,
    machine: Machine,
    setting: Setting,
    about: About,
    listener: Listener | None,
    watch: Watch | None,
) -> Result:
    graph = without_conditions(graph, _ended(setting))
    walker = Walker(graph, setting.values, setting)
    with np.errstate(over="ignore", invalid="ignore"):  # `finish` refuses what came of it
        run = start(application, graph, machine, setting, walker, listener)
        run.watch = watch
        run.books.complete = about.complete
        walker.walk(run, graph)
        return finish(run, graph, about)


def _ended(setting: Setting) -> frozenset[int]:
    """The lines of the loops of which it is known how often they run."""
    given = {int(found[1]) for name in setting.values if (found := TRIPS.fullmatch(name))}
    return frozenset(setting.trips) | given


def start(
    application: Application,
    graph: g.Graph,
    machine: Machine,
    setting: Setting,
    walker: "Walker",
    listener: Listener | None = None,
) -> Run:
    """The state before the first AAU: all clocks at 0 (Def 1), caches cold, links free."""
    procs, scenarios = application.procs, machine.scenarios
    cells = procs * graph.count
    detail = cells <= setting.detail_cells and 32 * cells * scenarios <= setting.detail_bytes
    shape = Shape(
        scenarios=scenarios, procs=procs, detail=detail, whole=detail or 8 * cells * scenarios <= setting.detail_bytes
    )
    env: dict[str, Value | ArrayValues] = {**application.initial, **setting.values, **application.constants}
    env[NUMBER_OF_PROCESSORS] = procs
    whole = Ledger(shape)
    books = Books(whole, whole)
    return Run(
        application=application,
        machine=machine,
        setting=setting,
        visit=walker.visit,
        prices=Prices(machine, lambda name: _unpriced(books, machine, name)),
        clock=np.zeros((scenarios, procs)),
        origin=np.zeros((scenarios, 1)),
        books=books,
        network=network_of(machine, procs, application.grid, setting.overlap),
        listener=listener,
        timekeeper=listener if listener is not None and isinstance(listener, Timekeeper) else None,
        env=env,
    )


def _unpriced(books: Books, machine: Machine, operation: str) -> None:
    """Say that the machine has no time for an operation."""
    books.assume("unpriced", f"the machine {machine.name} has no time for {operation}: it is not charged")
    books.complete = False


def finish(run: Run, graph: g.Graph, about: About) -> Result:
    """All wait for the last (Def 3); then the ledger is read."""
    end = next((each for each in g.walk(graph.body) if isinstance(each, g.End)), None)
    own_end = run.clock + run.origin
    if not np.isfinite(own_end).all():
        raise InterpretationError(
            (
                Diagnostic(
                    code="E509",
                    message="the predicted time is too large to represent",
                    span=graph.body[0].span,
                    hint="look for an extreme problem size, machine parameter or change",
                ),
            )
        )
    idle = largest(own_end)[:, None] - own_end
    if end is not None:
        run.tell(end.id, WAITING, run.clock, idle, None)
    if run.setting.timed:
        own_end, idle = _between_marks(run, own_end, idle)
    if end is not None:
        run.books.note(end.id, WAITING, idle, give=True)
        run.books.ended[end.id] = largest(run.clock) + run.origin[:, 0]
        run.books.count(end.id, Tally.EXECUTIONS, 1.0)
    return summarise(run, graph, about, own_end)


def _between_marks(run: Run, own_end: Array, idle: Array) -> tuple[Array, Array]:
    """Keep of the ledger what was spent between two readings of the clock (Def 5). The region begins when the last
    comes to the first reading: the time by which others came earlier is taken off their idling."""
    if len(run.books.marks) < 2:
        run.books.assume("timed", "the program does not read the clock twice: showing the whole program")
        return own_end, idle
    (began, before), (ended, after) = run.books.marks[0], run.books.marks[-1]
    if before is None or after is None:
        run.books.assume("timed", "the program reads the clock inside a loop: showing the whole program")
        return own_end, idle
    run.books.ledger = difference(after, before)
    start, stop = largest(began)[:, None], largest(ended)[:, None]
    return ended - start, (stop - ended) - (start - began)


class Walker:
    """Visits AAUs in program order. What a body leaves early is handed up as "kind:name" (see `Run.visit`)."""

    def __init__(self, graph: g.Graph, given: Mapping[str, Value], setting: Setting = NO_SETTING) -> None:
        self.scalars = Scalars(graph, given, setting.scalar_steps, setting.unsteady)

    def walk(self, run: Run, graph: g.Graph) -> None:
        """Interpret a whole graph.

        Raises:
            UnresolvedError: values that decide the flow are missing, or, once all is interpreted, shares of conditions
                that may be found (`Setting.asks_shares`).
        """
        self.visit(run, graph.body)
        ask(run)

    def visit(self, run: Run, body: tuple[g.AAU, ...]) -> str:
        """Interpret the AAUs of a body one after the other."""
        listener = run.listener
        for aau in body:
            if listener is not None:
                listener.entered(aau, run.clock + run.origin)
            try:
                left = HANDLERS[type(aau)](self, run, aau)
            except Unknown as unknown:
                raise self.scalars.unresolved(unknown, aau.span, run.env) from unknown
            except MemoryError as problem:
                finding = Diagnostic(
                    code="E510",
                    message="not enough memory to interpret this statement",
                    span=aau.span,
                    hint="choose fewer processors or scenarios, or a smaller problem",
                )
                raise InterpretationError((finding,)) from problem
            except TooLarge as problem:
                finding = Diagnostic(
                    code="E505",
                    message=f"the index space of this statement is too large: {problem}",
                    span=aau.span,
                    hint="choose a smaller problem",
                )
                raise InterpretationError((finding,)) from problem
            run.books.ended[aau.id] = largest(run.clock) + run.origin[:, 0]
            if listener is not None:
                listener.left(aau, run.clock + run.origin)
            if left:
                return left
        return ""

    def nothing(self, run: Run, aau: g.AAU) -> str:
        """Start and End: no time of their own (Def 1; the wait at the end is settled after the walk)."""
        if isinstance(aau, g.Start):
            run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
        return ""

    def spawn(self, run: Run, aau: g.Spawn) -> str:
        """Loading is `load_s`, never in the clock (Def 1)."""
        return self.visit(run, aau.body)

    def sequence(self, run: Run, aau: g.Seq) -> str:
        """Replicated statements: every processor computes them (Def 15)."""
        charge_work(run, aau.id, aau.work)
        run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
        if aau.assigns:
            self.scalars.assign(run.env, aau.assigns)
        elif aau.defines:
            self.scalars.forget(run.env, aau.defines & self.scalars.relevant)
        if aau.unmodelled:
            run.books.assume(
                "unmodelled", f"line {aau.span.line}: {aau.unmodelled}; no time is charged for it", aau.span
            )
            run.books.complete = False
        if aau.clock_mark:
            self._mark(run)
        return leave_of(aau)

    def _mark(self, run: Run) -> None:
        books = run.books
        kept = run.setting.timed and books.ledger is books.whole
        ledger = merged([books.ledger, Ledger(books.ledger.shape)]) if kept else None
        if len(books.marks) > 1:
            books.marks.pop()
        times = run.clock + run.origin
        books.marks.append((times if run.setting.timed else largest(times)[:, None], ledger))

    def iteration(self, run: Run, aau: g.IterD) -> str:
        """IterD."""
        return iterate(run, self.scalars, aau)

    def synchronised(self, run: Run, aau: g.IterSync) -> str:
        """IterSync."""
        return synchronised(run, self.scalars, aau)

    def undetermined(self, run: Run, aau: g.IterND) -> str:
        """IterND."""
        return undetermined(run, self.scalars, aau)

    def condition(self, run: Run, aau: g.CondtD | g.CondtSync) -> str:
        """CondtD and CondtSync."""
        return choose(run, self.scalars, aau)

    def communication(self, run: Run, aau: g.Comm) -> str:
        """Comm: between processors, or with the host."""
        communicate(run, aau)
        self.scalars.forget(run.env, aau.defines & self.scalars.relevant)  # what is read may say how much is read
        host_io(run, aau)
        return ""

    def reduction(self, run: Run, aau: g.SyncSeq) -> str:
        """SyncSeq."""
        reduce(run, aau)
        self.scalars.forget(run.env, aau.defines & self.scalars.relevant)
        return ""

    def call(self, run: Run, aau: g.Call) -> str:
        """Call: its own overhead, and the body where it is known."""
        charge_work(run, aau.id, aau.work)
        charge_library(run, aau)
        run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
        if aau.assumption:
            run.books.assume("call", f"line {aau.span.line}: {aau.assumption}", aau.span)
        left = self.visit(run, aau.body)
        if not aau.body:
            self.scalars.forget(run.env, aau.defines & self.scalars.relevant)
        return "" if left.startswith("return") else left


HANDLERS: Mapping[type[g.AAU], Callable[..., str]] = {
    g.Start: Walker.nothing,
    g.End: Walker.nothing,
    g.Spawn: Walker.spawn,
    g.Seq: Walker.sequence,
    g.IterD: Walker.iteration,
    g.IterSync: Walker.synchronised,
    g.IterND: Walker.undetermined,
    g.CondtD: Walker.condition,
    g.CondtSync: Walker.condition,
    g.Comm: Walker.communication,
    g.SyncSeq: Walker.reduction,
    g.Call: Walker.call,
}
