"""Loops and FORALL as NumPy text, by a plan (`aag.functional.nests`) or by the meaning of FORALL."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.functional.functions import Functions
from aag.functional.lines import Lines
from aag.functional.nests import NestPlan, NestStep, reading, step_of
from aag.functional.slicing import Slice
from aag.functional.tables import NotComputable
from aag.functional.terms import Iterations, PythonTerm, array, cost_of, dtype, variable
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.units import Type

FEWEST = 12
"""Iterations from which on NumPy is faster than Python."""
LISTED = 4
"""How many times longer an element takes whose place is listed."""

_AT = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum", "and": "logical_and", "or": "logical_or"}


class _Context(Struct, frozen=True, eq=False):
    """Where statements stand in a nest.

    `values`: names with a value for each iteration -> text; `count`: the text of the number of iterations; `key`: loops
    and branches around; `origins`: for contexts around, the text that says which of their iterations each iteration is
    part of.
    """

    values: Mapping[str, str]
    count: str
    key: tuple[int, ...] = ()
    loops: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    name: str = ""
    origins: Mapping[tuple[int, ...], str] = {}


class Vectors:
    """Writes nests."""

    def __init__(self, lines: Lines, terms: Functions, part: Slice, watched: frozenset[int]) -> None:
        self._lines, self._terms, self._part, self._watched = lines, terms, part, watched

    # --- DO ---

    def nest(self, loop: s.Do, plan: NestPlan, first: str, count: str) -> None:
        """All iterations of a loop, whose first value and number of iterations have names."""
        step = step_of(loop, self._terms.constants)
        if plan.box:
            self._box(loop, plan, _Context({}, count), (first, count))
        else:
            name = self._lines.fresh("j")
            self._lines.add(f"meter.spend({count}, 1, {self._lines.at})")
            self._lines.add(f"{name} = np.arange({first}, {first} + {step} * {count}, {step}, dtype=np.int64)")
            context = _Context({loop.var: name}, count, (id(loop),))
            self._after(plan, self._listed(loop.body, plan, context))
            self._lines.add(f"{variable(loop.var)} = {first} + {step} * {count}")

    def _box(self, loop: s.Do, plan: NestPlan, around: _Context, known: tuple[str, str] | None = None) -> None:
        step = step_of(loop, self._terms.constants)
        first, count = known or self._bounds(loop)
        with self._lines.block(f"if {count}"):
            axes = (*around.axes, f"({first}, {step}, {count})")
            name = self._lines.fresh("x")
            self._lines.add(f"{name} = ({', '.join(axes)},)")
            loops = (*around.loops, loop.var)
            own = {var: f"axis({name}, {at})" for at, var in enumerate(loops)}
            counts = f"{around.count} * {count}" if around.axes else count
            context = _Context({**around.values, **own}, counts, (*around.key, id(loop)), loops, axes, name)
            for each in loop.body:
                if not self._part.keeps(each):
                    continue
                self._lines.at = each.span.line
                if isinstance(each, s.Do):
                    self._box(each, plan, context)
                elif isinstance(each, s.Assign):
                    context = self._step(each, plan.steps[id(each)], context)
            self._after(plan, context)
        self._lines.add(f"{variable(loop.var)} = {first} + {step} * {count}")

    def _bounds(self, loop: s.Do) -> tuple[str, str]:
        first, count = self._lines.fresh("f"), self._lines.fresh("k")
        lower, upper = (self._terms.number(each) for each in (loop.lower, loop.upper))
        self._lines.add(f"{first} = {lower}")
        self._lines.add(f"{count} = trips({first}, {upper}, {step_of(loop, self._terms.constants)})")
        return first, count

    def _listed(self, body: Sequence[s.Stmt], plan: NestPlan, context: _Context) -> _Context:
        for each in body:
            if not self._part.keeps(each):
                continue
            self._lines.at = each.span.line
            match each:
                case s.Assign():
                    context = self._step(each, plan.steps[id(each)], context)
                case s.Do():
                    self._inner(each, plan, context)
                case s.If(branches=branches):
                    self._branches(each, branches, plan, context)
        return context

    def _inner(self, loop: s.Do, plan: NestPlan, context: _Context) -> None:
        step = step_of(loop, self._terms.constants)
        with self._terms.together(_listed(context)):
            first, last = (self._terms.number(each) for each in (loop.lower, loop.upper))
        chosen, values = self._lines.fresh("c"), self._lines.fresh("j")
        self._lines.add(f"{chosen}, {values} = expanded({first}, {last}, {step}, {context.count}, meter)")
        with self._lines.block(f"if len({chosen})"):
            inner = self._selected(context, chosen, id(loop), reading(loop.body))
            inner = replace(inner, values={**inner.values, loop.var: values})
            inner = self._listed(loop.body, plan, inner)
            self._after(plan, inner)
        self._lines.add(f"{variable(loop.var)} = last_after({first}, {last}, {step})")

    def _branches(self, statement: s.If, branches: Sequence[s.Branch], plan: NestPlan, context: _Context) -> None:
        rest = self._lines.fresh("r")
        self._lines.add(f"{rest} = np.ones({context.count}, dtype=bool)")
        choices = []
        watched = statement.span.line in self._watched
        for at, branch in enumerate(branches):
            chosen = self._lines.fresh("c")
            if branch.condition is None:
                self._lines.add(f"{chosen} = np.flatnonzero({rest})")
            else:
                with self._terms.together(_listed(context)):
                    holds = self._terms.term(branch.condition).text
                mask = self._lines.fresh("h")
                self._lines.add(f"{mask} = {rest} & {holds}", f"{rest} = {rest} & ~{mask}")
                self._lines.add(f"{chosen} = np.flatnonzero({mask})")
            if watched:
                self._lines.add(f"watch.branch({statement.span.line}, {at}, len({chosen}))")
            choices.append(chosen)
        if watched and branches[-1].condition is not None:
            self._lines.add(f"watch.branch({statement.span.line}, {len(branches)}, int(np.count_nonzero({rest})))")
        for branch, chosen in zip(branches, choices, strict=True):
            with self._lines.block(f"if len({chosen})"):
                inner = self._selected(context, chosen, id(branch), reading(branch.body))
                inner = self._listed(branch.body, plan, inner)
                self._after(plan, inner)

    def _selected(self, context: _Context, chosen: str, key: int, wanted: frozenset[str]) -> _Context:
        """The context of some iterations, or of iterations inside of each."""
        values = {}
        for name, text in context.values.items():
            if name in wanted:
                values[name] = self._lines.fresh("j")
                self._lines.add(f"{values[name]} = {text}[{chosen}]")
        origins = {around: f"{text}[{chosen}]" for around, text in context.origins.items()}
        return _Context(values, f"len({chosen})", (*context.key, key), origins={**origins, context.key: chosen})

    def _after(self, plan: NestPlan, context: _Context) -> None:
        """Scalars of the iteration have their values of the last one."""
        homes = {each.home for each in plan.steps.values() if each.kind == "value"}
        if context.key in homes:
            for name, text in context.values.items():
                if text == _held(name):
                    self._lines.add(f"{variable(name)} = last_of({text})")

    def _step(self, statement: s.Assign, step: NestStep, context: _Context) -> _Context:
        """One assignment, for all iterations."""
        lines, terms, target = self._lines, self._terms, statement.target
        assert isinstance(target, e.Var | e.Element)
        kind = terms.type_of(target.name)
        box = bool(context.loops)
        weight = cost_of(target, step.value) + 1
        lines.add(f"meter.spend({context.count}, {weight if box else LISTED * weight}, {statement.span.line})")
        with terms.together(_boxed(context) if box else _listed(context)):
            value = terms.term(step.value)
            text = terms.converted(value, kind)
            match step.kind:
                case "element":
                    assert isinstance(target, e.Element)
                    self.store(target, text)
                case "gather":
                    assert isinstance(target, e.Element)
                    places = terms.places(target).replace("places(", "spots(", 1)[:-1]
                    into = f"{array(target.name)}, {places}, {context.count})"
                    lines.add(f"np.{_AT[step.function]}.at({into}, {_cast(value, kind, terms)})")
                case "segment":
                    origin = context.origins[step.home]
                    lines.add(
                        f"np.{_AT[step.function]}.at({_held(target.name)}, {origin}, {_cast(value, kind, terms)})"
                    )
                case "total":
                    counts = [each.split(", ")[-1].rstrip(")") for each in reversed(context.axes)]
                    shape = ", ".join(counts) if box else context.count
                    name = variable(target.name) if isinstance(target, e.Var) else terms.place(target)
                    lines.add(f"{name} = combined({step.function!r}, {name}, {text}, ({shape},), {dtype(kind)!r})")
                case "value":
                    held = _held(target.name)
                    if box:
                        lines.add(f"{held} = np.array({text}, dtype={dtype(kind)!r})")
                    else:
                        lines.add(f"{held} = full({text}, {context.count}, {dtype(kind)!r})")
                    return replace(context, values={**context.values, target.name: held})
        return context

    def store(self, target: e.Element, text: str) -> None:
        """Assign to an element of each iteration."""
        if self._terms.is_box(target):
            self._lines.add(f"{self._terms.elements(target)}[...] = {text}")
        elif self._terms.varies(target):
            self._lines.add(f"{array(target.name)}[{self._terms.places(target)}] = {text}")
        else:
            raise NotComputable("all iterations assign to one element")

    # --- FORALL ---

    def forall(self, statement: s.Forall) -> None:
        """FORALL with assignments to elements.

        Raises:
            NotComputable: its body has other statements, or sections.
        """
        lines, terms = self._lines, self._terms
        body = []
        for one in statement.body:
            if not isinstance(one, s.Assign) or not isinstance(one.target, e.Element):
                raise NotComputable("FORALL with other statements than assignments")
            if one.target.name in terms.arrays:  # the others are of no interest
                body.append((one, one.target))
        names = [each.name for each in statement.indices]
        pieces = [
            part for each in statement.indices for part in (each.lower, each.upper, each.step) if part is not None
        ]
        if any(terms.is_array(each) for each in pieces):
            raise NotComputable("FORALL with bounds that are arrays")
        counts, axes = [], []
        for each in statement.indices:
            first, step, count = lines.fresh("f"), lines.fresh("s"), lines.fresh("k")
            lines.add(f"{first} = {terms.number(each.lower)}")
            lines.add(f"{step} = {'1' if each.step is None else terms.number(each.step)}")
            lines.add(f"{count} = trips({first}, {terms.number(each.upper)}, {step})")
            counts.append(count)
            axes.append(f"({first}, {step}, {count})")
        total = " * ".join(counts)
        with lines.block(f"if {total}"):
            name = lines.fresh("x")
            lines.add(f"{name} = ({', '.join(axes)},)")
            own = {var: f"axis({name}, {at})" for at, var in enumerate(names)}
            context = _Context(own, total, (), tuple(names), tuple(axes), name)
            if statement.mask is not None:
                context = self._masked(statement.mask, context, reversed(counts))
                if statement.span.line in self._watched:
                    lines.add(*watch_mask(statement.span.line, context.count, total))
            for one, target in body:
                lines.at = one.span.line
                weight = cost_of(target, one.value) + 1
                lines.add(f"meter.spend({context.count}, {weight if context.loops else LISTED * weight}, {lines.at})")
                with terms.together(_boxed(context) if context.loops else _listed(context)):
                    held = lines.fresh("t")
                    value = terms.converted(terms.term(one.value), terms.type_of(target.name))
                    lines.add(f"{held} = np.array({value})")
                    self.store(target, held)

    def _masked(self, mask: e.Expr, context: _Context, shape: "reversed[str]") -> _Context:
        lines = self._lines
        with self._terms.together(_boxed(context)):
            holds = self._terms.term(mask).text
        chosen = lines.fresh("c")
        lines.add(f"meter.spend({context.count}, {cost_of(mask) + 1}, {lines.at})")
        lines.add(f"{chosen} = np.nonzero(np.broadcast_to({holds}, ({', '.join(shape)},)))")
        values = {}
        for at, name in enumerate(context.loops):
            values[name] = lines.fresh("j")
            along = len(context.loops) - 1 - at
            lines.add(f"{values[name]} = axis({context.name}, {at}).ravel()[{chosen}[{along}]]")
        return _Context(values, f"len({chosen}[0])")


def watch_mask(line: int, holds: str, every: str) -> tuple[str, str]:
    """What records how often the mask of a FORALL holds, in texts of numbers."""
    return f"watch.branch({line}, 0, {holds})", f"watch.branch({line}, 1, {every} - {holds})"


def _held(name: str) -> str:
    """The values of a scalar in all iterations."""
    return "p" + variable(name)


def _listed(context: _Context) -> Iterations:
    return Iterations(context.values, None)


def _boxed(context: _Context) -> Iterations:
    return Iterations(context.values, context.loops, context.name)


def _cast(value: PythonTerm, kind: Type, terms: Functions) -> str:
    """A value of the type of what it is combined with."""
    text = terms.converted(value, kind)
    return f"np.asarray({text}, dtype={dtype(kind)!r})"
