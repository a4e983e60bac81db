"""Types that do not fit: of operands, conditions, subscripts, arguments of intrinsic functions, and assigned values.

Refused is what gfortran refuses. Where a type is not known nothing is said, and kinds are not looked at.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from aag.diagnostics import Diagnostic, Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.intrinsics import INTRINSICS, Argument, Intrinsic
from aag.ir.ranks import is_array
from aag.ir.units import Entity, Record, Unit
from aag.ir.visitors import children, own_expressions, walk_expressions, walk_statements
from aag.source.callcheck import changed_inputs, misfits, procedures
from aag.source.units import ReadUnit

Lines = Mapping[tuple[str, int], str]

NUMERIC = frozenset(("integer", "real", "complex"))
_ORDER = ("integer", "real", "complex")
_LITERALS = (
    (e.IntLit, "integer"),
    (e.RealLit, "real"),
    (e.ComplexLit, "complex"),
    (e.LogicalLit, "logical"),
    (e.StringLit, "character"),
)
_COMPARISONS = frozenset(("==", "/=", "<", "<=", ">", ">="))
_LOGICAL = frozenset((".and.", ".or.", ".eqv.", ".neqv."))
HINT = "correct the expression or a declaration"
_TEXT = "// joins texts; a comment begins with !"
_ANY = Argument("")
_TEXTS = ("adjustl", "adjustr", "repeat", "trim", "new_line")


def check_types(units: Iterable[Unit], reads: Iterable[ReadUnit], lines: Lines) -> list[Diagnostic]:
    """An error for each type that does not fit, in main programs and procedures."""
    listed = tuple(units)
    declared = [name for read in _all(reads) for name in read.names.procedures]
    unknown = any(read.names.open for read in _all(reads))
    if unknown or any(name.startswith(("operator", "assignment")) for name in declared):
        return []  # what names and operators mean is not known
    modules = {each.name: each for each in listed if each.kind == "module"}
    found: list[Diagnostic] = []
    outermost = TypeScope({}, {}, frozenset(declared))
    for each in listed:
        _check(each, outermost, modules, lines, found)
    known = {name: each for name, each in procedures(listed).items() if name not in outermost.generic}
    for each in (inner for unit in listed for inner in (unit, *unit.contains)):
        found += changed_inputs(each)
        calls = (stmt for stmt in walk_statements(each.body) if isinstance(stmt, s.CallStmt))
        found += (wrong for call in calls for wrong in misfits(call, known))
    return found


def _all(reads: Iterable[ReadUnit]) -> Iterator[ReadUnit]:
    for read in reads:
        yield read
        yield from _all(read.inner)


class TypeScope(Struct, frozen=True):
    """What names mean: entities, functions with the type of their result; `generic`: declared by interfaces."""

    entities: Mapping[str, Entity]
    functions: Mapping[str, str]
    generic: frozenset[str]


def _check(unit: Unit, outer: TypeScope, modules: Mapping[str, Unit], lines: Lines, found: list[Diagnostic]) -> None:
    scope = scope_inside(unit, outer, modules, set())
    checker = Checker(scope, lines, found)
    for entity in unit.entities:
        if entity.initial is not None and "parameter" in entity.attributes:
            checker.assignment(entity.type.base, entity.initial, entity.span)
    for statement in walk_statements(unit.body):
        checker.statement(statement)
    for inner in unit.contains:
        _check(inner, scope, modules, lines, found)


def scope_inside(unit: Unit, outer: TypeScope, modules: Mapping[str, Unit], visited: set[str]) -> TypeScope:
    """What names mean in a unit. `visited`: the modules that are looked at already."""
    entities, functions = dict(outer.entities), dict(outer.functions)
    for name in unit.uses:
        if name in modules and name not in visited:
            visited.add(name)
            used = scope_inside(modules[name], TypeScope({}, {}, outer.generic), modules, visited)
            entities |= used.entities
            functions |= used.functions
    for inner in unit.contains:
        if inner.kind == "function":
            result = inner.entity(inner.result) or inner.entity(inner.name)
            functions[inner.name] = "" if result is None else result.type.base
    for each in unit.entities:
        entities[each.name] = each
        if each.name not in {inner.name for inner in unit.contains}:
            functions.pop(each.name, None)
    return TypeScope(entities, functions, outer.generic)


class Checker:
    """Checks the statements of one unit. An expression whose type is wrong or not known has the type ``""``."""

    def __init__(self, scope: TypeScope, lines: Lines, found: list[Diagnostic]) -> None:
        self.scope = scope
        self.lines = lines
        self.found = found

    # --- statements ---

    def statement(self, statement: s.Stmt) -> None:
        """One statement without those inside of it."""
        match statement:
            case s.Assign(target=target, value=value):
                self.assignment(self.type_of(target), value, statement.span)
                return
            case s.If(branches=branches):
                for branch in branches:
                    self.condition(branch.condition, "IF", branch.span)
            case s.DoWhile(condition=condition):
                self.condition(condition, "DO WHILE", statement.span)
            case s.Where(branches=masks):
                for mask in masks:
                    self.condition(mask.mask, "WHERE", mask.span)
            case s.Forall(indices=indices, mask=mask_):
                bounds = [each for index in indices for each in (index.lower, index.upper, index.step)]
                self.bounds(bounds, "FORALL", statement.span, ("integer",))
                self.condition(mask_, "FORALL", statement.span)
            case s.Do(lower=lower, upper=upper, step=step):
                self.bounds((lower, upper, step), "DO", statement.span, ("integer", "real"))
            case s.Allocate(items=items):
                self.allocated(items, statement)
            case _:
                for each in own_expressions(statement):
                    self.type_of(each)

    def assignment(self, into: str, value: e.Expr, span: Span) -> None:
        """A value and the variable that it is given to."""
        base = self.type_of(value)
        if into in ("", "derived") or base in ("", "derived"):
            return
        numbers = into in NUMERIC and base in NUMERIC
        if not (numbers or into == base or {into, base} == {"integer", "logical"}):
            self.error(f"a value of type {base} cannot be assigned to type {into}", value.span, span)

    def condition(self, condition: e.Expr | None, where: str, span: Span) -> None:
        """A condition or mask."""
        base = "" if condition is None else self.type_of(condition)
        if condition is not None and base not in ("", "logical"):
            self.error(
                f"the condition of {where} must be logical, but is {base}", condition.span, span, "write a comparison"
            )
        elif condition is not None and where in ("IF", "DO WHILE") and self._is_array(condition):
            why = f"the condition of {where} must be one value, but is an array"
            self.error(why, condition.span, span, "write any(...) or all(...) around it")

    def _is_array(self, expr: e.Expr) -> bool:
        """Whether an expression certainly has an array as its value."""
        calls = {each.name for each in walk_expressions(expr) if isinstance(each, e.Call)}
        return not calls & self.scope.functions.keys() and is_array(expr, self.scope.entities)

    def bounds(self, bounds: Iterable[e.Expr | None], where: str, span: Span, bases: tuple[str, ...]) -> None:
        """The bounds of a loop."""
        for each in bounds:
            base = "" if each is None else self.type_of(each)
            if each is not None and base not in ("", *bases):
                self.error(f"a bound of {where} must be an integer, but is {base}", each.span, span)

    def allocated(self, items: Iterable[e.Expr], statement: s.Allocate) -> None:
        """What ALLOCATE and DEALLOCATE name."""
        word = "DEALLOCATE" if statement.deallocate else "ALLOCATE"
        for item in items:
            if isinstance(item, e.Element):
                self.subscripts(item)
            entity = self.scope.entities.get(item.name) if isinstance(item, e.Element | e.Var) else None
            if entity is not None and not entity.attributes & {"allocatable", "pointer"}:
                message = f"{word}: {entity.shown} is neither ALLOCATABLE nor a POINTER"
                self.error(message, item.span, statement.span, "declare it as ALLOCATABLE", "E137")

    def error(self, message: str, span: Span, statement: Span, hint: str = HINT, code: str = "E136") -> None:
        """One error, at an expression if its place is known."""
        place = span if span.line else statement
        line = self.lines.get((place.file, place.line), "")
        self.found.append(Diagnostic(code=code, message=message, span=place, hint=hint, source_line=line))

    # --- expressions ---

    def type_of(self, expr: e.Expr) -> str:
        """The base type of an expression; its parts are checked on the way."""
        match expr:
            case e.Var(name=name):
                return self.named(name)
            case e.Element(name=name):
                self.subscripts(expr)
                return self.named(name)
            case e.Unary(op=op, operand=operand):
                return self.unary(op, operand, expr)
            case e.Binary():
                return self.binary(expr)
            case e.Call():
                return self.call(expr)
            case e.Substring(base=base):
                return self.type_of(base)
            case e.Component():
                return self.component(expr)
            case e.Constructor(values=values):
                bases = {self.type_of(each) for each in values}
                return bases.pop() if len(bases) == 1 else ""
            case e.ImpliedDo(values=values):
                bases = {self.type_of(each) for each in values}
                for each in children(expr)[len(values) :]:
                    self.type_of(each)
                return bases.pop() if len(bases) == 1 else ""
        for each in children(expr):
            self.type_of(each)
        return next((base for kind, base in _LITERALS if isinstance(expr, kind)), "")

    def named(self, name: str) -> str:
        """The type of a variable."""
        entity = self.scope.entities.get(name)
        known = (
            entity is not None and entity.type.base != "derived" and not entity.attributes & {"external", "intrinsic"}
        )
        return entity.type.base if entity is not None and known else ""

    def component(self, expr: e.Component) -> str:
        """The type of a component of a derived type."""
        for each in children(expr):
            self.type_of(each)
        record = self.record(expr.base)
        found = None if record is None else record.component(expr.field_name)
        return "" if found is None or found.type.base == "derived" else found.type.base

    def record(self, expr: e.Expr) -> Record | None:
        """The derived type of a variable or component."""
        match expr:
            case e.Var(name=name) | e.Element(name=name):
                entity = self.scope.entities.get(name)
                return None if entity is None else entity.type.record
            case e.Component(base=base, field_name=name):
                outer = self.record(base)
                found = None if outer is None else outer.component(name)
                return None if found is None else found.type.record
        return None

    def subscripts(self, element: e.Element) -> None:
        """The subscripts of an element or section."""
        for each in element.subscripts:
            for part in children(each) if isinstance(each, e.Section) else (each,):
                base = self.type_of(part)
                if base in ("logical", "character", "complex"):
                    self.error(
                        f"a subscript of {element.name} must be an integer, but is {base}", part.span, element.span
                    )

    def unary(self, op: str, operand: e.Expr, expr: e.Expr) -> str:
        """NOT or a sign."""
        base = self.type_of(operand)
        if (base and (base == "logical") != (op == ".not.")) or base == "character":
            self.error(f"the operand of {op} is {base}", operand.span, expr.span)
            return ""
        return base

    def binary(self, expr: e.Binary) -> str:
        """An operation on two operands."""
        left, right, op = self.type_of(expr.left), self.type_of(expr.right), expr.op
        result = "logical" if op in _COMPARISONS | _LOGICAL else "character" if op == "//" else ""
        if op == "//" and (left in NUMERIC or left == "logical"):
            self.error(f"the left operand of // is {left}", expr.span, expr.span, _TEXT)
            return ""
        if not left or not right or "derived" in (left, right):
            return result
        both = {left, right}
        if op in _LOGICAL:
            fits, hint = both == {"logical"}, ""
        elif op == "//":
            fits, hint = both == {"character"}, _TEXT
        elif op in _COMPARISONS:
            fits = both == {"character"} or (both <= NUMERIC and (op in ("==", "/=") or "complex" not in both))
            hint = "compare them with .eqv. or .neqv." if both == {"logical"} else ""
        else:
            fits, hint = both <= NUMERIC, ""
            result = max(both, key=_ORDER.index) if fits else ""
        if not fits:
            self.error(f"the operands of {op} are {left} and {right}", expr.span, expr.span, hint or HINT)
            return ""
        return result

    # --- functions ---

    def call(self, call: e.Call) -> str:
        """A reference to a function."""
        bases = [self.type_of(each) for each in call.args]
        named = {key: self.type_of(value) for key, value in call.keywords}
        entity = self.scope.entities.get(call.name)
        if call.name in self.scope.generic:
            return ""
        if entity is not None and "intrinsic" not in entity.attributes:
            return entity.type.base if entity.type.base != "derived" else ""
        if call.name in self.scope.functions:
            base = self.scope.functions[call.name]
            return base if base != "derived" else ""
        row = INTRINSICS.get(call.name)
        if row is None:
            return ""
        if row.arguments and not self.fits(call, row, bases, named):
            return ""
        return _result(row, bases)

    def fits(self, call: e.Call, row: Intrinsic, bases: list[str], named: Mapping[str, str]) -> bool:
        """Whether an intrinsic function takes these arguments."""
        most, name = len(row.arguments), call.name.upper()
        variable = row.arguments == ("a1", "a2")
        if len(bases) + len(named) > most and not variable and not name.startswith("BESSEL"):
            message = f"{name}: found {len(bases) + len(named)} arguments, expected at most {most}"
            self.error(message, call.span, call.span, "remove an argument")
            return False
        if len(bases) > most and not variable:
            return True  # BESSEL_JN and BESSEL_YN of a range of orders
        keys = [row.arguments[min(at, most - 1)] for at in range(len(bases))]
        if "mask" in row.arguments and len(bases) == 2 and keys[1] == "dim" and bases[1] == "logical":
            keys[1] = "mask"
        given = [*zip(keys, bases, call.args, strict=True)]
        given += [(key, named[key], value) for key, value in call.keywords]
        accepts = {each.name: each for each in row.accepts}
        first: dict[str, str] = {}
        for key, base, value in given:
            argument = accepts.get(key, row.accepts[-1] if variable else _ANY)
            if base and argument.types and base not in argument.types:
                message = f"the argument {key.upper()} of {name} must be {' or '.join(argument.types)}, but is {base}"
                self.error(message, value.span, call.span)
                return False
            first.setdefault(key, base)
        for key, base, _ in given:
            argument = accepts.get(key, row.accepts[-1] if variable else _ANY)
            other = first.get(argument.follows, "")
            if base and other and base != other and (argument.exactly or not {base, other} <= NUMERIC):
                alike = "have one type" if argument.exactly else "both be numbers or have one type"
                message = f"the arguments of {name} must {alike}, but are {other} and {base}"
                self.error(message, call.span, call.span)
                return False
        return True


def _result(row: Intrinsic, bases: list[str]) -> str:
    if row.form == "" or (row.form == "scalar" and row.type == "first" and row.name not in _TEXTS):
        return ""
    first = bases[0] if bases else ""
    match row.type:
        case "first":
            return first
        case "second":
            return bases[1] if len(bases) > 1 else ""
        case "common":
            known = set(bases[:2]) <= NUMERIC
            return max(bases[:2], key=_ORDER.index) if known and bases else first if len(set(bases[:2])) == 1 else ""
        case "part":
            return "real" if first == "complex" else first
        case "kind" | "double":
            return "real"
        case "double complex":
            return "complex"
        case _:
            return row.type
