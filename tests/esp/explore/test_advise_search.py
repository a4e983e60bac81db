"""The search finds what exhaustive search finds, and its bounds are bounds."""

import random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import esp
from aag.diagnostics import SourceError
from esp import api
from esp.errors import UsageError
from esp.explore.advise import advise_source, candidates_of, numbers_of, request_for
from esp.explore.bounds import BOUND, EXACT, lower_bound, smallest
from tests.aag.spmd.programs import program


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.floats(0, 1))
        | st.tuples(st.sampled_from([1.0, 2.0, float("inf")]), st.just(1)),
        max_size=20,
    ),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_the_smallest_are_those_of_sorting(choices, wanted, first):
    """Any figures with any bounds below them."""
    looked_at = []

    def bound(at):
        value, share = choices[at]
        return value * share if value < float("inf") else 0.0

    def figure(at):
        looked_at.append(at)
        return choices[at][0]

    given_first = [at for at in (first,) if at < len(choices)]
    search = smallest(len(choices), bound, figure, wanted, wanted=given_first)
    possible = [at for at in range(len(choices)) if choices[at][0] < float("inf")]
    expected = sorted(possible, key=lambda at: (choices[at][0], at))
    assert search.found == expected[:wanted]
    assert len(looked_at) == len(set(looked_at))
    if len(expected) >= wanted:
        last = choices[expected[wanted - 1]][0] if wanted else 0.0
        assert all(bound(at) <= last for at in looked_at if at not in given_first), "looked at in vain"


def test_a_bound_that_is_too_high_loses_the_smallest():
    """The test above can fail: bounds must be bounds."""
    search = smallest(2, [3.0, 0.5].__getitem__, [0.1, 1.0].__getitem__, 1)
    assert search.found == [1]


def test_ctrl_c_keeps_what_is_known():
    def figure(at):
        if at == 1:
            raise KeyboardInterrupt
        return 5.0

    search = smallest(3, [2.0, 1.0, 7.0].__getitem__, figure, 1, wanted=[0])
    assert (search.interrupted, search.exact, search.found, search.rest) == (True, [0], [], 1.0)
    assert search.known == [EXACT, BOUND, BOUND]


OPTIONS = (
    {},
    {"load": "60%"},
    {"overlap": "40%"},
    {"bandwidth": "x0.1", "processor_speed": "x50"},
    {"latency": "x0.01", "memory_speed": "x0.1"},
    {"io": "off"},
)


@pytest.fixture(scope="module", params=["ipsc860", "cluster"])
def machine(request):
    names = sorted(each.stem for each in api.find_system("ipsc860").parent.glob("*.yaml"))
    return api.load_machine(request.param if request.param in names else next(n for n in names if n != "ipsc860"))


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10_000), st.sampled_from(OPTIONS))
def test_no_prediction_of_a_random_program_falls_below_its_bound(machine, seed, options):
    check_random(machine, seed, options)


@pytest.mark.truth
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10_000), st.sampled_from(OPTIONS))
def test_no_prediction_of_many_random_programs_falls_below_its_bound(machine, seed, options):
    check_random(machine, seed, options)


def check_random(machine, seed, options):
    text, procs = program(random.Random(seed), statements=5)
    held = check_bound(text, procs, machine, options)
    assume(held is not None)
    assert held


def check_bound(text, procs, machine, options):
    request = api.requested(procs, **options)
    try:
        stages = api.lower_source(api.read_source(text), machine, request)
        time_s = api.interpret_stages(stages, machine, request).time_s
    except SourceError:
        return None
    return bool(lower_bound(stages, machine, request) <= time_s)


@pytest.mark.sampled
@pytest.mark.parametrize("procs", [6])
@pytest.mark.parametrize("program", ["laplace", "redblack", "gauss", "pbs2", "lfk22", "pipeline", "pbs4", "lfk09"])
def test_no_choice_of_a_program_falls_below_its_bound(program, procs):
    source, system = api.read_source(program), api.load_machine("ipsc860")
    values = {"n": 24, "k": 6} if program in ("laplace", "redblack") else {"n": 12} if program == "gauss" else {}
    request = api.requested(set=values)
    gaps = []
    for each in candidates_of(source, system, request, [procs])[0]:
        wanted = request_for(each, request)
        stages = api.lower_source(source, system, wanted)
        time_s = api.interpret_stages(stages, system, wanted).time_s
        bound_s = lower_bound(stages, system, wanted)
        assert 0 < bound_s <= time_s, each.shown
        gaps.append(bound_s / time_s)
    assert max(gaps) > 0.5, "the bounds say next to nothing"


def exhaustive(source, system, request, numbers):
    """Every choice predicted: (seconds, number) in order, without any bound."""
    candidates, _ = candidates_of(source, system, request, numbers)
    times = []
    for at, each in enumerate(candidates):
        made = api.predict_source(source, system, request_for(each, request))
        times.append((made.time_s, at))
    return candidates, sorted(times)


SOON = (("laplace", 0), ("gauss", 1), ("laplace_bx", 2))
SEARCHED = [
    pytest.param(program, options, marks=() if (program, at) in SOON else pytest.mark.truth)
    for program in ("laplace", "laplace_bx", "gauss", "redblack")
    for at, options in enumerate(({}, {"load": "50%"}, {"overlap": "30%"}))
]
"""Each program with each option; in `make test` each option with a small search."""


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "options"), SEARCHED)
def test_the_advice_is_the_exhaustive_optimum(program, options):
    source, system = api.read_source(program), api.load_machine("ipsc860")
    request = api.requested(set={"n": 24, "k": 6} if program != "gauss" else {"n": 12}, **options)
    candidates, times = exhaustive(source, system, request, [4, 8])
    found = advise_source(source, system, request, [4, 8])
    assert found.proven
    assert not found.interrupted
    best_s = times[0][0]
    assert found.best.time_s == best_s
    assert found.best.candidate == candidates[times[0][1]]
    kept = [(each.time_s, candidates.index(each.candidate)) for each in found.ranked]
    assert kept[:3] == times[:3]
    known = {at: time_s for time_s, at in times}
    for each in found.excluded:
        assert times[2][0] <= each.bound_s <= known[candidates.index(each.candidate)]
    assert len(found.ranked) + len(found.excluded) == len(candidates)


@pytest.mark.truth
@pytest.mark.parametrize("program", ["laplace", "gauss", "redblack"])
def test_the_advice_is_the_exhaustive_optimum_as_the_program_stands(program):
    source, system = api.read_source(program), api.load_machine("ipsc860")
    request = api.requested()
    candidates, times = exhaustive(source, system, request, [8])
    found = advise_source(source, system, request, [8])
    assert found.best.time_s == times[0][0]
    assert found.best.candidate == candidates[times[0][1]]
    assert found.excluded, "nothing was saved"


def test_each_advised_time_is_that_of_a_prediction_of_its_own():
    found = esp.advise("laplace", procs="4..8", n=64, align=False)
    assert found.procs == (4, 8)
    for each in found.ranked:
        candidate = each.candidate
        options = {"distribute": dict(candidate.choice.formats), "grid": candidate.grid}
        alone = esp.predict("laplace", procs=candidate.procs, n=64, **({} if candidate.written else options))
        assert each.time_s == alone.time_s


def test_the_timed_region_has_no_bound_and_is_searched_all_the_same():
    found = esp.advise("gauss", procs=4, n=8, timed=True)
    assert not found.excluded
    assert found.best.time_s == min(each.prediction.timed_s for each in found.ranked)


def test_interrupted_it_says_what_it_has():
    source, system = api.read_source("laplace"), api.load_machine("ipsc860")
    steps = []

    def progress(step):
        steps.append(step)
        if len(steps) == 5:
            raise KeyboardInterrupt

    request = api.requested(n=32)
    found = advise_source(source, system, request, [8], progress=progress)
    assert found.interrupted
    assert not found.proven
    assert [each.candidate.written for each in found.ranked] == [True]
    assert found.floor_s == 0.0
    assert steps[0].predicted == 1
    assert steps[0].best.written
    assert steps[-1].bounded == 4


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        (8, (8,)),
        ("4..64", (4, 8, 16, 32, 64)),
        ("3..16", (3, 6, 12, 16)),
        ("4,6", (4, 6)),
        ([2, 2, 4], (2, 4)),
        (None, (None,)),
        ("5..5,2", (5, 2)),
    ],
)
def test_numbers_of_processors(given, numbers):
    assert numbers_of(given) == numbers


@pytest.mark.parametrize("given", ["8..4", "four", "", "4..", "0..4", "1.5"])
def test_numbers_that_cannot_be_meant(given):
    with pytest.raises(UsageError):
        numbers_of(given)


def test_the_mapping_of_the_source_is_predicted_on_the_largest_number_that_it_fits():
    """2 blocks of 34 on the 4x2 processors of 8 do not hold 100; 3 on those of 6 do."""
    source = (
        "program p\n  real :: a(100,100)\n!HPF$ PROCESSORS q(2,3)\n"
        "!HPF$ DISTRIBUTE a(CYCLIC(4),BLOCK(34)) ONTO q\n  a = 1.0\nend program p\n"
    )
    found = esp.advise(source, procs="6,8")
    assert found.procs == (6, 8)
    assert [(shown, why.code) for shown, why in found.impossible] == [("(CYCLIC(4),BLOCK(34))", "E307")]
    assert found.written is not None
    assert found.written.candidate.procs == 6
    assert found.written.time_s == esp.predict(source, procs=6).time_s
