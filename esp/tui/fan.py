"""Many positions of the sliders of the machine in one walk, so that the next move finds its answer made.

Positions are scenarios of one interpretation (D4), and each of them is read from its books as if it had been
interpreted alone: same figures, same texts. Two things the engine notes for all scenarios together, whether messages
met on links and which share of a message's time is estimated; about these `Predicted.open` says that they are still
to come. (Where processors take equally long, rounding may name another of them as the busiest.)
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from esp import api
from esp.tui.question import Settings
from esp.tui.walk import closed, nbytes, scenario_of, stripped, walked
from interpreter.listeners import Listener
from interpreter.setting import Setting
from interpreter.state import Run
from sag.quantities import parse_change
from sag.scenario import Scenario, export
from sag.unit import System

MOST_CELLS = 2048
"""Processors x positions of one walk, which then takes about twice as long as that of one position; and what the engine
does otherwise for very many clocks begins beyond, so that each position is walked as it would be alone."""

MOST_PIECES = 4
"""Walks for the positions around one; on many processors they have to do with fewer positions."""

MOST_BYTES = 32_000_000
"""What all fans may hold."""

_FACTORS = {"bandwidth": "bandwidth", "processor_speed": "frequency"}
"""Sliders that multiply a figure of the machine -> its dimension."""


class Fan(Struct, frozen=True, kw_only=True, eq=False):
    """Positions that were walked at once, for one choice."""

    choice: str
    stages: api.Stages
    system: System
    requests: Mapping[Settings, api.Request]
    """What each position asks for, in the order of the scenarios."""
    run: Run
    """Before its books were closed."""
    bytes: int

    def look(self, settings: Settings) -> tuple[api.Prediction, Run]:
        """The prediction for a position, and the run with its books.

        Raises:
            aag.diagnostics.SourceError: there is none.
        """
        request = self.requests[settings]
        run = scenario_of(self.run, list(self.requests).index(settings), export(self.system, request.scenario))
        return api.presented(closed(run, self.stages), self.stages, request), run


class Fans:
    """Those that were used last, within `MOST_BYTES`."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: OrderedDict[int, Fan] = OrderedDict()
        self._made = 0

    @property
    def bytes(self) -> int:
        """What they hold."""
        return sum(each.bytes for each in self._held.values())

    def find(self, settings: Settings, choice: str) -> Fan | None:
        """The latest one with a position."""
        found = next(
            (
                number
                for number, fan in reversed(self._held.items())
                if fan.choice == choice and settings in fan.requests
            ),
            None,
        )
        if found is None:
            return None
        self._held.move_to_end(found)
        return self._held[found]

    def has(self, settings: Settings, choice: str) -> bool:
        """Whether there is one with a position; another thread than the one that uses them may ask."""
        return any(fan.choice == choice and settings in fan.requests for fan in tuple(self._held.values()))

    def add(self, fan: Fan) -> None:
        """Keep one, and drop the oldest ones for it."""
        self._made += 1
        self._held[self._made] = fan
        while self.bytes > self._most_bytes:
            self._held.popitem(last=False)

    def clear(self) -> None:
        """Drop all."""
        self._held.clear()


def spread(
    choice: str,
    stages: api.Stages,
    system: System,
    requests: Mapping[Settings, api.Request],
    listener: Listener | None = None,
) -> Fan:
    """Walk all positions at once. `listener`: may raise to give up.

    Raises:
        sag.errors.MachineError: a position is none of the machine.
        aag.diagnostics.SourceError: values prevent the prediction.
    """
    one = next(iter(requests.values()))
    scenario = _together([each.scenario for each in requests.values()], system)
    run = stripped(walked(stages, system, replace(one, scenario=scenario), listener))
    return Fan(choice=choice, stages=stages, system=system, requests=requests, run=run, bytes=nbytes(run))


def pieces(settings: Sequence[Settings], stages: api.Stages) -> list[list[Settings]]:
    """Positions that can be walked at once, those of the first positions first."""
    procs = stages.node_program.layouts.procs
    books = 32 * procs * stages.graph.count
    most = min(MOST_CELLS // procs, Setting().detail_bytes // books)
    if most < 2:
        return []
    alike: dict[tuple[str | None, ...], list[Settings]] = {}
    for each in settings:
        alike.setdefault(tuple(_with_unit(name, getattr(each, name)) for name in _FACTORS), []).append(each)
    return [group[at : at + most] for group in alike.values() for at in range(0, len(group), most)]


def _with_unit(name: str, text: str | None) -> str | None:
    """A value that is no factor: it does not go together with others in one walk."""
    return None if text is None or parse_change(text, _FACTORS[name]).is_factor else text


def _together(scenarios: Sequence[Scenario], system: System) -> Scenario:
    """One scenario with a value for each."""
    network = export(system, replace(scenarios[0], load=None)).network
    nominal = np.zeros(1) if network is None else network.load
    load = [
        nominal if each.load is None else parse_change(str(each.load), "fraction").apply(nominal) for each in scenarios
    ]
    return replace(
        scenarios[0],
        load=np.concatenate(load),
        **{
            name: _factors([getattr(each, name) for each in scenarios], dimension)
            for name, dimension in _FACTORS.items()
        },
    )


def _factors(texts: Sequence[str | None], dimension: str) -> str | NDArray[np.float64] | None:
    if len(set(texts)) == 1:
        return texts[0]
    return np.concatenate([np.ones(1) if text is None else parse_change(text, dimension).amount for text in texts])
