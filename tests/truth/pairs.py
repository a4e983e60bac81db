"""HPF programs and the hand-written node programs they are held against, class by class.

Each class has the bounds of its kind: where one message is under way at a time the model must be exact but for
rounding, where messages meet on links or processors run ahead a predictor's order of events is put to the test.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from tests.truth.predicted import SPEED, Predicted, lowered, predict
from tests.truth.simgrid.runner import Result, near_square, simulate, simulate_script

NETWORK = "cube.network"
STARTUP = {f"{NETWORK}.send_model": "startup"}
CONCURRENT = {f"{NETWORK}.exchange": "concurrent"}
RING = {f"{NETWORK}.collectives.transpose.algorithm": "ring"}

MUL4, MUL8, DIV8 = (f"cube.node.processor.{name}" for name in ("r4.mul", "r8.mul", "r8.div"))
POINT_S = 1e-6
"""Injected: time of one multiplication; nothing else that a processor does takes any."""

DISTRIBUTIONS = {"bb": "(BLOCK,BLOCK)", "bx": "(BLOCK,*)", "xb": "(*,BLOCK)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is demanded of the errors of a class, as fractions."""

    median: float
    worst: float


EXACT = Bounds(median=0.005, worst=0.005)
MEETING = Bounds(median=0.005, worst=0.03)

SEEDS = (0, 1, 2, 3)
"""Orders by lot of sends of the same instant."""
MORE_SEEDS = tuple(range(4, 32))
"""Drawn where the prediction is outside of the span of the first four, which show too little of very many orders."""
TIED = 0.01
"""Where those orders change the time by more than this fraction, a prediction is to be among what they give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One program on so many processors, and how to simulate its node program.

    Of messages of the same instant the lower rank enters first, in the model as in the simulation.
    """

    label: str
    procs: int
    program: str
    simulation: Callable[..., Result]
    values: Mapping[str, Any] = field(default_factory=dict)
    distribute: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.label} P={self.procs}"


def outside(time_s: float, times: Sequence[float]) -> float:
    """How far a time lies outside some others, as a fraction."""
    return max(0.0, time_s / max(times) - 1.0, 1.0 - time_s / min(times))


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A prediction beside its simulations. Errors are fractions of the simulated time."""

    pair: Pair
    predicted: Predicted
    simulated: Result

    @property
    def time_s(self) -> float:
        """Simulated."""
        return self.simulated.time_s

    @property
    def time_error(self) -> float:
        return abs(self.predicted.time_s / self.time_s - 1)

    @cached_property
    def beyond(self) -> float:
        """The error; where the order of sends of the same instant decides, how far the prediction is outside what lower
        ranks first and orders by lot give."""
        times = [self.time_s, *(self.pair.simulation(ties=seed).time_s for seed in SEEDS)]
        if max(times) <= (1.0 + TIED) * min(times):
            return self.time_error
        if outside(self.predicted.time_s, times) > MEETING.worst:
            times += [self.pair.simulation(ties=seed).time_s for seed in MORE_SEEDS]
        return outside(self.predicted.time_s, times)

    @property
    def waiting_error(self) -> float:
        """Of the processor whose waiting differs most."""
        return float(np.abs(self.predicted.waiting_s - self.simulated.waiting_s).max() / self.time_s)

    @property
    def same_messages(self) -> bool:
        """Whether every processor sends as many messages and bytes."""
        right, bytes_right = self.simulated.sent, self.simulated.sent_bytes
        return bool((self.predicted.sent == right).all() and (self.predicted.sent_bytes == bytes_right).all())


def compare(pair: Pair) -> Compared:
    """Predict and simulate."""
    stages = lowered(pair.program, pair.procs, distribute=pair.distribute, **pair.values)
    predicted = predict(stages, speed=SPEED, sets=pair.sets)
    return Compared(pair=pair, predicted=predicted, simulated=pair.simulation())


def _run(program: str, procs: int, **settings: Any) -> Callable[..., Result]:
    """A node program whose collectives are those of a hypercube's own library."""
    return partial(simulate, program, procs, library="node", **settings)


def exchanges(procs: int) -> Iterator[Pair]:
    """Shifts and Jacobi exchanges, one message of a processor at a time; sizes around the switch at 100 bytes."""
    for elements in (1, 24, 25, 26, 64):
        n = 64 * procs
        values = {"n": n, "w": elements, "k": 3}
        size = {"bytes": 4 * elements, "repeat": 3}
        yield Pair(
            label=f"shift {4 * elements} B",
            procs=procs,
            program="shift",
            values=values,
            simulation=_run("shift", procs, **size),
        )
        yield Pair(
            label=f"shift back {4 * elements} B",
            procs=procs,
            program="back",
            values=values,
            simulation=_run("shift", procs, by=-1, **size),
        )
        yield Pair(
            label=f"CSHIFT {4 * elements} B",
            procs=procs,
            program="ring",
            values=values,
            simulation=_run("shift", procs, by=-1, periodic="yes", **size),
        )
    for n, (name, formats) in product((16, 50, 100), DISTRIBUTIONS.items()):
        yield Pair(
            label=f"jacobi {name} n={n}",
            procs=procs,
            program="jacobi",
            values={"n": n, "k": 4},
            distribute={"t": formats},
            simulation=_run("laplace", procs, n=n, repeat=4, distribution=name),
        )
    for n in (16, 100):
        yield Pair(
            label=f"jacobi_max n={n}",
            procs=procs,
            program="jacobi_max",
            values={"n": n, "k": 4},
            simulation=_run("laplace", procs, n=n, repeat=4, reduce="yes"),
        )


def broadcasts(procs: int) -> Iterator[Pair]:
    """Trees on node xor root, from several roots; of all processors, and along one dimension of a grid."""
    for owner in sorted({0, procs // 2, procs - 1}):
        yield Pair(
            label=f"s = a(m), owner {owner}",
            procs=procs,
            program="broadcast",
            values={"n": 16 * procs, "m": 16 * owner + 3, "k": 3},
            simulation=_run("bcast", procs, bytes=8, root=owner, repeat=3),
        )
        for n in (12, 13, 500):
            yield Pair(
                label=f"column of {8 * n} B, owner {owner}",
                procs=procs,
                program="column",
                values={"n": n, "c": 2 * procs, "m": 2 * owner + 1, "k": 3},
                simulation=_run("bcast", procs, bytes=8 * n, root=owner, repeat=3),
            )
    p1, p2 = near_square(procs)
    for column in sorted({0, p2 // 2, p2 - 1}) if p2 > 1 else ():
        for rows in (1, 13, 100):
            yield Pair(
                label=f"column of {8 * rows} B, of {p1}x{p2}, owner {column}",
                procs=procs,
                program="column_parts",
                values={"n": rows * p1, "c": 2 * p2, "m": 2 * column + 1, "k": 3},
                simulation=_line(procs, "bcast", bytes=8 * rows, root=column, repeat=3),
            )


def _line(procs: int, what: str, **settings: Any) -> Callable[..., Result]:
    """A collective along the second dimension of a grid."""
    p1, p2 = near_square(procs)
    return _run("cube", procs, what=what, p1=p1, p2=p2, along=2, grid=(p1, p2), **settings)


def concatenations(procs: int) -> Iterator[Pair]:
    """Recursive doubling in which messages grow."""
    for own in (1, 2, 13, 100):
        yield Pair(
            label=f"{8 * own} B each",
            procs=procs,
            program="together",
            values={"n": own * procs, "k": 3},
            simulation=_run("cube", procs, what="concatenate", bytes=8 * own, repeat=3),
        )


def reductions(procs: int) -> Iterator[Pair]:
    """Recursive doubling, of one value and of one for each row; also along one dimension of a grid."""
    yield Pair(
        label="sum",
        procs=procs,
        program="reduction",
        values={"n": 16 * procs, "k": 3},
        simulation=_run("allreduce", procs, bytes=8, repeat=3),
    )
    yield Pair(
        label="maxval",
        procs=procs,
        program="maximum",
        values={"n": 32, "k": 3},
        simulation=_run("allreduce", procs, bytes=4, repeat=3, grid=near_square(procs)),
    )
    for n in (12, 13, 500):
        yield Pair(
            label=f"sum(dim=2) of {8 * n} B",
            procs=procs,
            program="rows",
            values={"n": n, "c": 2 * procs, "k": 3},
            simulation=_run("allreduce", procs, bytes=8 * n, repeat=3),
        )
    p1, p2 = near_square(procs)
    for rows in (1, 13, 100) if p2 > 1 else ():
        yield Pair(
            label=f"sum(dim=2) of {8 * rows} B, of {p1}x{p2}",
            procs=procs,
            program="row_sums",
            values={"n": rows * p1, "c": 2 * p2, "k": 3},
            simulation=_line(procs, "allreduce", bytes=8 * rows, repeat=3),
        )


def eliminations(procs: int) -> Iterator[Pair]:
    """Gaussian elimination, communication alone."""
    for n, columns in product((16, 64, 100), ("cyclic", "block")):
        yield Pair(
            label=f"gauss (*,{columns}) n={n}",
            procs=procs,
            program="elimination",
            values={"n": n},
            distribute={"a": f"(*,{columns})"},
            simulation=_run("gauss", procs, n=n, columns=columns),
        )


def transposes(procs: int) -> Iterator[Pair]:
    """Complete exchanges, pairwise by xor of nodes, so that no two messages of a step meet but by skew; in the order of
    a ring where processors are no power of two."""
    order = "ring" if procs & (procs - 1) else "xor"
    for side in (1, 4, 16):
        yield Pair(
            label=f"transpose {8 * side * side} B",
            procs=procs,
            program="turn",
            values={"n": side * procs, "k": 2},
            simulation=_run("transpose", procs, bytes=8 * side * side, repeat=2, order=order),
        )


def non_blocking(procs: int) -> Iterator[Pair]:
    """All four messages of an exchange under way at once."""
    for n, name in product((16, 50, 100), ("bb", "bx")):
        yield Pair(
            label=f"jacobi {name} n={n}",
            procs=procs,
            program="jacobi",
            values={"n": n, "k": 5},
            distribute={"t": DISTRIBUTIONS[name]},
            sets=CONCURRENT,
            simulation=_run("laplace", procs, n=n, repeat=5, distribution=name, exchange="concurrent"),
        )
    for n in (16, 100):
        yield Pair(
            label=f"jacobi_max n={n}",
            procs=procs,
            program="jacobi_max",
            values={"n": n, "k": 4},
            sets=CONCURRENT,
            simulation=_run("laplace", procs, n=n, repeat=4, reduce="yes", exchange="concurrent"),
        )


def early_finishers(procs: int) -> Iterator[Pair]:
    """Sends that occupy their caller for the start-up only: who is done runs ahead."""
    for n in (16, 100):
        yield Pair(
            label=f"jacobi_max n={n}",
            procs=procs,
            program="jacobi_max",
            values={"n": n, "k": 4},
            sets=STARTUP,
            simulation=_run("laplace", procs, n=n, repeat=4, reduce="yes", send="startup"),
        )
    for n, columns in product((16, 64, 128), ("cyclic", "block")):
        yield Pair(
            label=f"gauss (*,{columns}) n={n}",
            procs=procs,
            program="elimination",
            values={"n": n},
            distribute={"a": f"(*,{columns})"},
            sets=STARTUP,
            simulation=_run("gauss", procs, n=n, columns=columns, send="startup"),
        )
    for n in (12, 500):
        yield Pair(
            label=f"column of {8 * n} B, six times",
            procs=procs,
            program="column",
            sets=STARTUP,
            values={"n": n, "c": 2 * procs, "m": procs + 1, "k": 6},
            simulation=_run("bcast", procs, bytes=8 * n, root=procs // 2, repeat=6, send="startup"),
        )


def contended(procs: int) -> Iterator[Pair]:
    """Shifts by several processors in Gray code, and complete exchanges in the order of a ring or all at once."""
    for by, send, elements in product(sorted({3, procs // 2 - 1}), ("blocking", "startup"), (1, 64, 1000)):
        if 1 < by < procs:
            sets = STARTUP if send == "startup" else {}
            for program, far in (("ring", {"by": -by, "periodic": "yes"}), ("shift", {"by": by})):
                yield Pair(
                    label=f"{program} by {by} {send} {4 * elements} B",
                    procs=procs,
                    program=program,
                    sets=sets,
                    values={"n": elements * procs, "w": elements * by, "k": 4},
                    simulation=_run("shift", procs, bytes=4 * elements, repeat=4, send=send, **far),
                )
    for side in (1, 4, 16):
        size = {"bytes": 8 * side * side, "repeat": 2}
        values = {"n": side * procs, "k": 2}
        yield Pair(
            label=f"transpose, ring order, {8 * side * side} B",
            procs=procs,
            program="turn",
            values=values,
            sets=RING,
            simulation=_run("transpose", procs, order="ring", **size),
        )
        yield Pair(
            label=f"transpose, all at once, {8 * side * side} B",
            procs=procs,
            program="turn",
            values=values,
            sets=CONCURRENT,
            simulation=_run(
                "transpose", procs, exchange="concurrent", order="ring" if procs & (procs - 1) else "xor", **size
            ),
        )


def computing(procs: int) -> Iterator[Pair]:
    """One message at a time, with work: uneven blocks, one slow processor before each exchange, elimination."""
    for slow, elements in product(sorted({0, procs // 2, procs - 1}), (1, 26)):
        first = 64 * slow + 1
        yield Pair(
            label=f"shift {4 * elements} B, slow {slow}",
            procs=procs,
            program="slow_shift",
            values={"n": 64 * procs, "w": elements, "first": first, "last": first + 63, "k": 5},
            sets={MUL4: SPEED * POINT_S},
            simulation=_run(
                "shift",
                procs,
                bytes=4 * elements,
                repeat=5,
                work_s=64 * POINT_S,
                slow_rank=slow,
                slow_s=64 * POINT_S,
                slow_when="all",
            ),
        )
    for n, (name, formats) in product((50, 100), DISTRIBUTIONS.items()):
        yield Pair(
            label=f"jacobi {name} n={n}",
            procs=procs,
            program="jacobi",
            values={"n": n, "k": 4},
            distribute={"t": formats},
            sets={MUL8: SPEED * POINT_S},
            simulation=_run("laplace", procs, n=n, repeat=4, distribution=name, point_s=POINT_S),
        )
    yield from _slow_jacobi(procs, {}, "sequential")
    for n, columns in product((16, 64), ("cyclic", "block")):
        yield Pair(
            label=f"gauss (*,{columns}) n={n}",
            procs=procs,
            program="elimination",
            values={"n": n},
            distribute={"a": f"(*,{columns})"},
            sets={MUL8: SPEED * POINT_S, DIV8: 10 * SPEED * POINT_S},
            simulation=_run("gauss", procs, n=n, columns=columns, divide_s=10 * POINT_S, update_s=POINT_S),
        )
    n = 10 * procs
    yield Pair(
        label=f"pipeline n={n}",
        procs=procs,
        program="recurrence",
        values={"n": n},
        sets={MUL8: SPEED * POINT_S},
        simulation=partial(simulate_script, procs, _pipeline(procs, 10)),
    )


def computing_ahead(procs: int) -> Iterator[Pair]:
    """As `computing`, but with non-blocking exchanges or sends that occupy their caller for the start-up only."""
    yield from _slow_jacobi(procs, CONCURRENT, "concurrent")
    for n, columns in product((64, 128), ("cyclic", "block")):
        yield Pair(
            label=f"gauss (*,{columns}) n={n}",
            procs=procs,
            program="elimination",
            values={"n": n},
            distribute={"a": f"(*,{columns})"},
            sets={MUL8: SPEED * POINT_S, DIV8: 10 * SPEED * POINT_S, **STARTUP},
            simulation=_run(
                "gauss", procs, n=n, columns=columns, divide_s=10 * POINT_S, update_s=POINT_S, send="startup"
            ),
        )


def _slow_jacobi(procs: int, sets: Mapping[str, Any], exchange: str) -> Iterator[Pair]:
    grid = near_square(procs)
    n = 12 * max(grid)
    for slow in sorted({0, procs // 2, procs - 1}):
        block = n // grid[0], n // grid[1]
        i1, j1 = block[0] * (slow % grid[0]) + 1, block[1] * (slow // grid[0]) + 1
        work = block[0] * block[1]
        yield Pair(
            label=f"jacobi bb n={n}, slow {slow}",
            procs=procs,
            program="slow_jacobi",
            values={"n": n, "k": 6, "i1": i1, "i2": i1 + block[0] - 1, "j1": j1, "j2": j1 + block[1] - 1},
            sets={MUL8: SPEED * POINT_S, **sets},
            simulation=_run(
                "laplace",
                procs,
                n=n,
                repeat=6,
                point_s=POINT_S,
                exchange=exchange,
                slow_rank=slow,
                slow_s=work * POINT_S,
                slow_when="all",
            ),
        )


def _pipeline(procs: int, block: int) -> list[tuple[int, str, int, float]]:
    """x(i) from x(i-1) for i = 2..n: the owners one after the other."""
    steps: list[tuple[int, str, int, float]] = []
    for rank in range(procs):
        if rank:
            steps.append((rank, "recv", rank - 1, 8))
        steps.append((rank, "charge", 0, (block - (rank == 0)) * POINT_S))
        if rank + 1 < procs:
            steps.append((rank, "send", rank + 1, 8))
    return steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A class of programs: what it is called, its pairs on so many processors, what is demanded."""

    title: str
    pairs: Callable[[int], Iterator[Pair]]
    bounds: Bounds
    waiting: bool = False
    """Whether waiting is held to the bounds, too."""


CLASSES: Mapping[str, Class] = {
    "exchange": Class(title="blocking exchanges", pairs=exchanges, bounds=EXACT),
    "broadcast": Class(title="broadcasts", pairs=broadcasts, bounds=EXACT),
    "reduction": Class(title="reductions", pairs=reductions, bounds=EXACT),
    "concatenation": Class(title="concatenations", pairs=concatenations, bounds=EXACT),
    "elimination": Class(title="elimination", pairs=eliminations, bounds=EXACT),
    "transpose": Class(title="complete exchanges, pairwise", pairs=transposes, bounds=EXACT),
    "non_blocking": Class(title="non-blocking exchanges", pairs=non_blocking, bounds=MEETING),
    "early": Class(title="early finishers", pairs=early_finishers, bounds=MEETING),
    "contended": Class(title="contended shifts and exchanges", pairs=contended, bounds=MEETING),
    "computing": Class(title="computation, one processor slow", pairs=computing, bounds=EXACT, waiting=True),
    "ahead": Class(
        title="computation, non-blocking and early finishers", pairs=computing_ahead, bounds=MEETING, waiting=True
    ),
}

SIZES = (2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64)


def pairs_of(name: str, sizes: Sequence[int] = SIZES) -> list[Pair]:
    return [pair for procs in sizes for pair in CLASSES[name].pairs(procs)]


@cache
def results_of(name: str, sizes: Sequence[int] = SIZES) -> tuple[Compared, ...]:
    """All of a class, compared; kept for the length of the process."""
    return tuple(compare(pair) for pair in pairs_of(name, sizes))
