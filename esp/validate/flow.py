"""Where data decide the flow: the lines whose messages a prediction cannot know, and nobody else's."""

from collections.abc import Iterable, Iterator

from aag.graph.aau import AAU, Call, CondtD, CondtSync, Graph, IterD, IterND, IterSync, Seq, children, walk
from aag.ir.visitors import names_in
from aag.spmd.nodes import DoNode
from interpreter.result import Assumption

Path = tuple[AAU, ...]


def undecided_lines(graph: Graph, unknown: Iterable[Assumption], taken: frozenset[str]) -> frozenset[int]:
    """Source lines that may run another number of times than predicted, or with other elements.

    Args:
        graph: the program's AAG.
        unknown: loops whose end and conditionals whose branch the prediction had to assume.
        taken: scalars whose values it had to assume; statements that use them may send other messages.

    These are the lines of such a loop, and of such a conditional; where a branch of it leaves loops (EXIT, CYCLE) those
    of the loop it leaves, and where it leaves the unit (RETURN, STOP) those of the unit or program.
    """
    places = {(each.code, each.span.line) for each in unknown if each.span is not None}
    found: set[int] = set()
    for path in paths(graph.body):
        aau = path[-1]
        if isinstance(aau, IterND) and ("while", aau.span.line) in places:
            found |= _lines((aau,))
        elif isinstance(aau, CondtD | CondtSync) and (("branch", aau.span.line) in places or _asks(aau, taken)):
            found |= _lines((aau,))
            for inner in paths((aau,)):
                found |= _left(graph, (*path[:-1], *inner))
        elif not children(aau) and aau.uses & taken:
            found.add(aau.span.line)
    return frozenset(found)


def _asks(aau: CondtD | CondtSync, names: frozenset[str]) -> bool:
    """Whether a condition uses one of some scalars."""
    return any(names_in(each.condition) & names for each in aau.branches)


def paths(body: Path, above: Path = ()) -> Iterator[Path]:
    """Every AAU with those around it, outermost first."""
    for aau in body:
        yield (*above, aau)
        yield from paths(children(aau), (*above, aau))


def _left(graph: Graph, path: Path) -> set[int]:
    """The lines of what the last AAU of a path leaves, if it leaves anything."""
    last = path[-1]
    if not isinstance(last, Seq) or not last.leave:
        return set()
    left = tuple(each for each in path if _is_left(each, last))
    return _lines(left[-1:] or _from(graph.body, path))


def _from(body: Path, path: Path) -> Path:
    """What may run after the last AAU of a path, the loops around it included."""
    levels = zip((body, *map(children, path)), path, strict=False)
    after = [each for level, aau in levels for each in level[level.index(aau) + 1 :]]
    return (*after, *(each for each in path if isinstance(each, IterD | IterSync | IterND)))


def _is_left(aau: AAU, leave: Seq) -> bool:
    match aau:
        case IterD(loop=DoNode(name=name)) | IterSync(loop=DoNode(name=name)) | IterND(name=name):
            return leave.leave in {"exit", "cycle"} and leave.leave_name in {"", name}
        case Call():
            return leave.leave == "return"
    return False


def _lines(body: Path) -> set[int]:
    return {each.span.line for each in walk(body)}


def lines_text(lines: frozenset[int]) -> str:
    """``lines 3, 5``."""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, sorted(lines)))}"
