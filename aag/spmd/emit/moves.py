"""Communication: for each operation an internal procedure that finds what moves, and one call that moves it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from aag.ir.expressions import Element, Expr, IntLit, Var
from aag.ir.intrinsics import REDUCTIONS, SENT
from aag.ir.result_types import constant_of
from aag.ir.spelling import spell
from aag.ir.visitors import names_in
from aag.spmd.communication import special_axes
from aag.spmd.emit.context import Context
from aag.spmd.emit.renaming import own_names, own_names_of
from aag.spmd.emit.text import comment, indented
from aag.spmd.nodes import Combine, Communicate, Concatenate, Gather, Index, Multicast, Need, Operation
from aag.spmd.relation import wrap_signs
from aag.spmd.symbols import zero


def communicate(context: Context, node: Communicate) -> Iterator[str]:
    """The lines in the main program; the inspector goes to the internal procedures."""
    operation, line = node.operation, node.span.line
    inspector, plan = context.numbered("needs"), context.numbered("plan")
    context.declare(f"type(esp_plan) :: {plan}")
    context.procedures += ["", *indented(_inspector(context, node, inspector, plan))]
    kind = context.kind(operation.array, line)
    array = context.names.of(operation.array)
    yield comment(_told(context, operation))
    yield f"call {inspector}()"
    if not context.buffers.is_buffered(node):
        if context.poisons:
            yield f"call esp_await_{kind}({plan}, {array})"
        yield f"call esp_move_{kind}({plan}, {array})"
        return
    buffer = context.names.of(context.buffer_of(node))
    rank = context.layouts.arrays[operation.array].rank
    context.declare(f"{context.declared(operation.array, line)}, allocatable :: {buffer}({', '.join(':' * rank)})")
    if context.poisons:
        yield f"call esp_fill_{kind}({buffer}, size({buffer}))"
    yield f"call esp_fetch_{kind}({plan}, {array}, {buffer})"


def _inspector(context: Context, node: Communicate, name: str, plan: str) -> Iterator[str]:
    operation, line = node.operation, node.span.line
    layout = context.layouts.arrays[operation.array]
    special = special_axes(operation, layout)
    axes = ", ".join(".true." if axis in special else ".false." for axis in range(len(layout.grid.shape)))
    key = _key(context, node)
    yield comment(f"What line {line} needs of {context.names.of(operation.array)}: {context.source(node.span)}")
    yield f"subroutine {name}()"
    body: list[str] = []
    if key is not None:
        body.append(f"if (esp_known({plan}, (/ {', '.join(key) or '0'} /))) return")
    buffered = ".true." if context.buffers.is_buffered(node) else ".false."
    body.append(
        f"call esp_begin({plan}, {context.map_of(operation.array)}, {line}, {_collective(operation)}, "
        f"(/ {axes} /), {_order(operation)}, {buffered})"
    )
    names: dict[str, None] = {}
    signs = [wrap_signs(each, layout) for each in operation.needs]
    told = any(any(each) for each in signs) and _order(operation) == "esp_by_direction"
    for number, each in enumerate(signs if told else (), start=1):
        body.append(f"call esp_circular({plan}, {number}, (/ {', '.join(map(str, each))} /))")
    needed = [own_names(each, node.uses) for each in operation.needs]
    numbers = {id(each): number for number, each in enumerate(needed, start=1)} if told else {}
    for needs in _alike(needed):
        body += _claims(context, needs, plan, "need", line, names, special, numbers)
    for stale in dict.fromkeys(each.stale for each in operation.held):  # a later copy may be good where one is stale
        held = [own_names(each.need, node.uses) for each in operation.held if each.stale == stale]
        for needs in _alike(held):
            body += _claims(context, needs, plan, "held", line, names, special)
        for write in dict.fromkeys(own_names_of(each, node.uses) for each in stale):
            call = f"call esp_stale({plan}, {context.names.subscripts(write.subscripts)})"
            body += _over(context, write.indices, [call], line, names, write.subscripts)
        body.append(f"call esp_drop({plan})")
    body.append(f"call esp_end({plan})")
    if context.buffers.is_buffered(node):
        buffer = context.names.of(context.buffer_of(node))
        box = ", ".join(f"{plan}%first({dim}):{plan}%last({dim})" for dim in range(1, layout.rank + 1))
        body += [f"if (allocated({buffer})) deallocate({buffer})", f"allocate({buffer}({box}))"]
    if names:
        yield f"  integer :: {', '.join(context.names.of(each) for each in names)}"
    yield from indented(body)
    yield f"end subroutine {name}"


def _told(context: Context, operation: Operation) -> str:
    """What a communication is, for people."""
    read = (spell(Element(each.reference.array, each.reference.subscripts)) for each in operation.needs)
    remark = "; some of it is here already" if operation.held else ""
    return f"{operation.pattern} {context.names.of(operation.array)}: {'; '.join(dict.fromkeys(read))}{remark}"


def _collective(operation: Operation) -> str:
    match operation:
        case Multicast():
            return "esp_broadcast"
        case Concatenate():
            return "esp_concatenation"
        case Gather(pattern=pattern):
            return f"esp_{pattern}"
        case _:
            return "esp_no_collective"


def _order(operation: Operation) -> str:
    """In which order its messages go out."""
    match operation.pattern:
        case "overlap_shift" | "multicast_shift":
            return "esp_by_direction"
        case "transpose":
            return "esp_to_all"
        case _:
            return "esp_around"


def _key(context: Context, node: Communicate) -> list[str] | None:
    """The scalars that decide what moves; None where they are no integers, then nothing is remembered."""
    constants = context.layouts.constants
    names = sorted(name for name in node.uses if name not in constants and not name.startswith("number_of"))
    known = context.program.types
    if any(name not in known or known[name].base != "integer" for name in names):
        return None
    return [context.names.as_index(Var(name)) for name in names]


def _alike(needs: Sequence[Need]) -> list[list[Need]]:
    """Needs of the same loops together."""
    groups: dict[tuple[Index, ...], list[Need]] = {}
    for need in needs:
        groups.setdefault(need.reference.indices, []).append(need)
    return list(groups.values())


def _claims(
    context: Context,
    needs: Sequence[Need],
    plan: str,
    what: str,
    line: int,
    names: dict[str, None],
    special: Collection[int],
    numbers: Mapping[int, int] = MappingProxyType({}),
) -> Iterator[str]:
    """`special`: the axes of a collective; `numbers`: id(need) -> the number of the reference, where it matters."""
    calls = []
    deciding: list[Expr] = []
    for need in needs:
        if id(need) in numbers:
            calls.append(f"call esp_claim({plan}, {numbers[id(need)]})")
        subscripts = context.names.subscripts(need.reference.subscripts)
        deciding += [*need.reference.subscripts, *_deciding(context, need, special)]
        home = None if need.home is None else context.distributed(need.home.array)
        if home is None or need.home is None:
            calls.append(f"call esp_{what}_all({plan}, {subscripts})")
        else:
            where = context.names.subscripts(need.home.subscripts)
            calls.append(f"call esp_{what}({plan}, {subscripts}, {context.map_of(home.array)}, {where})")
    return _over(context, needs[0].reference.indices, calls, line, names, deciding)


def _deciding(context: Context, need: Need, special: Collection[int]) -> Iterator[Expr]:
    """The subscripts of a home that decide where it is read: those along the axes of a collective do not, as data
    stay there where they are."""
    home = None if need.home is None else context.layouts.arrays[need.home.array]
    if home is None or need.home is None:
        return
    same = home.grid.shape == context.layouts.arrays[need.reference.array].grid.shape
    for number, axis in enumerate(home.axes):
        if axis.role == "dim" and not (same and number in special):
            yield need.home.subscripts[axis.dim]


def _over(
    context: Context,
    indices: Sequence[Index],
    body: Sequence[str],
    line: int,
    names: dict[str, None],
    deciding: Sequence[Expr],
) -> Iterator[str]:
    """Loops around calls that `deciding` tells apart: one iteration is enough of a loop whose index nothing mentions,
    such as the columns that are computed with the same multipliers."""
    bounds = [each for index in indices for each in index.bounds]
    mentioned = names_in(*deciding, *bounds)
    for depth, index in enumerate(indices):
        names[index.name] = None
        step = "" if index.step is None else f", {context.spell(index.step, line)}"
        limits = f"{context.spell(index.lower, line)}, {context.spell(index.upper, line)}{step}"
        yield from indented([f"do {context.names.of(index.name)} = {limits}"], depth)
    yield from indented(body, len(indices))
    for depth in range(len(indices) - 1, -1, -1):
        if indices[depth].name not in mentioned:
            yield from indented([f"exit ! the same for all {context.names.of(indices[depth].name)}"], depth + 1)
        yield from indented(["end do"], depth)


def combine(context: Context, node: Combine, variable: str, *, owned: bool = False) -> str:
    """The call of a reduction's global half or of a scan: of a scalar, or of what is `owned` of an array."""
    layout = context.layouts.arrays[node.home.array]
    axes = ", ".join(".true." if axis in node.axes else ".false." for axis in range(len(layout.grid.shape)))
    op = SENT.get(node.op, node.op)
    given = [f"'{op}'", context.map_of(node.home.array), f"(/ {axes} /)", str(node.span.line)]
    if node.prefix:
        of = context.type_of(variable)
        start = REDUCTIONS[op].start(zero(of), of, some=False)
        start = constant_of(start.value, of) if isinstance(start, IntLit) else start
        given += [".true." if node.prefix == "down" else ".false.", spell(start)]
    if owned:
        given.append(context.map_of(variable))
    routine = f"esp_{'scan' if node.prefix else 'reduce'}{'_owned' if owned else ''}"
    kind = context.kind(variable, node.span.line)
    return f"call {routine}_{kind}({', '.join([*given, context.names.of(variable)])})"
