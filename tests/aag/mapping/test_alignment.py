"""The forms of ALIGN; what is written on the left must lie where the element on the right lies."""

import pytest

from aag.diagnostics import SourceError
from aag.ir.expressions import Binary, IntLit, Unary, Var
from aag.mapping.resolve import Overrides, resolve_mapping
from tests.aag.mapping.owners import owners

# a(4:9) in t(0:15, 0:7), dealt over 4 x 2: cells 4k..4k+3 to coordinate k, cells 4k..4k+3 to k.
ROWS, COLUMNS = 4, 4


def ranks(layout, *index):
    return [rank for rank, holds in enumerate(owners(layout, [index])[0].tolist()) if holds]


def rank(row, column):
    return row // ROWS + 4 * (column // COLUMNS)


def layouts_of(hpf, dims, axes, subscripts, **constants):
    parts = [hpf.parameter(name, value) for name, value in constants.items()]
    unit = hpf.unit(
        *parts,
        hpf.template("t", (0, 15), (0, 7)),
        hpf.array("a", *dims),
        hpf.align("a", axes, "t", subscripts),
        hpf.distribute("t", "block", "block"),
    )
    return resolve_mapping(unit, Overrides(procs=8), 99)


def test_identity_with_offsets(hpf):
    layout = layouts_of(hpf, [8, 8], "i j", (hpf.affine(1, "i", 3), hpf.affine(1, "j", -1))).arrays["a"]
    assert ranks(layout, 6, 5) == [rank(9, 4)]


def test_transposed_and_reversed(hpf):
    layout = layouts_of(hpf, [8, 8], "i j", (Binary("-", IntLit(15), Var("j")), hpf.affine(1, "i", -1))).arrays["a"]
    assert ranks(layout, 6, 2) == [rank(13, 5)]


def test_unary_minus_and_a_constant_expression(hpf):
    subscript = Binary("+", Unary("-", Binary("*", Var("i"), Var("k"))), Binary("*", Var("k"), IntLit(7)))
    layout = layouts_of(hpf, [5], "i", (subscript, 2), k=2).arrays["a"]
    assert ranks(layout, 2) == [rank(10, 2)]


def test_a_dummy_hides_a_constant_of_the_same_name(hpf):
    layout = layouts_of(hpf, [5], "i", ("i", 0), i=3).arrays["a"]
    assert ranks(layout, 5) == [rank(5, 0)]


def test_collapsed_by_star_and_by_an_unused_dummy(hpf):
    for axes in ("* j", "i j"):
        layout = layouts_of(hpf, [20, (0, 7)], axes, (3, "j")).arrays["a"]
        assert ranks(layout, 20, 7) == [rank(3, 7)]
        assert layout.axis_of_dim(0) is None


def test_replicated_and_embedded(hpf):
    layout = layouts_of(hpf, [8], "i", ("i", hpf.star)).arrays["a"]
    assert ranks(layout, 5) == [rank(5, 0), rank(5, 7)]
    layout = layouts_of(hpf, [8], "i", ("i", 6)).arrays["a"]
    assert ranks(layout, 5) == [rank(5, 6)]


def test_a_colon_matches_from_the_lower_bounds(hpf):
    layouts = layouts_of(hpf, [(1, 16), (1, 8)], ": :", (hpf.colon, hpf.colon))
    assert ranks(layouts.arrays["a"], 1, 8) == [rank(0, 7)]
    assert layouts.notes == ()


def test_colons_and_stars_together(hpf):
    layout = layouts_of(hpf, [8, 3, (1, 16)], "j * :", (hpf.colon, hpf.affine(1, "j", -1))).arrays["a"]
    assert ranks(layout, 6, 2, 13) == [rank(12, 5)]


def test_no_lists_at_all(hpf):
    layout = layouts_of(hpf, [(1, 16), (1, 8)], None, None).arrays["a"]
    assert ranks(layout, 14, 6) == [rank(13, 5)]


def test_a_list_on_one_side_only(hpf):
    assert ranks(layouts_of(hpf, [(0, 15), (0, 7)], "i j", None).arrays["a"], 14, 6) == [rank(14, 6)]
    assert ranks(layouts_of(hpf, [(0, 15), 9, (0, 7)], "i * j", None).arrays["a"], 14, 9, 6) == [rank(14, 6)]
    assert ranks(layouts_of(hpf, [(0, 15)], None, (hpf.colon, 7)).arrays["a"], 14) == [rank(14, 7)]


@pytest.mark.parametrize(
    ("section", "index", "row"),
    [((3, 11, 2), 4, 9), ((11, 3, -2), 4, 5), ((None, None, 3), 4, 9), ((5, 9, None), 4, 8)],
)
def test_a_target_section(hpf, section, index, row):
    layout = layouts_of(hpf, [5 if section[0] else 6], ":", (hpf.triplet(*section), 0)).arrays["a"]
    assert ranks(layout, index) == [rank(row, 0)]


def test_a_section_of_another_length_is_noted(hpf):
    layouts = layouts_of(hpf, [5], ":", (hpf.triplet(3, 12), 0))
    assert [str(note) for note in layouts.notes] == [
        ("x.hpf:4: W304 ALIGN a: dimension 1 has 5 elements, its target in t has 10: matching them from the first on")
    ]


def test_chains_resolve_to_the_ultimate_target(hpf):
    unit = hpf.unit(
        hpf.array("c", 4),
        hpf.array("b", 8),
        hpf.array("a", 16, 16),
        hpf.align("c", "i", "b", (hpf.affine(2, "i", 0),)),
        hpf.align("b", "i", "a", (3, hpf.affine(-2, "i", 17))),
        hpf.distribute("a", "cyclic", "block"),
    )
    layout = resolve_mapping(unit, Overrides(procs=4), 99).arrays["c"]
    assert layout.template == "a"
    # c(3) is b(6) is a(3, 5): rows are dealt in turn (row 3 to coordinate 0), columns in blocks of 8.
    assert ranks(layout, 3) == [0]
    assert ranks(layout, 1) == [0 + 2 * 1]  # b(2), a(3, 13)


def test_a_long_chain(hpf):
    arrays = [hpf.array(f"a{k}", 4) for k in range(3000)]
    aligns = [hpf.align(f"a{k}", "i", f"a{k + 1}", ("i",)) for k in range(2999)]
    layouts = resolve_mapping(hpf.unit(*arrays, *aligns, hpf.distribute("a2999", "block")), Overrides(procs=2), 99)
    assert layouts.arrays["a0"].template == "a2999"
    assert layouts.arrays["a0"].local_elements().tolist() == [2, 2]


def test_an_array_without_elements_fits_anywhere(hpf):
    layout = layouts_of(hpf, [0], "i", (hpf.affine(1, "i", 100), 0)).arrays["a"]
    assert layout.local_elements().tolist() == [0] * 8


def test_large_numbers(hpf):
    huge = 2**50
    layout = layouts_of(hpf, [(3, 3)], "i", (hpf.affine(huge, "i", 5 - 3 * huge), 0)).arrays["a"]
    assert ranks(layout, 3) == [rank(5, 0)]
    layout = layouts_of(hpf, [0, 2], "i j", (hpf.affine(huge, "i", huge), huge)).arrays["a"]
    assert layout.local_elements().tolist() == [0] * 8
    assert not layout.is_distributed
    with pytest.raises(SourceError, match="it does not fit in an integer of 64 bits"):
        layouts_of(hpf, [(3, 3)], "i", (hpf.affine(10**30, "i", 5), 0))


def test_a_scalar_stays_replicated(hpf):
    unit = hpf.unit(
        hpf.scalar("s"), hpf.template("t", 8), hpf.align("s", None, "t", (3,)), hpf.distribute("t", "block")
    )
    layouts = resolve_mapping(unit, Overrides(procs=2), 99)
    assert [str(note) for note in layouts.notes if note.code != "W312"] == [
        "x.hpf:4: W305 s is not an array: every processor keeps a copy"
    ]
    assert dict(layouts.arrays) == {}
