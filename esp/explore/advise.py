"""Search the best mapping of a program: distributions, alignments, grids and numbers of processors, with bounds.

What may be chosen comes from `esp.explore.choices` and `esp.explore.advise_alignments`. Each choice is lowered, which
is cheap; few are predicted (`esp.explore.bounds`). The best are those that predicting everything would find, in its
order.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from os import PathLike
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span, UnresolvedError
from aag.ir.directives import Align
from aag.ir.units import Form
from esp import arguments
from esp.api import (
    Prediction,
    Request,
    Source,
    Stages,
    interpret_stages,
    load_machine,
    lower_source,
    map_source,
    read_source,
    requested,
)
from esp.calling import in_python
from esp.errors import UsageError
from esp.explore.advise_alignments import Alignment, alignments_of
from esp.explore.advise_phases import Phases
from esp.explore.advise_phases import phases as phases_of
from esp.explore.axes import values_of
from esp.explore.bounds import BOUND, EXACT, Search, lower_bound, smallest
from esp.explore.choices import Distributed, MappingChoice, choices_of, distributed_by, is_written, written_choice
from esp.explore.compare import named_formats
from esp.explore.interval import Walk, cheap, contenders, interval_of, own_walk
from esp.explore.places import Elsewhere
from esp.explore.ties import Certainty, certainty, ties, timing
from esp.prediction import assuming, first
from esp.shown import Printed
from esp.sources import Name
from interpreter.result import Assumption
from sag.unit import System

TOP = 3
"""Choices that are predicted in any case: the winner and two runners-up."""


class Candidate(Struct, frozen=True, kw_only=True):
    """One of the choices of the search."""

    choice: MappingChoice
    procs: int
    grid: tuple[int, ...]
    aligned: tuple[Align, ...] = ()
    """Alignments that differ from those of the source."""
    alignment: str = ""
    """How these are shown."""
    written: bool
    """Whether it is the source's own mapping, on the PROCESSORS of the source or on others."""
    directives: tuple[str, ...]
    """Lines to paste in place of those of the source; none: the source has them."""
    replaced: tuple[Span, ...] = ()
    """Where those of the source are."""
    elsewhere: tuple[Elsewhere, ...] = ()
    """Lines for further program units."""
    assumptions: tuple[Assumption, ...] = ()
    """What its number of processors rests on."""

    @property
    def shown(self) -> str:
        """Formats and alignments as a table shows them."""
        return f"{self.choice.shown} {self.alignment}".rstrip()


class Advised(Struct, frozen=True, kw_only=True):
    """A predicted choice. `tie`: rank (from 1) of the choice that it ties with."""

    rank: int
    candidate: Candidate
    time_s: float
    prediction: Prediction
    error: float
    """The error stated for the prediction (Def 19)."""
    tie: int | None


class Excluded(Struct, frozen=True, kw_only=True):
    """A choice without a prediction: it takes at least `bound_s` (0: unknown, because the search was stopped)."""

    candidate: Candidate
    bound_s: float


class Advice(Printed, Struct, frozen=True, kw_only=True):
    """The result of `advise`."""

    ranked: tuple[Advised, ...]
    """What was predicted, the fastest first."""
    excluded: tuple[Excluded, ...]
    """What was not, by bound."""
    impossible: tuple[tuple[str, Diagnostic], ...]
    left_out: int
    """Grids, formats and alignments that were not even tried."""
    interrupted: bool
    """The search was stopped: the first is the best so far."""
    proven: bool
    """Whether nothing among the choices is faster than the first."""
    file: str
    top: int
    """So many were wanted; what else is ranked had to be predicted on the way."""
    procs: tuple[int, ...]
    """The numbers of processors that were searched."""
    warnings: tuple[Diagnostic, ...]
    phases: Phases | None = None
    """What changing the mapping between parts would bring, if asked for and if there are parts."""
    mappings: tuple[Candidate, ...] = ()
    """Those that `phases` numbers."""
    timed: bool = False
    """Whether the timed region is ranked."""

    @property
    def best(self) -> Advised:
        """The fastest; the first where nothing is ranked."""
        return self.ranked[0]

    @property
    def certainty(self) -> Certainty:
        """How sure it is that the first is the fastest of those that were predicted."""
        return certainty([timing(each.prediction, timed=self.timed) for each in self.ranked])

    @property
    def complete(self) -> bool:
        """Whether the choices are ranked: incomplete predictions are listed as they were tried (Def 20)."""
        return all(each.prediction.complete for each in self.ranked)

    @property
    def written(self) -> Advised | None:
        """The source's own mapping on most processors."""
        own = [each for each in self.ranked if each.candidate.written]
        return max(own, key=lambda each: each.candidate.procs, default=None)

    @property
    def recommended(self) -> Advised | None:
        """The source's own mapping where it ties with the fastest, else the fastest; None where nothing is ranked, or
        nothing fits in memory."""
        if not self.complete or not self.best.prediction.fits:
            return None
        own = self.written
        return own if own is not None and own.tie == 1 else self.best

    @property
    def floor_s(self) -> float:
        """The largest known lower bound of all choices."""
        return min((self.best.time_s, *(each.bound_s for each in self.excluded)))

    @property
    def may_tie(self) -> int:
        """The number of choices without a prediction that may tie with the best (Def 19)."""
        return sum(each.bound_s <= self.best.time_s * (1.0 + self.best.error) for each in self.excluded)


class SearchProgress(Struct, frozen=True, kw_only=True):
    """How far a search is."""

    total: int
    bounded: int
    predicted: int
    best: Candidate | None
    best_s: float


@in_python
def advise(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | Sequence[int] | str | None = None,
    *,
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    distribute: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    align: bool = True,
    top: int = TOP,
    phases: bool = False,
    **options: Any,
) -> Advice:
    """Search for the mapping with the shortest predicted time.

    Args:
        source: as for `esp.predict`.
        system: as for `esp.predict`.
        procs: a number of processors, several, or ``"4..64"``: 4, 8, 16, 32 and 64; by default as for
            `esp.predict`.
        form: as for `esp.predict`.
        distribute: formats to choose from, as for `esp.compare`; by default all sensible ones.
        align: whether to try other alignments than those of the source.
        top: how many of the best choices to predict.
        phases: whether to check if REDISTRIBUTE between parts of the program pays; this predicts all distributions.
        **options: all others of `esp.predict`: what-ifs (one value each), `grid` for all choices, values.

    Examples:
        >>> import esp
        >>> found = esp.advise("laplace.hpf", procs=[4, 8], n=64)
        >>> found.best.candidate.shown, found.best.candidate.procs
        ('(*,BLOCK)', 8)

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        esp.SourceError: no choice can be predicted.
        esp.MachineError: the machine or a what-if prevents it.
        esp.EspError: a file or an argument prevents it.
    """
    numbers = numbers_of(procs)
    read = read_source(source, form=form, cost=cost)
    request = requested(None, **options)
    return advise_source(
        read, load_machine(system), request, numbers, named=named_formats(distribute), align=align, top=top, look=phases
    )


def numbers_of(procs: int | Sequence[int] | str | None) -> tuple[int | None, ...]:
    """Numbers of processors: one, several, or text such as ``4..64`` (doubling) and ``4,6,12`` (`esp.explore.axes`).

    Raises:
        UsageError: it cannot be read.
    """
    if procs is None or isinstance(procs, int):
        return (arguments.processors(procs),)
    if not isinstance(procs, str):
        return tuple(dict.fromkeys(arguments.processors(each) for each in procs))
    values = values_of(procs, "--procs")
    for each in values:
        if not each.isdecimal():
            hint = "Give one, or a list such as 1,2,4 or 4..64."
            raise UsageError(f"{each!r} is not a processor count.", where="--procs", hint=hint)
    return tuple(arguments.processors(int(each)) for each in values)


def advise_source(
    source: Source,
    system: System,
    request: Request,
    numbers: Sequence[int | None],
    *,
    named: Sequence[Mapping[str, str]] = (),
    align: bool = True,
    top: int = TOP,
    look: bool = False,
    progress: Callable[[SearchProgress], None] | None = None,
) -> Advice:
    """As `advise`, for a program that is read and a machine that is loaded; `look`: at phases; `progress` is told of
    every step.

    Raises:
        KeyboardInterrupt: it was stopped before anything was predicted.
    """
    if top < 1:
        raise UsageError("give at least one choice.", where="--top")
    if request.grid is not None and len(numbers) > 1:
        raise UsageError("one grid cannot fit several processor counts.", where="--grid")
    candidates, left_out = candidates_of(source, system, request, numbers, named=named, align=align)
    work = _Work(source, system, request, candidates, progress)
    own = [at for at, each in enumerate(candidates) if each.written and work.fits(at)]
    most = max((candidates[at].procs for at in own), default=0)
    wanted = [at for at in own if candidates[at].procs == most]
    search = smallest(len(candidates), work.bound, work.figure, top, wanted=wanted)
    if not search.exact and work.predictions and not search.interrupted:  # nothing fits in memory
        work.fitting = False
        search = smallest(len(candidates), work.bound, work.figure, top, wanted=wanted)
    if not search.exact:
        if search.interrupted:
            raise KeyboardInterrupt
        raise work.problem or SourceError([])
    if not look or search.interrupted or not all(each.complete for each in work.predictions.values()):
        return _advice(search, work, left_out, top)
    same = work.unaligned(candidates[search.found[0]].procs, search)
    found = None
    if not search.interrupted:
        requests = [work.requests[at] for at in same]
        layouts = [map_source(source, system, each) for each in requests]
        found = phases_of(source, system, requests, layouts, [work.predictions[at] for at in same])
    mappings = tuple(candidates[at] for at in same)
    return replace(_advice(search, work, left_out, top), phases=found, mappings=mappings)


def candidates_of(
    source: Source,
    system: System,
    request: Request,
    numbers: Sequence[int | None],
    *,
    named: Sequence[Mapping[str, str]] = (),
    align: bool = True,
) -> tuple[list[Candidate], int]:
    """All choices of a search, that of the source among them, and how many more were left out."""
    found: list[Candidate] = []
    left_out = 0
    for number in numbers:
        asked = replace(request, procs=number)
        distributed = distributed_by(source, system, asked)
        own = written_choice(distributed)
        alignments: tuple[Alignment, ...] = (Alignment(),)
        not_tried = 0
        if align:
            alignments, not_tried = alignments_of(source, system, asked, distributed)
        for alignment in alignments:
            moved = {each.alignee for each in alignment.aligned}
            targets = tuple(each for each in distributed.targets if each.name not in moved)
            choices, more = choices_of(replace(distributed, targets=targets), named=named, grid=request.grid)
            some = [_candidate(each, alignment, distributed, own) for each in choices]
            if own is not None and not moved and not any(each.written for each in some):
                some.append(_candidate(own, alignment, distributed, own))
            left_out += more + (0 if moved else not_tried * len(choices))
            found += some
    return found, left_out


def _candidate(
    choice: MappingChoice, alignment: Alignment, distributed: Distributed, own: MappingChoice | None
) -> Candidate:
    moved = distributed.alignments
    written = not alignment.aligned and own is not None and is_written(choice, own, distributed)
    kept = written and not distributed.rearranged
    return Candidate(
        choice=choice,
        procs=distributed.procs,
        grid=choice.grid or distributed.grid,
        aligned=alignment.aligned,
        alignment=alignment.shown,
        written=written,
        directives=() if kept else (*choice.directives, *alignment.directives),
        elsewhere=() if kept else choice.elsewhere,
        replaced=(*choice.replaced, *(moved[each.alignee] for each in alignment.aligned if each.alignee in moved)),
        assumptions=distributed.assumptions,
    )


def request_for(candidate: Candidate, request: Request) -> Request:
    """The request that predicts a candidate."""
    if candidate.written:
        return replace(request, procs=candidate.procs)
    return replace(request, procs=candidate.procs, align=candidate.aligned, **candidate.choice.applied(request))


class _Work:
    """Bounds and predictions of the candidates, each made once."""

    def __init__(
        self,
        source: Source,
        system: System,
        request: Request,
        candidates: Sequence[Candidate],
        progress: Callable[[SearchProgress], None] | None,
    ) -> None:
        self.source, self.system, self.candidates, self.progress = source, system, candidates, progress
        self.requests = [request_for(each, request) for each in candidates]
        self.stages: dict[int, Stages] = {}
        self.predictions: dict[int, Prediction] = {}
        self.walks: dict[int, Walk] = {}
        self.bounds: dict[int, float] = {}
        self.impossible: dict[int, Diagnostic] = {}
        self.problem: SourceError | None = None
        self.fitting = True
        """Whether only what fits in memory counts."""

    def fits(self, at: int) -> bool:
        """Whether a candidate can be lowered: the source's own mapping need not fit every number of processors."""
        try:
            self._lowered(at)
        except SourceError as error:
            self._failed(at, error)
        return at not in self.impossible

    def bound(self, at: int) -> float:
        """What a candidate cannot fall below."""
        if at in self.bounds:
            return self.bounds[at]
        try:
            found = lower_bound(self._lowered(at), self.system, self.requests[at])
        except SourceError as error:
            return self._failed(at, error)
        self.bounds[at] = found
        self._tell()
        return found

    def figure(self, at: int) -> float:
        """The time of a candidate; infinite where it does not fit in memory, and that counts."""
        try:
            if at not in self.predictions:
                stages = self._lowered(at)
                made = interpret_stages(stages, self.system, self.requests[at])
                self.predictions[at] = assuming(made, self.candidates[at].assumptions)
                if cheap(made):
                    self.walks[at] = own_walk(stages, self.system, self.requests[at], made=made)
        except SourceError as error:
            return self._failed(at, error)
        self.stages.pop(at, None)
        self._tell()
        return inf if self.fitting and not self.predictions[at].fits else self.floor(at)

    def sure(self, order: Sequence[int]) -> list[Prediction]:
        """The predictions in this order, those that could be the fastest with their intervals."""
        made = [self.predictions[at] for at in order]
        for i in contenders([self.floor(at) for at in order], made):
            request, walk = self.requests[order[i]], self.walks.get(order[i])
            interval = interval_of(self.source, self.system, request, walk, made=made[i])
            made[i] = replace(made[i], interval=interval)
        return made

    def floor(self, at: int) -> float:
        """The time of a prediction that is made."""
        prediction = self.predictions[at]
        timed = prediction.timed_s if self.requests[at].timed else None
        return first(prediction.time_s if timed is None else timed)

    def unaligned(self, procs: int, search: Search) -> list[int]:
        """Predict all candidates of a number of processors that leave alignments alone; Ctrl-C ends that."""
        found = []
        try:
            for at, each in enumerate(self.candidates):
                if each.procs != procs or each.aligned:
                    continue
                if at not in self.predictions and at not in self.impossible:
                    search.floor[at] = self.figure(at)
                    search.known[at] = EXACT
                if at in self.predictions:
                    found.append(at)
        except KeyboardInterrupt:
            search.interrupted = True
        return found

    def _lowered(self, at: int) -> Stages:
        if at not in self.stages:
            self.stages[at] = lower_source(self.source, self.system, self.requests[at])
        return self.stages[at]

    def _failed(self, at: int, error: SourceError) -> float:
        if isinstance(error, UnresolvedError) and self.candidates[at].written:
            raise error
        self.problem = self.problem or error
        self.impossible[at] = error.diagnostics[0]
        return inf

    def _tell(self) -> None:
        if self.progress is None:
            return
        best = min(self.predictions, key=lambda at: (not self.predictions[at].fits, self.floor(at), at), default=None)
        self.progress(
            SearchProgress(
                total=len(self.candidates),
                bounded=len(self.bounds),
                predicted=len(self.predictions),
                best=None if best is None else self.candidates[best],
                best_s=inf if best is None else self.floor(best),
            )
        )


def _advice(search: Search, work: _Work, left_out: int, top: int) -> Advice:
    order = search.exact
    over = [at for at in work.predictions if at not in order]
    order += sorted(over, key=lambda at: (work.floor(at), at))
    if not all(work.predictions[at].complete for at in order):
        order.sort()
    made = [work.predictions[at] for at in order] if search.interrupted else work.sure(order)
    timings = [timing(each, timed=work.requests[at].timed) for at, each in zip(order, made, strict=True)]
    ranked = tuple(
        Advised(
            rank=number + 1,
            candidate=work.candidates[at],
            time_s=timings[number].time_s,
            prediction=made[number],
            error=timings[number].error,
            tie=None if tied is None else tied + 1,
        )
        for number, (at, tied) in enumerate(zip(order, ties(timings), strict=True))
    )
    rest = [at for at, known in enumerate(search.known) if known != EXACT and at not in work.impossible]
    rest.sort(key=lambda at: (search.floor[at] if search.known[at] == BOUND else inf, at))
    return Advice(
        ranked=ranked,
        excluded=tuple(Excluded(candidate=work.candidates[at], bound_s=search.floor[at]) for at in rest),
        impossible=tuple((work.candidates[at].shown, why) for at, why in sorted(work.impossible.items())),
        left_out=left_out,
        interrupted=search.interrupted,
        proven=search.rest >= timings[0].time_s,
        file=work.source.program.file,
        top=top,
        procs=tuple(dict.fromkeys(each.procs for each in work.candidates)),
        warnings=ranked[0].prediction.warnings,
        timed=work.requests[order[0]].timed,
    )
