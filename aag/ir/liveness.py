"""Is the value of a scalar still wanted after a loop? Only if not may each processor keep its own (Def 16)."""

from collections.abc import Sequence

from aag.ir import statements as s
from aag.ir.expressions import Expr, Var
from aag.ir.visitors import bodies, names_in


def wanted_after(loop: s.Stmt, body: Sequence[s.Stmt], names: frozenset[str]) -> frozenset[str]:
    """Which of the names may be read once `loop`, a statement somewhere in `body`, has ended."""
    found = _after(loop, body, names, looping=False)
    return names if found is None else found[0]


def exposed(body: Sequence[s.Stmt], names: frozenset[str]) -> frozenset[str]:
    """Which of the names an iteration with this body may read before it writes them."""
    return _read_first(body, names, looping=True)[0]


Found = tuple[frozenset[str], frozenset[str]]
"""Names that may be read before they are written; names that are still undecided."""


def _after(loop: s.Stmt, body: Sequence[s.Stmt], names: frozenset[str], *, looping: bool) -> Found | None:
    """What the statements after the loop do; None where it is not in this body. `looping`: the body is that of a loop,
    or in one."""
    for at, statement in enumerate(body):
        rest = body[at + 1 :]
        if statement is loop:
            return _rest(rest, names, looping=looping)
        repeats = isinstance(statement, s.Do | s.DoWhile)
        for inner in bodies(statement):
            found = _after(loop, inner, names, looping=looping or repeats)
            if found is None:
                continue
            read, left = found
            if repeats:  # the next iteration
                again, _ = _read_first((statement,), left)
                read |= again
                left -= again
            more, left = _rest(rest, left, looping=looping)
            return read | more, left
    return None


def _rest(body: Sequence[s.Stmt], names: frozenset[str], *, looping: bool) -> Found:
    """What the rest of a body does. Where EXIT and CYCLE of a loop around lead is looked at after it: nothing that the
    rest does not read is decided by then."""
    read, left = _read_first(body, names, looping=looping)
    return read, names - read if looping and _jumps(body) else left


def _jumps(body: Sequence[s.Stmt], *, inner: bool = False) -> bool:
    """Whether EXIT or CYCLE of a loop around is in a body; `inner`: it is that of a loop, so that only names tell."""
    for each in body:
        if isinstance(each, s.Exit | s.Cycle) and (each.name or not inner):
            return True
        inside = inner or isinstance(each, s.Do | s.DoWhile)
        if any(_jumps(part, inner=inside) for part in bodies(each)):
            return True
    return False


def _read_first(
    body: Sequence[s.Stmt], names: frozenset[str], *, looping: bool = False, loops: frozenset[str] = frozenset()
) -> Found:
    """`looping`: the statements are in a loop that is looked at as a whole, so that EXIT and CYCLE lead to nothing that
    is not looked at anyway: a loop is taken to write nothing for certain. `loops`: the names of such loops."""
    read: frozenset[str] = frozenset()
    for statement in body:
        if not names:
            break
        more, names = _statement(statement, names, looping, loops)
        read |= more
    return read, names


def _statement(statement: s.Stmt, names: frozenset[str], looping: bool, loops: frozenset[str]) -> Found:
    match statement:
        case s.Assign(target=target, value=value):
            read = names & (names_in(value) | (names_in(target) - _stored(target)))
            return read, names - read - _stored(target)
        case s.Do(var=var, lower=lower, upper=upper, step=step, body=body, name=name):
            read = names & names_in(lower, upper, step)
            inside, _ = _read_first(body, names - read - {var}, looping=True, loops=loops | {name})
            return read | inside, names - read - inside - {var}
        case s.Forall(indices=indices, mask=mask, body=body):
            own = frozenset(index.name for index in indices)
            bounds = names_in(*(part for index in indices for part in (index.lower, index.upper, index.step)))
            read = names & (bounds | (names_in(mask) - own))
            inside, _ = _read_first(body, names - read - own)
            return read | inside, names - read - inside
        case s.If(branches=branches) | s.Where(branches=branches):
            parts = [(_condition(each), each.body) for each in branches]
            return _branches(parts, names, looping, loops, whole=isinstance(statement, s.If) and _is_else(branches[-1]))
        case s.SelectCase(selector=selector, cases=cases):
            parts = [(names_in(selector, *(each.values or ())), each.body) for each in cases]
            return _branches(parts, names, looping, loops, whole=any(each.values is None for each in cases))
        case s.DoWhile(condition=condition, body=body, name=name):
            return _branches([(names_in(condition), body)], names, True, loops | {name}, whole=False)
        case s.CallStmt(args=args, into=into):
            read = names & names_in(*args)
            return read, names - read - names_in(into)
        case s.Io(items=args) | s.Allocate(items=args):
            read = names & names_in(*args)
            return read, names - read
        case s.Stop() | s.Return():
            return frozenset(), frozenset()
        case s.Continue() | s.Remap() | s.Enter() | s.Restore():
            return frozenset(), names
        case s.Exit(name=name) | s.Cycle(name=name) if looping and (not name or name in loops):
            return frozenset(), frozenset()
        case _:  # EXIT and CYCLE go on elsewhere, and of an opaque statement nothing is known
            return names, frozenset()


def _branches(
    parts: Sequence[tuple[frozenset[str], Sequence[s.Stmt]]],
    names: frozenset[str],
    looping: bool,
    loops: frozenset[str],
    *,
    whole: bool,
) -> Found:
    """`whole`: one of the branches is taken in any case."""
    read: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset() if whole else names
    for condition, body in parts:
        read |= names & condition
        more, after = _read_first(body, names - read, looping=looping, loops=loops)
        read |= more
        left |= after
    return read, left - read


def _is_else(branch: s.Branch | s.WhereBranch) -> bool:
    return isinstance(branch, s.Branch) and branch.condition is None


def _condition(branch: s.Branch | s.WhereBranch) -> frozenset[str]:
    return names_in(branch.condition if isinstance(branch, s.Branch) else branch.mask)


def _stored(target: Expr) -> frozenset[str]:
    """The scalar that an assignment replaces as a whole."""
    return frozenset((target.name,)) if isinstance(target, Var) else frozenset()
