"""EXTRINSIC procedures: the model that runs them, and HPF_SERIAL as statements of HPF.

One processor runs an HPF_SERIAL procedure. Its array arguments are collected there and sent back:

    extrinsic(hpf_serial) subroutine f(x, s)      serial$x(:, 1) = x         serial$x is distributed (*, BLOCK), so
      x(1) = x(2) + s                             do serial$ = 1, 1          that the first processor has all of it
      s = 2                                         own$s = s
    end subroutine                                  serial$x(1, serial$) = serial$x(2, serial$) + own$s
                                                    own$s = 2
                                                    serial$s(serial$) = own$s
                                                  end do
                                                  x = serial$x(:, 1)
                                                  s = serial$s(1)

The loop is INDEPENDENT and its only iteration belongs to the first processor; all variables of the procedure are NEW.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.expressions import Binary, Call, Element, Expr, ImpliedDo, IntLit, Section, Var
from aag.ir.intrinsics import INTRINSICS, SERIAL
from aag.ir.units import Entity, Type, Unit
from aag.ir.visitors import map_operands, map_own, mapped, names_in, walk_expressions, walk_statements
from aag.procedures.names import Refused
from aag.procedures.returns import without_returns

_LEAVE = f"{SERIAL}leave"
_EVERY = Section(None, None, None)
_FIRST = IntLit(1)
_INQUIRIES = ("bounds", "type")
"""Forms of functions that read no values."""


def model_of(unit: Unit) -> str:
    """How a procedure runs: "" for HPF's own model, ``serial`` on one processor, else the text of EXTRINSIC."""
    found = next((each for each in unit.prefixes if each.startswith("extrinsic(")), "")
    text = found.removeprefix("extrinsic(").removesuffix(")")
    plain = re.sub(r"[\s'\"]|language=|model=", "", text)
    parts = [each for each in plain.split(",") if each]
    if parts in ([], ["hpf"], ["hpf", "global"], ["global"]):
        return ""
    serial = len(parts) == 1 and parts[0].endswith("_serial")
    return "serial" if serial or parts[:2] in ([parts[0], "serial"], ["serial"]) else text


def why_not(model: str) -> str:
    """Why a procedure of another model is not interpreted."""
    local = "local" in model
    each = "each processor runs it on its own part of the arrays" if local else "it belongs to another language"
    return f"it is EXTRINSIC({model.upper()}), that is, {each}"


def on_one_processor(unit: Unit, assigned: frozenset[str], is_constant: Callable[[str], bool], span: Span) -> Unit:
    """An HPF_SERIAL procedure as one of HPF's own model.

    Args:
        unit: The procedure.
        assigned: The names that it may assign.
        is_constant: Whether a name from outside of it is a constant.
        span: The call.

    Raises:
        Refused: it uses more than its arguments and its own variables, or one of them is not modelled.
    """
    declared = {each.name: each for each in unit.entities}
    _check(unit, declared, is_constant)
    results = [unit.result or unit.name] if unit.kind == "function" else []
    given = [declared[name] for name in (*unit.arguments, *results) if name in declared]
    arrays = [each for each in given if each.shape is not None]
    scalars = [each for each in given if each.shape is None and each.name in assigned]
    writer = _Writer(arrays, scalars)
    inner, looped = without_returns(unit.body, "leave")
    if looped:
        (loop,) = inner
        assert isinstance(loop, s.Do)
        inner = (replace(loop, var=_LEAVE),)
    read = [each for each in scalars if "intent(out)" not in each.attributes and each.name not in results]
    changed = [each for each in arrays if each.name in assigned and "intent(in)" not in each.attributes]
    body = (
        *(_assign(span, Var(_own(each)), Var(each.name)) for each in read),
        *writer.body(inner),
        *(_assign(span, Element(_there(each), (Var(SERIAL),)), Var(_own(each))) for each in scalars),
    )
    filled = [each for each in arrays if "intent(out)" not in each.attributes and each.name not in results]
    made = (
        *(_assign(span, _all(each, _FIRST), Var(each.name)) for each in filled),
        s.Do(
            span=span,
            var=SERIAL,
            lower=_FIRST,
            upper=_FIRST,
            step=None,
            body=body,
            independent=d.Independent(span=span, new=tuple(_private(unit, scalars))),
            end=span,
        ),
        *(_assign(span, Var(each.name), _all(each, _FIRST)) for each in changed),
        *(_assign(span, Var(each.name), Element(_there(each), (_FIRST,))) for each in scalars),
    )
    integer = Type(base="integer", bytes=4)
    more = [_entity(name, integer, None, span) for name in (SERIAL, _LEAVE)]
    more += [_entity(_own(each), each.type, None, span) for each in scalars]
    more += [_entity(_there(each), each.type, (*_shape(each), _one()), span) for each in (*arrays, *scalars)]
    directives = tuple(_distribute(each, span) for each in (*arrays, *scalars))
    return replace(unit, body=made, entities=(*unit.entities, *more), directives=directives)


def _check(unit: Unit, declared: dict[str, Entity], is_constant: Callable[[str], bool]) -> None:
    if unit.commons:
        raise Refused(f"it is EXTRINSIC(HPF_SERIAL) and uses COMMON /{unit.commons[0].block}/")
    foreign = sorted(each for each in names_in(unit.body) - declared.keys() if not is_constant(each))
    if foreign:
        raise Refused(f"it is EXTRINSIC(HPF_SERIAL) and uses {foreign[0]}, which is not its argument")
    for each in unit.entities:
        local = each.name not in unit.arguments and "parameter" not in each.attributes
        if local and (each.initial is not None or "save" in each.attributes):
            raise Refused(f"it is EXTRINSIC(HPF_SERIAL), and its variable {each.shown} keeps its value between calls")


def _private(unit: Unit, scalars: Iterable[Entity]) -> Iterator[str]:
    """The variables that only the procedure has."""
    yield from (_LEAVE, *(_own(each) for each in scalars))
    used = names_in(unit.body)
    used |= {each.var for each in walk_statements(unit.body) if isinstance(each, s.Do)}
    used |= {each.var for each in walk_expressions(unit.body) if isinstance(each, ImpliedDo)}
    others = {*unit.arguments, unit.result or unit.name}
    for each in unit.entities:
        if each.name in used - others and "parameter" not in each.attributes:
            yield each.name


def _shape(array: Entity) -> tuple[d.Bound, ...]:
    """The shape of a dummy with all its bounds.

    Raises:
        Refused: it has assumed size.
    """
    found = []
    for dim, each in enumerate(array.shape or (), start=1):
        if "assumed_size" in array.attributes and each.upper is None:
            raise Refused(f"it is EXTRINSIC(HPF_SERIAL), and its argument {array.shown} has assumed size")
        upper = each.upper
        if upper is None:
            upper = Call("size", (Var(array.name), IntLit(dim)))
            if each.lower is not None and each.lower != _FIRST:
                upper = Binary("-", Binary("+", upper, each.lower), _FIRST)
        found.append(d.Bound(lower=each.lower, upper=upper))
    return tuple(found)


def _one() -> d.Bound:
    return d.Bound(lower=None, upper=_FIRST)


def _distribute(entity: Entity, span: Span) -> d.Distribute:
    formats = (*(d.Format(kind="*") for _ in entity.shape or ()), d.Format(kind="block"))
    return d.Distribute(span=span, distributee=_there(entity), formats=formats, onto=None)


def _entity(name: str, of: Type, shape: tuple[d.Bound, ...] | None, span: Span) -> Entity:
    return Entity(name=name, shown=name, type=of, shape=shape, attributes=frozenset(), initial=None, span=span)


def _there(entity: Entity) -> str:
    """The array of the processor that runs the procedure."""
    return f"{SERIAL}{entity.name}"


def _own(entity: Entity) -> str:
    """The variable of the procedure for a scalar argument that it assigns."""
    return f"own${entity.name}"


def _all(array: Entity, last: Expr) -> Element:
    return Element(_there(array), (*(_EVERY for _ in array.shape or ()), last))


def _assign(span: Span, target: Var | Element, value: Expr) -> s.Stmt:
    return s.Assign(span=span, target=target, value=value)


class _Writer:
    """The statements of a procedure with the names that its arguments have on its processor."""

    def __init__(self, arrays: Iterable[Entity], scalars: Iterable[Entity]) -> None:
        self._arrays = {each.name: each for each in arrays}
        self._scalars = {each.name: _own(each) for each in scalars}

    def body(self, body: Iterable[s.Stmt]) -> tuple[s.Stmt, ...]:
        """Some statements."""
        return tuple(map(self._statement, body))

    def _statement(self, statement: s.Stmt) -> s.Stmt:
        made = map_own(statement, self._expression)
        if isinstance(made, s.Do):
            made = replace(made, var=self._scalars.get(made.var, made.var))
        return mapped(made, self.body)

    def _expression(self, expr: Expr) -> Expr:
        if isinstance(expr, Call):
            found = INTRINSICS.get(expr.name)
            if found is not None and found.form in _INQUIRIES and isinstance(expr.args[0], Var):
                rest = tuple(self._expression(each) for each in expr.args[1:])
                return dataclasses.replace(expr, args=(expr.args[0], *rest))
        made = map_operands(expr, self._expression)
        match made:
            case Var(name=name) if name in self._arrays:
                return dataclasses.replace(_all(self._arrays[name], Var(SERIAL)), span=made.span)
            case Element(name=name, subscripts=subscripts) if name in self._arrays:
                return Element(_there(self._arrays[name]), (*subscripts, Var(SERIAL)), span=made.span)
            case Var(name=name) if name in self._scalars:
                return Var(self._scalars[name], span=made.span)
            case ImpliedDo(var=var) if var in self._scalars:
                return dataclasses.replace(made, var=self._scalars[var])
        return made
