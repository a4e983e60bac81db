"""The node program as text: nothing is lost, every line is traced, everything fits."""

import re

import pytest

from aag.pipeline import Options, Overrides, lower, read_program
from aag.spmd import nodes as n
from aag.spmd.printer import WIDTH, print_node

HEAD = """\
program test
  implicit none
  integer, parameter :: n = 64
  double precision :: a(n, n), b(n, n), x(n), y(n), z(n)
  double precision :: s, t
  integer :: i, j, it, l
!hpf$ distribute (block, block) :: a, b
!hpf$ distribute (block) :: x, y, z
"""
FIRST = HEAD.count("\n") + 1
"""The source line of the first statement."""


def node_program(body, procs=4, off=()):
    text = HEAD + "\n".join("  " + line for line in body.splitlines()) + "\nend program test\n"
    program = read_program(text, "test.hpf")
    return lower(program, Overrides(procs=procs), procs, Options(disabled=frozenset(off)))


def shown(body, **options):
    """The text without its header, source lines counted from the first statement."""
    _, _, rest = print_node(node_program(body, **options)).partition("\n\n")

    def count(found):
        return f"{int(found[0]) - FIRST + 1:5}"

    return [re.sub(r"^ *\d+(?=  )", count, line) for line in rest.splitlines()]


def test_header():
    assert print_node(node_program("s = 1")).splitlines()[0].strip() == "node program test, 4 processors, grid 2x2"
    first, second, *_ = print_node(node_program("s = 1", procs=1, off=["hoist", "coalesce"])).splitlines()
    assert first.strip() == "node program test, 1 processor, grid 1x1"
    assert second.strip() == "optimisations off: coalesce, hoist"


def test_shares_of_loops():
    assert shown("forall (i = 2:n-1, j = 1:n:2) a(i, j) = 1") == [
        "    1  do my j in 1:n:2 where a(i, j) lives",
        "         do my i in 2:n - 1 where a(i, j) lives",
        "           a(i, j) = 1",
        "         end do",
        "       end do",
    ]


def test_a_guard_where_no_loop_moves_the_owner():
    assert shown("forall (j = 1:n) a(1, j) = s") == [
        "    1  only where a(1, j) lives",
        "         do my j in 1:n where a(1, j) lives",
        "           a(1, j) = s",
        "         end do",
    ]
    assert shown("x(3) = 1") == ["    1  only where x(3) lives", "         x(3) = 1"]


def test_a_loop_that_every_processor_runs():
    assert shown("outer: do it = 1, l, 2\n  s = s + it\n  if (s > 3) exit outer\nend do outer") == [
        "    1  outer: do it = 1, l, 2",
        "    2    s = s + it",
        "    3    if (s > 3) then",
        "    3      exit outer",
        "         end if",
        "       end do",
    ]


def test_communication_says_pattern_array_and_references():
    assert shown("forall (i = 2:n-1) x(i) = y(i-1) + y(i+1)")[:2] == [
        "    1  overlap_shift y",
        "           y(i - 1); y(i + 1) for i in 2:n - 1 where x(i) lives",
    ]
    assert shown("forall (i = 1:n, j = 1:n) a(i, j) = b(i, 3)")[:2] == [
        "    1  multicast b along grid axis 2",
        "           b(i, 3) for i in 1:n, j in 1:n where a(i, j) lives",
    ]
    assert shown("print *, x")[:2] == ["    1  gather x to processor 0", "           x(i$1) for i$1 in 1:n"]


def test_hoisted_communication_says_so_and_keeps_its_line():
    lines = shown("do it = 1, 9\n  z = it\n  forall (i = 2:n) x(i) = y(i-1)\nend do")
    assert lines[0] == "    3  overlap_shift y, hoisted out of the loop over it"
    assert lines[2] == "    1  do it = 1, 9"
    inside = shown("do it = 1, 9\n  z = it\n  forall (i = 2:n) x(i) = y(i-1)\nend do", off=["hoist", "redundant"])
    assert "    3    overlap_shift y" in inside


def test_what_is_here_already():
    body = "forall (i = 2:n) x(i) = y(i-1)\ny({}) = 1\nforall (i = 2:n-1) z(i) = y(i-1) + y(i+1)"
    there = "           here already: y(i - 1) for i in 2:n where x(i) lives"
    for written, since in ((32, ", but for y(32) written since"), (5, "")):  # nobody but its owner needs y(5)
        lines = shown(body.format(written))
        third = lines[lines.index("    3  overlap_shift y") :]
        assert third[2] == there + since
    body = body.format(32)
    assert not any("here already" in line for line in shown(body, off=["redundant"]))


def test_reductions():
    assert shown("s = maxval(abs(x - y))") == [
        "    1  do my i$1 in 1:n where x(i$1) lives",
        "         s = max(s, abs(x(i$1) - y(i$1)))   ! my part of the max",
        "       end do",
        "    1  combine max along grid axis 1, 8 bytes, the result on all",
    ]
    assert "         if (x(i$1) > 0) it = it + 1   ! my part of the count" in shown("it = count(x > 0)")
    assert "         s = s + x(i$1) * y(i$1)   ! my part of the sum" in shown("s = dot_product(x, y)")


def test_masks_and_temporaries():
    assert shown("where (y > 0) x = 1 / y")[:4] == [
        "    1  do my i$1 in 1:n where x(i$1) lives",
        "         if (y(i$1) > 0) then",
        "           x(i$1) = 1 / y(i$1)",
        "         end if",
    ]
    assert "    1  ! all right-hand sides first, into a temporary" in shown("forall (i = 2:n) x(i) = x(i-1)")


def test_what_stands_around_an_inner_loop():
    lines = shown("x = matmul(a, y)")
    nest = lines[lines.index("    1  do my i$1 in 1:n where x(i$1) lives") :]
    assert nest == [
        "    1  do my i$1 in 1:n where x(i$1) lives",
        "         s$3 = 0",
        "         do i$2 = 1, n",
        "           s$3 = s$3 + a(i$1, i$2) * y(i$2)",
        "         end do",
        "         x(i$1) = s$3",
        "       end do",
    ]


def test_a_sequential_loop_over_distributed_data():
    assert shown("do i = 2, n\n  x(i) = x(i-1) + y(i)\nend do")[:7] == [
        "    1  do i = 2, n   ! the owners in order",
        "         if (x(i) lives here) then",
        "           receive x(i - 1) where the owner before has it",
        "           x(i) = x(i - 1) + y(i)",
        "         end if",
        "       end do",
        "",
    ]


def test_conditionals():
    assert shown("if (s > 1) then\n  s = 1\nelse if (t > 1) then\n  s = 2\nelse\n  s = 3\nend if") == [
        "    1  if (s > 1) then",
        "    2    s = 1",
        "    3  else if (t > 1) then",
        "    4    s = 2",
        "    5  else",
        "    6    s = 3",
        "       end if",
    ]


def test_input_output_calls_clocks_and_what_is_not_modelled():
    lines = shown("read *, s\ncall system_clock(it)\ncall outside(s, t)\nprint *, s\nstop\nx = grade_up(y)")
    assert re.fullmatch(r"    1  read 1 item, \d+ bytes, from the host, then broadcast \d bytes", lines[0])
    assert lines[1] == "    2  read the clock"
    assert lines[2].startswith("    3  call outside, 2 arguments   ! ")
    assert any(re.fullmatch(r"    4  print 1 item, \d+ bytes, through the host", line) for line in lines)
    assert "    5  stop" in lines
    assert any(line.startswith("    6  not modelled: ") and "GRADE_UP" in line for line in lines)
    assert lines[-1] == "       not complete: something could not be modelled"


def test_long_expressions_are_folded():
    terms = " &\n  + ".join(f"y({k})*s**{k}" for k in range(1, 30))
    text = print_node(node_program(f"s = {terms}"))
    assert max(map(len, text.splitlines())) <= WIDTH
    joined = " ".join(text.split())
    assert all(f"y({k}) * s**{k}" in joined for k in range(1, 30))


BUNDLED = (
    "laplace",
    "laplace_bb",
    "laplace_bx",
    "laplace_xb",
    "gauss",
    "pipeline",
    "redblack",
    "pi",
    "pbs1",
    "pbs2",
    "pbs3",
    "pbs4",
    "lfk01",
    "lfk03",
    "lfk09",
    "lfk22",
)


@pytest.mark.parametrize("off", [(), ("hoist", "redundant", "coalesce", "interchange")])
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_programs(root, name, off):
    path = root / "benchmarks_hpf" / f"{name}.hpf"
    program = read_program(path.read_text(encoding="utf-8"), path.name)
    node = lower(program, Overrides(procs=8), 8, Options(disabled=frozenset(off)))
    text = print_node(node)
    assert max(map(len, text.splitlines())) <= WIDTH
    # Every node has its own line in the margin.
    margins = [int(found) for found in re.findall(r"^ *(\d+)  ", text, re.MULTILINE)]
    lines = [each.span.line for each in every(node.body)]
    assert sorted(margins) == sorted([*lines, *(note.span.line for note in node.notes)])
    # Loops and conditionals are closed.
    words = [line[7:].strip() for line in text.splitlines()]
    assert sum(re.match(r"(\w+: )?do\b", word) is not None for word in words) == words.count("end do")


def every(nodes):
    for node in nodes:
        yield node
        yield from every(getattr(node, "body", ()))
        for branch in node.branches if isinstance(node, n.IfNode) else ():
            yield from every(branch.body)
