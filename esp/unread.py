"""What a program only reads and needs in any case, so that it can be asked for before anything is interpreted."""

from collections.abc import Iterator
from functools import lru_cache

from aag.diagnostics import Span
from aag.ir import statements as s
from aag.ir.control import control_of
from aag.ir.expressions import Var
from aag.ir.units import Program, Unit
from aag.ir.visitors import names_in, walk_statements
from aag.pipeline import main_unit


@lru_cache(maxsize=64)
def unread(program: Program) -> dict[str, tuple[Span, str]]:
    """The scalars that READ alone gives a value and that bounds of loops name which any execution comes to: each with
    the first such loop, and why it cannot be computed."""
    unit = main_unit(program)
    read = dict(_read(unit))
    found: dict[str, tuple[Span, str]] = {}
    for each in _certain(unit) if read else ():
        if isinstance(each, s.Do):
            for name in sorted(names_in(each.lower, each.upper, each.step) & read.keys()):
                found.setdefault(name, (each.span, read[name]))
    return found


def _certain(unit: Unit) -> Iterator[s.Stmt]:
    """The statements that any execution comes to: outside of conditions, and in front of what may end the program."""
    for each in unit.body:
        yield each
        if any(isinstance(one, s.Stop | s.Return | s.Exit) for one in walk_statements((each,))):
            return


def _read(unit: Unit) -> Iterator[tuple[str, str]]:
    """The scalars that certainly come from input alone, and from where, in words."""
    others = {each.name for each in unit.entities if each.shape is not None or each.initial is not None}
    for each in walk_statements(unit.body):
        match each:
            case s.Assign(target=Var(name=name)) | s.Do(var=name):
                others.add(name)
            case s.CallStmt(args=args, keywords=keywords):
                others |= names_in(*args, *(value for _, value in keywords))
            case _:
                pass
    for each in _certain(unit):
        if isinstance(each, s.Io) and each.kind == "read":
            names = [item.name for item in each.items if isinstance(item, Var) and item.name not in others]
            source = control_of(each).source
            yield from ((name, f"line {each.span.line}: {name} is read from {source}") for name in names)
