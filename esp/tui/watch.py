"""A listener of a walk that gives it up where nobody waits for its end any more."""

from collections.abc import Callable


class Superseded(Exception):
    """A newer question is there."""


class Watch:
    """Looks at each AAU whether to go on."""

    def __init__(self, go_on: Callable[[], None]) -> None:
        """`go_on`: raises to give up."""
        self._go_on = go_on

    def entered(self, *_: object) -> None:
        """Look for a newer question."""
        self._go_on()

    def left(self, *_: object) -> None:
        """Nothing to do."""

    def messages(self, *_: object) -> None:
        """Nothing to do."""

    def skipped(self, *_: object) -> None:
        """Nothing to do."""
