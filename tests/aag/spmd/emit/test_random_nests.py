"""Random loop nests, their claims and their messages, emitted, run with MPI and held against gfortran.

Values are whole numbers below 2**53, so answers are equal in every bit; all elements are printed. What the trees print
when they are replayed is held against gfortran, too: the claims of independence are judged from the replay.
"""

import random
import re

import pytest

from aag.diagnostics import SourceError
from aag.pipeline import Options, Overrides, lower, read_program
from tests.aag.spmd.emit import tree as t
from tests.aag.spmd.emit.claims import false_claims, with_claims
from tests.aag.spmd.emit.many import Case, judge, values
from tests.aag.spmd.emit.random_nests import KINDS, nests
from tests.aag.spmd.emit.replay import Replay, as_printed
from tests.aag.spmd.emit.shrink import shrink

ALL_KINDS = (*KINDS, "kernels", "tight", "private")
PROCS = (1, 2, 3, 4, 6, 8)
MORE_PROCS = [pytest.param(procs, marks=pytest.mark.truth) for procs in (2, 4, 6, 8)]
SWITCHES = ("hoist", "coalesce", "aggregate", "redundant", "interchange", "inline", "fuse", "invariant")


def drawn(seed, procs):
    """A program of a kind in turn, every other one with claims; some optimisations off in every third."""
    kind = ALL_KINDS[seed % len(ALL_KINDS)]
    program, _ = nests(seed, procs, kind)
    chooser = random.Random(f"{seed} {procs}")
    if seed // len(ALL_KINDS) % 2:
        program = with_claims(program, chooser, 85)
    off = frozenset(each for each in SWITCHES if chooser.randrange(2)) if seed % 3 == 0 else frozenset()
    return program, Case(t.text(program), procs, off, seed)


def check(native, procs, seeds, **limits):
    programs, cases = zip(*(drawn(seed, procs) for seed in seeds), strict=True)
    faults, failing = [], []
    for program, verdict in zip(programs, judge(native, cases, **limits), strict=True):
        assert values(verdict.expected) == as_printed(Replay(program)), verdict.case.text
        if verdict.fault:
            failing.append((program, verdict))
            faults.append(
                f"seed {verdict.case.note}, {procs} processors, without {sorted(verdict.case.disabled)}: "
                f"{verdict.fault}\n{verdict.case.text}\n{verdict.expected}\n{verdict.found}"
            )
    if failing:
        program, verdict = failing[0]
        kind = verdict.fault.partition(":")[0]
        least, _ = shrink(native, program, verdict.case, same=lambda fault: fault.partition(":")[0] == kind)
        faults.append(f"the least that fails as the first does:\n{t.text(least)}")
    assert not faults, f"{len(failing)} of {len(cases)}\n" + "\n".join(faults)


@pytest.mark.parametrize("procs", [3, pytest.param(4, marks=pytest.mark.truth)])
def test_nests(procs, native):
    check(native, procs, range(8 * (procs - 3), 8 * (procs - 2)))


@pytest.mark.parametrize("procs", [pytest.param(3, marks=pytest.mark.sampled), *MORE_PROCS])
def test_carried_scalars(procs, native):
    at, count = ALL_KINDS.index("chains"), 8 if procs == 3 else 40
    check(native, procs, range(at, at + count * len(ALL_KINDS), len(ALL_KINDS)))


@pytest.mark.parametrize("procs", [pytest.param(3, marks=pytest.mark.sampled), *MORE_PROCS])
def test_private_scalars(procs, native):
    at, count = ALL_KINDS.index("private"), 8 if procs == 3 else 60
    check(native, procs, range(at, at + count * len(ALL_KINDS), len(ALL_KINDS)))


BATCHES, EACH = 50, 40


@pytest.mark.truth
@pytest.mark.parametrize("batch", range(BATCHES))
def test_many_nests(batch, native):
    check(native, PROCS[batch % len(PROCS)], range(1000 + EACH * batch, 1000 + EACH * (batch + 1)))


def test_there_are_many():
    assert BATCHES * EACH >= 2000


# --- claims that are false ------------------------------------------------------------------------------------------

TOLD = re.compile(
    r"the (?:loop|FORALL) over (\w) is not INDEPENDENT: (?:\1=(-?\d+) reads (\w)\(([-\d,]+)\), which \1=(-?\d+) assigns"
    r"|\1=(-?\d+) and \1=(-?\d+) both assign (\w)\(([-\d,]+)\))"
)


def refused(text, procs, **options):
    """The messages of errors, all of which are at the directive."""
    line = next(at for at, each in enumerate(text.splitlines(), 1) if "independent" in each)
    try:
        lower(read_program(text, "nest.hpf"), Overrides(procs=procs), procs, Options(**options))
    except SourceError as problem:
        found = problem.diagnostics
    else:
        return []
    assert {(each.code, each.span.line) for each in found} == {("E320", line)}, text
    return [each.message for each in found]


def is_right(message, loop, conflicts):
    """Whether the two iterations that it tells of meet in the element that it tells of."""
    found = TOLD.fullmatch(message)
    if found is None:
        return False
    index, reader, one, at, writer, first, second, other, both = found.groups()
    ends = {int(each) for each in (reader, writer, first, second) if each}
    told = (one or other, tuple(int(each) for each in (at or both).split(",")), ends)
    return index == loop.index and any(told == (each.name, each.at, {each.first, each.second}) for each in conflicts)


def check_false_claims(kind, seeds, of=t.Do):
    """How many claims were made; each is refused with two iterations that really meet."""
    made = 0
    for seed in seeds:
        procs = PROCS[seed % len(PROCS)]
        program, _ = nests(seed, procs, kind)
        for claimed, loop, conflicts in false_claims(program, of):
            text, made = t.text(claimed), made + 1
            messages = refused(text, procs)
            assert messages, f"seed {seed}: {conflicts[0]}\n{text}"
            for message in messages:
                assert is_right(message, loop, conflicts), f"{message}\n{text}"
            assert refused(text, procs, trusts_directives=True) == []
    return made


CLAIMS = [("tight", t.Do), ("affine", t.Do), ("totals", t.Do), ("foralls", t.Forall)]


@pytest.mark.sampled
@pytest.mark.parametrize(("kind", "of"), CLAIMS)
def test_false_claims(kind, of):
    assert check_false_claims(kind, range(8 if of is t.Forall else 4), of) > 5


@pytest.mark.truth
@pytest.mark.parametrize(("kind", "of"), CLAIMS)
def test_many_false_claims(kind, of):
    assert check_false_claims(kind, range(100, 400), of) > 200
