"""Damaged programs, options and machines: the command always ends, soon, with a result or with words."""

import pytest

from tests.end_to_end import fuzz
from tests.end_to_end.cover import cover, kinds

SEEDS = range(1000)
LONG = (79, 167, 193, 256, 305, 320, 410, 477, 513, 555, 662, 860, 1041)
"""Seeds of programs that take seconds."""
QUICK = tuple(seed for seed in range(1500) if seed not in LONG)
QUICK_SHARDS = 4
"""`make test` runs those of the quick seeds that reach each kind of damage."""
SHARDS, EACH = 20, 50
"""`make truth` runs all of `SEEDS`"""
MORE_SHARDS, MORE_EACH = 12, 100
"""and 1,200 others; `make fuzz` finds more than still more of them would."""


def _codes(seeds):
    found = set()
    for seed in seeds:
        case = fuzz.case(seed)
        outcome = fuzz.run(case)
        assert not outcome.why, fuzz.told(case, outcome)
        found.add(outcome.code)
    return found


# A shard in which nothing works, or nothing fails, looks at one side only.


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("shard", range(QUICK_SHARDS))
def test_each_kind_of_damage(shard):
    assert _codes(cover(QUICK)[shard::QUICK_SHARDS]) >= {0, 1}


def test_few_seeds_reach_each_kind_of_damage():
    def reached(seeds):
        return set().union(*map(kinds, seeds))

    few = cover(QUICK)
    assert reached(few) == reached(QUICK) >= reached(SEEDS)
    assert len(few) < 0.2 * len(QUICK)
    assert all(reached([seed]) - reached(set(few) - {seed}) for seed in few[:5])


@pytest.mark.truth
@pytest.mark.parametrize("shard", range(SHARDS))
def test_damage(shard):
    assert _codes(SEEDS[EACH * shard : EACH * (shard + 1)]) >= {0, 1}


@pytest.mark.truth
@pytest.mark.parametrize("shard", range(MORE_SHARDS))
def test_much_damage(shard):
    first = 10_000 + MORE_EACH * shard
    assert _codes(range(first, first + MORE_EACH)) == {0, 1, 2}


def test_a_case_is_a_function_of_its_seed():
    fuzz.programs.cache_clear()
    once = [fuzz.case(seed) for seed in range(50)]
    fuzz.programs.cache_clear()
    assert once == [fuzz.case(seed) for seed in range(50)]
    assert len({each.text for each in once}) > 40


@pytest.mark.parametrize(
    ("code", "out", "err", "why"),
    [
        (3, "", "x", "exit code 3"),
        (1, "", "Traceback (most recent call last)", "a bug shown to the user"),
        (1, "", "esp: this is a bug in esp", "a bug shown to the user"),
        (1, "", "", "it failed without a word"),
        (2, "time", "esp: no", "a result beside an error"),
        (0, "x" * 3_000_000, "", "3000000 characters of output"),
        (0, "time nan s", "", "a time that is not a number"),
    ],
)
def test_what_is_looked_for_would_be_found(code, out, err, why):
    assert fuzz.wrong(code, out, err) == why


def test_a_hang_would_be_found(monkeypatch):
    def hang(words):
        while True:
            pass

    monkeypatch.setattr(fuzz, "main", hang)
    outcome = fuzz.run(fuzz.Case(0, "end\n", ("run", "-")), limit_s=0.3)
    assert outcome.why.startswith("more than 0.3 s")


@pytest.mark.slow
def test_a_walk_is_no_hang():
    walked = """\
program p
  integer, parameter :: n = 64
  integer :: i, k
  real :: a(n), b(n)
!hpf$ distribute (block) :: a, b
  k = 0
  do i = 1, 190000
    k = mod(i * k + 1, 7)
    a(k+1:n) = b(1:n-k)
  end do
end program
"""
    outcome = fuzz.run(fuzz.Case(0, walked, ("run", "-", "--procs", "2")), limit_s=2.0)
    assert (outcome.code, outcome.why) == (0, "")
    assert outcome.seconds == 2.0
