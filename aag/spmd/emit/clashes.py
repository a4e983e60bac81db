"""Other names for what a program calls like something of the run-time library, of make or of what emission writes.

All names of the library begin with ``esp_``, and no other name of a node program does: ``esp_mine`` becomes
``the_mine`` wherever the program says it, source comments aside.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import statements as s
from aag.ir.expressions import Call, Expr, StringLit
from aag.ir.units import Type, Unit
from aag.ir.visitors import walk_statements
from aag.spmd.program import NodeProgram, Options

INTRINSICS = frozenset(("achar", "allocated", "any", "huge", "max", "merge", "min", "repeat", "size", "sum"))
"""Functions that node programs call where the source need not."""

_TARGETS = frozenset(("run", "clean", "makefile"))
"""Names that mean something else to make."""
_BESIDE = frozenset(("counters", "events", "hosts", "times"))
"""Files that stand beside the executable when it runs."""
_LONGEST = 63

_KEPT = frozenset(("op", "reduce", "kind", "pattern", "role", "text", "reason", "shown", "assumption", "field_name"))
"""Fields whose text is no name of the program."""
_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|\b[A-Za-z]\w*\b(?!\s*=)")
"""What may be a name in the control list of a WRITE; keywords are none, and text in quotes is passed over."""


def clashes(program: NodeProgram) -> dict[str, str]:
    """What else things are called: name -> name, most often of nothing."""
    unit = program.unit
    known = names_of(program)
    wanted = {name for name in known if name.startswith("esp_")} | (INTRINSICS & program.types.keys())
    wanted -= INTRINSICS & {each.name for each in unit.contains}  # the emission refuses these
    if unit.name.startswith(("esp_", "mpi")) or unit.name in _TARGETS | _BESIDE:
        wanted.add(unit.name)
    wanted |= {name for name in known if "%" in name}
    found: dict[str, str] = {}
    for name in sorted(wanted):
        own = name.replace("%", "_") if "%" in name else f"the_{name.removeprefix('esp_')}"
        like = own[: _LONGEST - 3]
        new, number = like, 1
        while new in known:
            number += 1
            new = f"{like}_{number}"
        known.add(new)
        found[name] = new
    return found


def names_of(program: NodeProgram) -> set[str]:
    """All names of the program, without those that lowering made."""
    unit = program.unit
    named = {*program.types, *program.layouts.arrays, *_of_unit(unit)}
    return {name for name in named if name and "$" not in name}


def _of_unit(unit: Unit) -> Iterator[str]:
    yield from (unit.name, unit.result, *unit.arguments)
    yield from (each.name for each in unit.entities)
    yield from (getattr(each, "name", "") for each in walk_statements(unit.body) if not isinstance(each, s.CallStmt))
    for inner in unit.contains:
        yield from _of_unit(inner)


def without_clashes(program: NodeProgram) -> NodeProgram:
    """The program with names that clash with nothing."""
    names = clashes(program)
    if not names:
        return program
    other = _Other(names, {each.name for each in program.unit.contains})
    return replace(
        program,
        unit=other.of(program.unit),
        layouts=other.of(program.layouts),
        types=other.of(program.types),
        body=other.of(program.body),
    )


class _Other:
    """Rebuilds data of any class with other names in it. What is shared stays shared: nodes are told by identity."""

    def __init__(self, names: Mapping[str, str], functions: set[str]) -> None:
        self._names = names
        self._functions = functions
        self._done: dict[int, tuple[Any, Any]] = {}

    def of(self, thing: Any) -> Any:
        """The same with other names."""
        if isinstance(thing, str):
            head, dollar, rest = thing.partition("$")
            return self._names.get(head, head) + dollar + rest
        if id(thing) not in self._done:
            self._done[id(thing)] = (thing, self._rebuilt(thing))  # the old one stays alive, and so its id is its own
        return self._done[id(thing)][1]

    def _rebuilt(self, thing: Any) -> Any:
        match thing:
            case Span() | Type() | Options() | Diagnostic() | StringLit():
                return thing
            case tuple() | frozenset():
                return type(thing)(self.of(each) for each in thing)
            case Mapping():
                return {self.of(key): self.of(value) for key, value in thing.items()}
            case Struct() | Expr():
                return self._with_fields(thing)
            case _:
                return thing

    def _with_fields(self, thing: Struct | Expr) -> Struct | Expr:
        fields = thing.__struct_fields__ if isinstance(thing, Struct) else [x.name for x in dataclasses.fields(thing)]
        kept = _KEPT | {"name"} if isinstance(thing, Call) and thing.name not in self._functions else _KEPT
        new = {field: self.of(getattr(thing, field)) for field in fields if field not in kept}
        if isinstance(thing, s.Io):
            new["control"] = _WORD.sub(lambda found: self._names.get(found[0].lower(), found[0]), thing.control)
        return replace(thing, **new) if isinstance(thing, Struct) else dataclasses.replace(thing, **new)
