"""A walk whose books stay open: for the closer look at each processor, and for many positions of sliders at once."""

import numpy as np
from msgspec.structs import replace

from esp import api
from interpreter.engine import Walker, finish, start
from interpreter.listeners import Listener
from interpreter.lowered import Lowered
from interpreter.metrics import Ledger
from interpreter.result import Prediction
from interpreter.setting import Setting
from interpreter.state import Links, Run
from interpreter.summary import About
from sag.machine import Machine
from sag.scenario import export
from sag.unit import System

_SCENARIO_AXIS = (-2, -2, -2, -1, -1)
"""Where the scenarios are in each of `Ledger.tables`."""


def walked(stages: api.Stages, system: System, request: api.Request, listener: Listener | None = None) -> Run:
    """The state after the last AAU, before all wait for the last. `listener`: may raise to give up.

    Raises:
        sag.errors.MachineError: the scenario does not fit the machine.
        aag.diagnostics.SourceError: values prevent the prediction.
    """
    graph = stages.graph
    values = {name.lower(): value for name, value in request.values.items()}
    setting = Setting(io=request.scenario.io, timed=request.timed, force_unroll=request.unroll, values=values)
    walker = Walker(graph, setting.values, setting.scalar_steps)
    with np.errstate(over="ignore", invalid="ignore"):  # `closed` refuses what came of it
        run = start(Lowered(stages.node_program), graph, export(system, request.scenario), setting, walker, listener)
        walker.books = run.ledger
        walker.visit(run, graph.body)
    return run


def closed(run: Run, stages: api.Stages) -> Prediction:
    """All wait for the last, and the books are read; once for each run.

    Raises:
        aag.diagnostics.SourceError: the time is too large for a number.
    """
    program = stages.node_program
    about = About(
        program=program.unit.name,
        file=program.file,
        lines=program.lines,
        constants=run.services.constants,
        complete=program.complete,
        notes=tuple((note.code, note.message, note.span) for note in (*program.notes, *program.layouts.notes)),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        return finish(run, stages.graph, about)


def stripped(run: Run) -> Run:
    """The run without what only the walk needs."""
    return replace(run, memo={}, links=Links(), cache=None, recorder=None, tape=None, listener=None, timekeeper=None)


def scenario_of(run: Run, at: int, machine: Machine) -> Run:
    """The run of one of its scenarios, as copies, on the machine that this scenario has."""
    one = slice(at, at + 1)
    marks = [(times[one].copy(), None if ledger is None else _ledger_of(ledger, at)) for times, ledger in run.marks]
    return replace(
        run,
        machine=machine,
        clock=run.clock[one].copy(),
        origin=run.origin[one].copy(),
        ledger=_ledger_of(run.ledger, at),
        marks=marks,
        ended={aau: each[one] for aau, each in run.ended.items()},
        overlap=None if run.overlap is None or run.overlap.shape[0] == 1 else run.overlap[one],
        assumptions=dict(run.assumptions),
    )


def _ledger_of(ledger: Ledger, at: int) -> Ledger:
    found = Ledger(replace(ledger.shape, scenarios=1))
    for own, table, axis in zip(found.tables(), ledger.tables(), _SCENARIO_AXIS, strict=True):
        one = (..., slice(at, at + 1), slice(None)) if axis == -2 else (..., slice(at, at + 1))
        own.update({key: values[one].copy() for key, values in table.items()})
    return found


def nbytes(run: Run) -> int:
    """Memory that the run holds, once it is `stripped`."""
    books = [run.ledger, *(ledger for _, ledger in run.marks if ledger is not None)]
    arrays = [run.clock, *run.ended.values(), *(times for times, _ in run.marks)]
    return sum(each.nbytes() for each in books) + sum(each.nbytes for each in arrays)
