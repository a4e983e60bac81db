"""How DO loops run, for people: each verdict is that of a person who reads the program."""

import pytest

from aag.ir.visitors import names_in
from aag.pipeline import Overrides, lower, read_program
from aag.spmd.loop_table import describe_loops
from aag.spmd.nodes import Nest, OwnedLoop, assigns_of, walk
from tests.aag.spmd.emit import tree
from tests.aag.spmd.emit.random_nests import nests

HEAD = "program x\ninteger, parameter :: n = 16\nreal(8) :: a(n,n), b(n,n), c(n), s\ninteger :: i, j, k\n"
MAPPED = "!hpf$ distribute (*,block) :: a, b\n!hpf$ distribute (block) :: c\n"


def lowered(text, procs):
    return lower(read_program(text, "x.hpf"), Overrides(procs=procs), procs)


def findings(body, procs=4, mapped=MAPPED):
    node = lowered(HEAD + mapped + body + "end\n", procs)
    return {each.var: (each.runs, each.why) for each in node.loops}


def test_a_loop_without_dependences_is_parallel():
    found = findings("do j = 1, n\ndo i = 1, n\na(i,j) = b(i,j)\nend do\nend do\n")
    assert found == {"j": ("parallel", ""), "i": ("parallel", "")}


def test_a_recurrence_names_both_elements():
    found = findings("do j = 2, n\ndo i = 1, n\na(i,j) = a(i,j-1)\nend do\nend do\n")
    assert found["j"] == ("everywhere", "a(i, j - 1) may be the a(i, j) that another iteration assigns")
    assert found["i"] == ("parallel", "")


def test_owners_take_turns():
    found = findings("do i = 2, n\nc(i) = c(i) + c(i-1)\nend do\n")
    assert found == {"i": ("in turn", "c(i - 1) may be the c(i) that another iteration assigns")}


def test_a_scalar_that_is_carried_is_named():
    found = findings("s = 0\ndo i = 1, n\ns = 0.5d0*s + i\nc(i) = s\nend do\n")
    assert found["i"][1] == "an iteration may read the value of s from another one"


def test_a_scalar_that_is_used_afterwards_is_named():
    found = findings("do i = 1, n\ns = i\nc(i) = s\nend do\nprint *, s\n")
    assert found["i"][1] == "the value of s is used after the loop"


def test_bounds_that_the_nest_assigns():
    found = findings("k = 3\ndo j = 1, n\ndo i = 1, k\na(i,j) = 1\nend do\nk = j\nend do\n")
    assert found["j"][1] == "the bounds of a loop depend on k, which the nest assigns"


def test_what_is_not_distributed_runs_everywhere():
    found = findings("do j = 1, n\nc(j) = j\nend do\n", mapped="")
    assert found == {"j": ("everywhere", "the loop writes no distributed data")}


def test_what_an_attempt_notes_is_forgotten_with_it():
    body = "do k = 1, 3\ndo i = 1, n\nc(i) = c(i) + k\nend do\nprint *, c(k)\nend do\n"
    node = lowered(HEAD + MAPPED + body + "end\n", 4)
    assert [(each.var, each.runs) for each in node.loops] == [("k", "everywhere"), ("i", "parallel")]


@pytest.mark.parametrize("procs", [1, 4])
def test_the_table_has_a_row_for_each_loop(procs):
    body = "do j = 2, n\ndo i = 1, n\na(i,j) = a(i,j-1)\nend do\nend do\n"
    text = describe_loops(lowered(HEAD + MAPPED + body + "end\n", procs))
    assert [line.split()[0] for line in text.splitlines()[2:] if line[:4].strip()] == ["line", "7", "8"]


def test_a_loop_that_runs_everywhere_leaves_no_reduction_before_it():
    body = "do i = 2, n, 2\ns = s + sum(b(1:4,3))\nc(i-1) = maxval(c(i:n)) + s\nend do\n"
    text = HEAD + "!hpf$ distribute (block) :: c\n" + body + "end\n"
    nodes = lowered(text, 4)
    assert unread(nodes) == set()


@pytest.mark.parametrize("seed", range(30))
def test_all_that_is_computed_for_a_statement_is_used(seed):
    kind = ("totals", "sections", "all")[seed % 3]
    program, _ = nests(seed, 4, kind)
    assert unread(lowered(tree.text(program), 4)) == set(), tree.text(program)


def unread(node_program):
    """Variables of our own that nodes assign and nothing reads but their own updates."""
    written, read = set(), set()
    for each in walk(node_program.body):
        assigns = assigns_of(each) if isinstance(each, Nest) else getattr(each, "assigns", ())
        for assign in assigns:
            target = assign.target.name
            written.add(target)
            read |= names_in(assign.value) - {target}
        read |= each.uses if not isinstance(each, Nest | OwnedLoop) else frozenset()
        read |= names_in(getattr(each, "mask", None), getattr(each, "condition", None))
        read |= names_in(*(getattr(each, "listed", ())))
        for branch in getattr(each, "branches", ()):
            read |= names_in(branch.condition)
        for index in getattr(each, "indices", ()):
            read |= index.reads
    return {name for name in written - read if "$" in name}
