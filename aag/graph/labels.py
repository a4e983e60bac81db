"""One line of text for each node, for profiles, graphs and messages."""

import re

from aag.ir.expressions import Element, Expr
from aag.ir.spelling import spell
from aag.spmd import nodes as n
from aag.wording import as_written

_MADE = re.compile(r"([a-z]\w*)\$\d+")
"""A name of the compiler's own. One of a procedure has the name of that behind the sign."""
_INDEX = re.compile(r"(?<=[(, ])i\$\d+(?!\()")
"""An index that array syntax made, where it is a subscript."""


def label_of(node: n.Node) -> str:
    """What a node does, in a few words."""
    match node:
        case n.Local(assigns=assigns):
            return ", ".join(f"{_text(each.target)} = ..." for each in assigns) or "no work"
        case n.Nest(indices=indices, reduce=reduce):
            loops = ", ".join(as_written(each.name) for each in indices if not _MADE.fullmatch(each.name))
            what = f"{reduce} into " if reduce else ""
            return f"{what}{_targets(node)}" + (f" for ({loops})" if loops else "")
        case n.Communicate(operation=operation):
            return f"{operation.pattern} {operation.array}"
        case n.Combine(op=op, prefix=prefix):
            return f"{'scan' if prefix else 'reduction'} {op}"
        case n.HostIo(kind=kind):
            return {"write": "print", "format": "internal file", "control": "file"}.get(kind, kind)
        case n.DoNode(var=var, lower=lower, upper=upper, step=step):
            return _do(var, lower, upper, step)
        case n.OwnedLoop(index=index):
            return f"{_do(index.name, index.lower, index.upper, index.step)} by owners in order"
        case n.WhileNode(condition=condition):
            return "do" if condition is None else f"do while ({_text(condition)})"
        case n.IfNode(branches=branches):
            condition = branches[0].condition
            return "if" if condition is None else f"if ({_text(condition)})"
        case n.CallNode(name=name, library=n.LibraryCall(origin=origin)):
            return f"call {name}, cost by {origin}"
        case n.CallNode(name=name, assumption=assumption):
            return f"call {name}, no cost" if assumption else f"call {name}"
        case n.ClockMark():
            return "clock"
        case n.Leave(kind=kind, name=name):
            return f"{kind} {name}".strip()
        case n.Unmodelled(text=text):
            return f"not modelled: {text}"
    raise TypeError(f"label_of: unknown node {type(node).__name__} at {node.span}")


def _targets(nest: n.Nest) -> str:
    """What a nest computes: arrays, or scalars where there are no arrays."""
    targets = [each.target for level in (*nest.outer, nest.assigns) for each in level]
    arrays = [each for each in targets if isinstance(each, Element)]
    return ", ".join(dict.fromkeys(_text(each) for each in arrays or targets)) or "..."


def _do(var: str, lower: Expr, upper: Expr, step: Expr | None) -> str:
    return f"do {as_written(var)} = {_text(lower)}, {_text(upper)}" + ("" if step is None else f", {_text(step)}")


def _text(expr: Expr) -> str:
    """An expression; subscripts that array syntax made are written as there, other names as in the source."""
    return as_written(_INDEX.sub(":", spell(expr)))
