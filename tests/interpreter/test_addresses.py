"""Arrays at addresses that the interpreter is told: conflicts in sets of the cache, and misses by kind; copies of what
other processors own."""

from itertools import product

import pytest
from msgspec.structs import replace

from esp import api
from interpreter.application import Application
from interpreter.engine import Walker, start
from interpreter.setting import Setting
from interpreter.summary import counts_of
from sag.scenario import Scenario, export

SUM_OF_TWO = """\
program two
  double precision :: x(64), y(64), z(64)
!HPF$ DISTRIBUTE (BLOCK) :: X, Y, Z
  forall (i = 1:64) x(i) = y(i) + z(i)
end program two
"""
RECURRENCE = """\
program chain
  double precision :: x(256), y(256)
!HPF$ DISTRIBUTE (BLOCK) :: X, Y
  do i = 2, 256
    x(i) = 0.5d0 * x(i-1) + y(i)
  end do
end program chain
"""


IN_PLACE = """\
program place
  double precision :: x(4096)
!HPF$ DISTRIBUTE (BLOCK) :: X
  forall (i = 1:4095) x(i) = x(i+1)
end program place
"""


def misses(addresses, text=SUM_OF_TWO, procs=1):
    system = api.load_machine("ipsc860")
    stages = api.lower_source(api.read_source(text), system, api.Request(procs=procs))
    machine = export(system, Scenario())
    cache = replace(machine.memory.nearest, replacement="lru", write_allocate=True)
    memory = replace(machine.memory, caches=(cache,))
    setting = Setting(addresses=addresses)
    walker = Walker(stages.graph, {})
    run = start(Application(stages.node_program), stages.graph, replace(machine, memory=memory), setting, walker)
    walker.visit(run, stages.graph.body)
    read, written = (counts_of(run).total(f"memory.{kind}_miss") for kind in ("read", "write"))
    return read + written, written


def test_each_line_is_missed_once_where_arrays_do_not_meet():
    assert misses({"x": 0, "y": 512, "z": 1024}) == (48, 16)
    assert misses({}) == (48, 16)


def test_arrays_that_do_not_start_a_line_have_one_line_more_each():
    assert misses({"x": 16, "y": 1040, "z": 2064}) == (51, 17)


def test_three_arrays_a_multiple_of_the_sets_apart_miss_with_every_reference():
    """Two ways hold two of the three lines that share a set."""
    assert misses({"x": 0, "y": 4096, "z": 8192}) == (192, 64)


def test_addresses_count_only_where_all_arrays_of_a_nest_have_one():
    assert misses({"x": 0, "y": 4096}) == misses({})


def test_sequential_loops_miss_like_others():
    """64 lines of each array; on four processors 16 on each, and the overlap element of all but the first."""
    assert misses({"x": 0, "y": 2048}, RECURRENCE) == (128, 63)
    found, written = misses({}, RECURRENCE, procs=4)
    assert 128 <= found <= 128 + 3
    assert 60 <= written <= 64


def test_misses_of_a_sequential_loop_are_time_of_its_owners():
    with_, without = (
        api.predict(RECURRENCE, procs=4, system_set={"cube.node.memory.read_miss": time}) for time in ("1 us", "0 us")
    )
    assert with_.time_s - without.time_s > 60 * 0.99e-6


def test_a_forall_in_place_goes_through_a_temporary():
    """Of 4 x 8 KB each line is missed four times: x read, the temporary written and read, x written."""
    found, written = misses({"x": 0}, IN_PLACE)
    assert (found, written) == pytest.approx((4 * 1024, 2 * 1024), abs=4)


PRODUCT = """\
program rows
  integer, parameter :: n = 256
  double precision a(n,n), p(n), q(n)
  integer k
!HPF$ DISTRIBUTE A({first}, {second})
!HPF$ ALIGN (i) WITH a(i,*) :: p, q
  do k = 1, 20
    q = matmul(a, p)
  end do
end program rows
"""


@pytest.mark.parametrize(("first", "second"), list(product(("BLOCK", "CYCLIC", "*"), repeat=2)))
def test_a_row_longer_than_the_cache_is_read_anew_however_it_was_gathered(first, second):
    """Of a row of 256 elements each lies in a line of its own, and the cache holds 256 lines, those of p among them:
    each is missed each time, and of p at most its 64 lines for each row."""
    axes = (first, second).count("*")
    grid = None if axes == 2 else (4, 2) if axes == 0 else (8,)
    system = api.load_machine("ipsc860")
    stages = api.lower_source(
        api.read_source(PRODUCT.format(first=first, second=second)), system, api.Request(procs=8, grid=grid)
    )
    run = start(
        Application(stages.node_program),
        stages.graph,
        export(system, Scenario()),
        Setting(),
        walker := Walker(stages.graph, {}),
    )
    walker.visit(run, stages.graph.body)
    lines = counts_of(run).total("memory.read_miss") / 8
    rows = 20 * 256 / (1 if first == "*" else grid[0])
    assert 256 * rows <= lines <= (256 + 64) * rows
