"""What the reference says of keys that a file leaves out."""

from pathlib import Path

import pytest

from sag.load import load_system
from sag.scenario import export
from sag.schema import COMPILER, NETWORK, PARTS, RANGE

SYSTEMS = Path(__file__).resolve().parents[2] / "systems"

OWN = """\
format: 1
extends: ipsc860
name: own
sources: {{mine: a change}}
system:
  units:
    cube:
      units:
        network:
          network: {{source: mine, certainty: measured, topology: {{kind: {kind}{more}}}}}
"""


def test_a_key_that_may_be_left_out_has_a_default_or_describes():
    tables = (*PARTS.values(), RANGE)
    optional = [(name, key) for table in tables for name, key in table.items() if not key.required]
    assert optional
    assert [name for name, key in optional if bool(key.default) == (not key.exported)] == []
    assert not any(key.required for key in COMPILER.values())


@pytest.mark.parametrize(
    ("kind", "key"), [("mesh", "dimensions"), ("torus", "dimensions"), ("fat_tree", "arity"), ("fat_tree", "taper")]
)
def test_defaults_of_topologies(kind, key):
    default = NETWORK[f"topology.{key}"].default
    without, given, other = (
        export(load_system(OWN.format(kind=kind, more=more), folder=SYSTEMS)).network.topology
        for more in ("", f", {key}: {default}", f", {key}: {int(default) + 1}")
    )
    assert without == given != other


def test_the_default_of_the_embedding():
    plain, gray, natural = (
        OWN.format(kind="mesh", more="").replace("topology:", f"{more}topology:")
        for more in ("", f"embedding: {NETWORK['embedding'].default}, ", "embedding: natural, ")
    )
    topologies = [export(load_system(each, folder=SYSTEMS)).network.topology for each in (plain, gray, natural)]
    assert topologies[0] == topologies[1] != topologies[2]
