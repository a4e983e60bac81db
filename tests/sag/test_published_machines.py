"""What was measured and published on the nCUBE 3200, the CS-2, iWarp and workstations, against their machine files."""

from pathlib import Path

import pytest

from esp.api import load_machine, predict
from sag.scenario import export
from sag.topology import FatTree, Hypercube, Lattice
from sag.unit import Figure

PROGRAMS = Path(__file__).parents[1] / "truth" / "programs"
NEW = ("ncube3200", "meiko-cs2", "iwarp", "sparc-ethernet")


def figure(name, key):
    """The figure of a machine whose path ends with `key`."""
    found = [each for path, each in load_machine(name).parameters().items() if path.endswith(f".{key}")]
    assert len(found) == 1, key
    assert isinstance(found[0], Figure)
    return found[0]


def spread(name, key):
    """The smallest and the largest value of its 90 % range."""
    found = figure(name, key)
    return found.spread or (found.value, found.value)


def one_way_s(name, size):
    """A message between neighbours."""
    network = export(load_machine(name)).network
    (law,) = network.ranges
    hops = network.topology.hops(0, 1, network.topology.size((8,)))
    ahead = law.call_overhead_s + law.startup_s + law.receive_overhead_s
    return float((ahead + law.per_byte_s * size + law.per_hop_s * hops)[0])


def rate(name, **options):
    """Mflop/s of one processor in the elimination of a matrix of order 100, which is most of LINPACK."""
    found = predict("gauss", system=name, procs=1, set={"n": 100}, io=False, **options)
    return 2 / 3 * 100**3 / found.timed_s / 1e6


@pytest.mark.parametrize(
    ("name", "microseconds", "megabytes", "digits", "half"),
    [("ncube3200", 384, 0.4, 1, 148), ("meiko-cs2", 83, 43, 0, 3559)],
)
def test_ping_pong_of_dongarra_and_dunigan(name, microseconds, megabytes, digits, half):
    """Latency of 0 B, bandwidth of 10^6 B, and the size that gets half the bandwidth of the largest messages."""
    latency_s = one_way_s(name, 0)
    per_byte_s = one_way_s(name, 1) - latency_s
    assert round(latency_s * 1e6) == microseconds
    assert round(1.0 / one_way_s(name, 10**6), digits) == megabytes
    assert latency_s / per_byte_s == pytest.approx(half, rel=0.005)


def test_the_start_up_and_the_bandwidth_that_clement_fitted_on_the_ncube():
    """Table 5.1; his standard error of the time per byte is 23 %."""
    low, high = (
        sum(each) for each in zip(spread("ncube3200", "all.startup"), spread("ncube3200", "all.per_hop"), strict=True)
    )
    assert low < 367.887e-6 < high
    low, high = spread("ncube3200", "all.per_byte")
    assert low < 2.3690e-6 < high


def test_store_and_forward_pays_a_start_up_for_each_link():
    network = export(load_machine("ncube3200")).network
    (law,) = network.ranges
    for hops in (1, 2, 5):
        exact = 383.6e-6 * hops
        assert float((law.call_overhead_s + law.startup_s + law.per_hop_s * hops)[0]) == pytest.approx(exact, rel=0.18)
    assert any("store a message" in note for note in export(load_machine("ncube3200")).notes)


def test_fosters_table_of_start_ups_and_words():
    """Table 3.1: us, and us for a word of 4 B, printed with two digits at most."""
    assert one_way_s("sparc-ethernet", 0) * 1e6 == pytest.approx(1500)
    assert 4 * figure("sparc-ethernet", "all.per_byte").value * 1e6 == pytest.approx(5)
    low, high = spread("meiko-cs2", "all.startup")
    assert low < 87e-6 < high
    low, high = spread("meiko-cs2", "all.per_byte")
    assert low <= 0.02e-6 < high


def test_messages_over_ethernet_through_sockets_and_daemons_are_in_the_ranges():
    """Bare sockets (Dongarra and Dunigan): 500 us, 0.9 MB/s; PVM through its daemons: 2.5 to 5 ms, 0.5 to 0.7 MB/s."""
    low, high = spread("sparc-ethernet", "all.startup")
    assert low <= 500e-6
    assert high >= 5e-3
    low, high = spread("sparc-ethernet", "all.per_byte")
    assert low <= 1 / 0.9e6
    assert high >= 1 / 0.5e6


def test_a_message_of_iwarp_takes_470_cycles():
    clock = figure("iwarp", "clock").value
    assert figure("iwarp", "all.startup").value == pytest.approx(470 / clock)
    assert spread("iwarp", "all.per_hop") == pytest.approx((100e-9, 150e-9))
    assert 1 / figure("iwarp", "all.per_byte").value == pytest.approx(4 * 320e6 / 32)  # 4 pathways, 2 directions


def test_all_workstations_share_one_ethernet():
    """A ring of 8 messages of 4 KB: together at most 1.1 MB/s, and more than half of that."""
    size, procs = 4096, 8
    values = {"n": procs * size // 4, "w": size // 4}
    shift, alone = (
        predict(
            *(PROGRAMS / "ring.hpf", "sparc-ethernet", procs),
            set=values,
            io=False,
            system_set={"workstations.network.switching": switching},
        )
        for switching in ("circuit", "none")
    )
    assert (shift.messages, shift.bytes) == (procs, procs * size)
    communication_s = shift.time_s - alone.time_s + one_way_s("sparc-ethernet", size)
    assert 0.55e6 < procs * size / communication_s < 1.1e6


def test_rates_of_linpack():
    """Sun: 1.4 Mflop/s for the SPARCstation 1. Dongarra: about 0.1 for a node of the nCUBE 3200."""
    assert rate("sparc-ethernet") == pytest.approx(1.4, rel=0.1)
    rates = [rate("ncube3200", opt={"strength": each}) for each in ("on", "off")]
    assert [round(each, 1) for each in rates] == [0.1, 0.1]


@pytest.mark.parametrize("name", ["ncube3200", "meiko-cs2", "iwarp"])
def test_no_node_comes_near_its_peak(name):
    """Compiled scalar code got from a tenth to a third of what vendors rated."""
    assert 0.1 < rate(name) * 1e6 / figure(name, "peak_r8").value < 0.45


@pytest.mark.truth
def test_workstations_win_on_few_processors_and_the_ncube_on_many():
    """Clement, Fig. 6.13: Gaussian elimination on both."""
    few, many = (
        [
            predict(PROGRAMS / "published_gauss.hpf", system=name, procs=procs, set={"n": 64}, io=False).timed_s
            for name in ("sparc-ethernet", "ncube3200")
        ]
        for procs in (2, 16)
    )
    assert few[0] < 0.6 * few[1]
    assert many[0] > 1.5 * many[1]


@pytest.mark.truth
def test_the_shallow_water_model_speeds_up_more_on_iwarp_than_on_the_ipsc860():
    """Clement, Fig. 3.2 and 3.3: messages of 470 operations against 5000."""
    speedups = [
        predict("shallow", system=name, procs=1, io=False).timed_s
        / predict("shallow", system=name, procs=64, io=False).timed_s
        for name in ("iwarp", "ipsc860")
    ]
    assert 1.3 * speedups[1] < speedups[0] < 64


def test_how_the_nodes_are_joined():
    cube, tree, torus, bus = (export(load_machine(name)).network for name in NEW)
    assert isinstance(cube.topology, Hypercube)
    assert isinstance(tree.topology, FatTree)
    assert (tree.topology.arity, tree.topology.taper) == (4, 1)
    assert isinstance(torus.topology, Lattice)
    assert torus.topology.extents(64) == (8, 8)
    assert (torus.topology.kind, bus.topology.kind) == ("torus", "bus")
    assert [each.duplex for each in (cube, tree, torus, bus)] == ["full", "full", "full", "half"]
    assert [each.send_model for each in (cube, tree, torus, bus)] == ["blocking", "blocking", "startup", "blocking"]


@pytest.mark.parametrize(("name", "largest"), [("ncube3200", 1024), ("meiko-cs2", 1024), ("iwarp", 64)])
def test_more_nodes_than_were_built_are_an_extrapolation(name, largest):
    machine = export(load_machine(name))
    assert machine.largest_built == largest
    assert machine.network.topology.nodes(largest) == largest
    for procs, expected in ((largest, False), (largest + 1, True)):
        found = predict("pi", system=name, procs=procs, set={"n": 4096}, io=False)
        assert any(each.code == "extrapolated" for each in found.assumptions) == expected


@pytest.mark.parametrize("name", ["ncube3200", "iwarp"])
def test_machines_without_a_cache_pay_for_loads_alone(name):
    """What is called the cache is the memory, so that nothing that fits is fetched twice, and a miss is one load."""
    (memory,) = export(load_machine(name)).memory.caches
    assert memory.size_bytes == figure(name, "memory.size").value
    assert memory.read_miss_s[0] == export(load_machine(name)).processor.of("load")[0]
    assert (memory.write_miss_s[0], memory.writeback_s[0]) == (0.0, 0.0)
    found = predict("laplace_bx", system=name, procs=4, set={"n": 64}, io=False)
    assert sum(each.misses for each in found.aaus) * memory.read_miss_s[0] < 0.01 * 4 * found.time_s


def test_access_times_of_the_ksr1():
    """Sun and Zhu: a subpage of 128 B comes in 7.5 us within a ring and in 28.5 us from another one."""
    network = export(load_machine("ksr1")).network
    node = network.topology.place((64,))
    for other, access_s in ((1, 7.5e-6), (31, 7.5e-6), (32, 28.5e-6), (63, 28.5e-6)):
        hops = network.topology.hops(node[0], node[other])
        law = network.ranges[int(network.range_of(8, hops))]
        assert float((law.startup_s + 8 * law.per_byte_s)[0]) == pytest.approx(access_s, rel=0.01)
        assert float(128 * law.per_byte_s[0]) == pytest.approx(access_s, rel=0.001)


def test_a_flop_of_the_ksr1_takes_what_sun_and_zhu_measured():
    """0.18 us for each flop of Householder transformations, with all loads, loops and misses, on 2 processors."""
    found = predict("householder", system="ksr1", procs=2, set={"n": 128}, io=False)
    flops = sum(found.counts.flops().values())
    assert found.timed_s * 2 / flops == pytest.approx(0.18e-6, rel=0.15)
