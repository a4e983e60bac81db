"""A listener of a walk that gives it up where nobody waits for its end any more."""

from collections.abc import Callable

from esp.tui.question import Question


class Superseded(Exception):
    """A newer question is there."""


class TooLong(Exception):
    """What is looked at ahead takes too long to be worth it."""


class Watch:
    """Gives up at a newer question, unless just this is what that one asks for: then it is gone on with."""

    def __init__(
        self,
        newest: Callable[[], Question | None],
        give_up: Callable[[Question | None], bool],
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        """`give_up`: whether the newest question puts an end to this, which is asked once for each question; `late`:
        whether it takes too long, which matters only while nobody has asked for it."""
        self._newest, self._give_up, self._late = newest, give_up, late
        self._first = self._last = newest()
        self._over = give_up(self._last)

    def entered(self, *_: object) -> None:
        """Look for a newer question.

        Raises:
            Superseded: there is one.
            TooLong: there is none, and too much time has gone by.
        """
        last = self._newest()
        if last is not self._last:
            self._last, self._over = last, self._give_up(last)
        if self._over:
            raise Superseded
        if self._last is self._first and self._late():
            raise TooLong

    def left(self, *_: object) -> None:
        """Nothing to do."""

    def messages(self, *_: object) -> None:
        """Nothing to do."""

    def skipped(self, *_: object) -> None:
        """Nothing to do."""
