"""What each AAU costs each processor: the closer look behind the means of a prediction (Def 4)."""

from esp import api
from esp.errors import PredictionError
from esp.tui.question import ByProcessor
from esp.tui.walk import closed, walked
from interpreter.listeners import Listener
from interpreter.state import Run
from sag.unit import System


def by_processor(
    stages: api.Stages, system: System, request: api.Request, listener: Listener | None = None
) -> ByProcessor:
    """Interpret once more and keep the ledger that a prediction only summarises. `listener`: may raise to give up.

    Raises:
        PredictionError: processors x AAUs are too many to be kept apart (D9).
        aag.diagnostics.SourceError: values prevent the prediction.
    """
    run = walked(stages, system, request, listener)
    closed(run, stages)
    return parts_of(run)


def parts_of(run: Run) -> ByProcessor:
    """What the books say of each processor, once they are closed.

    Raises:
        PredictionError: processors x AAUs are too many to be kept apart (D9).
    """
    if not run.ledger.shape.detail:
        raise PredictionError(
            "there are too many processors and AAUs to keep each of them apart.", hint="Choose fewer processors."
        )
    parts = {aau: table[:, 0, :] for aau, table in run.ledger.parts.items()}
    return ByProcessor(parts=parts, procs=run.procs)
