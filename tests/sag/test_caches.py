"""Further caches of a node: what a machine file says of them, and mistakes."""

import pytest

from esp.locate import systems_dir
from sag.check import check
from sag.errors import MachineError
from sag.figures import figures_of
from sag.load import load_system
from sag.scenario import Scenario, export

MACHINE = """
format: 1
extends: ipsc860
name: three
title: a node with three caches
sources: {here: this test}
system:
  units:
    cube:
      units:
        node:
          memory:
            source: here
            certainty: estimated
            caches:
              l3: {cache_size: 4 MB, line: 64 B, associativity: 16, replacement: lru, write_allocate: yes,
                   read_miss: 3 us, write_miss: 3 us, writeback: 1 us}
              l2: {cache_size: 64 KB, line: 64 B, associativity: 4, replacement: random, write_allocate: yes,
                   read_miss: 1 us, write_miss: 1 us, writeback: 1 us}
"""


def system(text=MACHINE):
    return load_system(text, folder=systems_dir())


def test_the_nearest_cache_comes_first():
    memory = export(system()).memory
    assert [(each.name, each.size_bytes) for each in memory.caches] == [("", 8192), ("l2", 65536), ("l3", 4 << 20)]
    assert (memory.nearest.size_bytes, memory.last.name) == (8192, "l3")
    assert [each.replacement for each in memory.caches] == ["random", "random", "lru"]
    assert [each.write_allocate for each in memory.caches] == [False, True, True]


def test_misses_of_each_cache_are_figures():
    figures = figures_of(export(system(), Scenario(memory_speed="x2")))
    assert figures["memory.l3.read_miss"].path == "cube.node.memory.l3.read_miss"
    assert figures["memory.l3.read_miss"].unit == "cache line read in l3"
    assert figures["memory.l3.read_miss"].seconds == pytest.approx([1.5e-6])
    assert figures["memory.read_miss"].unit == "cache line read"


def test_a_setting_can_change_a_further_cache():
    assert export(system(), Scenario(sets=(("cube.node.memory.l2.cache_size", "128 KB"),))).memory.caches[
        1
    ].size_bytes == (128 << 10)


def test_a_machine_can_leave_a_cache_of_another_out(tmp_path):
    (tmp_path / "three.yaml").write_text(
        MACHINE.replace("extends: ipsc860", f"extends: {systems_dir() / 'ipsc860.yaml'}")
    )
    other = """
format: 1
extends: three.yaml
name: two
title: without its third cache
sources: {here: this test}
system:
  units:
    cube:
      units:
        node:
          memory:
            source: here
            certainty: estimated
            caches: {l3: void, l2: {read_miss: 2 us}}
"""
    (tmp_path / "two.yaml").write_text(other)
    memory = export(load_system(tmp_path / "two.yaml")).memory
    assert [each.name for each in memory.caches] == ["", "l2"]
    assert memory.last.read_miss_s == pytest.approx([2e-6])


MISTAKES = {
    "cache_size: 64 KB": ("cache_size: 4 KB", "the cache 'l2' is not larger than a nearer one"),
    "cache_size: 4 MB": ("cache_size: 64 KB", "is not larger than a nearer one"),
    "l3: {": ("line: {", "'line' cannot name a cache"),
    "read_miss: 3 us, ": ("", "the key 'l3.read_miss' is missing"),
    "writeback: 1 us}\n": ("writeback: 1 us, speed: 3 us}\n", "unknown key 'speed' in 'l3'"),
    "l2: {cache_size": ("l4: void\n              l2: {cache_size", "there is no cache 'l4' to leave out"),
}


@pytest.mark.parametrize("old", MISTAKES)
def test_mistakes_are_explained(old):
    new, message = MISTAKES[old]
    with pytest.raises(MachineError, match=message):
        system(MACHINE.replace(old, new, 1))


def test_a_setting_cannot_make_a_further_cache_the_smaller_one():
    with pytest.raises(MachineError, match="the cache 'l2' is not larger than a nearer one"):
        export(system(), Scenario(sets=(("cube.node.memory.cache_size", "64 KB"),)))


def test_odd_geometries_are_doubted():
    found = check(system(MACHINE.replace("cache_size: 4 MB", "cache_size: 3 MB")))
    assert ("M205", "'l3.cache_size' is 3145728 B, which is not a power of two") in [
        (each.code, each.message) for each in found
    ]
