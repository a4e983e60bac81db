"""Pointers become the variables that they point to: the same messages as when the program names these."""

import pytest

from aag.ir import statements as s
from aag.ir.printer import print_statement
from aag.ir.visitors import walk_statements
from aag.pipeline import Overrides, lower, main_unit, read_program
from esp.api import Request, Source
from esp.validate.counts import predicted
from tests.aag.spmd.emit.native import default_machine

HEAD = """program levels
  implicit none
  integer, parameter :: n = 24
  real, target :: u(n,n), w(n,n), z(0:n-1)
  real, pointer :: old(:,:), new(:,:), tmp(:,:), line(:)
  real, target :: x, y
  real, pointer :: s
  integer :: k, m
  logical :: test
!hpf$ distribute u(block,*)
!hpf$ align w(i,j) with u(i,j)
!hpf$ distribute z(block)
!hpf$ align with u :: old
!hpf$ distribute new(*,cyclic)
"""
UPDATE = "{new}(2:n-1,:) = 0.5 * ({old}(1:n-2,:) + {old}(3:n,:))\n"
SWAP = "tmp => old\nold => new\nnew => tmp\n"


def program(text):
    return read_program(f"{HEAD}{text}end program levels\n", "levels.hpf")


def body(text):
    """The statements without pointers, as words."""
    return " ".join(" ".join(map(print_statement, main_unit(program(text)).body)).split())


def counts(text):
    """Messages and bytes that each processor sends."""
    found = predicted(Source(program=program(text)), default_machine(), Request(procs=4)).counts
    sent: dict[int, tuple[int, int]] = {}
    for (processor, _), (messages, size) in found.items():
        before = sent.get(processor, (0, 0))
        sent[processor] = (before[0] + messages, before[1] + size)
    return sent


def refusals(text):
    """Lines and reasons of what is refused."""
    found = lower(program(text), Overrides(procs=4), 4)
    assert not found.complete
    told = "this statement is not modelled and costs nothing here: "
    return [(each.span.line - 14, each.message.removeprefix(told)) for each in found.notes if each.code == "W201"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("old => u\nold = 1\nold => w\nold(1,:) = 2", "u = 1 w(1, :) = 2"),
        ("old => u\nnew => old\nnew(2,2) = size(old)", "u(2, 2) = size(u)"),
        ("line => z\nline(0) = lbound(line, 1)", "z(0) = lbound(z, 1)"),
        ("s => x\ns = 1\ns => y\ny = s + x", "x = 1 y = y + x"),
        ("old => u(:,:)\nold = 1", "u = 1"),
        ("old => u\nif (associated(old)) old = 1", "if (.true.) then u = 1 end if"),
        ("old => u\nnew => w\nif (associated(old, new)) old = 1", "continue"),
        ("nullify(old, new)\nif (.not. associated(old)) old => u\nold = 1", "if (.not. .false.) then end if u = 1"),
        ("old => u\nif (test) then\nold => u\nend if\nold = 1", "if (test) then end if u = 1"),
        ("do k = 1, 3\ntmp => u\ntmp = k\nend do", "do k = 1, 3 u = k end do"),
        ("allocate(old(n, n))\nold = 1\ndeallocate(old)", "allocate(old(n, n)) old = 1 deallocate(old)"),
        (
            "allocate(old(n, n))\nnew => old\nallocate(old(n, n))\nold = 1\nnew = 2",
            "allocate(old(n, n)) allocate(old$2(n, n)) old$2 = 1 old = 2",
        ),
        (
            "allocate(old(n, n))\ndeallocate(old)\nallocate(old(n, 2))\nold = 1",
            "allocate(old(n, n)) deallocate(old) allocate(old$2(n, 2)) old$2 = 1",
        ),
        ("old => u\nwhere (u > 1)\nold = 2\nend where", "where (u > 1) u = 2 end where"),
        ("old => u\nforall (k = 1:n) old(k,1) = k", "forall (k = 1:n) u(k, 1) = k end forall"),
    ],
)
def test_a_pointer_is_its_target(text, expected):
    assert body(f"{text}\n") == expected


RESHAPED = """program reshaped
real, allocatable :: a(:)
integer :: k, n
!hpf$ distribute a(block)
n = 4
allocate(a(4))
a = 1
deallocate(a)
{}
end program
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("allocate(a(12))\na = 2", "allocate(a$2(12)) a$2 = 2"),
        ("allocate(a(4))\na = 2", "allocate(a(4)) a = 2"),
        (
            "do k = 1, 3\nallocate(a(0:5))\na = k\ndeallocate(a)\nend do\nallocate(a(4))\na(1) = 3",
            "do k = 1, 3 allocate(a$2(0:5)) a$2 = k deallocate(a$2) end do allocate(a(4)) a(1) = 3",
        ),
    ],
)
def test_an_array_that_is_allocated_with_other_extents_is_another_one(text, expected):
    unit = main_unit(read_program(RESHAPED.format(text), "reshaped.hpf"))
    assert " ".join(" ".join(map(print_statement, unit.body[4:])).split()) == expected


def test_levels_that_a_loop_exchanges_have_a_copy_of_the_statements_each():
    found = body(f"old => u\nnew => w\ndo k = 1, 5\nnew = old + k\n{SWAP}end do\nprint *, old(1,1)\n")
    first, second = "w = u + k", "u = w + k"
    assert found == (
        "pointer$now = 0 pointer$now = 2 do k = 1, 5 "
        f"if (pointer$now == 2) then {first} else {second} end if "
        "if (pointer$now == 2) then pointer$now = 5 else pointer$now = 2 end if end do "
        "if (pointer$now == 2) then print *, u(1, 1) else print *, w(1, 1) end if"
    )


def test_the_condition_of_a_while_loop_may_depend_on_what_the_loop_exchanges():
    found = body(f"old => u\nnew => w\nouter: do while (old(1,1) < 3)\nnew = old + 1\n{SWAP}end do outer\n")
    assert "outer: do if (pointer$now == 2) then if (.not. u(1, 1) < 3) then exit outer end if else" in found


@pytest.mark.parametrize("steps", [1, 4, 5])
def test_exchanged_levels_send_what_unrolled_steps_send(steps):
    exchanged = f"old => u\nnew => w\ndo k = 1, {steps}\n{UPDATE.format(old='old', new='new')}{SWAP}end do\n"
    names = (("u", "w"), ("w", "u"))
    unrolled = "".join(UPDATE.format(old=names[at % 2][0], new=names[at % 2][1]) for at in range(steps))
    first = "u = 1\nw = 2\n"
    assert counts(f"{first}{exchanged}print *, sum(u)\n") == counts(f"{first}{unrolled}print *, sum(u)\n")


def test_levels_that_a_procedure_exchanges():
    found = main_unit(
        read_program(
            "module fields\nreal, pointer :: old(:), new(:)\n!hpf$ distribute old(block)\n"
            "!hpf$ align with old :: new\ncontains\nsubroutine make(n)\ninteger n\nallocate(old(n), new(n))\n"
            "end subroutine\nsubroutine swap\nreal, pointer :: tmp(:)\ntmp => old\nold => new\nnew => tmp\n"
            "end subroutine\nsubroutine step(a, b)\nreal a(:), b(:)\nb = cshift(a, 1)\nend subroutine\nend module\n"
            "program p\nuse fields\ncall make(12)\nold = 1\ncall step(old, new)\ncall swap\ncall step(old, new)\n"
            "print *, sum(new)\nend program\n",
            "fields.hpf",
        )
    )
    text = "; ".join(print_statement(each) for each in found.body if not isinstance(each, s.Enter))
    steps = "new = cshift(old, 1); old = cshift(new, 1); print *, sum(old)"
    assert text == f"allocate(old(12), new(12)); old = 1; {steps}"
    assert {each.name for each in found.entities if each.shape is not None} == {"old", "new"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("old => u(:,1:4)\nold = 1", [(1, "old points to a part of u, which is not modelled"), FOLLOWED := (2, "")]),
        ("old = 1", [(1, "the pointer old points to nothing here")]),
        ("old => u\ndeallocate(old)\nprint *, old(1,1)", [(3, "the pointer old points to nothing here")]),
        ("x => y", [(1, "x is not a POINTER")]),
        ("line => u(:,3)\nold => u\nold = 1", [(1, "line points to a part of u, which is not modelled")]),
        ("line => z(:)\nline(1) = 1", [(1, "line points to a part of z, which is not modelled"), FOLLOWED]),
        (
            "old => u\nnew => w\n!hpf$ independent\ndo k = 1, 4\nold(k,1) = 1\n" + SWAP + "end do",
            [
                (5, ""),
                *((each, "it changes what pointers point to inside of an INDEPENDENT loop") for each in (6, 7, 8)),
            ],
        ),
    ],
)
def test_what_is_refused_is_named(text, expected):
    found = refusals(f"{text}\n")
    assert [line for line, _ in found] == [line for line, _ in expected]
    for (_, reason), (line, wanted) in zip(found, expected, strict=True):
        assert reason == wanted or (not wanted and line and "is not followed" in reason)


def test_nothing_of_pointers_is_left():
    unit = main_unit(program("old => u\nold = 1\nallocate(new(n,n))\nnew = 2\n"))
    names = {each.name for each in unit.entities}
    assert not {"old", "tmp", "line", "s"} & names
    assert "new" in names
    assert all(not each.attributes & {"pointer", "target"} for each in unit.entities)
    assert not any(isinstance(each, s.Point) for each in walk_statements(unit.body))
    assert [getattr(each, "alignee", "") for each in unit.directives if getattr(each, "alignee", "") == "old"] == []
