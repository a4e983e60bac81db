"""Ranges of figures, and the scenarios that they make (Def 19)."""

import numpy as np
import pytest

from esp.api import load_machine
from esp.locate import system_names
from sag.errors import MachineError
from sag.load import load_system
from sag.quantities import QuantityError, parse_range
from sag.scenario import Scenario, export
from sag.uncertainty import SCENARIOS, factors, quantiles, uncertain, uncertain_scenario
from sag.unit import Figure

MACHINE = """
format: 1
extends: ipsc860
name: tiny
title: a tiny machine
sources: {book: A book}
system:
  units:
    cube:
      units:
        node:
          processor:
            source: book
            certainty: estimated
%s
"""


def machine(tmp_path, *lines):
    path = tmp_path / "tiny.yaml"
    path.write_text(MACHINE % "\n".join(f"            {line}" for line in lines))
    return load_system(path, folder=load_machine_folder())


def load_machine_folder():
    from esp.locate import systems_dir

    return systems_dir()


def figure(value, span=None, certainty="estimated"):
    return Figure(value=value, dimension="time", text="", source="", certainty=certainty, span=span)


@pytest.mark.parametrize(
    ("text", "ends"),
    [("0.05 to 0.20 us", (5e-8, 2e-7)), ("50 ns to 0.2 us", (5e-8, 2e-7)), ("x0.5 to x4", (5e-8, 4e-7))],
)
def test_how_a_range_is_written(text, ends):
    assert parse_range(text, "time", 1e-7) == pytest.approx(ends)


@pytest.mark.parametrize("text", ["0.05 us", "0.05 to", "a to b", "1 to 2 MB/s", "x0.5 to 2 us", ""])
def test_what_is_no_range(text):
    with pytest.raises(QuantityError):
        parse_range(text, "time", 1e-7)


def test_a_time_per_byte_may_range_between_bandwidths():
    assert parse_range("2 to 4 MB/s", "per_byte", 3e-7) == pytest.approx((2.5e-7, 5e-7))


@pytest.mark.parametrize("given", ["2 to 3 us", "0 to 3 us", "3 to 0.1 us to", "5 to 4 us"])
def test_a_range_holds_its_value(tmp_path, given):
    with pytest.raises(MachineError):
        machine(tmp_path, f"call: {{value: 1 us, range: {given}}}")


def test_ninety_percent_of_a_quantity_lies_in_its_range():
    drawn = 2e-6 * factors(figure(2e-6, (1e-6, 8e-6)), "a quantity")
    inside = ((drawn >= 1e-6) & (drawn <= 8e-6)).sum()
    assert inside == round(0.9 * SCENARIOS)
    assert np.median(np.log(drawn)) == pytest.approx(np.log(8e-12) / 2, rel=0.02)  # the middle of log-uniform


def test_a_cited_figure_without_range_is_known_to_ten_percent():
    assert figure(2.0, certainty="cited").spread == pytest.approx((1.8, 2.2))
    assert figure(2.0, certainty="quoted").spread is None
    assert figure(2.0, certainty="measured").spread is None
    assert figure(2.0, (1.0, 3.0), certainty="measured").spread == (1.0, 3.0)


def test_quantities_are_independent_and_groups_are_one():
    names = [f"quantity {number}" for number in range(40)]
    drawn = np.array([quantiles(name) for name in names])
    assert (np.sort(drawn, axis=1) == (np.arange(SCENARIOS) + 0.5) / SCENARIOS).all()
    apart = np.abs(np.corrcoef(drawn)[~np.eye(len(names), dtype=bool)])
    assert np.median(apart) < 0.15
    assert np.array_equal(quantiles("same"), quantiles("same"))


def test_every_estimated_time_has_a_range():
    for name in system_names():
        system = load_machine(name)
        without = [
            path
            for path, each in system.parameters().items()
            if isinstance(each, Figure)
            and each.estimated
            and each.value > 0
            and each.span is None
            and each.dimension in ("time", "per_byte")
        ]
        assert without == [], name


def test_a_range_above_holds_for_the_guesses_below(tmp_path):
    system = machine(
        tmp_path,
        "range: x0.5 to x2",
        "call: 1 us",
        "guard: {value: 1 us, range: x0.9 to x1.1}",
        "assign: {value: 1 us, certainty: quoted}",
    )
    found = {key: system.parameters()[f"cube.node.processor.{key}"].span for key in ("call", "guard", "assign")}
    assert found == {"call": (5e-7, 2e-6), "guard": pytest.approx((9e-7, 1.1e-6)), "assign": None}


def test_one_walk_has_all_scenarios():
    system = load_machine("ipsc860")
    made = export(system, uncertain_scenario(system, Scenario(), range(SCENARIOS)))
    assert made.scenarios == SCENARIOS
    add = system.parameters()["cube.node.processor.r8.add"]
    assert made.processor.time_s["r8.add"] == pytest.approx(add.value * factors(add, "code"))
    some = export(system, uncertain_scenario(system, Scenario(), [3, 9]))
    assert some.processor.time_s["r8.add"] == pytest.approx(made.processor.time_s["r8.add"][[3, 9]])


@pytest.mark.parametrize(
    ("path", "given", "expected"),
    [
        ("cube.node.processor.r8.add", "1 us", np.full(SCENARIOS, 1e-6)),
        ("CUBE.node.processor.r8.add", "x2", None),
        ("cube.network.long.startup", "150us", np.full(SCENARIOS, 150e-6)),
        ("cube.network.network.long.startup", "150us", np.full(SCENARIOS, 150e-6)),
    ],
)
def test_what_the_user_gives_is_sure_and_what_he_scales_is_not(path, given, expected):
    system = load_machine("ipsc860")
    made = export(system, uncertain_scenario(system, Scenario(sets=((path, given),)), range(SCENARIOS)))
    if "startup" in path:
        law = made.network.ranges[1]
        found = law.startup_s + law.call_overhead_s
    else:
        found = made.processor.time_s["r8.add"]
    if expected is None:
        add = system.parameters()["cube.node.processor.r8.add"]
        expected = 2 * add.value * factors(add, "code")
    assert np.broadcast_to(found, SCENARIOS) == pytest.approx(expected)


def test_only_what_a_prediction_depends_on_is_drawn():
    found = uncertain(load_machine("ipsc860"))
    assert "cube.node.processor.r8.add" in found
    assert not {"cube.node.memory.page", "cube.node.memory.cache_size", "cube.node.processor.clock"} & set(found)
