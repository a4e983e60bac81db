"""The machine files themselves: all load and export, and say what their sources say."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import yaml

from esp.api import predict
from sag.check import check
from sag.describe import describe
from sag.errors import MachineError
from sag.graph import to_networkx
from sag.load import load_system
from sag.machine import Machine
from sag.scenario import export
from sag.schema import COLLECTIVES, OPERATIONS
from sag.topology import KINDS, FatTree, Hypercube
from sag.unit import CERTAINTIES, VOID, Compound, Simple

SYSTEMS = Path(__file__).resolve().parents[2] / "systems"
NAMES = sorted(path.stem for path in SYSTEMS.glob("*.yaml"))


def machine_of(name: str) -> Machine:
    return export(load_system(SYSTEMS / f"{name}.yaml"))


def one_way(machine, size, hops):
    law = next(each for each in machine.network.ranges if size <= each.upto_bytes)
    ahead = law.call_overhead_s + law.startup_s + law.receive_overhead_s
    return float((ahead + law.per_byte_s * size + law.per_hop_s * hops)[0])


def test_the_page_describes_every_machine_of_ours():
    page = (SYSTEMS.parent / "docs" / "machines.md").read_text(encoding="utf-8")
    table = page.partition("## Bundled machines\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\S+)` \| ([\d,]+) \| ([\d,]+) \|", table, re.MULTILINE)
    machines = [machine_of(name) for name in NAMES]
    assert [row[0] for row in rows] == list(NAMES), "docs/machines.md, Bundled machines: a row for each, in this order"
    assert rows == [(each.name, f"{each.default_processors:,}", f"{each.largest_built:,}") for each in machines]


@pytest.mark.parametrize("name", NAMES)
def test_every_machine_loads_and_exports_all_that_the_engine_asks_for(name):
    system = load_system(SYSTEMS / f"{name}.yaml")
    machine = export(system)
    assert machine.name == system.name == name
    assert set(machine.processor.time_s) == set(OPERATIONS) == set(machine.processor.estimated)
    assert all((machine.processor.of(each) >= 0).all() for each in OPERATIONS)
    assert set(machine.network.collectives) == set(COLLECTIVES)
    assert machine.memory is not None
    assert machine.io is not None
    assert machine.network.ranges[-1].upto_bytes == float("inf")
    sizes = [each.upto_bytes for each in machine.network.ranges]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_a_source_that_is_spelled_out_and_a_certainty(name):
    system = load_system(SYSTEMS / f"{name}.yaml")
    for path, figure in system.parameters().items():
        assert figure.certainty in CERTAINTIES, path
        assert len(system.sources[figure.source]) > 20, path


def test_the_machine_of_the_page_loads():
    page = (SYSTEMS.parent / "docs" / "machines.md").read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]
    system = load_system(text, folder=SYSTEMS)
    assert [str(each) for each in check(system) if each.code < "M3"] == []
    assert export(system).network.ranges[0].startup_s == pytest.approx(4e-6 - 0.25e-6)


@pytest.mark.parametrize("name", NAMES)
def test_no_source_is_listed_that_no_figure_uses(name):
    file = SYSTEMS / f"{name}.yaml"
    own = yaml.safe_load(file.read_text(encoding="utf-8"))["sources"]
    system = load_system(file)
    compiler = {figure.source for figure in system.compiler.values()}
    assert set(own) <= {figure.source for figure in system.parameters().values()} | compiler


def test_a_source_of_the_extended_machine_can_be_removed():
    text = "format: 1\nextends: ipsc860-f90d\nname: other\nsources: {f90d: void, mine: My own table}\n"
    with pytest.raises(MachineError, match=r"source 'f90d' is removed, but '[\w.]+' still has it"):
        load_system(text, folder=SYSTEMS)


def test_a_source_names_where_figures_come_from():
    text = "format: 1\nextends: cluster-ib\nname: other\nsources: {mine: 7}\n"
    with pytest.raises(MachineError, match="names no source"):
        load_system(text, folder=SYSTEMS)


def test_the_page_lists_the_kinds_of_networks():
    page = (SYSTEMS.parent / "docs" / "machines.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_machine_of_ours_raises_a_doubt(name):
    assert [str(each) for each in check(load_system(SYSTEMS / f"{name}.yaml")) if each.code < "M3"] == []


@pytest.mark.parametrize(
    ("size", "hops", "microseconds", "digits"),
    [
        # the published law at one hop, as its sources print it
        (0, 1, 75.0, 1),
        (8, 1, 78.4, 1),
        (64, 1, 102.2, 1),
        (100, 1, 117.5, 1),
        (101, 1, 216.9, 1),
        (512, 1, 377, 0),
        (1024, 1, 577, 0),
        (4096, 1, 1775, 0),
        (8192, 1, 3372, 0),
        (65536, 1, 25737, 0),
        (1048576, 1, 409122, 0),
        # and over more hops, as measured under SimGrid SMPI
        (100, 3, 137.5, 3),
        (1024, 3, 637.860, 3),
        (65536, 3, 25797.540, 3),
        (0, 5, 115.0, 3),
        (101, 5, 338.890, 3),
        (65536, 5, 25858.540, 3),
    ],
)
def test_ping_pong_of_the_ipsc860(size, hops, microseconds, digits):
    assert round(one_way(machine_of("ipsc860"), size, hops) * 1e6, digits) == microseconds


def test_the_ipsc860_is_the_machine_of_the_paper():
    machine = machine_of("ipsc860")
    memory, network = machine.memory, machine.network
    (cache,) = memory.caches
    assert (machine.default_processors, machine.largest_built) == (8, 128)
    assert (cache.size_bytes, cache.line_bytes, cache.associativity) == (8192, 32, 2)
    assert (cache.replacement, cache.write_allocate, memory.usable_bytes) == ("random", False, 6.2e6)
    assert isinstance(network.topology, Hypercube)
    choices = (network.send_model, network.duplex, network.switching, network.exchange)
    assert choices == ("blocking", "full", "circuit", "sequential")
    assert network.exchange_factor == [1.0]
    assert all(law.startup_s == 0 and law.receive_overhead_s == 0 for law in network.ranges)
    assert all(each.stage_software_s == 0 for each in network.collectives.values())
    assert {name: each.algorithm for name, each in network.collectives.items()} == {
        "broadcast": "auto",
        "reduction": "auto",
        "concatenation": "auto",
        "transpose": "pairwise",
        "gather": "auto",
        "scatter": "auto",
        "barrier": "auto",
    }
    assert (machine.io.host_latency_s, machine.io.host_per_byte_s) == (4e-3, 1.5e-6)


def test_the_ipsc860_is_decomposed_as_the_paper_does():
    root = load_system(SYSTEMS / "ipsc860.yaml").root
    units = {unit.id: unit for _, unit in root.walk()}
    assert list(units) == ["SAU-1", "SAU-11", "SAU-111", "SAU-112", "SAU-12", "SAU-13"]
    link = units["SAU-12"].components
    assert [link[name] for name in ("processor", "memory", "io")] == [VOID] * 3
    assert isinstance(link["network"], Simple)
    assert isinstance(units["SAU-1"].components["processor"], Compound)
    assert [units["SAU-1"].components[name] for name in ("memory", "network", "io")] == [VOID] * 3


def test_the_law_is_cited_and_the_host_link_is_a_guess():
    machine = machine_of("ipsc860")
    assert not any(law.estimated for law in machine.network.ranges)
    assert machine.io.estimated
    assert machine.memory.nearest.estimated
    assert machine.processor.estimated["r8.add"]


def test_fortran_90d_reductions_grow_as_published():
    bare, machine = machine_of("ipsc860"), machine_of("ipsc860-f90d")
    stage = machine.network.collectives["reduction"].stage_software_s[0]
    assert machine.network.exchange_factor[0] * one_way(machine, 4, 1) + stage == pytest.approx(410e-6, abs=1e-7)
    assert machine.processor.of("r8.add") == bare.processor.of("r8.add")
    assert one_way(machine, 4096, 2) == one_way(bare, 4096, 2)


@pytest.mark.parametrize(
    ("name", "one", "eight"),
    [
        ("all", 580.6, 73.84),
        ("any", 606.2, 77.1),
        ("maxval", 658.8, 84.1),
        ("product", 90.1, 13.1),
        ("dot_product", 164.8, 22.0),
        ("transpose", 299.0, 213.0),
    ],
)
def test_the_published_intrinsics_of_fortran_90d(name, one, eight):
    program = Path(__file__).resolve().parents[1] / "truth" / "programs" / f"intrinsic_{name}.hpf"
    for procs, published in ((1, one), (8, eight)):
        found = predict(program, system="ipsc860-f90d", procs=procs, io=False)
        assert 1e3 * found.timed_s == pytest.approx(published, rel=0.07)


@pytest.mark.parametrize(
    ("size", "microseconds"),
    [
        *((0, 0.90), (8, 0.90), (64, 1.16), (256, 1.53), (1024, 1.67), (4096, 3.28)),
        *((8192, 4.79), (16384, 7.08), (32768, 9.14), (65536, 12.62)),
    ],
)
def test_the_cluster_meets_its_measured_points(size, microseconds):
    machine = machine_of("cluster-ib")
    assert isinstance(machine.network.topology, FatTree)
    hops = int(machine.network.topology.hops(0, 1))
    assert one_way(machine, size, hops) * 1e6 == pytest.approx(microseconds, rel=0.11)


@pytest.mark.parametrize("name", NAMES)
def test_a_description_shows_every_parameter_once(name):
    system = load_system(SYSTEMS / f"{name}.yaml")
    view = describe(system)

    def rows(unit):
        for component in unit.components:
            yield from component.figures
        for child in unit.children:
            yield from rows(child)

    paths = [row.path for row in rows(view.root)]
    assert paths == list(system.parameters())
    assert len(set(paths)) == len(paths)
    assert sum(view.certainties.values()) == len(paths)
    startup = {row.path: row for row in rows(view.root)}.get("cube.network.long.startup")
    if startup is not None:
        assert (startup.text, startup.unit, startup.certainty) == ("147.0 us", "s", "cited")
        assert startup.value == pytest.approx(147e-6, rel=1e-15)


def test_the_graph_is_the_tree():
    graph = to_networkx(load_system(SYSTEMS / "ipsc860.yaml"))
    assert nx.is_arborescence(graph)
    assert graph.nodes["cube.node"]["P"] == "simple"
    assert graph.nodes["link"]["P"] == "void"
    assert graph.edges["system", "cube"]["refines"] == "P"
    assert graph.edges["cube", "cube.network"]["refines"] == "C/S"


PARTIAL = """\
format: 1
name: bare
title: only a processor
processors: {default: 4, largest_built: 2}
sources: {guess: a guess}
system:
  units:
    node:
      role: node
"""


def test_a_machine_with_components_missing_loads_and_says_what_it_cannot_charge():
    machine = export(load_system(PARTIAL))
    assert (machine.memory, machine.network, machine.io) == (None, None, None)
    assert machine.processor.of("r8.add") == [0.0]
    assert machine.notes == (
        "The machine describes no processing: computation is not charged.",
        "The machine describes no memory: cache misses and packing are not charged.",
        "The machine describes no network: communication is not charged.",
        "The machine describes no input and output: they are not charged.",
    )


def test_parts_of_input_and_output_may_be_missing():
    text = PARTIAL + "      io: {source: guess, certainty: estimated, format_item: 1 us}\n"
    machine = export(load_system(text))
    assert (machine.io.host_latency_s, machine.io.format_item_s) == (0.0, pytest.approx(1e-6))
    assert "The machine does not describe the link to the host: it is not charged." in machine.notes
    assert "The machine does not describe loading: it is not charged." in machine.notes


def test_doubts():
    found = {each.code: each.message for each in check(load_system(PARTIAL))}
    assert found == {
        "M201": "no unit of role 'host' describes I/O: it will not be charged",
        "M208": "the default of 4 processors exceeds the largest machine built",
    }


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "message"),
    [
        (
            *("startup: {value: 147.0 us", "startup: {value: 7.0 us", "M202"),
            *("upto: 100 B", "a message of 101 B is faster than one of 100 B"),
        ),
        (
            *("startup: {value: 147.0 us", "startup: {value: 747.0 us", "M203"),
            *("upto: 100 B", "a message of 101 B takes 6.9 times as long as one of 100 B"),
        ),
        (
            *("per_byte: 0.390 us/B", "per_byte: 0.190 us/B", "M204"),
            *("per_byte: 0.190 us/B", "'long.per_byte' is faster than the link"),
        ),
        (
            *("cache_size: {value: 8 KB", "cache_size: {value: 9 KB", "M205"),
            *("cache_size: {value: 9 KB", "'cache_size' is 9216 B, which is not a power of two"),
        ),
        (
            *("usable: {value: 6200000 B", "usable: {value: 16 MB", "M206"),
            *("usable: {value: 16 MB", "the usable memory exceeds the memory"),
        ),
        (
            *("div: {value: 1.20 us, range: 0.95 to 2.4 us", "div: {value: 12 ns", "M207"),
            *("div: {value: 12 ns", "r8.div is cheaper than r8.add"),
        ),
        (
            *("read_miss: {value: 0.33 us, range: 0.275 to 0.55 us", "read_miss: {value: 0.03 us", "M207"),
            *("read_miss: {value: 0.03 us", "filling a cache line is cheaper than a hit"),
        ),
    ],
)
def test_each_doubt_is_raised_with_its_line(old, new, code, line, message):
    text = (SYSTEMS / "ipsc860.yaml").read_text()
    assert text.count(old) == 1
    doubts = [each for each in check(load_system(text.replace(old, new))) if each.code < "M3"]
    assert (code, message) in [(each.code, each.message) for each in doubts]
    assert all(line in each.source_line for each in doubts if each.message == message)


def test_a_range_of_messages_may_take_no_time():
    text = (SYSTEMS / "ipsc860.yaml").read_text()
    for old in ("startup: {value: 65.0 us", "per_byte: 0.425 us", "per_hop: 10.0 us"):
        assert text.count(old) == 1
        text = text.replace(old, re.sub(r"[\d.]+ us", "0 us", old))
    (found,) = [each for each in check(load_system(text)) if each.code == "M203"]
    assert found.message == "a message of 101 B takes some time, one of 100 B none"


@pytest.mark.bench
def test_loading_takes_some_milliseconds():
    def load_once():
        start = time.perf_counter()
        export(load_system(SYSTEMS / "ipsc860.yaml"))
        return time.perf_counter() - start

    assert min(load_once() for _ in range(10)) < 0.030


def test_two_runs_export_the_same_bytes():
    code = (
        "from sag.load import load_system; from sag.scenario import export; import numpy as np;"
        "print(np.concatenate(export(load_system('systems/ipsc860-f90d.yaml')).arrays()).tobytes().hex())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=SYSTEMS.parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_networkx_is_loaded_for_those_who_ask_only():
    rooms = "sag.load, sag.scenario, sag.check, sag.describe, sag.graph"
    code = f"import sys, {rooms}; print('networkx' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=SYSTEMS.parent, capture_output=True, check=True, text=True)
    assert run.stdout == "False\n"


def test_any_size_up_to_a_million_processors_can_be_placed():
    topology = machine_of("ipsc860").network.topology
    for exponent in range(21):
        grid = (1 << (exponent + 1) // 2, 1 << exponent // 2)
        assert np.unique(topology.place(grid)).size == 2**exponent
