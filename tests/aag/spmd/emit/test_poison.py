"""A communication that is missing is a wrong answer: removed on purpose, one at a time, it shows."""

import re

import pytest
from msgspec.structs import replace

from aag.pipeline import Options, read_program
from aag.spmd.emit import emit
from esp.validate.answer import difference
from esp.validate.native import run
from esp.validate.serial import with_values
from tests.aag.spmd.emit.native import lowered
from tests.aag.spmd.emit.test_benchmarks import source, values

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


TWICE = """program twice
integer :: i
real(8) :: a(12), b(12), c(12)
!hpf$ distribute (block) :: a, b, c
forall (i = 1:12) a(i) = i
b = 0
c = 0
forall (i = 1:11) b(i) = a(i + 1)
forall (i = 1:11) c(i) = b(i) + a(i + 1)
print *, sum(b), sum(c)
end program twice
"""


@pytest.mark.parametrize("waits", [True, False])
def test_exchange_that_does_not_come_shows_though_an_old_copy_is_good(waits, native):
    plain = Options(disabled=frozenset(("hoist", "coalesce", "redundant")))
    whole = emit(lowered(read_program(TWICE, "twice.hpf"), 4, options=plain), poisons=True)
    main = whole.files["twice.f90"]
    assert main.count("call esp_move_r8") == 2
    main = re.sub(r"call esp_move_r8\(plan_2, [^)]*\)", "continue", main)
    if not waits:  # what is poisoned when the owner writes is not enough: nobody wrote in between
        main = re.sub(r"call esp_await_r8\(.*\)", "continue", main)
    answer, _ = run(native.build(replace(whole, files={**whole.files, "twice.f90": main})), 4)
    assert ("NaN" in answer) is waits
    assert (difference(native.expected(TWICE), answer) == "") is not waits


def test_only_on_request():
    whole = lowered(source("laplace"), 4, values("laplace", 12))
    assert not re.search("poison|await", emit(whole).files["laplace.f90"])
    assert "poison" in emit(whole, poisons=True).files["laplace.f90"]
