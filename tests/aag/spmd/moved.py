"""The elements that messages carry, one by one: of the relation, before it counts them."""

from unittest.mock import patch

import numpy as np

from aag.spmd import relation
from aag.spmd.communication import special_axes


def moved_elements(operation, layouts, env):
    """Every element that point-to-point messages carry: (source, destination, subscripts (M, rank))."""
    layout = layouts.arrays[operation.array]
    with patch.object(relation, "_counted", lambda component: component):
        (found,) = relation.relate(operation.needs, operation.held, layouts, env, special_axes(operation, layout))
    picks = np.indices([len(each.mask) for each in found.components]).reshape(len(found.components), -1)
    source = np.zeros(picks.shape[1], dtype=np.int64)
    destination = np.zeros_like(source)
    mask = np.full_like(source, -1)
    elements = np.empty((len(source), layout.rank), dtype=np.int64)
    for each, pick in zip(found.components, picks, strict=True):
        source += each.source[pick]
        destination += each.destination[pick]
        mask &= each.mask[pick]
        elements[:, list(each.dims)] = each.elements[pick]
    keep = found.selected(mask) & (source != destination)
    return source[keep], destination[keep], elements[keep]
