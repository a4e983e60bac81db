"""What matters most: the time with one figure of the machine halved or doubled, all in one walk of the engine."""

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from esp import api
from esp.explore.plan import DIMENSIONS
from interpreter.listeners import Watch
from sag.quantities import Change, make_change
from sag.unit import System

_FIGURES = {
    "bandwidth": "bandwidth",
    "latency": "latency",
    "processor_speed": "processor speed",
    "memory_speed": "memory speed",
}
_FACTORS = (0.5, 2.0)

_BUSIER = 0.3
"""By how much more of the network is taken by others."""
_BUSIEST = 0.9


class Swing(Struct, frozen=True, kw_only=True):
    """A figure that is made smaller and larger, all else as it is: how that is written, and the times."""

    name: str
    less: str
    less_s: float | None
    """None: there is no prediction, or nothing less."""
    more: str
    more_s: float | None

    def reach_s(self, base_s: float) -> float:
        """The largest difference it makes."""
        return max((abs(each - base_s) for each in (self.less_s, self.more_s) if each is not None), default=0.0)


def swings(
    stages: api.Stages, system: System, request: api.Request, watch: Watch | None
) -> tuple[float, tuple[Swing, ...]]:
    """The time as the request has it, and that with each figure changed."""
    scenario = request.scenario
    count = 1 + 2 * len(_FIGURES) + 2
    changes = {}
    for at, name in enumerate(_FIGURES):
        given = getattr(scenario, name)
        now = make_change(1.0 if given is None else given, DIMENSIONS[name], plain_is_factor=True)
        by = np.ones(count)
        by[1 + 2 * at : 3 + 2 * at] = _FACTORS
        changes[name] = Change(is_factor=now.is_factor, amount=now.amount[0] * by, text=f"{count} values")
    given = scenario.load
    load = float(make_change(0.0 if given is None else given, "fraction", plain_is_factor=False).amount[0])
    busier = min(_BUSIEST, load + _BUSIER)
    loads = np.full(count, load)
    loads[-2:] = 0.0, max(load, busier)
    changes["load"] = Change(is_factor=False, amount=loads, text=f"{count} values")
    asked = replace(request, scenario=replace(scenario, **changes))
    times = np.atleast_1d(api.interpret_stages(stages, system, asked, watch=watch).time_s).tolist()
    found = [
        Swing(name=label, less="x0.5", less_s=times[1 + 2 * at], more="x2", more_s=times[2 + 2 * at])
        for at, label in enumerate(_FIGURES.values())
    ]
    idle = times[-2] if load > 0 else None
    found.append(Swing(name="load", less="0%", less_s=idle, more=f"{busier:.0%}", more_s=times[-1]))
    return times[0], tuple(found)
