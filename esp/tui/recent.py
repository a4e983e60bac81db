"""Values that were used last."""

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class RecentAnswers(OrderedDict[K, V]):
    """The values that were used last, at most so many."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def use(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made where it is not kept."""
        if key in self:
            self.move_to_end(key)
            return self[key]
        value = self[key] = make()
        while len(self) > self._most:
            self.popitem(last=False)
        return value
