"""The undivided part of a count, against enumeration."""

import pytest

from interpreter.balance.shares import undivided


@pytest.mark.parametrize("procs", [2, 3, 8])
@pytest.mark.parametrize(("full", "divided"), [(0, 100), (7, 0), (7, 96)])
def test_the_part_that_each_processor_has_in_full(full, divided, procs):
    iterations = [at % procs for at in range(divided)]
    on_all = sum(full + iterations.count(rank) for rank in range(procs))
    assert undivided(full + divided, on_all, procs) == full


def test_it_is_within_the_count():
    assert undivided(100, 90, 4) == 0
    assert undivided(100, 900, 4) == 100
