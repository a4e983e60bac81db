from aag.mapping.describe import describe_layouts, layout_rows
from aag.mapping.resolve import Overrides, resolve_mapping


def test_a_program_with_all_kinds_of_axes(hpf):
    unit = hpf.unit(
        hpf.processors("p", 2, 2),
        hpf.template("t", (0, 17), 16),
        hpf.array("a", 16, 16),
        hpf.array("b", 5, 3),
        hpf.array("c", 16),
        hpf.array("d", (0, 9), of=hpf.integer),
        hpf.array("e", 16),
        hpf.align("a", "i j", "t", ("i", "j")),
        hpf.align("b", "i *", "t", (3, hpf.affine(-3, "i", 16))),
        hpf.align("c", "i", "t", (hpf.affine(1, "i", 1), hpf.star)),
        hpf.align("e", "i", "c", ("i",)),
        hpf.distribute("t", "block", ("cyclic", 3), onto="p"),
    )
    layouts = resolve_mapping(unit, Overrides(procs=6), 1)
    # Rows 0..17 on three processors in blocks of 6; columns in turn by 3: 1-3 7-9 13-15 | 4-6 10-12 16.
    assert describe_layouts(layouts) == (
        """\
6 processors, grid p 3x2

array  bounds  dimensions                         grid             template  elements     bytes
a      16, 16  BLOCK(6) over 1, CYCLIC(3) over 2  p 3x2            t           35..54  280..432
b      5, 3    CYCLIC(3) of -3*i+16 over 2, *     p 3x2, 0 of 1    t             0..9     0..72
c      16      BLOCK(6) of i+1 over 1             p 3x2, all of 2  t             4..6    32..48
d      0:9     *                                  every processor  -               10        40
e      16      BLOCK(6) of i+1 over 1             p 3x2, all of 2  t             4..6    32..48

"""
        "x.hpf:2: W301 using grid 3x2 instead of P(2,2) "
        "(choose another with ‹grid›)\n"
    )


def test_one_processor_and_no_arrays(hpf):
    layouts = resolve_mapping(hpf.unit(), Overrides(procs=1), 1)
    assert layout_rows(layouts) == ()
    assert describe_layouts(layouts) == "1 processor, grid 1\n\nno arrays\n"
