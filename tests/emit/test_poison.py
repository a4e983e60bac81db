"""A communication that is missing is a wrong answer: removed on purpose, one at a time, it shows."""

import re

import pytest
from msgspec.structs import replace

from aag.spmd.emit import emit
from esp.validate.answer import difference
from esp.validate.native import run
from esp.validate.serial import with_values
from tests.emit.native import lowered
from tests.emit.test_benchmarks import source, values

# redblack: each half of a sweep must fetch anew; gauss: the multipliers; lfk01: what is hoisted out of the loop.
REMOVED = [("laplace", 1), ("redblack", 2), ("redblack", 4), ("gauss", 1), ("lfk01", 1)]


@pytest.mark.parametrize(("name", "number"), REMOVED)
def test_missing_communication_shows(name, number, native):
    program, given = source(name), values(name, 12)
    text = with_values("\n".join(program.lines) + "\n", {key: str(value) for key, value in given.items()})
    whole = emit(lowered(program, 4, given), poisons=True)
    moves = rf"call esp_(move|fetch)_r8\(plan_{number}, [^)]*\)"
    main, removed = re.subn(moves, "continue", whole.files[f"{name}.f90"])
    assert removed == 1
    answers = [
        run(native.build(replace(whole, files={**whole.files, f"{name}.f90": each})), 4)[0]
        for each in (whole.files[f"{name}.f90"], main)
    ]
    expected = native.expected(text)
    assert difference(expected, answers[0]) == ""
    assert difference(expected, answers[1])
    assert "NaN" in answers[1]


def test_only_on_request():
    whole = lowered(source("laplace"), 4, values("laplace", 12))
    assert "poison" not in emit(whole).files["laplace.f90"]
    assert "poison" in emit(whole, poisons=True).files["laplace.f90"]
