"""Units other than a plain main program: dummies, hosts and modules, allocatable arrays, remapping."""

import pytest
from msgspec.structs import replace

from aag.diagnostics import SourceError
from aag.ir.directives import Inherit, Sequence
from aag.ir.evaluate import evaluate
from aag.ir.expressions import Binary, Element, IntLit, Var
from aag.ir.statements import Allocate, Branch, If, Remap
from aag.ir.units import Common, Program
from aag.mapping.grid import Grid
from aag.mapping.resolve import Overrides, resolve_mapping
from aag.mapping.scope import visible_to
from aag.pipeline import map_arrays, read_program


def test_dummies_are_prescriptive_and_take_their_extents(hpf):
    unit = hpf.unit(hpf.array("d", 10, line=3), hpf.distribute("d", "block", mode="descriptive"), kind="subroutine")
    layouts = resolve_mapping(unit, Overrides(procs=4), 99)
    assert layouts.arrays["d"].local_elements().tolist() == [3, 3, 3, 1]
    assert dict(layouts.constants) == {}


def test_inherited_mappings_are_noted(hpf):
    unit = hpf.unit(
        hpf.array("d", 8, line=3),
        hpf.array("e", 8, line=3),
        hpf.distribute("d", line=4, mode="transcriptive"),
        Inherit(span=hpf.at(5), names=("e",)),
        kind="subroutine",
    )
    layouts = resolve_mapping(unit, Overrides(procs=4), 99)
    assert not any(layout.is_distributed for layout in layouts.arrays.values())
    assert [str(note) for note in layouts.notes] == [
        f"x.hpf:{line}: W307 {name} inherits the mapping of its actual argument, which is unknown: "
        "assuming it is replicated"
        for line, name in ((4, "d"), (5, "e"))
    ]


def test_assumed_shapes_that_nothing_maps_are_left_out(hpf):
    unit = hpf.unit(hpf.array("d", None, line=3), hpf.array("e", 8), kind="subroutine")
    layouts = resolve_mapping(unit, Overrides(procs=4), 99)
    assert list(layouts.arrays) == ["e"]
    assert [str(note) for note in layouts.notes] == ["x.hpf:3: W308 the shape of D is not known here: it is left out"]


def test_a_host_or_module_is_visible(hpf):
    module = hpf.unit(
        hpf.parameter("n", 12),
        hpf.processors("p", 3),
        hpf.template("t", "n"),
        hpf.array("a", "n"),
        hpf.align("a", ":", "t", None),
        hpf.distribute("t", "block", onto="p"),
        kind="module",
    )
    unit = hpf.unit(hpf.array("b", 6), hpf.align("b", "i", "a", (hpf.affine(2, "i", 0),)))
    layouts = resolve_mapping(unit, Overrides(values={"n": 18}), 99, visible=(module,))
    assert layouts.grid == Grid("p", (3,))
    assert layouts.arrays["a"].extents == (18,)
    assert layouts.arrays["b"].template == "t"
    assert layouts.arrays["b"].local_elements().tolist() == [3, 3, 0]


def test_own_names_hide_those_of_the_host(hpf):
    host = hpf.unit(
        hpf.parameter("n", 12),
        hpf.array("a", "n"),
        hpf.array("c", "n"),
        hpf.distribute("a", "block"),
        hpf.distribute("c", "block"),
    )
    unit = hpf.unit(hpf.parameter("n", 8), hpf.array("a", "n"))
    layouts = resolve_mapping(unit, Overrides(procs=4), 99, visible=(host,))
    assert layouts.arrays["a"].extents == (8,)
    assert not layouts.arrays["a"].is_distributed
    assert layouts.arrays["c"].is_distributed


def test_allocate_gives_the_shape(hpf):
    allocate = Allocate(span=hpf.at(9), items=(Element("a", (Var("n"), hpf.triplet(0, 7))),))
    condition = If(span=hpf.at(8), branches=(Branch(condition=None, body=(allocate,), span=hpf.at(8)),))
    unit = hpf.unit(
        hpf.parameter("n", 6),
        hpf.array("a", None, None, attributes=("allocatable",)),
        hpf.distribute("a", "*", "cyclic"),
        body=[condition],
    )
    layout = resolve_mapping(unit, Overrides(procs=3), 99).arrays["a"]
    assert layout.bounds == ((1, 6), (0, 7))
    assert layout.local_elements().tolist() == [18, 18, 12]


def test_number_of_processors_in_shapes_and_sizes(hpf):
    unit = hpf.unit(hpf.array("a", hpf.number), hpf.distribute("a", ("cyclic", hpf.number)))
    layouts = resolve_mapping(unit, Overrides(procs=5), 99)
    assert layouts.arrays["a"].local_elements().tolist() == [5, 0, 0, 0, 0]


def test_remapping_what_is_not_dynamic_is_noted(hpf):
    directive = hpf.distribute("a", "cyclic", line=20)
    unit = hpf.unit(hpf.array("a", 8), hpf.distribute("a", "block"), body=[Remap(span=hpf.at(20), directive=directive)])
    layouts = resolve_mapping(unit, Overrides(procs=4), 99)
    assert [str(note) for note in layouts.notes] == [
        (
            "x.hpf:20: W309 a is remapped but not declared DYNAMIC"
            " (HPF requires !HPF$ DYNAMIC for what a directive remaps)"
        )
    ]


def test_sequence_names_a_common_block(hpf):
    unit = replace(
        hpf.unit(
            hpf.array("a", 8),
            hpf.array("b", 8),
            Sequence(span=hpf.at(3), names=("/store/",)),
            hpf.distribute("a", "block", line=4),
            hpf.distribute("b", "block", line=5),
        ),
        commons=(Common(block="store", names=("a",)),),
    )
    with pytest.raises(SourceError) as error:
        resolve_mapping(unit, Overrides(procs=4), 99)
    assert str(error.value) == ("x.hpf:4: E313 a is sequential (SEQUENCE) and cannot be mapped (remove one of the two)")


def test_results_are_immutable(hpf):
    layouts = resolve_mapping(hpf.unit(hpf.parameter("n", 3), hpf.array("a", 8)), Overrides(procs=4), 99)
    with pytest.raises(TypeError):
        layouts.arrays["b"] = layouts.arrays["a"]
    with pytest.raises(TypeError):
        layouts.constants["n"] = IntLit(4)


def test_a_unit_sees_its_host_and_all_modules_behind_it(hpf):
    base = hpf.unit(hpf.parameter("n", 6), kind="module", name="base")
    data = replace(hpf.unit(hpf.array("a", "n"), kind="module", name="data"), uses=("base",))
    other = hpf.unit(kind="module", name="other")
    inner = replace(hpf.unit(kind="subroutine", name="inner"), uses=("other", "base", "iso_c_binding"))
    main = replace(hpf.unit(name="main"), uses=("data",), contains=(inner,))
    program = Program(file="x", lines=(), units=(other, data, base, main), diagnostics=(), complete=True)
    assert visible_to(main, program) == (base, data)
    assert visible_to(inner, program) == (base, data, main, other)
    assert visible_to(data, program) == (base,)
    layouts = resolve_mapping(inner, Overrides(procs=2), 99, visible=visible_to(inner, program))
    assert layouts.arrays["a"].extents == (6,)


def test_set_may_name_what_the_host_declares(hpf):
    host = hpf.unit(hpf.parameter("steps", 2))
    unit = hpf.unit(hpf.array("a", "steps"))
    layouts = resolve_mapping(unit, Overrides(procs=2, values={"Steps": 3}), 99, visible=(host,))
    assert layouts.arrays["a"].extents == (3,)
    with pytest.raises(SourceError, match="‹set limit›: program x has no such name"):
        resolve_mapping(unit, Overrides(procs=2, values={"limit": 4}), 99, visible=(host,))


def test_the_environment_knows_the_number_of_processors(hpf):
    layouts = resolve_mapping(hpf.unit(hpf.parameter("n", 3)), Overrides(procs=4), 99)
    total = Binary("*", Var("n"), hpf.number)
    assert evaluate(total, layouts.environment) == 12


def test_an_undeclared_size_is_reported_once():
    text = "program p\nimplicit none\nreal :: a(k)\n!HPF$ DISTRIBUTE a(BLOCK)\na = 1\nend\n"
    with pytest.raises(SourceError) as caught:
        map_arrays(read_program(text, "p.f90", defer=True), Overrides(), 4)
    assert [str(each) for each in caught.value.diagnostics] == ["p.f90:3:11: E130 k is not declared (declare k)"]
