"""Messages and answers of scans and PACK, against counts by enumeration of processors and elements."""

import pytest

from aag.pipeline import read_program
from esp.api import Request, Source, load_machine
from esp.validate.counts import predicted

HEAD = """program p
use hpf_library
integer, parameter :: n = 24
integer :: i
real(8) :: x(n), y(n), a(n, 7), b(n, 7)
!hpf$ distribute (block) :: x, y
!hpf$ distribute (block, *) :: a, b
forall (i=1:n) x(i) = mod(i, 5)
a = 1
"""


def sent(line, procs):
    """Messages and bytes of each processor."""
    program = read_program(f"{HEAD}{line}\nend\n", "p.hpf")
    found = predicted(Source(program=program), load_machine("ipsc860"), Request(procs=procs)).counts
    return {
        rank: tuple(map(sum, zip(*(each for (who, _), each in found.items() if who == rank), strict=True)))
        for rank in {who for who, _ in found}
    }


def holders(procs):
    """Which processors hold something of 24 elements in blocks: as many as there are for these numbers."""
    return [rank for rank in range(procs) if rank * -(-24 // procs) < 24]


def by_hand(procs, size, *, down=False):
    """For each stage, the members and the ones 1, 2, 4, ... places after them."""
    found = {}
    for rank in range(procs):
        place = procs - 1 - rank if down else rank
        away = [2**stage for stage in range(10) if place + 2**stage < procs]
        if away:
            found[rank] = (len(away), len(away) * size)
    return found


@pytest.mark.parametrize("procs", [1, 2, 3, 4, 6, 8])
def test_a_scan_sends_what_is_combined_to_doubling_distances(procs):
    assert holders(procs) == list(range(procs))
    assert sent("y = sum_prefix(x)", procs) == by_hand(procs, 8)
    assert sent("y = maxval_suffix(x, exclusive=.true.)", procs) == by_hand(procs, 8, down=True)
    assert sent("b = sum_prefix(a, dim=1)", procs) == by_hand(procs, 7 * 8)
    assert sent("b = sum_prefix(a, dim=2)", procs) == {}


@pytest.mark.parametrize("procs", [2, 4, 8])
def test_pack_sends_all_places_and_elements_to_all(procs):
    """Each element of the places (4 bytes) and of the array (8 bytes) reaches all other processors once, besides the
    scan of integers."""
    total = [sum(each) for each in zip(*sent("y = pack(x, x > 2, x)", procs).values(), strict=True)]
    scan = [sum(each) for each in zip(*by_hand(procs, 4).values(), strict=True)]
    stages = procs.bit_length() - 1  # recursive doubling, one message of each processor a stage
    assert total[0] == scan[0] + 2 * procs * stages
    assert total[1] == scan[1] + (procs - 1) * 24 * (4 + 8)
