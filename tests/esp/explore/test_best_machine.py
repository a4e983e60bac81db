"""The machine with the most performance per dollar for a program, against predictions made one by one."""

import numpy as np
import pytest

import esp as api
from esp.errors import UsageError
from esp.explore.best_machine import GROUPS
from esp.locate import systems_dir
from esp.quantities import kind_of, timed_parameters

MACHINE = """
format: 1
extends: %s
name: two
title: a node with two caches
sources: {here: this test}
system: {units: {cube: {units: {node: {memory: {source: here, certainty: estimated, caches: {l2: {
  cache_size: 16 KB, line: 32 B, associativity: 2, replacement: lru, write_allocate: yes,
  read_miss: 1 us, write_miss: 1 us, writeback: 1 us}}}}}}}}
""" % (systems_dir() / "ipsc860.yaml")
PRICE = "p*(50 + 100*2**(20/ops) + 3000*2**(300/bw))"


def _time(found, source, procs, factors, **options):
    """A prediction of `esp.predict` with the parameters of the groups scaled."""
    system = api.predict(source, procs=procs, **options).origin.system
    sets = {
        path: f"x{factors[name]!r}"
        for path, group in timed_parameters(system).items()
        for name in factors
        if kind_of(group) in GROUPS[name]
    }
    return api.predict(source, procs=procs, system_set=sets, **options).time_s


@pytest.mark.truth
@pytest.mark.parametrize(("source", "procs"), [("laplace", 4), ("gauss", 4)])
def test_no_machine_around_is_better(source, procs):
    options = {"n": 32}
    found = api.optimize_machine(source, "ipsc860", procs, price=PRICE, **options)
    now = api.predict(source, procs=procs, **options)
    assert found.now.time_s == now.time_s
    assert found.flops == sum(now.counts.flops().values())
    factors = {name: found.best.values[name] / found.now.values[name] for name in found.names}
    assert found.best.time_s == pytest.approx(_time(found, source, procs, factors, **options), rel=1e-9)
    for name in found.names:
        for by in (0.5, 0.9, 1.1, 2.0):
            other = {**factors, name: factors[name] * by}
            values = {key: found.now.values[key] * factor for key, factor in other.items()}
            dollars = procs * (50 + 100 * 2 ** (20 / values["ops"]) + 3000 * 2 ** (300 / values["bw"]))
            cost = dollars * _time(found, source, procs, other, **options)
            assert found.best.cost <= cost * (1 + 1e-7), (name, by)
        assert found.best.time_shares[name] == pytest.approx(found.best.price_shares[name], abs=0.01)


def test_values_of_today_are_means_of_what_the_time_contains():
    """On one processor an operation takes what all operations take, through how many there are."""
    found = api.optimize_machine("laplace", "ipsc860", 1, n=32, k=2, price="50 + 100*2**(100/ops)")
    prediction = api.predict("laplace", procs=1, n=32, k=2)
    counted = [
        each
        for each in prediction.counts.of(tuple(each.id for each in prediction.aaus))
        if ".processor." in each.figure.path and each.paid == "computation"
    ]
    seconds = sum(float(np.sum(each.time_s)) for each in counted)
    often = sum(each.mean for each in counted)
    assert found.now.values["ops"] == pytest.approx(1e9 * seconds / often, rel=0.02)


def test_the_first_cache_stays_smaller_than_the_second(tmp_path):
    (tmp_path / "two.yaml").write_text(MACHINE)
    found = api.optimize_machine("matmul", tmp_path / "two.yaml", 2, price="100 + 0.01*cache", n=16)
    assert len(found.caches) > 2
    assert max(each.size for each in found.caches) < 16384


def test_the_cache_is_as_large_as_the_step_that_pays():
    """A cache costs by its size: the best one lies at the end of a step, where a smaller one misses more."""
    price = "100 + 0.01*cache"
    found = api.optimize_machine("matmul", "ipsc860", 2, n=24, price=price)
    size = int(found.best.values["cache"])
    times = {each.size: each.time_s for each in found.caches}
    assert times[size] == api.predict("matmul", procs=2, n=24, system_set={"cube.node.memory.cache_size": size}).time_s
    assert found.best.cost == min(time_s * (100 + 0.01 * each) for each, time_s in times.items())
    assert min(times) < size < max(times)
    assert all(each % 64 == 0 for each in times), "a whole number of sets"


@pytest.mark.parametrize(
    ("price", "limits", "message"),
    [
        ("p*(1 +", {}, "is not a formula"),
        ("p*zz", {}, "zz is not known"),
        ("p*1000", {}, "the same for all machines"),
        ("0*ops", {}, "a machine costs nothing"),
        ("p*max(0, ops - 5000)", {}, "a machine costs nothing"),
        ("p*(1 + 1/ops)", {"ops": (1e-9, 1e9)}, "is not a range"),
        ("p*(1 + 1/ops + cache)", {"cache": (1.0, 9.0)}, "Caches are tried"),
        ("p*(1 + 1/ops - 9)", {"ops": (1.0, 9.0)}, "not a number from 0 on"),
        ("p*(1 + 1/ops)", {"bw": (1.0, 9.0)}, "'bw' is not searched"),
        ("p*(1 + 1/ops)", {"ops": (9.0, 1.0)}, "ops from 9 to 1 is not a range"),
    ],
)
def test_wrong_use(price, limits, message):
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        api.optimize_machine("laplace", "ipsc860", 2, n=16, k=2, price=price, limits=limits)


def test_a_timed_region_is_not_a_machine():
    with pytest.raises(UsageError, match="the whole program"):
        api.optimize_machine("laplace", "ipsc860", 2, n=16, k=2, timed=True)


def test_nothing_to_buy_for_a_program_without_messages():
    with pytest.raises(UsageError, match="does not depend on bw"):
        api.optimize_machine("laplace", "ipsc860", 1, n=16, k=2)
