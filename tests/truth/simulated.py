"""The benchmarks as esp predicts them beside their own node programs on a simulated machine: `results_of(reading)`.

Other than in `pairs`, nothing is written by hand here: the node program is emitted, and its computation takes as long
as is predicted. So this compares communication and waiting alone, of whole programs.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from aag.pipeline import main_unit
from esp.api import Request, load_machine, lower_source, read_source
from esp.locate import find_system, program_names
from esp.validate.simgrid import Simulated
from sag.unit import System
from tests.esp.validate.simulation import built
from tests.truth.pairs import SEEDS, outside

DATA_DECIDE = ("gausspivot_array", "gausspivot_do")
"""Benchmarks in which data decide which branch is taken: no prediction says which, so that none can be simulated."""
PROGRAMS = tuple([name for name in program_names() if name not in DATA_DECIDE])
PROCS = (1, 2, 4, 8, 16, 32, 64)

VALUES: Mapping[str, int] = {"n": 100, "m": 72, "k": 4, "reps": 3}
"""PARAMETERs: small, so that messages and waiting are much of the time; blocks differ in size."""

_HYPERCUBE = "topology: {kind: hypercube}"

READINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "as described": (),
    "all messages of an exchange at once": (("exchange: {value: sequential", "exchange: {value: concurrent"),),
    "sends that occupy for the start-up": (("send_model: {value: blocking", "send_model: {value: startup"),),
    "half duplex": (("duplex: {value: full", "duplex: {value: half"),),
    "mesh": ((_HYPERCUBE, "topology: {kind: mesh, dimensions: 2}"),),
    "ring": ((_HYPERCUBE, "topology: {kind: ring}"),),
    "bus": ((_HYPERCUBE, "topology: {kind: bus}"),),
}
"""The iPSC/860, and what of its description is replaced."""

FREE = 0.005
"""Demanded of the error where no two messages meet."""
MEETING_MEDIAN, MEETING_WORST = 0.005, 0.03
"""Demanded where they do, which `esp.validate.simgrid.contended` finds out from the times at which links are held."""
FAR, FAR_WORST = ("mesh",), 0.035
"""The reading in which messages cross most links, and the worst that is demanded of it."""
SHARED_MEDIAN, SHARED_WORST = 0.02, 0.08
SHARED = ("bus", "half duplex")
"""Readings in which both directions, or all processors, share a link, and what is demanded of them."""


class Compared(Struct, frozen=True, kw_only=True, eq=False):
    """A prediction beside its simulation."""

    program: str
    procs: int
    outcome: Simulated
    share: float
    """Of the simulated time that the mean processor does not compute: messages and waiting."""
    times: tuple[float, ...]
    """Simulated with the lower rank first, and where messages meet with sends of the same instant by lot."""

    @property
    def span(self) -> float:
        """By how much those orders change the simulated time, as a fraction of it."""
        return max(abs(each / self.times[0] - 1.0) for each in self.times)

    @property
    def beyond(self) -> float:
        """How far the prediction is outside what all orders gave, as a fraction."""
        return outside(float(self.outcome.predicted_s.max()), self.times)

    def __str__(self) -> str:
        return f"{self.program} P={self.procs}"


@cache
def machine_of(reading: str) -> System:
    text = Path(find_system("ipsc860")).read_text()
    for old, new in READINGS[reading]:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = _folder() / f"{tuple(READINGS).index(reading)}.yaml"
    path.write_text(text)
    return load_machine(path)


@cache
def compare(program: str, procs: int, reading: str = "as described") -> Compared:
    """Predict and simulate, with the sizes of `VALUES`."""
    source = read_source(program)
    constants = {each.name for each in main_unit(source.program).entities if "parameter" in each.attributes}
    values = {name: value for name, value in VALUES.items() if name in constants}
    request, system = Request(procs=procs, values=values), machine_of(reading)
    stages = lower_source(source, system, request)
    place = _folder() / f"{program}-{procs}"
    made = built(stages, system, request, place, _latest(place))
    found = made.outcome()
    time_s = float(found.simulated_s.max())
    by_lot = [float(made.simulated(seed=each)[1].max()) for each in SEEDS if found.contended]
    blocks = made.blocks
    computed_s = float(blocks.rest_s.sum() + blocks.before_s.sum()) / made.procs
    share = 1.0 - computed_s / time_s
    return Compared(program=program, procs=procs, outcome=found, share=share, times=(time_s, *by_lot))


def results_of(
    reading: str = "as described", programs: tuple[str, ...] = PROGRAMS, procs: tuple[int, ...] = PROCS
) -> list[Compared]:
    """Every program on every number of processors; of any other reading than the machine's own every third of these.

    The thirds of successive readings differ, and each reading has every program and every number of processors.
    """
    pairs = [(program, each) for program in programs for each in procs]
    at = tuple(READINGS).index(reading)
    chosen = pairs if at == 0 else pairs[at % 3 :: 3]
    return [compare(program, each, reading) for program, each in chosen]


_SCRATCH = TemporaryDirectory(prefix="esp-simulated-")
"""Gone when the process ends."""


def _folder() -> Path:
    return Path(_SCRATCH.name)


_PLACES: list[Path] = []


def _latest(place: Path) -> Path | None:
    """Where a program was compiled before, whose run-time library can be taken over."""
    _PLACES.append(place)
    return _PLACES[-2] if len(_PLACES) > 1 else None
