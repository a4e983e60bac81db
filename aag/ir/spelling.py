"""Expressions, types and directives as text, with the parentheses that their structure needs and no
others."""

from aag.ir import directives as d
from aag.ir import expressions as e
from aag.ir.units import Equivalence, Type

_LEVELS = {
    ".eqv.": 1,
    ".neqv.": 1,
    ".or.": 2,
    ".and.": 3,
    ".not.": 4,
    "==": 5,
    "/=": 5,
    "<": 5,
    "<=": 5,
    ">": 5,
    ">=": 5,
    "//": 6,
    "+": 7,
    "-": 7,
    "*": 8,
    "/": 8,
    "**": 9,
}
_PRIMARY = 10


def spell(expr: e.Expr) -> str:
    """`expr` as Fortran."""
    match expr:
        case e.IntLit(value=value, bytes=size):
            return str(value) if size in (0, 4) else f"{value}_{size}"
        case e.RealLit(text=text):
            return text
        case e.ComplexLit(real=real, imag=imag):
            return f"({spell(real)}, {spell(imag)})"
        case e.LogicalLit(value=value):
            return ".true." if value else ".false."
        case e.StringLit(value=text):
            return "'" + text.replace("'", "''") + "'"
        case e.Var(name=name):
            return name
        case e.Section():
            return _section(expr)
        case e.Element(name=name, subscripts=subscripts):
            return f"{name}({', '.join(spell(each) for each in subscripts)})"
        case e.Call(name=name, args=args, keywords=keywords):
            parts = [spell(each) for each in args] + [f"{key}={spell(value)}" for key, value in keywords]
            return f"{name}({', '.join(parts)})"
        case e.Unary(op=op, operand=operand):
            return f"{op}{' ' if op == '.not.' else ''}{_within(operand, _LEVELS[op] + 1)}"
        case e.Binary(op=op, left=left, right=right):
            return _binary(op, left, right)
        case e.Constructor(values=values):
            return f"(/ {', '.join(spell(each) for each in values)} /)"
        case e.ImpliedDo():
            return _implied_do(expr)
        case e.Component(base=base, field_name=name, subscripts=subscripts):
            behind = f"({', '.join(spell(each) for each in subscripts)})" if subscripts else ""
            return f"{spell(base)}%{name}{behind}"
        case e.Substring(base=base, lower=lower, upper=upper):
            return f"{spell(base)}({_section(e.Section(lower, upper, None))})"
        case e.OpaqueExpr(text=text):
            return text
    raise TypeError(f"spell: unknown expression class {type(expr).__name__} at {expr.span}")


def _section(expr: e.Section) -> str:
    lower, upper = ("" if part is None else spell(part) for part in (expr.lower, expr.upper))
    return f"{lower}:{upper}" + ("" if expr.step is None else f":{spell(expr.step)}")


def _implied_do(expr: e.ImpliedDo) -> str:
    values = ", ".join(spell(each) for each in expr.values)
    step = "" if expr.step is None else f", {spell(expr.step)}"
    return f"({values}, {expr.var} = {spell(expr.lower)}, {spell(expr.upper)}{step})"


def _binary(op: str, left: e.Expr, right: e.Expr) -> str:
    level = _LEVELS[op]
    if op == "**":
        return f"{_within(left, level + 1)}**{_within(right, level)}"
    first = _within(left, level + (level == 5))
    return f"{first} {op} {_within(right, level + 1)}"


def _within(expr: e.Expr, level: int) -> str:
    """`expr` as an operand where operators below `level` need parentheses."""
    own = _PRIMARY
    if isinstance(expr, e.Binary | e.Unary):
        own = _LEVELS[expr.op]
    elif isinstance(expr, e.OpaqueExpr):
        own = 0 if any(not (char.isalnum() or char in "_%(), :") for char in expr.text) else _PRIMARY
    return spell(expr) if own >= level else f"({spell(expr)})"


def spell_type(of: Type) -> str:
    """A type as it stands in a declaration."""
    match of.base, of.bytes:
        case "real", 8:
            return "double precision"
        case ("real" | "integer" | "logical") as base, 4:
            return base
        case "complex", 8:
            return "complex"
        case "complex", size:
            return f"complex({size // 2})"
        case "character", size:
            return f"character(len={size or '*'})"
        case "derived", _:
            return f"type({of.derived})"
        case base, size:
            return f"{base}({size})"


def spell_equivalence(each: Equivalence) -> str:
    """An EQUIVALENCE statement of one set."""
    return f"equivalence ({', '.join(spell(member) for member in each.members)})"


def spell_shape(shape: tuple[d.Bound, ...], *, assumed_size: bool = False) -> str:
    """Bounds in parentheses; nothing for an empty shape."""
    if not shape:
        return ""
    parts = []
    for index, bound in enumerate(shape):
        lower = "" if bound.lower is None else spell(bound.lower) + ":"
        if bound.upper is not None:
            parts.append(lower + spell(bound.upper))
        elif assumed_size and index == len(shape) - 1:
            parts.append(lower + "*")
        else:
            parts.append(lower or ":")
    return f"({', '.join(parts)})"


def spell_directive(directive: d.Directive, *, again: bool = False) -> str:
    """A directive after its sentinel; `again` for REALIGN and REDISTRIBUTE."""
    prefix = "re" if again else ""
    match directive:
        case d.Processors(name=name, shape=shape):
            return f"processors {name}{spell_shape(shape)}"
        case d.Template(name=name, shape=shape):
            return f"template {name}{spell_shape(shape)}"
        case d.Align():
            return prefix + _align(directive)
        case d.Distribute():
            return prefix + _distribute(directive)
        case d.Dynamic(names=names):
            return f"dynamic {', '.join(names)}"
        case d.Inherit(names=names):
            return f"inherit {', '.join(names)}"
        case d.Sequence(names=names, sequential=sequential):
            return f"{'' if sequential else 'no '}sequence {', '.join(names)}".rstrip()
        case d.Independent():
            return _independent(directive)
    raise TypeError(f"spell_directive: unknown directive class {type(directive).__name__} at {directive.span}")


def _align(directive: d.Align) -> str:
    axes = "" if directive.axes is None else f"({', '.join(directive.axes)})"
    star = "*" if directive.form == "descriptive" else ""
    subscripts = ""
    if directive.subscripts is not None:
        parts = ("*" if isinstance(each, d.Star) else spell(each) for each in directive.subscripts)
        subscripts = f"({', '.join(parts)})"
    return f"align {directive.alignee}{axes} with {star}{directive.target}{subscripts}"


def _distribute(directive: d.Distribute) -> str:
    star = "" if directive.form == "prescriptive" else " *"
    formats = ""
    if directive.formats is not None:
        parts = (f.kind + ("" if f.size is None else f"({spell(f.size)})") for f in directive.formats)
        formats = f"({', '.join(parts)})"
    onto = "" if directive.onto is None else f" onto {directive.onto}"
    return f"distribute {directive.distributee}{star}{formats}{onto}"


def _independent(directive: d.Independent) -> str:
    indices = f"({', '.join(directive.indices)})" if directive.indices else ""
    parts = [f"independent{indices}"]
    if directive.new:
        parts.append(f"new({', '.join(directive.new)})")
    if directive.reductions:
        parts.append(f"reduction({', '.join(directive.reductions)})")
    if directive.home is not None:
        parts.append(f"on home({spell(directive.home)})")
    return ", ".join(parts)
