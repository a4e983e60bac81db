"""Remappings that need not move values (the switch `remaps`).

The values of an array need not move where they are

- dead: on every path the array is assigned as a whole before it is read, or it is read no more;
- there already: the version of the new mapping was valid once, and neither it nor a later version was assigned since.

      !hpf$ redistribute a(cyclic)      a$2 = a
      s = sum(a)                        s = sum(a$2)
      !hpf$ redistribute a(block)                        a is still valid, as nothing assigned a$2
      a = a + s                         a = a + s
      !hpf$ redistribute a(cyclic)                       a is assigned before it is read
      a = 0                             a$2 = 0

The first is a question to the statements behind a remapping (`_Later`), the second to those before it (`_Earlier`), for
each configuration in which it may be reached.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from aag.ir import statements as ir
from aag.ir.directives import Align
from aag.ir.expressions import Call, Element, Expr, Section, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.visitors import names_in, own_expressions, walk_expressions, walk_statements

Moving = ir.Remap | ir.Restore
Arrays = frozenset[str]
Valid = Mapping[str, Arrays]
"""The versions of each array that hold its values."""
Facts = Mapping[int, Valid]
"""What is valid in each configuration that may hold."""
Named = Callable[[str, int], str]
"""The version of an array in a configuration."""

DEAD = "it is assigned before it is read"
THERE = "its copy in this mapping is still valid"


class RemapCourse(Struct, frozen=True, kw_only=True):
    """How a program remaps: its statements, the arrays of several versions, the configuration that each remapping makes
    of another one, and the versions that these have."""

    body: tuple[ir.Stmt, ...]
    arrays: Arrays
    after: Mapping[tuple[Moving, int], int]
    named: Named


def unmoved(course: RemapCourse) -> dict[tuple[Moving, int], dict[str, str]]:
    """The arrays that need not move at a remapping in a configuration, and why."""
    later = _Later(course.arrays)
    later.body(course.body, frozenset())
    earlier = _Earlier(course, later.wanted)
    earlier.body(course.body, {0: {name: frozenset((course.named(name, 0),)) for name in course.arrays}})
    found: dict[tuple[Moving, int], dict[str, str]] = {}
    for key, there in earlier.there.items():
        dead = course.arrays - later.wanted.get(key[0], frozenset())
        reasons = dict.fromkeys(sorted(there), THERE) | dict.fromkeys(sorted(dead), DEAD)
        if reasons and key[0].copies:
            found[key] = reasons
    return found


# --- statements -------------------------------------------------------------------------------------------------


def _reads(statement: ir.Stmt, arrays: Arrays) -> Arrays:
    """The arrays that a statement itself reads, as far as it is known; an array that it assigns in parts is none."""
    match statement:
        case ir.CallStmt() | ir.Opaque():
            return arrays
        case ir.Assign(target=Element(subscripts=subscripts), value=value):
            parts: tuple[Expr, ...] = (value, *subscripts)
        case ir.Assign(value=value):
            parts = (value,)
        case _:
            parts = own_expressions(statement)
    return arrays if _calls(parts) else arrays & names_in(*parts)


def _calls(exprs: Iterable[Expr]) -> bool:
    """Whether functions of the program are called, which may read and assign what they share."""
    return any(
        isinstance(part, Call) and "$" not in part.name and part.name not in INTRINSICS
        for each in exprs
        for part in walk_expressions(each)
    )


def _writes(statement: ir.Stmt, arrays: Arrays) -> Arrays:
    """The arrays that a statement itself may assign."""
    match statement:
        case ir.CallStmt() | ir.Opaque():
            return arrays
        case ir.Assign(target=Var(name=name) | Element(name=name)):
            written = frozenset((name,))
        case ir.Io(kind="read" | "open" | "inquire") | ir.Allocate():
            written = names_in(statement)
        case _:
            written = frozenset()
    return arrays if _calls(own_expressions(statement)) else arrays & written


def _replaced(statement: ir.Assign) -> str:
    """The array that an assignment replaces as a whole; empty: none."""
    match statement.target:
        case Var(name=name):
            return name
        case Element(name=name, subscripts=subscripts) if all(
            isinstance(each, Section) and each.lower is each.upper is each.step is None for each in subscripts
        ):
            return name
    return ""


def _array(statement: ir.Remap) -> str:
    """What a remapping of a dummy argument moves."""
    directive = statement.directive
    return directive.alignee if isinstance(directive, Align) else directive.distributee


# --- what comes later -------------------------------------------------------------------------------------------


class _Around(Struct):
    """A loop whose body is looked at: what is wanted behind it, and before its next iteration."""

    name: str
    behind: Arrays
    again: Arrays


class _Later:
    """Which arrays may be read before they are assigned as a whole. `wanted`: after each remapping."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._loops: list[_Around] = []
        self._apart = _Apart()
        self._found: dict[tuple[ir.Stmt, Arrays], Arrays] = {}
        """What is wanted before a loop that stands apart, for what is wanted behind it."""
        self.wanted: dict[ir.Stmt, Arrays] = {}

    def body(self, body: Sequence[ir.Stmt], wanted: Arrays) -> Arrays:
        """What is wanted before some statements, if `wanted` is behind them."""
        for statement in reversed(body):
            wanted = self._before(statement, wanted)
        return wanted

    def _before(self, statement: ir.Stmt, wanted: Arrays) -> Arrays:
        read = _reads(statement, self._arrays)
        match statement:
            case ir.Remap() | ir.Restore():
                self.wanted[statement] = self.wanted.get(statement, frozenset()) | wanted
                undefined = isinstance(statement, ir.Remap) and statement.keeps and not statement.copies
                return wanted - {_array(statement)} if undefined else wanted  # type: ignore[arg-type]  # a Remap
            case ir.Assign():
                return (wanted - {_replaced(statement)}) | read
            case ir.Do() | ir.DoWhile():
                if not self._apart.has(statement):
                    return self._before_loop(statement, wanted, read)
                if (statement, wanted) not in self._found:
                    self._found[statement, wanted] = self._before_loop(statement, wanted, read)
                return self._found[statement, wanted]
            case ir.If(branches=parts) | ir.SelectCase(cases=parts):
                whole = any(_is_last(each) for each in parts)
                inside = [self.body(each.body, wanted) for each in parts]
                return read.union(*inside, *(() if whole else (wanted,)))
            case ir.Forall() | ir.Where():
                return wanted.union(read, *(_reads(each, self._arrays) for each in walk_statements((statement,))))
            case ir.Exit(name=name):
                return self._around(name).behind
            case ir.Cycle(name=name):
                return self._around(name).again
            case ir.Stop() | ir.Return():
                return frozenset()
        return wanted | read

    def _before_loop(self, loop: ir.Do | ir.DoWhile, wanted: Arrays, read: Arrays) -> Arrays:
        around = _Around(loop.name, wanted, wanted | read)
        self._loops.append(around)
        while not (found := self.body(loop.body, around.again)) <= around.again:
            around.again |= found
        self._loops.pop()
        return around.again

    def _around(self, name: str) -> _Around:
        found = (each for each in reversed(self._loops) if not name or each.name == name)
        return next(found, _Around("", self._arrays, self._arrays))


class _Apart:
    """Loops that neither hold remappings nor jump to loops around them: what they do depends on nothing but what is
    known before them, or behind them."""

    def __init__(self) -> None:
        self._known: dict[ir.Stmt, bool] = {}

    def has(self, loop: ir.Do | ir.DoWhile) -> bool:
        """Whether a loop is one of them."""
        if loop not in self._known:
            inside = list(walk_statements(loop.body))
            names = {each.name for each in (loop, *inside) if isinstance(each, ir.Do | ir.DoWhile)} | {""}
            jumps = {each.name for each in inside if isinstance(each, ir.Exit | ir.Cycle)}
            self._known[loop] = jumps <= names and not any(isinstance(each, Moving) for each in inside)
        return self._known[loop]


def _is_last(part: ir.Branch | ir.Case) -> bool:
    """Whether it is ELSE or CASE DEFAULT."""
    return part.condition is None if isinstance(part, ir.Branch) else part.values is None


# --- what came earlier ------------------------------------------------------------------------------------------


class _Left(Struct):
    """A loop whose body is looked at: with what it is left, and with what its next iteration begins."""

    name: str
    exits: list[Facts] = field(default_factory=list)
    cycles: list[Facts] = field(default_factory=list)


class _Earlier:
    """Which versions of each array hold its values. `there`: the arrays whose values are there already, at each
    remapping in each configuration."""

    def __init__(self, course: RemapCourse, wanted: Mapping[ir.Stmt, Arrays]) -> None:
        self._course = course
        self._wanted = wanted
        self._loops: list[_Left] = []
        self._apart = _Apart()
        self.there: dict[tuple[Moving, int], Arrays] = {}

    def body(self, body: Sequence[ir.Stmt], facts: Facts) -> Facts:
        """What is valid behind some statements."""
        for statement in body:
            if not facts:
                break
            facts = self._behind(statement, facts)
        return facts

    def _behind(self, statement: ir.Stmt, facts: Facts) -> Facts:
        match statement:
            case ir.Remap() | ir.Restore():
                return _joined(self._moved(statement, *each) for each in facts.items())
            case (ir.Do() | ir.DoWhile()) as nest if self._apart.has(nest):
                for each in walk_statements((nest,)):
                    facts = self._assigned(each, facts)
                return facts
            case ir.Do(body=body, name=name) | ir.DoWhile(body=body, name=name):
                facts = self._assigned(statement, facts)
                while True:
                    left = _Left(name)
                    self._loops.append(left)
                    ended = self.body(body, facts)
                    self._loops.pop()
                    again = _joined((facts, ended, *left.cycles))
                    if again == facts:
                        return _joined((facts, *left.exits))
                    facts = again
            case ir.If(branches=parts) | ir.SelectCase(cases=parts):
                facts = self._assigned(statement, facts)
                whole = any(_is_last(each) for each in parts)
                return _joined((*(self.body(each.body, facts) for each in parts), *(() if whole else (facts,))))
            case ir.Exit(name=name) | ir.Cycle(name=name):
                loop = next((each for each in reversed(self._loops) if not name or each.name == name), None)
                if loop is not None:
                    (loop.exits if isinstance(statement, ir.Exit) else loop.cycles).append(facts)
                return {}
            case ir.Stop() | ir.Return():
                return {}
            case ir.Forall() | ir.Where():
                for each in walk_statements((statement,)):
                    facts = self._assigned(each, facts)
                return facts
        return self._assigned(statement, facts)

    def _assigned(self, statement: ir.Stmt, facts: Facts) -> Facts:
        written = _writes(statement, self._course.arrays)
        if not written:
            return facts
        return {
            state: {**valid, **{name: frozenset((self._course.named(name, state),)) for name in written}}
            for state, valid in facts.items()
        }

    def _moved(self, statement: Moving, state: int, valid: Valid) -> Facts:
        """What is valid behind a remapping in one configuration."""
        after = self._course.after.get((statement, state))
        if after is None:  # nothing leads here
            return {}
        named, wanted = self._course.named, self._wanted.get(statement, frozenset())
        moving = {name for name in self._course.arrays if named(name, state) != named(name, after)}
        there = frozenset(name for name in moving if named(name, after) in valid[name])
        self.there[statement, state] = self.there.get((statement, state), there) & there
        made = dict(valid)
        for name in moving - there:
            new = frozenset((named(name, after),))
            kept = isinstance(statement, ir.Restore) if not statement.copies else name in wanted
            made[name] = valid[name] | new if kept else new
        return {after: made}


def _joined(several: Iterable[Facts]) -> Facts:
    """What is valid whichever of several ways was taken."""
    found: dict[int, Valid] = {}
    for facts in several:
        for state, valid in facts.items():
            known = found.get(state)
            found[state] = valid if known is None else {name: valid[name] & known[name] for name in valid}
    return found
