"""Who computes what: the owner-computes decision behind each AAU, in words (D2, Def 15, 16)."""

import re
from collections.abc import Iterable

from msgspec import Struct

from aag.graph import aau as g
from aag.ir.evaluate import Unknown, Value
from aag.ir.expressions import Element, Expr, Var
from aag.ir.spelling import spell
from aag.ir.visitors import walk_expressions
from aag.mapping.layout import Layouts
from aag.spmd import nodes as n
from aag.spmd.branches import conditions_of
from aag.wording import as_written
from interpreter.application import Application

_MADE = re.compile(r"[a-z]\w*\$\d+")
"""An index that array syntax made."""


class Share(Struct, frozen=True, kw_only=True):
    """Iterations of a nest that a processor runs at one execution: least, mean and most over processors."""

    least: int
    mean: float
    most: int


class Decision(Struct, frozen=True, kw_only=True):
    """Who runs an AAU and why. `arrays`: those it touches; `share`: None where it cannot be known beforehand."""

    aau: int
    text: str
    arrays: tuple[str, ...]
    share: Share | None = None


def decide(aau: g.AAU, lowered: Application, values: dict[str, Value]) -> Decision:
    """The decision behind an AAU. `values`: what is known of scalars."""
    layouts = lowered.program.layouts
    arrays = tuple(dict.fromkeys(each for each in _arrays(aau) if each in layouts.arrays))
    return Decision(aau=aau.id, text=_text(aau, layouts), arrays=arrays, share=_share(aau, lowered, values))


def _text(aau: g.AAU, layouts: Layouts) -> str:
    match aau:
        case g.IterD(nest=n.Nest() as nest):
            return _nest(nest, layouts)
        case g.IterSync(owned=n.OwnedLoop(home=home, index=index, carried=carried)):
            names = ", ".join(as_written(each.name) for each in carried)
            passed = f"; each owner sends {names} to the next" if carried else ""
            return (
                f"iterations of {as_written(index.name)} depend on earlier ones: the owners of {shown(home)} run "
                f"theirs in order; every processor tests each guard{passed}"
            )
        case g.IterD() | g.IterSync() | g.IterND():
            return "every processor runs the loop; each statement of its body has its own owners"
        case g.CondtD() | g.CondtSync():
            return "every processor tests the conditions"
        case g.Seq(unmodelled=str(why)) if why:
            return f"not modelled: {why}"
        case g.Seq():
            return "every processor computes it: scalars are replicated"
        case g.SyncSeq(combine=combine):
            axes = ", ".join(str(axis + 1) for axis in combine.axes)
            return f"partial results ({combine.op}) are combined along grid axis {axes}; all get the result"
        case g.Comm(host=n.HostIo(kind=kind)):
            if kind == "format":
                return "every processor has its own internal file"
            return f"processor 0 does the {kind} through the host" + (
                ", then broadcasts what it reads" if kind == "read" else ""
            )
        case g.Comm(operation=n.Gather(pattern=pattern) as operation):
            moved = ", ".join(dict.fromkeys(reference(need.reference) for need in operation.needs))
            if pattern == "scatter":
                return f"the owners of {moved} get what processor 0 reads"
            return f"processor 0 needs {moved}, partly stored on other processors"
        case g.Comm(operation=operation) if operation is not None:
            wanted = ", ".join(dict.fromkeys(shown(need.reference) for need in operation.needs))
            homes = dict.fromkeys(
                "every processor" if need.home is None else f"the owner of {shown(need.home)}"
                for need in operation.needs
            )
            return f"{', '.join(homes)} needs {wanted}, partly stored on other processors"
        case g.End():
            return "all wait for the last processor"
        case g.Call(name=name):
            return f"every processor calls {name}" + (" with data of its own" if aau.charges else "")
        case _:
            return "every processor"


def _nest(nest: n.Nest, layouts: Layouts) -> str:
    loops = ", ".join(as_written(index.name) for index in nest.indices if not _MADE.fullmatch(index.name))
    tests = _tests(nest)
    if nest.home is None or not layouts.arrays[nest.home.array].is_distributed:
        done = "runs every iteration of " + f"({loops})" if loops else "computes every element" if nest.indices else ""
        return f"every processor {done or 'computes it'}{tests}"
    what = f"runs iteration ({loops})" if loops else "computes it"
    text = f"the owner of {shown(nest.home)} {what}{tests}"
    if nest.reduce:
        return f"{text}: each processor reduces its own part ({nest.reduce})"
    return text + ("; right-hand sides go to a temporary first" if nest.copies else "")


def _tests(nest: n.Nest) -> str:
    """That an iteration tests the conditions of other lines, which carry no time of their own."""
    own = {nest.span.line, *(each.span.line for each in nest.assigns)}
    parts = (each for condition in conditions_of(nest) for each in walk_expressions(condition))
    tested = (each.span.line for each in parts if isinstance(each, Var | Element))  # an ELSE has its own place, too
    lines = sorted({*tested} - own - {0})
    if not lines:
        return ""
    what = f"the condition of line {lines[0]}" if len(lines) == 1 else f"the conditions of {_listed(lines)}"
    return f", and tests {what}"


def _listed(lines: list[int]) -> str:
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def shown(ref: n.Reference) -> str:
    """A reference in the words of the source: a subscript that array syntax made is a colon there; an array that was
    remapped keeps its number."""
    array = ref.array if ref.array.partition("$")[2].isdecimal() else as_written(ref.array)
    texts = [spell(each) for each in ref.subscripts]
    return f"{array}({', '.join(':' if _MADE.fullmatch(each) else as_written(each) for each in texts)})"


def reference(ref: n.Reference) -> str:
    """A reference as it would stand in the source."""
    return f"{ref.array}({', '.join(map(spell, ref.subscripts))})"


def _share(aau: g.AAU, lowered: Application, values: dict[str, Value]) -> Share | None:
    if not isinstance(aau, g.IterD) or aau.nest is None:
        return None
    try:
        count = lowered.trips(aau.nest, values).count
    except Unknown:
        return None
    return Share(least=int(count.min()), mean=float(count.mean()), most=int(count.max()))


def _arrays(aau: g.AAU) -> Iterable[str]:
    match aau:
        case g.IterD(nest=n.Nest() as nest):
            if nest.home is not None:
                yield nest.home.array
            for level in (*nest.outer, nest.assigns):
                for assign in level:
                    yield from _named(assign.target)
                    yield from _named(assign.value)
        case g.IterSync(owned=n.OwnedLoop() as owned):
            yield owned.home.array
            yield from (need.reference.array for need in owned.needs)
        case g.Comm(operation=operation) if operation is not None:
            yield operation.array
        case g.SyncSeq(combine=combine):
            yield combine.home.array


def _named(expr: Expr) -> Iterable[str]:
    return (each.name for each in walk_expressions(expr) if isinstance(each, Element))
