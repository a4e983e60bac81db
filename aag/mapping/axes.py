"""What the axes of a processor grid mean for one array."""

from typing import Literal

from msgspec import Struct

from aag.mapping.distribution import Distribution


class GridAxis(Struct, frozen=True, kw_only=True):
    """What one axis of the grid means for an array.

    Role ``dim``: the element with index i in dimension `dim` (from 0) lies in the template cell
    stride * i + offset, which `distribution` gives to a coordinate. Role ``fixed``: all elements lie in the
    cell `offset`, at `coordinate`. Role ``replicated``: every coordinate has a copy, also one without cells.
    """

    role: Literal["dim", "fixed", "replicated"]
    dim: int = -1
    stride: int = 1
    offset: int = 0
    distribution: Distribution | None = None
    coordinate: int = -1


REPLICATED = GridAxis(role="replicated")
