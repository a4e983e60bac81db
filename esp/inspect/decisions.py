"""Who computes what: the owner-computes decision behind each AAU, in words (D2, Def 15, 16)."""

from collections.abc import Iterable

from msgspec import Struct

from aag.graph import aau as g
from aag.ir.evaluate import Unknown, Value
from aag.ir.expressions import Element, Expr
from aag.ir.spelling import spell
from aag.ir.visitors import walk_expressions
from aag.mapping.layout import Layouts
from aag.spmd import nodes as n
from interpreter.application import Application


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
        case g.IterSync(owned=n.OwnedLoop(home=home, index=index)):
            return (
                f"iterations of {index.name} depend on earlier ones: the owners of {reference(home)} run theirs in "
                "order; every processor tests each guard"
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
            wanted = ", ".join(dict.fromkeys(reference(need.reference) for need in operation.needs))
            homes = dict.fromkeys(
                "every processor" if need.home is None else f"the owner of {reference(need.home)}"
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
    loops = ", ".join(index.name for index in nest.indices)
    what = f"iteration ({loops})" if loops else "it"
    if nest.home is None or not layouts.arrays[nest.home.array].is_distributed:
        return f"every processor runs every iteration of ({loops})" if loops else "every processor computes it"
    where = reference(nest.home)
    text = f"the owner of {where} runs {what}"
    if nest.reduce:
        return f"{text}: each processor reduces its own part ({nest.reduce})"
    return text + ("; right-hand sides go to a temporary first" if nest.copies else "")


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
