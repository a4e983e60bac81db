"""`esp validate --against simgrid`: predictions beside the node program on a simulated machine."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from esp import api, tools
from esp.cli.main import main
from esp.errors import PredictionError
from esp.locate import find_system
from esp.validate import platform, simgrid
from sag.scenario import export
from tests.esp.validate.simulation import built

TOPOLOGIES = (
    "{kind: mesh, dimensions: 2}",
    "{kind: torus, dimensions: 2}",
    "{kind: torus, dimensions: 3}",
    "{kind: ring}",
    "{kind: bus}",
    "{kind: crossbar}",
    "{kind: fat_tree, arity: 2}",
)

# Shifts in both directions of both dimensions, a broadcast, a transpose, a reduction and an element from afar.
MIXED = """
program mixed
  implicit none
  integer, parameter :: n = 24
  double precision :: a(n, n), b(n, n), v(n)
  double precision :: s
  integer :: i, j, step
!HPF$ DISTRIBUTE A(BLOCK, BLOCK)
!HPF$ ALIGN B(I, J) WITH A(I, J)
  forall (i = 1:n, j = 1:n) a(i, j) = dble(i) + dble(j) / 32.0d0
  b = a
  do step = 1, 2
    forall (i = 2:n-1, j = 2:n-1) b(i, j) = a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1)
    forall (i = 1:n, j = 1:n) a(i, j) = b(j, i) / 4.0d0
    forall (i = 1:n, j = 1:n) b(i, j) = a(i, j) + a(i, 5)
    s = sum(b) + a(3, n)
  end do
  print *, s
end program mixed
"""

CIRCULAR = """
program circular
  implicit none
  integer, parameter :: n = 12
  double precision :: a(n, n), b(n, n)
  integer :: i, j, step
!HPF$ DISTRIBUTE A(BLOCK, BLOCK)
!HPF$ ALIGN B(I, J) WITH A(I, J)
  forall (i = 1:n, j = 1:n) a(i, j) = dble(i) + dble(j) / 32.0d0
  do step = 1, 3
    b = cshift(a, 1, dim=1) + cshift(a, -1, dim=1) + cshift(a, 1, dim=2) + cshift(a, -1, dim=2)
    a = 0.25d0 * b + cshift(b, 2, dim=1)
  end do
  print *, sum(a)
end program circular
"""


@dataclass
class Place:
    """Where programs are compiled; the run-time library is taken over from the one before."""

    folder: Path
    before: Path | None = None
    number: int = 0

    def outcome(self, text, system, procs, expected=None, **request):
        self.number += 1
        place, like, self.before = self.folder / str(self.number), self.before, self.folder / str(self.number)
        wanted = api.Request(procs=procs, **request)
        stages = api.lower_source(api.read_source(text), system, wanted)
        return built(stages, system, wanted, place, like).outcome(expected)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("simgrid"))


def ipsc860_with(tmp_path, *changes):
    """The iPSC/860 with parts of its description replaced."""
    text = Path(find_system("ipsc860")).read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "changed.yaml"
    path.write_text(text)
    return api.load_machine(path)


def test_table_of_the_command(capsys):
    assert main(["validate", "gauss", "--against", "simgrid", "--procs", "1,3", "--set", "n=10"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["procs", "answer"]
    assert max(map(len, rows)) <= 80
    # 9 multicasts to two others, and a sum: one message to the power of two, an exchange, and the result back.
    assert [row.split()[:3] for row in rows] == [["1", "same", "0"], ["3", "same", str(9 * 2 + 4)]]
    assert all(row.split()[4] == "free" and row.endswith((" 0 %", "< 0.01 %")) for row in rows)


@pytest.mark.sampled
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_every_topology(topology, place, tmp_path):
    system = ipsc860_with(tmp_path, ("topology: {kind: hypercube}", f"topology: {topology}"))
    found = place.outcome(MIXED, system, 6)
    assert found.messages > 50
    assert abs(found.error) <= (0.08 if found.contended else 1e-6), topology


@pytest.mark.parametrize(
    ("change", "contended"),
    [
        (("duplex: {value: full", "duplex: {value: half"), True),
        (("switching: {value: circuit", "switching: {value: none"), False),
        (("exchange: {value: sequential", "exchange: {value: concurrent"), True),
        (("send_model: {value: blocking", "send_model: {value: startup"), False),
    ],
    ids=str,
)
def test_every_reading_of_the_machine(change, contended, place, tmp_path):
    found = place.outcome(MIXED, ipsc860_with(tmp_path, change), 8)
    assert found.messages > 50
    assert found.contended is contended
    assert abs(found.error) <= (0.08 if contended else 1e-6)


def test_near_and_far_messages(place):
    """Two rings: messages to the other one have another start-up and take longer for a byte."""
    found = place.outcome(MIXED, api.load_machine("ksr1"), 40)
    assert found.law_error < 1e-9
    assert abs(found.error) <= 0.001


def test_short_messages_that_take_no_time(place, tmp_path):
    free = (
        ("startup: {value: 65.0 us", "startup: {value: 0 us"),
        ("per_byte: 0.425 us", "per_byte: 0 us"),
        ("per_hop: 10.0 us", "per_hop: 0 us"),
    )
    found = place.outcome(MIXED, ipsc860_with(tmp_path, *free), 4)
    assert abs(found.error) <= 1e-3


def test_cluster_whose_adapters_send(place):
    found = place.outcome(MIXED, api.load_machine("cluster-ib"), 8)
    assert found.law_error < 1e-9
    assert abs(found.error) <= 0.01


@pytest.mark.parametrize("procs", [2, 6])
def test_circular_shifts_go_on_in_their_direction(procs, place):
    """On two processors in a row the messages to the left and to the right are two, to the same one."""
    found = place.outcome(CIRCULAR, api.load_machine("ipsc860"), procs)
    assert found.messages > 10
    assert abs(found.error) <= 1e-6


def test_wrong_figures_are_seen(place):
    """The same program where a byte takes twice as long than predicted, and where a send keeps nobody."""
    request = api.Request(procs=4)
    system = api.load_machine("ipsc860")
    machine = export(system, request.scenario)
    stages = api.lower_source(api.read_source(MIXED), system, request)
    exact = place.outcome(MIXED, system, 4)
    _, blocks = simgrid.predicted_blocks(stages, machine, request)
    wires = simgrid.interconnect(machine, stages, blocks)
    after = simgrid.after_s(machine, blocks, wires)
    executable = place.before / "mixed"
    slow = tuple(replace(each, byte_s=2 * each.byte_s) for each in wires.law)
    options = platform.options(slow, sizes=blocks.sizes().tolist(), wires=platform.wires_of(wires.law))
    changed = replace(wires, options=options)
    _, times = simgrid.simulate(executable, blocks, changed, after)
    assert times.max() > 1.01 * exact.simulated_s.max()
    _, times = simgrid.simulate(executable, blocks, wires, 0 * after)
    assert times.max() < 0.99 * exact.simulated_s.max()
    wrong = replace(blocks, size_bytes=blocks.size_bytes + 8 * (np.arange(blocks.rank.size) == 5))
    with pytest.raises(PredictionError, match="on 4 processors the program differs") as problem:
        simgrid.simulate(executable, wrong, wires, after)
    assert "predicted: " in str(problem.value.why)


@pytest.mark.parametrize("source", ["known sizes", "shortened"])
def test_options_of_a_law(source):
    """Sections of the options against the law, as SMPI reads them: the last limit below the size counts."""
    law = (
        platform.PlatformRange(upto_bytes=100, entry_s=60e-6, byte_s=0.4e-6, hop_s=10e-6),
        platform.PlatformRange(upto_bytes=float("inf"), entry_s=150e-6, byte_s=0.3e-6, hop_s=30e-6),
    )
    sizes = (0, 8, 16, 99, 100, 101, 1000)
    known = source == "known sizes"
    told = dict(
        each.removeprefix("--cfg=").split(":", 1) for each in platform.options(law, sizes=sizes if known else None)
    )

    def of(name, size):
        sections = [tuple(map(float, each.split(":")[:2])) for each in told[name].split(";")]
        return [value for limit, value in sections if size > limit or limit == 0][-1]

    wires = platform.wires_of(law)
    for size in sizes:
        if not known and size < platform.ENVELOPE_BYTES:
            continue
        given = size if known else size - platform.ENVELOPE_BYTES
        wire = given + platform.ENVELOPE_BYTES
        took = of("smpi/os", given) + 3 * wires.link_s * of("smpi/lat-factor", wire)
        took += wire * wires.byte_s / of("smpi/bw-factor", wire)
        each = platform.range_of(law, size)
        missing = 0.0 if known else platform.ENVELOPE_BYTES * each.byte_s  # the programs compute for so long
        assert took + missing == pytest.approx(each.time_s(size, 3), rel=1e-9), size


def test_what_simgrid_cannot_express_is_refused(capsys):
    assert main(["validate", "pi", "--against", "simgrid", "--procs", "2", "--system", "ipsc860-f90d"]) == 1
    assert "exchange_factor = 2" in " ".join(capsys.readouterr().err.split())


def test_missing_simgrid_is_named(monkeypatch, capsys):
    found = tools.shutil.which
    monkeypatch.setattr(tools.shutil, "which", lambda name: None if name.startswith("smpi") else found(name))
    assert main(["validate", "pi", "--against", "simgrid", "--procs", "2"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "smpif90 is not installed" in told
    assert "libsimgrid-dev" in told
