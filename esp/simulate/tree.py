"""Statements of a parsed Fortran text: where they stand, what is inside them, which loops are a nest."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fparser.two import Fortran2003
from fparser.two.utils import Base, BinaryOpBase, walk
from msgspec import Struct

from esp.simulate.operations import is_pair
from esp.simulate.scope import called

RUNTIME = "esp_"
"""What names of the run-time library begin with: it counts by itself."""
LOOPS = (Fortran2003.Block_Nonlabel_Do_Construct, Fortran2003.Block_Label_Do_Construct)


class NestBranch(Struct, frozen=True, kw_only=True, eq=False):
    """A branch of an IF in a nest. `head`: the statement behind which it begins; None: an IF statement. `test`: what is
    tested for it; None: ELSE."""

    node: Any
    number: int
    head: Any
    test: Any


class LoopNest(Struct, frozen=True, kw_only=True):
    """Loops directly inside each other, with assignments, some of them under conditions."""

    loops: tuple[str, ...]
    headers: tuple[tuple[Any, Any], ...]
    """The DO statement, and the statement behind which an iteration begins."""
    statements: tuple[tuple[int, Any, Any], ...]
    """Level, the branch around it or None, and what it is: an assignment, or an IF that keeps the better of two
    places."""
    assigned: Mapping[str, int]


def nest_at(node: Base, apart: Collection[int]) -> LoopNest | None:
    """The nest that begins with a DO construct, if it is one. `apart`: lines with statements of their own, which are in
    no nest with what is around them."""
    loops, headers, statements = [], [], []
    level = 0
    at: Base | None = node
    while at is not None:
        index = index_of(at)
        if not index:
            return None
        level += 1
        entry, inside = entered(at)
        loops.append(index)
        headers.append((at.content[0], entry))
        inner = [each for each in inside if isinstance(each, LOOPS)]
        others = [each for each in inside if not isinstance(each, LOOPS)]
        if len(inner) > 1 or any(has_label(each) for each in others):
            return None
        if any(begin_of(each) in apart for each in inside):
            return None
        for each in others:
            found = _step_of(each)
            if found is None:
                return None
            statements += [(level, mask, step) for mask, step in found]
        at = inner[0] if inner else None
    tests = [(number, "" if branch is None else str(branch.test)) for number, branch, _ in statements]
    innermost = {test for number, test in tests if number == level}
    if len(innermost) == 1 and innermost <= {test for number, test in tests if test and number < level}:
        return None  # a condition around all that is inside is tested anew in each loop
    targets = {
        str(_assignment_of(each).items[0]).lower(): number
        for number, _, each in statements
        if isinstance(_assignment_of(each).items[0], Fortran2003.Name)
    }
    return LoopNest(loops=tuple(loops), headers=tuple(headers), statements=tuple(statements), assigned=targets)


def _assignment_of(step: Base) -> Any:
    return step.items[1] if isinstance(step, Fortran2003.If_Stmt) else step


def _step_of(node: Base) -> list[tuple["NestBranch | None", Any]] | None:
    """The assignments of a statement in a nest, each with the branch around it; None: it belongs to no nest."""
    if isinstance(node, Fortran2003.Assignment_Stmt) or keeps_better(node):
        return [(None, node)]
    branches = _branches_of(node)
    if branches is None or any(asks_library(each.test) for each, _ in branches if each.test is not None):
        return None
    return [(branch, each) for branch, inside in branches for each in inside]


def _branches_of(node: Base) -> list[tuple["NestBranch", list[Base]]] | None:
    """The branches of an IF with nothing but assignments in each."""
    if isinstance(node, Fortran2003.If_Stmt):
        node.items[1].item = node.item
        branch = NestBranch(node=node, number=0, head=None, test=node.items[0])
        return [(branch, [node.items[1]])] if isinstance(node.items[1], Fortran2003.Assignment_Stmt) else None
    if not isinstance(node, Fortran2003.If_Construct):
        return None
    parts = parts_of(node, (Fortran2003.If_Then_Stmt, Fortran2003.Else_If_Stmt, Fortran2003.Else_Stmt))
    steps = (isinstance(each, Fortran2003.Assignment_Stmt) or keeps_better(each) for _, part in parts for each in part)
    if not all(part for _, part in parts) or not all(steps):
        return None
    tests = [None if isinstance(head, Fortran2003.Else_Stmt) else head.items[0] for head, _ in parts]
    return [
        (NestBranch(node=node, number=number, head=head, test=test), part)
        for number, ((head, part), test) in enumerate(zip(parts, tests, strict=True))
    ]


def keeps_better(node: Base) -> bool:
    """Whether a statement is a step of MAXLOC or MINLOC: it keeps a value and its place where it is better."""
    if not isinstance(node, Fortran2003.If_Stmt) or not isinstance(node.items[1], Fortran2003.Assignment_Stmt):
        return False
    return is_pair(node.items[1].items[2])


def pair_of(node: Base) -> list[Base]:
    """Value and place that a step of MAXLOC or MINLOC looks at."""
    return list(node.items[1].items[2].items[1].items)


def asks_library(node: Base) -> bool:
    """Whether functions of the run-time library decide."""
    return any(str(each).lower().startswith(RUNTIME) for each in walk(node, Fortran2003.Name))


def is_helping(node: Base, helpers: Collection[str]) -> bool:
    """Whether an assignment only serves the emission of a node program: it sets one of the `helpers`, or joins what
    one of them kept."""
    if not isinstance(node, Fortran2003.Assignment_Stmt):
        return False
    target, _, value = node.items
    target = target.items[0] if isinstance(target, Fortran2003.Part_Ref) else target
    operands = list(value.items) if isinstance(value, BinaryOpBase) else []
    if isinstance(value, Fortran2003.Intrinsic_Function_Reference):
        operands = called(value)[1]
    names = [each for each in (target, value, *operands) if isinstance(each, Fortran2003.Name)]
    return any(str(each).lower() in helpers for each in names)


def only_helps(loop: Base, helpers: Collection[str]) -> bool:
    """Whether loops only serve emission, as those that find out how many elements a temporary has."""
    inside = entered(loop)[1]
    return all(only_helps(each, helpers) if isinstance(each, LOOPS) else is_helping(each, helpers) for each in inside)


def is_idle(node: Base, helpers: Collection[str]) -> bool:
    """Whether nothing is computed under a condition that the run-time library decides: there is input, output or
    messages alone."""
    if isinstance(node, Fortran2003.If_Stmt):
        return asks_library(node.items[0]) and not _computes(node.items[1], helpers)
    if not isinstance(node, Fortran2003.If_Construct) or not asks_library(node.content[0]):
        return False
    return not any(
        _computes(each, helpers) for each in walk(node, (Fortran2003.Assignment_Stmt, Fortran2003.Call_Stmt))
    )


def _computes(node: Base, helpers: Collection[str]) -> bool:
    if isinstance(node, Fortran2003.Assignment_Stmt):
        return not is_helping(node, helpers)
    return isinstance(node, Fortran2003.Call_Stmt) and not is_runtime_call(node)


def index_of(node: Base) -> str:
    """The index of a DO construct; empty: it has none."""
    control = next(iter(walk(node.content[0], Fortran2003.Loop_Control)), None)
    return "" if control is None or control.items[1] is None else str(control.items[1][0]).lower()


def entered(node: Base) -> tuple[Base, list[Base]]:
    """The statement behind which an iteration of a loop begins, and its statements. A loop that asks the run-time
    library whether an iteration is its own is a loop over its own iterations."""
    inside = [each for each in inside_of(node) if not isinstance(each, Fortran2003.Continue_Stmt)]
    if len(inside) == 1 and isinstance(inside[0], Fortran2003.If_Construct):
        parts = parts_of(inside[0], (Fortran2003.If_Then_Stmt, Fortran2003.Else_If_Stmt, Fortran2003.Else_Stmt))
        if len(parts) == 1 and asks_library(parts[0][0]):
            return parts[0]
    return node.content[0], inside


def is_runtime_call(node: Base) -> bool:
    """Whether a statement calls MPI or the run-time library."""
    return isinstance(node, Fortran2003.Call_Stmt) and str(node.items[0]).lower().startswith((RUNTIME, "mpi_"))


def inside_of(node: Base) -> list[Base]:
    """The statements of a DO construct; a CONTINUE that ends it is one of them."""
    return [each for each in node.content[1:] if not isinstance(each, Fortran2003.End_Do_Stmt)]


def parts_of(node: Base, heads: tuple[type, ...]) -> list[tuple[Base, list[Base]]]:
    """The branches of a construct: what begins each, and its statements."""
    found: list[tuple[Base, list[Base]]] = []
    for each in node.content[:-1]:
        if isinstance(each, heads):
            found.append((each, []))
        elif found:
            found[-1][1].append(each)
    return found


def arguments_of(node: Base) -> Iterable[Base]:
    """The arguments in a list, without their keywords."""
    return (each.items[1] if isinstance(each, Fortran2003.Actual_Arg_Spec) else each for each in node.items)


def begin_of(node: Base) -> int | None:
    """The line where a statement or a construct begins."""
    item = getattr(node, "item", None)
    if item is not None:
        return int(item.span[0])
    content = getattr(node, "content", None)
    return begin_of(content[0]) if content else None


def last_of(node: Base) -> int:
    """The last line of a statement."""
    return int(node.item.span[1])


def has_label(node: Base) -> bool:
    """Whether a jump may lead to a statement."""
    item = getattr(node, "item", None)
    return bool(item is not None and item.label)


def name_of_unit(head: Base) -> str:
    """The name of the program unit that a statement begins."""
    return next((str(each).lower() for each in head.items if isinstance(each, Fortran2003.Name)), "")
