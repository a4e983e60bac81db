"""The walk over the graph with expressions: how often each AAU pays what, on one processor.

An AAU gives an expression for one execution of it, in the variables of the loops around it. A loop sums the expressions
of its body over its variable. What an AAU does that has no such expression (messages, branches that data decide, masks,
while loops whose trip count follows from data) is left to others: `Derived.left` says why.
Source: Clement and Quinn's static counting of loops, in the terms of the graph; Def 15, 16, 21.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from msgspec import Struct, field

from aag.graph import aau as g
from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import Var
from aag.ir.statements import Assign
from aag.ir.visitors import names_in
from aag.spmd.branches import has_conditions
from aag.spmd.nodes import DoNode
from interpreter.counts import CountColumn, Prices
from interpreter.evaluate import defined, leave_of
from interpreter.models.compute import LOOP_SETUP, LOOP_STEP, nest_works
from interpreter.symbolic.facts import Facts
from interpreter.symbolic.places import NotDerived, Places
from interpreter.symbolic.polynomial import ONE, Poly, floor, name, poly, substituted
from interpreter.symbolic.trips import Ranks, translated, trip_count

MOVED = "messages, input and output"
"""Why messages and input and output are left: their sets and algorithms are not derived."""

Payments = dict[int, dict[CountColumn, Poly]]
"""AAU -> column -> how often it is paid."""

Fees = Mapping[tuple[str, int], Poly]
"""Figure of the machine and what it is paid for -> how often."""


class Derived(Struct, frozen=True):
    """The expressions of a processor by AAU, and the AAUs that have none, with the reason."""

    fees: Mapping[int, Fees]
    left: Mapping[int, str]


class SymbolicWalk(Struct):
    """A walk for one processor.

    Attributes:
        prices: The columns that operations pay.
        ranks: What the processor owns.
        trips: While loop (its AAU) -> its iterations, where they are the same for every size.
        env: The scalars whose values are expressions.
        left: AAUs without expressions, and why.
    """

    prices: Prices
    ranks: Ranks
    trips: Mapping[int, int]
    env: dict[str, Poly] = field(default_factory=dict)
    left: dict[int, str] = field(default_factory=dict)

    @property
    def facts(self) -> Facts:
        """What is known of the parameter."""
        return self.ranks.facts

    @property
    def places(self) -> Places:
        """Where arrays are."""
        return self.ranks.places

    def whole(self, graph: g.Graph) -> Derived:
        """The expressions of the whole program."""
        self.env = dict(self.places.constants)
        fees: dict[int, dict[tuple[str, int], Poly]] = {}
        for aau, columns in self.body(graph.body).items():
            own = fees.setdefault(aau, {})
            for column, often in columns.items():
                for paid, figure, amount in column.fees:
                    key = (figure, paid)
                    own[key] = own.get(key, poly(0)) + often * Fraction(amount).limit_denominator(10**6)
        return Derived({aau: each for aau, each in fees.items() if aau not in self.left}, self.left)

    def body(self, body: tuple[g.AAU, ...]) -> Payments:
        """One execution of some AAUs."""
        found: Payments = {}
        for number, aau in enumerate(body):
            _add(found, self.one(aau))
            if isinstance(aau, g.Seq) and leave_of(aau):
                for later in g.walk(body[number + 1 :]):
                    self.left[later.id] = "it follows a statement that leaves"
                break
        return found

    def one(self, aau: g.AAU) -> Payments:
        """One execution of an AAU."""
        match aau:
            case g.Start() | g.End():
                return {}
            case g.Spawn(body=body):
                return self.body(body)
            case g.Seq(work=work):
                self.assign(aau)
                return {aau.id: {self.prices.of(work): ONE}}
            case g.Call(work=work, body=body, charges=()):
                found = {aau.id: {self.prices.of(work): ONE}}
                _add(found, self.body(body))
                self.forget(aau.defines)
                return found
            case g.IterD(nest=None, loop=None):
                return {}
            case g.IterD(nest=None, loop=DoNode() as loop) | g.IterSync(loop=DoNode() as loop):
                return self.attempt(aau, lambda: self.loop(aau, loop))
            case g.IterD():
                found = self.attempt(aau, lambda: self.nest(aau))
                self.forget(aau.defines)
                return found
            case g.IterND():
                return self.attempt(aau, lambda: self.repeated(aau))
            case g.CondtD() | g.CondtSync():
                return self.attempt(aau, lambda: self.branch(aau))
            case _:
                return self.leave(aau, MOVED)

    def attempt(self, aau: g.AAU, make: Callable[[], Payments]) -> Payments:
        """What an AAU pays, unless it has no expression."""
        try:
            return make()
        except NotDerived as problem:
            return self.leave(aau, str(problem))

    def leave(self, aau: g.AAU, why: str) -> Payments:
        """Leave an AAU and those inside it to others."""
        for each in g.walk((aau,)):
            self.left[each.id] = why
        self.forget(aau.defines | defined((aau,)))
        return {}

    def forget(self, names: frozenset[str]) -> None:
        """Some scalars have values that are not known."""
        for each in names:
            self.env.pop(each, None)

    def assign(self, aau: g.Seq) -> None:
        """Follow assignments to scalars."""
        if not aau.assigns:
            self.forget(aau.defines)
        for each in aau.assigns:
            if isinstance(each.target, Var):
                value = self.assigned(each)
                self.forget(frozenset((each.target.name,)))
                if value is not None:
                    self.env[each.target.name] = value

    def assigned(self, assign: Assign) -> Poly | None:
        """The value of an assignment, where it is an expression."""
        try:
            return translated(assign.value, self.env, self.facts)
        except NotDerived:
            return None

    def nest(self, aau: g.IterD) -> Payments:
        """A parallel nest: `nest_cost` of the engine.

        Raises:
            NotDerived: it has conditions, or index arrays decide where iterations live.
        """
        nest = aau.nest
        assert nest is not None
        if has_conditions(nest):
            raise NotDerived("its conditions are counted")
        if nest.home is not None and nest.home.is_scattered:
            raise NotDerived("index arrays decide where iterations live")
        depth = len(nest.indices)
        entered, *levels = self.ranks.levels(nest.home, nest.indices, self.env)
        often = [entered, *(levels or [entered]), *([ONE] if aau.setup.overhead else [])]
        found: Payments = {aau.id: {}}
        for works, count in zip(nest_works(aau, depth), often, strict=True):
            _enter(found[aau.id], self.prices.of(*works), count)
        return found

    def loop(self, aau: g.IterD | g.IterSync, loop: DoNode) -> Payments:
        """A counted loop, of which each processor runs all iterations or, with a home, its own.

        Raises:
            NotDerived: its bounds have no expressions, or it may be left early.
        """
        if any(isinstance(each, g.Seq) and leave_of(each) for each in g.walk(aau.body)):
            raise NotDerived("it may be left early")
        lower = translated(loop.lower, self.env, self.facts)
        upper = translated(loop.upper, self.env, self.facts)
        self.ranks.note(lower, upper)
        step = poly(1) if loop.step is None else translated(loop.step, self.env, self.facts)
        stride = step.constant
        if not isinstance(stride, int) or not stride:
            raise NotDerived("its step has no value")
        found: Payments = {aau.id: {self.prices.of(LOOP_SETUP): ONE}}
        _enter(found[aau.id], self.prices.of(aau.setup), ONE)
        self.forget(defined(aau.body))
        var = loop.var if loop.var != self.facts.free else f"{loop.var}$"
        self.env[loop.var] = name(var)
        inside: Payments = {aau.id: {self.prices.of(LOOP_STEP): ONE}}
        _add(inside, self.body(aau.body))
        share = ONE
        if loop.home is not None:
            share = self.ranks.levels(loop.home, (), self.env)[0]
        trips = trip_count(lower, upper, stride, self.facts)
        value = lower + name(var) * stride
        for each, columns in inside.items():
            for column, often in columns.items():
                counted = often * share
                if var not in counted.names:
                    summed = counted * trips
                elif stride == 1:
                    summed = self.ranks.total(counted, var, lower, upper)
                else:
                    last = floor((upper - lower) * (1 if stride > 0 else -1), abs(stride))
                    moved = substituted(counted, {var: value}, self.facts.sign)
                    summed = self.ranks.total(moved, var, poly(0), last)
                _enter(found.setdefault(each, {}), column, summed)
        self.forget(defined(aau.body))
        self.env[loop.var] = lower + trips * stride
        return found

    def repeated(self, aau: g.IterND) -> Payments:
        """A while loop that runs as often for every size.

        Raises:
            NotDerived: it does not, or it may be left early.
        """
        if aau.id not in self.trips:
            raise NotDerived("its trip count depends on data or on the size")
        if any(isinstance(each, g.Seq) and leave_of(each) for each in g.walk(aau.body)):
            raise NotDerived("it may be left early")
        trips = self.trips[aau.id]
        self.forget(defined(aau.body))
        found: Payments = {aau.id: {self.prices.of(aau.work): poly(trips + 1)}}
        for each, columns in self.body(aau.body).items():
            for column, often in columns.items():
                _enter(found.setdefault(each, {}), column, often * trips)
        self.forget(defined(aau.body))
        return found

    def branch(self, aau: g.CondtD | g.CondtSync) -> Payments:
        """A conditional whose conditions do not depend on data or on the parameter.

        Raises:
            NotDerived: they do.
        """
        env = dict(self.places.fixed)
        env |= {each: value for each, found in self.env.items() if isinstance(value := found.constant, int)}
        found: Payments = {aau.id: {}}
        for branch in aau.branches:
            taken = True
            if branch.condition is not None:
                if not names_in(branch.condition) <= env.keys():
                    raise NotDerived("its condition depends on data or on the size")
                try:
                    taken = bool(evaluate(branch.condition, env))
                except Unknown as unknown:
                    raise NotDerived("its condition depends on data or on the size") from unknown
            _enter(found[aau.id], self.prices.of(branch.work), ONE)
            if taken:
                _add(found, self.body(branch.body))
                break
        return found


def _enter(table: dict[CountColumn, Poly], column: CountColumn, often: Poly) -> None:
    table[column] = table.get(column, poly(0)) + often


def _add(into: Payments, more: Payments) -> None:
    for aau, columns in more.items():
        for column, often in columns.items():
            _enter(into.setdefault(aau, {}), column, often)
