"""Answers about a program that hold on every machine and in every scenario: what moves, who runs how many iterations,
what misses the cache. Whoever interprets the same program again, with a slower network for example, finds them here.
"""

from weakref import WeakKeyDictionary

from msgspec import Struct, field

from aag.spmd.program import NodeProgram

ROOM = 96_000_000
"""Bytes of answers that are kept of a program, about."""

Key = tuple[object, ...]


class Kept(Struct):
    """Answers by their keys, up to a size; what finds no room is computed again. An answer is never changed."""

    answers: dict[Key, object] = field(default_factory=dict)
    room: int = ROOM

    def find(self, key: Key) -> object:
        """The answer, or None."""
        return self.answers.get(key)

    def keep(self, key: Key, answer: object, nbytes: int) -> None:
        """Remember an answer that takes so many bytes."""
        if nbytes <= self.room and key not in self.answers:
            self.room -= nbytes
            self.answers[key] = answer


_PROGRAMS: WeakKeyDictionary[NodeProgram, Kept] = WeakKeyDictionary()


def kept_of(program: NodeProgram) -> Kept:
    """What is known of a program; it is forgotten with the program."""
    return _PROGRAMS.setdefault(program, Kept())
