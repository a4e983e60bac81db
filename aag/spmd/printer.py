"""The node program as pseudo-Fortran for people: what every processor runs, and what it sends.

38      do my i in 2:n - 1 where b(i, j) lives        the processor's share of the iterations
 |
 line of the source to which the time is charged (Def 4)
"""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from msgspec import Struct

from aag.ir.expressions import Element, Expr, IntLit
from aag.ir.intrinsics import REDUCTIONS
from aag.ir.spelling import spell
from aag.ir.statements import Assign
from aag.ir.visitors import names_in
from aag.spmd import nodes as n
from aag.spmd.branches import chained
from aag.spmd.program import NodeProgram
from aag.wording import plural

WIDTH = 100
_MARGIN = 7
_STEP = "  "
_DEEPEST = 40
"""Indentation grows no further, so that there is always room for text."""


class NodeLine(Struct, frozen=True):
    """One line: the source line in the margin (0: none), the depth and the text."""

    source: int
    depth: int
    text: str


def print_node(program: NodeProgram) -> str:
    """The node program as text, at most `WIDTH` columns wide."""
    layouts = program.layouts
    count = plural(layouts.procs, "processor")
    lines = [NodeLine(0, 0, f"node program {program.unit.name}, {count}, grid {layouts.grid}")]
    if program.options.disabled:
        lines.append(NodeLine(0, 0, f"optimisations off: {', '.join(sorted(program.options.disabled))}"))
    lines.append(NodeLine(0, 0, ""))
    lines += _Printer(program).body(program.body, 0)
    if program.notes or not program.complete:
        lines.append(NodeLine(0, 0, ""))
    lines += [NodeLine(note.span.line, 0, f"{note.code} {note.message}") for note in program.notes]
    if not program.complete:
        lines.append(NodeLine(0, 0, "not complete: something could not be modelled"))
    return "\n".join(text for line in lines for text in _folded(line)) + "\n"


def _folded(line: NodeLine) -> Iterator[str]:
    margin = f"{line.source or '':>5}  "
    indent = " " * min(_DEEPEST, len(_STEP) * line.depth)
    parts = wrap(
        line.text, WIDTH - _MARGIN, initial_indent=indent, subsequent_indent=indent + 2 * _STEP, break_on_hyphens=False
    )
    yield (margin + (parts[0] if parts else "")).rstrip()
    yield from (" " * _MARGIN + part for part in parts[1:])


class _Printer(Struct, frozen=True):
    program: NodeProgram

    def body(self, nodes: Sequence[n.Node], depth: int) -> Iterator[NodeLine]:
        for at, node in enumerate(nodes):
            following = next((each for each in nodes[at + 1 :] if not isinstance(each, n.Communicate)), None)
            yield from self._numbered(node, depth, following)

    def _numbered(self, node: n.Node, depth: int, following: n.Node | None) -> Iterator[NodeLine]:
        """The lines of a node; those that do not say otherwise belong to its line, which stands at the first."""
        first = True
        for line in self._node(node, depth, following):
            yield NodeLine(node.span.line, line.depth, line.text) if first else line
            first = False

    def _node(self, node: n.Node, depth: int, following: n.Node | None) -> Iterator[NodeLine]:
        match node:
            case n.Local(assigns=assigns):
                yield from (NodeLine(0, depth, _assign(each)) for each in assigns)
                if not assigns:
                    yield NodeLine(0, depth, "continue")
            case n.Nest():
                yield from self._nest(node, depth)
            case n.Communicate(operation=operation):
                yield from _communication(operation, depth, _hoisted(node, following))
            case n.Combine():
                yield NodeLine(0, depth, _combine(node))
            case n.DoNode(var=var, lower=lower, upper=upper, step=step, body=body, name=name, home=home):
                own = "" if home is None else f" where {self._part(home)} lives"
                yield from self._block(_named(name, _do(var, lower, upper, step)) + own, body, depth, "end do")
            case n.WhileNode(condition=condition, body=body, name=name):
                head = "do" if condition is None else f"do while ({spell(condition)})"
                yield from self._block(_named(name, head), body, depth, "end do")
            case n.OwnedLoop():
                yield from _owned(node, depth)
            case n.IfNode(branches=branches):
                yield from self._conditional(branches, depth)
            case n.CallNode(name=name, library=n.LibraryCall(args=args, into=into, text=text, origin=origin)):
                listed = f"{name}({', '.join(map(spell, args))})"
                call = f"call {listed}" if into is None else f"{spell(into)} = {listed}"
                by = "table" if origin == "table" else "option"
                yield NodeLine(0, depth, f"{call}   ! cost by {by}: {text}")
            case n.CallNode(name=name, arguments=arguments, assumption=assumption):
                said = f"   ! {assumption}" if assumption else ""
                yield NodeLine(0, depth, f"call {name}, {plural(arguments, 'argument')}{said}")
            case _:
                yield NodeLine(0, depth, _simple(node))

    def _part(self, home: n.Reference) -> str:
        """What an iteration has for itself, such as ``x(:, j)``."""
        layout = self.program.layouts.arrays[home.array]
        parts = [":" if layout.axis_of_dim(dim) is None else spell(each) for dim, each in enumerate(home.subscripts)]
        return f"{home.array}({', '.join(parts)})"

    def _block(self, head: str, body: Sequence[n.Node], depth: int, end: str) -> Iterator[NodeLine]:
        yield NodeLine(0, depth, head)
        yield from self.body(body, depth + 1)
        yield NodeLine(0, depth, end)

    def _conditional(self, branches: Sequence[n.NodeBranch], depth: int) -> Iterator[NodeLine]:
        word = "if"
        for branch in branches:
            head = "else" if branch.condition is None else f"{word} ({spell(branch.condition)}) then"
            yield NodeLine(0 if word == "if" else branch.span.line, depth, head)
            yield from self.body(branch.body, depth + 1)
            word = "else if"
        yield NodeLine(0, depth, "end if")

    # --- nests ------------------------------------------------------------------------------------------------

    def _nest(self, nest: n.Nest, depth: int) -> Iterator[NodeLine]:
        if nest.copies:
            yield NodeLine(0, depth, "! all right-hand sides first, into a temporary")
        shared, guarded = self._partition(nest)
        if guarded:
            yield NodeLine(0, depth, f"only where {guarded} lives")
            depth += 1
        around = [nest.around(level) for level in range(1, len(nest.indices) + 1)]
        for level, index in enumerate(nest.indices):
            yield NodeLine(0, depth + level, self._loop(index, nest.home if index.name in shared else None))
            yield from _assigned(nest, around[level][0], depth + level + 1)
        yield from _innermost(nest, depth + len(nest.indices))
        for level in reversed(range(len(nest.indices))):
            yield from _assigned(nest, around[level][1], depth + level + 1)
            yield NodeLine(0, depth + level, "end do")

    def _loop(self, index: n.Index, home: n.Reference | None) -> str:
        if home is None:
            return _do(index.name, index.lower, index.upper, index.step)
        return f"do my {index.name} in {_range(index)} where {_reference(home)} lives"

    def _partition(self, nest: n.Nest) -> tuple[frozenset[str], str]:
        """The loops of which a processor runs its share, and the place a guard asks for where no loop moves it."""
        layout = self.program.layouts.arrays.get(nest.home.array) if nest.home else None
        if nest.home is None or layout is None:
            return frozenset(), ""
        loops = frozenset(index.name for index in nest.indices)
        shared: frozenset[str] = frozenset()
        guarded = False
        for axis in layout.axes:
            moved = names_in(nest.home.subscripts[axis.dim]) & loops if axis.role == "dim" else frozenset[str]()
            shared |= moved
            guarded |= axis.role != "replicated" and not moved
        return shared, _reference(nest.home) if guarded else ""


def _innermost(nest: n.Nest, depth: int) -> Iterator[NodeLine]:
    if nest.mask is not None:
        yield NodeLine(0, depth, f"if ({spell(nest.mask)}) then")
        depth += 1
    if nest.reduce:
        yield from (NodeLine(0, depth, _accumulate(each, nest.reduce)) for each in nest.assigns)
    else:
        yield from _assigned(nest, nest.assigns, depth)
    if nest.mask is not None:
        yield NodeLine(0, depth - 1, "end if")


def _assigned(nest: n.Nest, assigns: Sequence[Assign], depth: int) -> Iterator[NodeLine]:
    """Assignments that follow each other, those under conditions of their own in IF blocks."""
    for step in chained(nest, assigns):
        if isinstance(step, Assign):
            yield NodeLine(0, depth, _assign(step))
            continue
        for number, branch in enumerate(step.branches):
            otherwise = "else " if number else ""
            yield NodeLine(0, depth, "else" if branch.test is None else f"{otherwise}if ({spell(branch.test)}) then")
            yield from (NodeLine(0, depth + 1, _assign(each)) for each in branch.assigns)
        yield NodeLine(0, depth, "end if")


def _accumulate(assign: Assign, operation: str) -> str:
    """One step of the local part of a reduction."""
    target = assign.target
    if operation == "count":
        return f"if ({spell(assign.value)}) {spell(target)} = {spell(target)} + 1   ! my part of the count"
    step = REDUCTIONS[operation].combined(target, assign.value)
    return f"{spell(target)} = {spell(step)}   ! my part of the {operation}"


def _owned(loop: n.OwnedLoop, depth: int) -> Iterator[NodeLine]:
    index = loop.index
    yield NodeLine(0, depth, f"{_do(index.name, index.lower, index.upper, index.step)}   ! the owners in order")
    yield NodeLine(0, depth + 1, f"if ({_reference(loop.home)} lives here) then")
    crossing = list(dict.fromkeys(_reference(need.reference) for need in loop.needs))
    if crossing:
        yield NodeLine(0, depth + 2, f"receive {', '.join(crossing)} where the owner before has it")
    if loop.carried:
        names = ", ".join(each.name for each in loop.carried)
        yield NodeLine(0, depth + 2, f"receive {names} from the previous owner where the owner changes")
    yield from _assigned(loop.own_part, loop.assigns, depth + 2)
    yield NodeLine(0, depth + 1, "end if")
    yield NodeLine(0, depth, "end do")


# --- communication ----------------------------------------------------------------------------------------------


def _hoisted(node: n.Communicate, following: n.Node | None) -> str:
    """Whether it stands before a loop on behalf of a statement inside; the margin says for which line."""
    if isinstance(following, n.DoNode) and node.span.line > following.span.line:
        return f", hoisted out of the loop over {following.var}"
    return ""


def _communication(operation: n.Operation, depth: int, remark: str) -> Iterator[NodeLine]:
    yield NodeLine(0, depth, _verb(operation) + remark)
    everywhere = "" if isinstance(operation, n.Gather) else " on every processor"
    for text in _grouped(operation.needs, everywhere):
        yield NodeLine(0, depth + 2, text)
    held = {each.need: each.stale for each in operation.held}
    for stale in dict.fromkeys(held.values()):
        written = "".join(f", but for {_reference(each)}{_over(each.indices)} written since" for each in stale)
        for text in _grouped(need for need, since in held.items() if since == stale):
            yield NodeLine(0, depth + 2, f"here already: {text}{written}")


def _verb(operation: n.Operation) -> str:
    array = operation.array
    match operation:
        case n.Exchange(pattern=pattern):
            return f"{pattern} {array}"
        case n.Multicast(axes=axes, pattern=pattern) | n.Concatenate(axes=axes, pattern=pattern):
            return f"{pattern} {array} along {_axes(axes)}"
        case n.Gather(pattern="scatter"):
            return f"scatter {array} from processor 0"
        case n.Gather():
            return f"gather {array} to processor 0"
    raise TypeError(f"print_node: unknown operation {type(operation).__name__}")


def _axes(axes: Sequence[int]) -> str:
    return f"grid ax{'e' if len(axes) > 1 else 'i'}s {', '.join(str(axis + 1) for axis in axes)}"


def _grouped(needs: Iterable[n.Need], everywhere: str = " on every processor") -> Iterator[str]:
    """References with the same loops and the same home in one line."""
    groups: dict[tuple[tuple[n.Index, ...], n.Reference | None], list[str]] = {}
    for need in needs:
        groups.setdefault((need.reference.indices, need.home), []).append(_reference(need.reference))
    for (indices, home), texts in groups.items():
        where = everywhere if home is None else f" where {_reference(home)} lives"
        yield f"{'; '.join(dict.fromkeys(texts))}{_over(indices)}{where}"


def _combine(node: n.Combine) -> str:
    kept = f" for each ({', '.join(index.name for index in node.kept.indices)})" if node.kept else ""
    if node.prefix:
        order = "" if node.prefix == "up" else ", from the last on"
        return f"scan {node.op} along {_axes(node.axes)}, {node.element_bytes} bytes{kept}, without the own part{order}"
    return f"combine {node.op} along {_axes(node.axes)}, {node.element_bytes} bytes{kept}, the result on all"


# --- small parts ------------------------------------------------------------------------------------------------


def _simple(node: n.Node) -> str:
    match node:
        case n.HostIo():
            return _host(node)
        case n.ClockMark():
            return "read the clock"
        case n.Leave(kind=kind, name=name):
            return f"{kind} {name}".strip()
        case n.Unmodelled(text=text, reason=reason):
            return f"not modelled: {' '.join(text.split())}   ! {reason}"
    raise TypeError(f"print_node: unknown node {type(node).__name__} at {node.span}")


def _host(node: n.HostIo) -> str:
    amount = f"{spell(node.items)} item{'s' * (node.items != IntLit(1))}, {spell(node.bytes)} bytes"
    known = "".join(f", then broadcast {spell(each.bytes)} bytes" for each in node.shared)
    match node.kind:
        case "write":
            return f"print {amount}, through the host{known}"
        case "read":
            return f"read {amount}, from the host{known}"
        case "format":
            return f"format {amount}, on every processor"
        case _:
            return f"input or output statement of processor 0{known}"


def _assign(assign: Assign) -> str:
    return f"{spell(assign.target)} = {spell(assign.value)}"


def _do(var: str, lower: Expr, upper: Expr, step: Expr | None) -> str:
    return f"do {var} = {spell(lower)}, {spell(upper)}" + ("" if step is None else f", {spell(step)}")


def _named(name: str, head: str) -> str:
    return f"{name}: {head}" if name else head


def _range(index: n.Index) -> str:
    return f"{spell(index.lower)}:{spell(index.upper)}" + ("" if index.step is None else f":{spell(index.step)}")


def _over(indices: Sequence[n.Index]) -> str:
    return f" for {', '.join(f'{index.name} in {_range(index)}' for index in indices)}" if indices else ""


def _reference(reference: n.Reference) -> str:
    return spell(Element(reference.array, reference.subscripts)) if reference.subscripts else reference.array


__all__ = ["WIDTH", "print_node"]
