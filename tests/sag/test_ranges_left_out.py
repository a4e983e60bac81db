"""A machine that extends another may have other message ranges: those below are left out by name."""

from pathlib import Path

import pytest

from sag.errors import MachineError
from sag.load import load_system
from sag.scenario import export

SYSTEMS = Path(__file__).resolve().parents[2] / "systems"

OWN = """\
format: 1
extends: ipsc860
name: own
sources: {mine: my own ping-pong}
system:
  units:
    cube:
      units:
        network:
          network:
            ranges:
              short: void
              long: void
              all: {source: mine, certainty: measured,
                    startup: 5 us, per_byte: 1 ns/B, per_hop: 2 us, receive_overhead: 0 us}
"""


def test_ranges_of_the_machine_below_are_left_out():
    network = export(load_system(OWN, folder=SYSTEMS)).network
    (law,) = network.ranges
    assert law.upto_bytes == float("inf")
    assert float(law.call_overhead_s[0] + law.startup_s[0]) == pytest.approx(5e-6, rel=1e-12)
    assert float(law.per_hop_s[0]) == pytest.approx(2e-6, rel=1e-12)
    assert not law.estimated


def test_the_other_figures_stay():
    base, own = (load_system(each, folder=SYSTEMS).parameters() for each in (SYSTEMS / "ipsc860.yaml", OWN))
    law = ("cube.network.short.", "cube.network.long.", "cube.network.all.")
    assert {path for path in own if not path.startswith(law)} == {path for path in base if not path.startswith(law)}
    assert [path for path in own if path.startswith(law[:2])] == []


def test_only_some_may_be_left_out():
    text = OWN.replace("              long: void\n", "").replace("all: {", "small: {upto: 64 B, ")
    assert [law.upto_bytes for law in export(load_system(text, folder=SYSTEMS)).network.ranges] == [64, float("inf")]


def test_leaving_out_alone_keeps_the_rest():
    text = OWN.partition("              long: void")[0]
    (law,) = export(load_system(text, folder=SYSTEMS)).network.ranges
    assert float(law.per_byte_s[0]) == pytest.approx(0.39e-6, rel=1e-12)


def test_what_is_not_there_cannot_be_left_out():
    with pytest.raises(MachineError) as caught:
        load_system(OWN.replace("short: void", "shrot: void"), folder=SYSTEMS)
    told = [(each.code, each.line, each.message) for each in caught.value.findings]
    assert told == [("M107", 12, "there is no message range 'shrot' to leave out")]
