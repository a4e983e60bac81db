"""Everything that is known of a line: who computes, what is sent, the formula of its time, what would change it."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, structs

from aag.diagnostics import SourceError
from aag.graph.aau import AAU, IterD, walk
from aag.ir.evaluate import NUMBER_OF_PROCESSORS
from aag.ir.statements import Forall, If, SelectCase, Stmt, Where
from aag.ir.visitors import bodies, walk_statements
from aag.mapping.describe import LayoutRow, layout_rows
from aag.spmd.branches import has_conditions
from aag.spmd.nodes import Nest
from esp import api
from esp.computed import setting_of
from esp.inspect.changes import CHANGES, changed
from esp.inspect.decisions import Decision, decide
from esp.inspect.lines import assigns_in, charged_line, known_line, placed_in
from esp.inspect.messages import MessagePhase, Wait, Watcher, phases_of, waits_of
from esp.inspect.passed import PassedArray, passed
from esp.prediction import CATEGORIES, first, of_scenario
from interpreter.application import Application
from interpreter.engine import interpret
from interpreter.result import AauMetrics, Assumption, FigureCount, LineMetrics, MessageSummary
from sag.figures import CACHE_MISSES, cache_of
from sag.machine import CacheCosts, Machine
from sag.scenario import export
from sag.unit import System

_MOST_PROCESSORS = 2**20
_PAID = {"sending": "communication", "receiving": "communication"}


class Term(Struct, frozen=True, kw_only=True):
    """`count` times a figure are `time_s`, mean over processors. `figure`: its path in the machine file; `unit`: what
    one of it is; `paid`: what for (`interpreter.result.FigureCount`)."""

    figure: str
    unit: str
    paid: str
    count: float
    seconds: float
    estimated: bool
    time_s: float


class CostFormula(Struct, frozen=True, kw_only=True):
    """The time of one AAU in one category (Def 21): the sum of the terms less `hidden_s`; or of the `waits`."""

    aau: int
    label: str
    category: str
    executions: int
    time_s: float
    terms: tuple[Term, ...]
    hidden_s: float
    waits: tuple[Wait, ...]


class Communication(Struct, frozen=True, kw_only=True):
    """What an AAU sends; `phases` are those of the execution that moves most, `more` how many are left out."""

    aau: int
    summary: MessageSummary
    phases: tuple[MessagePhase, ...]
    more: int


class CacheTerms(Struct, frozen=True, kw_only=True):
    """What a cache misses in one AAU, mean over processors, for the whole run. `cache`: its name in the description,
    empty for the nearest cache."""

    aau: int
    cache: str = ""
    label: str
    lines_read: float
    writes: float
    written_back: float
    time_s: float


class LineChange(Struct, frozen=True, kw_only=True):
    """What something else would make of the line and of the program."""

    name: str
    line_s: float
    total_s: float


class Explanation(Struct, frozen=True, kw_only=True):
    """What `esp explain` shows of a line. `metrics` is None where the line takes no time."""

    prediction: api.Prediction
    file: str
    asked: int
    """The line that was asked about."""
    line: int
    """The line that carries its time (Def 4): the first of its statement, or of the loop it is lowered into."""
    metrics: LineMetrics | None
    tested_in: tuple[int, ...]
    """Where the line takes no time of its own as it is the condition of statements that do: the lines of the nests in
    which it is tested."""
    executed: bool
    """Whether the line has a statement that is executed."""
    decisions: tuple[Decision, ...]
    aaus: tuple[AauMetrics, ...]
    layouts: tuple[LayoutRow, ...]
    passed: tuple[PassedArray, ...]
    """The arrays that calls pass for the dummy arrays of the line; everything else names those of the caller."""
    communications: tuple[Communication, ...]
    formulas: tuple[CostFormula, ...]
    caches: tuple[CacheTerms, ...]
    cache: str
    """The cache in words; empty where the machine describes none."""
    assumptions: tuple[Assumption, ...]
    changes: tuple[LineChange, ...]


def explain(source: api.Source, system: System, request: api.Request, line: int, file: str = "") -> Explanation:
    """Explain a line of the program, in one of its files (default: that with the main program).

    Raises:
        UsageError: the program has no such line.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine or the scenario does.
    """
    file = file or source.program.file
    known_line(source, file, line)
    stages = api.lower_source(source, system, request)
    watchers: list[Watcher] = []

    def watching() -> Watcher:
        watchers.append(Watcher())
        return watchers[-1]

    prediction = api.interpret_stages(stages, system, request, watching)
    watcher = watchers[-1]
    at = charged_line(source, stages, line, file)
    metrics = next((each for each in prediction.lines if each.line == at and each.file == file), None)
    here = [each for each in placed_in(stages, file) if each.span.line == at]
    machine = export(system, request.scenario)
    lowered = Application(stages.node_program)
    values = {
        **setting_of(stages.source.program, request, stages.computed).values,
        **lowered.constants,
        NUMBER_OF_PROCESSORS: lowered.procs,
    }
    decisions = tuple(decide(each, lowered, values) for each in here)
    by_id = {each.id: each for each in prediction.aaus}
    chosen = tuple(by_id[each.id] for each in here)
    formulas = _formulas(prediction, chosen, watcher)
    touched = {name for each in decisions for name in each.arrays}
    return Explanation(
        prediction=prediction,
        file=file,
        asked=line,
        line=at,
        metrics=metrics,
        tested_in=() if metrics is not None else _tested_in(source, stages, file, at),
        executed=any(_heads(each) & {line, at} for each in _statements(source, file)),
        decisions=decisions,
        aaus=chosen,
        layouts=tuple(row for row in layout_rows(stages.node_program.layouts) if row.array in touched),
        passed=passed(source.program, file, at),
        communications=_communications(chosen, watcher, stages, machine),
        formulas=formulas,
        caches=_caches(prediction, chosen),
        cache=_cache(machine),
        assumptions=_assumptions(prediction, stages, here),
        changes=_changes(source, system, request, stages, machine, file, at),
    )


def _statements(source: api.Source, file: str) -> Iterator[Stmt]:
    """All executable statements of a file."""
    units = list(source.program.units)
    for unit in units:  # grows
        units += unit.contains
        yield from (each for each in walk_statements(unit.body) if (each.span.file or source.program.file) == file)


def _heads(statement: Stmt) -> set[int]:
    """The first lines of a statement and of its branches."""
    match statement:
        case If(branches=branches) | Where(branches=branches):
            return {statement.span.line, *(each.span.line for each in branches)}
        case SelectCase(cases=cases):
            return {statement.span.line, *(each.span.line for each in cases)}
        case _:
            return {statement.span.line}


def _tested_in(source: api.Source, stages: api.Stages, file: str, line: int) -> tuple[int, ...]:
    """The lines of the nests that test the condition at a line: those of the assignments for which it decides."""
    decided: set[int] = set()
    for each in _statements(source, file):
        if isinstance(each, If | Where | SelectCase | Forall) and line in _heads(each):
            decided |= {one.span.line for body in bodies(each) for one in walk_statements(body)}
    nests = [each for each in placed_in(stages, file) if isinstance(each, IterD) and _is_masked(each)]
    return tuple(
        sorted(
            {
                each.span.line
                for each in nests
                if decided & {each.span.line, *(one.span.line for one in assigns_in(each))}
            }
        )
    )


def _is_masked(aau: IterD) -> bool:
    return isinstance(aau.nest, Nest) and has_conditions(aau.nest)


def _formulas(prediction: api.Prediction, aaus: tuple[AauMetrics, ...], watcher: Watcher) -> tuple[CostFormula, ...]:
    found = []
    for aau in aaus:
        counts = prediction.counts.of((aau.id,))
        for category in CATEGORIES:
            time_s = first(getattr(aau.parts, f"{category}_s"))
            terms = tuple(_term(each) for each in counts if _PAID.get(each.paid, each.paid) == category)
            terms = tuple(sorted((each for each in terms if each.time_s), key=lambda each: -each.time_s))
            if time_s > 0 or terms:
                found.append(
                    CostFormula(
                        aau=aau.id,
                        label=aau.label,
                        category=category,
                        executions=aau.executions,
                        time_s=time_s,
                        terms=terms,
                        hidden_s=first(aau.hidden_s) if category == "communication" else 0.0,
                        waits=waits_of(watcher, aau, time_s) if category == "waiting" else (),
                    )
                )
    return tuple(found)


def _term(count: FigureCount) -> Term:
    return Term(
        figure=count.figure.path,
        unit=count.figure.unit,
        paid=count.paid,
        count=count.mean,
        seconds=first(count.figure.seconds),
        estimated=count.figure.estimated,
        time_s=first(count.time_s),
    )


def _communications(
    aaus: tuple[AauMetrics, ...], watcher: Watcher, stages: api.Stages, machine: Machine
) -> tuple[Communication, ...]:
    layouts = stages.node_program.layouts
    shape = Application(stages.node_program).grid
    found = []
    for each in aaus:
        if each.comm is not None:
            made = watcher.execution(each.id)
            phases = phases_of(made.phases, layouts.grid, machine.network, shape)
            found.append(Communication(aau=each.id, summary=each.comm, phases=phases, more=made.more))
    return tuple(found)


def _caches(prediction: api.Prediction, aaus: tuple[AauMetrics, ...]) -> tuple[CacheTerms, ...]:
    found = []
    for aau in aaus:
        caches: dict[str, dict[str, FigureCount]] = {}
        for each in prediction.counts.of((aau.id,)):
            if of := cache_of(each.figure.unit):
                caches.setdefault(of[1], {})[of[0]] = each
        for name, counts in caches.items():
            read, written, back = (counts[unit].mean if unit in counts else 0.0 for unit in CACHE_MISSES)
            found.append(
                CacheTerms(
                    aau=aau.id,
                    cache=name,
                    label=aau.label,
                    lines_read=read,
                    writes=written,
                    written_back=back,
                    time_s=sum(first(each.time_s) for each in counts.values()),
                )
            )
    return tuple(found)


def _cache(machine: Machine) -> str:
    memory = machine.memory
    if memory is None:
        return ""
    return "; ".join(map(_one_cache, memory.caches))


def _one_cache(cache: CacheCosts) -> str:
    ways = {0: "fully associative", 1: "direct mapped"}.get(cache.associativity, f"{cache.associativity}-way")
    allocate = "writes allocate lines" if cache.write_allocate else "writes that miss go to memory, one by one"
    return (
        f"{cache.name}{': ' if cache.name else ''}{cache.size_bytes:,} B, lines of {cache.line_bytes} B, {ways}, "
        f"{cache.replacement} replacement, {allocate}"
    )


def _assumptions(prediction: api.Prediction, stages: api.Stages, here: list[AAU]) -> tuple[Assumption, ...]:
    """Those of the line, of what it is inside of, and those that have no place."""
    parent = {each.id: each.parent for each in prediction.aaus}
    line_of = {each.id: each.span.line for each in walk(stages.graph.body)}
    lines = set()
    for aau in here:
        at: int | None = aau.id
        while at is not None:
            lines.add(line_of[at])
            at = parent[at]
    directives = {row.span.line for row in stages.node_program.layouts.arrays.values()}
    lines |= directives | {each.span.line for each in stages.node_program.layouts.notes}
    return tuple(
        each for each in prediction.assumptions if each.span is None or not each.span.line or each.span.line in lines
    )


def _changes(
    source: api.Source, system: System, request: api.Request, stages: api.Stages, machine: Machine, file: str, line: int
) -> tuple[LineChange, ...]:
    several, _ = api.interpreted(
        stages, request, lambda setting: interpret(stages.node_program, stages.graph, changed(machine), setting)
    )
    own = {each.id for each in placed_in(stages, file) if each.span.line == line}
    here = [each.parts.time_s for each in several.aaus if each.id in own]
    found = [
        LineChange(
            name=name,
            line_s=sum(of_scenario(each, number) for each in here),
            total_s=of_scenario(several.time_s, number),
        )
        for number, name in enumerate(CHANGES, start=1)
    ]
    twice = 2 * several.processors
    if request.grid is None and twice <= _MOST_PROCESSORS:
        made = _elsewhere(source, system, structs.replace(request, procs=twice))
        if made is not None:
            spent = [first(each.time_s) for each in made.lines if each.line == line and each.file == file]
            found.append(LineChange(name=f"procs {twice}", line_s=sum(spent), total_s=first(made.time_s)))
    return tuple(found)


def _elsewhere(source: api.Source, system: System, request: api.Request) -> api.Prediction | None:
    """A prediction that may be impossible: a BLOCK(50) does not fit any number of processors."""
    try:
        return api.predict_source(source, system, request)
    except SourceError:
        return None


def as_json(explanation: Explanation) -> Mapping[str, object]:
    """What `--json` says; docs/inspect.md describes the fields."""
    prediction, metrics = explanation.prediction, explanation.metrics
    return {
        "program": prediction.program,
        "file": prediction.file,
        "system": prediction.system,
        "processors": prediction.processors,
        "grid": list(prediction.grid),
        "requested_line": explanation.asked,
        "line_file": explanation.file,
        "line": explanation.line,
        "tested_in": list(explanation.tested_in),
        "time_s": 0.0 if metrics is None else first(metrics.time_s),
        "total_s": first(prediction.time_s),
        "decisions": [
            {
                "aau": each.aau,
                "text": each.text,
                "arrays": list(each.arrays),
                "iterations": None if each.share is None else structs.asdict(each.share),
            }
            for each in explanation.decisions
        ],
        "layouts": [structs.asdict(each) for each in explanation.layouts],
        "passed": [structs.asdict(each) for each in explanation.passed],
        "messages": [_message(each) for each in explanation.communications],
        "formulas": [
            {
                "aau": each.aau,
                "label": each.label,
                "category": each.category,
                "executions": each.executions,
                "time_s": each.time_s,
                "hidden_s": each.hidden_s,
                "waits": [structs.asdict(wait) for wait in each.waits],
                "terms": [_told(term) for term in each.terms],
            }
            for each in explanation.formulas
        ],
        "cache": explanation.cache or None,
        "caches": [structs.asdict(each) for each in explanation.caches],
        "assumptions": [
            {"code": each.code, "text": each.text, "line": each.span.line if each.span else None}
            for each in explanation.assumptions
        ],
        "changes": [structs.asdict(each) for each in explanation.changes],
    }


def formula_rows(explanation: Explanation) -> list[dict[str, object]]:
    """One row for each term of the formulas."""
    return [
        {"aau": each.aau, "label": each.label, "category": each.category, **_told(term)}
        for each in explanation.formulas
        for term in each.terms
    ]


def _told(term: Term) -> dict[str, object]:
    return {
        "figure": term.figure,
        "of": term.unit,
        "paid": term.paid,
        "seconds": term.seconds,
        "estimated": term.estimated,
        "count": term.count,
        "time_s": term.time_s,
    }


def _message(each: Communication) -> Mapping[str, object]:
    summary = each.summary
    return {
        "aau": each.aau,
        "pattern": summary.pattern,
        "array": summary.array,
        "executions": summary.executions,
        "messages": summary.messages,
        "bytes": summary.bytes,
        "varies": summary.varies or None,
        "hops": summary.hops,
        "contended": summary.contended,
        "phases": [
            {
                "name": phase.name,
                "messages": phase.messages,
                "partners": phase.partners,
                "pairs": [list(pair) for pair in phase.pairs],
                "least_bytes": phase.bytes[0],
                "most_bytes": phase.bytes[1],
                "least_hops": phase.hops[0],
                "most_hops": phase.hops[1],
            }
            for phase in each.phases
        ],
        "more_phases": each.more,
    }
