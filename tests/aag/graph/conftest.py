"""Graphs of small programs."""

import pytest

from aag.graph import aau as g
from aag.pipeline import Options, Overrides, abstract, lower, read_program

HEAD = """\
program test
  implicit none
  integer, parameter :: n = 64
  double precision, parameter :: omega = 1.5d0
  double precision :: a(n, n), b(n, n), x(n), y(n), z(n), c(n)
  real :: u(n), v(n)
  integer :: k(n), m(n)
  complex :: w(n)
  double precision :: s, t, err
  double precision, external :: f
  real :: r
  integer :: i, j, it, l
  logical :: done
  complex :: q
!hpf$ distribute (block, block) :: a, b
!hpf$ distribute (block) :: x, y, z, u, v, k, m, w
"""
"""Everything is distributed but c."""


def program(body):
    text = HEAD + "\n".join("  " + line for line in body.strip().splitlines()) + "\nend program test\n"
    return read_program(text, "test.hpf")


def node_program(body, procs=4, off=(), on=()):
    options = Options(disabled=frozenset(off), enabled=frozenset(on))
    return lower(program(body), Overrides(procs=procs), procs, options)


@pytest.fixture
def graph_of():
    """`graph_of("x = 0", procs=4, off=["invariant"])`: the SAAG of a body of statements."""
    return lambda body, procs=4, off=(), on=(): abstract(node_program(body, procs, off, on))


@pytest.fixture
def bundled(root):
    """`bundled("laplace", 8)`: the SAAG of a bundled program."""

    def make(name, procs=8, off=()):
        path = root / "benchmarks_hpf" / f"{name}.hpf"
        source = read_program(path.read_text(encoding="utf-8"), path.name)
        return abstract(lower(source, Overrides(procs=procs), procs, Options(disabled=frozenset(off))))

    return make


@pytest.fixture
def outline():
    """The classes of a graph, as text: bodies in parentheses, the program's own Start and End left out."""

    def show(body):
        parts = []
        for aau in body:
            inside = g.children(aau)
            parts.append(type(aau).__name__ + (f"({show(inside)})" if inside else ""))
        return " ".join(parts)

    def of(graph):
        (spawn,) = graph.body
        assert isinstance(spawn, g.Spawn)
        first, *inside, last = spawn.body
        assert isinstance(first, g.Start)
        assert isinstance(last, g.End)
        return show(tuple(inside))

    return of
