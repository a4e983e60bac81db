"""What reading and following a program may cost: counted and never timed, so that all computers decide alike.

An allowance grows with what the text really contains: a program that is merely long never exhausts it, one whose
INCLUDE lines, macros, statement functions or typing errors multiply it does, with a finding at the line.
"""

from msgspec import Struct


class Budget:
    """What is left of an allowance."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = self.left = limit

    def grow(self, amount: int) -> None:
        """There is more that allows for something."""
        self.limit += amount
        self.left += amount

    def spend(self, amount: int = 1) -> bool:
        """Take something; whether it was there."""
        self.left -= amount
        return self.left >= 0


class Allowance(Struct, frozen=True):
    """A number for every program, and more for each unit of its size."""

    always: int
    each: int

    def of(self, size: int) -> Budget:
        """The budget of a text of that size."""
        return Budget(self.always + self.each * size)


LINES = Allowance(10_000, 20)
"""Lines after INCLUDE and macros, for each line that is written."""
CHARACTERS = Allowance(200_000, 40)
"""Characters after INCLUDE and macros, for each that is written."""
OPERANDS = Allowance(20_000, 400)
"""Operands and operators that statement functions expand to, for each statement."""
TALLEST = 150
"""Levels of an expression."""
READINGS = Allowance(20_000, 2_000)
"""Readings that the parser tries, for each statement; an ordinary one takes 80 of them."""
STEPS = 1_000_000
"""Scalar statements and conditions that are followed without a walk."""
