"""Compare distributions: predict and rank every sensible DISTRIBUTE of a program, or several programs.

The source is read once, and so is the machine; each choice is lowered and interpreted by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import inf
from os import PathLike
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, UnresolvedError
from aag.ir.units import Form, Program
from aag.pipeline import main_unit
from esp import arguments
from esp.api import Prediction, Request, Source, load_machine, read_source, requested
from esp.calling import in_python
from esp.errors import UsageError
from esp.explore.choices import Distributed, MappingChoice, choices_of, distributed_by, is_written, written_choice
from esp.explore.crossover import Ahead, Crossover, Scan, TimeOf, crossover, scan, size_above, sizes_below
from esp.explore.interval import contenders
from esp.explore.predictions import Predictions, Question
from esp.explore.sizes import others_fixed, size_name, sizes_of
from esp.explore.ties import Certainty, certainty, ties, timing
from esp.prediction import assuming, first
from esp.shown import Printed
from esp.sources import Name
from sag.unit import System

CHALLENGERS = 3
"""Choices of other formats that the best one is held against at smaller sizes."""


Progress = Callable[[int, int, float], None]
"""Called with predictions made, predictions in all, and the shortest time so far."""


class Ranked(Struct, frozen=True, kw_only=True):
    """One line of a comparison. `tie`: rank (from 1) of the choice that it ties with."""

    rank: int
    shown: str
    grid: tuple[int, ...]
    time_s: float
    prediction: Prediction
    error: float
    """The error stated for the prediction (Def 19)."""
    tie: int | None
    written: bool
    """Whether the source has it so."""
    choice: MappingChoice | None
    """None where whole programs are compared."""


class Comparison(Printed, Struct, frozen=True, kw_only=True):
    """The result of `compare`: the choices, the fastest first."""

    ranked: tuple[Ranked, ...]
    impossible: tuple[tuple[str, Diagnostic], ...]
    """Choices that have no prediction, and why."""
    left_out: int
    """Grids and formats that were not tried."""
    crossover: Crossover | None
    """Its choices are ranks (from 1)."""
    scan: Scan | None
    """The best of each size, where sizes were named; ranks (from 1)."""
    programs: tuple[str, ...]
    """The files, more than one where programs are compared."""
    differ: bool
    """Whether these differ in more than directives."""
    warnings: tuple[Diagnostic, ...]
    timed: bool = False
    """Whether the timed region is ranked."""
    rearranged: bool = False
    """Whether the mapping of the source needs other PROCESSORS than the source has."""
    interrupted: bool = False
    """Whether it was stopped: the first is the fastest so far."""
    untried: tuple[str, ...] = ()
    """The choices that had no prediction then."""

    @property
    def best(self) -> Ranked:
        """The fastest; the first where nothing is ranked."""
        return self.ranked[0]

    @property
    def certainty(self) -> Certainty:
        """How sure it is that the first is the fastest."""
        return certainty([timing(each.prediction, timed=self.timed) for each in self.ranked])

    @property
    def recommended(self) -> Ranked | None:
        """The mapping of the source where it ties with the fastest, else the fastest; None where nothing is ranked,
        it was stopped, nothing fits in memory, or whole programs are compared."""
        if not self.complete or self.interrupted or not self.best.prediction.fits or self.best.choice is None:
            return None
        return next((each for each in self.ranked if each.written and each.tie == 1), self.best)

    @property
    def pasted(self) -> MappingChoice | None:
        """The choice whose directives are worth pasting; None where the source has them."""
        wanted = self.recommended
        if wanted is None or wanted.choice is None or (wanted.written and not self.rearranged):
            return None
        return wanted.choice

    @property
    def complete(self) -> bool:
        """Whether the choices are ranked: incomplete predictions are listed as they were tried (Def 20)."""
        return all(each.prediction.complete for each in self.ranked)


@in_python
def compare(
    source: Name | Source | Sequence[Name | Source],
    system: str | PathLike[str] = "ipsc860",
    procs: int | None = None,
    *,
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    distribute: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    size: str | None = None,
    jobs: int = 1,
    interval: bool = False,
    **options: Any,
) -> Comparison:
    """Predict and rank the possible distributions of a program.

    Args:
        source: as for `esp.predict`; a list compares these programs as they are.
        system: as for `esp.predict`.
        procs: as for `esp.predict`.
        form: as for `esp.predict`.
        distribute: the distributions to compare (default: all): formats such as ``"(BLOCK,*)"``, a list of them, or
            name -> formats or list of them.
        size: the PARAMETER to search for a crossover (default: the one that sizes the distributed arrays);
            ``"none"``: do not search; ``"n=16:256:16"``: try every choice at each of these sizes.
        jobs: processes on this computer, used if they save time; results do not change. With more than one, a script
            needs ``if __name__ == "__main__":`` around its calls.
        interval: find how sure the ranking is also where that takes long, as messages wait for each other on links.
        **options: all others of `esp.predict`: what-ifs (one value each), `grid` for all choices, values such as
            ``n=512``.

    Examples:
        >>> import esp
        >>> found = esp.compare("laplace.hpf", procs=8, n=64, size="none")
        >>> found.best.shown
        '(*,BLOCK)'
        >>> [row["choice"] for row in found.rows()][:2]
        ['(*,BLOCK)', '(BLOCK,*)']

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        esp.SourceError: no choice can be predicted.
        esp.MachineError: the machine or a what-if prevents it.
        esp.EspError: a file or an argument prevents it.
    """
    sources = [source] if isinstance(source, str | PathLike | Source) else list(source)
    arguments.jobs(jobs)
    if not sources:
        raise UsageError("there is no program to compare.")
    read = [read_source(each, form=form, cost=cost) for each in sources]
    request = requested(arguments.processors(procs), **options)
    machine = load_machine(system)
    if len(read) > 1:
        return compare_programs(read, machine, request, jobs=jobs, interval=interval)
    named = named_formats(distribute)
    return compare_choices(read[0], machine, request, named=named, size=size, jobs=jobs, interval=interval)


def named_formats(distribute: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None) -> list[dict[str, str]]:
    """What is to be compared: one name -> formats for each combination; the name ``""`` is for all that fit."""
    if distribute is None:
        return []
    by_name = distribute if isinstance(distribute, Mapping) else {"": distribute}
    lists = [[(name.lower(), each) for each in _several(formats)] for name, formats in by_name.items()]
    return [dict(combined) for combined in product(*lists)]


def _several(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def compare_choices(
    source: Source,
    system: System,
    request: Request,
    *,
    named: Sequence[Mapping[str, str]] = (),
    size: str | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
    interval: bool = False,
) -> Comparison:
    """As `compare`, for a program that is read and a machine that is loaded; `named`: see `choices_of`."""
    _refuse_scenarios(request)
    distributed = distributed_by(source, system, request)
    choices, left_out = choices_of(distributed, named=named, grid=request.grid)
    aligned = tuple(f"!HPF$ ALIGN {each.strip().upper()}" for each in request.align_texts)
    moved = [distributed.alignments[each.alignee] for each in request.align if each.alignee in distributed.alignments]
    choices = tuple(
        replace(each, directives=(*each.directives, *aligned), replaced=(*each.replaced, *moved)) for each in choices
    )
    written = written_choice(distributed, aligned)
    if written and not any(is_written(each, written, distributed) for each in choices):
        choices = (*choices, written)
    requests = [request if each is written else replace(request, **each.applied(request)) for each in choices]
    names = [each.shown for each in choices]
    as_is = None if request.align else written  # no choice has the source's mapping where arrays are aligned anew
    own = [as_is is not None and is_written(each, as_is, distributed) for each in choices]
    wanted = [(source, each) for each in requests]
    with Predictions(wanted, system, jobs) as predictions:
        done, impossible, untried = _predict_all(predictions, names, own, progress)
        done = {at: assuming(each, distributed.assumptions) for at, each in done.items()}
        if named and not any(at in done for at, each in enumerate(choices) if each is not written):
            raise SourceError([impossible[0][1]])
        order, done, stopped = _with_intervals(
            done, predictions, request, len(wanted), progress, stopped=bool(untried), always=interval
        )
        ranked = _ranked([(names[at], done[at], own[at], choices[at]) for at in order], request)
        crossing, scanned = None, None
        if not stopped and ranked[0].prediction.fits and all(each.complete for each in done.values()):
            try:
                crossing, scanned = _over_sizes(source.program, predictions, order, ranked, distributed, size, request)
            except KeyboardInterrupt:
                stopped = True
    return Comparison(
        ranked=ranked,
        impossible=impossible,
        left_out=left_out,
        crossover=crossing,
        scan=scanned,
        programs=(source.program.file,),
        differ=False,
        warnings=done[order[0]].warnings,
        timed=request.timed,
        rearranged=distributed.rearranged,
        interrupted=stopped,
        untried=untried,
    )


def compare_programs(
    sources: Sequence[Source],
    system: System,
    request: Request,
    *,
    progress: Progress | None = None,
    jobs: int = 1,
    interval: bool = False,
) -> Comparison:
    """Several programs as they are, ranked."""
    _refuse_scenarios(request)
    files = [each.program.file for each in sources]
    wanted = _with_own_values(sources, request)
    with Predictions(wanted, system, jobs) as predictions:
        done, impossible, untried = _predict_all(predictions, files, [True] * len(files), progress)
        order, done, stopped = _with_intervals(
            done, predictions, request, len(wanted), progress, stopped=bool(untried), always=interval
        )
    code = [_code(sources[at].program) for at in order]
    return Comparison(
        ranked=_ranked([(files[at], done[at], True, None) for at in order], request),
        impossible=impossible,
        left_out=0,
        crossover=None,
        scan=None,
        programs=tuple(files),
        differ=any(each != code[0] for each in code),
        warnings=tuple(dict.fromkeys(found for at in order for found in done[at].warnings)),
        timed=request.timed,
        interrupted=stopped,
        untried=untried,
    )


def _with_own_values(sources: Sequence[Source], request: Request) -> list[tuple[Source, Request]]:
    """What is asked of each program: a value whose name only others of them have is none of its business."""
    names = [{entity.name for unit in each.program.units for entity in unit.entities} for each in sources]
    somewhere = set().union(*names)
    return [
        (
            each,
            replace(
                request,
                values={
                    name: value
                    for name, value in request.values.items()
                    if name.lower() in own or name.lower() not in somewhere
                },
            ),
        )
        for each, own in zip(sources, names, strict=True)
    ]


def _refuse_scenarios(request: Request) -> None:
    if request.scenario.has_lists:
        hint = "esp.sweep crosses distributions with what-ifs."
        raise UsageError("a comparison takes one value for each what-if.", hint=hint)


def _with_intervals(
    done: Mapping[int, Prediction],
    predictions: Predictions,
    request: Request,
    total: int,
    progress: Progress | None,
    *,
    stopped: bool,
    always: bool,
) -> tuple[list[int], dict[int, Prediction], bool]:
    """The order of the predictions, these with the intervals of those that could be the fastest, and whether the
    comparison was stopped, before or meanwhile."""
    order = _order(done, request)
    times_s = [_time_s(done[at], request) for at in order]
    near = [] if stopped else [order[at] for at in contenders(times_s, [done[at] for at in order], always=always)]
    found = dict(done)
    try:
        for number, (at, made) in enumerate(predictions.with_intervals(done, near), 1):
            found[at] = made
            if progress is not None:
                progress(total + number, total + len(near), times_s[0])
    except KeyboardInterrupt:
        stopped = True
    return order, found, stopped


def _predict_all(
    predictions: Predictions, names: Sequence[str], own: Sequence[bool], progress: Progress | None
) -> tuple[dict[int, Prediction], tuple[tuple[str, Diagnostic], ...], tuple[str, ...]]:
    """Predictions by position, what has none, and what was not tried as Ctrl-C came. `own`: whether it is mapped as its
    source says.

    Raises:
        KeyboardInterrupt: it came before anything was predicted.
        SourceError: there is not a single one.
        UnresolvedError: values are missing, and not only under mappings that the source does not have.
    """
    done: dict[int, Prediction] = {}
    problems: dict[int, SourceError] = {}
    untried: tuple[str, ...] = ()
    try:
        for at, made in enumerate(_in_turn(predictions, len(names), progress, 2)):
            if isinstance(made, SourceError):
                if isinstance(made, UnresolvedError) and own[at]:
                    raise made
                problems[at] = made
            else:
                done[at] = made
    except KeyboardInterrupt:
        if not done:
            raise
        untried = tuple(names[at] for at in range(len(names)) if at not in done and at not in problems)
    if not done and problems:
        raise next(iter(problems.values()))
    return done, tuple((names[at], each.diagnostics[0]) for at, each in problems.items()), untried


def predict_each(
    source: Source, system: System, requests: Sequence[Request], *, progress: Progress | None = None, jobs: int = 1
) -> tuple[Prediction | SourceError, ...]:
    """The prediction for each request, or why there is none."""
    with Predictions([(source, each) for each in requests], system, jobs, intervals=False) as predictions:
        return tuple(_in_turn(predictions, len(requests), progress))


def _in_turn(
    predictions: Predictions, total: int, progress: Progress | None, times: int = 1
) -> Iterator[Prediction | SourceError]:
    """The predictions of what is wanted, in this order. `times`: how often at most each of them is predicted in all."""
    best_s = inf
    predictions.ahead((at, ()) for at in range(total))
    for at in range(total):
        made: Prediction | SourceError
        try:
            made = predictions((at, ()))
            best_s = min(best_s, first(made.time_s))
        except SourceError as error:
            made = error
        yield made
        if progress is not None:
            progress(at + 1, times * total, best_s)


def _order(done: Mapping[int, Prediction], request: Request) -> list[int]:
    """Positions, the fastest first, what does not fit in memory last; as they are where some prediction is
    incomplete."""
    if not all(each.complete for each in done.values()):
        return list(done)
    return sorted(done, key=lambda at: (not done[at].fits, _time_s(done[at], request), at))


def _time_s(prediction: Prediction, request: Request) -> float:
    timed = prediction.timed_s if request.timed else None
    return first(prediction.time_s if timed is None else timed)


def _ranked(rows: Iterable[tuple[str, Prediction, bool, MappingChoice | None]], request: Request) -> tuple[Ranked, ...]:
    rows = list(rows)
    timings = [timing(prediction, timed=request.timed) for _, prediction, _, _ in rows]
    return tuple(
        Ranked(
            rank=at + 1,
            shown=shown,
            grid=prediction.grid if choice is None or choice.grid is None else choice.grid,
            time_s=timings[at].time_s,
            prediction=prediction,
            error=timings[at].error,
            tie=None if tied is None else tied + 1,
            written=written,
            choice=choice,
        )
        for at, ((shown, prediction, written, choice), tied) in enumerate(zip(rows, ties(timings), strict=True))
    )


def _code(program: Program) -> list[str]:
    """The lines that are neither comments nor the name of the program, blanks and case apart."""
    lines = ("".join(line.lower().split()) for line in program.lines)
    name = main_unit(program).name
    named = (f"program{name}", f"endprogram{name}")
    return [each for each in lines if each and each[0] not in "!*" and each not in named]


# --- sizes ---


def _over_sizes(
    program: Program,
    predictions: Predictions,
    order: Sequence[int],
    ranked: Sequence[Ranked],
    distributed: Distributed,
    asked: str | None,
    request: Request,
) -> tuple[Crossover | None, Scan | None]:
    """The crossover, or the best of each size where sizes are named.

    Raises:
        UsageError: no such PARAMETER, or no sizes.
    """
    given = {each.lower(): value for each, value in request.values.items()}
    constants = {**given, **ranked[0].prediction.constants}
    wanted, _, listed = (asked or "").partition("=")
    name = size_name(program, constants, distributed, wanted)
    if name is None:
        return None, None
    current = constants[name]
    assert isinstance(current, int)
    known = {(each.rank, current): each.time_s if each.prediction.fits else inf for each in ranked}

    def question(rank: int, size: int) -> Question:
        return order[rank - 1], ((name, size),)

    def time_of(rank: int, size: int) -> float:
        if (rank, size) not in known:
            try:
                made = predictions(question(rank, size))
                known[rank, size] = _time_s(made, request) if made.fits else inf
            except SourceError:  # a mapping that does not fit this size
                known[rank, size] = inf
        return known[rank, size]

    def ahead(asked: Iterable[tuple[int, int]]) -> None:
        predictions.ahead(question(*each) for each in asked if each not in known)

    fixed = others_fixed(program, constants, distributed, name)
    if listed:
        found = scan(name, time_of, [each.rank for each in ranked], sizes_of(listed), ahead=ahead)
        return None, replace(found, fixed=fixed)
    crossing = _crossover(name, time_of, ranked, current, ahead)
    return None if crossing is None else replace(crossing, fixed=fixed), None


def _crossover(name: str, time_of: TimeOf, ranked: Sequence[Ranked], current: int, ahead: Ahead) -> Crossover | None:
    procs = ranked[0].prediction.processors
    sizes, beyond = sizes_below(current, procs), size_above(current, procs)
    challengers = [ranked[at].rank for at in _challengers([each.shown for each in ranked])]
    if not challengers or len(sizes) < 2:
        return None
    tied = [each.rank for each in ranked if each.tie == 1]
    return crossover(
        name, time_of, 1, challengers, sizes, tolerance=_tolerance(ranked), tied=tied, ahead=ahead, beyond=beyond
    )


def _tolerance(ranked: Sequence[Ranked]) -> float:
    """Up to which relative difference times tie at any size."""
    return max(each.error for each in ranked)


def _challengers(shown: Sequence[str]) -> list[int]:
    """Where the best choices of other formats stand: another grid alone is hardly ever better at another size."""
    return [shown.index(each) for each in dict.fromkeys(shown) if each != shown[0]][:CHALLENGERS] if shown else []
