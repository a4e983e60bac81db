"""Misses of nests against a simulator that makes every single access, one after the other."""

import itertools
import random
import sys
import tracemalloc
from unittest import mock

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from interpreter.models.cache import Cache, CachedAccess, CachedNest, CacheState, interpret_nest, trace

I860 = Cache(size_bytes=8192, line_bytes=32, associativity=2)
SMALL = Cache(size_bytes=512, line_bytes=32, associativity=2)
VARIANTS = {
    "two ways": SMALL,
    "direct mapped": replace(SMALL, associativity=1),
    "four ways": replace(SMALL, associativity=4),
    "fully associative": replace(SMALL, associativity=0),
    "no allocation": replace(SMALL, write_allocate=False),
    "four ways, no allocation": replace(SMALL, associativity=4, write_allocate=False),
    "three sets": Cache(size_bytes=3 * 2 * 24, line_bytes=24, associativity=2),
}


def access(start, strides, write=False, array="a", procs=1, **more):
    return CachedAccess(
        array=array,
        element_bytes=8,
        start=np.full(procs, start, np.int64),
        strides=np.tile(np.array(strides, np.int64), (procs, 1)),
        write=write,
        **more,
    )


def nest(extents, *accesses, procs=1, **more):
    return CachedNest(extents=np.tile(np.array(extents, np.int64), (procs, 1)), accesses=accesses, **more)


def stream(n, *starts, stride=8, write=(), procs=1):
    """A loop over vectors that start at `starts`, those with the numbers in `write` written."""
    vectors = [access(start, [stride], number in write, f"v{number}", procs) for number, start in enumerate(starts)]
    return nest([n], *vectors, procs=procs)


def jacobi(n, a=0, b=None, procs=1):
    b = n * n * 8 if b is None else b
    inside = 8 * (n + 1)
    references = [
        (a + inside - 8, False),
        (a + inside + 8, False),
        (a + inside - 8 * n, False),
        (a + inside + 8 * n, False),
        (b + inside, True),
    ]
    return nest(
        [n - 2, n - 2],
        *(access(start, [8 * n, 8], write, "b" if write else "a", procs) for start, write in references),
        procs=procs,
    )


def simulate(nests, cache, chance=None):
    """(read misses, write misses, write-backs) of each nest; `chance` picks victims instead of LRU."""
    sets = [[] for _ in range(cache.sets)]
    figures = []
    for one in nests:
        count = [0, 0, 0]
        counters = np.array(list(itertools.product(*map(range, one.extents[0]))), np.int64)
        counters = counters.reshape(-1, one.extents.shape[1])
        lines = np.stack([(a.start[0] + counters @ a.strides[0]) // cache.line_bytes for a in one.accesses], axis=1)
        made = np.stack([made_in(a, counters, one.extents[0]) for a in one.accesses], axis=1)
        for row, makes in zip(lines.tolist(), made.tolist(), strict=True):
            for a, line in itertools.compress(zip(one.accesses, row, strict=True), makes):
                entries = sets[line % cache.sets]
                entry = next((e for e in entries if e[0] == line), None)
                if entry is None:
                    count[a.write] += 1
                    if a.write and not cache.write_allocate:
                        continue
                    if len(entries) == cache.ways:
                        count[2] += entries.pop(chance.randrange(cache.ways) if chance else -1)[1]
                    entry = [line, False]
                else:
                    entries.remove(entry)
                entry[1] |= a.write
                entries.insert(0, entry)
        figures.append(tuple(count))
    return figures


def made_in(one, counters, extents):
    """Which iterations make a reference: of the loops inside its own the first or the last."""
    depth = counters.shape[1] if one.depth is None else one.depth
    return (counters[:, depth:] == (extents[depth:] - 1 if one.after else 0)).all(axis=1)


def predict(nests, cache):
    state, figures = CacheState.cold(nests[0].extents.shape[0]), []
    for one in nests:
        misses, state = interpret_nest(one, cache, state)
        figures.append((misses.read[0], misses.write[0], misses.writeback[0]))
    return figures


# Nests small enough that every reference is looked at


@st.composite
def whole_nests(draw, inner=(0, 8, 16, 32, 40, 200, 256)):
    """One to three nests of references that pass over a line at most at every other iteration, or move apart."""
    nests = []
    for _ in range(draw(st.integers(1, 3))):
        depth = draw(st.integers(1, 3))
        extents = [draw(st.integers(0, 9)) for _ in range(depth)]
        accesses = []
        for _ in range(draw(st.integers(1, 4))):
            strides = [draw(st.sampled_from([0, 8, -8, 72, 256, 264, -512])) for _ in range(depth - 1)]
            strides.append(draw(st.sampled_from(inner)))
            start = draw(st.integers(0, 300)) * 8
            accesses.append(access(start, strides, draw(st.booleans())))
        # One reference that enters a line at each iteration makes every iteration count.
        accesses.append(access(draw(st.integers(0, 300)) * 8, [0] * (depth - 1) + [draw(st.sampled_from([32, -32]))]))
        nests.append(nest(extents, *accesses))
    return nests


def some(*quick):
    """Each variant of the cache; these in `make test`."""
    return pytest.mark.parametrize(
        "variant", [each if each in quick else pytest.param(each, marks=pytest.mark.truth) for each in VARIANTS]
    )


@some("two ways", "four ways", "no allocation")
@given(nests=whole_nests())
def test_small_nests_are_exact(variant, nests):
    cache = VARIANTS[variant]
    np.testing.assert_allclose(predict(nests, cache), simulate(nests, cache), atol=1e-6)


@st.composite
def outer_nests(draw):
    """As `whole_nests`, with references in loops further out, before and after the loop inside."""
    nests = []
    for one in draw(whole_nests()):
        loops = one.extents.shape[1]
        before, after = [], []
        for depth in range(1, loops):
            for side, follows in ((before, False), (after, True)):
                for _ in range(draw(st.integers(0, 2))):
                    strides = [draw(st.sampled_from([0, 8, -8, 72, 256])) for _ in range(depth)]
                    side.append(
                        access(
                            8 * draw(st.integers(0, 300)),
                            strides + [0] * (loops - depth),
                            draw(st.booleans()),
                            depth=depth,
                            after=follows,
                        )
                    )
        after.sort(key=lambda each: -each.depth)
        nests.append(replace(one, accesses=(*before, *one.accesses, *after)))
    return nests


@some("direct mapped", "fully associative", "four ways, no allocation", "three sets")
@given(nests=outer_nests())
def test_references_of_outer_loops_are_made_once_in_each_of_their_iterations(variant, nests):
    cache = VARIANTS[variant]
    np.testing.assert_allclose(predict(nests, cache), simulate(nests, cache), atol=1e-6)


@given(nests=outer_nests())
def test_misses_of_statements_add_up_to_those_of_the_nest(nests):
    state = CacheState.cold(1)
    for one in nests:
        apart = replace(one, accesses=tuple(replace(each, source=at % 3) for at, each in enumerate(one.accesses)))
        whole, _ = interpret_nest(one, SMALL, state)
        misses, state = interpret_nest(apart, SMALL, state)
        assert (misses.read, misses.write, misses.writeback) == (whole.read, whole.write, whole.writeback)
        if misses.parts is not None:
            np.testing.assert_allclose(misses.parts[:, ::2].sum(axis=1), whole.read)
            np.testing.assert_allclose(misses.parts[:, 1::2].sum(axis=1), whole.write)


@given(n=st.integers(1, 120), starts=st.lists(st.integers(0, 600), min_size=1, max_size=4), seed=st.integers(0, 9))
def test_streams_that_stay_in_lines_for_some_iterations(n, starts, seed):
    writes = {number for number in range(len(starts)) if seed >> number & 1}
    nests = [stream(n, *(8 * start for start in starts), write=writes)] * 3
    for cache in (SMALL, replace(SMALL, write_allocate=False)):
        for mine, true in zip(predict(nests, cache), simulate(nests, cache), strict=True):
            assert sum(mine[:2]) == pytest.approx(sum(true[:2]), rel=0.1, abs=4)


# Closed forms


@pytest.mark.parametrize("lines", [100, 256, 257, 300, 383, 384, 500, 5000])
def test_cyclic_sweeps_miss_as_the_partial_fit_formula_says(lines):
    expected = 0 if lines <= 256 else 3 * (lines - 256) if lines < 384 else lines
    *_, (read, write, writeback) = predict([stream(lines * 4, 0)] * 4, I860)
    assert (read, write, writeback) == (pytest.approx(expected), 0, 0)


def test_a_sweep_over_two_ways_of_one_set_under_random_replacement():
    # Three lines of a set in turn: a hit leaves a miss behind it, a miss leaves either with equal chance; two of
    # three references miss.
    cache = replace(I860, replacement="random")
    misses, state = None, CacheState.cold(1)
    for _ in range(20):
        misses, state = interpret_nest(stream(3, 0, stride=4096), cache, state)
    assert misses.read[0] == pytest.approx(2, abs=0.01)


def test_a_set_with_a_free_place_throws_nothing_out_by_chance():
    cache = replace(I860, replacement="random")
    assert predict([stream(1024, 0)] * 3, cache) == [(256, 0, 0), (0, 0, 0), (0, 0, 0)]


@pytest.mark.parametrize("ways", [2, 4])
@pytest.mark.parametrize("replacement", ["lru", "random"])
def test_what_is_touched_again_at_once_is_there_and_changes_nothing_else(ways, replacement):
    cache = replace(SMALL, associativity=ways, replacement=replacement)
    touches = [access(start, [40], write, f"v{start}") for start, write in ((0, False), (4096, True), (8256, False))]
    once = nest([40], *touches)
    twice = nest([40], *(each for touch in touches for each in (touch, touch)))
    last = nest([1], access(8256 + 39 * 40, [0]), access(8256 + 39 * 40, [0], write=True))
    assert predict([twice, twice], cache) == predict([once, once], cache)
    first, _, second = predict([once, last, once], cache)
    plain = predict([once, once], cache)
    assert (first, second[:2]) == (plain[0], plain[1][:2])
    assert second[2] > plain[1][2], "the line written between is written back"


def test_writes_without_allocation_count_one_by_one_and_leave_nothing():
    cache = replace(I860, write_allocate=False)
    assert predict([stream(100, 0, write={0})] * 2, cache) == [(0, 100, 0)] * 2


def test_writes_to_resident_lines_hit_and_are_written_back_when_thrown_out():
    cache = replace(I860, write_allocate=False)
    nests = [stream(100, 0), stream(100, 0, write={0}), stream(100, 4096), stream(100, 8192)]
    assert predict(nests, cache) == [(25, 0, 0), (0, 0, 0), (25, 0, 0), (25, 0, 25)]


def test_masked_references_touch_lines_as_often_as_a_line_offers_the_chance():
    # Four elements a line, a quarter of them wanted: 1 - (3/4)^4 of the lines.
    half = nest([400], access(0, [8], fraction=0.25))
    assert predict([half], I860)[0][0] == pytest.approx(100 * (1 - 0.75**4))
    assert predict([nest([400], access(0, [8], fraction=0.0))], I860) == [(0, 0, 0)]


def test_aliased_vectors_throw_each_other_out_at_every_element():
    n = 64
    together = stream(n, 0, 4096, 8192)
    assert predict([together], I860) == [(3 * n, 0, 0)] == simulate([together], I860)


# Nests of which only a part is looked at


@pytest.mark.parametrize(
    ("n", "b"),
    [
        pytest.param(n, b, marks=() if at % 2 == padded else pytest.mark.truth)
        for at, n in enumerate((40, 100, 128, 200, 300))
        for padded, b in enumerate((None, "padded"))
    ],
)
def test_long_sweeps_are_those_of_the_simulator(n, b):
    nests = [jacobi(n, 8192, 8192 + n * n * 8 + (104 if b else 0))] * 2
    for mine, true in zip(predict(nests, I860), simulate(nests, I860), strict=True):
        assert mine[0] == pytest.approx(true[0], rel=0.01)
        assert mine[1] == pytest.approx(true[1], rel=0.01)
        assert mine[2] == pytest.approx(true[2], rel=0.02, abs=60)


@hypothesis.settings(max_examples=40)
@given(
    rows=st.integers(20, 300),
    columns=st.integers(100, 300),
    gap=st.integers(0, 600),
    lags=st.lists(st.integers(-2, 2), min_size=1, max_size=4),
    ways=st.sampled_from([1, 2, 4]),
    allocate=st.booleans(),
    chance=st.booleans(),
)
def test_a_part_of_the_iterations_tells_of_all(rows, columns, gap, lags, ways, allocate, chance):
    cache = Cache(
        size_bytes=8192,
        line_bytes=32,
        associativity=ways,
        write_allocate=allocate,
        replacement="random" if chance and ways == 2 else "lru",
    )
    column = 8 * rows
    reads = [access((4 + lag) * column, [column, 8]) for lag in lags]
    nests = [nest([columns, rows], *reads, access((columns + 8) * column + 8 * gap, [column, 8], write=True))] * 2
    some = predict(nests, cache)
    with mock.patch.object(trace, "BUDGET", 1 << 40):
        whole = predict(nests, cache)
    for part, full in zip(some, whole, strict=True):
        assert sum(part[:2]) == pytest.approx(sum(full[:2]), rel=0.02, abs=10)
        assert part[2] == pytest.approx(full[2], rel=0.02, abs=100)


def test_references_that_move_apart():
    n = 48  # c(i, j) = c(i, j) + a(i, k) * b(k, j), loops j, k, i
    size = 8 * n * n
    product = nest(
        [n, n, n],
        access(0, [0, 8 * n, 8]),
        access(size, [8 * n, 8, 0]),
        access(2 * size, [8 * n, 0, 8]),
        access(2 * size, [8 * n, 0, 8], write=True),
    )
    mine, true = predict([product], I860)[0], simulate([product], I860)[0]
    assert sum(mine[:2]) == pytest.approx(sum(true[:2]), rel=0.1)


@pytest.mark.parametrize(
    ("n", "ways", "bound", "allocate"),
    [
        pytest.param(n, ways, bound, allocate, marks=() if (at + ways // 2 + allocate) % 2 else pytest.mark.truth)
        for at, n in enumerate((24, 50, 90))
        for ways, bound in ((2, 0.04), (4, 0.25))
        for allocate in (True, False)
    ],
)
def test_random_replacement_is_the_mean_of_many_simulations(n, ways, bound, allocate):
    cache = Cache(size_bytes=8192, line_bytes=32, associativity=ways, replacement="random", write_allocate=allocate)
    nests = [jacobi(n, 0, n * n * 8 + 104)] * 3
    runs = [simulate(nests, cache, random.Random(seed))[-1] for seed in range(8 if n < 60 else 2)]
    mean = np.mean(runs, axis=0)
    mine = predict(nests, cache)[-1]
    assert mine[0] == pytest.approx(mean[0], rel=bound, abs=8)
    assert mine[1] == pytest.approx(mean[1], rel=bound, abs=8)


# Unknown addresses


def test_unknown_addresses_do_not_conflict():
    vectors = [access(0, [8], array=name) for name in "xyz"]
    cold, warm = predict([nest([64], *vectors, addresses_known=False)] * 2, I860)
    assert cold == (48, 0, 0)
    assert warm == (0, 0, 0)


def test_unknown_addresses_keep_conflicts_within_an_array():
    rows = nest([64], access(0, [4096]), addresses_known=False)
    assert predict([rows] * 2, I860)[1] == (64, 0, 0)


def test_an_array_keeps_its_unknown_address_from_nest_to_nest():
    first = nest([100], access(0, [8], array="x"), access(0, [8], array="y"), addresses_known=False)
    second = nest([100], access(0, [8], array="y"), access(0, [8], array="x"), addresses_known=False)
    assert predict([first, second], I860)[1] == (0, 0, 0)


# Processors and states


def test_each_processor_has_its_own_shape_and_history():
    extents = np.array([[40], [0], [80], [40]])
    starts = np.array([0, 0, 0, 16384])
    vector = CachedAccess(array="a", element_bytes=8, start=starts, strides=np.full((4, 1), 8), write=False)
    state = CacheState.cold(4)
    misses, state = interpret_nest(CachedNest(extents=extents, accesses=(vector,)), I860, state)
    assert misses.read.tolist() == [10, 0, 20, 10]
    whole = replace(vector, start=np.zeros(4, np.int64))
    misses, state = interpret_nest(CachedNest(extents=np.full((4, 1), 80), accesses=(whole,)), I860, state)
    assert misses.read.tolist() == [10, 20, 0, 20]


def test_states_are_the_same_when_all_that_follows_is():
    state, seen = CacheState.cold(3), []
    sweep = jacobi(40, procs=3)
    for _ in range(4):
        _, state = interpret_nest(sweep, I860, state)
        seen.append(state)
    assert seen[2].same_as(seen[3])
    assert not seen[3].same_as(CacheState.cold(3))
    _, other = interpret_nest(stream(8, 0, procs=3), I860, state)
    assert not other.same_as(state)


def test_states_settle_under_random_replacement():
    cache = replace(I860, replacement="random", write_allocate=False)
    for n in (24, 48, 64, 128):
        state, sweeps = CacheState.cold(1), 0
        while True:
            _, after = interpret_nest(jacobi(n), cache, state)
            sweeps += 1
            if after.same_as(state):
                break
            state = after
        assert sweeps <= 8, n


def test_many_distinct_shapes_stand_for_each_other_in_proportion():
    procs = 5000
    lengths = np.arange(procs)[:, None] + 1
    vector = CachedAccess(
        array="a", element_bytes=8, start=np.zeros(procs, np.int64), strides=np.full((procs, 1), 8), write=False
    )
    misses, _ = interpret_nest(CachedNest(extents=lengths, accesses=(vector,)), I860, CacheState.cold(procs))
    np.testing.assert_allclose(misses.read, np.ceil(lengths[:, 0] / 4), rtol=0.05, atol=2)


def test_a_million_processors_of_four_shapes_cost_little():
    procs = 1 << 20
    one = jacobi(10, procs=1)
    edge = np.arange(procs) % 1024 == 0
    sweep = CachedNest(
        extents=np.where(edge[:, None], [[7, 8]], [[8, 8]]),
        accesses=tuple(
            replace(a, start=np.broadcast_to(a.start, procs), strides=np.broadcast_to(a.strides, (procs, 2)))
            for a in one.accesses
        ),
    )
    tracemalloc.start()
    misses, state = interpret_nest(sweep, I860, CacheState.cold(procs))
    again, state = interpret_nest(sweep, I860, state)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert misses.read[0] < misses.read[1] == predict([one], I860)[0][0]
    assert again.read.max() == 0
    assert peak < 200e6


def test_work_does_not_grow_with_trip_counts():
    def work(n):
        """Functions called, and the most memory held at once, in the last of some sweeps."""
        state = CacheState.cold(1)
        for _ in range(4):
            _, state = interpret_nest(jacobi(n), I860, state)
        calls = 0

        def count(_frame, event, _what):
            nonlocal calls
            calls += event in {"call", "c_call"}

        tracemalloc.start()
        sys.setprofile(count)
        try:
            interpret_nest(jacobi(n), I860, state)
        finally:
            sys.setprofile(None)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return calls, peak

    small, large = work(101), work(20_001)
    assert large[0] < 2 * small[0]
    assert large[1] < 8 * small[1]  # of 40,000 times as many iterations


# Errors


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"size_bytes": 8200}, "not a whole number of sets"),
        ({"replacement": "fifo"}, "'fifo' is not known: lru or random"),
        ({"line_bytes": 0}, "positive size and line"),
    ],
)
def test_impossible_caches_are_refused(change, text):
    with pytest.raises(ValueError, match=text):
        replace(I860, **change)


def test_states_of_other_caches_and_other_processors_are_refused():
    _, state = interpret_nest(stream(8, 0), I860, CacheState.cold(1))
    with pytest.raises(ValueError, match="another geometry"):
        interpret_nest(stream(8, 0), SMALL, state)
    with pytest.raises(ValueError, match="a nest of 2 processors meets a cache state of 1"):
        interpret_nest(stream(8, 0, procs=2), I860, state)
