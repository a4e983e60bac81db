"""What-if arithmetic against values worked out by hand (Def 11)."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from sag.errors import MachineError
from sag.load import load_system
from sag.quantities import parse_change
from sag.scenario import Scenario, export
from sag.schema import NETWORK, RANGE
from sag.topology import Hypercube
from sag.values import settable

SYSTEMS = Path(__file__).resolve().parents[2] / "systems"


@pytest.fixture(scope="module")
def cube():
    return load_system(SYSTEMS / "ipsc860.yaml")


@pytest.fixture(scope="module")
def cluster():
    return load_system(SYSTEMS / "cluster-ib.yaml")


def law(machine, name="long"):
    return machine.network.ranges[("short", "long").index(name)]


def close(*values):
    return pytest.approx(list(values), rel=1e-13)


def test_without_a_scenario_every_figure_has_one_value(cube):
    machine = export(cube)
    assert machine.scenarios == 1
    assert all(array.shape == (1,) for array in machine.arrays())


def test_a_machine_file_chooses_its_embedding(tmp_path):
    text = (SYSTEMS / "ipsc860.yaml").read_text(encoding="utf-8")
    for word in ("natural", "auto"):
        path = tmp_path / f"{word}.yaml"
        path.write_text(text.replace("duplex: {", f"embedding: {word}\n            duplex: {{"), encoding="utf-8")
        assert export(load_system(path)).network.topology == Hypercube(embedding=word)
    assert export(load_system(SYSTEMS / "ipsc860.yaml")).network.topology == Hypercube(embedding="gray")


def test_bandwidth_divides_per_byte_times_of_every_range_and_nothing_else(cube):
    plain, fast = export(cube), export(cube, Scenario(bandwidth="x2"))
    assert law(fast, "short").per_byte_s == close(0.2125e-6)
    assert law(fast).per_byte_s == close(0.195e-6)
    changed = [id_ for id_, (a, b) in enumerate(zip(plain.arrays(), fast.arrays(), strict=True)) if a != b]
    assert len(changed) == 2


def test_a_bandwidth_with_unit_is_that_of_the_largest_messages(cube):
    machine = export(cube, Scenario(bandwidth="10 MB/s"))
    assert law(machine).per_byte_s == close(0.1e-6)
    assert law(machine, "short").per_byte_s == close(0.425e-6 * 0.1 / 0.390)


def test_latency_multiplies_start_up_and_hops_of_every_range_and_nothing_else(cube):
    plain, slow = export(cube), export(cube, Scenario(latency="x1.5"))
    assert law(slow, "short").call_overhead_s == close(97.5e-6)
    assert law(slow, "short").per_hop_s == close(15e-6)
    assert law(slow).call_overhead_s == close(220.5e-6)
    assert law(slow).per_hop_s == close(45.75e-6)
    changed = [a for a, b in zip(plain.arrays(), slow.arrays(), strict=True) if a != b]
    assert len(changed) == 4
    assert slow.io.host_latency_s == close(4e-3)


def test_latency_scales_call_overhead_and_the_rest_of_the_start_up(cluster):
    first = export(cluster, Scenario(latency="x2")).network.ranges[0]
    assert first.call_overhead_s == close(0.5e-6)
    assert first.startup_s == pytest.approx([0.4e-6], rel=1e-9)
    assert first.receive_overhead_s == close(0.25e-6)


def test_a_latency_with_unit_is_the_start_up_of_the_smallest_messages(cube):
    machine = export(cube, Scenario(latency="130 us"))
    assert law(machine, "short").call_overhead_s == close(130e-6)
    assert law(machine).call_overhead_s == close(294e-6)


def test_percent_of_bandwidth_and_latency(cube):
    machine = export(cube, Scenario(bandwidth="50%", latency="50%"))
    assert law(machine).per_byte_s == close(0.780e-6)
    assert law(machine).call_overhead_s == close(73.5e-6)


def test_processor_speed_divides_p_alone(cube):
    plain, fast = export(cube), export(cube, Scenario(processor_speed="x4"))
    assert fast.processor.of("r8.add") == close(0.0225e-6)
    assert fast.processor.of("loop.setup") == close(0.075e-6)
    others = (machine.arrays()[len(machine.processor.time_s) :] for machine in (plain, fast))
    assert [float(a[0]) for a in next(others)] == [float(b[0]) for b in next(others)]
    assert export(cube, Scenario(processor_speed="80 MHz")).processor.of("r8.add") == close(0.045e-6)


def test_memory_speed_divides_m_alone_packing_included(cube):
    plain, fast = export(cube), export(cube, Scenario(memory_speed="x1e9"))
    assert fast.memory.nearest.read_miss_s == close(0.33e-15)
    assert fast.memory.nearest.write_miss_s == close(0.08e-15)
    assert fast.memory.nearest.writeback_s == close(0.23e-15)
    assert fast.network.pack_per_byte_s == close(0.075e-15)
    assert fast.processor.of("load") == plain.processor.of("load")
    assert law(fast).per_byte_s == law(plain).per_byte_s


def test_load_stretches_transmission_and_is_kept_for_the_links(cube):
    machine = export(cube, Scenario(load="30%", bandwidth="x2"))
    assert law(machine).per_byte_s == close(0.390e-6 / 2 / 0.7)
    assert machine.network.load == close(0.3)
    assert law(machine).call_overhead_s == close(147e-6)


def test_overlap_and_io(cube):
    machine = export(cube, Scenario(overlap=0.4, io=False))
    assert machine.network.overlap == close(0.4)
    assert machine.io.host_latency_s == machine.io.host_per_byte_s == machine.io.format_item_s == [0.0]
    assert machine.io.load_s == close(2.5)
    assert "Input and output are left out." in machine.notes


def test_arrays_give_one_value_a_scenario(cube):
    loads = np.linspace(0, 0.9, 4)
    machine = export(cube, Scenario(load=loads, bandwidth=["x1", "x2", "x4", "x8"], latency=2.0))
    assert machine.scenarios == 4
    assert law(machine).per_byte_s == close(*(0.390e-6 / f / (1 - l) for f, l in zip((1, 2, 4, 8), loads, strict=True)))
    assert law(machine).call_overhead_s == close(294e-6)
    assert machine.processor.of("r8.add").shape == (1,)
    for position, (factor, load) in enumerate(zip((1.0, 2.0, 4.0, 8.0), loads, strict=True)):
        single = export(cube, Scenario(load=float(load), bandwidth=factor, latency=2.0))
        assert law(single).per_byte_s[0] == law(machine).per_byte_s[position]


def test_settings_of_single_parameters(cube):
    settings = (
        ("cube.network.long.startup", "120us"),
        ("cube.network.short.per_hop", "x0.5"),
        ("cube.node.processor.r8.div", [1e-6, 2e-6]),
        ("cube.node.memory.replacement", "lru"),
        ("cube.node.memory.write_allocate", "yes"),
        ("cube.node.memory.cache_size", "16 KB"),
        ("cube.network.send_model", "startup"),
        ("cube.network.topology.kind", "mesh"),
        ("cube.network.topology.dimensions", "3"),
        ("link.startup", "x2"),
    )
    machine = export(cube, Scenario(sets=settings))
    assert law(machine).call_overhead_s == close(120e-6)
    assert law(machine).startup_s == [0.0]
    assert law(machine, "short").per_hop_s == close(5e-6)
    assert machine.processor.of("r8.div") == close(1e-6, 2e-6)
    assert (machine.memory.nearest.replacement, machine.memory.nearest.write_allocate) == ("lru", True)
    assert machine.memory.nearest.size_bytes == 16384
    assert machine.network.send_model == "startup"
    assert (machine.network.topology.kind, machine.network.topology.dimensions) == ("mesh", 3)
    assert machine.io.host_latency_s == close(8e-3)
    assert machine.scenarios == 2


def test_a_setting_comes_before_the_factors(cube):
    machine = export(cube, Scenario(sets=(("cube.network.long.startup", "100us"),), latency="x3"))
    assert law(machine).call_overhead_s == close(300e-6)


def test_the_call_overhead_is_at_most_the_start_up(cluster, cube):
    machine = export(cluster, Scenario(sets=(("cluster.network.small.startup", "0.1us"),)))
    first = machine.network.ranges[0]
    assert (first.call_overhead_s, first.startup_s) == (close(0.1e-6), [0.0])
    machine = export(cube, Scenario(sets=(("cube.network.long.call_overhead", "47us"),)))
    assert law(machine).call_overhead_s == close(47e-6)
    assert law(machine).startup_s == close(100e-6)


def test_a_path_may_name_the_component_and_be_shouted(cube):
    machine = export(cube, Scenario(sets=(("CUBE.network.network.long.startup", "120us"),)))
    assert law(machine).call_overhead_s == close(120e-6)


def test_a_figure_that_is_given_is_no_guess_any_more(cube):
    given = (("cube.node.processor.r8.add", "0.1us"), ("cube.node.processor.r8.mul", "x2"))
    machine = export(cube, Scenario(sets=given))
    assert not machine.processor.estimated["r8.add"]
    assert machine.processor.estimated["r8.mul"]


def test_setting_what_is_only_described_says_so(cube):
    machine = export(cube, Scenario(sets=(("cube.node.memory.bandwidth", "x2"),)))
    assert machine.notes == ("'cube.node.memory.bandwidth' is only described: setting it changes no prediction.",)


def test_ragged_series_are_no_change(cube):
    with pytest.raises(MachineError, match="‹load›"):
        export(cube, Scenario(load=[[0.1], [0.1, 0.2]]))


def test_every_parameter_of_every_machine_can_be_set(cube, cluster):
    for system in (cube, cluster):
        for path, parameter in system.parameters().items():
            export(system, Scenario(sets=((path, parameter.text),)))
        assert set(system.parameters()) <= set(settable(system))


@pytest.mark.parametrize(
    ("scenario", "code", "message", "hint"),
    [
        (
            {"sets": (("cube.network.lng.startup", "1us"),)},
            "M120",
            "'cube.network.lng.startup' is not a parameter of the machine 'ipsc860'",
            "did you mean 'cube.network.long.startup'?",
        ),
        (
            {"sets": (("cube.network.long.startup", "1 MB"),)},
            "M121",
            "'cube.network.long.startup': '1 MB' is a size, expected a time",
            "a change is 'x2', '30%' or a value such as 65 us",
        ),
        (
            {"sets": (("cube.network.long.startup", "-1 us"),)},
            "M121",
            f"'cube.network.long.startup' cannot be -1 us ({RANGE['startup'].about})",
            "it must be at least 0",
        ),
        (
            {"sets": (("cube.network.send_model", "stratup"),)},
            "M121",
            f"'cube.network.send_model' cannot be 'stratup' ({NETWORK['send_model'].about})",
            "did you mean 'startup'?",
        ),
        (
            {"sets": (("cube.node.memory.cache_size", ["8 KB", "16 KB"]),)},
            "M122",
            "'cube.node.memory.cache_size' shapes the machine and cannot vary between scenarios",
            "predict once for each value",
        ),
        (
            {"sets": (("cube.node.memory.line", "48 B"),)},
            "M121",
            "a cache of 8192 B does not divide into sets of 2 lines of 48 B",
            "cache_size must be a multiple of line x associativity",
        ),
        (
            {"sets": (("cube.network.long.call_overhead", "x2"),)},
            "M121",
            "'cube.network.long.call_overhead' has no value that 'x2' can scale",
            "give a value",
        ),
        ({"load": "100%"}, "M121", "‹load›: '100%' is out of range", "it is at least 0 and below 100 %"),
        ({"load": -0.1}, "M121", "‹load›: '-0.1' is out of range", "it is at least 0 and below 100 %"),
        ({"load": "x2"}, "M121", "‹load›: 'x2' changes nothing, because the machine has 0", "write for example 30%"),
        ({"overlap": 1.5}, "M121", "‹overlap›: '1.5' is out of range", "it is at least 0 and at most 100 %"),
        (
            {"bandwidth": "2"},
            *("M121", "‹bandwidth›: '2' lacks its unit: expected a bandwidth"),
            "a change is 'x2', '30%' or a value such as 2.8 MB/s",
        ),
        ({"bandwidth": "x0"}, "M121", "‹bandwidth›: 'x0' is not a factor", "it must be above 0"),
        ({"latency": "-1 us"}, "M121", "‹latency›: '-1 us' is not possible", "write for example x2 or 30%"),
        ({"memory_speed": "3"}, "M121", "‹memory_speed›: '3' is not possible", "write for example x2 or 30%"),
        ({"processor_speed": -1}, "M121", "‹processor_speed›: a factor must be above 0", ""),
        (
            {"load": [0.1, 0.2], "bandwidth": [1.0, 2.0, 3.0]},
            *("M122", "the what-ifs have 2 and 3 scenarios", "give each the same number of values, or one"),
        ),
    ],
)
def test_what_ifs_that_cannot_be(cube, scenario, code, message, hint):
    with pytest.raises(MachineError) as caught:
        export(cube, Scenario(**scenario))
    error = caught.value
    assert (error.code, error.message, error.hint, error.line) == (code, message, hint, 0)


def test_a_parsed_change_is_accepted_as_it_is(cube):
    machine = export(cube, Scenario(bandwidth=parse_change("x2", "bandwidth")))
    assert law(machine).per_byte_s == close(0.195e-6)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"load": "30"}, "did you mean 30%?"),
        ({"load": "300"}, "below 100 %"),
        ({"memory_speed": "5MB/s"}, "write for example x2 or 30%"),
        ({"memory_speed": "2.5"}, "write for example x2 or 30%"),
        ({"bandwidth": "+10%"}, "write x1.1 for that increase"),
        ({"bandwidth": "0MB/s"}, "write for example x2 or 30%"),
    ],
)
def test_the_hint_of_a_what_if_that_cannot_be_is_possible_itself(cube, given, hint):
    with pytest.raises(MachineError) as caught:
        export(cube, Scenario(**given))
    assert caught.value.findings[0].hint.endswith(hint)


def test_a_network_without_latency_is_allowed(cube):
    machine = export(cube, Scenario(latency="0us"))
    assert law(machine).call_overhead_s == law(machine, "short").per_hop_s == [0.0]
    assert law(machine).per_byte_s == close(0.390e-6)


@pytest.mark.parametrize("option", ["bandwidth", "latency", "processor_speed", "memory_speed"])
@pytest.mark.parametrize("text", ["x5e-324", "x1e-13", "x1e13", "x1e308"])
def test_a_factor_beyond_all_machines_is_refused(cube, option, text):
    with pytest.raises(MachineError) as caught:
        export(cube, Scenario(**{option: text}))
    found = caught.value.findings[0]
    assert found.message == f"‹{option}›: '{text}' is out of range"
    assert found.hint == "a factor is at least 1e-12 and at most 1e+12"


def test_a_machine_that_was_asked_for_lately_is_the_same_object_and_only_that(cube):
    plain = export(cube, Scenario(bandwidth="x2"))
    assert export(cube, Scenario(bandwidth="x2")) is plain
    assert export(cube, Scenario(bandwidth="x2", io=False)) is not plain
    assert export(cube, Scenario(latency="x2")) is not plain
    first, second = (export(cube, Scenario(sets=(("cube.network.long.per_hop", text),))) for text in ("1us", "2us"))
    assert (law(first).per_hop_s, law(second).per_hop_s) == (1e-6, 2e-6)
    assert export(replace(cube, name="other"), Scenario(bandwidth="x2")).name == "other"
