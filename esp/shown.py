"""What the results of the Python API have in common: they print themselves and give their figures as rows.

Results import no text output. `esp` registers what renders them, which is loaded when the first result is shown.
"""

TYPE_CHECKING = False
"""As `typing` has it, which `import esp` does not load."""

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Protocol

    class Renderer(Protocol):
        """What renders results: `esp.output.results`."""

        def text(self, result: object) -> str:
            """The result as its command prints it."""

        def brief(self, result: object) -> str:
            """One line that says what it is."""

        def page(self, result: object) -> str:
            """The result as HTML for a notebook."""

        def rows(self, result: object) -> list[dict[str, Any]]:
            """The figures of the result, one row each."""

        def picture(self, result: object, kind: str = "") -> Any:
            """The result as a picture."""

        def frame(self, result: object) -> Any:
            """The rows as a `pandas.DataFrame`."""


class Printed:
    """A result of the Python API. `print` shows what the command prints, a notebook shows a page."""

    __slots__ = ()

    if TYPE_CHECKING:
        renderer: ClassVar[Callable[[], Renderer]]

    def __str__(self) -> str:
        return type(self).renderer().text(self)

    def __repr__(self) -> str:
        return type(self).renderer().brief(self)

    def _repr_html_(self) -> str:
        return type(self).renderer().page(self)

    def rows(self) -> "list[dict[str, Any]]":
        """The rows that the command prints with ``--csv``, as plain Python values in SI units.

        A prediction has a row for each source line, a comparison and an advice one for each choice, a what-if one for
        the base and each change, a sweep one for each cell.
        """
        return type(self).renderer().rows(self)

    def plot(self, file: str | None = None, *, kind: str = "") -> "Any":
        """A picture, which a notebook shows; `file`: where to write it as PNG, SVG or PDF.

        A sweep is drawn as its axes suggest, or as `kind` says: ``curves``, ``map``, ``bars`` or ``speedup``. Other
        results are bars of their rows, the most expensive lines of a prediction first; of a prediction, ``balance`` is
        a roofline of its lines. The picture has `save` and the `matplotlib.figure.Figure` as `figure`.

        Raises:
            PredictionError: matplotlib is not installed.
            UsageError: there is no such kind, there is too much for one picture, or the file is no picture.
        """
        made = type(self).renderer().picture(self, kind)
        if file is not None:
            made.save(file)
        return made

    def to_pandas(self) -> "Any":
        """`rows` as a `pandas.DataFrame`.

        Raises:
            PredictionError: pandas is not installed.
        """
        return type(self).renderer().frame(self)
