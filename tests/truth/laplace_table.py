"""The three Laplace distributions, predicted whole and simulated with the same computation (Fig. 10-13 of the paper).

The simulated node program is written here: for each sweep the exchange of Def 7 with packing where a row lies
strided in memory, then the computation of the sweep. How long a processor computes between two exchanges is what
esp predicts for it (operations, cache misses, loop overhead); messages, order and waiting are not esp's.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from aag.graph.aau import AAU, Comm, Seq
from esp.api import load_machine
from interpreter.engine import interpret
from interpreter.listeners import Latest, Listener
from interpreter.result import Result
from interpreter.setting import Setting
from sag.scenario import Scenario, export
from tests.truth.predicted import lowered
from tests.truth.simgrid.replay import laplace_steps
from tests.truth.simgrid.runner import Step, near_square, simulate_script

Floats = NDArray[np.float64]

SWEEPS = 20
SIZES = (16, 32, 64, 128, 256)
PROCS = (4, 8)
DISTRIBUTIONS = ("bb", "bx", "xb")
GRIDS = {"bb": near_square, "bx": lambda procs: (procs, 1), "xb": lambda procs: (1, procs)}


class _Blocks(Listener):
    """Listens for what each processor computes between two exchanges of the timed region."""

    def __init__(self) -> None:
        self.start_s = np.zeros(0)
        """When each processor begins the timed region; initialisation has not taken all of them as long."""
        self.seconds: list[Floats] = []
        self._since: Floats | None = None

    def entered(self, aau: AAU, clock: Floats) -> None:
        if isinstance(aau, Comm) and self._since is not None:
            self._close(clock)

    def left(self, aau: AAU, clock: Floats) -> None:
        if isinstance(aau, Seq) and aau.clock_mark:
            if self._since is None:
                self._since = self.start_s = clock[0].copy()
            else:
                self._close(clock)
                self._since = None
        elif isinstance(aau, Comm) and self._since is not None:
            self._since = clock[0].copy()

    def skipped(self, aau: AAU, iterations: NDArray[np.int64]) -> None:
        raise AssertionError("iterations were skipped although all were asked for")

    def _close(self, clock: Floats) -> None:
        assert self._since is not None
        self.seconds.append(clock[0] - self._since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One distribution of one size: the kernel's time, predicted and simulated, and what it consists of."""

    n: int
    procs: int
    distribution: str
    predicted_s: float
    simulated_s: float
    timed: Result
    packing_s: float
    """Mean over processors."""

    @property
    def error(self) -> float:
        return abs(self.predicted_s / self.simulated_s - 1)


@cache
def row(n: int, procs: int, distribution: str) -> Row:
    """Predict the kernel of laplace_<distribution>.hpf, and simulate its node program."""
    stages = lowered(f"laplace_{distribution}", procs, n=n, k=SWEEPS)
    machine = export(load_machine("ipsc860"), Scenario(io=False))
    latest = Latest(_Blocks)
    interpret(stages.node_program, stages.graph, machine, Setting(io=False, force_unroll=True), latest)
    blocks = latest.made
    assert len(blocks.seconds) == SWEEPS + 1, "one exchange in each sweep"
    timed = interpret(stages.node_program, stages.graph, machine, Setting(io=False, timed=True))
    assert timed.timed_s is not None
    assert machine.network is not None
    pack_s = float(machine.network.pack_per_byte_s[0])
    grid = GRIDS[distribution](procs)
    skew = blocks.start_s - blocks.start_s.min()
    steps: list[Step] = [(rank, "charge", 0, float(late)) for rank, late in enumerate(skew)]
    steps += node_program(n, grid, blocks.seconds, pack_s)
    result = simulate_script(procs, steps, grid=grid)
    packing = [s for _, what, _, s in _exchange(n, grid, pack_s) if what == "charge"]
    return Row(
        n=n,
        procs=procs,
        distribution=distribution,
        predicted_s=float(timed.timed_s[0]),
        simulated_s=result.time_s - float(skew.max()),
        timed=timed,
        packing_s=SWEEPS * sum(packing) / procs,
    )


def node_program(n: int, grid: tuple[int, int], blocks: list[Floats], pack_s: float) -> list[Step]:
    """Computation before, between and after the exchanges."""
    steps: list[Step] = []
    for number, seconds in enumerate(blocks):
        if number:
            steps += _exchange(n, grid, pack_s)
        steps += [(rank, "charge", 0, float(max(each, 0.0))) for rank, each in enumerate(seconds)]
    return steps


def _exchange(n: int, grid: tuple[int, int], pack_s: float) -> list[Step]:
    """Def 7. Rows, which cross dimension 1, are packed before they are sent and unpacked afterwards."""
    steps: list[Step] = []
    for rank, operations in enumerate(laplace_steps(n, grid, 1)):
        for what, partner, size in operations:
            if what == "charge":
                continue
            strided = grid[0] > 1 and abs(partner - rank) == 1
            packing: list[Step] = [(rank, "charge", 0, float(pack_s * size))] if strided else []
            message: Step = (rank, what, partner, int(size))
            steps += [*packing, message] if what == "send" else [message, *packing]
    return steps


def table() -> list[list[Row]]:
    """For each number of processors and size the three distributions."""
    return [[row(n, procs, each) for each in DISTRIBUTIONS] for procs in PROCS for n in SIZES]
