"""Several caches, one behind the other: each is asked for every reference."""

import numpy as np
import pytest

from esp import api
from esp.locate import systems_dir
from esp.request import requested
from sag.load import load_system

MACHINE = """
format: 1
extends: ipsc860
name: two
title: a node with two caches
sources: {here: this test}
system:
  units:
    cube:
      units:
        node:
          memory:
            source: here
            certainty: estimated
            replacement: lru
            write_allocate: yes
            caches:
              l2:
                cache_size: 32 KB
                line: 64 B
                associativity: 4
                replacement: lru
                write_allocate: yes
                read_miss: 1 us
                write_miss: 2 us
                writeback: 0.5 us
"""
ALONE = {
    "memory.cache_size": "32 KB",
    "memory.line": "64 B",
    "memory.associativity": "4",
    "memory.read_miss": "1 us",
    "memory.write_miss": "2 us",
    "memory.writeback": "0.5 us",
}
"""The second cache as the only one."""
KEYS = ("read_miss", "write_miss", "writeback")
CASES = (
    ("laplace_bb", 4, {"n": 100}),
    ("lu", 2, {"n": 64}),
    pytest.param("redblack", 3, {"n": 90}, marks=pytest.mark.truth),
    pytest.param("gauss", 4, {"n": 300}, marks=pytest.mark.truth),  # the misses of some steps are interpolated
)


def system(text=MACHINE):
    return load_system(text, folder=systems_dir())


def predicted(machine, program, procs, values, **changes):
    return api.predict_source(api.read_source(program), machine, requested(procs, set=values, io=False, **changes))


def counts(prediction, cache=""):
    return [prediction.counts.total(f"memory.{cache}{key}") for key in KEYS]


@pytest.mark.parametrize(("program", "procs", "values"), CASES)
def test_each_cache_misses_what_it_would_alone(program, procs, values):
    both = predicted(system(), program, procs, values)
    first = predicted(system(MACHINE[: MACHINE.index("            caches:")]), program, procs, values)
    sets = {f"cube.node.{path}": value for path, value in ALONE.items()}
    second = predicted(system(MACHINE[: MACHINE.index("            caches:")]), program, procs, values, system_set=sets)
    # Elimination interpolates where one of the caches needs it, so in other steps than with that one alone.
    assert counts(both) == pytest.approx(counts(first), rel=2e-3)
    assert counts(both, "l2.") == pytest.approx(counts(second), rel=2e-3)
    assert 0 < sum(counts(both, "l2.")) < sum(counts(both))
    assert both.counts.bytes_moved() == pytest.approx(second.counts.bytes_moved(), rel=2e-3)


@pytest.mark.parametrize(("program", "procs", "values"), CASES)
def test_a_miss_of_the_second_cache_costs_more_than_one_of_the_first(program, procs, values):
    """On each processor the time is longer by what the second cache misses, which is computation."""
    both = predicted(system(), program, procs, values)
    free = {f"cube.node.memory.l2.{key}": "0 s" for key in KEYS}
    without = predicted(system(), program, procs, values, system_set=free)
    more = both.parts.computation_s - without.parts.computation_s
    paid = np.dot(counts(both, "l2."), (1e-6, 2e-6, 0.5e-6)) / procs
    assert more == pytest.approx(paid, rel=1e-9)


@pytest.mark.truth
def test_every_step_of_an_elimination_gives_the_same():
    some, every = (predicted(system(), "gauss", 4, {"n": 300}, unroll=unroll) for unroll in (False, True))
    assert counts(some) == pytest.approx(counts(every), rel=2e-3)
    assert counts(some, "l2.") == pytest.approx(counts(every, "l2."), rel=2e-3)


def test_a_statement_of_a_sweep_has_its_own_misses_in_each_cache():
    text = """program p
integer, parameter :: n = 3000
integer :: i
real(8) :: a(n), b(n), c(n), d(100)
!hpf$ distribute d(block)
d = 1
a = 1
do i = 2, n
  a(i) = a(i-1)*2
  c(i) = b(i) + c(i-1)
end do
end program p
"""
    found = api.predict_source(api.read_source(text), system(), requested(2, io=False))
    by_line = {}
    for line in found.lines:
        names = {each.name: each.mean for each in found.counts.of(line.aaus)}
        by_line[line.line] = [names.get(f"memory.{each}read_miss", 0.0) for each in ("", "l2.")]
    assert by_line[10] == pytest.approx([750, 375], rel=0.02)


def test_explain_lists_each_cache():
    from esp.inspect.explain import explain

    made = explain(api.read_source("laplace_bb"), system(), requested(4, set={"n": 100}), 33)
    assert {each.cache for each in made.caches} == {"", "l2"}
    assert made.cache.startswith("8,192 B, lines of 32 B")
    assert "; l2: 32,768 B, lines of 64 B, 4-way, lru replacement, writes allocate lines" in made.cache
