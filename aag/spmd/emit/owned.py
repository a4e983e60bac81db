"""A sequential loop over distributed data: owners run their iterations in order, messages cross where data do."""

from collections.abc import Iterator

from aag.ir.expressions import Element
from aag.spmd.branches import chained
from aag.spmd.emit.context import Context
from aag.spmd.emit.nests import poison, step
from aag.spmd.emit.text import comment, indented
from aag.spmd.nodes import OwnedLoop


def owned_loop(context: Context, node: OwnedLoop) -> Iterator[str]:
    """The loop; every processor walks all iterations and knows whose turn it is."""
    line = node.span.line
    turn = context.helping(context.names.fresh("turn$own", "turn"))
    layout = context.layouts.arrays[node.home.array]
    home = context.names.subscripts(node.home.subscripts)
    context.declare(f"integer :: {turn}")
    yield comment("owners run their iterations in order")
    if not (node.needs or node.carried):
        yield context.do(node.index, line)
        yield f"  {turn} = esp_owner({context.map_of(layout.array)}, {home})"
    else:
        yield from _crossing(context, node, turn, f"{turn} = esp_owner({context.map_of(layout.array)}, {home})")
    yield f"  if (esp_me == {turn}) then"
    yield from indented((line for each in chained(node.own_part, node.assigns) for line in step(context, each)), 2)
    yield "  end if"
    yield from _written(context, node)
    yield "end do"
    yield from poison(context, node.own_part, node.assigns)


def _turns(context: Context, array: str, line: int) -> str:
    return context.names.fresh(f"turns${array}${line}", f"turns_{context.names.of(array)}_{line}")


def _counter(context: Context) -> str:
    """The variable that counts the iterations of a loop; all loops share it, as none is inside another."""
    return context.helping(context.names.fresh("step$own", "step"))


def _crossing(context: Context, node: OwnedLoop, turn: str, whose: str) -> Iterator[str]:
    line, count = node.span.line, len(node.needs) + len(node.carried)
    arrives, source, at = (context.helper(each) for each in ("arrives", "source", "at"))
    box, sender, lengths = (context.numbered(each) for each in ("box", "sender", "lengths"))
    counter = _counter(context)
    moved = [*(need.reference.array for need in node.needs), *(each.name for each in node.carried)]
    kinds = [context.kind(name, line) for name in moved]
    bytes_of = [context.type_of(name).bytes for name in moved]
    context.declare(f"logical :: {arrives}({count})")
    context.declare(f"integer :: {source}({count}), {at}, {sender}")
    context.declare(f"integer :: {counter}")
    context.declare(f"integer(esp_byte) :: {box}({sum(bytes_of)})")
    context.declare(f"integer, parameter :: {lengths}({count}) = (/ {', '.join(map(str, bytes_of))} /)")
    arrays = dict.fromkeys(need.reference.array for need in node.needs)
    for array in arrays:
        context.declare(f"type(esp_turns) :: {_turns(context, array, line)}")
        yield f"call esp_turns_begin({_turns(context, array, line)}, {context.map_of(array)})"
    yield f"call esp_line({line})"
    yield f"{counter} = 0"
    before = ""
    if node.carried:
        before = context.helping(context.names.fresh("before$own", "before"))
        context.declare(f"integer :: {before}")
        yield f"{before} = -1"
    yield context.do(node.index, line)
    yield f"  {counter} = {counter} + 1"
    yield f"  {whose}"
    puts, gets = [], []
    crossing = (*_needed(context, node, turn), *_carried(context, node, turn, before))
    for number, (kind, (data, sender_of, moves)) in enumerate(zip(kinds, crossing, strict=True), start=1):
        yield f"  {source}({number}) = {sender_of}"
        yield f"  {arrives}({number}) = {moves}"
        guard = f"if ({arrives}({number}) .and. {source}({number}) == {sender})"
        puts.append(f"{guard} call esp_put_{kind}({box}, {at}, {data})")
        gets.append(f"{guard} call esp_get_{kind}({box}, {at}, {data})")
    yield f"  if (any({arrives}) .and. (esp_me == {turn} .or. any({arrives} .and. {source} == esp_me))) then"
    yield f"    do {sender} = 0, esp_procs - 1"
    yield f"      if (.not. any({arrives} .and. {source} == {sender})) cycle"
    length = f"sum({lengths}, mask={arrives} .and. {source} == {sender})"
    yield f"      {at} = 0"
    yield f"      if (esp_me == {sender}) then"
    yield from indented(puts, 4)
    yield f"        call esp_send({box}, {at}, {turn})"
    yield f"      else if (esp_me == {turn}) then"
    yield f"        call esp_receive({box}, {length}, {sender})"
    yield from indented(gets, 4)
    yield "      end if"
    yield "    end do"
    yield "  end if"
    if node.carried:
        yield f"  {before} = {turn}"


def _needed(context: Context, node: OwnedLoop, turn: str) -> Iterator[tuple[str, str, str]]:
    """What an iteration may receive, as Fortran expressions: an element, its owner, and whether it is sent."""
    line = node.span.line
    for need in node.needs:
        array, subscripts = need.reference.array, need.reference.subscripts
        where = f"{context.map_of(array)}, {context.names.subscripts(subscripts)}"
        moves = f"esp_arrives({_turns(context, array, line)}, {where}, {turn}, {_counter(context)})"
        yield context.spell(Element(array, subscripts), line), f"esp_owner({where})", moves


def _carried(context: Context, node: OwnedLoop, turn: str, before: str) -> Iterator[tuple[str, str, str]]:
    """The carried scalars in the same form; the owner of the previous iteration sends them."""
    for each in node.carried:
        yield context.names.of(each.name), before, f"{before} >= 0 .and. {before} /= {turn}"


def _written(context: Context, node: OwnedLoop) -> Iterator[str]:
    arrays = {need.reference.array for need in node.needs}
    line = node.span.line
    for each in dict.fromkeys(assign.target for assign in node.assigns):
        if isinstance(each, Element) and each.name in arrays:
            where = f"{context.map_of(each.name)}, {context.names.subscripts(each.subscripts)}"
            yield f"  call esp_written({_turns(context, each.name, line)}, {where}, {_counter(context)})"
