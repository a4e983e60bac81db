"""Which processors hold an element, one processor after the other."""

import numpy as np


def owners(layout, indices):
    """Whether rank p holds element m, shape (M, P), for indices of shape (M, rank)."""
    given = np.asarray(indices, dtype=np.int64).reshape(-1, layout.rank)
    coords = layout.grid.coords_of(np.arange(layout.grid.size))
    result = np.broadcast_to(layout.holds(), (len(given), layout.grid.size)).copy()
    for at, axis in enumerate(layout.axes):
        if axis.role == "dim":
            result &= layout.owner_coordinate(at, given[:, axis.dim])[:, None] == coords[None, :, at]
    return result
