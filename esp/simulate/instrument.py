"""Counters in the text of a Fortran program."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from fparser.two import Fortran2003
from fparser.two.utils import Base, walk
from msgspec import Struct

from aag.source.parsing import tree_of
from aag.spmd.emit.text import short
from esp.errors import PredictionError
from esp.simulate.nest_counts import Tally, count_steps, enter, keep_better
from esp.simulate.operations import Operations, is_own_bound
from esp.simulate.scope import NameTable, functions_of, scope_of
from esp.simulate.tree import (
    LOOPS,
    LoopNest,
    NestBranch,
    arguments_of,
    asks_library,
    begin_of,
    entered,
    has_label,
    index_of,
    inside_of,
    is_helping,
    is_idle,
    is_runtime_call,
    keeps_better,
    last_of,
    name_of_unit,
    nest_at,
    only_helps,
    parts_of,
)

COUNTER = "esp_often"

BOUND = "bound"
"""Not an operation of the processor, but the few that find the local bounds of a loop (docs/definitions.md)."""
_QUOTE = re.compile(r"\s*! {1,4}\d+  ")

_CLOCKS = ("system_clock", "cpu_time", "mpi_wtime", "date_and_time")
_SILENT = (
    Fortran2003.Print_Stmt,
    Fortran2003.Write_Stmt,
    Fortran2003.Read_Stmt,
    Fortran2003.Open_Stmt,
    Fortran2003.Close_Stmt,
    Fortran2003.Allocate_Stmt,
    Fortran2003.Deallocate_Stmt,
    Fortran2003.Nullify_Stmt,
    Fortran2003.Continue_Stmt,
    Fortran2003.Exit_Stmt,
    Fortran2003.Cycle_Stmt,
    Fortran2003.Return_Stmt,
    Fortran2003.Stop_Stmt,
    Fortran2003.Goto_Stmt,
    Fortran2003.Format_Stmt,
)
"""Statements that are not counted: input, output and storage cost the processor nothing here."""


class Piece(Struct, frozen=True):
    """Statements that run equally often: what they do once, by line of the text and operation class."""

    does: Mapping[int, Mapping[str, int]]

    @property
    def operations(self) -> "Counter[str]":
        """What they do together."""
        total: Counter[str] = Counter()
        for each in self.does.values():
            total.update(each)
        return total


class Instrumented(Struct, frozen=True, kw_only=True):
    """A text with counters, and what each of them counts."""

    text: str
    pieces: tuple[Piece, ...]


class Compiler(Struct, frozen=True, kw_only=True):
    """What the compiler of the simulated machine does (docs/machines.md)."""

    invariant: bool = True
    strength: bool = False


def instrumented(
    text: str,
    compiler: Compiler,
    file: str = "program",
    only: Collection[str] | None = None,
    helpers: Collection[str] = (),
) -> Instrumented:
    """Put counters into a text in free form.

    Args:
        text: of whole program units, one statement on a line.
        compiler: what it does with loops.
        file: its name, for messages.
        only: the procedures that are counted besides the main program; None: all.
        helpers: variables that only emission needs; what is done to them is not counted.

    Raises:
        PredictionError: a statement cannot be counted.
    """
    writer = _Writer(text, compiler, file, only)
    writer.helpers = frozenset(each.lower() for each in helpers)
    writer.file()
    return Instrumented(
        text=writer.text(), pieces=tuple(Piece({at: dict(does) for at, does in each.items()}) for each in writer.pieces)
    )


class _Writer:
    """Goes through a text, and notes which lines it gets more."""

    def __init__(self, text: str, compiler: Compiler, file: str, only: Collection[str] | None) -> None:
        self.lines = text.splitlines()
        # In a node program, a statement of the source is quoted before what became of it.
        self.quoted = frozenset(at for at, line in enumerate(self.lines, start=2) if _QUOTE.match(line))
        self.compiler = compiler
        self.name = file
        self.only = None if only is None else frozenset(each.lower() for each in only)
        self.helpers: frozenset[str] = frozenset()
        self.pieces: list[Tally] = []
        self.before: dict[int, list[str]] = {}
        self.after: dict[int, list[str]] = {}
        self.instead: dict[int, list[str]] = {}
        """Of a line, and of the last line of what it begins: nothing."""
        try:
            self.tree = tree_of(text)
        except ValueError as problem:
            raise PredictionError(f"{file}: {problem}.") from None

        heads = walk(self.tree, (Fortran2003.Subroutine_Stmt, Fortran2003.Function_Stmt))
        self.own = frozenset(name_of_unit(each) for each in heads)

    def file(self) -> None:
        """All program units."""
        functions = functions_of(self.tree)
        for unit in self.tree.content:
            if isinstance(
                unit,
                Fortran2003.Main_Program
                | Fortran2003.Subroutine_Subprogram
                | Fortran2003.Function_Subprogram
                | Fortran2003.Module,
            ):
                self._unit(unit, scope_of(unit, functions), outside=True)

    def text(self) -> str:
        """The lines with what they got."""
        found: list[str] = []
        for number, line in enumerate(self.lines, start=1):
            found += short(self.before.get(number, []))
            found += short(self.instead[number]) if number in self.instead else [line]
            found += short(self.after.get(number, []))
        return "\n".join(found) + "\n"

    # --- program units ------------------------------------------------------------------------------------------

    def _unit(self, unit: Base, scope: NameTable, *, outside: bool) -> None:
        head = unit.content[0]
        if not isinstance(unit, Fortran2003.Main_Program | Fortran2003.Module) and self._is_skipped(name_of_unit(head)):
            return
        if outside:
            self._add(self.after, last_of(head), f"use esp_simulation, only: {COUNTER}")
        for part in unit.content:
            if isinstance(part, Fortran2003.Execution_Part):
                self.block(part.content, scope)
            elif isinstance(part, Fortran2003.Internal_Subprogram_Part | Fortran2003.Module_Subprogram_Part):
                for inner in part.content:
                    if isinstance(inner, Fortran2003.Subroutine_Subprogram | Fortran2003.Function_Subprogram):
                        self._unit(inner, scope_of(inner, functions_of(self.tree), scope), outside=False)

    def _is_skipped(self, name: str) -> bool:
        """Whether a procedure is one of those that are not counted."""
        return self.only is not None and name.lower() in self.own - self.only

    # --- statements ---------------------------------------------------------------------------------------------

    def block(self, nodes: Sequence[Base], scope: NameTable, around: str = "") -> None:
        """Statements one after the other."""
        pending: Tally = {}
        place: int | None = None
        for node in nodes:
            at = begin_of(node)
            if at is None:
                continue
            if is_runtime_call(node):  # what comes after a message is not counted before it
                self._piece(place, pending)
                pending, place = {}, None
                continue
            if place is None or has_label(node):
                self._piece(place, pending)
                pending, place = {}, at
            self._check_own_line(node, at)
            if self._simple(node, scope, around, pending):
                continue
            self._compound(node, scope, around, pending)
            # The counter of what was done so far stands before what it belongs to; what follows may run more rarely.
            self._piece(place, pending)
            pending, place = {}, None
        self._piece(place, pending)

    def _simple(self, node: Base, scope: NameTable, around: str, pending: Tally) -> bool:
        """Count a statement that is done as often as the one before; False: it is none."""
        match node:
            case Fortran2003.Assignment_Stmt() if is_helping(node, self.helpers):
                pass
            case Fortran2003.Assignment_Stmt() if isinstance(node.items[0], Fortran2003.Name) and scope.is_array(
                node.items[0]
            ):
                self._whole(node, scope, pending)
            case Fortran2003.Assignment_Stmt():
                target, _, value = node.items
                self._check_scalar(node, scope)
                counter = self._operations(scope, around=around)
                counter.assign(target, value, 0)
                enter(pending, node, counter.levels[0])
            case Fortran2003.Call_Stmt() if is_runtime_call(node) or self._is_skipped(str(node.items[0])):
                pass
            case Fortran2003.Call_Stmt():
                counter = self._operations(scope, around=around)
                counter.levels[0]["call"] += 1
                if str(node.items[0]).lower() not in _CLOCKS and node.items[1] is not None:
                    for each in arguments_of(node.items[1]):
                        if not isinstance(each, Fortran2003.Name) and not scope.is_array(each):
                            counter.expression(each, 0)
                enter(pending, node, counter.levels[0])
            case _ if isinstance(node, _SILENT):
                pass
            case _:
                return False
        return True

    def _whole(self, node: Base, scope: NameTable, pending: Tally) -> None:
        """The assignment of a scalar, or of arrays of one shape, to a whole array: a loop over its elements."""
        target, _, value = node.items
        if walk(node, Fortran2003.Subscript_Triplet) or walk(value, Fortran2003.Intrinsic_Function_Reference):
            raise self._refused(node, "this assignment of arrays is not counted; write a loop")
        counter = self._operations(scope, ("",))
        counter.assign(target, value, 1)
        does: Tally = {}
        enter(pending, node, counter.levels[0] + Counter({"loop.setup": 1}))
        enter(does, node, counter.levels[1] + Counter({"loop.iteration": 1}))
        self._add(self.before, begin_of(node), self._counter(does, f"size({target}, kind=8)"))

    def _compound(self, node: Base, scope: NameTable, around: str, pending: Tally) -> None:
        """Count a statement with others inside. What it does once joins `pending`."""
        if is_idle(node, self.helpers):
            return
        match node:
            case Fortran2003.If_Stmt() if keeps_better(node):
                counter = self._operations(scope, around=around)
                keep_better(counter, node, 0)
                enter(pending, node, counter.levels[0])
            case Fortran2003.If_Stmt():
                self._if_statement(node, scope, around, pending)
            case Fortran2003.If_Construct():
                self._branches(node, scope, around, pending)
            case Fortran2003.Case_Construct():
                self._cases(node, scope, around, pending)
            case _ if isinstance(node, LOOPS):
                self._loop(node, scope, pending)
            case _:
                raise self._refused(node, f"{type(node).__name__.removesuffix('_Stmt').lower()} is not counted")

    def _if_statement(self, node: Base, scope: NameTable, around: str, pending: Tally) -> None:
        condition, action = node.items
        enter(pending, node, self._condition(condition, scope, around))
        does: Tally = {}
        action.item = node.item
        if not self._simple(action, scope, around, does):
            raise self._refused(node, "this statement behind IF is not counted")
        if does:
            self._opened(node, does)

    def _opened(self, node: Fortran2003.If_Stmt, does: Tally) -> None:
        """Write an IF statement as a construct, with a counter inside."""
        condition, action = node.items
        begin, end = node.item.span
        label = f"{node.item.label} " if node.item.label else ""
        for number in range(begin, end + 1):
            self.instead[number] = []
        self.instead[begin] = [f"{label}if ({condition}) then", self._counter(does), str(action), "end if"]

    def _branches(self, node: Base, scope: NameTable, around: str, pending: Tally) -> None:
        tested: Tally = {}
        parts = parts_of(node, (Fortran2003.If_Then_Stmt, Fortran2003.Else_If_Stmt, Fortran2003.Else_Stmt))
        for number, (head, inside) in enumerate(parts):
            if isinstance(head, Fortran2003.If_Then_Stmt):
                enter(pending, head, self._condition(head.items[0], scope, around))
            elif isinstance(head, Fortran2003.Else_If_Stmt):
                enter(tested, head, self._condition(head.items[0], scope, around))
            self._branch(head, inside, scope, around, tested)
            if number == len(parts) - 1 and tested and not isinstance(head, Fortran2003.Else_Stmt):
                self._add(self.before, begin_of(node.content[-1]), "else", self._counter(tested))

    def _branch(self, head: Base, inside: Sequence[Base], scope: NameTable, around: str, tested: Tally) -> None:
        """A branch; `tested`: the conditions that were false before it."""
        if tested:
            self._add(self.after, last_of(head), self._counter({at: Counter(does) for at, does in tested.items()}))
        self.block(inside, scope, around)

    def _cases(self, node: Base, scope: NameTable, around: str, pending: Tally) -> None:
        counter = self._operations(scope, around=around)
        counter.expression(node.content[0].items[0], 0)
        enter(pending, node.content[0], counter.levels[0])
        tested: Tally = {}
        for head, inside in parts_of(node, (Fortran2003.Case_Stmt,)):
            enter(tested, head, Counter({"int.cmp": 1}))
            self._branch(head, inside, scope, around, tested)

    def _condition(self, condition: Base, scope: NameTable, around: str) -> "Counter[str]":
        if asks_library(condition):
            tests = sum(str(each.items[0]).lower() == "esp_mine" for each in walk(condition, Fortran2003.Part_Ref))
            return Counter({"guard": max(1, tests)})
        counter = self._operations(scope, around=around)
        counter.expression(condition, 0)
        return counter.levels[0]

    # --- loops --------------------------------------------------------------------------------------------------

    def _loop(self, node: Base, scope: NameTable, pending: Tally) -> None:
        head = node.content[0]
        control = next(iter(walk(head, Fortran2003.Loop_Control)), None)
        if control is None:
            self._step(head, head)
            self.block(inside_of(node), scope)
        elif control.items[0] is not None:
            self._while(head, node, control.items[0], scope)
        elif control.items[1] is None:
            raise self._refused(node, "DO CONCURRENT is not counted")
        elif only_helps(node, self.helpers):
            pass
        elif (nest := nest_at(node, self.quoted)) is not None:
            enter(pending, head, Counter({"loop.setup": 1}))
            for loop, entry in nest.headers:
                enter(pending, loop, _bounds(loop, entry))
            self._nest(nest, scope, pending)
        else:
            entry, inside = entered(node)
            counter = self._operations(scope)
            counter.bounds(control.items[1][1], 0)
            enter(pending, head, counter.levels[0] + Counter({"loop.setup": 1}) + _bounds(head, entry))
            self._step(head, entry)
            self.block(inside, scope, index_of(node))

    def _step(self, head: Base, entry: Base) -> None:
        """What each iteration costs by itself."""
        self._add(self.after, last_of(entry), self._counter({last_of(head): Counter({"loop.iteration": 1})}))

    def _while(self, head: Base, node: Base, condition: Base, scope: NameTable) -> None:
        begin, end = head.item.span
        for number in range(begin, end + 1):
            self.instead[number] = []
        name = f"{head.item.name}: " if getattr(head.item, "name", None) else ""
        label = f"{head.items[1]} " if isinstance(head, Fortran2003.Label_Do_Stmt) else ""
        tests: Tally = {}
        enter(tests, head, self._condition(condition, scope, ""))
        self.instead[begin] = [
            f"{name}do {label}".rstrip(),
            *([self._counter(tests)] if tests else []),
            f"if (.not. ({condition})) exit",
        ]
        self.block(inside_of(node), scope)

    def _nest(self, nest: "LoopNest", scope: NameTable, pending: Tally) -> None:
        """A nest: what does not depend on the inner loops is done before them, where the compiler does so."""
        depth = len(nest.loops)
        counter = self._operations(scope, nest.loops, nest.assigned)
        does: list[Tally] = [{} for _ in range(depth + 1)]
        for around, (loop, _) in enumerate(nest.headers):
            counter.bounds(walk(loop, Fortran2003.Loop_Control)[0].items[1][1], around)
        for level, each in enumerate(counter.levels):
            enter(does[level], nest.headers[0][0], each)
        branches = count_steps(
            nest, counter, does, self.helpers, lambda each, level: self._step_of(counter, each, level, scope)
        )
        for at, each in does[0].items():
            pending.setdefault(at, Counter()).update(each)
        for level, (loop, entry) in enumerate(nest.headers, start=1):
            enter(does[level], loop, Counter({"loop.iteration": 1}))
            if level < depth:
                enter(does[level], nest.headers[level][0], Counter({"loop.setup": 1}))
            self._add(self.after, last_of(entry), self._counter(does[level]))
        for branch, tally in branches:
            self._taken(branch, tally)

    def _step_of(self, counter: Operations, statement: Base, level: int, scope: NameTable) -> None:
        """Count a statement of a nest at its level."""
        if keeps_better(statement):
            keep_better(counter, statement, level)
            return
        target, _, value = statement.items
        self._check_scalar(statement, scope)
        counter.assign(target, value, level)

    def _taken(self, branch: NestBranch, does: Tally) -> None:
        """Count what is done where a branch is taken, or behind the last one."""
        if does and branch.head is None:
            self._opened(branch.node, does)
        elif does and branch.number < 0:
            self._add(self.before, begin_of(branch.node.content[-1]), "else", self._counter(does))
        elif does:
            self._add(self.after, last_of(branch.head), self._counter(does))

    def _operations(
        self, scope: NameTable, loops: Sequence[str] = (), assigned: Mapping[str, int] | None = None, around: str = ""
    ) -> Operations:
        compiler = self.compiler
        return Operations(
            scope, loops, assigned, around=around, invariant=compiler.invariant, strength=compiler.strength
        )

    # --- the text -----------------------------------------------------------------------------------------------

    def _piece(self, line: int | None, does: Tally) -> None:
        if line is not None and does:
            self._add(self.before, line, self._counter(does))

    def _counter(self, does: Tally, times: str = "1") -> str:
        self.pieces.append(does)
        number = len(self.pieces)
        return f"{COUNTER}({number}) = {COUNTER}({number}) + {times}"

    def _add(self, where: dict[int, list[str]], line: int | None, *lines: str) -> None:
        assert line is not None
        where.setdefault(line, []).extend(lines)

    def _check_scalar(self, node: Base, scope: NameTable) -> None:
        names = [each for each in walk(node, Fortran2003.Name) if (found := scope.entity(str(each))) and found.rank]
        inside = {id(each.items[0]) for each in walk(node, Fortran2003.Part_Ref)}
        if any(id(each) not in inside for each in names) or walk(node, Fortran2003.Subscript_Triplet):
            raise self._refused(node, "an assignment of arrays is not counted; write a loop")

    def _check_own_line(self, node: Base, at: int) -> None:
        if ";" in self.lines[at - 1].split("!")[0].replace("';'", "").replace('";"', ""):
            raise self._refused(node, "several statements on a line are not counted")

    def _refused(self, node: Base, why: str) -> PredictionError:
        at = begin_of(node)
        return PredictionError(f"{why}.", where=f"{self.name}:{at}", why=self.lines[at - 1].strip() if at else "")


def _bounds(head: Base, entry: Base) -> "Counter[str]":
    """Finding the own part of a loop, where the loop is restricted to that."""
    return Counter({BOUND: 1}) if is_own_bound(head) or entry is not head else Counter()
