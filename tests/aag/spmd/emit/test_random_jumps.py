"""Random control flow with jumps over distributed arrays: the emitted program computes what the serial one does."""

import pytest

from aag.pipeline import read_program
from esp.api import Request, Source
from esp.validate.answer import difference
from esp.validate.counts import predicted
from tests.aag.source.random_jumps import MODULUS, Builder
from tests.aag.spmd.emit.batch import run_batch
from tests.aag.spmd.emit.native import lowered

PROCS, EXTENT = 4, 13
ACTIONS = (
    "a = mod(a + 3*cshift(b, 1) + k, 97)",
    "b(2:n) = mod(a(1:n-1) + s, 89)",
    "forall (i = 1:n) b(i) = mod(a(n+1-i)*2 + b(i) + k, 83)",
    "where (mod(a, 2) == 0) b = mod(b + a, 79)",
    "do i = 2, n\na(i) = mod(a(i-1) + b(i), 73)\nend do",
)


class OverArrays(Builder):
    """Statements change distributed arrays; in every other body these decide the way, too."""

    def __init__(self, seed):
        super().__init__(seed)
        self.decided_by_data = seed % 2 == 1

    def action(self):
        changed = self.chance.choice(ACTIONS).split("\n")
        more = [f"s = mod(s + sum(a), {MODULUS})"] if self.decided_by_data and self.chance.random() < 0.5 else []
        return [*super().action(), *changed, *more]


def text_of(seed, start):
    """A program, whose jumps to its end stand for the RETURN of a subroutine."""
    builder = OverArrays(seed)
    body = builder.text().replace("return", "go to 99999")
    indices = "".join(f", i{number}" for number in range(1, builder.loops + 1))
    return (
        f"program p\ninteger, parameter :: n = {EXTENT}\ninteger :: a(n), b(n)\ninteger :: s, k, left, i{indices}\n"
        f"!hpf$ distribute a({('block', 'cyclic', 'cyclic(3)')[seed % 3]})\n!hpf$ align b(i) with a(i)\n"
        f"s = {start}\nk = 1\nleft = 14\nforall (i = 1:n) a(i) = mod(i*i, 11)\nb = 5\n{body}\n"
        "99999 continue\nprint *, a\nprint *, b\nprint *, s, k, left\nend program p\n"
    )


def check_seeds(native, system, seeds):
    texts = [text_of(seed, 1000 + seed) for seed in seeds]
    programs = [read_program(text, "jumps.hpf") for text in texts]
    assert all(each.complete for each in programs)
    for seed, text, program, ran in zip(
        seeds, texts, programs, run_batch(native, [lowered(each, PROCS) for each in programs], PROCS), strict=True
    ):
        assert difference(native.expected(text), ran.answer) == "", f"seed {seed}\n{text}\n{ran.answer}"
        if seed % 2 == 0:
            expected = predicted(Source(program=program), system, Request(procs=PROCS)).counts
            assert ran.counts == expected, f"seed {seed}\n{text}"


def test_seeds(native, system):
    check_seeds(native, system, (0, 1, 118, 192))


@pytest.mark.truth
@pytest.mark.parametrize("batch", range(10))
def test_many_seeds(batch, native, system):
    check_seeds(native, system, range(100 + 20 * batch, 120 + 20 * batch))
