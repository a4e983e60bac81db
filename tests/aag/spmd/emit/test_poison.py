"""A communication that is missing is a wrong answer: removed on purpose, one at a time, it shows."""

import re

from msgspec.structs import replace

from aag.pipeline import Options, read_program
from aag.spmd.emit import emit
from esp.validate.answer import difference
from tests.aag.spmd.emit.batch import run_emissions
from tests.aag.spmd.emit.native import emitted, lowered, serial_text
from tests.aag.spmd.emit.test_benchmarks import source, values

# redblack: each half of a sweep must fetch anew; gauss: the multipliers; lfk01: what is hoisted out of the loop.
REMOVED = [("laplace", 1), ("redblack", 2), ("redblack", 4), ("gauss", 1), ("lfk01", 1)]


def test_missing_communication_shows(native):
    asked = [(source(name), values(name, 12)) for name, _ in REMOVED]
    wholes = [emitted(lowered(program, 4, given)) for program, given in asked]
    damaged = [without(whole, number) for whole, (_, number) in zip(wholes, REMOVED, strict=True)]
    answers = [each.answer for each in run_emissions(native, [*wholes, *damaged], 4)]
    for at, (program, given) in enumerate(asked):
        expected = native.expected(serial_text(program, given))
        answer, wrong = answers[at], answers[at + len(asked)]
        assert difference(expected, answer) == "", REMOVED[at]
        assert difference(expected, wrong), REMOVED[at]
        assert "NaN" in wrong, REMOVED[at]


def without(emission, number):
    """The emission without one of its communications."""
    moves = rf"call esp_(move|fetch)_r8\(plan_{number}, [^)]*\)"
    name = f"{emission.name}.f90"
    main, removed = re.subn(moves, "continue", emission.files[name])
    assert removed == 1
    return replace(emission, files={**emission.files, name: main})


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


def test_exchange_that_does_not_come_shows_though_an_old_copy_is_good(native):
    plain = Options(disabled=frozenset(("hoist", "coalesce", "redundant")))
    whole = emitted(lowered(read_program(TWICE, "twice.hpf"), 4, options=plain))
    assert whole.files["twice.f90"].count("call esp_move_r8") == 2
    waiting = without(whole, 2)
    # What is poisoned when the owner writes is not enough: nobody wrote in between.
    main = re.sub(r"call esp_await_r8\(.*\)", "continue", waiting.files["twice.f90"])
    hasty = replace(whole, files={**whole.files, "twice.f90": main})
    shown, hidden = (each.answer for each in run_emissions(native, [waiting, hasty], 4))
    assert "NaN" in shown
    assert difference(native.expected(TWICE), shown)
    assert difference(native.expected(TWICE), hidden) == ""


def test_only_on_request():
    whole = lowered(source("laplace"), 4, values("laplace", 12))
    assert not re.search("poison|await", emit(whole).files["laplace.f90"])
    assert "poison" in emit(whole, poisons=True).files["laplace.f90"]
