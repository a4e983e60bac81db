"""Counters in the text of a Fortran program."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from fparser.common.readfortran import FortranStringReader
from fparser.two import Fortran2003
from fparser.two.parser import ParserFactory
from fparser.two.utils import Base, FortranSyntaxError, walk
from msgspec import Struct

from esp.errors import PredictionError
from esp.simulate.operations import Operations, is_own_bound
from esp.simulate.scope import Scope, functions_of, scope_of

COUNTER = "esp_often"
RUNTIME = "esp_"
"""What names of the run-time library begin with: it counts by itself."""

BOUND = "bound"
"""Not an operation of the processor, but the few that find the local bounds of a loop (docs/definitions.md)."""
_QUOTE = re.compile(r"\s*! {1,4}\d+  ")
_PLACE = re.compile(r"at_\d+")

_DO = (Fortran2003.Block_Nonlabel_Do_Construct, Fortran2003.Block_Label_Do_Construct)
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


Tally = dict[int, Counter[str]]
"""Operations by the line of the text where they stand."""


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
    text: str, compiler: Compiler, file: str = "program", only: Collection[str] | None = None
) -> Instrumented:
    """Put counters into a text in free form.

    Args:
        text: of whole program units, one statement on a line.
        compiler: what it does with loops.
        file: its name, for messages.
        only: the procedures that are counted besides the main program; None: all.

    Raises:
        PredictionError: a statement cannot be counted.
    """
    writer = _Writer(text, compiler, file, only)
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
        self.pieces: list[Tally] = []
        self.before: dict[int, list[str]] = {}
        self.after: dict[int, list[str]] = {}
        self.instead: dict[int, list[str]] = {}
        """Of a line, and of the last line of what it begins: nothing."""
        try:
            self.tree = ParserFactory().create(std="f2008")(FortranStringReader(text, ignore_comments=True))
        except FortranSyntaxError as problem:
            raise PredictionError(f"{file}: not Fortran in free form.", why=str(problem)) from None

        heads = walk(self.tree, (Fortran2003.Subroutine_Stmt, Fortran2003.Function_Stmt))
        self.own = frozenset(_name_of(each) for each in heads)

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
            found += self.before.get(number, [])
            found += self.instead.get(number, [line])
            found += self.after.get(number, [])
        return "\n".join(found) + "\n"

    # --- program units ------------------------------------------------------------------------------------------

    def _unit(self, unit: Base, scope: Scope, *, outside: bool) -> None:
        head = unit.content[0]
        if not isinstance(unit, Fortran2003.Main_Program | Fortran2003.Module) and self._is_skipped(_name_of(head)):
            return
        if outside:
            self._add(self.after, _last(head), f"use esp_simulation, only: {COUNTER}")
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

    def block(self, nodes: Sequence[Base], scope: Scope, around: str = "") -> None:
        """Statements one after the other."""
        pending: Tally = {}
        place: int | None = None
        for node in nodes:
            at = _begin(node)
            if at is None:
                continue
            if _is_runtime_call(node):  # what comes after a message is not counted before it
                self._piece(place, pending)
                pending, place = {}, None
                continue
            if place is None or _label(node):
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

    def _simple(self, node: Base, scope: Scope, around: str, pending: Tally) -> bool:
        """Count a statement that is done as often as the one before; False: it is none."""
        match node:
            case Fortran2003.Assignment_Stmt() if _counts_elements(node):
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
                _enter(pending, node, counter.levels[0])
            case Fortran2003.Call_Stmt() if _is_runtime_call(node) or self._is_skipped(str(node.items[0])):
                pass
            case Fortran2003.Call_Stmt():
                counter = self._operations(scope, around=around)
                counter.levels[0]["call"] += 1
                if str(node.items[0]).lower() not in _CLOCKS and node.items[1] is not None:
                    for each in _arguments(node.items[1]):
                        if not isinstance(each, Fortran2003.Name) and not scope.is_array(each):
                            counter.expression(each, 0)
                _enter(pending, node, counter.levels[0])
            case _ if isinstance(node, _SILENT):
                pass
            case _:
                return False
        return True

    def _whole(self, node: Base, scope: Scope, pending: Tally) -> None:
        """The assignment of a scalar, or of arrays of one shape, to a whole array: a loop over its elements."""
        target, _, value = node.items
        if walk(node, Fortran2003.Subscript_Triplet) or walk(value, Fortran2003.Intrinsic_Function_Reference):
            raise self._refused(node, "this assignment of arrays is not counted; write a loop")
        counter = self._operations(scope, ("",))
        counter.assign(target, value, 1)
        does: Tally = {}
        _enter(pending, node, counter.levels[0] + Counter({"loop.setup": 1}))
        _enter(does, node, counter.levels[1] + Counter({"loop.iteration": 1}))
        self._add(self.before, _begin(node), self._counter(does, f"size({target}, kind=8)"))

    def _compound(self, node: Base, scope: Scope, around: str, pending: Tally) -> None:
        """Count a statement with others inside. What it does once joins `pending`."""
        match node:
            case Fortran2003.If_Stmt():
                self._if_statement(node, scope, around, pending)
            case Fortran2003.If_Construct():
                self._branches(node, scope, around, pending)
            case Fortran2003.Case_Construct():
                self._cases(node, scope, around, pending)
            case _ if isinstance(node, _DO):
                self._loop(node, scope, pending)
            case _:
                raise self._refused(node, f"{type(node).__name__.removesuffix('_Stmt').lower()} is not counted")

    def _if_statement(self, node: Base, scope: Scope, around: str, pending: Tally) -> None:
        condition, action = node.items
        _enter(pending, node, self._condition(condition, scope, around))
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

    def _branches(self, node: Base, scope: Scope, around: str, pending: Tally) -> None:
        tested: Tally = {}
        parts = _parts(node, (Fortran2003.If_Then_Stmt, Fortran2003.Else_If_Stmt, Fortran2003.Else_Stmt))
        for number, (head, inside) in enumerate(parts):
            if isinstance(head, Fortran2003.If_Then_Stmt):
                _enter(pending, head, self._condition(head.items[0], scope, around))
            elif isinstance(head, Fortran2003.Else_If_Stmt):
                _enter(tested, head, self._condition(head.items[0], scope, around))
            self._branch(head, inside, scope, around, tested)
            if number == len(parts) - 1 and tested and not isinstance(head, Fortran2003.Else_Stmt):
                self._add(self.before, _begin(node.content[-1]), "else", self._counter(tested))

    def _branch(self, head: Base, inside: Sequence[Base], scope: Scope, around: str, tested: Tally) -> None:
        """A branch; `tested`: the conditions that were false before it."""
        if tested:
            self._add(self.after, _last(head), self._counter({at: Counter(does) for at, does in tested.items()}))
        self.block(inside, scope, around)

    def _cases(self, node: Base, scope: Scope, around: str, pending: Tally) -> None:
        counter = self._operations(scope, around=around)
        counter.expression(node.content[0].items[0], 0)
        _enter(pending, node.content[0], counter.levels[0])
        tested: Tally = {}
        for head, inside in _parts(node, (Fortran2003.Case_Stmt,)):
            _enter(tested, head, Counter({"int.cmp": 1}))
            self._branch(head, inside, scope, around, tested)

    def _condition(self, condition: Base, scope: Scope, around: str) -> "Counter[str]":
        if _asks_library(condition):
            return Counter({"guard": 1})
        counter = self._operations(scope, around=around)
        counter.expression(condition, 0)
        return counter.levels[0]

    # --- loops --------------------------------------------------------------------------------------------------

    def _loop(self, node: Base, scope: Scope, pending: Tally) -> None:
        head = node.content[0]
        control = next(iter(walk(head, Fortran2003.Loop_Control)), None)
        if control is None:
            self._step(head, head)
            self.block(_inside(node), scope)
        elif control.items[0] is not None:
            self._while(head, node, control.items[0], scope)
        elif control.items[1] is None:
            raise self._refused(node, "DO CONCURRENT is not counted")
        elif all(_counts_elements(each) for each in _inside(node)):
            pass
        elif (nest := _nest(node, self.quoted)) is not None:
            _enter(pending, head, Counter({"loop.setup": 1}))
            for loop, entry in nest.headers:
                _enter(pending, loop, _bounds(loop, entry))
            self._nest(nest, scope, pending)
        else:
            entry, inside = _entered(node)
            counter = self._operations(scope)
            counter.bounds(control.items[1][1], 0)
            _enter(pending, head, counter.levels[0] + Counter({"loop.setup": 1}) + _bounds(head, entry))
            self._step(head, entry)
            self.block(inside, scope, _index_of(node))

    def _step(self, head: Base, entry: Base) -> None:
        """What each iteration costs by itself."""
        self._add(self.after, _last(entry), self._counter({_last(head): Counter({"loop.iteration": 1})}))

    def _while(self, head: Base, node: Base, condition: Base, scope: Scope) -> None:
        begin, end = head.item.span
        for number in range(begin, end + 1):
            self.instead[number] = []
        name = f"{head.item.name}: " if getattr(head.item, "name", None) else ""
        label = f"{head.items[1]} " if isinstance(head, Fortran2003.Label_Do_Stmt) else ""
        tests: Tally = {}
        _enter(tests, head, self._condition(condition, scope, ""))
        self.instead[begin] = [
            f"{name}do {label}".rstrip(),
            *([self._counter(tests)] if tests else []),
            f"if (.not. ({condition})) exit",
        ]
        self.block(_inside(node), scope)

    def _nest(self, nest: "_Nest", scope: Scope, pending: Tally) -> None:
        """A nest: what does not depend on the inner loops is done before them, where the compiler does so."""
        depth = len(nest.loops)
        counter = self._operations(scope, nest.loops, nest.assigned)
        does: list[Tally] = [{} for _ in range(depth + 1)]
        masked: Tally = {}
        for around, (loop, _) in enumerate(nest.headers):
            counter.bounds(walk(loop, Fortran2003.Loop_Control)[0].items[1][1], around)
        for level, each in enumerate(counter.levels):
            _enter(does[level], nest.headers[0][0], each)
        if nest.condition is not None:
            former = [Counter(each) for each in counter.levels]
            counter.expression(nest.condition, depth)
            for level, (before, after) in enumerate(zip(former, counter.levels, strict=True)):
                _enter(does[level], nest.mask, after - before)
        for level, statement in nest.statements:
            if _counts_elements(statement):
                continue
            target, _, value = statement.items
            self._check_scalar(statement, scope)
            former = [Counter(each) for each in counter.levels]
            counter.assign(target, value, level)
            for at, (before, after) in enumerate(zip(former, counter.levels, strict=True)):
                inside = at == depth and nest.condition is not None
                _enter(masked if inside else does[at], statement, after - before)
        for at, each in does[0].items():
            pending.setdefault(at, Counter()).update(each)
        for level, (loop, entry) in enumerate(nest.headers, start=1):
            _enter(does[level], loop, Counter({"loop.iteration": 1}))
            if level < depth:
                _enter(does[level], nest.headers[level][0], Counter({"loop.setup": 1}))
            self._add(self.after, _last(entry), self._counter(does[level]))
        if masked and isinstance(nest.mask, Fortran2003.If_Stmt):
            self._opened(nest.mask, masked)
        elif masked:
            self._add(self.after, _last(nest.mask.content[0]), self._counter(masked))

    def _operations(
        self, scope: Scope, loops: Sequence[str] = (), assigned: Mapping[str, int] | None = None, around: str = ""
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

    def _check_scalar(self, node: Base, scope: Scope) -> None:
        names = [each for each in walk(node, Fortran2003.Name) if (found := scope.entity(str(each))) and found.rank]
        inside = {id(each.items[0]) for each in walk(node, Fortran2003.Part_Ref)}
        if any(id(each) not in inside for each in names) or walk(node, Fortran2003.Subscript_Triplet):
            raise self._refused(node, "an assignment of arrays is not counted; write a loop")

    def _check_own_line(self, node: Base, at: int) -> None:
        if ";" in self.lines[at - 1].split("!")[0].replace("';'", "").replace('";"', ""):
            raise self._refused(node, "several statements on a line are not counted")

    def _refused(self, node: Base, why: str) -> PredictionError:
        at = _begin(node)
        return PredictionError(f"{why}.", where=f"{self.name}:{at}", why=self.lines[at - 1].strip() if at else "")


def _enter(tally: Tally, node: Base, does: "Counter[str]") -> None:
    """Add what a statement does."""
    at = _begin(node)
    if does and at is not None:
        tally.setdefault(at, Counter()).update(does)


class _Nest(Struct, frozen=True, kw_only=True):
    """Loops directly inside each other, with assignments; a condition around those of the innermost."""

    loops: tuple[str, ...]
    headers: tuple[tuple[Any, Any], ...]
    """The DO statement, and the statement behind which an iteration begins."""
    statements: tuple[tuple[int, Any], ...]
    """Level and assignment."""
    assigned: Mapping[str, int]
    mask: Any = None

    @property
    def condition(self) -> Any:
        """The condition of the mask."""
        if self.mask is None:
            return None
        return self.mask.items[0] if isinstance(self.mask, Fortran2003.If_Stmt) else self.mask.content[0].items[0]


def _nest(node: Base, apart: Collection[int]) -> _Nest | None:
    """The nest that begins with a DO construct, if it is one. `apart`: lines with statements of their own, which are in
    no nest with what is around them."""
    loops, headers, statements = [], [], []
    mask = None
    level = 0
    at: Base | None = node
    while at is not None:
        index = _index_of(at)
        if not index:
            return None
        level += 1
        entry, inside = _entered(at)
        loops.append(index)
        headers.append((at.content[0], entry))
        inner = [each for each in inside if isinstance(each, _DO)]
        others = [each for each in inside if not isinstance(each, _DO)]
        if len(inner) > 1 or any(_label(each) for each in others):
            return None
        if any(_begin(each) in apart for each in inside):
            return None
        if not inner and len(others) == 1 and (assigned := _masked(others[0])) is not None:
            mask = others[0]
            if _asks_library(mask):
                return None
            statements += [(level, each) for each in assigned]
            break
        if any(not isinstance(each, Fortran2003.Assignment_Stmt) for each in others):
            return None
        statements += [(level, each) for each in others]
        at = inner[0] if inner else None
    targets = {
        str(each.items[0]).lower(): number for number, each in statements if isinstance(each.items[0], Fortran2003.Name)
    }
    return _Nest(loops=tuple(loops), headers=tuple(headers), statements=tuple(statements), assigned=targets, mask=mask)


def _masked(node: Base) -> list[Base] | None:
    """The assignments under a condition without ELSE."""
    if isinstance(node, Fortran2003.If_Stmt):
        return [node.items[1]] if isinstance(node.items[1], Fortran2003.Assignment_Stmt) else None
    if not isinstance(node, Fortran2003.If_Construct):
        return None
    parts = _parts(node, (Fortran2003.If_Then_Stmt, Fortran2003.Else_If_Stmt, Fortran2003.Else_Stmt))
    inside = parts[0][1]
    return (
        list(inside)
        if len(parts) == 1 and all(isinstance(each, Fortran2003.Assignment_Stmt) for each in inside)
        else None
    )


def _asks_library(node: Base) -> bool:
    """Whether functions of the run-time library decide."""
    return any(str(each).lower().startswith(RUNTIME) for each in walk(node, Fortran2003.Name))


def _counts_elements(node: Base) -> bool:
    """Whether a statement of a node program only says how many elements a temporary has so far."""
    return isinstance(node, Fortran2003.Assignment_Stmt) and _PLACE.fullmatch(str(node.items[0]).lower()) is not None


def _bounds(head: Base, entry: Base) -> "Counter[str]":
    """Finding the own part of a loop, where the loop is restricted to that."""
    return Counter({BOUND: 1}) if is_own_bound(head) or entry is not head else Counter()


def _index_of(node: Base) -> str:
    """The index of a DO construct; empty: it has none."""
    control = next(iter(walk(node.content[0], Fortran2003.Loop_Control)), None)
    return "" if control is None or control.items[1] is None else str(control.items[1][0]).lower()


def _entered(node: Base) -> tuple[Base, list[Base]]:
    """The statement behind which an iteration of a loop begins, and its statements. A loop that asks the run-time
    library whether an iteration is its own is a loop over its own iterations."""
    inside = [each for each in _inside(node) if not isinstance(each, Fortran2003.Continue_Stmt)]
    if len(inside) == 1 and isinstance(inside[0], Fortran2003.If_Construct):
        parts = _parts(inside[0], (Fortran2003.If_Then_Stmt, Fortran2003.Else_If_Stmt, Fortran2003.Else_Stmt))
        if len(parts) == 1 and _asks_library(parts[0][0]):
            return parts[0]
    return node.content[0], inside


def _is_runtime_call(node: Base) -> bool:
    return isinstance(node, Fortran2003.Call_Stmt) and str(node.items[0]).lower().startswith((RUNTIME, "mpi_"))


def _inside(node: Base) -> list[Base]:
    """The statements of a DO construct; a CONTINUE that ends it is one of them."""
    return [each for each in node.content[1:] if not isinstance(each, Fortran2003.End_Do_Stmt)]


def _parts(node: Base, heads: tuple[type, ...]) -> list[tuple[Base, list[Base]]]:
    """The branches of a construct: what begins each, and its statements."""
    found: list[tuple[Base, list[Base]]] = []
    for each in node.content[:-1]:
        if isinstance(each, heads):
            found.append((each, []))
        elif found:
            found[-1][1].append(each)
    return found


def _arguments(node: Base) -> Iterable[Base]:
    return (each.items[1] if isinstance(each, Fortran2003.Actual_Arg_Spec) else each for each in node.items)


def _begin(node: Base) -> int | None:
    """The line where a statement or a construct begins."""
    item = getattr(node, "item", None)
    if item is not None:
        return int(item.span[0])
    content = getattr(node, "content", None)
    return _begin(content[0]) if content else None


def _last(node: Base) -> int:
    """The last line of a statement."""
    return int(node.item.span[1])


def _label(node: Base) -> bool:
    item = getattr(node, "item", None)
    return bool(item is not None and item.label)


def _name_of(head: Base) -> str:
    return next((str(each).lower() for each in head.items if isinstance(each, Fortran2003.Name)), "")
