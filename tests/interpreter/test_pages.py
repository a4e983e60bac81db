"""Translations that a nest lacks, against a replay of every reference in a table of translations."""

from collections import OrderedDict
from itertools import product

import numpy as np
import pytest

from interpreter.models.cache import CachedAccess, CachedNest, page_misses

PAGE, ENTRIES = 64, 8


def replay(extents, references):
    """Misses of a least-recently-used table, cold ones included."""
    table, misses = OrderedDict(), 0
    for counters in product(*map(range, extents)):
        for array, start, strides in references:
            page = array, (start + sum(c * s for c, s in zip(counters, strides, strict=True))) // PAGE
            if page in table:
                table.move_to_end(page)
                continue
            misses += 1
            table[page] = True
            if len(table) > ENTRIES:
                table.popitem(last=False)
    return misses


def predicted(extents, references):
    accesses = tuple(
        CachedAccess(array=array, element_bytes=4, start=np.array([start]), strides=np.array([strides]), write=False)
        for array, start, strides in references
    )
    return float(page_misses(CachedNest(extents=np.array([extents]), accesses=accesses), ENTRIES, PAGE).sum())


@pytest.mark.parametrize(
    ("extents", "references"),
    [
        # a(i, j) with columns of a page and of a little more or less, by columns and by rows
        ((40, 16), [("a", 0, (64, 4))]),
        ((40, 15), [("a", 0, (60, 4))]),
        ((16, 40), [("a", 0, (4, 64))]),
        ((15, 40), [("a", 0, (4, 60))]),
        ((17, 40), [("a", 0, (4, 68))]),
        # an update by rows: a(i, j) - a(k, j) share their pages, row(j) streams
        ((16, 40), [("a", 0, (4, 64)), ("a", 12, (0, 64))]),
        ((16, 40), [("a", 0, (4, 64)), ("row", 0, (0, 4))]),
        # four neighbours, by columns
        ((40, 14), [("b", 68, (64, 4)), *(("a", start, (64, 4)) for start in (64, 72, 4, 132))]),
        # three loops, the two inside too many
        ((3, 40, 16), [("a", 0, (0, 64, 4))]),
        ((3, 16, 40), [("a", 0, (0, 4, 64))]),
        ((1000,), [("v", 0, (4,)), ("w", 0, (8,))]),
    ],
)
def test_a_nest_that_does_not_fit(extents, references):
    assert predicted(extents, references) == pytest.approx(replay(extents, references), rel=0.12)


def test_a_nest_that_fits_finds_its_pages():
    assert predicted((10, 10), [("a", 0, (40, 4))]) == 0.0


def test_an_empty_nest():
    assert predicted((0, 100), [("a", 0, (4, 400))]) == 0.0
