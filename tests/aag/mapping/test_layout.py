"""Layouts against owners found element by element, with the formulas of the HPF text."""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aag.mapping.grid import Grid, squarest
from aag.mapping.resolve import Overrides, resolve_mapping
from tests.aag.mapping.owners import owners

EVERY = "every"  # a replicated target subscript: copies at all coordinates


@dataclass
class Aligned:
    """An array in a target: what stands in each target dimension, ('dim', d, s, o), ('fixed', o) or EVERY."""

    bounds: list
    roles: list


def indices(bounds):
    return list(product(*(range(lower, upper + 1) for lower, upper in bounds)))


def cells(roles, index):
    return [
        EVERY if role == EVERY else role[1] if role[0] == "fixed" else role[2] * index[role[1]] + role[3]
        for role in roles
    ]


def owner_ranks(target_cells, formats, template_bounds, grid_shape):
    """Linear ranks that hold a template cell: owner floor(i/b) mod p with zero-based i in each dimension."""
    choices = []
    shape = iter(grid_shape)
    for cell, (kind, size), (lower, upper) in zip(target_cells, formats, template_bounds, strict=True):
        if kind == "*":
            continue
        procs = next(shape)
        usual = max(1, -(-(upper - lower + 1) // procs)) if kind == "block" else 1
        choices.append(range(procs) if cell == EVERY else [(cell - lower) // (size or usual) % procs])
    strides = [prod(grid_shape[:axis]) for axis in range(len(grid_shape))]
    return {sum(c * s for c, s in zip(coords, strides, strict=True)) for coords in product(*choices)}


def two_bounds(draw, extent):
    lower = draw(st.integers(-4, 4))
    return (lower, lower + extent - 1)


def aligned_into(draw, target_bounds, largest_rank):
    """A random array that fits a target with these bounds."""
    roles, bounds = [], []
    for lower, upper in target_bounds:
        kinds = ["fixed", "every"] + (["dim"] * 4 if len(bounds) < largest_rank else [])
        kind = draw(st.sampled_from(kinds))
        if kind == "every":
            roles.append(EVERY)
        elif kind == "fixed":
            roles.append(("fixed", draw(st.integers(lower, upper))))
        else:
            stride = draw(st.sampled_from([1, 1, 2, 3]))
            count = draw(st.integers(1, (upper - lower) // stride + 1))
            first = draw(st.integers(lower, upper - stride * (count - 1)))
            own = two_bounds(draw, count)
            if draw(st.integers(0, 3)) == 0:
                roles.append(("dim", len(bounds), -stride, first + stride * own[1]))
            else:
                roles.append(("dim", len(bounds), stride, first - stride * own[0]))
            bounds.append(own)
    while not bounds or (len(bounds) < largest_rank and draw(st.integers(0, 4)) == 0):
        bounds.append(two_bounds(draw, draw(st.integers(0 if bounds else 1, 3))))  # collapsed
    order = draw(st.permutations(range(len(bounds))))
    bounds = [bounds[dim] for dim in order]
    place = {old: new for new, old in enumerate(order)}
    roles = [("dim", place[role[1]], *role[2:]) if role[0] == "dim" else role for role in roles]
    return Aligned(bounds=bounds, roles=roles)


@st.composite
def mappings(draw):
    """A template with formats, a grid, an array in it and an array aligned with that array."""
    rank = draw(st.integers(1, 4))
    template = [two_bounds(draw, draw(st.integers(1, 9 if rank < 3 else 5))) for _ in range(rank)]
    procs = draw(st.integers(1, 9))
    kinds = [draw(st.sampled_from(["block", "block", "cyclic", "cyclic", "*"])) for _ in template]
    spread = sum(kind != "*" for kind in kinds)
    grid = draw(st.permutations(squarest(procs, spread))) if spread and draw(st.booleans()) else None
    shape = iter(grid or squarest(procs, spread))
    formats = []
    for kind, (lower, upper) in zip(kinds, template, strict=True):
        size = None
        if kind != "*":
            p = next(shape)
            if draw(st.booleans()):
                least = -(-(upper - lower + 1) // p)
                size = draw(st.integers(least, least + 3)) if kind == "block" else draw(st.integers(1, 4))
        formats.append((kind, size))
    first = aligned_into(draw, template, 4)
    second = aligned_into(draw, first.bounds, 4) if all(l <= u for l, u in first.bounds) else None
    return template, formats, procs, grid, first, second


def directives(hpf, name, target, one):
    axes = [f"i{dim}" if any(role[:2] == ("dim", dim) for role in one.roles) else "*" for dim in range(len(one.bounds))]
    subscripts = [
        hpf.star if role == EVERY else role[1] if role[0] == "fixed" else hpf.affine(role[2], f"i{role[1]}", role[3])
        for role in one.roles
    ]
    return hpf.align(name, " ".join(axes), target, subscripts)


def resolved(hpf, template, formats, procs, grid, first, second):
    parts = [
        hpf.template("t", *template),
        hpf.array("a", *first.bounds),
        directives(hpf, "a", "t", first),
        hpf.distribute("t", *formats_of(formats), onto="p" if grid else None),
    ]
    if grid:
        parts.append(hpf.processors("p", *grid))
    if second is not None:
        parts += [hpf.array("b", *second.bounds), directives(hpf, "b", "a", second)]
    return resolve_mapping(hpf.unit(*parts), Overrides(procs=procs), 1)


def formats_of(formats):
    return [kind if size is None else (kind, size) for kind, size in formats]


def check(layout, bounds, expected, procs):
    """`expected`: element -> ranks."""
    elements = list(expected)
    if not layout.is_distributed:
        assert all(ranks == set(range(procs)) for ranks in expected.values())
    got = owners(layout, np.array(elements, dtype=np.int64).reshape(-1, len(bounds)))
    assert [set(np.flatnonzero(row).tolist()) for row in got] == [expected[each] for each in elements]
    extents = layout.local_extents()
    for rank in range(procs):
        mine = [each for each in elements if rank in expected[each]]
        assert layout.local_elements()[rank] == len(mine)
        assert layout.bytes_held()[rank] == 8 * len(mine)
        assert prod(extents[rank].tolist()) == len(mine)
        if mine:
            assert extents[rank].tolist() == [len({each[dim] for each in mine}) for dim in range(len(bounds))]
    for dim, (lower, upper) in enumerate(bounds):
        check_dimension(layout, dim, list(range(lower, upper + 1)))


def check_dimension(layout, dim, every):
    axis = layout.axis_of_dim(dim)
    if axis is None:
        assert layout.local_index(dim, every).tolist() == list(range(len(every)))
        return
    coordinates = layout.owner_coordinate(axis, every).tolist()
    seen = dict.fromkeys(range(layout.grid.shape[axis]), 0)
    positions = []
    for coordinate in coordinates:
        positions.append(seen[coordinate])
        seen[coordinate] += 1
    assert layout.local_index(dim, every).tolist() == positions
    assert layout.held(axis).tolist() == list(seen.values())
    for coordinate in seen:
        mine = [index for index, owner in zip(every, coordinates, strict=True) if owner == coordinate]
        if layout.axes[axis].distribution.kind == "block":
            first, last = (int(each[coordinate]) for each in layout.held_interval(axis))
            assert list(range(first, last + 1)) == mine
            assert last >= first - 1


@settings(max_examples=300)
@given(mappings())
def test_every_mapping_equals_brute_force(hpf, mapping):
    template, formats, procs, grid, first, second = mapping
    layouts = resolved(hpf, *mapping)
    spread = sum(kind != "*" for kind, _ in formats)
    shape = tuple(grid) if grid else squarest(procs, spread)
    if spread:
        assert layouts.arrays["a"].grid.shape == shape
    every = set(range(procs))

    def ranks(target_cells):
        return owner_ranks(target_cells, formats, template, shape) if spread else every

    check(
        layouts.arrays["a"],
        first.bounds,
        {index: ranks(cells(first.roles, index)) for index in indices(first.bounds)},
        procs,
    )
    if second is not None:
        expected = {}
        for index in indices(second.bounds):
            through = [
                EVERY if role != EVERY and role[0] == "dim" and inner[role[1]] == EVERY else None
                for inner in [cells(second.roles, index)]
                for role in first.roles
            ]
            inner = [0 if cell == EVERY else cell for cell in cells(second.roles, index)]
            outer = cells(first.roles, inner)
            expected[index] = ranks([t or o for t, o in zip(through, outer, strict=True)])
        check(layouts.arrays["b"], second.bounds, expected, procs)


def one_dimension(hpf, extent, procs, *formats, **options):
    unit = hpf.unit(hpf.array("a", extent), hpf.distribute("a", *formats))
    return resolve_mapping(unit, Overrides(procs=procs, **options), 1).arrays["a"]


def test_an_array_distributed_directly_is_its_own_template(hpf):
    layout = one_dimension(hpf, 10, 4, "block")
    assert layout.template == "a"
    assert layout.local_elements().tolist() == [3, 3, 3, 1]
    assert layout.bytes_held().tolist() == [24, 24, 24, 8]


def test_undistributed_arrays_are_on_every_processor(hpf):
    layouts = resolve_mapping(
        hpf.unit(hpf.array("a", 10), hpf.array("b", 5), hpf.distribute("b", "block")), Overrides(procs=3), 1
    )
    layout = layouts.arrays["a"]
    assert not layout.is_distributed
    assert layout.template == ""
    assert layout.local_elements().tolist() == [10, 10, 10]
    assert layout.axis_of_dim(0) is None


def test_what_is_aligned_with_an_undistributed_template_is_replicated(hpf):
    unit = hpf.unit(hpf.template("t", 10), hpf.array("a", 10), hpf.align("a", "i", "t", ("i",)))
    layout = resolve_mapping(unit, Overrides(procs=3), 1).arrays["a"]
    assert not layout.is_distributed
    assert layout.template == "t"
    assert layout.grid == Grid("", (3,))


def test_a_replicated_axis_holds_copies_also_where_no_cell_is(hpf):
    # 9 cells on 8 processors: blocks of 2 leave three coordinates without a cell.
    unit = hpf.unit(
        hpf.template("t", 4, 9),
        hpf.array("a", 4),
        hpf.align("a", "i", "t", ("i", hpf.star)),
        hpf.distribute("t", "*", "block"),
    )
    assert resolve_mapping(unit, Overrides(procs=8), 1).arrays["a"].local_elements().tolist() == [4] * 8


def test_wrong_axes_are_refused(hpf):
    layout = one_dimension(hpf, 10, 4, "cyclic")
    with pytest.raises(ValueError, match=r"^a: the indices that a coordinate holds of CYCLIC are no interval$"):
        layout.held_interval(0)
    unit = hpf.unit(hpf.array("a", 10), hpf.array("b", 4), hpf.distribute("a", "block"))
    other = resolve_mapping(unit, Overrides(procs=4), 1).arrays["b"]
    with pytest.raises(ValueError, match=r"^b: no dimension is spread over axis 1 of the grid$"):
        other.held(0)


def test_a_million_processors(hpf):
    unit = hpf.unit(
        hpf.array("a", 8192, 8192),
        hpf.array("b", 8192, 8192),
        hpf.distribute("a", "block", ("cyclic", 3)),
        hpf.align("b", "i j", "a", (hpf.affine(-1, "i", 8193), "j")),
    )
    layouts = resolve_mapping(unit, Overrides(procs=2**20), 1)
    assert layouts.grid.shape == (1024, 1024)
    for name in "ab":
        assert int(layouts.arrays[name].bytes_held().sum()) == 8 * 8192**2
