"""Seeds of `fuzz` that reach each kind of damage at least once.

A kind is a choice that the generator makes out of a table of its own, at one place of its text: which program, which
damage and which branch of it, which strange line, number or format, which command, option and value.
"""

import random
import sys
from functools import cache
from typing import Any

from tests.end_to_end import fuzz

BRANCHES = 8
"""The most branches of one kind of damage; draws out of more are positions in the text."""


class Recording(random.Random):
    """Draws the numbers of `random.Random` and keeps what is chosen where."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.kinds: set[tuple[Any, ...]] = set()

    def choice(self, seq: Any) -> Any:
        """Tables are tuples; a list comes from the text, and only the place counts."""
        chosen = super().choice(seq)
        value = (seq, chosen) if isinstance(seq, tuple) else ()
        self.kinds.add((sys._getframe(1).f_lineno, *value))
        return chosen

    def randrange(self, *bounds: Any) -> int:
        """One small bound selects a branch."""
        drawn = super().randrange(*bounds)
        if len(bounds) == 1 and bounds[0] <= BRANCHES:
            self.kinds.add((sys._getframe(1).f_lineno, drawn))
        return drawn


def kinds(seed: int) -> set[tuple[Any, ...]]:
    """The choices behind the case of a seed."""
    chance = Recording(seed)
    fuzz.case(seed, chance)
    return chance.kinds


@cache
def cover(seeds: tuple[int, ...]) -> list[int]:
    """Few of these seeds, which together reach all that all of them reach."""
    chosen: list[int] = list(seeds)
    for _ in range(2):  # backwards in the second turn: what later ones reach as well needs no earlier one
        reached: set[tuple[Any, ...]] = set()
        kept = []
        for seed in chosen:
            new = kinds(seed) - reached
            if new:
                kept.append(seed)
                reached |= new
        chosen = kept[::-1]
    return chosen
