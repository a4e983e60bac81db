"""What is wrong with directives and overrides: whole text and line, all problems in one run."""

import pytest

from aag.diagnostics import SourceError
from aag.ir.directives import Inherit, Sequence
from aag.ir.expressions import Binary, Call, Constructor, Element, IntLit, Var
from aag.ir.statements import Remap
from aag.mapping.resolve import Overrides, resolve_mapping

DIMS = {"t": (16, 16), "a": (16, 16), "v": (16,)}


def problems(hpf, *parts, body=(), **overrides):
    names = {"t": hpf.template("t", 16, 16), "a": hpf.array("a", 16, 16), "v": hpf.array("v", 16)}
    taken = {getattr(part, "name", "") for part in parts}
    usual = [part for name, part in names.items() if name not in taken]
    overrides = {"procs": 4, **overrides}
    with pytest.raises(SourceError) as error:
        resolve_mapping(hpf.unit(*usual, *parts, body=body), Overrides(**overrides), 99)
    return [str(each) for each in error.value.diagnostics]


def test_unknown_names(hpf):
    assert problems(
        hpf,
        hpf.align("aa", "i", "t", ("i", 1), line=4),
        hpf.align("v", "i", "tt", ("i", 1), line=5),
        hpf.distribute("temp", "block", line=6),
        hpf.distribute("t", "block", "*", onto="q", line=7),
        hpf.processors("p", 4),
        Inherit(span=hpf.at(8), names=("w",)),
        Sequence(span=hpf.at(9), names=("u", "/blk/")),
    ) == [
        "x.hpf:4: E301 there is no array or template aa (known: a, t, v)",
        "x.hpf:5: E301 there is no array or template tt (known: a, t, v)",
        "x.hpf:6: E301 there is no array or template temp (known: a, t, v)",
        "x.hpf:7: E301 there is no PROCESSORS arrangement q (known: p)",
        "x.hpf:8: E301 there is no array or template w (known: a, t, v)",
        "x.hpf:9: E301 there is no array or template u (known: a, t, v)",
    ]


def test_a_scalar_is_no_target(hpf):
    assert problems(hpf, hpf.scalar("n"), hpf.align("v", "i", "n", ("i",))) == [
        "x.hpf:4: E301 v is aligned with n, which is neither a template nor an array (known: a, t, v)"
    ]


def test_ranks_of_distribute(hpf):
    assert problems(
        hpf,
        hpf.processors("p", 4),
        hpf.processors("q", 2, 2),
        hpf.distribute("t", "block", line=5),
        hpf.distribute("v", "block", "*", line=6),
        hpf.distribute("a", "block", "*", onto="q", line=7),
    ) == [
        ("x.hpf:5: E302 DISTRIBUTE t has 1 format, but t has 2 dimensions (write one format for each dimension of t)"),
        ("x.hpf:6: E302 DISTRIBUTE v has 2 formats, but v has 1 dimension (write one format for each dimension of v)"),
        (
            "x.hpf:7: E302 DISTRIBUTE a distributes 1 of its dimensions, but q has 2 "
            "(each dimension that is not * needs one dimension of the processors)"
        ),
    ]


@pytest.mark.parametrize(
    ("axes", "subscripts", "text"),
    [
        ("i", ("i", 1), "names 1 dimension, but a has 2 (write one entry for each dimension of a)"),
        (
            "i j",
            ("i",),
            "gives 1 subscript for t, which has 2 dimensions (write one subscript for each dimension of t)",
        ),
        (
            ": *",
            None,
            (
                "matches 1 dimension of a with 2 dimensions of t "
                "(each : on the left matches one : or triplet on the right; * collapses or replicates)"
            ),
        ),
        ("i i", ("i", 1), "uses an index twice for a (give each dimension its own index)"),
    ],
)
def test_ranks_of_align(hpf, axes, subscripts, text):
    assert problems(hpf, hpf.align("a", axes, "t", subscripts)) == [f"x.hpf:4: E302 ALIGN a {text}"]


def test_declared_or_mapped_twice(hpf):
    assert problems(
        hpf,
        hpf.processors("p", 4, line=2),
        hpf.processors("p", 4, line=3),
        hpf.align("a", ": :", "t", None, line=4),
        hpf.align("a", ": :", "t", None, line=5),
        hpf.distribute("a", "block", "*", line=6),
        hpf.align("t", ": :", "a", None, line=7),
    ) == [
        "x.hpf:3: E303 p is declared twice (a template or processors arrangement needs a name of its own)",
        "x.hpf:5: E303 a is mapped twice, first in line 4 (align or distribute an array only once)",
        "x.hpf:6: E303 a is mapped twice, first in line 4 (align or distribute an array only once)",
        "x.hpf:7: E303 t is a template and cannot be aligned (align arrays with it)",
    ]


def test_what_is_declared_twice_is_no_unknown_target_besides(hpf):
    """A scalar and a template of one name."""
    told = problems(hpf, hpf.scalar("s"), hpf.template("s", 16, line=3), hpf.align("v", "i", "s", ("i", 1), line=4))
    assert told == ["x.hpf:3: E303 s is declared twice (a template or processors arrangement needs a name of its own)"]


def test_cycles(hpf):
    way_out = "(distribute one of them, or align it with a template)"
    assert problems(
        hpf,
        hpf.array("b", 16),
        hpf.array("c", 16),
        hpf.array("d", 16),
        hpf.align("d", ":", "b", None, line=4),
        hpf.align("b", ":", "c", None, line=5),
        hpf.align("c", ":", "v", None, line=6),
        hpf.align("v", ":", "b", None, line=7),
        hpf.align("a", ": :", "a", None, line=8),
    ) == [
        f"x.hpf:5: E304 these alignments form a cycle: b -> c -> v -> b {way_out}",
        "x.hpf:8: E304 a is aligned with itself (align it with another array)",
    ]


def test_outside_of_the_target(hpf):
    assert problems(
        hpf,
        hpf.align("v", "i", "t", (hpf.affine(1, "i", 1), 1), line=4),
        hpf.align("a", "i *", "t", (hpf.affine(-1, "i", 17), 0), line=5),
    ) == [
        (
            "x.hpf:4: E305 ALIGN puts elements of index 16 in dimension 1 of v at subscript 1 = 17 of t, "
            "which goes from 1 to 16 (enlarge t or change the subscript)"
        ),
        (
            "x.hpf:5: E305 ALIGN puts elements of a at subscript 2 = 0 of t, which goes from 1 to 16 "
            "(enlarge t or change the subscript)"
        ),
    ]


@pytest.mark.parametrize(
    ("subscripts", "text"),
    [
        ((Binary("+", Var("i"), Var("j")), 1), ", subscript 1: it mixes the indices i and j"),
        ((1, Binary("*", Var("i"), Var("i"))), ", subscript 2: it multiplies indices"),
        ((Binary("/", Var("i"), IntLit(2)), 1), ", subscript 1: it is not affine in i"),
        ((Call("mod", (Var("j"), IntLit(2))), "i"), ", subscript 1: it is not affine in j"),
    ],
)
def test_subscripts_that_are_not_affine(hpf, subscripts, text):
    assert problems(hpf, hpf.align("a", "i j", "t", subscripts)) == [
        (
            f"x.hpf:4: E306 ALIGN a WITH t{text} "
            "(write a*i + b with one index i and constants a and b, a constant, a triplet or *)"
        )
    ]


def test_a_triplet_without_stride_and_an_index_twice(hpf):
    assert problems(
        hpf,
        hpf.align("v", ":", "t", (hpf.triplet(1, 16, 0), 1), line=4),
        hpf.align("a", "i *", "t", ("i", "i"), line=5),
    ) == [
        (
            "x.hpf:4: E306 ALIGN v WITH t, subscript 1: the stride of the triplet is zero "
            "(write a*i + b with one index i and constants a and b, a constant, a triplet or *)"
        ),
        "x.hpf:5: E306 ALIGN a uses an index in two subscripts of t (use each index in one subscript only)",
    ]


def test_sizes_of_blocks(hpf):
    size = IntLit(3, span=hpf.at(5, 22))
    assert problems(
        hpf,
        hpf.distribute("t", ("block", size), "*", line=5),
        hpf.distribute("a", ("cyclic", 0), ("block", -1), line=6),
    ) == [
        (
            "x.hpf:5:22: E307 DISTRIBUTE t, dimension 1: BLOCK(3) on 4 processors holds 12 of 16 indices "
            "(write BLOCK or BLOCK(4), or distribute the dimension over 6 processors)"
        ),
        "x.hpf:6: E308 DISTRIBUTE a, dimension 1: the size in CYCLIC(0) must be positive (write CYCLIC(1) or CYCLIC)",
        "x.hpf:6: E308 DISTRIBUTE a, dimension 2: the size in BLOCK(-1) must be positive (write BLOCK(8) or BLOCK)",
    ]


@pytest.mark.parametrize("procs", [0, -3, 2**20 + 1])
def test_a_number_of_processors_out_of_range(hpf, procs):
    assert problems(hpf, procs=procs) == [f"E309 ‹procs {procs}› must be between 1 and 1048576 (for example ‹procs 8›)"]


def test_extents_that_are_not_positive(hpf):
    assert problems(hpf, hpf.processors("p", 2, 0), grid=(2, 0)) == [
        "E309 ‹grid 2x0›: each extent must be at least 1 (for example ‹grid 4x2›)",
        (
            "x.hpf:2: E309 PROCESSORS p has the shape 2x0: each extent must be at least 1 "
            "(an arrangement has at least one processor)"
        ),
    ]


def test_too_many_processors_in_the_source(hpf):
    assert problems(hpf, hpf.processors("p", 2**21), procs=None) == [
        ("x.hpf:2: E309 PROCESSORS p has 2097152 processors: must be between 1 and 1048576 (for example ‹procs 8›)")
    ]


def test_grids_that_do_not_multiply_up(hpf):
    half = Binary("/", hpf.number, IntLit(2))
    assert problems(hpf, hpf.processors("p", half, 2), procs=7) == [
        (
            "x.hpf:2: E310 PROCESSORS p is 3x2 = 6 processors, but there are 7 "
            "(choose a ‹procs› that matches, or ‹grid 7x1›)"
        )
    ]
    assert problems(hpf, procs=8, grid=(3, 2)) == [
        "E310 ‹grid 3x2› has 6 processors, but there are 8 (for example ‹grid 4x2›)"
    ]


def test_a_grid_of_a_rank_that_nothing_has(hpf):
    parts = [hpf.distribute("t", "block", "*"), hpf.processors("p", 2, 2, 1)]
    assert problems(hpf, *parts, grid=(2, 2)) == [
        (
            "E311 ‹grid 2x2› has 2 dimensions, but the grids of the program have 1 "
            "(give one extent for each distributed dimension)"
        )
    ]


def test_values_that_are_not_known(hpf):
    assert problems(
        hpf,
        hpf.template("t", "n", "n", line=3),
        hpf.array("b", "m", line=4),
        hpf.array("c", None, line=5),
        hpf.distribute("c", "block", line=6),
        hpf.distribute("a", ("cyclic", "k"), "*", line=7),
        hpf.align("v", "i", "a", (hpf.affine(1, "i", "k"), 1), line=8),
    ) == [
        "x.hpf:3: E312 TEMPLATE t: the value of n is not known (give it with ‹set n=VALUE›)",
        "x.hpf:4: E312 the shape of B: the value of m is not known (give it with ‹set m=VALUE›)",
        "x.hpf:5: E312 the shape of C is not known here (declare it with its extents)",
        "x.hpf:7: E312 DISTRIBUTE a, dimension 1: the value of k is not known (give it with ‹set k=VALUE›)",
        "x.hpf:8: E306 ALIGN v WITH a, subscript 1: k is no index of v, and not declared (its index is i)",
    ]


def test_sequential_arrays_are_not_mapped(hpf):
    assert problems(
        hpf,
        Sequence(span=hpf.at(3), names=()),
        Sequence(span=hpf.at(4), names=("a",), sequential=False),
        hpf.distribute("a", "block", "*", line=5),
        hpf.distribute("v", "block", line=6),
    ) == ["x.hpf:6: E313 v is sequential (SEQUENCE) and cannot be mapped (remove one of the two)"]


def test_sizes_beyond_all_memories(hpf):
    way_out = "(indices and extents go up to 2**31)"
    assert problems(
        hpf,
        hpf.array("b", 10**15, line=3),
        hpf.array("c", 2**30, 2**30, line=4),
        hpf.template("w", (-(2**32), 0), line=5),
        hpf.distribute("v", ("cyclic", 2**32), line=6),
    ) == [
        f"x.hpf:3: E317 the shape of B is too large {way_out}",
        f"x.hpf:4: E317 the shape of C is too large {way_out}",
        f"x.hpf:5: E317 TEMPLATE w is too large {way_out}",
        ("x.hpf:6: E308 DISTRIBUTE v, dimension 1: CYCLIC(4294967296) is too large (the largest size is 2**31)"),
    ]


def test_formats_that_are_not_supported(hpf):
    known = "BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), GEN_BLOCK(sizes) or *"
    assert problems(hpf, hpf.distribute("t", ("gen_block", "v"), ("indirect", "v"))) == [
        f"x.hpf:5: E314 DISTRIBUTE t: INDIRECT is not supported (use {known})"
    ]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ("v", "E314 {}: the sizes of GEN_BLOCK are not constant (give GEN_BLOCK a PARAMETER array, such as {})"),
        ((9,), "E308 {}: GEN_BLOCK has 1 size for 4 processors (give one size for each processor of the dimension)"),
        ((9, -1, 9, 9), "E308 {}: -1 cannot be the size of a block (sizes are from 0 to 2**31)"),
        (
            (1, 2, 3, 0),
            "E307 {}: the sizes of GEN_BLOCK hold 6 of 10 indices (make their sum at least the extent of {})",
        ),
    ],
)
def test_sizes_of_gen_block(hpf, sizes, said):
    size = sizes if isinstance(sizes, str) else Constructor(tuple(IntLit(each) for each in sizes))
    unit = hpf.unit(hpf.array("a", 10), hpf.distribute("a", ("gen_block", size)))
    with pytest.raises(SourceError) as caught:
        resolve_mapping(unit, Overrides(procs=4), 99)
    parts = said.split("{}")
    text = str(caught.value)
    assert all(part in text for part in parts)


def test_distribute_options(hpf):
    assert problems(
        hpf,
        hpf.align("a", ": :", "t", None),
        distribute={"T": "(BLOK,*)", "A": "(*,*)", "vv": "block", "v": "(block", "V": "(*,*)"},
    ) == [
        (
            "E315 ‹distribute T=(BLOK,*)›: 'blok' is none of BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), "
            "GEN_BLOCK((/ sizes /)) and * (for example ‹distribute 't=(BLOCK,*)'›)"
        ),
        "E303 ‹distribute A=(*,*)›: A is aligned with t (distribute t instead)",
        "E301 ‹distribute vv=block›: there is no array or template vv (known: a, t, v)",
        ("E302 ‹distribute› v has 2 formats, but v has 1 dimension (write one format for each dimension of v)"),
    ]
    assert problems(hpf, distribute={"v": "(block"}) == [
        ("E315 ‹distribute v=(block›: the closing parenthesis is missing (for example ‹distribute 'v=(BLOCK,*)'›)")
    ]


def test_set_options(hpf):
    assert problems(hpf, hpf.parameter("size", 8, line=2), hpf.scalar("steps"), values={"SIZ": 3, "size": "many"}) == [
        "E301 ‹set SIZ›: program x has no such name (did you mean size?)",
        ("x.hpf:2: E316 ‹set size=many›: SIZE cannot have this value, it is integer (give SIZE a value of its type)"),
    ]


def test_remappings_are_checked_in_the_same_run(hpf):
    body = [
        Remap(span=hpf.at(20), directive=hpf.align("a", "i", "t", ("i", 1), line=20)),
        Remap(span=hpf.at(21), directive=hpf.distribute("w", "block", line=21)),
        Remap(span=hpf.at(22), directive=hpf.distribute("v", "block", "*", line=22)),
    ]
    assert problems(hpf, body=body) == [
        "x.hpf:20: E302 ALIGN a names 1 dimension, but a has 2 (write one entry for each dimension of a)",
        "x.hpf:21: E301 there is no array or template w (known: a, t, v)",
        ("x.hpf:22: E302 DISTRIBUTE v has 2 formats, but v has 1 dimension (write one format for each dimension of v)"),
    ]


def test_an_array_element_is_no_constant(hpf):
    assert problems(hpf, hpf.align("v", "i", "t", ("i", Element("v", (IntLit(1),))))) == [
        (
            "x.hpf:4: E312 ALIGN v WITH t, subscript 2: the value of v is not known: "
            "array elements are not evaluated here"
        )
    ]


def test_a_grid_of_the_rank_of_an_arrangement_that_the_formats_do_not_use(hpf):
    """PROCESSORS has one dimension, and what the user distributes has two: the grid means neither."""
    parts = [hpf.processors("p", 4), hpf.distribute("t", "*", "block", onto="p")]
    assert problems(hpf, *parts, procs=8, grid=(8,), distribute={"t": "(block,block)"}) == [
        (
            "E311 ‹grid 8› has 1 dimension, but the grids of the program have 2 "
            "(give one extent for each distributed dimension)"
        )
    ]


def test_a_grid_that_fits_some_distributions_only_says_so(hpf):
    """Def 13: eight processors in two dimensions are 4x2; one dimension leaves no choice to announce."""
    parts = [hpf.array("a", 16, 16), hpf.array("v", 16)]
    parts += [hpf.distribute("a", "block", "block", line=3), hpf.distribute("v", "block", line=4)]
    found = resolve_mapping(hpf.unit(*parts), Overrides(procs=8, grid=(8,)), 99)
    assert [str(note) for note in found.notes] == [
        "x.hpf:3: W301 using grid 4x2 for a: ‹grid 8› has 1 dimension (write PROCESSORS for each number of dimensions)"
    ]
    assert found.arrays["a"].grid.shape == (4, 2)
    assert resolve_mapping(hpf.unit(*parts), Overrides(procs=8, grid=(2, 4)), 99).notes == ()
