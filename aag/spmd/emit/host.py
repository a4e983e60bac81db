"""Input and output: rank 0 does it, and all get what was read or set (Def 15)."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.control import control_of
from aag.ir.expressions import Call, Element, Expr, ImpliedDo, Var
from aag.ir.printer import print_statement
from aag.ir.visitors import walk_expressions
from aag.spmd.emit.context import Context
from aag.spmd.emit.lasting import last_values
from aag.spmd.emit.refusals import refused
from aag.spmd.emit.renaming import Renaming
from aag.spmd.emit.text import indented
from aag.spmd.nodes import HostIo, Index, Reference, SharedValues, Value


def on_host(statement: ir.Io) -> Iterator[str]:
    """An I/O statement without items that rank 0 executes and that changes nothing for others. A label stays behind:
    nothing jumps in a node program."""
    if control_of(statement).jumps:
        raise refused(f"{statement.kind.upper()} statements with ERR=, END= or EOR=", statement.span)
    yield f"if (esp_me == 0) {print_statement(replace(statement, label=''))}"


def host_io(context: Context, node: HostIo) -> Iterator[str]:
    """A statement with its broadcasts."""
    line = node.span.line
    statement = context.statement(node.span)
    if not isinstance(statement, ir.Io):
        raise refused("an I/O statement that is part of another one", line)
    if node.nest is not None:
        yield from _nest(context, node.nest)
    elif node.kind == "control":
        yield from on_host(statement)
    elif node.kind == "format":
        yield _spelled(context, statement, node.listed)
    else:
        yield f"if (esp_me == 0) {_spelled(context, statement, node.listed)}"
    for each in node.shared:
        yield from _shared(context, each, line)
    loops = [each for item in statement.items for each in walk_expressions(item) if isinstance(each, ImpliedDo)]
    if loops and node.nest is None:
        wanted = context.live.wanted_after(statement, frozenset(each.var for each in loops))
        for item in statement.items:
            yield from _after_implied(context, item, (), wanted, line)


def _after_implied(
    context: Context, item: Expr, around: tuple[Index, ...], wanted: frozenset[str], line: int
) -> Iterator[str]:
    """The variables of implied DO loops have the same values on all processors afterwards."""
    if not isinstance(item, ImpliedDo):
        return
    chain = (*around, Index(name=item.var, lower=item.lower, upper=item.upper, step=item.step))
    inner = [each for each in item.values if isinstance(each, ImpliedDo)]
    if not inner:
        yield from last_values(context, chain, wanted, line)
    for each in inner:
        yield from _after_implied(context, each, chain, wanted, line)


def _nest(context: Context, nest: ir.Do) -> Iterator[str]:
    """Loops with nothing but READs: all processors run them, so that all have the loop variables, and rank 0 reads."""
    line = nest.span.line
    step = "" if nest.step is None else f", {context.spell(nest.step, line)}"
    bounds = f"{context.spell(nest.lower, line)}, {context.spell(nest.upper, line)}{step}"
    yield f"do {context.names.of(nest.var)} = {bounds}"
    for each in nest.body:
        match each:
            case ir.Do():
                yield from indented(_nest(context, each))
            case ir.Io():
                yield from indented([f"if (esp_me == 0) {_spelled(context, each, each.items)}"])
    yield "end do"


def _spelled(context: Context, statement: ir.Io, listed: Iterable[Expr]) -> str:
    """The statement with these items."""
    line = statement.span.line
    if control_of(statement).jumps:
        raise refused(f"{statement.kind.upper()} statements with ERR=, END= or EOR=", statement.span)
    if statement.group:
        return _group(context, statement)
    items = ", ".join(_item(context, each, line) for each in listed)
    if statement.kind == "print":
        return f"print {statement.control}{', ' if items else ''}{items}"
    return f"{statement.kind} ({statement.control}) {items}".rstrip()


def _group(context: Context, statement: ir.Io) -> str:
    """READ or WRITE of a NAMELIST: input and output have the names of its variables."""
    names = [each.name for each in statement.items if isinstance(each, Var)]
    if tuple(names) != statement.group or any(context.names.of(each) != each for each in names):
        raise refused("a NAMELIST whose variables have other names in the node program", statement.span)
    if any(context.distributed(each) is not None for each in names):
        raise refused("a NAMELIST with a distributed array", statement.span)
    group = control_of(statement).namelist.lower()
    declaration = f"namelist /{group}/ {', '.join(names)}"
    if declaration not in context.declarations:
        context.declare(declaration)
    return f"{statement.kind} ({statement.control})"


def _item(context: Context, item: Expr, line: int) -> str:
    for each in walk_expressions(item):
        found = context.symbols.intrinsic(each.name) if isinstance(each, Call) else None
        if isinstance(each, Call) and found is not None and found.form in ("reduction", "location", "matmul"):
            raise refused(f"{each.name.upper()} of what an implied DO selects", line)
    return context.spell(item, line)


def _shared(context: Context, shared: SharedValues, line: int) -> Iterator[str]:
    """One broadcast of values of several kinds."""
    box, at = context.numbered("box"), context.helper("at")
    context.declare(f"integer(esp_byte), allocatable :: {box}(:)")
    context.declare(f"integer :: {at}")
    yield f"allocate({box}({context.spell(shared.bytes, line)}))"
    yield f"{at} = 0"
    yield "if (esp_me == 0) then"
    for each in shared.values:
        yield from indented(_each(context, each, f"esp_put_{{kind}}({box}, {at}, {{value}})", line))
    yield "end if"
    yield f"call esp_line({line})"
    yield f"call esp_share({box})"
    yield "if (esp_me /= 0) then"
    for each in shared.values:
        yield from indented(_each(context, each, f"esp_get_{{kind}}({box}, {at}, {{value}})", line))
    yield "end if"
    yield f"deallocate({box})"


def _each(context: Context, value: Value, call: str, line: int) -> Iterator[str]:
    """A call for each element of a value; the indices are names of our own."""
    element = value.element
    subscripts = element.subscripts if isinstance(element, Element) else ()
    reference = Reference(array=element.name, subscripts=subscripts, indices=value.indices)
    reference = Renaming({index.name for index in value.indices}).reference(reference)
    shown = Element(element.name, reference.subscripts) if subscripts else Var(element.name)
    for depth, index in enumerate(reference.indices):
        yield from indented([context.do(index, line)], depth)
    said = call.format(kind=context.kind(element.name, line), value=context.spell(shown, line))
    yield from indented([f"call {said}"], len(reference.indices))
    for depth in range(len(reference.indices) - 1, -1, -1):
        yield from indented(["end do"], depth)
