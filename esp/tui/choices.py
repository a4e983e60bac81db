"""The choices of `esp compare`, with a name for each that survives another number of processors."""

from msgspec.structs import replace

from esp.api import Request, Source
from esp.errors import EspError
from esp.explore.choices import Distributed, choices_of, distributed_by, normal, written_choice
from esp.explore.choices import MappingChoice as Explored
from esp.output.figures import grid as spelled
from esp.tui.question import WRITTEN, ChoiceRow, ProgramList
from sag.unit import System


def choices_for(source: Source, system: System, request: Request) -> ProgramList:
    """The source's own mapping and every sensible DISTRIBUTE beside it.

    A program that distributes nothing has one choice: itself.

    Raises:
        aag.diagnostics.SourceError: its directives or the values given prevent a mapping.
    """
    try:
        distributed = distributed_by(source, system, request)
    except EspError:  # nothing to distribute
        return ProgramList(choices=(_written("as written", ()),))
    explored, left_out = choices_of(distributed, grid=request.grid)
    asked = {name: normal(formats) for name, formats in request.distribute.items()}
    formats = {each.name: each.written for each in distributed.targets if each.written} | asked
    own = _written(" ".join(dict.fromkeys(formats.values())) or "as written", distributed.grid, bool(asked))
    kept = written_choice(distributed)
    if kept is not None and distributed.rearranged and not asked:
        own = replace(own, directives=kept.pasted)
    others = [_choice(each, rank) for rank, each in enumerate(explored) if not _is_own(each, formats, distributed)]
    sized_by = tuple(dict.fromkeys(name for each in distributed.targets for name in each.sizes))
    return ProgramList(choices=(own, *others), left_out=left_out, sized_by=sized_by)


def _written(shown: str, grid: tuple[int, ...], asked: bool = False) -> ChoiceRow:
    origin = "as given" if asked else "as in the source"
    return ChoiceRow(key=WRITTEN, shown=shown, grid=grid, written=True, rank=-1, origin=origin)


def _choice(explored: Explored, rank: int) -> ChoiceRow:
    grid = explored.grid or ()
    return ChoiceRow(
        key=f"{explored.shown} {spelled(grid)}".rstrip(),
        shown=explored.shown,
        grid=grid,
        written=False,
        rank=rank,
        formats=tuple(explored.formats.items()),
        asked_grid=explored.grid,
        directives=explored.pasted,
    )


def _is_own(explored: Explored, formats: dict[str, str], distributed: Distributed) -> bool:
    return dict(explored.formats) == formats and explored.grid in (None, distributed.grid)


def in_place_of(key: str, before: tuple[ChoiceRow, ...], now: tuple[ChoiceRow, ...]) -> str:
    """The key of the choice that stands for `key` now: itself, or one of the same formats, or that of the source."""
    if any(each.key == key for each in now):
        return key
    shown = next((each.shown for each in before if each.key == key), None)
    return next((each.key for each in now if each.shown == shown), WRITTEN)


def chosen(request: Request, choice: ChoiceRow) -> Request:
    """The request with a choice made."""
    if choice.written:
        return request
    return replace(request, distribute={**request.distribute, **dict(choice.formats)}, grid=choice.asked_grid)
