"""Sliders: notches are what options take, and typed values find their place."""

import pytest

from esp import api
from esp.tui.sliders import (
    BANDWIDTH,
    FACTORS,
    LOAD,
    LOADS,
    SPEED,
    machine_slider,
    procs_slider,
    scenario_of,
    size_slider,
)
from sag.scenario import Scenario, export


@pytest.mark.parametrize(("name", "notches"), [(LOAD, LOADS), (BANDWIDTH, FACTORS), (SPEED, FACTORS)])
def test_every_notch_is_a_change_that_the_machine_takes(name, notches):
    machine = api.load_machine("ipsc860")
    for notch in notches:
        export(machine, Scenario(**{name: notch}))


def test_where_it_changes_nothing_nothing_is_asked():
    sliders = {name: machine_slider(name, name, name, None) for name in (LOAD, BANDWIDTH, SPEED)}
    assert scenario_of(sliders) == {LOAD: None, BANDWIDTH: None, SPEED: None}
    sliders[LOAD] = sliders[LOAD].by(2)
    assert scenario_of(sliders) == {LOAD: "10%", BANDWIDTH: None, SPEED: None}


def test_it_begins_where_the_command_line_says():
    slider = machine_slider(BANDWIDTH, "b", "b", "x2.5")
    assert (slider.value, slider.moved) == ("x2.5", False)
    assert slider.by(-1).value == "x2"
    assert slider.by(1).value == "x3"
    assert machine_slider(LOAD, "l", "l", "33%").by(1).value == "35%"


def test_a_value_with_a_unit_stands_beside_the_start():
    slider = machine_slider(BANDWIDTH, "b", "b", None).on("5 MB/s")
    assert slider.value == "5 MB/s"
    assert slider.moved
    assert slider.notches[slider.home] == "x1"
    assert set(FACTORS) < set(slider.notches)


def test_a_typed_value_below_the_start_moves_the_start_along():
    slider = procs_slider(8).on("6")
    assert (slider.value, slider.notches[slider.home]) == ("6", "8")
    assert [int(each) for each in slider.notches] == sorted(int(each) for each in slider.notches)


def test_ends_hold():
    slider = procs_slider(8)
    assert slider.by(-100).value == "1"
    assert slider.by(100).value == "1024"
    assert procs_slider(4096).by(100).value == "4096"


def test_sizes_are_multiples_of_what_the_program_says():
    slider = size_slider("n", 256)
    assert slider.notches == ("32", "64", "128", "192", "256", "384", "512", "1024", "2048")
    assert size_slider("n", 2).notches[0] == "1"
