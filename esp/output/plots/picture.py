"""A picture in the hands of a user of the Python API: a notebook shows it, `save` writes it."""

from io import BytesIO
from typing import TYPE_CHECKING

from esp.output.plots.style import check_plot, save, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS_PER_INCH = 150


class ResultPicture:
    """A picture of a result. `figure` is a `matplotlib.figure.Figure`, for whoever wants to change it."""

    def __init__(self, figure: "Figure", name: str) -> None:
        self.figure = figure
        self.name = name

    def __repr__(self) -> str:
        return f"<Picture of {self.name}>"

    def _repr_png_(self) -> bytes:
        written = BytesIO()
        with styled():
            self.figure.savefig(written, format="png", dpi=_DOTS_PER_INCH)
        return written.getvalue()

    def save(self, file: str) -> None:
        """Write it as PNG, SVG or PDF, as the suffix says.

        Raises:
            UsageError: the suffix is another one.
            UnreadableFileError: the file cannot be written.
        """
        check_plot(str(file), "file")
        with styled():
            save(self.figure, str(file))
