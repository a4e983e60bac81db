"""A slice of a unit as the text of a Python function ``run(meter, watch)``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from aag.functional.declaring import Declaring, storages
from aag.functional.functions import Functions
from aag.functional.lines import Lines
from aag.functional.looking import look
from aag.functional.nests import nested, planned, step_of
from aag.functional.slicing import Slice
from aag.functional.tables import NotComputable, WantedValues
from aag.functional.terms import array, cost_of, dtype, memory, variable
from aag.functional.vectors import FEWEST, Vectors, watch_mask
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.cases import in_turn
from aag.ir.control import control_of
from aag.ir.directives import Bound
from aag.ir.evaluate import Unknown, Value
from aag.ir.linear import linear
from aag.ir.spelling import spell
from aag.ir.statements import is_block
from aag.ir.units import Unit
from aag.ir.visitors import bodies, names_in, own_expressions, walk_statements

SHORT = 8
"""Operations up to which a scalar statement counts once."""
SEED_SIZE = 8
"""What RANDOM_SEED(SIZE=) answers: the integers of the seed of gfortran 12."""


class CountedLoop(Struct, frozen=True):
    """A loop whose iterations are wanted: the variable of the text that counts them, and by name those of the reals in
    the conditions that end it."""

    line: int
    count: str
    decides: Mapping[str, str]


class Written(Struct, frozen=True):
    """A function as text, for each of its lines the line of the program, and its loops that are counted."""

    text: str
    source: tuple[int, ...]
    counted: tuple[CountedLoop, ...] = ()


class _Loop(Struct, frozen=True, eq=False):
    """A loop around: its number in the text, and what records its trip count when it is left for good."""

    statement: s.Do | s.DoWhile
    number: int
    record: str = ""


def written(unit: Unit, part: Slice, wanted: WantedValues, constants: Mapping[str, Value]) -> Written:
    """The text of a slice.

    Args:
        unit: A program unit.
        part: What is kept of it.
        wanted: What is recorded.
        constants: Values of named constants, and of names that are given.
    """
    return _Writer(unit, part, wanted, constants).function()


class _Writer:
    """The growing text."""

    def __init__(self, unit: Unit, part: Slice, wanted: WantedValues, constants: Mapping[str, Value]) -> None:
        self._unit, self._part, self._wanted = unit, part, wanted
        self._entities = {each.name: each for each in unit.entities}
        self._lines = Lines()
        self._terms = Functions(unit, constants, storages(unit, part, constants))
        self._declaring = Declaring(unit, part, self._terms, self._lines)
        self._vectors = Vectors(self._lines, self._terms, part, wanted.branches)
        self._loops: list[_Loop] = []
        self._counted: list[CountedLoop] = []
        self._passed = False
        """Whether a statement left more than the innermost loop."""

    def function(self) -> Written:
        lines = self._lines
        with lines.block("try"):
            lines.add("n_ = x_ = o_ = 0", "most_ = meter.steps_left")
            self._declaring.all()
            self._body(self._unit.body)
        with lines.block("finally"):
            lines.add("meter.operations += SCALAR_STEP * n_")
        text = "def run(meter, watch):\n" + "\n".join(lines.text) + "\n"
        return Written(text, (0, *lines.source), tuple(self._counted))

    # --- statements ---

    def _body(self, body: Iterable[s.Stmt]) -> None:
        for each in body:
            if not self._part.keeps(each):
                continue
            self._lines.at = each.span.line
            self._declaring.before(each)
            look(each, self._part, self._terms, self._lines)
            if id(each) in self._part.kept:
                with self._lines.guarded(each.span.line):
                    self._statement(each)

    def _statement(self, statement: s.Stmt) -> None:
        match statement:
            case s.Assign():
                self._assign(statement)
            case s.Do():
                self._do(statement)
            case s.DoWhile():
                self._while(statement)
            case s.If(branches=branches):
                self._if(statement, branches)
            case s.SelectCase():
                self._select(statement)
            case s.Forall():
                self._forall(statement)
            case s.Where():
                self._where(statement, "")
            case s.Exit() | s.Cycle():
                self._leave(statement)
            case s.Stop() | s.Return():
                self._lines.add(f"o_ = {statement.span.line}")
                self._lines.add(*(each.record for each in self._loops if each.record), "raise Stopped")
            case s.Allocate(items=items, deallocate=deallocate):
                self._allocations(items, deallocate)
            case s.Io(kind="read", items=items):
                what = ", ".join(sorted(names_in(*items) & self._part.names - statement.known)) or "a status"
                raise NotComputable(f"{what} is read from {control_of(statement).source}")
            case s.Io():
                raise NotComputable(f"{', '.join(control_of(statement).sets)} is set by input or output")
            case s.CallStmt(name="random_seed", keywords=(("size", e.Var(name=name)),)):
                self._lines.add(f"{variable(name)} = {SEED_SIZE}")
            case s.CallStmt(name="random_seed", keywords=(("put", _),)):
                pass
            case s.CallStmt(name=name):
                raise NotComputable(f"{name} is not interpreted")
            case s.Opaque(reason=reason, text=text):
                raise NotComputable(reason or f"{text} is not interpreted")
            case s.Continue() | s.Enter() | s.Remap() | s.Restore():
                pass
            case _:
                raise NotComputable(f"{type(statement).__name__} is not followed")

    def _assign(self, statement: s.Assign) -> None:
        lines, terms, target = self._lines, self._terms, statement.target
        if not isinstance(target, e.Var | e.Element):
            raise NotComputable(f"an assignment to {spell(target)} is not followed")
        if target.name in terms.constants:
            return
        term = terms.term(statement.value)
        text = terms.converted(term, terms.type_of(target.name))
        if not terms.is_array(target):
            if term.many:
                raise NotComputable(f"an array is assigned to {target.name}")
            lines.add(f"{variable(target.name) if isinstance(target, e.Var) else terms.place(target)} = {text}")
            return
        held = lines.fresh("t")
        lines.add(f"{held} = {text}")
        name = array(target.name)
        if isinstance(target, e.Var):
            storage = terms.arrays[target.name]
            if term.many and "allocatable" in self._entities[target.name].attributes:
                with lines.block(f"if {name} is None or {name}.shape != {held}.shape"):
                    lines.add(*(f"{each} = 1" for each in storage.lower))
                    lines.add(
                        f"{name} = meter.allocate([(1, n) for n in {held}.shape], {dtype(storage.type)!r}, {name},"
                        f" {lines.at})",
                        f"{memory(target.name)} = memoryview({name})",
                    )
            lines.add(f"meter.spend({name}.size, {cost_of(statement.value) + 1}, {lines.at})", f"{name}[...] = {held}")
        else:
            place = terms.section(target, terms.arrays[target.name])
            lines.add(f"meter.spend(put({place}, {held}), {cost_of(statement.value) + 1}, {lines.at})")

    def _allocations(self, items: Iterable[e.Expr], deallocate: bool) -> None:
        for item in items:
            if not isinstance(item, e.Var | e.Element) or item.name not in self._terms.arrays:
                continue
            if deallocate or isinstance(item, e.Var):
                self._lines.add(f"{array(item.name)} = {memory(item.name)} = None")
                continue
            bounds = [
                Bound(lower=each.lower, upper=each.upper)
                if isinstance(each, e.Section)
                else Bound(lower=None, upper=each)
                for each in item.subscripts
            ]
            self._declaring.allocate(item.name, bounds)

    # --- flow ---

    def _count(self, loop: s.Do | s.DoWhile) -> None:
        """Count the statements of one iteration, long ones several times."""
        line = loop.span.line
        simple = [own_expressions(each) for each in loop.body if self._part.keeps(each) and not bodies(each)]
        tested = own_expressions(loop) if isinstance(loop, s.DoWhile) else ()
        self._lines.add(f"n_ += {sum(1 + cost_of(*each) // SHORT for each in (tested, *simple))}")
        with self._lines.block("if n_ > most_"):
            self._lines.add(f"meter.over({line})")

    def _do(self, statement: s.Do) -> None:
        lines, terms, line = self._lines, self._terms, statement.span.line
        if terms.type_of(statement.var).base != "integer":
            raise NotComputable(f"{statement.var} counts a loop and is no integer")
        first, last, step, count = (lines.fresh(letter) for letter in "flsk")
        lines.add(f"{first} = {self._terms.number(statement.lower)}", f"{last} = {self._terms.number(statement.upper)}")
        lines.add(f"{step} = {'1' if statement.step is None else self._terms.number(statement.step)}")
        lines.add(f"{count} = trips({first}, {last}, {step})")
        if line in self._wanted.loops and not is_block(statement):
            self._recorded(statement, first, step, count)
            return
        around = [each.statement for each in self._loops if isinstance(each.statement, s.Do)]
        plan = planned(statement, self._part, terms, around, self._declaring.born)
        mark = lines.mark()
        if plan is not None:
            try:
                many = f"if {count} >= {max(1, FEWEST // 3 if nested(statement) else FEWEST)}"
                with lines.block(many):
                    self._vectors.nest(statement, plan, first, count)
                lines.at = line
                with lines.block("else"):
                    self._each(statement, first, step, count)
                return
            except NotComputable:
                lines.cut(mark)
        lines.at = line
        self._each(statement, first, step, count)

    def _recorded(self, statement: s.Do, first: str, step: str, count: str) -> None:
        """A loop whose iterations are wanted."""
        done, ended = self._begin_count(statement)
        counts, record = (f"{done} += 1", f"{ended} = True"), _record(statement.span.line, done, "True", count)
        self._each(statement, first, step, count, counts, record)
        self._end_count(statement, done, ended, count)

    def _each(
        self, statement: s.Do, first: str, step: str, count: str, counts: tuple[str, ...] = (), record: str = ""
    ) -> None:
        """A loop, iteration by iteration. `counts`: what counts them, the first at the beginning of each and all of
        them when they are done."""
        lines, terms = self._lines, self._terms
        name = variable(statement.var)
        kept = terms.least.get(statement.var)
        least = self._least(statement)
        if least is not None:
            terms.least[statement.var] = least
        with lines.block(f"for {name} in range({first}, {first} + {count} * {step}, {step})"):
            lines.add(*counts[:1])
            self._inside(statement, record)
        terms.least.pop(statement.var, None)
        if kept is not None:
            terms.least[statement.var] = kept
        with lines.block("else"):
            lines.add(f"{name} = {first} + {count} * {step}", *counts)
        if not counts:
            self._behind()

    def _least(self, statement: s.Do) -> int | None:
        """A number that the loop variable is never below; None: none is known."""
        try:
            step = step_of(statement, self._terms.constants)
        except Unknown:
            return None
        form = linear(statement.lower if step > 0 else statement.upper, self._terms.constants)
        least = form.constant
        for atom, factor in form.terms.items():
            if factor < 0 or not isinstance(atom, e.Var) or atom.name not in self._terms.least:
                return None
            least += factor * self._terms.least[atom.name]
        return least

    def _inside(self, statement: s.Do | s.DoWhile, record: str = "") -> None:
        self._loops.append(_Loop(statement, int(self._lines.fresh("")), record))
        if isinstance(statement, s.Do):
            self._count(statement)
        self._body(statement.body)
        self._loops.pop()

    def _behind(self) -> None:
        """Go on leaving loops after an inner loop was left for more than itself."""
        if not self._passed:
            return
        if not self._loops:
            self._passed = False
            return
        number = self._loops[-1].number
        for test, leave in ((f"x_ == {number}", "break"), (f"x_ == -{number}", "continue")):
            with self._lines.block(f"if {test}"):
                self._lines.add("x_ = 0", leave)
        with self._lines.block("if x_"):
            self._lines.add("break")

    def _leave(self, statement: s.Exit | s.Cycle) -> None:
        if not self._loops:
            raise NotComputable("EXIT or CYCLE outside of a loop")
        word = "break" if isinstance(statement, s.Exit) else "continue"
        target = next((each for each in reversed(self._loops) if statement.name in ("", each.statement.name)), None)
        if target is None:
            raise NotComputable(f"there is no loop {statement.name}")
        if word == "break" or target is not self._loops[-1]:
            self._lines.add(f"o_ = {statement.span.line}")
        if target is self._loops[-1]:
            self._lines.add(word)
            return
        self._passed = True
        self._lines.add(f"x_ = {target.number if word == 'break' else -target.number}", "break")

    def _while(self, statement: s.DoWhile) -> None:
        lines, line = self._lines, statement.span.line
        count, ended = self._begin_count(statement)
        with lines.block("while True"):
            lines.add(f"{count} += 1")
            self._count(statement)
            if statement.condition is not None:
                with lines.block(f"if not {self._terms.term(statement.condition).text}"):
                    lines.add(f"{ended} = True", "break")
            self._inside(statement, _record(line, count, "True") if line in self._wanted.loops else "")
        self._end_count(statement, count, ended)

    def _begin_count(self, statement: s.Do | s.DoWhile) -> tuple[str, str]:
        """Count the iterations of a loop from here: variables with their number, and whether the last is complete."""
        count, ended = self._lines.fresh("w"), self._lines.fresh("e")
        self._lines.add(f"{count} = -1", f"{ended} = False")
        if statement.span.line in self._wanted.loops:
            decides = {each: variable(each) for each in self._watched(statement)}
            self._counted.append(CountedLoop(statement.span.line, count, decides))
        return count, ended

    def _end_count(self, statement: s.Do | s.DoWhile, count: str, ended: str, length: str = "-1") -> None:
        lines, line = self._lines, statement.span.line
        lines.at = line
        for name in self._watched(statement):
            lines.add(f"decided({name!r}, locals().get({variable(name)!r}, 0), {line})")
        if line in self._wanted.loops:
            lines.add(_record(line, count, f"not {ended}", length))
        self._behind()

    def _watched(self, statement: s.Do | s.DoWhile) -> list[str]:
        """Reals in the conditions that end a loop: no value at all would end it, or never end it."""
        ends = [statement.condition] if isinstance(statement, s.DoWhile) else [*_conditions_of_exits(statement)]
        return [
            name
            for name in sorted(names_in(*ends))
            if name not in self._terms.arrays
            and name not in self._terms.constants
            and self._terms.type_of(name).base == "real"
        ]

    def _if(self, statement: s.If, branches: Sequence[s.Branch]) -> None:
        tests = [None if each.condition is None else self._terms.term(each.condition).text for each in branches]
        self._choose(statement.span.line, tests, branches)

    def _select(self, statement: s.SelectCase) -> None:
        chosen = self._lines.fresh("q")
        self._lines.add(f"{chosen} = {self._terms.number(statement.selector)}")
        cases = in_turn(statement)
        self._choose(statement.span.line, [self._chosen(chosen, each) for each in cases], cases)

    def _chosen(self, chosen: str, case: s.Case) -> str | None:
        if case.values is None:
            return None
        return " or ".join([self._case(chosen, each) for each in case.values]) or "False"

    def _choose(self, line: int, tests: Sequence[str | None], branches: Sequence[s.Branch | s.Case]) -> None:
        """The first of some branches whose test holds; None: it always does."""
        lines, watched = self._lines, line in self._wanted.branches
        for at, (test, branch) in enumerate(zip(tests, branches, strict=True)):
            head = "else" if test is None and at else f"{'elif' if at else 'if'} {'True' if test is None else test}"
            lines.at = branch.span.line or line
            with lines.block(head):
                if watched:
                    lines.add(f"watch.branch({line}, {at}, 1)")
                self._body(branch.body)
        if watched and tests and tests[-1] is not None:
            with lines.block("else"):
                lines.add(f"watch.branch({line}, {len(tests)}, 1)")

    def _case(self, chosen: str, value: e.Expr) -> str:
        if not isinstance(value, e.Section):
            return f"{chosen} == {self._terms.number(value)}"
        lower = "" if value.lower is None else f"{self._terms.number(value.lower)} <= "
        upper = "" if value.upper is None else f" <= {self._terms.number(value.upper)}"
        return f"({lower}{chosen}{upper})"

    # --- statements for many elements ---

    def _where(self, statement: s.Where, outer: str) -> None:
        lines, terms, line = self._lines, self._terms, statement.span.line
        watched = line in self._wanted.branches
        rest = outer
        for at, branch in enumerate(statement.branches):
            mask = lines.fresh("h")
            if branch.mask is None:
                lines.add(f"{mask} = {rest or 'True'}")
            else:
                lines.add(f"{mask} = meter.spent({terms.term(branch.mask).text}, {cost_of(branch.mask) + 1})")
                left = lines.fresh("r")
                lines.add(f"{left} = ~{mask}" + (f" & {rest}" if rest else ""))
                if rest:
                    lines.add(f"{mask} = {mask} & {rest}")
                rest = left
            if watched:
                lines.add(f"watch.branch({line}, {at}, int(np.count_nonzero({mask})))")
            for each in branch.body:
                if not self._part.keeps(each):
                    continue
                lines.at = each.span.line
                match each:
                    case s.Where():
                        self._where(each, mask)
                    case s.Assign(target=e.Var() | e.Element() as target, value=value) if terms.is_array(target):
                        text = terms.converted(terms.term(value), terms.type_of(target.name))
                        storage = terms.arrays[target.name]
                        if isinstance(target, e.Var):
                            all_of = ", ".join("slice(None)" for _ in storage.lower)
                            place = f"{array(target.name)}, {storage.lowers}, ({all_of},)"
                        else:
                            place = terms.section(target, storage)
                        lines.add(f"put_where({place}, meter.spent({text}, {cost_of(value) + 1}), {mask})")
                    case _:
                        raise NotComputable("WHERE with other statements than assignments to arrays")
        if watched and statement.branches[-1].mask is not None:
            lines.add(f"watch.branch({line}, {len(statement.branches)}, int(np.count_nonzero({rest})))")

    def _forall(self, statement: s.Forall) -> None:
        mark = self._lines.mark()
        try:
            self._vectors.forall(statement)
        except NotComputable:
            self._lines.cut(mark)
            self._lines.at = statement.span.line
            self._one_by_one(statement)

    def _one_by_one(self, statement: s.Forall) -> None:
        """FORALL in Python: all values, then all assignments, for one statement after the other."""
        lines, terms = self._lines, self._terms
        names = {each.name: lines.fresh("i") for each in statement.indices}
        heads = []
        for each in statement.indices:
            first, last = self._terms.number(each.lower), self._terms.number(each.upper)
            step = "1" if each.step is None else self._terms.number(each.step)
            heads.append(f"for {names[each.name]} in meter.counted({first}, {last}, {step})")
        own = ", ".join(names.values()) + ","
        with terms.renamed(names):
            chosen = lines.fresh("c")
            test = "" if statement.mask is None else f" if {terms.term(statement.mask).text}"
            lines.add(f"{chosen} = [({own}) {' '.join(heads)}{test}]")
            if statement.mask is not None and statement.span.line in self._wanted.branches:
                lines.add(*watch_mask(statement.span.line, f"len({chosen})", f"sum(1 {' '.join(heads)})"))
            for one in statement.body:
                if not isinstance(one, s.Assign) or not isinstance(one.target, e.Element):
                    raise NotComputable("FORALL with other statements than assignments to elements or sections")
                if one.target.name not in terms.arrays:
                    continue  # it is of no interest
                lines.at = one.span.line
                term = terms.term(one.value)
                text = terms.converted(term, terms.type_of(one.target.name))
                held = lines.fresh("t")
                copied = f"np.array({text})" if term.many else text
                lines.add(f"{held} = []")
                with lines.block(f"for {own} in {chosen}"):
                    lines.add(f"{held}.append({copied})")
                    lines.add(f"meter.spend(np.size({held}[-1]) + SCALAR_STEP, {cost_of(one.value) + 1}, {lines.at})")
                with lines.block(f"for ({own}), value_ in zip({chosen}, {held})"):
                    if terms.is_array(one.target):
                        lines.add(f"put({terms.section(one.target, terms.arrays[one.target.name])}, value_)")
                    else:
                        lines.add(f"{terms.place(one.target)} = value_")


def _record(line: int, count: str, partial: str, length: str = "-1") -> str:
    """What notes how often a loop ran, whether one more iteration was begun, and how often by its bounds."""
    return f"watch.trip({line}, {count}, {partial}, o_, {length})"


def _conditions_of_exits(loop: s.Do) -> Iterator[e.Expr | None]:
    """The conditions of the IFs in a loop that decide whether it is left."""
    for each in walk_statements(loop.body):
        if isinstance(each, s.If):
            yield from (
                branch.condition for branch in each.branches if any(isinstance(one, s.Exit) for one in branch.body)
            )
