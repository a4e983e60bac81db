"""Pages of references that wrap around (CSHIFT, EOSHIFT, MODULO), against a replay of the addresses in plain Python.

The replay knows Fortran's rules, the place of an element in a column-major array, and a table of translations that
replaces the one not used for longest.
"""

from collections import OrderedDict
from itertools import product

import numpy as np
import pytest

import esp
from aag.pipeline import Overrides, lower, read_program
from aag.spmd.access import accesses
from aag.spmd.local_parts import AccessParts
from aag.spmd.nodes import Nest
from aag.spmd.partition import trips
from interpreter.models.cache import CachedAccess, CachedNest, page_misses

PAGE, BYTES = 64, 4
SHAPES = [(40, 30), (12, 90), (96, 14), (16, 64)]
STENCIL = [("cshift", 1, 1), ("cshift", -1, 1), ("cshift", 1, 2), ("cshift", -1, 2)]
SUMS = [
    STENCIL,
    [("eoshift", shift, dim) for _, shift, dim in STENCIL],
    [("plain", 0, 1), ("cshift", 1, 1)],
    [("cshift", 5, 1)],
    [("cshift", -3, 2)],
    [("plain", 0, 1), ("cshift", 3, 1), ("cshift", 2, 2)],
    [("plain", 0, 1), ("eoshift", -3, 1), ("eoshift", 2, 2)],
    [("eoshift", 5, 1)],
    [("modulo", 5, 1), ("modulo", -1, 2)],
    [("plain", 0, 1), ("modulo", 1, 1)],
]


def program_of(shape, statement):
    """A program of one array statement."""
    n, m = shape
    return (
        f"program p\ninteger, parameter :: n = {n}, m = {m}\ninteger :: c(n, m), d(n, m), i, j\n"
        f"{statement}\nend program\n"
    )


def text_of(shape, terms):
    """A program that adds shifted arrays up."""
    if any(kind == "modulo" for kind, _, _ in terms):
        first, second = "modulo(i - 1 + ({}), n) + 1, j", "i, modulo(j - 1 + ({}), m) + 1"
        parts = [
            "c(i, j)" if kind == "plain" else f"c({(first if dim == 1 else second).format(shift)})"
            for kind, shift, dim in terms
        ]
        return program_of(shape, f"forall (i = 1:n, j = 1:m) d(i, j) = {' + '.join(parts)}")
    parts = ["c" if kind == "plain" else f"{kind}(c, {shift}, dim={dim})" for kind, shift, dim in terms]
    return program_of(shape, f"d = {' + '.join(parts)}")


def source_of(kind, position, shift, extent):
    """The index, from 0, that one dimension of a reference reads."""
    moved = position + shift
    return min(max(moved, 0), extent - 1) if kind == "eoshift" else moved % extent


def references(counters, order, terms, shape, first=(0, 0)):
    """The elements that one iteration touches, those of sections from `first` on."""
    here = {dim: first[dim] + counter for dim, counter in zip(order, counters, strict=True)}
    for kind, shift, dim in terms:
        at = [source_of(kind, here[each], shift if each + 1 == dim else 0, shape[each]) for each in (0, 1)]
        yield "c", at[0] + at[1] * shape[0]
    yield "d", here[0] + here[1] * shape[0]


def replay(extents, entries, touched):
    """Misses of a least-recently-used table, cold ones included."""
    table, misses = OrderedDict(), 0
    for counters in product(*map(range, extents)):
        for array, element in touched(counters):
            page = array, element * BYTES // PAGE
            if page in table:
                table.move_to_end(page)
                continue
            misses += 1
            table[page] = True
            if len(table) > entries:
                table.popitem(last=False)
    return misses


def predicted(text, procs, entries):
    """Translations that each processor lacks in the only nest of a program, and the dimensions of its loops."""
    program = lower(read_program(text, "p.f90"), Overrides(procs=procs), procs)
    (nest,) = [node for node in program.body if isinstance(node, Nest)]
    layouts = program.layouts
    (found,) = accesses(nest, layouts, layouts.environment, AccessParts(np.arange(procs)))
    order = tuple([each.name for each in nest.assigns[0].target.subscripts].index(index.name) for index in nest.indices)
    extents = trips(nest, layouts, layouts.environment)[0].extents_of(np.arange(procs))
    cached = tuple(
        CachedAccess(
            array=each.array,
            element_bytes=BYTES,
            start=each.start_bytes,
            strides=each.strides_bytes,
            write=each.write,
            places=each.places,
        )
        for each in found
    )
    return page_misses(CachedNest(extents=extents, accesses=cached), entries, PAGE).sum(axis=1), order


def of_sections(shape, terms):
    """The same sum of the elements that lie inside, by sections, and where these begin."""
    below, above = (
        [max([0] + [sign * shift for _, shift, dim in terms if dim == each]) for each in (1, 2)] for sign in (-1, 1)
    )
    inner = [(low, extent - high) for low, high, extent in zip(below, above, shape, strict=True)]
    parts = []
    for _, shift, dim in terms:
        moved = [shift if dim == each else 0 for each in (1, 2)]
        parts.append("c" + spelt([(low + by + 1, high + by) for (low, high), by in zip(inner, moved, strict=True)]))
    statement = f"d{spelt([(low + 1, high) for low, high in inner])} = {' + '.join(parts)}"
    return statement, inner


def spelt(ranges):
    """A section in Fortran."""
    return "(" + ", ".join(f"{low}:{high}" for low, high in ranges) + ")"


def apart(found, counted):
    """How far a prediction is from a count, as a factor of at least 1."""
    return max(found / counted, counted / found)


@pytest.mark.sampled
@pytest.mark.parametrize("entries", [6, 12, 24])
@pytest.mark.parametrize("terms", SUMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shifts_lack_what_a_replay_lacks(shape, terms, entries):
    (found,), order = predicted(text_of(shape, terms), 1, entries)
    counted = replay([shape[dim] for dim in order], entries, lambda at: references(at, order, terms, shape))
    # The closed form is off where the table all but holds what is needed: no more for shifts than for sections.
    statement, inner = of_sections(shape, terms)
    (same,), order = predicted(program_of(shape, statement), 1, entries)
    extents, first = [inner[dim][1] - inner[dim][0] for dim in order], [low for low, _ in inner]
    sections = replay(extents, entries, lambda at: references(at, order, terms, shape, first))
    assert apart(found, counted) <= max(1.15, 1.15 * apart(same, sections))


@pytest.mark.parametrize(
    "shift",
    [("cshift(c, {}, 1)", "modulo(i - 1 + ({}), n) + 1, j"), ("cshift(c, {}, 2)", "i, modulo(j - 1 + ({}), m) + 1")],
)
def test_modulo_is_a_circular_shift(shift):
    circular, modulo = shift
    for by in (1, -1, 5):
        one, _ = predicted(program_of((40, 30), f"d = {circular.format(by)}"), 1, 6)
        other, _ = predicted(program_of((40, 30), f"forall (i = 1:n, j = 1:m) d(i, j) = c({modulo.format(by)})"), 1, 6)
        np.testing.assert_array_equal(one, other)


def test_an_index_that_goes_round_often_stays_on_its_pages():
    """c(0), c(1), c(0), ...: a page or two, and those of what is written."""
    text = "program p\ninteger :: c(0:4095), d(4096), i\nforall (i = 1:4096) d(i) = c(modulo(i, 32))\nend program\n"
    (found,), _ = predicted(text, 1, 6)
    assert found == pytest.approx(4096 * BYTES // PAGE + 2, abs=3)


HEAD = """\
program p
integer, parameter :: n = 256
integer :: c(n, n), d(n, n), g
!hpf$ processors q(2, 2)
!hpf$ distribute (block, block) onto q :: c, d
c = 1
do g = 1, 3
"""


@pytest.mark.parametrize("procs", [1, 4])
def test_all_processors_of_a_circular_stencil_look_up_as_many_as_one_by_sections(procs):
    circular = " + ".join(f"cshift(c, {shift}, {dim})" for _, shift, dim in STENCIL)
    shifted = looked_up(HEAD + f"  d = {circular}\nend do\nend program\n", procs)
    sections = looked_up(HEAD + f"  {of_sections((256, 256), STENCIL)[0]}\nend do\nend program\n", procs)
    assert shifted[0] > 100
    assert shifted == pytest.approx(np.full(procs, shifted[0]), rel=1e-6)
    assert shifted == pytest.approx(sections, rel=0.03)


def looked_up(text, procs):
    """Translations that each processor looks up in vain: from what a dearer one costs."""
    dear, cheap = (
        esp.predict(
            text,
            procs=procs,
            system="ipsc860",
            system_set={"cube.node.memory.tlb_miss": each, "cube.node.memory.tlb_entries": "20"},
        )
        for each in ("1001 ns", "1 ns")
    )
    return (dear.per_processor.computation_s - cheap.per_processor.computation_s).reshape(-1) / 1e-6
