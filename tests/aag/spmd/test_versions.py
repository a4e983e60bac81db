"""Arrays with several mappings: what REALIGN and REDISTRIBUTE move, and where which mapping holds."""

import pytest

from aag.pipeline import Overrides, abstract, lower, read_program
from aag.spmd import nodes
from esp.api import Request, Source
from esp.validate.counts import predicted
from tests.aag.spmd.emit.native import default_machine

HEAD = """program remapped
  integer, parameter :: n = 24
  real :: a(n,n), b(n,n)
  integer :: i, j, it
!hpf$ processors p(4)
!hpf$ template t(n,n)
!hpf$ dynamic a, b, t
!hpf$ align b(i,j) with t(i,j)
!hpf$ distribute t(block,*) onto p
!hpf$ distribute a(block,*) onto p
"""


def lowered(text, procs=4, head=HEAD):
    return lower(read_program(f"{head}{text}end program remapped\n", "remapped.hpf"), Overrides(procs=procs), procs)


def messages(text, procs=4, head=HEAD):
    """How many messages all processors send, and their bytes."""
    program = read_program(f"{head}{text}end program remapped\n", "remapped.hpf")
    counts = predicted(Source(program=program), default_machine(), Request(procs=procs)).counts.values()
    return sum(sent for sent, _ in counts), sum(size for _, size in counts)


def declared(line, name="a"):
    """The layout of an array that a directive of the declarations maps."""
    return lowered(
        "", head=f"program remapped\nreal :: a(24,24), b(24,24)\n!hpf$ processors p(4)\n!hpf$ {line}\n"
    ).layouts.arrays[name]


@pytest.mark.parametrize(
    ("directive", "same_as"),
    [
        ("redistribute a(*,block) onto p", "distribute a(*,block) onto p"),
        ("redistribute a(cyclic(3),*)", "distribute a(cyclic(3),*) onto p"),
        ("redistribute (*,cyclic) onto p :: a", "distribute a(*,cyclic) onto p"),
        ("realign a(i,j) with t(j,i)", "distribute a(*,block) onto p"),
        ("realign a(i,*) with t(*,i)", ""),
        ("realign with b :: a", "distribute a(block,*) onto p"),
    ],
)
def test_a_version_lies_as_a_declaration_says(directive, same_as):
    found = lowered(f"a = 1\n!hpf$ {directive}\na = a + 1\n").layouts.arrays
    version = found.get("a$2", found["a"])
    expected = declared(same_as or "processors q(4)")
    assert (version.grid.shape, version.axes) == (expected.grid.shape, expected.axes)


def test_all_that_is_aligned_moves_with_its_template():
    found = lowered("b = 1\n!hpf$ redistribute t(*,block)\nb = b + 1\n").layouts.arrays
    assert found["b$2"].axes == declared("distribute b(*,block) onto p", "b").axes
    assert "a$2" not in found


@pytest.mark.parametrize("procs", [2, 3, 4, 6])
def test_a_remapping_sends_what_an_assignment_sends(procs):
    head = HEAD.replace("b(n,n)", "b(n,n), c(n,n)").replace("dynamic", "distribute c(*,block)\n!hpf$ dynamic")
    remapped = "a = 1\n!hpf$ redistribute a(*,block)\nforall (i=2:n) a(i,:) = a(i-1,:)\nprint *, sum(a)\n"
    copied = "a = 1\nc = a\nforall (i=2:n) c(i,:) = c(i-1,:)\nprint *, sum(c)\n"
    assert messages(remapped, procs, head) == messages(copied, procs, head)


def test_from_blocks_to_rows_in_turn():
    """16 elements: each of 4 processors has 4, of which 1 belongs to each of them afterwards."""
    head = "program remapped\nreal(8) :: a(16)\n!hpf$ dynamic a\n!hpf$ distribute a(block)\n"
    assert lowered("", head=head).layouts.dynamics is None
    assert messages("!hpf$ redistribute a(cyclic)\na = a + 1\n", head=head) == (12, 12 * 8)


@pytest.mark.parametrize(
    ("directive", "again"),
    [("redistribute a(block,*)", ""), ("redistribute a(*,block)", "redistribute a(*,block) onto p"), ("", "")],
)
def test_where_an_array_lies_already_nothing_moves(directive, again):
    once = messages(f"a = 1\n!hpf$ {directive}\na = a + 1\n")
    twice = messages(f"a = 1\n!hpf$ {directive}\n!hpf$ {again}\na = a + 1\n")
    assert once == twice
    assert (once[0] == 0) == ("(*," not in directive)


def test_on_one_processor_nothing_moves():
    found = lowered("a = 1\n!hpf$ redistribute a(*,cyclic)\na = a + 1\n", 1)
    assert set(found.layouts.arrays) == {"a", "b"}


@pytest.mark.parametrize(("trips", "moves"), [(1, 1), (2, 3), (5, 9)])
def test_a_loop_returns_to_the_mapping_of_its_begin(trips, moves):
    """The first remapping of the first iteration finds the array where it belongs."""
    loop = (
        f"a = 1\ndo it = 1, {trips}\n!hpf$ redistribute a(block,*)\na = a + 1\n!hpf$ redistribute a(*,block)\n"
        "a = a * 2\nend do\n"
    )
    once = messages("a = 1\n!hpf$ redistribute a(*,block)\na = a + 1\n")
    assert messages(loop)[0] == moves * once[0]


@pytest.mark.parametrize("taken", [True, False])
def test_both_mappings_are_kept_where_the_path_decides(taken):
    test = "n > 20" if taken else "n < 20"
    text = f"a = 1\nif ({test}) then\n!hpf$ redistribute a(*,block)\nend if\nforall (j=2:n) a(:,j) = a(:,j-1)\n"
    plain = f"a = 1\n{'!hpf$ redistribute a(*,block)' if taken else ''}\nforall (j=2:n) a(:,j) = a(:,j-1)\n"
    assert messages(text) == messages(plain)
    branches = [each for each in nodes.walk(lowered(text).body) if isinstance(each, nodes.IfNode)]
    assert len(branches) == 2


def test_a_loop_that_is_left_has_the_mapping_of_its_exit():
    text = (
        "a = 1\ndo it = 1, 3\n!hpf$ redistribute a(*,block)\nif (it == 2) exit\n!hpf$ redistribute a(block,*)\n"
        "end do\nforall (j=2:n) a(:,j) = a(:,j-1)\n"
    )
    plain = (
        "a = 1\n!hpf$ redistribute a(*,block)\n!hpf$ redistribute a(block,*)\n!hpf$ redistribute a(*,block)\n"
        "forall (j=2:n) a(:,j) = a(:,j-1)\n"
    )
    assert messages(text) == messages(plain)


def test_a_condition_on_an_array_of_two_mappings_around_a_remapping_is_refused():
    text = (
        "a = 1\nif (n > b(1,1)) then\n!hpf$ redistribute a(*,block)\nend if\nif (a(1,1) > 0) then\n"
        "!hpf$ redistribute a(block,*)\nend if\n"
    )
    found = lowered(text)
    assert not found.complete
    assert "the mapping of a depends on the way here" in found.notes[-1].message
    abstract(found)


def test_many_independent_remappings_are_refused_before_they_are_followed():
    """Each doubles the mappings that may hold: 2**24 of them."""
    names = [f"a{at}" for at in range(24)]
    lists = ", ".join(names)
    directives = f"!hpf$ dynamic {lists}\n!hpf$ distribute (block) :: {lists}\n"
    head = f"program remapped\nreal, dimension(8) :: {lists}, x\n{directives}"
    moved = "{0} = 1\nif (x(1) > 0) then\n!hpf$ redistribute {0}(cyclic)\nend if\n"
    parts = map(moved.format, names)
    found = lowered("".join(parts), head=head)
    assert not found.complete
    assert sum("too many" in each.message for each in found.notes) == len(names)


def test_a_remapping_in_a_loop_that_nothing_leads_to_is_left_out():
    loop = "do i = 1, 3\n!hpf$ redistribute a(*,block)\na = a + i\nend do\n"
    assert messages(f"a = 1\nreturn\n{loop}") == messages("a = 1\n")
