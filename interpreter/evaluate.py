"""Functional interpretation: the values of the scalars that decide the flow, while the walk goes on (D8).

Only scalars that matter are followed: those that decide something, and those from which they are computed. A value
that cannot be computed is forgotten, unless the user gave one (`Setting.values`). What is needed and not known is
asked for, all of it at once.
"""

from collections.abc import Container, Iterable, Iterator
from functools import cached_property

from aag.budget import STEPS, Budget
from aag.diagnostics import Diagnostic, Span, UnresolvedError
from aag.functional.tables import BY_INPUT
from aag.graph import aau as g
from aag.ir.evaluate import LARGEST_INDEX, Environment, Unknown, Value, evaluate, evaluate_int
from aag.ir.expressions import Binary, Expr, Unary, Var
from aag.ir.statements import Assign
from aag.ir.values import ArrayValues
from aag.ir.visitors import backward_slice, elements_in, names_in
from aag.spmd.nodes import DoNode, Nest
from aag.wording import is_name
from interpreter.errors import InterpretationError
from interpreter.induction import assigns, iterations_left, steps_of

Env = dict[str, Value | ArrayValues]
Body = tuple[g.AAU, ...]

REPLAYED = 100_000
"""Iterations that are replayed to know a scalar after a loop; beyond it the scalar is not known."""


def decides(aau: g.AAU) -> frozenset[str]:
    """Names whose values decide what an AAU does and costs; the AAUs inside it not included."""
    match aau:
        case g.IterD(nest=None, loop=DoNode() as loop) | g.IterSync(owned=None, loop=DoNode() as loop):
            return names_in(loop.lower, loop.upper, loop.step)
        case g.IterD() | g.IterSync() | g.Comm() | g.SyncSeq() | g.Call():
            return aau.uses
        case g.IterND(condition=condition):
            return names_in(condition)
        case g.CondtD(branches=branches) | g.CondtSync(branches=branches):
            return names_in(*(branch.condition for branch in branches))
        case _:
            return frozenset()


def _bounds(aau: g.AAU) -> frozenset[str]:
    """Names in the bounds of a loop."""
    match aau:
        case g.IterD(nest=Nest() as nest):
            return frozenset().union(*(index.reads for index in nest.indices))
        case g.IterD() | g.IterSync() if aau.loop is not None:
            return decides(aau)
        case _:
            return frozenset()


def _asked(aau: g.AAU) -> frozenset[str]:
    """Names without whose values the iterations and messages of an AAU are not known: no subscripts of what a nest
    reads and writes at home."""
    match aau:
        case g.IterD(nest=Nest() as nest):
            home = frozenset[str]() if nest.home is None else nest.home.reads
            mask = frozenset[str]() if nest.mask is None else names_in(nest.mask)
            return decides(aau) & (_bounds(aau) | home | mask)
        case _:
            return decides(aau)


def _instead(name: str, why: str, arrays: Container[str]) -> str:
    """What helps where an expression has no value, and no value of a scalar in it would help."""
    if name.lstrip("-").isdigit():
        return "choose a smaller problem"
    if (found := BY_INPUT.search(why)) is not None and found.group(1) not in arrays:
        return f"give {found.group(1)} with ‹set {found.group(1).upper()}=VALUE›"
    return "use a scalar instead: esp follows scalars, and ‹set› gives them values"


def shown(name: str) -> str:
    """A scalar as the source has it: temporaries of lowering hold what a function returns."""
    stem, dollar, _ = name.partition("$")
    return f"the result of {stem.upper()}" if dollar else name


def closure(names: Iterable[str], body: Body) -> frozenset[str]:
    """The names, and those from which assignments in `body` compute them."""
    return backward_slice(names, assigns(body))


def needed(body: Body) -> frozenset[str]:
    """Names that decide what a body does, traced back through its own assignments."""
    return closure(frozenset().union(*(decides(each) for each in g.walk(body))), body)


def touching(body: Body) -> frozenset[str]:
    """Names that decide where the loops inside a body touch memory, traced back through its own assignments."""
    sweeps = (sweep for each in g.walk(body) if isinstance(each, g.IterD) for sweep in each.sweeps)
    return closure(frozenset().union(*(sweep.uses for sweep in sweeps)), body)


def defined(body: Body) -> frozenset[str]:
    """Scalars that a body changes, loop variables included."""
    found = frozenset[str]().union(*(each.defines for each in body))
    loops = (each.loop.var for each in g.walk(body) if isinstance(each, g.IterD | g.IterSync) and each.loop)
    targets = (one.target.name for one in assigns(body) if isinstance(one.target, Var))
    return found.union(loops, targets)


class Scalars:
    """What is known about scalars: which matter, and what the user said."""

    def __init__(
        self, graph: g.Graph, given: Environment, steps: int = STEPS, unsteady: frozenset[str] = frozenset()
    ) -> None:
        self.graph = graph
        self.given = given
        self._unsteady = unsteady
        self._steps = Budget(steps)
        own = frozenset[str]().union(*(decides(each) for each in g.walk(graph.body)))
        self.relevant = closure(graph.critical | own | touching(graph.body), graph.body)

    def forget(self, env: Env, names: Iterable[str]) -> None:
        """The program changed these scalars in a way that is not followed. Index arrays among them keep the contents of
        their first use."""
        for name in names:
            if name in self.given:
                env[name] = self.given[name]
            elif not isinstance(env.get(name), ArrayValues):
                env.pop(name, None)

    def assign(self, env: Env, statements: tuple[Assign, ...]) -> None:
        """Carry out scalar assignments."""
        for each in statements:
            if not isinstance(each.target, Var) or each.target.name not in self.relevant:
                continue
            if each.target.name in self.graph.untraced or each.target.name in self.given:
                self.forget(env, (each.target.name,))  # what is given holds wherever it is assigned
                continue
            try:
                env[each.target.name] = evaluate(each.value, env)
            except Unknown:
                self.forget(env, (each.target.name,))

    def trips(self, loop: DoNode, env: Env, span: Span) -> tuple[int, int, int]:
        """First value, step and trip count of a counted loop.

        Raises:
            UnresolvedError: a bound is not known.
        """
        try:
            first = evaluate_int(loop.lower, env)
            last = evaluate_int(loop.upper, env)
            step = 1 if loop.step is None else evaluate_int(loop.step, env)
        except Unknown as unknown:
            raise self.unresolved(unknown, span, env) from unknown
        if step == 0:
            raise InterpretationError(
                (
                    Diagnostic(
                        code="E503",
                        message="the step of this loop is 0",
                        span=span,
                        hint="give a step other than 0; without one, a loop steps by 1",
                    ),
                )
            )
        return first, step, max(0, (last - first + step) // step)

    def unresolved(self, unknown: Unknown, span: Span, env: Env) -> InterpretationError | UnresolvedError:
        """The error that asks for a variable, and for all others that will be needed as well; an error that says why
        where no value of a variable would help."""
        name = unknown.name
        if unknown.why:
            why = self.graph.unknown.get(name, unknown.why)
            message = f"the flow depends on {name}, which cannot be computed: {why}"
            hint = _instead(name, why, self.graph.unknown)
            return InterpretationError((Diagnostic(code="E508", span=span, message=message, hint=hint),))
        wanted = {name: self._bounding(name) or span}
        known = self._computable(env)
        for each in g.walk(self.graph.body):
            if isinstance(each, g.CondtD | g.CondtSync | g.IterND):
                continue  # branches are weighted, and a WHILE asks for its iterations
            for other in sorted(_asked(each) & self.relevant):
                if other not in known and other not in wanted:
                    wanted[other] = each.span
        computed = defined(self.graph.body) - self.read
        return UnresolvedError(
            tuple(
                Diagnostic(
                    code="E501",
                    span=place,
                    message=f"the flow depends on {each}, which cannot be computed",
                    hint=_way_out(each, computed=each in computed),
                )
                for each, place in wanted.items()
            ),
            tuple(wanted),
        )

    def _bounding(self, name: str) -> Span | None:
        """The first loop whose bounds hold a name: its messages may be sent, and so need it, before it begins."""
        return next((each.span for each in g.walk(self.graph.body) if name in _bounds(each)), None)

    @cached_property
    def read(self) -> frozenset[str]:
        """Names that READ gives a value."""
        found = frozenset[str]()
        for each in g.walk(self.graph.body):
            if isinstance(each, g.Comm) and each.host is not None and each.host.kind == "read":
                found |= each.defines
        return found

    def _computable(self, env: Env) -> frozenset[str]:
        """Names with a value, loop variables, and what can be computed from them."""
        known = set(env) | set(self.given)
        known |= {
            each.loop.var
            for each in g.walk(self.graph.body)
            if isinstance(each, g.IterD | g.IterSync) and each.loop is not None
        }
        statements = [one for one in assigns(self.graph.body) if isinstance(one.target, Var)]
        grown = True
        while grown:
            before = len(known)
            known |= {
                one.target.name
                for one in statements
                if isinstance(one.target, Var) and not elements_in(one.value) and names_in(one.value) <= known
            }
            grown = len(known) > before
        for each in g.walk(self.graph.body):
            nest = each.nest if isinstance(each, g.IterD) else None
            if nest is not None:
                known |= {index.name for index in nest.indices}
            owned = each.owned if isinstance(each, g.IterSync) else None
            if owned is not None:
                known.add(owned.index.name)
        return frozenset(known)

    def holds(self, condition: Expr, env: Env) -> bool | None:
        """Whether a condition holds; None: not known. A known operand may decide .and. and .or. by itself."""
        if self._unsteady and self._unsteady & names_in(condition):
            env = {name: value for name, value in env.items() if name not in self._unsteady}
        try:
            return bool(evaluate(condition, env))
        except Unknown:
            return None

    def simulate(self, body: Body, env: Env) -> str:
        """Carry out what a body does to the scalars; answers how it was left."""
        for each in body:
            left = self._one(each, env)
            if left:
                return left
        return ""

    def _spend(self, span: Span) -> None:
        if not self._steps.spend():
            raise InterpretationError(
                (
                    Diagnostic(
                        code="E507",
                        span=span,
                        message="the values that decide the flow take too many steps to compute",
                        hint="choose fewer iterations or a larger ‹budget›, or give values with ‹set NAME=VALUE›",
                    ),
                )
            )

    def _one(self, each: g.AAU, env: Env) -> str:
        self._spend(each.span)
        match each:
            case g.Seq():
                if each.assigns:
                    self.assign(env, each.assigns)
                else:
                    self.forget(env, each.defines & self.relevant)
                return leave_of(each)
            case g.CondtD(branches=branches) | g.CondtSync(branches=branches):
                return self._branch(branches, env)
            case (
                g.IterD(nest=None, loop=DoNode() as loop, body=body)
                | g.IterSync(owned=None, loop=DoNode() as loop, body=body)
            ):
                if not defined(body) & self.relevant and loop.var not in self.relevant:
                    return ""
                return self._count(loop, body, env, each.span)
            case g.IterND():
                return self._repeat(each, env)
            case g.Call(body=(_, *_) as body) | g.Spawn(body=body):
                left = self.simulate(body, env)
                return "" if left.startswith("return") else left
            case _:
                self.forget(env, each.defines & self.relevant)
                return ""

    def _repeat(self, loop: g.IterND, env: Env) -> str:
        """Carry out a while loop; where its trips are not found here, what it changes is not followed: the walk asks
        for them where it needs them."""
        changed = defined(loop.body) & self.relevant
        if not changed:
            return ""
        known = self.given.get(f"trips_{loop.span.line}")
        before = dict(env)
        try:
            if isinstance(known, int) and known <= REPLAYED:
                for _ in range(known):
                    self.simulate(loop.body, env)
                return ""
            left = self.while_trips(loop, env, REPLAYED)[1]
        except UnresolvedError:
            env.clear()
            env.update(before)
            self.forget(env, changed)
            return ""
        return "" if own_leave(left, loop.name) == "exit" else left

    def _branch(self, branches: tuple[g.AauBranch, ...], env: Env) -> str:
        for branch in branches:
            verdict = True if branch.condition is None else self.holds(branch.condition, env)
            if verdict:
                return self.simulate(branch.body, env)
            if verdict is None:
                self.forget(env, frozenset[str]().union(*(defined(one.body) for one in branches)) & self.relevant)
                return ""
        return ""

    def _count(self, loop: DoNode, body: Body, env: Env, span: Span) -> str:
        first, step, count = self.trips(loop, env, span)
        if count > REPLAYED:
            self.forget(env, defined(body) & self.relevant)
            env[loop.var] = first + count * step
            return ""
        for number in range(count):
            self._spend(span)
            env[loop.var] = first + number * step
            left = own_leave(self.simulate(body, env), loop.name)
            if left == "exit":
                return ""
            if left and left != "cycle":
                return left
        env[loop.var] = first + count * step
        return ""

    def while_trips(self, loop: g.IterND, env: Env, limit: int) -> tuple[int, str, bool, Env]:
        """How often a while loop runs (Def 18): complete iterations; how the last, incomplete one was left ("": there
        is none); whether a condition that is not known was taken to hold; and `env` before the last iteration. `env`
        itself is left as after the loop.

        Raises:
            UnresolvedError: nothing that is known ends the loop, or not within `limit` iterations.
        """
        assumed, count, most = False, 0, limit
        watched = tuple(sorted((defined(loop.body) | names_in(loop.condition)) & self.relevant))
        while count < most:
            self._spend(loop.span)
            verdict = True if loop.condition is None else self.holds(loop.condition, env)
            if verdict is False:
                return count, "", assumed, env
            assumed |= verdict is None
            before = dict(env)
            left = self.simulate(loop.body, env)
            own = own_leave(left, loop.name)
            if own and own != "cycle":
                return count, left, assumed, before
            if all(env.get(name) == before.get(name) for name in watched) or (count == 1 and self._hopeless(loop, env)):
                raise self._endless(loop, env)
            count += 1
            if count == 2:
                leap = self._leap(loop, env)
                count, most = count + leap, max(limit, count + leap + 2) if leap < LARGEST_INDEX else 0
        if assumed:
            raise self._endless(loop, env)
        raise self._asking(loop, "E502", f"this loop does not end within {limit:,} iterations")

    def _leap(self, loop: g.IterND, env: Env) -> int:
        """Carry out all iterations but the last of a loop that does the same in each; how many: 0 where that is not
        seen, `LARGEST_INDEX` where there are more."""
        changed = defined(loop.body) & self.relevant
        steps = steps_of(changed - self.graph.untraced - self.given.keys(), loop.body, env, changed)
        leaves = any(isinstance(each, g.Seq) and each.leave for each in g.walk(loop.body))
        if leaves or not changed - steps.keys() <= self._unknown(loop, env):
            return 0
        left = iterations_left(loop.condition, env, steps)
        values = {name: value for name in steps if isinstance(value := env.get(name), int)}
        if left is None or len(values) < len(steps):
            return 0
        count = int(min(max(left - 1, 0), LARGEST_INDEX))
        env.update({name: value + steps[name] * count for name, value in values.items()})
        return count

    def _hopeless(self, loop: g.IterND, env: Env) -> bool:
        """Whether every condition that could end a loop has, after its first iterations, a part without a value that
        no later iteration gives it."""
        unknown = self._unknown(loop, env)
        leaves = [each for each in g.walk(loop.body) if isinstance(each, g.Seq) and leave_of(each)]
        conditions = [loop.condition]
        if leaves:
            branches = (each.branches for each in g.walk(loop.body) if isinstance(each, g.CondtD | g.CondtSync))
            conditions += [branch.condition for each in branches for branch in each]
        named = (names for each in conditions for part in _parts(each) if (names := names_in(part)))
        return all(names & unknown for names in named)

    def _unknown(self, loop: g.IterND, env: Env) -> frozenset[str]:
        """The names without a value that no later iteration of a loop gives one."""
        unknown = (self.relevant | names_in(loop.condition)) - env.keys() - self.given.keys()
        unknown -= {each.loop.var for each in g.walk(loop.body) if isinstance(each, g.IterD | g.IterSync) and each.loop}
        givers = [(one.target.name, names_in(one.value)) for one in assigns(loop.body) if isinstance(one.target, Var)]
        size = len(unknown) + 1
        while len(unknown) < size:
            size = len(unknown)
            unknown -= {name for name, read in givers if name not in self.graph.untraced and not read & unknown}
        return unknown

    def _endless(self, loop: g.IterND, env: Env) -> UnresolvedError:
        asked = names_in(loop.condition) | frozenset().union(
            *(decides(each) for each in g.walk(loop.body) if isinstance(each, g.CondtD | g.CondtSync))
        )
        unknown = sorted(name for name in asked if name not in env) or sorted(asked)
        told = dict.fromkeys(map(shown, unknown))
        why = f" ({', '.join(told)} cannot be computed)" if unknown else ""
        changed = defined(loop.body)
        given = [f"{name} with ‹set {name.upper()}=VALUE›, " for name in unknown if name not in changed]
        return self._asking(loop, "E504", f"the trip count of this loop is unknown{why}", "".join(given))

    def _asking(self, loop: g.IterND, code: str, message: str, others: str = "") -> UnresolvedError:
        name = f"trips_{loop.span.line}"
        hint = f"give {others}{'or ' if others else ''}the trip count with ‹set {name.upper()}=VALUE›"
        return UnresolvedError((Diagnostic(code=code, message=message, span=loop.span, hint=hint),), (name,))

    def after(self, loop: DoNode | None, body: Body, env: Env, start: Env, count: int) -> None:
        """Set in `env` the scalars as they are after `count` iterations that began with `start`; some of them were
        not walked."""
        changed = defined(body) & self.relevant
        if not changed:
            return
        counters = steps_of(changed - self.graph.untraced, body, start, changed)
        for name, step in counters.items():
            value = start.get(name)
            if isinstance(value, int):
                env[name] = value + step * count
        rest = changed - counters.keys()
        if not rest or not closure(rest, body) & (changed | ({loop.var} if loop else set())):
            return
        if count > REPLAYED:
            self.forget(env, rest)
            return
        replay = dict(start)
        first, step = 0, 1
        if loop is not None:
            first, step, _ = self.trips(loop, replay, loop.span)
        for number in range(count):
            if loop is not None:
                self._spend(loop.span)
                replay[loop.var] = first + number * step
            self.simulate(body, replay)
        for name in rest:
            if name in replay:
                env[name] = replay[name]
            else:
                env.pop(name, None)


def _way_out(name: str, *, computed: bool) -> str:
    """How the user gives the value of a name that decides the flow; functions have none."""
    if not is_name(name):
        return ""
    given = f"‹set {name.upper()}=VALUE›"
    return f"the program computes it: {given} overrides its value" if computed else f"give it with {given}"


def _parts(condition: Expr | None) -> Iterator[Expr]:
    """The operands of .and., .or. and .not. in a condition."""
    match condition:
        case None:
            return
        case Binary(op=".and." | ".or.", left=left, right=right):
            yield from (*_parts(left), *_parts(right))
        case Unary(op=".not.", operand=operand):
            yield from _parts(operand)
        case _:
            yield condition


def leave_of(aau: g.Seq) -> str:
    """How a Seq leaves its loop or the program: "", or kind:name."""
    return f"{aau.leave}:{aau.leave_name}" if aau.leave else ""


def own_leave(left: str, name: str) -> str:
    """What leaving a body means to the loop of that construct name: "exit", "cycle", or what is passed on."""
    kind, _, target = left.partition(":")
    if kind in ("exit", "cycle") and target in ("", name):
        return kind
    return left
