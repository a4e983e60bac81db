"""The number of processors and their arrangement (Def 12, Def 13)."""

import pytest

from aag.ir.expressions import Binary, IntLit
from aag.mapping.grid import Grid
from aag.mapping.resolve import Overrides, resolve_mapping


def notes(layouts):
    return [str(note) for note in layouts.notes]


def two_dimensions(hpf, *shape, onto="p"):
    return hpf.unit(
        hpf.parameter("n", 16),
        hpf.parameter("m", 2),
        hpf.processors("p", *shape),
        hpf.array("a", "n", "n"),
        hpf.distribute("a", "block", "block", onto=onto),
    )


def test_the_source_decides_without_procs(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, 2, 3), Overrides(), 99)
    assert (layouts.procs, layouts.grid, layouts.notes) == (6, Grid("p", (2, 3)), ())


def test_a_shape_that_agrees_is_kept(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, 2, 3), Overrides(procs=6), 99)
    assert (layouts.grid, layouts.notes) == (Grid("p", (2, 3)), ())


def test_a_constant_shape_that_disagrees_keeps_its_rank(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, 2, 3), Overrides(procs=8), 99)
    assert layouts.grid == Grid("p", (4, 2))
    assert notes(layouts) == [("x.hpf:2: W301 using grid 4x2 instead of P(2,3) (choose another with ‹grid›)")]


def test_grid_decides_otherwise_and_needs_no_note(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, 2, 3), Overrides(procs=8, grid=(2, 4)), 99)
    assert (layouts.grid, layouts.notes) == (Grid("p", (2, 4)), ())


def test_grid_alone_is_also_the_number(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, 2, 3), Overrides(grid=(5, 2)), 99)
    assert (layouts.procs, layouts.grid) == (10, Grid("p", (5, 2)))


def test_a_parameter_shape_follows_set(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, "m", "m"), Overrides(values={"M": 3}), 99)
    assert (layouts.procs, layouts.grid) == (9, Grid("p", (3, 3)))
    assert dict(layouts.constants) == {"n": 16, "m": 3}


def test_number_of_processors_is_procs(hpf):
    half = Binary("/", hpf.number, IntLit(2))
    layouts = resolve_mapping(two_dimensions(hpf, half, 2), Overrides(procs=10), 99)
    assert (layouts.grid, layouts.notes) == (Grid("p", (5, 2)), ())


def test_number_of_processors_defaults_to_the_machine(hpf):
    unit = hpf.unit(hpf.processors("p", hpf.number), hpf.array("a", 9), hpf.distribute("a", "cyclic", onto="p"))
    layouts = resolve_mapping(unit, Overrides(), 8)
    assert (layouts.procs, layouts.grid) == (8, Grid("p", (8,)))
    assert notes(layouts) == [("x.hpf:2: W302 no processor count given: using the machine's 8 (set it with ‹procs›)")]


def test_a_number_from_another_arrangement(hpf):
    unit = hpf.unit(
        hpf.processors("q", hpf.number),
        hpf.processors("p", 2, 2),
        hpf.array("a", 9),
        hpf.distribute("a", "block", onto="q"),
    )
    layouts = resolve_mapping(unit, Overrides(), 99)
    assert (layouts.procs, layouts.grid, layouts.notes) == (4, Grid("q", (4,)), ())


def test_all_arrangements_have_the_same_processors(hpf):
    unit = hpf.unit(
        hpf.processors("p", 4),
        hpf.processors("q", 2, 3),
        hpf.array("a", 9),
        hpf.array("b", 9, 9),
        hpf.distribute("b", "block", "block", onto="q", line=6),
        hpf.distribute("a", "block", onto="p", line=7),
    )
    layouts = resolve_mapping(unit, Overrides(), 99)
    assert layouts.procs == 4
    assert layouts.arrays["b"].grid == Grid("q", (2, 2))
    assert layouts.arrays["a"].grid == Grid("p", (4,))
    assert layouts.grid == Grid("q", (2, 2))  # that of the first DISTRIBUTE
    assert [note.code for note in layouts.notes] == ["W301"]


def test_without_onto_the_grid_is_ours(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, 2, 6, onto=None), Overrides(), 99)
    assert (layouts.procs, layouts.grid) == (12, Grid("", (4, 3)))


def test_lower_bounds_of_an_arrangement(hpf):
    unit = hpf.unit(hpf.processors("p", (0, 3)), hpf.array("a", 9), hpf.distribute("a", "block", onto="p"))
    assert resolve_mapping(unit, Overrides(), 99).grid == Grid("p", (4,))


def test_an_unknown_shape_is_factored_where_the_number_is_known(hpf):
    layouts = resolve_mapping(two_dimensions(hpf, "np", 2), Overrides(procs=8), 99)
    assert layouts.grid == Grid("p", (4, 2))
    assert notes(layouts) == [
        ("x.hpf:2: W301 using grid 4x2 for P: the value of np is not known (give it with ‹set np=VALUE›)")
    ]


def test_a_scalar_arrangement_gives_everyone_a_copy(hpf):
    unit = hpf.unit(hpf.processors("q"), hpf.array("a", 9), hpf.distribute("a", "*", onto="q"))
    layouts = resolve_mapping(unit, Overrides(procs=4), 99)
    assert layouts.arrays["a"].local_elements().tolist() == [9, 9, 9, 9]
    assert notes(layouts) == [
        "x.hpf:5: W306 a is distributed onto the scalar arrangement q: every processor has a copy",
        "x.hpf:1: W311 no array is distributed: each processor does all the work (write DISTRIBUTE for A)",
    ]


@pytest.mark.parametrize(
    ("extents", "named"),
    [
        ({"b": 8}, ["no directive maps B: every processor holds and computes all of it"]),
        ({"b": 7}, []),
        ({"b": 9, "c": 8, "d": 2}, ["no directive maps B or C: every processor holds and computes all of them"]),
    ],
)
def test_large_arrays_without_a_directive(hpf, extents, named):
    others = [hpf.array(name, extent) for name, extent in extents.items()]
    unit = hpf.unit(hpf.array("a", 8), *others, hpf.distribute("a", "block"))
    found = [each for each in resolve_mapping(unit, Overrides(procs=4), 99).notes if each.code == "W313"]
    assert [each.message for each in found] == named


def test_no_directives_at_all(hpf):
    layouts = resolve_mapping(hpf.unit(hpf.array("a", 9)), Overrides(procs=3), 99)
    assert layouts.grid == Grid("", (3,))
    assert [each.code for each in layouts.notes] == ["W311"]
    assert layouts.arrays["a"].local_elements().tolist() == [9, 9, 9]


@pytest.mark.parametrize(
    ("option", "grid", "held"),
    [
        ("(*,BLOCK)", (4,), [36] * 4),
        ("block, *", (4,), [36] * 4),
        ("(BLOCK(7),CYCLIC(3))", (2, 2), [42, 30, 42, 30]),
        ("(cyclic(m),*)", (4,), [48, 48, 24, 24]),  # rows 1 2 9 10 | 3 4 11 12 | 5 6 | 7 8
        ("(*,*)", (4,), [144] * 4),
    ],
)
def test_distribute_replaces_the_formats(hpf, option, grid, held):
    unit = hpf.unit(
        hpf.parameter("m", 2),
        hpf.processors("p", 4),
        hpf.template("t", 12, 12),
        hpf.array("a", 12, 12),
        hpf.align("a", "i j", "t", ("i", "j")),
        hpf.distribute("t", "block", "*", onto="p"),
    )
    layouts = resolve_mapping(unit, Overrides(distribute={"T": option}), 99)
    assert layouts.grid.shape == grid
    assert layouts.arrays["a"].local_elements().tolist() == held


def test_distribute_an_array_that_has_no_directive(hpf):
    unit = hpf.unit(hpf.array("a", 8), hpf.array("b", 8))
    layouts = resolve_mapping(unit, Overrides(procs=4, distribute={"b": "cyclic"}), 99)
    assert layouts.arrays["b"].local_elements().tolist() == [2, 2, 2, 2]
    assert layouts.arrays["b"].span == hpf.at(1)
    assert not layouts.arrays["a"].is_distributed


def test_no_formats_are_blocks(hpf):
    unit = hpf.unit(hpf.processors("p", 4), hpf.array("a", 8, 8), hpf.distribute("a", onto="p"))
    layouts = resolve_mapping(unit, Overrides(), 99)
    assert layouts.arrays["a"].axis_of_dim(0) is None
    assert layouts.arrays["a"].axis_of_dim(1) == 0
    assert notes(layouts) == [
        (
            "x.hpf:5: W303 DISTRIBUTE a has no formats: using BLOCK for the last 1 of 2 dimensions "
            "(choose others with ‹distribute 'a=(...)'›)"
        )
    ]
