"""Whether a better machine is ever slower: programs under each what-if, from the worst of its values to the best."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from msgspec import Struct

import esp
from aag.pipeline import main_unit
from esp.api import Request, load_machine, lower_source, read_source
from esp.locate import system_names
from sag.scenario import Scenario, export
from tests.esp.validate.simulation import built
from tests.truth.overlapped import overlapped
from tests.truth.simulated import READINGS, machine_of

KNOBS: Mapping[str, Sequence[str]] = {
    "overlap": ("0%", "10%", "50%", "90%", "99%", "100%"),
    "load": ("80%", "50%", "30%", "10%", "0%"),
    "latency": ("x8", "x4", "x2", "x1", "x0.5", "x0.1"),
    "bandwidth": ("x0.25", "x0.5", "x0.9", "x1", "x2", "x8"),
    "processor_speed": ("x0.25", "x0.5", "x1", "x1.5", "x4", "x16"),
    "memory_speed": ("x0.25", "x0.5", "x1", "x2", "x4"),
}
"""What-if -> values, each better than the one before."""

ROUNDING = 1e-9
ORDERS = (0, 4, 40)
"""Orders by lot, beside lower ranks first, in which SimGrid lets sends of the same instant enter the network: the
better value is slower in one of them than the worse one in one."""

SLIGHT = 0.01
"""How much slower a better machine may be where messages meet: who comes first on a link may change."""


class Case(Struct, frozen=True, kw_only=True):
    """A program on a machine under one what-if."""

    program: str
    system: str
    """A bundled machine, or a reading of the iPSC/860."""
    procs: int
    n: int
    knob: str

    def machine(self) -> str:
        """Name or file of the machine."""
        return self.system if self.system in system_names() else machine_of(self.system).file

    def values(self) -> dict[str, int]:
        """Of the program's constants."""
        entities = main_unit(read_source(self.program).program).entities
        constants = {each.name for each in entities if "parameter" in each.attributes}
        return {name: value for name, value in {"n": self.n, "m": 13, "k": 5, "reps": 3}.items() if name in constants}

    def times(self, *, contention: bool) -> np.ndarray:
        """Predicted for each value without input and output, with or without waiting for links."""
        options = {self.knob: list(KNOBS[self.knob]), "contention": contention, "io": False}
        return esp.sweep(self.program, self.machine(), self.procs, set=self.values(), **options).time_s.reshape(-1)

    def one_by_one(self) -> np.ndarray:
        """The times with waiting for links, each value predicted by itself."""
        options = {"set": self.values(), "contention": True, "io": False}
        found = [
            esp.sweep(self.program, self.machine(), self.procs, **options, **{self.knob: [value]}).time_s
            for value in KNOBS[self.knob]
        ]
        return np.concatenate([each.reshape(-1) for each in found])

    def simulated(self, at: int, *seeds: int) -> list[float]:
        """The times that SimGrid finds for the same program, machine and value: with lower ranks first, and with sends
        of the same instant in orders by lot."""
        knob, value = self.knob, KNOBS[self.knob][at]
        if knob == "load":  # which SimGrid does not know: it leaves less of the bandwidth (Def 11)
            knob, value = "bandwidth", f"x{1.0 - float(value.rstrip('%')) / 100.0:g}"
        request = Request(procs=self.procs, values=self.values(), scenario=Scenario(**{knob: value}))
        system = load_machine(self.machine())
        stages = lower_source(read_source(self.program), system, request)
        with TemporaryDirectory() as folder:
            made = built(stages, system, request, Path(folder))
            return [float(made.simulated(seed=each)[1].max()) for each in (None, *seeds)]

    def walked(self, *ats: int) -> np.ndarray:
        """What these overlap factors give if messages are walked one by one."""
        factors = [float(KNOBS["overlap"][at].rstrip("%")) / 100.0 for at in ats]
        request = Request(procs=self.procs, values=self.values(), scenario=Scenario(overlap="0%"))
        system = load_machine(self.machine())
        stages = lower_source(read_source(self.program), system, request)
        return overlapped(stages, export(system, request.scenario), request, factors)

    def confirmed(self, worse: int, better: int) -> bool:
        """Whether the better value is slower without esp, too. SimGrid cannot overlap; it confirms the walk without,
        but for machines with a factor for exchanges, which it has not either."""
        if self.knob == "overlap":
            network = export(load_machine(self.machine()), Scenario()).network
            alone, *both = self.walked(0, worse, better)
            (simulated,) = self.simulated(0) if network and network.exchange_factor[0] == 1.0 else [alone]
            return bool(both[1] > both[0]) and abs(alone / simulated - 1.0) < SLIGHT / 2
        return any(
            max(self.simulated(better, *range(lots))) > min(self.simulated(worse, *range(lots))) for lots in ORDERS
        )

    def faults(self) -> list[str]:
        """Where a better machine is slower and may not be: anywhere if no messages meet; by more than `SLIGHT` if some
        do, unless SimGrid finds the same."""
        alone, times = self.times(contention=False), self.times(contention=True)
        told = [f"{self}: alone {alone}"] if slower(alone, ROUNDING) else []
        met = not np.allclose(alone, times, rtol=ROUNDING, atol=0.0)
        for worse, better in slower(times, SLIGHT if met else ROUNDING):
            if not (met and self.confirmed(worse, better)):
                told.append(f"{self}: {times}")
        return told


def slower(times: np.ndarray, allowed: float) -> list[tuple[int, int]]:
    """Pairs of a value and a better one at which the time is longer by more than is allowed."""
    return [
        (int(times[:at].argmin()), at) for at in range(1, times.size) if times[at] > times[:at].min() * (1.0 + allowed)
    ]


SYSTEMS = (*system_names(), *(each for each in READINGS if each != "as described"))
