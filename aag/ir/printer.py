"""The ir as free-form Fortran with HPF directives.

What is printed reads back to the same ir, spans aside, and prints the same again. Not in the ir and so not
printed: comments, interface bodies, derived type definitions, ONLY lists, FORMAT (it stands in the statements
that use it).
"""

from collections.abc import Iterable, Iterator

from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.folding import folded
from aag.ir.spelling import spell, spell_directive, spell_equivalence, spell_shape, spell_type
from aag.ir.units import Entity, Program, Unit
from aag.ir.visitors import names_in, walk_expressions

_STEP = "  "
_LONGEST = 120
_SHOWN_ATTRIBUTES = (
    "parameter",
    "allocatable",
    "pointer",
    "target",
    "save",
    "optional",
    "intent(in)",
    "intent(out)",
    "intent(inout)",
    "external",
    "intrinsic",
    "value",
    "volatile",
)


def print_program(program: Program) -> str:
    """The whole source."""
    return "\n".join(print_unit(unit) for unit in program.units)


def print_unit(unit: Unit) -> str:
    """One program unit with those that it contains."""
    return "\n".join(_folded(_unit(unit, ""))) + "\n"


def print_statement(stmt: s.Stmt) -> str:
    """One statement with its body."""
    return "\n".join(_folded(_statement(stmt, "")))


# --- units ---


def _unit(unit: Unit, indent: str) -> Iterator[str]:
    inner = indent + _STEP
    yield indent + _header(unit)
    for name in unit.uses:
        yield f"{inner}use {name}"
    if unit.kind != "block_data" or unit.entities:
        yield f"{inner}implicit none"
    called = frozenset(each.name for each in walk_expressions(unit.body) if isinstance(each, e.Call))
    for entity in _in_order(unit.entities):
        yield inner + _declaration(entity, called)
    for common in unit.commons:
        block = f"/{common.block}/ " if common.block else ""
        yield f"{inner}common {block}{', '.join(common.names)}"
    yield from (f"{inner}{spell_equivalence(each)}" for each in unit.equivalences)
    for directive in unit.directives:
        yield f"!hpf$ {spell_directive(directive)}"
    yield from _body(unit.body, inner)
    if unit.contains:
        yield f"{indent}contains"
        for each in unit.contains:
            yield from _unit(each, inner)
    yield f"{indent}end {_KEYWORDS[unit.kind]} {unit.name}".rstrip()


_KEYWORDS = {
    "program": "program",
    "subroutine": "subroutine",
    "function": "function",
    "module": "module",
    "block_data": "block data",
}


def _header(unit: Unit) -> str:
    prefixes = "".join(f"{each} " for each in sorted(unit.prefixes))
    head = f"{prefixes}{_KEYWORDS[unit.kind]} {unit.name}".rstrip()
    if unit.kind in ("subroutine", "function"):
        head += f"({', '.join(unit.arguments)})"
    if unit.result and unit.result != unit.name:
        head += f" result({unit.result})"
    return head


def _in_order(entities: tuple[Entity, ...]) -> Iterator[Entity]:
    """Each entity after the constants that its shape and value need; otherwise in the given order."""
    known = {entity.name: entity for entity in entities}
    done: set[str] = set()

    def emit(entity: Entity) -> Iterator[Entity]:
        if entity.name in done:
            return
        done.add(entity.name)
        for name in sorted(_needs(entity)):
            if name in known and "parameter" in known[name].attributes:
                yield from emit(known[name])
        yield entity

    for entity in entities:
        yield from emit(entity)


def _needs(entity: Entity) -> frozenset[str]:
    parts = [entity.initial] if entity.initial is not None else []
    for bound in entity.shape or ():
        parts += [part for part in (bound.lower, bound.upper) if part is not None]
    return names_in(*parts)


def _declaration(entity: Entity, called: frozenset[str]) -> str:
    shown = [each for each in _SHOWN_ATTRIBUTES if each in entity.attributes]
    untyped = "implicit" in entity.attributes and entity.name not in called
    if untyped and shown in (["external"], ["intrinsic"]):
        return f"{shown[0]} :: {entity.name}"
    head = ", ".join([spell_type(entity.type), *shown])
    shape = spell_shape(entity.shape or (), assumed_size="assumed_size" in entity.attributes)
    initial = "" if entity.initial is None else f" = {spell(entity.initial)}"
    return f"{head} :: {entity.name}{shape}{initial}"


# --- statements ---


def _body(body: Iterable[s.Stmt], indent: str) -> Iterator[str]:
    for stmt in body:
        yield from _statement(stmt, indent)


def _statement(stmt: s.Stmt, indent: str) -> Iterator[str]:
    lines = _unlabelled(stmt, indent)
    if not stmt.label:
        yield from lines
        return
    for line in lines:
        if line.startswith("!"):
            yield line
            continue
        yield f"{stmt.label} {line.lstrip()}"
        break
    yield from lines


def _unlabelled(stmt: s.Stmt, indent: str) -> Iterator[str]:
    inner = indent + _STEP
    match stmt:
        case s.Assign(target=target, value=value):
            yield f"{indent}{spell(target)} = {spell(value)}"
        case s.Do() | s.DoWhile():
            yield from _loop(stmt, indent)
        case s.If(branches=branches):
            yield from _if(branches, indent)
        case s.SelectCase(selector=selector, cases=cases):
            yield f"{indent}select case ({spell(selector)})"
            for case in cases:
                yield f"{indent}case " + _case(case.values)
                yield from _body(case.body, inner)
            yield f"{indent}end select"
        case s.Forall():
            yield from _forall(stmt, indent)
        case s.Where(branches=masks):
            yield from _where(masks, indent)
        case s.Remap(directive=directive):
            yield f"!hpf$ {spell_directive(directive, again=True)}"
        case s.Opaque(text=text):
            # In fixed form an ampersand may end a line; in free form it would swallow the next one.
            ended = text + ";" if text.endswith("&") else text
            yield from (indent + line for line in ended.split("\n"))
        case _:
            yield indent + _simple(stmt)


def _loop(stmt: s.Do | s.DoWhile, indent: str) -> Iterator[str]:
    name = f"{stmt.name}: " if stmt.name else ""
    if isinstance(stmt, s.Do):
        if stmt.independent is not None:
            yield f"!hpf$ {spell_directive(stmt.independent)}"
        step = "" if stmt.step is None else f", {spell(stmt.step)}"
        yield f"{indent}{name}do {stmt.var} = {spell(stmt.lower)}, {spell(stmt.upper)}{step}"
    elif stmt.condition is None:
        yield f"{indent}{name}do"
    else:
        yield f"{indent}{name}do while ({spell(stmt.condition)})"
    yield from _body(stmt.body, indent + _STEP)
    yield f"{indent}end do {stmt.name}".rstrip()


def _if(branches: tuple[s.Branch, ...], indent: str) -> Iterator[str]:
    word = "if"
    for branch in branches:
        if branch.condition is None:
            yield f"{indent}else"
        else:
            yield f"{indent}{word} ({spell(branch.condition)}) then"
        yield from _body(branch.body, indent + _STEP)
        word = "else if"
    yield f"{indent}end if"


def _case(values: tuple[e.Expr, ...] | None) -> str:
    return "default" if values is None else f"({', '.join(spell(each) for each in values)})"


def _where(branches: tuple[s.WhereBranch, ...], indent: str) -> Iterator[str]:
    word = "where"
    for branch in branches:
        yield indent + word + ("" if branch.mask is None else f" ({spell(branch.mask)})")
        yield from _body(branch.body, indent + _STEP)
        word = "elsewhere"
    yield f"{indent}end where"


def _forall(stmt: s.Forall, indent: str) -> Iterator[str]:
    parts = []
    for index in stmt.indices:
        step = "" if index.step is None else f":{spell(index.step)}"
        parts.append(f"{index.name} = {spell(index.lower)}:{spell(index.upper)}{step}")
    if stmt.mask is not None:
        parts.append(spell(stmt.mask))
    if stmt.independent is not None:
        yield f"!hpf$ {spell_directive(stmt.independent)}"
    yield f"{indent}forall ({', '.join(parts)})"
    yield from _body(stmt.body, indent + _STEP)
    yield f"{indent}end forall"


def _simple(stmt: s.Stmt) -> str:
    match stmt:
        case s.CallStmt(name=name, args=args, keywords=keywords):
            parts = [spell(each) for each in args] + [f"{key}={spell(value)}" for key, value in keywords]
            listed = f"{name}({', '.join(parts)})"
            return f"call {listed}" if stmt.into is None else f"{spell(stmt.into)} = {listed}"
        case s.Io():
            return _io(stmt)
        case s.Allocate(items=items, deallocate=deallocate):
            return f"{'deallocate' if deallocate else 'allocate'}({', '.join(spell(each) for each in items)})"
        case s.Point(pointer=pointer, target=target):
            return f"nullify({spell(pointer)})" if target is None else f"{spell(pointer)} => {spell(target)}"
        case s.Stop():
            return "stop"
        case s.Return():
            return "return"
        case s.Exit(name=name):
            return f"exit {name}".rstrip()
        case s.Cycle(name=name):
            return f"cycle {name}".rstrip()
        case s.Enter(name=name):
            return f"! the statements of {name} follow"
        case s.Restore(array=array):
            return f"! {array} has its mapping back"
        case s.Continue():
            return "continue"
    raise TypeError(f"print_statement: unknown statement class {type(stmt).__name__} at {stmt.span}")


def _io(stmt: s.Io) -> str:
    items = "" if stmt.group else ", ".join(spell(each) for each in stmt.items)
    if stmt.kind == "print":
        return f"print {stmt.control}{', ' if items else ''}{items}"
    return f"{stmt.kind} ({stmt.control}) {items}".rstrip()


# --- long lines ---


def _folded(lines: Iterable[str]) -> Iterator[str]:
    """Lines of at most the length that Fortran allows."""
    for line in lines:
        if line.startswith("!hpf$"):
            yield from folded(line, _LONGEST, "!hpf$& ", len("!hpf$ "))
        else:
            lead = " " * (len(line) - len(line.lstrip()) + 4)
            yield from folded(line, _LONGEST, lead, len(lead))
