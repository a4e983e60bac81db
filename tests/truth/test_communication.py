"""esp's predictions beside simulations of hand-written node programs: time, waiting, messages and bytes."""

import random
from statistics import median

import pytest

from tests.truth.pairs import CLASSES, EXACT, Compared, compare, pairs_of, results_of
from tests.truth.predicted import lowered, predict
from tests.truth.simgrid.runner import simulate
from tests.truth.write_accuracy import ACCURACY, class_row


def told(results):
    """The worst few, for who reads a failure."""
    worst = sorted(results, key=lambda each: -each.time_error)[:5]
    return "\n".join(
        f"{each.pair}: esp {each.predicted.time_s * 1e3:.4f} ms, simulated {each.time_s * 1e3:.4f} ms, time "
        f"{each.time_error:.3%}, waiting {each.waiting_error:.3%}"
        for each in worst
    )


def assert_within_bounds(name: str, results: list[Compared]) -> None:
    bounds, strangers = CLASSES[name].bounds, [str(each.pair) for each in results if not each.same_messages]
    assert not strangers, f"messages or bytes of a processor differ: {strangers}"
    errors = [each.time_error for each in results]
    print(f"{name}: {len(results)} pairs, median {median(errors):.4%}, worst {max(errors):.4%}")
    far = [each for each in results if each.time_error > bounds.worst]
    assert all(each.beyond <= bounds.worst for each in far), told(far)
    assert median(errors) <= bounds.median, told(results)
    if CLASSES[name].waiting:
        waiting = [each.waiting_error for each in results]
        assert max(waiting) <= bounds.worst, told(sorted(results, key=lambda each: -each.waiting_error)[:5])
        assert median(waiting) <= bounds.median


@pytest.mark.sampled
@pytest.mark.parametrize("name", CLASSES)
def test_some_pairs_of_each_class(name):
    """A quick look, with the same choice every time; `make truth` compares all."""
    pairs = random.Random(1994).sample(pairs_of(name, (3, 4, 6, 8)), 2)
    assert_within_bounds(name, [compare(pair) for pair in pairs])


@pytest.mark.truth
@pytest.mark.parametrize("name", CLASSES)
def test_every_pair_of_each_class(name):
    assert_within_bounds(name, list(results_of(name)))
    assert class_row(name) in ACCURACY.read_text(encoding="utf-8"), "python -m tests.truth.write_accuracy"


@pytest.mark.parametrize("name", CLASSES)
def test_one_processor_communicates_nothing(name):
    program_names = {pair.program: pair for pair in pairs_of(name, (2,)) or pairs_of(name, (8,))}
    for program, pair in program_names.items():
        alone = predict(lowered(program, 1, distribute=pair.distribute, **pair.values), sets=pair.sets)
        parts = alone.result.parts
        assert (parts.communication_s[0], parts.waiting_s[0], alone.messages, alone.bytes) == (0, 0, 0, 0), program


def test_the_switch_of_protocol_lies_at_100_bytes():
    """The one size at which a wrong reading of the law shows best: 100 bytes are short, 104 are long."""
    pairs = {pair.label: pair for pair in pairs_of("exchange", (2,))}
    short, long = (compare(pairs[f"shift {size} B"]) for size in (100, 104))
    assert short.time_s == pytest.approx(3 * 117.5e-6, rel=1e-6)
    assert long.time_s == pytest.approx(3 * (147 + 30.5 + 0.39 * 104) * 1e-6, rel=1e-6)
    assert max(short.time_error, long.time_error) < 1e-5


BENCHMARKS = {
    "laplace_bb": ({"n": 64, "k": 5}, {}, "laplace", {"n": 64, "repeat": 5}),
    "laplace_bx": ({"n": 64, "k": 5}, {}, "laplace", {"n": 64, "repeat": 5, "distribution": "bx"}),
    "laplace_xb": ({"n": 64, "k": 5}, {}, "laplace", {"n": 64, "repeat": 5, "distribution": "xb"}),
    "laplace": ({"n": 64, "k": 5}, {}, "laplace", {"n": 64, "repeat": 5, "reduce": "yes"}),
    "gauss": ({"n": 64}, {}, "gauss", {"n": 64}),
    "gauss by blocks": ({"n": 64}, {"a": "(*,BLOCK)"}, "gauss", {"n": 64, "columns": "block"}),
    "lfk03": ({"n": 256, "reps": 3}, {}, "allreduce", {"repeat": 3}),
    "pipeline": ({"n": 64}, {}, "pipeline", {"n": 64}),
}


@pytest.mark.parametrize("procs", [8, *(pytest.param(p, marks=pytest.mark.truth) for p in (2, 4, 16, 32, 64))])
@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_kernels_of_the_benchmarks(name, procs):
    """What lies between the two readings of the clock, communication alone."""
    values, distribute, program, settings = BENCHMARKS[name]
    stages = lowered(name.split()[0], procs, distribute=distribute, **values)
    right = simulate(program, procs, library="node", **settings)
    found = predict(stages, timed=True).result
    assert found.timed_s[0] == pytest.approx(right.time_s, rel=EXACT.worst)
    assert (found.messages, found.bytes) == (right.messages, right.bytes)
