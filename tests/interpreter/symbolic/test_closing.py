"""Sums in closed form, against adding up term by term."""

import random
from fractions import Fraction

import pytest

from interpreter.symbolic.closing import positive, total
from interpreter.symbolic.facts import BlockDimension, Facts
from interpreter.symbolic.polynomial import ONE, Poly, ceiling, extremum, floor, name, poly

N, K = name("n"), name("k")


def affine(chance: random.Random) -> Poly:
    return K * chance.choice([-2, -1, 0, 0, 1, 1, 2]) + N * chance.choice([0, 1, -1]) + chance.randint(-4, 6)


def bounds(chance: random.Random) -> Poly:
    return extremum([affine(chance) for _ in range(chance.choice([2, 3]))], least=chance.random() < 0.5)


def factor(chance: random.Random) -> Poly:
    kind = chance.random()
    if kind < 0.5:
        return positive(bounds(chance) - bounds(chance) + 1)
    return bounds(chance) if kind < 0.7 else floor(affine(chance), chance.choice([2, 3, 4]))


@pytest.mark.parametrize("seed", range(25))
def test_sum_is_what_adding_up_gives(seed):
    chance = random.Random(seed)
    body = ONE
    for _ in range(chance.choice([1, 2])):
        body = body * factor(chance)
    first, less = chance.randint(0, 3), chance.randint(0, 3)
    found = total(body, "k", poly(first), N - less)
    for n in (0, 1, 2, 5, 9, 14):
        expected = sum(body.value({"n": n, "k": k}) for k in range(first, n - less + 1))
        assert found.value({"n": n}) == expected, (seed, n)


def test_triangle_of_a_block_closes_to_a_polynomial():
    """The rows k + 1 to n of the first of two blocks, for k from 1 to n - 1: Gaussian elimination."""
    q = ceiling(N, 2)
    facts = Facts("n", 8, 3, (BlockDimension(N, 2),))
    rows = positive(q - K, facts.sign)
    found = total(rows, "k", ONE, N - 1, facts.sign)
    assert found == (q * q - q) * Fraction(1, 2)


@pytest.mark.parametrize("procs", [2, 3, 4, 7, 8])
def test_signs_hold_wherever_the_facts_do(procs):
    chance = random.Random(procs)
    extent = chance.choice([N, N + 1, N - 2])
    facts = Facts("n", 3 * procs + 2, 3, (BlockDimension(extent, procs),))
    q = ceiling(extent, procs)
    sizes = [n for n in range(1, 300) if facts.hold(n)]
    assert sizes
    decided = 0
    for _ in range(300):
        of = N * chance.randint(-2, 2) + q * chance.randint(-2 * procs, 2 * procs) + chance.randint(-6, 6)
        values = [of.value({"n": n}) for n in sizes]
        sign = facts.sign(of)
        decided += sign is not None
        if sign == 1:
            assert min(values) >= 0
        elif sign == -1:
            assert max(values) <= 0
    assert decided > 100


def test_last_block_is_never_larger_than_the_others():
    facts = Facts("n", 30, 3, (BlockDimension(N, 8),))
    q = ceiling(N, 8)
    assert facts.sign(N - 7 * q - 3) == 1
    assert facts.sign(8 * q - N) == 1
    assert facts.sign(N - 7 * q - 4) is None


def test_shares_of_cyclic_differ_by_one_at_most():
    facts = Facts("n", 10, 3, ())
    shares = [floor(N + (3 - c), 4) for c in range(4)]
    assert facts.sign(shares[0] - shares[3]) == 1
    assert facts.sign(shares[3] + 1 - shares[0]) == 1
    assert facts.sign(shares[3] - shares[0]) == -1
