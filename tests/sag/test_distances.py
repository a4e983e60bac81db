"""Message ranges of distances: near and far messages have laws of their own."""

import numpy as np
import pytest

from esp import api
from esp.errors import UsageError
from esp.formulas.scaling_derivation import scaling_formula_of
from esp.locate import systems_dir
from sag.errors import MachineError
from sag.figures import figures_of
from sag.load import load_system
from sag.scenario import Scenario, export
from tests.sag.levels import LEVELS


@pytest.fixture(scope="module")
def network():
    return export(load_system(LEVELS, folder=systems_dir())).network


def test_a_message_belongs_to_the_first_range_that_takes_it(network):
    assert [each.name for each in network.ranges] == ["short", "long", "far_short", "far"]
    assert network.by_distance
    sizes, hops = np.meshgrid([0, 1, 100, 101, 10**6], [0, 2, 3, 4, 8], indexing="ij")
    found = network.range_of(sizes, hops)
    for size, far, number in zip(sizes.ravel().tolist(), hops.ravel().tolist(), found.ravel().tolist(), strict=True):
        assert network.ranges[number].name == ("" if far <= 2 else "far_") + ("short" if size <= 100 else "long") or (
            network.ranges[number].name == "far" and far > 2 and size > 100
        )


def test_machines_without_distances_have_none():
    for name in ("ipsc860", "cluster-ib", "meiko-cs2"):
        assert not export(api.load_machine(name)).network.by_distance


def test_the_bandwidth_is_that_of_near_messages():
    system = load_system(LEVELS, folder=systems_dir())
    plain, changed = export(system).network, export(system, Scenario(bandwidth="10MB/s")).network
    assert changed.ranges[1].per_byte_s[0] == pytest.approx(1e-7)
    factor = plain.ranges[1].per_byte_s[0] / 1e-7
    assert changed.ranges[3].per_byte_s[0] == pytest.approx(plain.ranges[3].per_byte_s[0] / factor)


def test_figures_say_how_far(network):
    machine = export(load_system(LEVELS, folder=systems_dir()))
    units = {name: each.unit for name, each in figures_of(machine).items()}
    assert units["network.short.startup"] == "message start-up (<= 100 B) within 2 links"
    assert units["network.far_short.startup"] == "message start-up (<= 100 B) over more than 2 links"
    assert units["network.far.per_byte"] == "message byte (> 100 B) over more than 2 links"


MISTAKES = {
    "long: {within: 2}": ("long: {within: 3}", "the largest messages have no range"),
    "upto: 100 B\n                startup": ("startup", "the message ranges 'far_short' and 'far' have no 'upto'"),
    "within: 2}": ("within: 2 B}", "'short.within'"),
    LEVELS[LEVELS.index("              far_short") :]: ("", "the farthest messages have no range"),
}


@pytest.mark.parametrize("old", MISTAKES)
def test_mistakes(old):
    new, message = MISTAKES[old]
    with pytest.raises(MachineError) as problem:
        load_system(LEVELS.replace(old, new, 1), folder=systems_dir())
    assert message in str(problem.value)


def test_a_formula_in_processors_is_refused():
    system = load_system(LEVELS, folder=systems_dir())
    with pytest.raises(UsageError, match="over more links have another law"):
        scaling_formula_of(api.read_source("laplace.hpf"), system, api.Request(procs=4), "n")


def test_times_by_hand(tmp_path):
    """One element from the first processor to a near one and to a far one: t(m, h) of each."""
    text = """\
program p
real(8) :: a(16)
integer :: i
!hpf$ processors q(16)
!hpf$ distribute a(block) onto q
do i = 1, 16
  a(i) = i
end do
a({0}) = a(1)
end program p
"""
    machine = export(load_system(LEVELS, folder=systems_dir()))
    file = tmp_path / "levels.yaml"
    file.write_text(LEVELS)
    start = {}
    for place in (1, 2, 16):
        made = api.predict(text.format(place), system=str(file), procs=16)
        start[place] = made.time_s
    near, far = machine.network.ranges[0], machine.network.ranges[2]
    law = [
        float((each.call_overhead_s + each.startup_s + 8 * each.per_byte_s + hops * each.per_hop_s)[0])
        + float(each.receive_overhead_s[0])
        for each, hops in ((near, 2), (far, 4))
    ]
    assert start[16] - start[2] == pytest.approx(law[1] - law[0], rel=1e-9)
