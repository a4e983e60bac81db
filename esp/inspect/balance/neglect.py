"""What the static model neglects of a prediction (docs/balance.md)."""

from collections.abc import Mapping

from esp.inspect.balance.counts import CriticalPath, kind_of
from esp.inspect.balance.records import NEGLECTED
from esp.prediction import Prediction, first
from interpreter.balance.model import Costs, Workload, startups_on, time_on


def neglected_s(
    prediction: Prediction, path: CriticalPath, work: Workload, costs: Costs, t_phi_s: float
) -> Mapping[str, float]:
    """Seconds by which a prediction takes longer than the model says, by cause.

    Bytes, hops and packing are not in the model. Misses and operations differ from its laws. Communication and waiting
    beyond the start-ups, bytes and hops of the critical path are `waiting`: for a partner or a link, or below 0 where
    messages are sent while others are received. Means over processors.
    """
    procs = prediction.processors
    spent: dict[str, float] = {}
    for each in prediction.counts.of():
        kind = kind_of(each.name)
        spent[kind] = spent.get(kind, 0.0) + first(each.time_s)
    on_each = costs.operation * (work.sequential + work.loops + work.parallel / procs)
    found = {
        "bytes": path.bytes_s,
        "hops": path.hops_s,
        "packing": spent.get("packing", 0.0),
        "cache": spent.get("cache", 0.0) - costs.miss * work.misses / procs * t_phi_s,
        "operations": spent.get("operations", 0.0) - on_each * t_phi_s,
        "startups": path.startups_s - costs.startup * startups_on(work, procs) * t_phi_s,
    }
    excess_s = first(prediction.time_s) - time_on(work, costs, procs) * t_phi_s
    found["waiting"] = excess_s - sum(found.values())
    return {name: found[name] for name in NEGLECTED}
