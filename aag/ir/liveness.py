"""Is the value of a scalar still wanted after a loop? Only if not may each processor keep its own (Def 16).

Live variables by data flow on the tree (Aho, Lam, Sethi, Ullman, *Compilers*, 9.2.5): what each statement may read and
surely writes is found upwards, what is live behind it downwards and backwards. A loop needs no iteration to a fixed
point: what is live at its top is what one iteration may read first, and what is live behind it.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from aag.ir import statements as s
from aag.ir.expressions import Expr, Var
from aag.ir.visitors import bodies, names_in, own_expressions, walk_statements

Names = frozenset[str]
NONE: Names = frozenset()


class Liveness:
    """What is live behind each statement of a body, computed when it is first asked for."""

    def __init__(self, body: Sequence[s.Stmt]) -> None:
        self._body = body
        self._live: dict[s.Stmt, Names] | None = None

    def wanted_after(self, statement: s.Stmt, names: Names) -> Names:
        """Which of the names may be read once `statement` has ended, by EXIT or CYCLE of a loop around it, too.

        All of them where it is not in the body.
        """
        if self._live is None:
            everything = names_in(self._body) | _indices(self._body)
            self._live = _Backwards(_Flows(everything)).run(self._body)
        found = self._live.get(statement)
        return names if found is None else names & found


def exposed(body: Sequence[s.Stmt], names: Names) -> Names:
    """Which of the names an iteration with this body may read before it writes them."""
    return names & _Flows(names).of_body(body).reads


def _indices(body: Iterable[s.Stmt]) -> Names:
    return frozenset(each.var for each in walk_statements(body) if isinstance(each, s.Do))


class _Flow(Struct, frozen=True):
    """A statement or body: names that it may read before it writes them, names that it has written where it ends, EXIT
    (true) and CYCLE with a loop's name (or none) that lead out of it."""

    reads: Names
    writes: Names
    jumps: frozenset[tuple[bool, str]] = frozenset()


class _Flows:
    """The flow of statements, each found once."""

    def __init__(self, everything: Names) -> None:
        """`everything` is what a statement that is not understood may read, and what a jump leaves undecided."""
        self.everything = everything
        self._of: dict[s.Stmt, _Flow] = {}

    def of_body(self, body: Sequence[s.Stmt]) -> _Flow:
        whole = _Flow(NONE, NONE)
        for each in body:
            flow = self.of(each)
            reads = whole.reads | (flow.reads - whole.writes)
            whole = _Flow(reads, whole.writes | flow.writes, whole.jumps | flow.jumps)
        return whole

    def of(self, statement: s.Stmt) -> _Flow:
        found = self._of.get(statement)
        if found is None:
            found = self._of[statement] = self._flow(statement)
        return found

    def _flow(self, statement: s.Stmt) -> _Flow:
        match statement:
            case s.Assign(target=target, value=value):
                stored = _stored(target)
                return _Flow(names_in(value) | (names_in(target) - stored), stored)
            case s.Do(var=var, lower=lower, upper=upper, step=step, body=body, name=name):
                inside = self.of_body(body)
                reads = names_in(lower, upper, step) | (inside.reads - {var})
                return _Flow(reads, frozenset((var,)), _leaving(inside, name))
            case s.DoWhile(condition=condition, body=body, name=name):
                inside = self.of_body(body)
                return _Flow(names_in(condition) | inside.reads, NONE, _leaving(inside, name))
            case s.Forall(indices=indices, mask=mask, body=body):
                own = frozenset(index.name for index in indices)
                bounds = names_in(*(part for index in indices for part in (index.lower, index.upper, index.step)))
                return _Flow(bounds | ((names_in(mask) | self.of_body(body).reads) - own), NONE)
            case s.If() | s.Where() | s.SelectCase():
                flows = [self.of_body(each) for each in bodies(statement)]
                writes = frozenset.intersection(*(each.writes for each in flows)) if _is_whole(statement) else NONE
                jumps = frozenset().union(*(each.jumps for each in flows))
                return _Flow(_own(statement).union(*(each.reads for each in flows)), writes, jumps)
            case s.CallStmt(into=into):
                written = names_in(into)
                return _Flow(_own(statement) - written, written)
            case s.Exit(name=name) | s.Cycle(name=name):
                return _Flow(NONE, self.everything, frozenset(((isinstance(statement, s.Exit), name),)))
            case s.Stop() | s.Return():
                return _Flow(NONE, self.everything)
            case s.Io() | s.Allocate() | s.Continue() | s.Remap() | s.Enter() | s.Restore():
                return _Flow(_own(statement), NONE)
            case _:  # of another one nothing is known
                return _Flow(self.everything, NONE)


def _leaving(body: _Flow, name: str) -> frozenset[tuple[bool, str]]:
    """The jumps of a loop's body that lead out of the loop."""
    return frozenset(jump for jump in body.jumps if jump[1] and jump[1] != name)


class _Loop(Struct, frozen=True):
    """A loop around: its name, what is live where CYCLE and EXIT of it lead."""

    name: str
    again: Names
    behind: Names


class _Backwards:
    """What is live behind each statement, found from the end of a body to its start."""

    def __init__(self, flows: _Flows) -> None:
        self._flows = flows
        self._live: dict[s.Stmt, Names] = {}

    def run(self, body: Sequence[s.Stmt]) -> dict[s.Stmt, Names]:
        self._before(body, NONE, ())
        return self._live

    def _before(self, body: Sequence[s.Stmt], live: Names, around: tuple[_Loop, ...]) -> Names:
        """What is live before a body, of what is live behind it."""
        for each in reversed(body):
            live = self._statement(each, live, around)
        return live

    def _statement(self, statement: s.Stmt, behind: Names, around: tuple[_Loop, ...]) -> Names:
        flow = self._flows.of(statement)
        jumped = NONE.union(*(self._target(jump, around) for jump in flow.jumps))
        live = behind | jumped
        self._live[statement] = self._live.get(statement, NONE) | live
        match statement:
            case s.Do(body=body, name=name) | s.DoWhile(body=body, name=name):
                tested = names_in(statement.condition) if isinstance(statement, s.DoWhile) else NONE
                again = live | tested | self._flows.of_body(body).reads
                self._before(body, again, (*around, _Loop(name, again, behind)))
            case s.Forall(body=body):
                self._before(body, live | self._flows.of_body(body).reads, around)
            case s.If() | s.Where() | s.SelectCase():
                before = [self._before(each, behind, around) for each in bodies(statement)]
                passed = NONE if _is_whole(statement) else behind
                return passed.union(_own(statement), *before)
            case s.Stop() | s.Return():
                return NONE
            case s.Exit() | s.Cycle():
                return jumped
        return flow.reads | (live - flow.writes)

    def _target(self, jump: tuple[bool, str], around: Sequence[_Loop]) -> Names:
        """What is live where a jump leads."""
        leaves, name = jump
        for each in reversed(around):
            if name in ("", each.name):
                return each.behind if leaves else each.again
        return self._flows.everything


def _own(statement: s.Stmt) -> Names:
    return names_in(*own_expressions(statement))


def _is_whole(statement: s.Stmt) -> bool:
    """Whether one of the branches is taken in any case."""
    match statement:
        case s.If(branches=branches):
            return branches[-1].condition is None
        case s.SelectCase(cases=cases):
            return any(each.values is None for each in cases)
    return False


def _stored(target: Expr) -> Names:
    """The scalar that an assignment replaces as a whole."""
    return frozenset((target.name,)) if isinstance(target, Var) else NONE
