"""How the start-ups of a processor depend on the number of processors, over those of one communication."""

from collections.abc import Callable, Mapping
from math import log2
from types import MappingProxyType

from msgspec import Struct


class StartupPattern(Struct, frozen=True):
    """Start-ups for one communication: `law` as text and as a function of the number of processors."""

    law: str
    factor: Callable[[float], float]


def _neighbours(_: float) -> float:
    return 1.0


def _broadcast(processors: float) -> float:
    return 1.0 + log2(processors)


def _all(processors: float) -> float:
    return processors


PATTERNS: Mapping[str, StartupPattern] = MappingProxyType(
    {
        "neighbours": StartupPattern("1", _neighbours),
        "broadcast": StartupPattern("1 + log2 p", _broadcast),
        "all": StartupPattern("p", _all),
    }
)
"""Clement's neighbour communication and broadcast on a hypercube, and one message to or from every processor."""
