"""SyncSeq: the global half of reductions.

Source: Parashar and Hariri, section 2.3: call overhead, transmission and waiting; the algorithm is the machine's.
"""

import numpy as np

from aag.graph.aau import SyncSeq
from aag.spmd.steps import CollectiveCall
from interpreter.models.communication import Plan, execute, make_plan
from interpreter.remembered import by_values, of_aau, remembered
from interpreter.state import Run


def reduce(run: Run, aau: SyncSeq) -> None:
    """Partial results are combined; all processors have the result afterwards, or (a scan) what those before them
    have."""
    execute(run, aau.id, _plan(run, aau))


@remembered(of_aau, by_values)
def _plan(run: Run, aau: SyncSeq) -> Plan:
    """What the reduction of an AAU does with the values that hold now."""
    call = run.application.combine_call(aau.combine, run.env)
    steps = () if call is None else (call,)
    return make_plan(
        run, steps, array=aau.combine.home.array, pattern_name=call.kind if call else "reduction", combine=aau.work
    )


def everybody(run: Run, kind: str, elements: int, element_bytes: int) -> CollectiveCall:
    """A collective of all processors with rank 0 as its root."""
    members = np.arange(run.procs, dtype=np.int64)[None, :]
    return CollectiveCall(
        kind=kind,
        members=members,
        root=np.zeros(1, np.int64),
        elements=np.full_like(members, elements),
        element_bytes=element_bytes,
        name=kind,
    )
