"""What lies where at one point of a program, and what REALIGN and REDISTRIBUTE make of it (design decision D12)."""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir.directives import Align, Distribute
from aag.ir.evaluate import Value
from aag.mapping.alignment import Cell, Placement, cells_of, compose, itself
from aag.mapping.arrangements import Arrangements
from aag.mapping.axes import REPLICATED, GridAxis
from aag.mapping.dealing import Dealt, dealt
from aag.mapping.grid import Grid
from aag.mapping.report import Report
from aag.mapping.scope import Bounds


class Kept(Struct, frozen=True):
    """The mapping of an array at some point: its placement, and how its root is distributed."""

    placement: Placement | None
    dealt: Dealt | None


class Configuration(Struct, frozen=True, kw_only=True):
    """Where every template and array lies in its ultimate align target, and how those are distributed.

    None stands for what was reported, and in `distributed` for what lies on every processor.
    """

    placements: Mapping[str, Placement | None]
    distributed: Mapping[str, Dealt | None]
    kept: Mapping[str, "Kept"] = field(default_factory=dict)
    """Mappings to which arrays will return."""

    def axes(self, name: str, first: Grid) -> tuple[Grid, tuple[GridAxis, ...]] | None:
        """The grid of a template or array and what each axis of it means; None: a problem was reported.

        Args:
            name: A template or an array.
            first: The grid of what is not distributed.
        """
        placement = self.placements.get(name)
        if placement is None:
            return None
        root = self.distributed.get(placement.root)
        if root is None:
            return first, (REPLICATED,) * len(first.shape)
        return root.grid, tuple(_axis(placement.cells[dim], root, dim) for dim in root.axes())


class Mapper(Struct, frozen=True, kw_only=True):
    """What directives mean in one program unit. `bounds`: of every template and array; None was reported."""

    bounds: Mapping[str, Bounds | None]
    arrangements: Arrangements
    env: Mapping[str, Value]

    def dealt(self, directive: Distribute, report: Report) -> Dealt | None:
        """How a directive distributes what it names; None: not at all, or a problem was reported."""
        bounds = self.bounds.get(directive.distributee)
        return None if bounds is None else dealt(directive, bounds, self.arrangements, self.env, report)

    def placed(self, align: Align, placements: Mapping[str, Placement | None], report: Report) -> Placement | None:
        """The placement that an ALIGN or REALIGN gives, where its target lies now."""
        own, target = self.bounds.get(align.alignee), self.bounds.get(align.target)
        if own is None or target is None:
            return None
        cells, outer = cells_of(align, own, target, self.env, report), placements.get(align.target)
        return None if cells is None or outer is None else compose(cells, outer)

    def remapped(self, before: Configuration, directive: Align | Distribute, report: Report) -> Configuration:
        """What a REALIGN or REDISTRIBUTE makes of a configuration.

        REALIGN moves its alignee only; REDISTRIBUTE moves its distributee, and all that is aligned with it.
        """
        match directive:
            case Align(alignee=name):
                placement = self.placed(directive, before.placements, report)
                return replace(before, placements={**before.placements, name: placement})
            case Distribute(distributee=name):
                found = {**before.distributed, name: self.dealt(directive, report)}
                own = itself(name, len(self.bounds.get(name) or ()))
                return replace(before, placements={**before.placements, name: own}, distributed=found)

    def entered(self, before: Configuration, directive: Align | Distribute, kept: str, report: Report) -> Configuration:
        """What the mapping of a dummy argument makes of a configuration: it moves the actual array alone."""
        name = directive.alignee if isinstance(directive, Align) else directive.distributee
        placement = before.placements.get(name)
        dealt = None if placement is None else before.distributed.get(placement.root)
        made = replace(before, kept={**before.kept, kept: Kept(placement, dealt)})
        if isinstance(directive, Align):
            return self.remapped(made, directive, report)
        root = f"{name}${kept}"
        own = itself(root, len(self.bounds.get(name) or ()))
        found = {**made.distributed, root: self.dealt(directive, report)}
        return replace(made, placements={**made.placements, name: own}, distributed=found)

    def restored(self, before: Configuration, name: str, kept: str) -> Configuration:
        """What the end of a procedure makes of a configuration: the array alone has its mapping back.

        If the procedure redistributed what it is aligned with, the array is aligned with a copy of that from then on.
        """
        old = before.kept[kept]
        distributed, placement = dict(before.distributed), old.placement
        if placement is not None and not _same(distributed.get(placement.root), old.dealt):
            placement = replace(placement, root=f"{placement.root}${kept}")
            distributed[placement.root] = old.dealt
        left = {key: each for key, each in before.kept.items() if key != kept}
        return Configuration(placements={**before.placements, name: placement}, distributed=distributed, kept=left)


def _same(left: Dealt | None, right: Dealt | None) -> bool:
    """Whether two distributions are equal, whichever directives say so."""
    if left is None or right is None:
        return left is right
    return (left.grid, left.dims) == (right.grid, right.dims)


class Dynamics(Struct, frozen=True, kw_only=True):
    """What a program that remaps begins with, and what its directives mean. `first`: as of `Configuration.axes`."""

    start: Configuration
    mapper: Mapper
    first: Grid


def _axis(cell: Cell, root: Dealt, dim: int) -> GridAxis:
    distribution = root.dims[dim]
    if cell.role == "replicated" or distribution is None:
        return REPLICATED
    if cell.role == "fixed":
        coordinate = int(distribution.owner(cell.offset))
        return GridAxis(role="fixed", offset=cell.offset, distribution=distribution, coordinate=coordinate)
    return GridAxis(role="dim", dim=cell.dim, stride=cell.stride, offset=cell.offset, distribution=distribution)


def place_of(entity: Span, directive: Span | None) -> Span:
    """Where a layout is decided: at a directive of the source, else at the declaration."""
    return directive if directive is not None and directive.line and not directive.is_option else entity
