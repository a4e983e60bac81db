"""Which names share storage; by hand, with the examples of the Fortran 90 standard (5.5.1, 5.5.2) in mind."""

import pytest

from aag.ir.storage import sharing, storage_of
from aag.pipeline import read_program

CASES = {
    "nothing is shared": ("real a, b(3)\ncommon /c/ a, b", []),
    "two scalars": ("integer k, m, n\nequivalence (k, m)", ["k m"]),
    "a chain of sets": ("real a(9), b(9), c, d\nequivalence (a(5), b), (b(9), c)", ["a b c"]),
    "declared after the set": ("equivalence (a(1, 1), v)\nreal v(4), a(2, 2), z", ["a v"]),
    "three in a set": ("equivalence (x, y, i)", ["i x y"]),
    "a block that a set extends": ("real v(9)\ncommon /c/ a, b\ncommon /d/ e, f\nequivalence (v, a)", ["a b v"]),
    "two blocks apart": ("common /c/ a, b\ncommon /d/ e, f\nequivalence (a, x), (e, y)", ["a b x", "e f y"]),
    "text": ("character(8) s, t\ncharacter u\nequivalence (s(2:3), t)", ["s t"]),
}


def read(declarations):
    return read_program(f"program p\n{declarations}\nend program p\n", "p.f90").main


@pytest.mark.parametrize("case", CASES)
def test_objects(case):
    declarations, objects = CASES[case]
    unit = read(declarations)
    together = {}
    for name, canonical in storage_of(unit).items():
        assert storage_of(unit)[canonical] == canonical
        together.setdefault(canonical, []).append(name)
    assert sorted(" ".join(sorted(names)) for names in together.values() if len(names) > 1) == objects
    assert set(storage_of(unit)) == {entity.name for entity in unit.entities}
    assert {" ".join(sorted(names)) for names in sharing(unit).values()} == set(objects)


def test_canonical_name_is_the_first_declared():
    assert storage_of(read("real z, y, x\nequivalence (x, z), (y, x)")) == {"z": "z", "y": "z", "x": "z"}
