"""Iterations of a DO CONCURRENT: what each has for itself, what its mask must not read, how its reductions look, and
statements that leave it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.evaluate import Environment
from aag.ir.linear import linear
from aag.ir.trips import runs
from aag.ir.visitors import bodies, names_in, own_expressions, walk_expressions, walk_statements
from aag.source.mentions import mentions_of

_LEAVING = (s.Exit, s.Cycle, s.Stop, s.Return)

_CALLED = ("max", "min", "iand", "ior", "ieor")


# --- leaving ---


def leaving(body: Iterable[s.Stmt], loop: s.Do, name: str, inner: tuple[str, ...] = ()) -> Iterator[s.Stmt]:
    """The statements that leave a loop of that name. `inner`: the names of the loops between; an empty one has none."""
    for stmt in body:
        match stmt:
            case s.Return():
                yield stmt
            case s.Exit(name=to) if to not in inner if to else not inner:
                yield stmt
            case s.Cycle(name=to) if to and to not in inner and to != name:
                yield stmt
        around = (*inner, stmt.name) if isinstance(stmt, s.Do | s.DoWhile) else inner
        for each in bodies(stmt):
            yield from leaving(each, loop, name, around)


# --- what each iteration has for itself ---


def assigned_alike(
    body: Sequence[s.Stmt], indices: Sequence[str], shared: frozenset[str], constants: Environment
) -> list[str]:
    """Variables of which each iteration assigns the same part, whatever its data, before it reads this part and no
    other: they have no value after the loop, if there are several iterations. `shared`: others."""
    loops = (each.var for each in walk_statements(body) if isinstance(each, s.Do))
    look = _Look(constants, frozenset({*indices, *loops, *_assigned(body)}))
    look.body(body, always=True)
    return sorted(name for name, own in look.own.items() if own and name not in shared and name not in indices)


def _assigned(body: Iterable[s.Stmt]) -> set[str]:
    """Names that statements assign, without the indices of loops."""
    found: set[str] = set()
    for stmt in walk_statements(body):
        match stmt:
            case s.Assign(target=e.Var(name=name) | e.Element(name=name)):
                found.add(name)
            case s.CallStmt() | s.Io(kind="read") | s.Allocate():
                found |= _passed(stmt)
    return found


def _passed(stmt: s.Stmt) -> set[str]:
    """The variables that a statement gets as arguments or items."""
    return {name for each in own_expressions(stmt) if (name := _name(each))}


Part = tuple[tuple[e.Expr, e.Expr], ...]
"""First and last index in each dimension of an array."""


class _Look(Struct):
    """What an iteration does with variables, in its order. `varying`: names whose values differ between iterations, or
    within one; `own`: whether all that it does with a variable so far concerns its own value; `whole`: what it has
    certainly assigned as a whole; `written`: the parts of arrays that it has certainly assigned."""

    constants: Environment
    varying: frozenset[str]
    own: dict[str, bool] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    written: dict[str, list[Part]] = field(default_factory=dict)

    def body(self, body: Sequence[s.Stmt], loops: Mapping[str, s.Do] = MappingProxyType({}), *, always: bool) -> None:
        """Look at statements. `loops`: those around whose variables run over the same range in each iteration;
        `always`: whether each iteration reaches the statements, if these loops run."""
        for stmt in body:
            self._statement(stmt, loops, always=always)

    def _statement(self, stmt: s.Stmt, loops: Mapping[str, s.Do], *, always: bool) -> None:
        match stmt:
            case s.Assign(target=e.Var(name=name), value=value):
                self._read((value,), loops)
                sure = always and self._run(loops.values())
                self.own[name] = self.own.get(name, True) and sure
                if sure:
                    self.whole.add(name)
            case s.Assign(target=e.Element(name=name, subscripts=subscripts) as target, value=value):
                self._read((value, *subscripts), loops)
                part = self._part(target, loops) if always else None
                if part is not None and not self._run(loops[each] for each in loops.keys() - names_in(target)):
                    part = None
                self.own[name] = self.own.get(name, True) and (part is not None or name in self.whole)
                if part is not None:
                    self.written.setdefault(name, []).append(part)
            case s.Do(var=var, body=inner, step=step):
                self._read(own_expressions(stmt), loops)
                self.own[var] = False
                fixed = not self.varying & names_in(*own_expressions(stmt))
                certain = always and fixed and not any(isinstance(each, _LEAVING) for each in walk_statements(inner))
                if step is None and fixed:
                    loops = {**loops, var: stmt}
                else:
                    certain = certain and self._run((stmt,))
                self.body(inner, loops, always=certain)
            case _:
                self._read(own_expressions(stmt), loops)
                for name in mentions_of(stmt) - names_in(*own_expressions(stmt)):
                    self.own[name] = False
                if isinstance(stmt, s.CallStmt | s.Allocate) or (isinstance(stmt, s.Io) and stmt.kind == "read"):
                    self.own.update(dict.fromkeys(_passed(stmt), False))
                for each in bodies(stmt):
                    self.body(each, loops, always=False)

    def _run(self, loops: Iterable[s.Do]) -> bool:
        return all(runs(each, self.constants) for each in loops)

    def _part(self, element: e.Element, loops: Mapping[str, s.Do]) -> Part | None:
        """The part of an array that a loop nest uses by `element`; None: it differs between iterations, or may."""
        found, used = [], set[str]()
        for each in element.subscripts:
            match each:
                case e.Var(name=name) if name in loops and name not in used:
                    used.add(name)
                    found.append((loops[name].lower, loops[name].upper))
                case e.IntLit() | e.Var() if not names_in(each) & self.varying:
                    found.append((each, each))
                case _:
                    return None
        return tuple(found)

    def _read(self, exprs: Iterable[e.Expr], loops: Mapping[str, s.Do]) -> None:
        for each in (part for whole in exprs for part in walk_expressions(whole)):
            name = _name(each)
            if not name or name in self.whole:
                continue
            part = self._part(each, loops) if isinstance(each, e.Element) else None
            if part is None or not any(_within(part, other) for other in self.written.get(name, ())):
                self.own[name] = False


def _within(part: Part, other: Part) -> bool:
    """Whether a part of an array certainly lies inside another one."""
    return len(part) == len(other) and all(_inside(*pair) for pair in zip(part, other, strict=True))


def _inside(one: tuple[e.Expr, e.Expr], other: tuple[e.Expr, e.Expr]) -> bool:
    if one == other:
        return True
    numbers = [each.value for each in (*one, *other) if isinstance(each, e.IntLit)]
    return len(numbers) == 4 and numbers[2] <= numbers[0] and numbers[1] <= numbers[3]


# --- masks ---


def conflicting(mask: e.Expr | None, body: Sequence[s.Stmt], indices: Sequence[str]) -> str:
    """Why a mask cannot be computed iteration by iteration: it reads what other iterations assign. Empty: it can."""
    assigned = _assigned(body) & names_in(mask)
    for name in sorted(assigned):
        targets = [
            each.target for each in walk_statements(body) if isinstance(each, s.Assign) and _name(each.target) == name
        ]
        used = [each for each in walk_expressions(mask) if _name(each) == name] if mask is not None else []
        called = any(isinstance(each, s.CallStmt) and name in _passed(each) for each in walk_statements(body))
        first = used[0]
        own = isinstance(first, e.Element) and _is_own(first, indices)
        if called or not own or any(each != first for each in (*targets, *used)):
            how = "which a procedure that is called in its iterations may assign" if called else "which they assign"
            return (
                f"the mask of the DO CONCURRENT reads {name}, {how}, and that is not modelled: "
                "compute the mask into a LOGICAL array before the loop"
            )
    return ""


def _is_own(element: e.Element, indices: Sequence[str]) -> bool:
    """Whether each iteration has another element: each index alone decides a subscript."""
    alone: set[str] = set()
    for each in element.subscripts:
        atoms = linear(each, {}).terms
        used = {atom.name for atom in atoms if isinstance(atom, e.Var)} & set(indices)
        if len(used) == 1 and all(isinstance(atom, e.Var) for atom in atoms):
            alone |= used
    return set(indices) <= alone


# --- reductions ---


def wrong_updates(body: Iterable[s.Stmt], name: str, operation: str) -> Iterator[tuple[Span, str]]:
    """Statements that use a variable of REDUCE for something else than its operation, and what they do."""
    for stmt in walk_statements(body):
        if isinstance(stmt, s.Do | s.Forall) and name in _claimed(stmt):
            continue
        if name not in mentions_of(stmt):
            continue
        if not isinstance(stmt, s.Assign) or _name(stmt.target) != name:
            yield stmt.span, f"it reads {name}"
        elif name in names_in(*_subscripts(stmt.target)) or not _updates(stmt.value, stmt.target, operation):
            yield stmt.span, f"it changes {name} in another way"


def _claimed(stmt: s.Do | s.Forall) -> tuple[str, ...]:
    within = names_in(*own_expressions(stmt))
    claim = stmt.independent
    return () if claim is None else tuple(each for each in claim.reductions if each not in within)


def _updates(value: e.Expr, target: e.Expr, operation: str) -> bool:
    """Whether a value is `target` combined with something else by the operation."""
    name = _name(target)
    match value:
        case e.Binary(op=op, left=left, right=right) if op == operation or (op == "-" and operation == "+"):
            if name not in names_in(right):
                return left == target or _updates(left, target, operation)
            return op == operation and name not in names_in(left) and (right == target or _updates(right, target, op))
        case e.Call(name=called, args=args, keywords=()) if called == operation and called in _CALLED:
            inside = [each for each in args if name in names_in(each)]
            return len(inside) == 1 and (inside[0] == target or _updates(inside[0], target, operation))
    return False


def _name(expr: e.Expr) -> str:
    return expr.name if isinstance(expr, e.Var | e.Element) else ""


def _subscripts(expr: e.Expr) -> tuple[e.Expr, ...]:
    return expr.subscripts if isinstance(expr, e.Element) else ()
