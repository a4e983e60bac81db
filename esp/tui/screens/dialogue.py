"""What all dialogues share: a box in the middle that Escape closes."""

from typing import Generic, TypeVar

from textual.binding import Binding
from textual.screen import ModalScreen

T = TypeVar("T")


class Dialogue(ModalScreen[T | None], Generic[T]):
    """A box in the middle; Escape closes it without a result."""

    BINDINGS = [Binding("escape", "close", "close", show=False)]  # noqa: RUF012 (textual wants it so)

    def action_close(self) -> None:
        """Give up."""
        self.dismiss(None)
