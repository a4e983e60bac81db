import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aag.mapping.counting import count_in_window, floor_sum
from aag.mapping.distribution import Distribution


def deal(extent, block, procs):
    """Owner and local position of each cell, by dealing blocks in turn like cards."""
    owners, local, hands = [], [], [0] * procs
    for cell in range(extent):
        owner = (cell // block) % procs
        owners.append(owner)
        local.append(hands[owner])
        hands[owner] += 1
    return owners, local, hands


def general(extent, sizes):
    """The same for one block of its own size for each coordinate."""
    owners = [owner for owner, size in enumerate(sizes) for _ in range(size)][:extent]
    local = [each for size in sizes for each in range(size)][:extent]
    return owners, local, [owners.count(owner) for owner in range(len(sizes))]


def held(one):
    """How many cells each coordinate holds."""
    return one.held_images(np.arange(one.procs), first=one.lower, stride=1, count=one.extent)


@st.composite
def distributions(draw):
    extent, procs, lower = draw(st.integers(0, 40)), draw(st.integers(1, 9)), draw(st.integers(-7, 7))
    if draw(st.integers(0, 2)) == 0:
        sizes = draw(st.lists(st.integers(0, 12), min_size=procs, max_size=procs))
        sizes[-1] += max(0, extent - sum(sizes))
        return Distribution(
            kind="block", block=max(1, *sizes), procs=procs, lower=lower, extent=extent, sizes=tuple(sizes)
        )
    if draw(st.booleans()):
        least = max(1, -(-extent // procs))
        return Distribution(
            kind="block", block=least + draw(st.integers(0, 5)), procs=procs, lower=lower, extent=extent
        )
    return Distribution(kind="cyclic", block=draw(st.integers(1, 12)), procs=procs, lower=lower, extent=extent)


@given(distributions())
def test_owner_local_and_held_equal_dealing(one):
    owners, local, hands = general(one.extent, one.sizes) if one.sizes else deal(one.extent, one.block, one.procs)
    cells = np.arange(one.lower, one.lower + one.extent)
    assert one.owner(cells).tolist() == owners
    assert one.local(cells).tolist() == local
    assert held(one).tolist() == hands


def test_block_leaves_the_last_processors_empty():
    # 9 cells on 8 processors: blocks of 2, so four full ones, one half and three empty.
    one = Distribution(kind="block", block=2, procs=8, lower=1, extent=9)
    assert held(one).tolist() == [2, 2, 2, 2, 1, 0, 0, 0]


@given(distributions(), st.integers(-60, 60), st.integers(-9, 9).filter(bool), st.integers(0, 30))
def test_held_images_counts_any_arithmetic_progression(one, first, stride, count):
    images = first + stride * np.arange(count)
    if one.sizes:  # outside of it nobody owns anything; others repeat
        images = images[(images >= one.lower) & (images < one.lower + one.extent)]
    expected = np.bincount(one.owner(images), minlength=one.procs)
    got = one.held_images(np.arange(one.procs), first=first, stride=stride, count=count)
    assert got.tolist() == expected.tolist()


@given(st.integers(0, 60), st.integers(1, 30), st.integers(0, 90), st.integers(0, 90))
def test_floor_sum_is_the_sum_of_floors(n, modulus, stride, start):
    assert int(floor_sum(n, modulus, stride, start)) == sum((stride * j + start) // modulus for j in range(n))


@given(st.integers(0, 60), st.integers(-30, 30), st.integers(-90, 90), st.integers(1, 30), st.data())
def test_count_in_window_counts(n, stride, start, modulus, data):
    width = data.draw(st.integers(0, modulus))
    expected = sum((stride * j + start) % modulus < width for j in range(n))
    assert int(count_in_window(n, stride, start, modulus, width)) == expected


def test_a_huge_template_costs_nothing():
    one = Distribution(kind="cyclic", block=7, procs=2**20, lower=1, extent=2 * 10**9)
    held = one.held_images(np.arange(2**20), first=1, stride=3, count=6 * 10**8)
    assert int(held.sum()) == 6 * 10**8
    sample = np.array([0, 12345, 2**20 - 1])
    # The same count block by block: cells of a coordinate whose distance from the first is a multiple of 3.
    for coord, got in zip(sample.tolist(), held[sample].tolist(), strict=True):
        cells = (np.arange(coord * 7, one.extent, 7 * 2**20)[:, None] + np.arange(7)).ravel()
        assert got == int(((cells % 3 == 0) & (cells // 3 < 6 * 10**8)).sum())


@pytest.mark.parametrize(
    ("kind", "block", "text"), [("cyclic", 1, "CYCLIC"), ("cyclic", 4, "CYCLIC(4)"), ("block", 5, "BLOCK(5)")]
)
def test_text_is_hpf(kind, block, text):
    assert str(Distribution(kind=kind, block=block, procs=4, lower=1, extent=20)) == text
