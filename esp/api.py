"""The Python API: `predict` in one call, or its stages one by one where predictions share some of them.

    source = read_source("laplace.hpf")            text -> Program        (once for each program)
    system = load_machine("ipsc860")               YAML -> System         (once for each machine)
    stages = lower_source(source, system, request) Program -> node program and graph
    prediction = interpret_stages(stages, system, request)

Each stage is a frozen value, so that nothing leaks from one what-if to the next.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import count
from operator import add
from os import PathLike
from typing import Any, TypeVar

from msgspec import Struct, structs

from aag.diagnostics import Diagnostic, SourceError
from aag.functional.tables import RunLimits
from aag.graph.aau import Graph
from aag.graph.cluster import FOLDED, Level, cluster, unit_of
from aag.ir.units import Form, Program
from aag.mapping.layout import Layouts
from aag.pipeline import Options, Overrides, abstract, lower, map_arrays
from aag.spmd.program import OPTIMISATIONS, NodeProgram
from esp.calling import in_python
from esp.computed import NOTHING, Computed, as_given, ask_first, given_values, setting_of, settled, unused_shares
from esp.conditions import with_ways_out
from esp.elements import hinted
from esp.incomplete import incomplete
from esp.locate import find_system, systems_dir
from esp.prediction import Prediction, assuming, single, without_repeats
from esp.request import BUDGET, SWITCHES, Request, asked, requested, switched
from esp.sources import Name, Source, read_source
from interpreter.engine import interpret
from interpreter.folding import folded
from interpreter.listeners import Listener, Watch, begin
from interpreter.result import Result
from interpreter.setting import Setting
from sag.load import load_system
from sag.scenario import Scenario, export
from sag.unit import System
from sag.values import WhatIf

__all__ = [
    "BUDGET",
    "SWITCHES",
    "Prediction",
    "Request",
    "Source",
    "Stages",
    "interpret_stages",
    "interpreted",
    "load_machine",
    "lower_source",
    "map_source",
    "predict",
    "predict_source",
    "presented",
    "read_source",
    "requested",
    "switched",
]


Made = TypeVar("Made")


class Stages(Struct, frozen=True, kw_only=True):
    """The stages of a program: read, lowered to a node program, abstracted to a graph."""

    source: Source
    node_program: NodeProgram
    graph: Graph
    computed: Computed = NOTHING
    """Values that decide sizes and mappings and that were computed (D8)."""

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What reading, mapping and lowering warn of, without what is assumed about statements."""
        return (*self.source.program.diagnostics, *self.node_program.layouts.notes, *self.node_program.warnings)


class Origin(Struct, frozen=True, kw_only=True, eq=False):
    """What a prediction was made of."""

    source: Source
    system: System
    request: Request


@in_python
def predict(
    source: Name | Sequence[Name] | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | None = None,
    *,
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    grid: Sequence[int] | str | None = None,
    distribute: str | Mapping[str, str] | None = None,
    align: str | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 (the name of the command's option)
    bandwidth: WhatIf | None = None,
    load: WhatIf | None = None,
    latency: WhatIf | None = None,
    processor_speed: WhatIf | None = None,
    memory_speed: WhatIf | None = None,
    overlap: WhatIf | None = None,
    io: bool | str = True,
    opt: Mapping[str, bool | str] | None = None,
    system_set: Mapping[str, WhatIf] | None = None,
    timed: bool = False,
    unroll: bool = False,
    trust_directives: bool = False,
    granularity: Level = "statement",
    budget: int = BUDGET,
    **parameters: Any,
) -> Prediction:
    """Predict how long a program takes on a machine, and where the time goes.

    Args:
        source: a path, the name of a bundled program, program text (with a line break in it), a list of the files that
            make up a program, or what `esp.read_source` returns.
        system: the name of a bundled machine, or a path.
        procs: number of processors; by default the program's own, else the machine's (Def 12).
        form: ``free`` or ``fixed`` (``fixed72``, ``fixed132``: with so many columns); by the file's suffix or the text
            if not given.
        cost: what a call of a procedure costs that the source lacks: ``"dgemm(ta,tb,m,n,k)=2*m*n*k flop"``, or several
            costs. A table has those of BLAS, LAPACK and others.
        grid: extents of the processor grid: ``(4, 2)`` or ``"4x2"``.
        distribute: formats such as ``"(BLOCK,*)"`` for everything that the program distributes, or name of a template
            or array -> formats: ``{"t": "(BLOCK,*)"}``.
        align: one or several alignments, instead of those of these arrays in the source:
            ``"A(i,j) WITH T(j,i)"``.
        set: values by name, as `parameters`, for names that clash with an argument.
        bandwidth: a factor, or text such as ``x2``, ``30%``, ``2.8 MB/s``.
        load: the load of the network: a fraction, or text such as ``30%``.
        latency: a factor, or text such as ``x0.5``, ``50 us``.
        processor_speed: a factor, or text such as ``x2``, ``80 MHz``.
        memory_speed: a factor, or text such as ``x2``.
        overlap: the overlap factor: a fraction, or text such as ``30%``.
        io: False (or ``"off"``) leaves out the time of input and output.
        opt: optimisation -> whether it is on (Def 9), instead of the machine file's setting.
        system_set: path of a parameter of the machine -> its change.
        timed: restrict the profile to the timed region (Def 5).
        unroll: walk every iteration instead of closing loops (D5).
        granularity: size of an application abstraction unit: ``statement``, ``block``, ``loop``, ``procedure``.
        budget: the most operations for running those statements that compute values on which the flow depends, such as
            the trip count of a while loop; 0 runs nothing.
        trust_directives: accept INDEPENDENT, NEW and REDUCTION even if esp proves them false.
        **parameters: values by name: ``n=512``.

    All times of the result are floats. Each what-if may also be a list or array with one value for each
    scenario; then all times are arrays of that length.

    Examples:
        >>> import esp
        >>> prediction = esp.predict("laplace.hpf", procs=8, n=64)
        >>> f"{prediction.time_s:.2f} s, {prediction.messages} messages"
        '0.12 s, 2224 messages'
        >>> esp.predict("laplace.hpf", procs=8, n=64, distribute="(BLOCK,*)", load="30%")
        <Prediction: laplace.hpf, 8 processors of ipsc860, 129 ms>

    Raises:
        TypeError: an argument is unknown to this function and to the program.
        esp.SourceError: the program or its values prevent a prediction.
        esp.MachineError: the machine or a what-if prevents it.
        esp.EspError: a file or an argument prevents it.
    """
    request = requested(
        procs,
        grid=grid,
        distribute=distribute,
        align=align,
        set=set,
        bandwidth=bandwidth,
        load=load,
        latency=latency,
        processor_speed=processor_speed,
        memory_speed=memory_speed,
        overlap=overlap,
        io=io,
        opt=opt,
        system_set=system_set,
        timed=timed,
        unroll=unroll,
        trust_directives=trust_directives,
        granularity=granularity,
        budget=budget,
        **parameters,
    )
    origin = Origin(source=read_source(source, form=form, cost=cost), system=load_machine(system), request=request)
    return structs.replace(predict_source(origin.source, origin.system, request), origin=origin)


def predict_source(source: Source, system: System, request: Request, watch: Watch | None = None) -> Prediction:
    """All stages from a program that is read and a machine that is loaded; `watch` is told how far they have come."""
    return interpret_stages(lower_source(source, system, request), system, request, watch=watch)


def load_machine(system: str | PathLike[str]) -> System:
    """Read a machine file: a path, or the name of a bundled machine.

    Raises:
        UnreadableFileError: there is no such file.
        sag.errors.MachineError: it is no machine.
    """
    return load_system(find_system(str(system)), folder=systems_dir())


def map_source(source: Source, system: System, request: Request) -> Layouts:
    """The layouts of the main program's arrays; as for a prediction, a part of the program is run for values that
    their shapes need.

    Raises:
        aag.diagnostics.SourceError: the directives or the user's decisions prevent them.
    """
    program = as_given(source.program, request)

    def mapped(known: Computed) -> Layouts:
        return map_arrays(program, _overrides(program, request, known), system.default_processors)

    with _quoting(program, request):
        return settled(program, request, mapped)[0]


def lower_source(source: Source, system: System, request: Request) -> Stages:
    """Lower a program for a number of processors, and abstract it.

    Raises:
        aag.diagnostics.SourceError: mapping or values prevent it.
    """
    options, limits = compiled(system, request), RunLimits(operations=request.budget)
    program = as_given(source.program, request)

    def lowered(known: Computed) -> NodeProgram:
        return lower(program, _overrides(program, request, known), system.default_processors, options, limits)

    with _quoting(program, request):
        node_program, computed = settled(program, request, lowered)
        graph = cluster(abstract(node_program), request.granularity)
    return Stages(
        source=structs.replace(source, program=program), node_program=node_program, graph=graph, computed=computed
    )


def interpreted(stages: Stages, request: Request, attempt: Callable[[Setting], Made]) -> tuple[Made, Computed]:
    """What an interpretation makes, once the values that it misses are computed, and these values.

    Args:
        stages: The program.
        request: What the user decides.
        attempt: Interprets the program with a setting; it may be called several times.

    Raises:
        aag.diagnostics.UnresolvedError: values are missing that cannot be computed.
    """
    program = stages.source.program
    with _quoting(program, request):
        ask_first(program, request)
        return settled(program, request, lambda known: attempt(setting_of(program, request, known)), stages.computed)


def interpret_stages(
    stages: Stages,
    system: System,
    request: Request,
    listener: Callable[[], Listener] | None = None,
    watch: Watch | None = None,
) -> Prediction:
    """Interpret an abstracted program on a machine under a scenario. `listener`: makes what is told what happens on the
    way, anew where the interpretation begins again with computed values.

    Raises:
        sag.errors.MachineError: the scenario does not fit the machine.
        aag.diagnostics.SourceError: values prevent it.
        esp.incomplete.IncompleteError: something is left out, and the request wants no partial prediction.
    """
    machine = export(system, scenario_of(request))
    attempts = count()

    def attempt(setting: Setting) -> Result:
        if next(attempts):
            begin(watch, "again with computed values")
        setting = structs.replace(setting, partial=request.partial)
        return interpret(stages.node_program, stages.graph, machine, setting, listener, watch)

    result, computed = interpreted(stages, request, attempt)
    if request.granularity in FOLDED:
        result = folded(result, unit_of(stages.graph, request.granularity))
    unused = unused_shares(stages.source.program, request, computed)
    prediction = assuming(presented(result, stages, request), (*computed.assumptions, *unused))
    if not (prediction.complete or request.partial):
        raise incomplete(prediction)
    return prediction


@contextmanager
def _quoting(program: Program, request: Request) -> Iterator[None]:
    """Give the findings of later stages the source lines that these no longer have at hand."""
    try:
        yield
    except SourceError as error:
        found = hinted(error.diagnostics, program)
        error.diagnostics = tuple(_with_line(each, program, request) for each in found)
        raise


def _with_line(found: Diagnostic, program: Program, request: Request) -> Diagnostic:
    at = found.span.line
    if found.span.is_option and at <= len(request.align_texts):
        return structs.replace(found, source_line=request.align_texts[at - 1])
    if found.source_line or found.span.file != program.file or not 1 <= at <= len(program.lines):
        return found
    return structs.replace(found, source_line=program.lines[at - 1])


def _overrides(program: Program, request: Request, known: Computed = NOTHING) -> Overrides:
    given = dict(given_values(program, request))
    return Overrides(
        procs=request.procs,
        grid=request.grid,
        distribute={name.lower(): formats for name, formats in request.distribute.items()},
        align=request.align,
        values={**known.values, **given},
        computed=frozenset(known.values.keys() - given.keys()),
    )


def scenario_of(request: Request) -> Scenario:
    """The scenario, with what the request says of the copying of messages."""
    if "pack" not in request.on | request.off:
        return request.scenario
    return structs.replace(request.scenario, copies="pack" in request.on)


def compiled(system: System, request: Request) -> Options:
    """What the compiler does: what the request says, else the machine, else what is always done."""
    said = {name: choice.value for name, choice in system.compiler.items() if name not in request.off | request.on}
    without = frozenset(name for name, value in said.items() if value == "no" and Options().on(name))
    more = frozenset(name for name, value in said.items() if value == "yes")
    return Options(
        disabled=request.off | (without & frozenset(OPTIMISATIONS)),
        enabled=request.on | more,
        trusts_directives=request.trust_directives,
    )


def presented(result: Result, stages: Stages, request: Request) -> Prediction:
    """The result of `interpret` as a prediction with its options."""
    source, node_program = stages.source, stages.node_program
    found = dict.fromkeys((*source.program.diagnostics, *node_program.layouts.notes, *node_program.notes))
    assumptions = with_ways_out(result.assumptions, source.program)
    said = {each.text for each in assumptions}
    warnings = (*(each for each in found if each.message not in said), *node_program.warnings)
    if not request.scenario.has_lists and result.scenarios == 1:
        result = single(result)
    values = {each.name: getattr(result, each.name) for each in structs.fields(Result)}
    values["assumptions"] = without_repeats(assumptions, found)
    given = asked(request, source.program.costs)
    without, arrays = _without_elements(node_program.layouts)
    return Prediction(
        **values, bundled=source.bundled, asked=given, warnings=warnings, without_elements=without, distributed=arrays
    )


def _without_elements(layouts: Layouts) -> tuple[int, tuple[str, ...]]:
    """How many processors own no element of any distributed array of the source, and these arrays."""
    spread = [each for each in layouts.arrays.values() if each.is_distributed and each.elements]
    owned = [each for each in spread if "$" not in each.array and "%" not in each.array]
    if not owned:
        return 0, ()
    held = reduce(add, (each.local_elements() for each in owned))
    empty = int((held == 0).sum())
    return empty, tuple(each.array for each in owned) if empty else ()
