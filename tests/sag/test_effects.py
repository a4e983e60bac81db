"""Every key of the schema is known to the engine: each figure changes a prediction, each word is accepted."""

from types import MappingProxyType

import numpy as np
import pytest

from esp import api
from esp.locate import systems_dir
from esp.request import requested
from sag.errors import MachineError
from sag.load import load_system
from sag.schema import COMPILER, PARTS, keys_of

MEMORY = """\
          memory:
            source: here
            certainty: estimated
            tlb_entries: 4
            caches:
              l2:
                cache_size: 16 KB
                line: 32 B
                associativity: 2
                replacement: lru
                write_allocate: yes
                read_miss: 1 us
                write_miss: 1 us
                writeback: 0.5 us
"""

MACHINE = f"""
format: 1
extends: ipsc860
name: complete
title: an iPSC/860 with every key that is optional
sources: {{here: this test}}
system:
  units:
    cube:
      units:
        node:
{MEMORY}        network:
          network:
            source: here
            certainty: estimated
            topology: {{kind: fat_tree, dimensions: 2, arity: 2, taper: 2}}
            embedding: gray
            ranges:
              short: {{call_overhead: 20 us, receive_overhead: 3 us}}
              long: {{call_overhead: 20 us, receive_overhead: 3 us}}
"""

PROGRAM = """
program all
  integer, parameter :: n = 128
  integer :: i, j, t, k(n)
  real :: x4(n), y4(n), s4
  real*8 :: x(n), y(n), a(n,n), b(n,n), c(n,n), e(n,n), f(n,n), s, one(n)
  logical :: m(n)
!hpf$ processors p(8)
!hpf$ template d(n)
!hpf$ distribute d(block) onto p
!hpf$ align (i) with d(i) :: k, x4, y4, x, y, m
!hpf$ align (*,i) with d(i) :: a, b
!hpf$ align (i,*) with d(i) :: c
!hpf$ distribute (block,block) :: e, f
!hpf$ align (i) with d(1) :: one
  t = 3
  read *, s
  forall (i=1:n) k(i) = mod(i*t, 7) / 2 + i**t
  forall (i=1:n) x4(i) = sqrt(x4(i)*0.5 + 1.0) / (exp(y4(i)) + log(x4(i))) - sin(y4(i))**x4(i)
  forall (i=1:n) x(i) = sqrt(x(i)*0.5d0 + 1.0d0) / (exp(y(i)) + log(x(i))) - sin(y(i))**x(i)
  forall (i=1:n) m(i) = x(i) > y(i) .and. x4(i) > y4(i) .or. k(i) > 3
  where (m) y = x + k
  forall (i=2:n-1) y(i) = x(i-1) + x(i+1)
  forall (i=1:n, j=1:n) a(i,j) = b(i,j) + a(j,i)*y(j)
  do i = 1, 3
    forall (j=1:n) x(j) = x(j) + y(i)
  end do
  s4 = maxval(x4)
  s = sum(x) + y(5)
  y(6) = s
  x = one
  c = transpose(c)
  forall (i=1:n, j=2:n) e(i,j) = f(i,j-1)
  call sub(s)
  print *, x
  read *, y
end program
subroutine sub(q)
  real*8 :: q
  q = q + 1
end subroutine
"""

FROM_NOTHING = {"time": 1e-4, "fraction": 0.3, "per_byte": 1e-7}
"""What a figure that is zero becomes."""

NAMES = {("network", "network"): ("short", "long"), ("node", "memory"): ("l2",)}
"""The named groups of the machine."""

SIZES = {
    "memory.cache_size": ("4 KB", {}),
    "memory.line": ("64 B", {}),
    "memory.associativity": ("4", {}),
    "memory.usable": ("7 MB", {}),
    "memory.l2.cache_size": ("32 KB", {}),
    "memory.l2.line": ("64 B", {}),
    "memory.l2.associativity": ("4", {}),
    "memory.page": ("8 KB", {}),
    "memory.tlb_entries": ("16", {}),
    "network.topology.dimensions": ("1", {"network.topology.kind": "mesh"}),
    "network.topology.arity": ("4", {"network.topology.kind": "fat_tree"}),
    "network.topology.taper": ("1", {"network.topology.kind": "fat_tree"}),
    "network.short.upto": ("8 B", {}),
}
"""Figures of which one walk knows one value: what they become, and what must be so besides for them to matter."""


@pytest.fixture(scope="module")
def machine():
    return load_system(MACHINE, folder=systems_dir())


@pytest.fixture(scope="module")
def source():
    return api.read_source(PROGRAM)


def _keys(machine):
    """Path of each key of the schema that a prediction can depend on -> its specification."""
    parameters = machine.parameters()
    found = {}
    for role, component in PARTS:
        unit, _ = machine.find(role)
        for key, spec in keys_of(role, component, NAMES.get((role, component), ())).items():
            # The last range has no end; tests/sag/test_distances.py has ranges of distances.
            if spec.exported and key != "long.upto" and not key.endswith(".within"):
                short = f"{unit}.{key}"
                found[short if short in parameters else f"{unit}.{component}.{key}"] = spec
    return found


def _full(machine, name):
    """The path of a name such as ``memory.line`` or ``network.short.upto``."""
    return next(path for path in machine.parameters() if path.endswith(name))


def _predicted(source, machine, sets, **changes):
    return api.predict_source(source, machine, requested(8, system_set=sets, **changes))


def _moved(source, machine, paths, given=MappingProxyType({}), **changes):
    """Those of the figures that change a time or a part of it where they alone are changed, one in each scenario."""
    sets = dict(given)
    for number, path in enumerate(paths, 1):
        figure = machine.parameters()[path]
        values = [figure.value] * (len(paths) + 1)
        values[number] = 1.5 * figure.value or FROM_NOTHING[figure.dimension]
        sets[path] = values
    found = _predicted(source, machine, sets, **changes)
    parts = found.parts
    seconds = (parts.computation_s, parts.communication_s, parts.waiting_s, parts.overhead_s, found.load_s)
    times = np.stack([np.broadcast_to(each, len(paths) + 1) for each in seconds])
    return {path for number, path in enumerate(paths, 1) if (times[:, number] != times[:, 0]).any()}


def test_the_machine_has_every_key_that_a_prediction_can_depend_on(machine):
    assert [path for path in _keys(machine) if path not in machine.parameters()] == []


def test_every_cost_changes_a_prediction(source, machine):
    paths = [path for path, key in _keys(machine).items() if key.dimension and key.swept]
    assert len(paths) > 50
    moved = _moved(source, machine, paths) | _moved(source, machine, paths, opt={"pack": True})
    moved |= _moved(source, machine, paths, {_full(machine, "send_model"): "startup"})
    assert set(paths) - moved == set()


def test_every_size_changes_a_prediction(source, machine):
    keys = _keys(machine)
    assert {_full(machine, name) for name in SIZES} == {
        path for path, key in keys.items() if key.dimension and not key.swept
    }
    idle = []
    for name, (text, given) in SIZES.items():
        sets = {_full(machine, path): word for path, word in given.items()}
        before = _predicted(source, machine, sets)
        after = _predicted(source, machine, {**sets, _full(machine, name): text})
        same = before.time_s == after.time_s
        idle += [name] if same and before.memory_usable_bytes == after.memory_usable_bytes else []
    assert idle == []


@pytest.mark.truth
def test_every_word_works(source, machine):
    tried = 0
    for path, key in _keys(machine).items():
        for word in key.words:
            assert _predicted(source, machine, {path: word}).time_s > 0, (path, word)
            tried += 1
    assert tried > 40


@pytest.mark.sampled
@pytest.mark.parametrize(("key", "word"), [(key, word) for key, spec in COMPILER.items() for word in spec.words])
def test_every_word_of_the_compiler_works(key, word, source):
    machine = load_system(
        MACHINE + f"compiler: {{source: here, certainty: estimated, {key}: {word}}}\n", folder=systems_dir()
    )
    assert machine.compiler[key].value == word
    assert _predicted(source, machine, {}).time_s > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory: {replacement: fifo}", "'fifo' is not allowed for 'replacement'"),
        ("processor: {c16: {mul: 1 us}}", "unknown key 'c16'"),
    ],
)
def test_what_no_prediction_could_follow_is_refused(text, expected):
    component, _, content = text.partition(": ")
    given = f"{component}: {{source: here, certainty: estimated, {content[1:]}"
    node = MACHINE.replace(MEMORY, f"          {given}\n")
    with pytest.raises(MachineError, match=expected):
        load_system(node, folder=systems_dir())
