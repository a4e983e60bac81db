"""Lowering by owner-computes: statements of a program unit -> nodes of the node program (hpf.md's lowering).

Array syntax and WHERE become FORALL form (`elementwise`), the processor that owns the left-hand side computes
(`partition`), communication stands right before the statement that needs it (`needs`); `optimize` moves and drops it
afterwards. Here a statement finds the module of its kind, and what holds other statements is lowered.
"""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir import statements as ir
from aag.ir.cases import in_turn, selecting
from aag.ir.cycles import without_cycle
from aag.ir.expressions import Var
from aag.ir.intrinsics import INTRINSICS, SERIAL
from aag.ir.nearest import did_you_mean
from aag.ir.units import Entity, Program, Unit, shown_procedure
from aag.ir.visitors import walk_statements
from aag.library.table import row
from aag.mapping.layout import Layouts
from aag.spmd.across import reduce_across
from aag.spmd.afterwards import keep_indices
from aag.spmd.aliasing import mapped_members, with_aliases
from aag.spmd.assignments import lower_assign
from aag.spmd.calls import lower_call
from aag.spmd.claims import check_forall, not_at_home, word_of
from aag.spmd.conformance import check_shapes, outside
from aag.spmd.findings import find_loop, find_nest
from aag.spmd.foralls import lower_forall, lower_where
from aag.spmd.hostinput import lower_input
from aag.spmd.hostio import lower_io
from aag.spmd.loops import MORE, NestOutcome, lower_nest
from aag.spmd.lowering import Lowering
from aag.spmd.names import functions_of, scalars, user_functions
from aag.spmd.nodes import CallNode, DoNode, IfNode, Leave, Local, Node, NodeBranch, Reference, WhileNode
from aag.spmd.program import NodeProgram, Options
from aag.spmd.reductions import extract
from aag.spmd.searches import lower_search
from aag.spmd.shared_loops import shared
from aag.spmd.symbols import Mismatch, Unsupported, check_arguments
from aag.spmd.turns import note_order
from aag.spmd.unrolled import unrolled
from aag.spmd.versions import with_versions


def lower(program: Program, unit: Unit, layouts: Layouts, options: Options) -> NodeProgram:
    """The node program of a unit, communication right before each statement that needs it.

    Raises:
        SourceError: statements contradict their declarations; all of them at once.
    """
    made = unrolled(unit.body, layouts.environment)
    unit = unit if made is unit.body else replace(unit, body=made)
    unit, layouts, still = with_versions(unit, layouts, lazy=options.on("remaps"))
    lowering = Lowering(program, unit, layouts, options, extract)
    lowering.notes += still
    body = with_aliases(_body(lowering, unit.body), unit)
    for each in mapped_members(unit, lowering.arrays):
        lowering.complete = False
        lowering.notes.append(each)
    for name, span in user_functions(program, unit):
        lowering.complete, lowering.span = False, span
        lowering.note("W206", f"{_uninterpreted(lowering, name)}: only its calls are charged")
    lowering.notes += _components(unit, layouts)
    if lowering.errors:
        raise SourceError(dict.fromkeys(lowering.errors))
    return NodeProgram(
        unit=unit,
        layouts=lowering.layouts,
        types=MappingProxyType(lowering.symbols.types()),
        body=body,
        options=options,
        file=program.file,
        lines=program.lines,
        others=program.others,
        notes=tuple(dict.fromkeys(lowering.notes)),
        warnings=tuple(outside(unit, layouts.arrays, lowering.env)),
        complete=lowering.complete,
        loops=tuple(lowering.loops),
    )


def _uninterpreted(lowering: Lowering, name: str) -> str:
    """That a function is not followed, or not there."""
    program = lowering.program
    body = f"the body of the function {shown_procedure(name)} is not interpreted"
    if row(name) is not None or any(each.name == name for each in program.costs):
        return f"{body} (FORALL, WHERE or an implied DO calls it)"
    known = functions_of(program, lowering.unit)
    if name in known or lowering.has_procedure(name):
        why = lowering.unit.refusals.get(name)
        return f"{body} ({why})" if why else body
    statements = walk_statements(lowering.unit.body)
    if any(isinstance(each, ir.Assign) and each.target == Var(name) for each in statements):
        return f"{name} is a variable without a shape, but has arguments in brackets here"
    near = did_you_mean(name, sorted({*known, *INTRINSICS}))
    return f"found no function {name}{f' ({near})' if near else ''}"


def _components(unit: Unit, layouts: Layouts) -> Iterator[Diagnostic]:
    """How arrays of derived types are stored."""
    found: dict[str, list[Entity]] = {}
    for each in unit.entities:
        if "%" in each.name and "$" not in each.name and each.shape is not None and each.name in layouts.arrays:
            found.setdefault(each.name.partition("%")[0], []).append(each)
    for arrays in found.values():
        if len(arrays) > 1:
            listed = f"{', '.join(each.shown for each in arrays[:-1])} and {arrays[-1].shown}"
            yield Diagnostic(code="W215", message=f"{listed} are stored as separate arrays", span=arrays[0].span)


def _body(lowering: Lowering, statements: Sequence[ir.Stmt]) -> tuple[Node, ...]:
    """The nodes of a statement list."""
    with lowering.collecting() as nodes:
        for statement in statements:
            _statement(lowering, statement)
    return tuple(nodes)


def _statement(lowering: Lowering, statement: ir.Stmt) -> None:
    """Lower one statement; what is not modelled is refused, what contradicts its declarations is an error."""
    outer, lowering.span = lowering.span, statement.span
    with lowering.collecting() as nodes:
        try:
            check_arguments(statement, lowering.symbols)
            check_shapes(statement, lowering.symbols, lowering.env)
            _lower(lowering, statement)
        except Unsupported as error:
            nodes.clear()
            lowering.refuse(statement, str(error))
        except Mismatch as error:
            lowering.errors.append(error.finding(statement.span))
    for node in nodes:
        lowering.emit(node)
    lowering.span = outer


def _lower(lowering: Lowering, statement: ir.Stmt) -> None:
    match statement:
        case ir.Assign():
            lower_assign(lowering, statement)
        case ir.Do():
            if not lower_input(lowering, statement):
                _loop(lowering, statement)
        case ir.DoWhile():
            _while(lowering, statement)
        case ir.If():
            _if(lowering, statement)
        case ir.SelectCase():
            _select(lowering, statement)
        case ir.Forall():
            check_forall(lowering, statement)
            lower_forall(lowering, statement)
        case ir.Where():
            lower_where(lowering, statement)
        case ir.CallStmt():
            lower_call(lowering, statement)
        case ir.Enter(span=span, name=name, arguments=arguments):
            lowering.emit(CallNode(span=span, name=name, arguments=arguments, entered=True))
        case ir.Io():
            lower_io(lowering, statement)
        case ir.Allocate():
            lowering.emit(Local(span=statement.span, assigns=()))
        case ir.Stop() | ir.Return() | ir.Exit() | ir.Cycle():
            lowering.reach.left()
            lowering.emit(_leave(statement))
        case ir.Continue():
            pass
        case ir.Remap() | ir.Restore():
            lowering.refuse(statement, "the mappings that REALIGN and REDISTRIBUTE may lead to are too many")
        case ir.Opaque(reason=reason):
            lowering.refuse(statement, reason)
        case _:
            lowering.refuse(statement, f"{type(statement).__name__} is not modelled")


def _leave(statement: ir.Stop | ir.Return | ir.Exit | ir.Cycle) -> Leave:
    match statement:
        case ir.Exit(span=span, name=name):
            return Leave(span=span, kind="exit", name=name)
        case ir.Cycle(span=span, name=name):
            return Leave(span=span, kind="cycle", name=name)
        case ir.Stop(span=span):
            return Leave(span=span, kind="stop")
        case ir.Return(span=span):
            return Leave(span=span, kind="return")


def _loop(lowering: Lowering, statement: ir.Do) -> None:
    """A DO loop: as a nest, else shared among the owners of what it writes, else run by every processor."""
    before = len(lowering.pending)
    outcome = lower_nest(lowering, statement)
    if not outcome.runs and _searched(lowering, statement):
        outcome = NestOutcome("parallel")
    if outcome.runs:
        find_nest(lowering, statement, outcome, lowering.pending[before:])
        keep_indices(lowering, statement)
        return
    at = len(lowering.loops)
    other = "" if lowering.is_alone else lowering.attempt(lambda: _shared(lowering, statement))
    why = outcome.why
    if other and (turns := _across(lowering, statement)) is not None:
        if turns.runs:
            find_nest(lowering, statement, turns, lowering.pending[before:])
            return
    elif other or lowering.is_alone:
        if other and statement.var.startswith(SERIAL):
            lowering.note("W280", f"every processor runs this EXTRINSIC(HPF_SERIAL) procedure: {other}")
        elif other and why and statement.independent is not None:
            reason = other if why == MORE else why
            word = word_of(statement)
            lowering.note("W204", f"{word} has no effect; every processor runs the whole loop: {reason}")
        elif other and outcome.ordered:
            note_order(lowering, statement, "every processor runs the whole loop")
        not_at_home(lowering, statement, None)
        _do(lowering, statement, None)
    find_loop(lowering, statement, other if why in ("", MORE) else why, shared=not other, at=at)


def _searched(lowering: Lowering, statement: ir.Do) -> bool:
    """Lower a loop that searches, if it is one."""
    left: list[ir.Stmt] = []

    def search() -> None:
        left.extend(lower_search(lowering, statement))

    if lowering.attempt(search):
        return False
    for each in left:
        _statement(lowering, each)
    return True


def _across(lowering: Lowering, statement: ir.Do) -> NestOutcome | None:
    """A loop with its reductions in parts, if it has some: how it ran as a nest; None where it is not lowered so."""
    outcome = NestOutcome("")

    def lower() -> None:
        nonlocal outcome
        outcome = lower_nest(lowering, statement)
        if not outcome.runs:
            not_at_home(lowering, statement, None)
            _do(lowering, statement, None)

    return None if lowering.attempt(lambda: reduce_across(lowering, statement, lower)) else outcome


def _shared(lowering: Lowering, statement: ir.Do) -> None:
    """A loop whose iterations processors share, with its communication before it.

    Raises:
        Unsupported: they cannot share them.
    """
    found = shared(lowering, statement)
    not_at_home(lowering, statement, found.home)
    lowering.communicate(found.reads, found.home)
    for each in found.partials:
        each.begin(lowering, found.home)
    _do(lowering, replace(statement, body=found.body), found.home)
    for each in found.partials:
        each.end(lowering, found.home)
    keep_indices(lowering, statement)


def _do(lowering: Lowering, statement: ir.Do, home: Reference | None) -> None:
    """A counted loop that every processor runs, or each its own iterations."""
    with lowering.reach.inside(statement, lowering.env), lowering.alone(home):
        body = _body(lowering, without_cycle(statement, statement.body))
    lowering.emit(
        DoNode(
            span=statement.span,
            var=statement.var,
            lower=lowering.replicated(statement.lower),
            upper=lowering.replicated(statement.upper),
            step=None if statement.step is None else lowering.replicated(statement.step),
            body=body,
            name=statement.name,
            home=home,
            uses=scalars(lowering.symbols, statement.lower, statement.upper, statement.step),
            defines=frozenset((statement.var,)),
        )
    )


def _while(lowering: Lowering, statement: ir.DoWhile) -> None:
    condition = None
    with lowering.collecting() as before:
        if statement.condition is not None:
            condition = lowering.replicated(statement.condition)
    for node in before:
        lowering.emit(node)
    with lowering.reach.perhaps():
        body = _body(lowering, without_cycle(statement, statement.body))
    lowering.emit(
        WhileNode(
            span=statement.span,
            condition=condition,
            body=(*body, *before),
            name=statement.name,
            uses=scalars(lowering.symbols, condition),
        )
    )


def _if(lowering: Lowering, statement: ir.If) -> None:
    with lowering.reach.perhaps():
        branches = tuple(
            NodeBranch(
                condition=None if each.condition is None else lowering.replicated(each.condition),
                body=_body(lowering, each.body),
                span=each.span,
            )
            for each in statement.branches
        )
    _branches(lowering, statement.span, branches)


def _select(lowering: Lowering, statement: ir.SelectCase) -> None:
    selector = lowering.replicated(statement.selector)
    with lowering.reach.perhaps():
        branches = tuple(
            NodeBranch(condition=selecting(selector, case), body=_body(lowering, case.body), span=case.span)
            for case in in_turn(statement)
        )
    _branches(lowering, statement.span, branches)


def _branches(lowering: Lowering, span: Span, branches: tuple[NodeBranch, ...]) -> None:
    uses = frozenset().union(*(scalars(lowering.symbols, each.condition) for each in branches))
    lowering.emit(IfNode(span=span, branches=branches, uses=uses))
