"""What each AAU costs each processor: the closer look behind the means of a prediction (Def 4)."""

import numpy as np

from esp import api
from esp.errors import PredictionError
from esp.tui.question import ByProcessor
from interpreter.application import Application
from interpreter.engine import Walker, finish, start
from interpreter.listeners import Watch
from interpreter.setting import Setting
from interpreter.state import Run
from interpreter.summary import About
from interpreter.summary import by_processor as by_processor_of
from sag.scenario import export
from sag.unit import System


def by_processor(stages: api.Stages, system: System, request: api.Request, watch: Watch | None = None) -> ByProcessor:
    """Interpret once more and keep the ledger that a prediction only summarises. `watch`: may raise to give up.

    Raises:
        PredictionError: processors x AAUs are too many to be kept apart (D9).
        sag.errors.MachineError: the scenario does not fit the machine.
        aag.diagnostics.SourceError: values prevent the prediction, or its time is too large for a number.
    """
    graph, program = stages.graph, stages.node_program
    machine = export(system, request.scenario)

    def attempt(setting: Setting) -> Run:
        walker = Walker(graph, setting.values, setting)
        run = start(Application(program), graph, machine, setting, walker)
        run.watch = watch
        walker.walk(run, graph)
        return run

    with np.errstate(over="ignore", invalid="ignore"):  # `finish` refuses what came of it
        run, _ = api.interpreted(stages, request, attempt)
        about = About(
            program=program.unit.name,
            file=program.file,
            lines=program.lines,
            constants=run.application.constants,
            complete=program.complete,
            notes=(),
        )
        finish(run, graph, about)
    if not run.books.ledger.shape.detail:
        raise PredictionError(
            "there are too many processors and AAUs to keep each of them apart.", hint="Choose fewer processors."
        )
    parts = {aau: table[:, 0, :] for aau, table in by_processor_of(run).items()}
    return ByProcessor(parts=parts, procs=run.procs)
