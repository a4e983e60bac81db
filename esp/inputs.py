"""Scalars that a program reads from its standard input, from the text of that input (D8).

READ statements are followed in their order, as long as nothing decides which of them run: with ``*`` as format, and
with formats of plain fields in one record, as in ``(A20)`` or ``(2I5, F10.2)``. A variable that gets its value there
and nowhere else is then known like one that `--set` gives.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from aag.diagnostics import Diagnostic, SourceError
from aag.ir import statements as s
from aag.ir.control import control_of
from aag.ir.elements import array_of, element_name, why_not
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Element, Expr, Section, Var
from aag.ir.steady import all_passed, assignments
from aag.ir.units import Entity, Program, Unit
from aag.ir.visitors import walk_statements
from aag.mapping.constants import constants_of
from aag.pipeline import main_unit
from esp.certain_reads import certain_reads
from esp.read_later import also_assigned

_ITEM = re.compile(r"""\s*(?:(\d+)\*)?('(?:[^']|'')*'|"(?:[^"]|"")*"|[^\s,/]*)\s*(,|/|(?=\s)|$)""")


_TEXT = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\""
_ASSIGNED = re.compile(rf"([a-z]\w*)\s*=\s*({_TEXT}|[^\s,/=]+)", re.IGNORECASE)
"""``name = value``, one value."""
_COMMENT = re.compile(rf"((?:[^!'\"]|{_TEXT})*)!.*")
_FIELD = re.compile(r"(\d*)(x|(?:[iaflg]|[ed]n?)(?:(\d+)(?:\.(\d+)(?:e\d+)?)?)?)(,|$)", re.IGNORECASE)
"""``3I5``, ``F10.2``, ``A``, ``4X``, without blanks."""
_ENDS = re.compile(r"/\s*$|[&$]end\b", re.IGNORECASE)


_LABELLED = re.compile(r"\s*(\d+)\s+format\s*(\(.*\))\s*$", re.IGNORECASE)


class _Records:
    """The values of list-directed input, record by record."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._left: list[str | None] = []
        self.ended = False

    def next(self) -> str | None:
        """The next value as text; empty: a null value. None: the input ends (`ended`), or a slash the statement."""
        while not self._left:
            if not self._lines:
                self.ended = True
                return None
            self._left = list(_values(self._lines.pop(0)))
        return self._left.pop(0)

    def group(self, name: str) -> dict[str, str]:
        """The single values of the next NAMELIST record of a group, which begins with ``&name`` and ends with ``/``."""
        text = ""
        while self._lines:
            line = self._lines.pop(0)
            if not text and not re.match(rf"\s*[&$]{name}\b", line, re.IGNORECASE):
                continue
            text += _COMMENT.sub(r"\1", line) + "\n"
            if _ENDS.search(_COMMENT.sub(r"\1", line)):
                break
        return {each[1].lower(): each[2] for each in _ASSIGNED.finditer(text)}

    def fields(self, form: str, bases: Sequence[str]) -> list[str] | None:
        """The values of a record with a format, for variables of some types. None: the format is not so plain, or the
        input ends."""
        widths = _fields(form)
        if widths is None or len([width for width in widths if width[0] != "x"]) < len(bases) or not self._lines:
            return None
        line, at, found, wanted = self._lines.pop(0), 0, [], list(bases)
        for kind, width, digits in widths:
            if not wanted:
                break
            text = line[at:] if width is None else line[at : at + width]
            at += len(text) if width is None else width
            if kind != "x":
                found.append(_field(text, wanted.pop(0), digits))
        return found

    def end(self, *, unread: bool = False) -> None:
        """The end of a READ: what its last record still has is skipped, and all of it where nothing was read."""
        self._left = []
        if unread and self._lines:
            self._lines.pop(0)


def _fields(form: str) -> list[tuple[str, int | None, int]] | None:
    """The fields of a format: kind, width (None: all that is left), digits behind an implied point."""
    text, at = re.sub(r"\s", "", form).strip("'\"").lower(), 0
    if not (text.startswith("(") and text.endswith(")")):
        return None
    text, found = text[1:-1], []
    while at < len(text):
        each = _FIELD.match(text, at)
        if each is None:
            return None
        at, kind = each.end(), each[2][0]
        if each[3] is None and kind not in "xa":
            return None
        width = 1 if kind == "x" else int(each[3]) if each[3] else None
        found += [(kind, width, int(each[4] or 0))] * int(each[1] or 1)
    return found


def _field(text: str, base: str, digits: int) -> str:
    """The text of a field as list-directed input."""
    if base == "character":
        return "'" + text.replace("'", "''") + "'"
    plain = text.replace(" ", "")
    parts = re.fullmatch(r"([-+]?\d+)(?:[ed]?([-+]?\d+))?", plain, re.IGNORECASE)
    if base == "real" and digits and parts is not None:  # a point is implied
        return f"{parts[1]}e{int(parts[2] or 0) - digits}"
    return plain or "0"


def _values(line: str) -> Iterator[str | None]:
    at = 0
    while line[at:].strip():
        found = _ITEM.match(line, at)
        if found is None or found.end() == at:
            return
        at = found.end()
        if found[2] or found[3] == ",":
            yield from [found[2]] * int(found[1] or 1)
        if found[3] == "/":
            yield None
            return


def values_read(program: Program, text: str) -> dict[str, str]:
    """The values that the main program reads, as written in its input.

    Args:
        program: A program as read.
        text: Its standard input.

    Raises:
        SourceError: the input ends before a READ that runs in any case has its values.
    """
    unit = main_unit(program)
    entities = {each.name: each for each in unit.entities}
    constants, _ = constants_of(unit, {})
    records = _Records(text)
    found: dict[str, str] = {}
    formats = {each[1]: each[2] for line in program.lines if (each := _LABELLED.match(line))}
    for statement in certain_reads(unit, constants, found):
        control = control_of(statement)
        if not control.is_standard:
            continue
        if statement.group:
            for name, given in records.group(control.namelist.lower()).items():
                if name in statement.group and entities[name].shape is None:
                    found[name] = _constant(given, entities[name].type.base)
            continue
        if not statement.items and control.format in ("*", ""):
            records.end(unread=True)
            continue
        if control.format not in ("*", ""):
            scalars = [each for each in statement.items if isinstance(each, Var) and entities[each.name].shape is None]
            form = formats.get(control.format, control.format)
            types = [entities[each.name].type.base for each in scalars]
            fields = records.fields(form, types) if len(scalars) == len(statement.items) else None
            if fields is None:
                break
            for scalar, field, base in zip(scalars, fields, types, strict=True):
                found[scalar.name] = _constant(field, base)
            continue
        items = [_count(item, entities, constants) for item in statement.items]
        if None in items:
            break
        for item, count in zip(statement.items, items, strict=True):
            for at in range(count or 0):
                value = records.next()
                if value is None and records.ended and not (control.jumps or control.sets):
                    raise _too_short(statement, program)
                if value is None:
                    return _only_there(unit, found)
                name = _place(item, at, entities, constants)
                if name and value:
                    found[name] = _constant(value, entities[array_of(name)].type.base)
        records.end()
    return _only_there(unit, found)


def _too_short(statement: s.Io, program: Program) -> SourceError:
    line = statement.span.line
    text = program.lines[line - 1] if statement.span.file == program.file and 0 < line <= len(program.lines) else ""
    message = "the input of ‹input› ends before this READ has all its values: the program would stop here"
    return SourceError([Diagnostic(code="E511", message=message, span=statement.span, source_line=text)])


def _constant(value: str, base: str) -> str:
    """A value of the input as a Fortran constant."""
    match base:
        case "logical":
            return ".true." if value.lstrip(".")[:1] in "tT" else ".false."
        case "character" if value[:1] not in "'\"":
            return f"'{value}'"
        case _:
            return value


def _count(item: Expr, entities: Mapping[str, Entity], constants: Mapping[str, Value]) -> int | None:
    """How many values an item takes; None: nobody knows."""
    match item:
        case Var(name=name) if name in entities:
            shape = entities[name].shape
            if shape is None:
                return 1
            total = 1
            for bound in shape:
                try:
                    lower = 1 if bound.lower is None else evaluate_int(bound.lower, constants)
                    upper = None if bound.upper is None else evaluate_int(bound.upper, constants)
                except Unknown:
                    return None
                if upper is None:
                    return None
                total *= max(0, upper - lower + 1)
            return total
        case Element(subscripts=subscripts) if not any(isinstance(each, Section) for each in subscripts):
            return 1
        case _:
            return None


def _only_there(unit: Unit, found: dict[str, str]) -> dict[str, str]:
    """The values of variables that nothing else assigns, or that only change afterwards (`esp.read_later`)."""
    times = assignments(unit, all_passed)
    reads = Counter(name for each in walk_statements(unit.body) if isinstance(each, s.Io) for name in _read(each))
    later = also_assigned(unit)
    filled = Counter(name for each in walk_statements(unit.body) if isinstance(each, s.Io) for name in _filled(each))
    return {
        name: value
        for name, value in found.items()
        if times.get(name) == 1
        or (name in later and reads[name] == 1)
        or (element_name(name) and filled[array_of(name)] == 1 and not why_not(unit, name))
    }


def _filled(statement: s.Io) -> frozenset[str]:
    """The arrays and scalars that a READ gives values."""
    return frozenset(getattr(each, "name", "") for each in statement.items if statement.kind == "read")


def _place(item: Expr, at: int, entities: Mapping[str, Entity], constants: Mapping[str, Value]) -> str:
    """What the value of an item is called, that of its element `at` if it is a vector; empty: nobody gives it."""
    match item:
        case Var(name=name):
            match entities[name].shape:
                case None:
                    return name
                case (bound,):
                    lower = 1 if bound.lower is None else evaluate_int(bound.lower, constants)
                    return f"{name}({lower + at})"
        case Element(name=name, subscripts=subscripts):
            try:
                return f"{name}({','.join(str(evaluate_int(each, constants)) for each in subscripts)})"
            except Unknown:
                return ""
    return ""


def _read(statement: s.Io) -> list[str]:
    return [each.name for each in statement.items if isinstance(each, Var)] if statement.kind == "read" else []
