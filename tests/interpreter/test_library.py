"""Calls of procedures without source, by hand: counts times figures."""

import numpy as np
import pytest
from msgspec.structs import replace

from aag.diagnostics import UnresolvedError
from aag.ir.expressions import Binary, IntLit, Var
from aag.spmd.nodes import Charge
from interpreter.errors import InterpretationError
from interpreter.models.library import TIME
from interpreter.setting import Setting
from sag.machine import CacheCosts, MemoryCosts
from tests.interpreter.hand import US, Hand, figure, machine

N = Var("n")
CUBE = Binary("**", N, IntLit(3))


def memory(line=32, miss=0.5 * US):
    cache = CacheCosts(
        size_bytes=8192,
        line_bytes=line,
        associativity=2,
        replacement="lru",
        write_allocate=True,
        read_miss_s=figure(miss),
        write_miss_s=figure(0.0),
        writeback_s=figure(0.0),
        estimated=False,
    )
    return MemoryCosts(caches=(cache,), usable_bytes=1e9, page_bytes=4096)


def charge(operation, times, amount):
    return Charge(operation=operation, times=times, amount=amount)


def called(hand, *charges, ops=0.0):
    found = hand.call(ops=ops)
    return replace(found, charges=charges, uses=frozenset({"n"}))


def run(call, hand, on=None, **values):
    return hand.run(call, on=on, setting=Setting(values=values))


def test_operations_are_counted_and_priced():
    hand = Hand(3)
    result = run(called(hand, charge("op", 0.5, CUBE), charge("load", 2.0, N), ops=1.0), hand, n=10)
    assert result.time_s == pytest.approx((1 + 500 + 20 * 0.05) * US)


def test_seconds_do_not_depend_on_the_machine():
    hand = Hand(2)
    result = run(called(hand, charge("second", 1e-3, N)), hand, machine(speed=[1.0, 4.0], scenarios=2), n=7)
    np.testing.assert_allclose(result.time_s, [7e-3, 7e-3])
    assert TIME.fees == ((0, "given.second", 1.0),)


def test_bytes_are_those_of_cache_lines():
    hand = Hand(2)
    result = run(called(hand, charge("byte", 1.0, N)), hand, replace(machine(), memory=memory()), n=3200)
    assert result.time_s == pytest.approx(100 * 0.5 * US)


def test_what_the_machine_has_no_figure_for_makes_the_prediction_incomplete():
    for operation in ("byte", "r8.fluff"):
        hand = Hand(2)
        result = run(called(hand, charge(operation, 1.0, N)), hand, n=32)
        assert result.time_s == 0
        assert not result.complete


def test_amounts_below_zero_count_nothing():
    hand = Hand(1)
    result = run(called(hand, charge("op", 1.0, Binary("-", N, IntLit(9)))), hand, n=3)
    assert result.time_s == 0


def test_the_value_of_the_moment_counts():
    """In a loop each iteration has its own amount."""
    hand = Hand(2)
    loop = hand.loop("n", 4, called(hand, charge("op", 1.0, N)))
    result = hand.run(loop)
    assert result.time_s == pytest.approx((1 + 2 + 3 + 4) * US)


def test_unknown_values_are_asked_for():
    hand = Hand(1)
    with pytest.raises(UnresolvedError, match="the flow depends on n, which cannot be computed"):
        hand.run(called(hand, charge("op", 1.0, N)))


def test_an_amount_is_a_number():
    hand = Hand(1)
    with pytest.raises(
        InterpretationError, match="the cost of this call of sub cannot be computed: it is not a real number"
    ):
        run(called(hand, charge("op", 1.0, N)), hand, n=True)
