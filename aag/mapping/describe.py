"""Layouts as text, for looking at them."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import fields

from aag.mapping.axes import GridAxis
from aag.mapping.layout import Layout, Layouts
from aag.wording import plural


class LayoutRow(Struct, frozen=True, kw_only=True):
    """One array. `elements` and `bytes` are those of one processor, as a range where they differ."""

    array: str
    bounds: str
    dimensions: str
    grid: str
    template: str
    elements: str
    bytes: str


def layout_rows(layouts: Layouts) -> tuple[LayoutRow, ...]:
    """One row for each array, in source order."""
    return tuple(_row(layout) for layout in layouts.arrays.values())


def describe_layouts(layouts: Layouts) -> str:
    """The processors, a table of all arrays, and the notes."""
    rows = layout_rows(layouts)
    count = plural(layouts.procs, "processor")
    parts = [f"{count}, grid {_named(layouts.grid.name, str(layouts.grid))}"]
    parts.append("\n".join(_table(rows)) if rows else "no arrays")
    parts += ["\n".join(str(note) for note in layouts.notes)] if layouts.notes else []
    return "\n\n".join(parts) + "\n"


def _row(layout: Layout) -> LayoutRow:
    elements = layout.local_elements()
    least, most = int(elements.min()), int(elements.max())
    return LayoutRow(
        array=layout.array,
        bounds=", ".join(f"{upper}" if lower == 1 else f"{lower}:{upper}" for lower, upper in layout.bounds),
        dimensions=", ".join(_dimension(layout, dim) for dim in range(layout.rank)),
        grid=_grid(layout),
        template=layout.template or "-",
        elements=_range(least, most),
        bytes=_range(least * layout.element_bytes, most * layout.element_bytes),
    )


def _dimension(layout: Layout, dim: int) -> str:
    at = layout.axis_of_dim(dim)
    if at is None:
        return "*"
    axis = layout.axes[at]
    return f"{axis.distribution}{_cell(axis)} over {at + 1}"


def _cell(axis: GridAxis) -> str:
    """How an index becomes a template index, where it is not simply the same."""
    if (axis.stride, axis.offset) == (1, 0):
        return ""
    factor = {1: "", -1: "-"}.get(axis.stride, f"{axis.stride}*")
    return f" of {factor}i{axis.offset:+d}" if axis.offset else f" of {factor}i"


def _grid(layout: Layout) -> str:
    """The grid, and what its axes mean that no dimension is spread over."""
    if not layout.is_distributed:
        return "every processor"
    rest = [
        f"all of {at}" if axis.role == "replicated" else f"{axis.coordinate} of {at}"
        for at, axis in enumerate(layout.axes, start=1)
        if axis.role != "dim"
    ]
    return ", ".join([_named(layout.grid.name, str(layout.grid)), *rest])


def _named(name: str, shape: str) -> str:
    return f"{name} {shape}" if name else shape


def _range(least: int, most: int) -> str:
    return f"{most}" if least == most else f"{least}..{most}"


def _table(rows: Sequence[LayoutRow]) -> list[str]:
    names = [each.name for each in fields(LayoutRow)]
    cells = [names, *([str(getattr(row, name)) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    right = {"elements", "bytes"}
    return [
        "  ".join(
            text.rjust(width) if name in right else text.ljust(width)
            for text, width, name in zip(line, widths, names, strict=True)
        ).rstrip()
        for line in cells
    ]
