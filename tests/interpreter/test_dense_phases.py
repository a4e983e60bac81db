"""Dense phases charged by processor and loops walked by their fronts give what the plain walk gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aag.graph.aau import Work
from interpreter import shared
from interpreter.models import communication, period
from interpreter.setting import Setting
from tests.interpreter.hand import Hand, additive, collective, machine, phase

APART = Setting(contention=False)


def grid_phases(rows, columns, size):
    """Overlap shifts on a grid: for dimension 1, 2 first up, then down; edges have one neighbour less."""
    rank = np.arange(rows * columns).reshape(columns, rows).T
    pairs = [(rank[:-1], rank[1:]), (rank[1:], rank[:-1]), (rank[:, :-1], rank[:, 1:]), (rank[:, 1:], rank[:, :-1])]
    return [phase(a.T.ravel(), b.T.ravel(), np.where(a.T.ravel() % rows == 0, size, size + 3)) for a, b in pairs]


class Alike(Hand):
    """Processors are of three kinds: the first of each ten, the last of each ten, and the others."""

    def classes(self):
        place = np.arange(self.procs) % 10
        return np.where(place == 0, 0, np.where(place == 9, 2, 1)), np.array([0, 1, 9])


def compare(monkeypatch, procs, build, grid=(), on=None, settings_=APART, hand_=Hand):
    """The same program with dense phases and by messages; answers both predictions."""
    results = []
    for many in (1, 1 << 40):
        monkeypatch.setattr(shared, "MANY", many)
        hand = hand_(procs, grid=grid)
        results.append(hand.run(*build(hand), on=on, setting=settings_))
    dense, plain = results
    additive(dense)
    for name in ("end_s", "computation_s", "communication_s", "overhead_s", "waiting_s"):
        one, other = getattr(dense.per_processor, name), getattr(plain.per_processor, name)
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * float(plain.time_s[0]), err_msg=name)
    for mine, theirs in zip(dense.aaus, plain.aaus, strict=True):
        for name in ("computation_s", "communication_s", "overhead_s", "waiting_s"):
            np.testing.assert_allclose(getattr(mine.parts, name), getattr(theirs.parts, name), rtol=1e-9, atol=1e-15)
        if mine.max_s is not None and theirs.max_s is not None:
            np.testing.assert_allclose(mine.max_s, theirs.max_s, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(dense.estimated_share, plain.estimated_share, rtol=1e-9, atol=1e-15)
    assert (dense.messages, dense.bytes, dense.iterations) == (plain.messages, plain.bytes, plain.iterations)
    return dense, plain


@pytest.mark.parametrize("lean", [False, True])
def test_an_idle_wave_through_a_grid(monkeypatch, lean):
    """A slow row sends a wave through 40 x 40 processors, one neighbour further in each iteration."""
    cells = 1 if lean else 10**9

    def build(hand):
        slow = np.where(np.arange(1600) % 40 == 0, 3000, 0)
        shift = hand.comm(*grid_phases(40, 40, 20))
        return hand.compute(slow), hand.loop("i", 100, shift, hand.compute(700), hand.seq(3))

    setting = Setting(contention=False, detail_cells=cells)
    dense, plain = compare(monkeypatch, 1600, build, grid=(40, 40), settings_=setting)
    assert dense.iterations_walked <= plain.iterations_walked


def test_fronts_are_walked_alone(monkeypatch):
    """One late processor in a row of 2000: its wave touches few processors in each iteration."""
    walks = []
    original = period.Front.walk

    def walk(self, wave, iterations, noise):
        walks.append((wave.moving.size, iterations))
        return original(self, wave, iterations, noise)

    monkeypatch.setattr(period.Front, "walk", walk)

    def build(hand):
        late = np.zeros(2000)
        late[1000] = 50_000
        right, left = phase(range(1999), range(1, 2000), 20), phase(range(1, 2000), range(1999), 20)
        return hand.compute(late), hand.loop("i", 300, hand.comm(right, left), hand.compute(500))

    compare(monkeypatch, 2000, build)
    ((moving, iterations),) = walks
    assert moving < 20
    assert iterations > 290


def test_dense_reductions(monkeypatch):
    work = Work(computation=(("op", 1.0),), overhead=(("op", 2.0),))

    def build(hand):
        uneven = hand.compute(np.arange(64) % 7 * 100)
        return uneven, hand.reduce(collective("reduction", 64, 3, element_bytes=8), work=work)

    compare(monkeypatch, 64, build, on=machine(software=1e-4))


@pytest.mark.parametrize("cells", [1, 10**9])
@pytest.mark.parametrize("share", [0, 1, 40_000])
def test_nests_that_classes_of_processors_share(monkeypatch, cells, share):
    """Costs are kept by class where all of a class run a nest equally often, and only there. The ledger keeps totals
    of each AAU, or of all, or all detail."""
    work = Work(computation=(("op", 3.0),), overhead=(("op", 1.0),))

    def build(hand):
        place = np.arange(200) % 10
        equal = np.stack([4 + (place > 0), 16 + 7 * (place > 0) * (place < 9)], axis=1)
        other = equal.copy()
        other[17] += 1
        shift = hand.comm(phase(range(199), range(1, 200), 20))
        return hand.nest(equal, work), hand.nest(other, work), hand.loop("i", 30, hand.nest(equal, work), shift)

    setting = Setting(contention=False, detail_cells=cells, detail_bytes=share or 10**9)
    dense, _ = compare(monkeypatch, 200, build, settings_=setting, hand_=Alike)
    assert (dense.aaus[2].max_s is None) == (share == 1)


@pytest.mark.parametrize(
    "options", [{}, {"switching": "none"}, {"receive": 1e-6}, {"factor": 1.5, "switching": "none"}]
)
def test_concurrent_dense_phases(monkeypatch, options):
    """All sends come before all receives, and messages meet on links where so few are followed."""

    def build(hand):
        slow = np.where(np.arange(256) % 16 == 0, 3000, 0)
        few = phase([3], [7], 100)
        return hand.compute(slow), hand.loop("i", 40, hand.comm(*grid_phases(16, 16, 20), few), hand.compute(700))

    on = machine(exchange="concurrent", call=0.4, pack=1e-7, **options)
    compare(monkeypatch, 256, build, grid=(16, 16), on=on, settings_=Setting())


@pytest.mark.parametrize("exchange", ["sequential", "concurrent"])
def test_only_the_latest_of_what_depends_on_the_index_is_kept(monkeypatch, exchange):
    """Each iteration has nests and messages of its own; the next one's may take their place in memory."""

    def build(hand):
        shift = hand.comm(
            lambda env: phase(range(64 - env["i"]), range(env["i"], 64), 5 * env["i"]),
            lambda env: phase(range(env["i"], 64), range(64 - env["i"]), 30),
            uses=("i",),
        )
        work = hand.compute(lambda env: np.arange(64) % env["i"] * 100, uses=("i",))
        return (hand.loop("j", 2, hand.loop("i", 12, work, shift)),)

    kept = []
    original = communication.execute

    def execute(run, aau, plan):
        plans = [known for (function, _), known in run.results.items() if function is communication._plan]
        kept.append(sum(map(len, plans)))
        original(run, aau, plan)

    monkeypatch.setattr(communication, "execute", execute)
    compare(monkeypatch, 64, build, on=machine(exchange=exchange, call=0.5), settings_=Setting())
    many, plain = kept[:24], kept[24:]
    assert set(many) == {1}
    assert max(plain) == 12


@settings(max_examples=20)
@given(data=st.data())
def test_random_dense_phases(data):
    check_dense_phases(data)


@pytest.mark.truth
@settings(max_examples=100)
@given(data=st.data())
def test_many_random_dense_phases(data):
    check_dense_phases(data)


def check_dense_phases(data):
    procs = data.draw(st.sampled_from([64, 100, 256]))
    skew = np.zeros(procs)
    for _ in range(data.draw(st.integers(0, 3))):
        skew[data.draw(st.integers(0, procs - 1))] = data.draw(st.integers(1, 20_000))
    by = data.draw(st.lists(st.integers(1, procs - 1), min_size=1, max_size=3))
    wrap = data.draw(st.booleans())
    strided = data.draw(st.booleans())
    work = data.draw(st.sampled_from([0, 50, 1000]))
    trips = data.draw(st.sampled_from([3, 40, 200]))
    options = {
        "send": data.draw(st.sampled_from(["blocking", "startup"])),
        "load": data.draw(st.sampled_from([0, 0.4])),
        "factor": data.draw(st.sampled_from([1.0, 1.7])),
        "exchange": data.draw(st.sampled_from(["sequential", "concurrent"])),
        "call": data.draw(st.sampled_from([1.0, 0.3])),
        "switching": "none",
        "pack": 1e-7,
        "guessed": True,
    }

    def build(hand):
        steps = []
        for distance in by:
            source = np.arange(procs if wrap else procs - distance)
            steps.append(phase(source, (source + distance) % procs, 10 + source % 2 * 40, contiguous=not strided))
        return hand.compute(skew), hand.loop("i", trips, hand.comm(*steps), hand.compute(work))

    with pytest.MonkeyPatch.context() as patch:
        compare(patch, procs, build, on=machine(**options), settings_=Setting())
