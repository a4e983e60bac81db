"""Local addresses of a nest, element by element: the local part is what brute force says a rank owns, column-major;
what comes from afar lies in a buffer with the global bounds of what brute force says a rank reads."""

from itertools import pairwise, product

import numpy as np
import pytest

from aag.pipeline import Overrides, lower, read_program
from aag.spmd import nodes
from aag.spmd.access import accesses
from aag.spmd.local_parts import AccessParts
from aag.spmd.partition import trips
from tests.aag.spmd.machine import Machine
from tests.aag.spmd.terms import combinations, evaluate

TEXT = """program walk
  integer, parameter :: n = 13, m = 9
  double precision :: a(n, m), b(n, m)
!hpf$ processors p({grid})
!hpf$ distribute a({first}, {second}) {onto}
!hpf$ align b(i, j) with a(i, j)
  integer :: i, j
  forall ({indices}) a({target}) = b({target}) + b({other})
end program walk
"""

BLOCKS = ("cyclic(2)", "cyclic(3)", "cyclic(5)", "block", "*")
"""Formats with blocks: a step from the last element of a block goes elsewhere."""
STARTS = (
    "i = 1:n, j = 1:m",
    "i = n:1:-1, j = m:2:-1",
    "i = 5:n, j = 3:m",
    "i = 3:n-1:2, j = 2:m:2",
    "i = 5:4, j = 1:m",
)

NESTS = [
    ("i = 1:n, j = 1:m", "i, j", "i, j"),
    ("i = 2:n-1, j = 3:m", "i, j", "i-1, j"),
    ("i = 1:n:2, j = 1:m:3", "i, j", "i, j"),
    ("i = n:1:-1, j = 1:m", "i, j", "i, j"),
    ("i = 1:6, j = 1:m-1", "2*i, j+1", "2*i+1, j"),
    ("i = 1:n, j = 1:4", "n+1-i, 2*j", "i, 2*j-1"),
    ("j = 1:m", "5, j", "4, j"),
]


def owned_places(ownership, rank, dim):
    """The indices of one dimension that a rank holds, ascending."""
    return sorted({ownership.elements[at][dim] for at in np.flatnonzero(ownership.owned[rank])})


@pytest.mark.sampled
@pytest.mark.parametrize(("first", "second"), list(product(("block", "cyclic", "*"), repeat=2)))
@pytest.mark.parametrize("procs", [1, 3, 4])
def test_starts_and_strides(first, second, procs):
    spread = sum(each != "*" for each in (first, second))
    grid = "number_of_processors()" if spread < 2 else f"{procs}, 1" if procs != 4 else "2, 2"
    onto = "onto p" if spread else ""
    for indices, target, other in NESTS:
        text = TEXT.format(
            grid=grid, first=first, second=second, onto=onto, indices=indices, target=target, other=other
        )
        program = lower(read_program(text, "walk.hpf"), Overrides(procs=procs), procs)
        machine = Machine(program)
        (nest,) = [node for node in program.body if isinstance(node, nodes.Nest)]
        ranks = np.arange(procs)
        (found,) = accesses(nest, program.layouts, program.layouts.environment, AccessParts(ranks))
        assert [each.write for each in found].count(True) == 1
        values = {name: value[0] for name, value in machine.scalars.items()}
        vectors, count = combinations(nest.indices, values.__getitem__)
        runs = machine.running(nest.home, vectors, count)
        assert (trips(nest, program.layouts, program.layouts.environment)[0].count == runs.sum(axis=1)).all()
        check(machine, nest, found, vectors, runs, (first, second))


@pytest.mark.sampled
@pytest.mark.parametrize(("first", "second"), [each for each in product(BLOCKS, repeat=2) if "cyclic" in "".join(each)])
@pytest.mark.parametrize("procs", [1, 2, 3])
def test_strides_are_those_inside_of_a_block(first, second, procs):
    spread = sum(each != "*" for each in (first, second))
    grid = f"{procs}, 1" if spread > 1 else "number_of_processors()"
    for indices in STARTS:
        text = TEXT.format(
            grid=grid, first=first, second=second, onto="onto p", indices=indices, target="i, j", other="i, j"
        )
        program = lower(read_program(text, "walk.hpf"), Overrides(procs=procs), procs)
        machine = Machine(program)
        (nest,) = [node for node in program.body if isinstance(node, nodes.Nest)]
        (found,) = accesses(nest, program.layouts, program.layouts.environment, AccessParts(np.arange(procs)))
        values = {name: value[0] for name, value in machine.scalars.items()}
        vectors, count = combinations(nest.indices, values.__getitem__)
        if count:
            check(machine, nest, found, vectors, machine.running(nest.home, vectors, count), (first, second))


def check(machine, nest, found, vectors, runs, formats):
    for access, reference in zip(found, references(nest), strict=True):
        ownership = machine.copies[reference.name].ownership
        if is_far(machine, nest, reference, vectors, runs, formats):
            assert access.array.startswith(f"{reference.name}$far")
            check_buffer(machine, nest, access, reference, vectors, runs)
            continue
        assert access.array == reference.name
        for rank in range(machine.procs):
            rows = np.flatnonzero(runs[rank])
            held = [owned_places(ownership, rank, dim) for dim in range(2)]
            assert access.local_bytes[rank] == 8 * len(held[0]) * len(held[1])
            address = addresses(machine, reference, vectors, rows, held)
            if len(rows) and address[rows[0]] is not None:
                assert access.start_bytes[rank] == address[rows[0]]
            for loop, index in enumerate(nest.indices):
                others = [vectors[each.name] for each in nest.indices if each is not index]
                chains = {}
                for row in rows:
                    chains.setdefault(tuple(int(each[row]) for each in others), []).append(address[row])
                steps = {
                    after - before
                    for chain in chains.values()
                    for before, after in pairwise(chain)
                    if before is not None and after is not None
                }
                if formats["ij".index(index.name)].startswith("cyclic("):
                    assert not steps or access.strides_bytes[rank, loop] in steps
                else:
                    assert steps <= {access.strides_bytes[rank, loop]}


def is_far(machine, nest, reference, vectors, runs, formats):
    """Whether some rank reads what it does not hold, other than from the overlap area of a block, or nobody can tell
    beforehand that it does not, because what is read is not what is computed or a shift of it."""
    ownership = machine.copies[reference.name].ownership
    (assign,) = nest.assigns
    for dim, kind in enumerate(formats):
        read, mine = places(machine, reference, vectors)[:, dim], places(machine, assign.target, vectors)[:, dim]
        held = [owned_places(ownership, rank, dim) for rank in range(machine.procs)]
        moves = len(set(read - mine)) > 1 and kind != "*" and len(set(map(tuple, held))) > 1
        missing = any(set(read[np.flatnonzero(runs[rank])]) - set(held[rank]) for rank in range(machine.procs))
        shifted = kind == "block" and len(set(read - mine)) == 1 and len(set(read)) > 1
        if moves or (missing and not shifted):
            return True
    return False


def check_buffer(machine, nest, access, reference, vectors, runs):
    place = places(machine, reference, vectors)
    for rank in range(machine.procs):
        rows = np.flatnonzero(runs[rank])
        if not len(rows):
            continue
        low, high = place[rows].min(axis=0), place[rows].max(axis=0)
        address = 8 * ((place - low) * [1, high[0] - low[0] + 1]).sum(axis=1)
        assert access.local_bytes[rank] == 8 * (high - low + 1).prod()
        assert access.start_bytes[rank] == address[rows[0]]
        for loop, index in enumerate(nest.indices):
            others = [vectors[each.name] for each in nest.indices if each is not index]
            chains = {}
            for row in rows:
                chains.setdefault(tuple(int(each[row]) for each in others), []).append(int(address[row]))
            steps = {after - before for chain in chains.values() for before, after in pairwise(chain)}
            assert steps <= {access.strides_bytes[rank, loop]}


def places(machine, reference, vectors):
    """(rows, 2) the element that each iteration touches."""
    constants = {name: value[0] for name, value in machine.scalars.items()}
    rows = len(next(iter(vectors.values())))
    found = [{**constants, **{name: vector[row] for name, vector in vectors.items()}} for row in range(rows)]
    return np.array([[int(evaluate(each, here.__getitem__, None)) for each in reference.subscripts] for here in found])


def references(nest):
    """Reads in program order, then the write."""
    (assign,) = nest.assigns
    reads = [assign.value.left, assign.value.right]
    return [*dict.fromkeys(reads), assign.target]


def addresses(machine, reference, vectors, rows, held):
    """Bytes from the start of the local part in each row; None where the element lies elsewhere."""
    constants = {name: value[0] for name, value in machine.scalars.items()}
    found = {}
    for row in rows:
        here = {**constants, **{name: vector[row] for name, vector in vectors.items()}}
        place = [int(evaluate(each, here.__getitem__, None)) for each in reference.subscripts]
        inside = all(at in held[dim] for dim, at in enumerate(place))
        found[row] = 8 * (held[0].index(place[0]) + len(held[0]) * held[1].index(place[1])) if inside else None
    return found


REGISTER = """program register
  double precision :: x(8), y(8), z(8)
!hpf$ distribute (block) :: x, y, z
  integer :: i
!hpf$ independent
  do i = 1, 8
    x(i) = 1.0d0
    y(i) = z(i) + x(i)
    z(i) = x(i) + y(i) + z(i)
  end do
end program register
"""


def test_what_an_iteration_wrote_it_reads_from_a_register():
    program = lower(read_program(REGISTER, "register.hpf"), Overrides(procs=1), 1)
    (nest,) = [node for node in program.body if isinstance(node, nodes.Nest)]
    (found,) = accesses(nest, program.layouts, program.layouts.environment, AccessParts(np.arange(1)))
    assert [(each.array, int(each.start_bytes[0]), each.write) for each in found] == [
        ("x", 0, True),
        ("z", 0, False),
        ("y", 0, True),
        ("z", 0, True),
    ]


PRODUCT = """program product
  integer, parameter :: n = 48
  double precision a(n,n), p(n), q(n)
!hpf$ distribute a({first}, {second})
!hpf$ align (i) with a(i,*) :: p, q
  q = matmul(a, p)
end program product
"""


@pytest.mark.parametrize(("first", "second"), list(product(("block", "cyclic", "*"), repeat=2)))
def test_a_product_reads_every_element_of_its_row_at_an_address_of_its_own(first, second):
    spread = sum(each != "*" for each in (first, second))
    program = lower(
        read_program(PRODUCT.format(first=first, second=second), "product.hpf"),
        Overrides(procs=4, grid=((2, 2) if spread == 2 else (4,)) if spread else None),
        4,
    )
    (nest,) = [node for node in program.body if isinstance(node, nodes.Nest)]
    layouts = program.layouts
    (found,) = accesses(nest, layouts, layouts.environment, AccessParts(np.arange(4)))
    shares = trips(nest, layouts, layouts.environment)[0].extents_of(np.arange(4))
    row, vector = (next(each for each in found if each.array.startswith(name)) for name in "ap")
    for rank in range(4):
        for access, distinct in ((row, shares[rank].prod()), (vector, 48)):
            steps = np.indices(shares[rank]).reshape(2, -1).T
            touched = access.start_bytes[rank] + steps @ access.strides_bytes[rank]
            assert len(set(touched.tolist())) == distinct
            assert touched.min() >= 0
            assert touched.max() < access.local_bytes[rank]
