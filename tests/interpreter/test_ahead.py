"""Questions about several values of a scalar at once, and answers that outlive an interpretation."""

import numpy as np
import pytest

from aag.graph import aau as g
from aag.ir.evaluate import NUMBER_OF_PROCESSORS
from aag.pipeline import Options, Overrides, abstract, lower, read_program
from aag.spmd.access import accesses
from aag.spmd.communication import steps
from aag.spmd.local_parts import AccessParts
from aag.spmd.partition import trips
from aag.spmd.vector import Along, TooLarge
from interpreter.application import Answers, Application, scalars_of

KINDS = {
    "triangle": "forall (i = k+1:n, j = k:n) a(i, j) = b(i, k) * b(k, j)",
    "one column": "forall (i = k:n) a(i, k) = 2.0d0 * a(i, k)",
    "strided": "forall (i = 1:n:k, j = k:n:2) a(i, j) = b(i, j)",
    "coupled": "forall (i = 1:n, j = 1:n, j > i + k) a(i, j) = b(j, i)",
    "mask of the scalar": "forall (i = 1:n, j = 1:n, k > 3) a(i, j) = b(i, j)",
    "triangle inside": "forall (i = 1:n) forall (j = i:n) a(i, j) = b(i, j) * k",
    "multiplied": "forall (i = 1:3) a(i * k, k) = b(i, 1)",
    "divided": "forall (i = 1:n) a((i + k) / 2, i) = 1.0d0",
    "nothing of it": "forall (i = 2:n, j = 1:n) a(i, j) = b(i - 1, j)",
}
DISTRIBUTIONS = ("(block,*)", "(*,cyclic)", "(block,cyclic)", "(cyclic(2),block)")


def lowered(statement, distribution, procs=6):
    text = f"""program p
      integer, parameter :: n = 13
      double precision :: a(n, n), b(n, n), x
      integer :: i, j, k
!HPF$ DISTRIBUTE {distribution} :: a, b
      do k = 1, 4
        {statement}
      end do
      end program
    """
    return lower(read_program(text, "<text>"), Overrides(procs=procs), 4, Options())


def nests_of(program):
    return [each.nest for each in g.walk(abstract(program).body) if isinstance(each, g.IterD) and each.nest is not None]


@pytest.mark.sampled
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("statement", KINDS.values(), ids=KINDS)
def test_answers_for_several_values_are_those_for_each(statement, distribution):
    program = lowered(statement, distribution)
    layouts, values = program.layouts, [1, 2, 3, 4]
    env = {**layouts.constants, NUMBER_OF_PROCESSORS: layouts.procs}
    application, single = Application(program), Application(lowered(statement, distribution))
    application.expect("k", range(1, 5))
    for nest, other in zip(nests_of(program), nests_of(single.program), strict=True):
        for k in values:
            found, wanted = application.trips(nest, {**env, "k": k}), trips(other, layouts, {**env, "k": k})[0]
            np.testing.assert_array_equal(found.level, wanted.level)
            np.testing.assert_array_equal(found.count, wanted.count)
            assert (found.masked is None) == (wanted.masked is None)
            np.testing.assert_array_equal(
                0 if found.masked is None else found.masked, 0 if wanted.masked is None else wanted.masked
            )
            ranks = application.classes()[1]
            mine = application.accesses(nest, {**env, "k": k})
            (theirs,) = accesses(other, layouts, {**env, "k": k}, AccessParts(ranks))
            assert [(each.array, each.write) for each in mine] == [(each.array, each.write) for each in theirs]
            for one, two in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(one.start_bytes, two.start_bytes)
                np.testing.assert_array_equal(one.strides_bytes, two.strides_bytes)
                np.testing.assert_array_equal(one.local_bytes, two.local_bytes)


MOVES = {
    "multicast": "forall (i = k+1:n, j = k:n) a(i, j) = b(i, k) * b(k, j)",
    "shift": "forall (i = 2:n-k, j = 1:n) a(i, j) = b(i + k, j)",
    "diagonal": "forall (i = k:n) a(i, i) = b(i - 1, i - 1)",
    "transpose": "forall (i = k:n, j = 1:n) a(i, j) = b(j, i)",
    "triangle inside": "forall (i = 1:n) forall (j = i:n-k) a(i, j) = b(j, k)",
    "strided": "forall (i = 1:n:k, j = k:n) a(i, j) = b(i, j - 1)",
    "to all": "x = b(k, k + 1)",
    "nothing of it": "forall (i = 2:n, j = 1:n) a(i, j) = b(i - 1, j)",
}


@pytest.mark.sampled
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("statement", MOVES.values(), ids=MOVES)
def test_messages_for_several_values_are_those_for_each(statement, distribution):
    program = lowered(statement, distribution)
    layouts = program.layouts
    env = {**layouts.constants, NUMBER_OF_PROCESSORS: layouts.procs}
    application = Application(program)
    application.expect("k", range(1, 5))
    moved = [each.operation for each in g.walk(abstract(program).body) if isinstance(each, g.Comm) and each.operation]
    for operation in moved:
        for k in (1, 2, 3, 4):
            found, wanted = application.steps(operation, {**env, "k": k}), steps(operation, layouts, {**env, "k": k})[0]
            assert [type(each) for each in found] == [type(each) for each in wanted]
            for one, two in zip(found, wanted, strict=True):
                for name in one.__struct_fields__:
                    np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        if names := {"k"} & scalars_of(operation):
            assert len(steps(operation, layouts, env, Along(names.pop(), np.array([1, 2, 3, 4])))) == 4


@pytest.mark.parametrize("statement", [KINDS[kind] for kind in ("triangle", "one column", "strided", "coupled")])
def test_a_triangle_is_asked_for_at_once(statement):
    program = lowered(statement, "(block,cyclic)")
    env = {**program.layouts.constants, NUMBER_OF_PROCESSORS: 6}
    along = Along("k", np.array([1, 2, 3, 4]))
    ranks = Application(program).classes()[1]
    assert [len(trips(nest, program.layouts, env, along=along)) for nest in nests_of(program)] == [4]
    assert [len(accesses(nest, program.layouts, env, AccessParts(ranks), along)) for nest in nests_of(program)] == [4]


def test_too_many_combinations_at_once_are_refused():
    program = lowered("forall (i = 1:k, j = i:n) a(i, j) = 0.0d0", "(block,block)")
    env = {**program.layouts.constants, NUMBER_OF_PROCESSORS: 6}
    with pytest.raises(TooLarge):
        trips(nests_of(program)[0], program.layouts, env, along=Along("k", np.full(1 << 20, 13)))


def test_answers_are_kept_as_long_as_the_program():
    program = lowered(KINDS["triangle"], "(block,*)")
    env = {**program.layouts.constants, NUMBER_OF_PROCESSORS: 6, "k": 2}
    nest = nests_of(program)[0]
    first = Application(program).trips(nest, env)
    assert Application(program).trips(nest, env) is first
    assert Application(program).trips(nest, {**env, "k": 3}) is not first
    assert Application(lowered(KINDS["triangle"], "(block,*)")).answers.known == {}


def test_what_finds_no_room_is_not_kept():
    kept = Answers(room=100)
    kept.keep(("a",), 1, 60)
    kept.keep(("b",), 2, 60)
    kept.keep(("c",), 3, 40)
    assert [kept.find((name,)) for name in "abc"] == [1, None, 3]


def test_answers_given_together_that_find_no_room_are_kept_until_the_next():
    kept = Answers(room=100)
    kept.keep_together(("trips",), {(1,): "a", (2,): "b"}, 60)
    assert [kept.find(("trips", (value,))) for value in (1, 2, 3)] == ["a", "b", None]
    kept.keep_together(("trips",), {(3,): "c"}, 101)
    assert [kept.find(("trips", (value,))) for value in (1, 2, 3)] == [None, None, "c"]
    kept.keep_together(("steps",), {(4,): "d", (5,): "e"}, 50)
    assert [kept.find(("steps", (value,))) for value in (4, 5)] == ["d", "e"]
    assert kept.room == 0
