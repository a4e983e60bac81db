"""PACK, UNPACK, MVBITS and the scatter, prefix and suffix functions of HPF_LIBRARY as scans, FORALLs and updates.

    v = pack(a, m)                  c = merge(1, 0, m)
                                    k = sum_prefix(c, dim=1)
                                    k = k * c                                the place of each element that is taken
                                    forall (i = 1:n, k(i) > 0) v(k(i)) = a(i)
    u = unpack(v, m, f)             u = f
                                    forall (i = 1:n, k(i) > 0) u(i) = v(k(i))
    h = sum_scatter(x, b, ix)       h = b
                                    do i = 1, n;  h(ix(i)) = h(ix(i)) + x(i);  end do

`k` and `ix` are index arrays like others. In several dimensions, places count in array element order: a scan of the
first dimension, and one of what the columns hold. What remains is a scan of one dimension as the whole value of an
assignment, which lowering knows. New arrays have the mapping of those that they belong to.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, reduce

from msgspec.structs import replace

from aag.ir import statements as s
from aag.ir.directives import Align
from aag.ir.expressions import Binary, Call, Constructor, Element, Expr, IntLit, LogicalLit, Section, Unary, Var
from aag.ir.intrinsics import INTRINSICS, REDUCTIONS, Reduction
from aag.ir.linear import multiply
from aag.ir.ranks import rank_of
from aag.ir.result_types import INTEGER, constant_of, type_of
from aag.ir.spaces import Conformable, NoPlacesError, Spaces
from aag.ir.units import Entity, Unit
from aag.ir.visitors import calls_used, map_expression, map_operands, map_own, mapped, names_in, walk_expressions

_HOWS = ("prefix", "suffix", "scatter")
_FUNCTIONS = frozenset(
    ("pack", "unpack", *(name for name in INTRINSICS if name.rpartition("_")[2] in _HOWS and "_" in name))
)
_BITS = "mvbits"
PLACES = "place$of"
"""How the names of arrays begin that hold the places of elements in what PACK makes."""
_REDUCED = {"max": "maxval", "min": "minval"}
"""The functions of Fortran that reduce, where their names differ from those of reductions."""


@lru_cache(maxsize=64)
def with_array_functions(unit: Unit, hidden: frozenset[str] = frozenset()) -> Unit:
    """A unit in which other statements stand for these functions; the same object where there are none.

    `hidden`: names of procedures of the program, which hide intrinsic ones. What cannot be replaced remains.
    """
    wanted = (_FUNCTIONS | {_BITS}) - hidden - {each.name for each in unit.entities}
    if not wanted & calls_used(unit.body):
        return unit
    changer = _Changer(unit, wanted)
    body = changer.body(unit.body)
    return replace(
        unit,
        body=body,
        entities=(*unit.entities, *changer.entities),
        directives=(*unit.directives, *changer.directives),
    )


class _Changer(Spaces):
    """Changes the statements of a unit; declares the new arrays on the way."""

    def __init__(self, unit: Unit, wanted: frozenset[str]) -> None:
        super().__init__(unit)
        self._wanted = wanted

    def body(self, body: Iterable[s.Stmt]) -> tuple[s.Stmt, ...]:
        """Statements with those in their bodies changed."""
        return tuple(made for each in body for made in self._statement(each))

    def _statement(self, statement: s.Stmt) -> Iterator[s.Stmt]:
        if isinstance(statement, s.Forall | s.Where):
            yield statement
            return
        statement = mapped(statement, self.body)
        self.span, self.made = statement.span, []
        last: tuple[s.Stmt, ...] = (statement,)
        match statement:
            case s.Assign(target=Var() | Element() as target, value=value):
                last = tuple(self._assign(statement, target, self._value(value)))
            case s.If(branches=(first, *rest)) if first.condition is not None:
                last = (replace(statement, branches=(replace(first, condition=self._inner(first.condition)), *rest)),)
            case s.CallStmt(name=name, args=(_, _, _, Var() | Element(), _) as args) if name == _BITS in self._wanted:
                last = (_bits_moved(statement, args),)
            case s.Io(kind="print" | "write") | s.CallStmt() | s.SelectCase() | s.Do():
                last = (map_own(statement, self._inner),)
        yield from self.made
        yield from last

    def _assign(self, statement: s.Assign, target: Var | Element, value: Expr) -> Iterator[s.Stmt]:
        """An assignment whose value may still be, or use, PACK into as many elements as the target has."""
        if value is statement.value and not self._is_wanted(value):
            yield statement
            return
        rest = self._attempt(lambda: self._stored(value, target), value)
        if rest is not None:
            yield replace(statement, value=rest)

    def _stored(self, value: Expr, target: Var | Element) -> Expr | None:
        """What remains to be assigned, once functions in a value are computed; None: nothing."""
        if isinstance(value, Call) and self._is_wanted(value):
            self._compute(value, self.space(target))
            return None
        return self._packed(value, target)

    def _attempt(self, make: Callable[[], Expr | None], otherwise: Expr) -> Expr | None:
        """What is made, or else something else, and nothing remains of the attempt."""
        lists: tuple[list[s.Stmt] | list[Entity] | list[Align], ...] = (self.made, self.entities, self.directives)
        before = [len(each) for each in lists]
        try:
            return make()
        except NoPlacesError:
            for each, length in zip(lists, before, strict=True):
                del each[length:]
            return otherwise

    def _packed(self, value: Expr, target: Var | Element) -> Expr:
        """A value with each PACK in it that has the shape of the target computed before."""
        match value:
            case Call(name="pack") if self._is_wanted(value) and rank_of(target, self.known) == 1:
                space = self.new(self.space(target), type_of(value, self.types))
                self._compute(value, space)
                return space.leader
            case Unary() | Binary():
                return map_operands(value, lambda each: self._packed(each, target))
            case Call(name=name) if name in INTRINSICS and INTRINSICS[name].form == "elemental":
                return map_operands(value, lambda each: self._packed(each, target))
        return value

    def _is_wanted(self, value: Expr) -> bool:
        return isinstance(value, Call) and value.name in self._wanted

    # --- values ---------------------------------------------------------------------------------------------

    def _value(self, value: Expr) -> Expr:
        """An expression with the functions inside it computed before; that which is all of it remains."""
        if self._is_wanted(value):
            return map_operands(value, self._inner)
        return self._inner(value)

    def _inner(self, value: Expr) -> Expr:
        if not any(map(self._is_wanted, walk_expressions(value))):
            return value
        return map_expression(value, self._computed)

    def _computed(self, each: Expr) -> Expr:
        if not isinstance(each, Call):
            return each
        if each.args and isinstance(each.args[0], Call) and each.args[0].name == "pack":
            return self._of_packed(each, each.args[0])
        if not self._is_wanted(each):
            return each
        return self._attempt(lambda: self._beside(each), each) or each

    def _beside(self, call: Call) -> Expr:
        """A new array with the value of a function; PACK without VECTOR has a size that is not known here."""
        given = INTRINSICS[call.name].bound(call)
        like = {"pack": "vector", "unpack": "mask"}.get(call.name)
        like = like or ("base" if call.name.endswith("_scatter") else INTRINSICS[call.name].arguments[0])
        if like not in given:
            return call
        of = INTEGER if call.name.startswith("count_") else type_of(call, self.types)
        space = self.new(self.space(given[like]), of)
        self._compute(call, space)
        return space.leader

    def _of_packed(self, call: Call, pack: Call) -> Expr:
        """A reduction of what PACK takes: of the elements for which its mask holds."""
        given = INTRINSICS["pack"].bound(pack)
        if not self._is_wanted(pack) or "vector" in given or len(call.args) > 1 or call.keywords:
            return call
        array, mask = given["array"], given["mask"]
        if not rank_of(mask, self.known):
            return call
        match call.name:
            case "size":
                return Call("count", (mask,), span=call.span)
            case "count" | "any":
                return Call(call.name, (Binary(".and.", array, mask),), span=call.span)
            case "all":
                return Call("all", (Binary(".or.", array, Unary(".not.", mask)),), span=call.span)
            case "sum" | "product" | "maxval" | "minval" | "iall" | "iany" | "iparity":
                return Call(call.name, (array,), (("mask", mask),), span=call.span)
        return call

    # --- what each function does ----------------------------------------------------------------------------

    def _compute(self, call: Call, into: Conformable) -> None:
        """Statements that give a section the value of a function."""
        name, _, how = call.name.rpartition("_")
        if how == "pack":
            self._pack(call, into)
        elif how == "unpack":
            self._unpack(call, into)
        elif how == "scatter":
            self._scatter(call, name, into)
        else:
            self._prefix(call, name, into)

    def _pack(self, call: Call, into: Conformable) -> None:
        given = INTRINSICS["pack"].bound(call)
        array, mask, vector = given["array"], given["mask"], given.get("vector")
        if len(into.ranges) != 1:
            raise NoPlacesError
        (along,) = into.ranges
        space = self.space(array)
        if into.leader.name in names_in(array) | self.shared:
            array = self.copied(array, space)
        if mask == LogicalLit(True):
            if vector is not None:
                self.assign(into.leader, vector)
            size = reduce(multiply, (each.count for each in space.ranges))
            part = Section(along.lower, along.place(size), along.step)
            target = into.at(into.leader, (part,))
            self.assign(target, array if len(space.ranges) == 1 else Call("reshape", (array, Constructor((size,)))))
            return
        place = self._places(mask, space)
        if vector is not None:
            self.assign(into.leader, vector)
        indices, at = self.indices(space)
        number = space.at(place, at)
        value = self.element(array, space, at)
        self.forall(indices, Binary(">", number, IntLit(0)), into.at(into.leader, (along.place(number),)), value)

    def _unpack(self, call: Call, into: Conformable) -> None:
        given = INTRINSICS["unpack"].bound(call)
        vector, mask, field = given["vector"], given["mask"], given["field"]
        source = self.space(vector)
        if len(source.ranges) != 1:
            raise NoPlacesError
        if into.leader.name in names_in(vector) | self.shared or self.plain(vector) is None:
            vector = self.copied(vector, source)
        place = self._places(mask, into)
        self.assign(into.leader, field)
        indices, at = self.indices(into)
        number = into.at(place, at)
        section = self.plain(vector)
        assert section is not None
        value = source.at(section, (source.ranges[0].place(number),))
        self.forall(indices, Binary(">", number, IntLit(0)), into.at(into.leader, at), value)

    def _places(self, mask: Expr, space: Conformable) -> Element:
        """The place of each element that a mask takes, from 1; 0 for the others."""
        taken, place = (self.new(space, INTEGER, name) for name in ("taken", PLACES.partition("$")[0]))
        self.assign(taken.leader, Call("merge", (IntLit(1), IntLit(0), mask)))
        self._scan(Call("sum_prefix", (taken.leader,)), REDUCTIONS["sum"], place, exclusive=False)
        self.assign(place.leader, Binary("*", place.leader, taken.leader))
        return place.leader

    def _scatter(self, call: Call, name: str, into: Conformable) -> None:
        rank = len(into.ranges)
        values, _, *where = call.args
        keywords = dict(call.keywords)
        base = INTRINSICS[call.name].bound(call)["base"]
        where += [keywords.pop(key) for key in [f"indx{at}" for at in range(1, rank + 1)] if key in keywords]
        mask = keywords.pop("mask", None)
        if mask is None and len(where) == rank + 1:
            mask = where.pop()
        if len(where) != rank or (keywords.keys() - {"base"}):
            raise NoPlacesError
        if name == "count":
            values, mask = IntLit(1), values
        space = self.space(mask if name == "count" and mask is not None else values)
        if into.leader.name in names_in(values, mask, *where) | self.shared:
            values, *where = (self._kept(each, space) for each in (values, *where))
            mask = None if mask is None else self._kept(mask, space)
        self.assign(into.leader, base)
        indices, at = self.indices(space)
        places = [self.element(each, space, at) for each in where]
        target = into.at(into.leader, [along.place(each) for along, each in zip(into.ranges, places, strict=True)])
        value = self.element(values, space, at)
        holds = None if mask is None else self.element(mask, space, at)
        if name == "copy":
            self.forall(indices, holds, target, value)
            return
        op = REDUCTIONS["sum" if name == "count" else {"maxval": "max", "minval": "min"}.get(name, name)]
        inner: s.Stmt = s.Assign(span=self.span, target=target, value=op.combined(target, value))
        if holds is not None:
            inner = s.If(span=self.span, branches=(s.Branch(condition=holds, body=(inner,), span=self.span),))
        for index in indices:
            self.declare(index.name, INTEGER, None)
            inner = s.Do(
                span=self.span,
                var=index.name,
                lower=index.lower,
                upper=index.upper,
                step=index.step,
                body=(inner,),
                end=self.span,
            )
        self.made.append(inner)

    def _kept(self, value: Expr, space: Conformable) -> Expr:
        return self.copied(value, space) if rank_of(value, self.known) else value

    def _prefix(self, call: Call, name: str, into: Conformable) -> None:
        found = INTRINSICS[call.name]
        given = found.bound(call)
        values = given.pop(found.arguments[0])
        dim, mask, exclusive = given.pop("dim", None), given.pop("mask", None), given.pop("exclusive", None)
        if given or not isinstance(dim, IntLit | None) or exclusive not in (None, LogicalLit(True), LogicalLit(False)):
            raise NoPlacesError
        if name == "copy":
            self._copy_first(values, dim, into, backwards=call.name.endswith("suffix"))
            return
        op = "sum" if name == "count" else {"maxval": "max", "minval": "min"}.get(name, name)
        if name == "count":
            values = Call("merge", (IntLit(1), IntLit(0), values))
        if mask is not None:
            values = Call("merge", (values, self._start(REDUCTIONS[op], values), mask))
        scan = _scan_of(call, f"{name if name != 'count' else 'sum'}_{call.name.rpartition('_')[2]}", values, dim)
        conflicts = into.leader.name in names_in(values) | self.shared
        run = self.new(into, type_of(values, self.types)) if conflicts else into
        self._scan(scan, REDUCTIONS[op], run, exclusive=exclusive == LogicalLit(True))
        if conflicts:
            self.assign(into.leader, run.leader)

    def _start(self, op: Reduction, values: Expr) -> Expr:
        """What changes nothing, as a constant of the type of some values."""
        of = type_of(values, self.types)
        start = op.start(constant_of(0, of), of, some=False)
        return constant_of(start.value, of) if isinstance(start, IntLit) else start

    def _copy_first(self, values: Expr, dim: IntLit | None, into: Conformable, *, backwards: bool) -> None:
        """COPY_PREFIX without SEGMENT: the first element along a dimension, or of all."""
        indices, at = self.indices(into)
        first = [
            (each.upper if backwards else each.lower) if dim in (None, IntLit(number)) else place
            for number, (each, place) in enumerate(zip(into.ranges, at, strict=True), 1)
        ]
        if into.leader.name in names_in(values):
            values = self.copied(values, self.space(values))
        self.forall(indices, None, into.at(into.leader, at), self.element(values, into, first))

    def _scan(self, call: Call, op: Reduction, into: Conformable, *, exclusive: bool) -> None:
        """A scan of one dimension, or of all in array element order."""
        (values,) = call.args
        dim = dict(call.keywords).get("dim")
        rank = len(into.ranges)
        keywords: tuple[tuple[str, Expr], ...] = (("dim", dim or IntLit(1)),)
        if exclusive:
            keywords += (("exclusive", LogicalLit(True)),)
        self.assign(into.leader, Call(call.name, (values,), keywords, span=call.span))
        if dim is not None or rank == 1:
            return
        of = type_of(values, self.types)
        totals, before = (self.new(into, of, name, without=1) for name in ("total", "before"))
        self.assign(totals.leader, Call(_REDUCED.get(op.op, op.op), (values, IntLit(1))))
        self._scan(Call(call.name, (totals.leader,)), op, before, exclusive=True)
        indices, at = self.indices(into)
        target = into.at(into.leader, at)
        self.forall(indices, None, target, op.combined(target, before.at(before.leader, at[1:])))


def _scan_of(call: Call, name: str, value: Expr, dim: IntLit | None) -> Call:
    """A scan of another value."""
    return Call(name, (value,), () if dim is None else (("dim", dim),), span=call.span)


def _bits_moved(call: s.CallStmt, args: tuple[Expr, ...]) -> s.Assign:
    """MVBITS as an assignment: the bits of `to`, without those that come from elsewhere, and those. All bits of its
    kind are ``not(to - to)``."""
    source, first, length, to, place = args
    coming = Call("ishft", (Call("ibits", (source, first, length)), place))
    gone = Call("ishft", (Call("ibits", (Call("not", (Binary("-", to, to),)), IntLit(0), length)), place))
    kept = Call("iand", (to, Call("not", (gone,))))
    return s.Assign(span=call.span, label=call.label, target=to, value=Call("ior", (kept, coming)))
