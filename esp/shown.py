"""Results that print themselves: `print` shows one as its command does, a notebook as a page.

Results import no text output. `esp` registers what renders them, which is loaded when the first result is shown.
"""

TYPE_CHECKING = False
"""As `typing` has it, which `import esp` does not load."""

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar, Protocol

    class Renderer(Protocol):
        """What renders results: `esp.output.results`."""

        def text(self, result: object) -> str:
            """The result as its command prints it."""

        def page(self, result: object) -> str:
            """The result as HTML for a notebook."""


class Printed:
    """A result of the Python API."""

    __slots__ = ()

    if TYPE_CHECKING:
        renderer: ClassVar[Callable[[], Renderer]]

    def __str__(self) -> str:
        return type(self).renderer().text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return type(self).renderer().page(self)
