"""DO with a REAL index or REAL bounds, a deleted feature of Fortran, as loops that count integers; and loops whose
bounds read their own index, which is another variable before the first iteration.

Bounds of an integer index are converted to integers. A loop with a REAL index counts its iterations as FORTRAN 77 says:
their number is known before the first, and each adds the step to the index.

    do x = a, b, c          x = a
      ...                   do trip_1 = 1, int((b - a + c)/c)
    end do                    ...
                              x = x + c
                            end do

    do j = j, n             start_1 = j
      ...                   do j = start_1, n
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.units import Entity, Unit
from aag.ir.visitors import Body, bodies, mapped, names_in, walk_statements
from aag.source.declarations import INTEGER, Declarations
from aag.source.typecheck import Checker, TypeScope, scope_inside
from aag.source.units import ReadUnit


def with_integer_loops(units: Iterable[Unit], reads: Iterable[ReadUnit]) -> tuple[tuple[Unit, ...], list[Diagnostic]]:
    """The units with loops that count integers, and a warning for each one that did not."""
    listed = tuple(units)
    modules = {each.name: each for each in listed if each.kind == "module"}
    found: list[Diagnostic] = []
    outermost = TypeScope({}, {}, frozenset())
    done = tuple(_unit(*pair, outermost, modules, found) for pair in zip(listed, reads, strict=True))
    return done, found


def _unit(unit: Unit, read: ReadUnit, outer: TypeScope, modules: Mapping[str, Unit], found: list[Diagnostic]) -> Unit:
    scope = scope_inside(unit, outer, modules, set())
    pairs = zip(unit.contains, read.inner, strict=True)
    unit = replace(unit, contains=tuple(_unit(*pair, scope, modules, found) for pair in pairs))
    rewriter = _Rewriter(Checker(scope, {}, []), read.names, found)
    loops = (each for each in walk_statements(unit.body) if isinstance(each, s.Do))
    if not any(rewriter.is_real(each) or reads_itself(each) for each in loops):
        return unit
    body = rewriter.body(unit.body)
    return replace(unit, body=body, entities=(*unit.entities, *rewriter.made))


def reads_itself(loop: s.Do) -> bool:
    """Whether a bound of a loop reads its index."""
    return loop.var in names_in(loop.lower, loop.upper, loop.step)


class _Rewriter:
    """Rewrites the loops of one unit. `made`: the variables that they count with."""

    def __init__(self, checker: Checker, names: Declarations, found: list[Diagnostic]) -> None:
        self._checker = checker
        self._names = names
        self._found = found
        self.made: list[Entity] = []

    def is_real(self, loop: s.Do) -> bool:
        """Whether its index or one of its bounds is REAL."""
        parts = (e.Var(loop.var), loop.lower, loop.upper, loop.step)
        return any(each is not None and self._checker.type_of(each) == "real" for each in parts)

    def body(self, body: Body) -> Body:
        """A body with its loops rewritten."""
        found: list[s.Stmt] = []
        for stmt in body:
            inner = mapped(stmt, self.body)
            if isinstance(inner, s.Do) and self.is_real(inner):
                self._found.append(_deleted(inner.span))
                found += self._loop(inner)
            elif isinstance(inner, s.Do) and reads_itself(inner):
                found += self._from_itself(inner)
            else:
                found.append(inner)
        return tuple(found)

    def _loop(self, loop: s.Do) -> Body:
        if self._checker.type_of(e.Var(loop.var)) == "integer":
            step = None if loop.step is None else self._whole(loop.step)
            return (replace(loop, lower=self._whole(loop.lower), upper=self._whole(loop.upper), step=step),)
        span = loop.span
        index, step = e.Var(loop.var, span=span), loop.step or e.IntLit(1, span=span)
        changed = {
            each.target.name
            for each in walk_statements(loop.body)
            if isinstance(each, s.Assign) and isinstance(each.target, e.Var)
        }
        if names_in(step) & {*changed, loop.var} or loop.var in names_in(loop.lower, loop.upper):
            reason = "a REAL index whose bounds change in the loop is not modelled"
            return (s.Opaque(text=f"do {loop.var}", reason=reason, span=span, label=loop.label),)
        counter = self._integer("trip", span)
        trips = _quotient(loop.lower, loop.upper, step, span)
        begin = s.Assign(target=index, value=loop.lower, span=span, label=loop.label)
        advance = s.Assign(target=index, value=e.Binary("+", index, step, span=span), span=span)
        plain = replace(loop, var=counter.name, lower=e.IntLit(1, span=span), upper=trips, step=None, label="")
        plain = replace(plain, independent=None)
        if not _cycles(loop.body, loop.name):
            return begin, replace(plain, body=(*loop.body, advance))
        last = self._integer("last", span)
        count = s.Assign(target=last, value=trips, span=span)
        later = s.guarded(e.Binary(">", counter, e.IntLit(1, span=span), span=span), (advance,), span)
        ended = e.Binary(">", counter, last, span=span)
        any_trip = e.Binary(">", last, e.IntLit(0, span=span), span=span)
        end = s.guarded(e.Binary(".and.", ended, any_trip, span=span), (advance,), span)
        return begin, count, replace(plain, upper=last, body=(later, *loop.body)), end

    def _from_itself(self, loop: s.Do) -> Body:
        """The bounds that read the index, kept before the loop."""
        kept: list[s.Stmt] = []

        def keep(bound: e.Expr) -> e.Expr:
            if loop.var not in names_in(bound):
                return bound
            start = self._integer("start", loop.span)
            kept.append(s.Assign(target=start, value=bound, span=loop.span, label="" if kept else loop.label))
            return start

        lower, upper = keep(loop.lower), keep(loop.upper)
        step = None if loop.step is None else keep(loop.step)
        return (*kept, replace(loop, lower=lower, upper=upper, step=step, label=""))

    def _integer(self, prefix: str, span: Span) -> e.Var:
        name = self._names.fresh(prefix)
        self.made.append(
            Entity(name=name, shown=name, type=INTEGER, shape=None, attributes=frozenset(), initial=None, span=span)
        )
        return e.Var(name, span=span)

    def _whole(self, bound: e.Expr) -> e.Expr:
        if self._checker.type_of(bound) != "real":
            return bound
        if isinstance(bound, e.RealLit):
            return e.IntLit(int(bound.value), span=bound.span)
        return e.Call("int", (bound,), span=bound.span)


def _quotient(lower: e.Expr, upper: e.Expr, step: e.Expr, span: Span) -> e.Expr:
    """The number of iterations, which may be negative."""
    distance = e.Binary("+", e.Binary("-", upper, lower, span=span), step, span=span)
    return e.Call("int", (e.Binary("/", distance, step, span=span),), span=span)


def _cycles(body: Body, name: str, *, inside: bool = False) -> bool:
    """Whether a CYCLE in a body is of the loop of that name. `inside`: the body is that of another loop in it."""
    for stmt in body:
        if isinstance(stmt, s.Cycle) and (stmt.name == name if stmt.name else not inside):
            return True
        within = inside or isinstance(stmt, s.Do | s.DoWhile)
        if any(_cycles(inner, name, inside=within) for inner in bodies(stmt)):
            return True
    return False


def _deleted(span: Span) -> Diagnostic:
    return Diagnostic(
        code="W113",
        message="DO with a REAL index or bound is a deleted feature: its trip count is that of FORTRAN 77",
        span=span,
        hint="use integers",
    )
