"""The dependence test against enumeration: random pairs of accesses in nests of depth 1 to 4, all pairs of iterations.

Of each level of loops around both, and of one iteration of them: may the second access touch what the first touched
before? What is said to be independent must be, and where the test calls itself exact the converse, too.
"""

import random

import pytest

from aag.ir.expressions import Binary, Call, IntLit, Var
from aag.spmd.dependence import Access, Dependence
from aag.spmd.nodes import Index
from tests.aag.spmd.emit import tree as t
from tests.aag.spmd.emit.random_nests import integer, plus, stepped

PARAMETERS = {"n": 6}
MOST = 350


def expression(tree):
    """A tree of `tests.aag.spmd.emit.tree` as an expression of esp."""
    match tree:
        case ("num", value):
            return IntLit(value)
        case ("var", name):
            return Var(name)
        case ("call", name, arguments):
            return Call(name, tuple(map(expression, arguments)))
        case (operator, left, right):
            return Binary(operator, expression(left), expression(right))
    raise AssertionError(tree)


class Pair:
    """Two accesses, the loops around them, and all their iterations as (values, trips, element)."""

    def __init__(self, chooser):
        self.random = chooser
        self.rank = self.pick(1, 1, 1, 2, 2, 3)
        self.subscripts = []
        shared, depths = self.pick(0, 1, 1, 2, 2, 3, 4), []
        loops, rows = self.nest([], [dict(PARAMETERS)], shared)
        for _ in range(2):
            own = self.pick(0, 0, 1) if shared else 1
            depths.append(self.nest(loops, rows, min(own, 4 - shared)))
        self.common = shared
        self.ends = [self.access(own, inner, end) for end, (own, inner) in enumerate(depths)]

    def pick(self, *choices):
        return self.random.choice(choices)

    def nest(self, loops, rows, more):
        """Loops inside `loops`, and the rows of all of them."""
        loops = list(loops)
        for _ in range(more):
            index = "ijkl"[len(loops)]
            step = self.pick(None, None, None, None, 2, 3, -1, -2)
            outer = [each[0] for each in loops]
            low, high = self.bound(outer, self.pick(-1, 0, 1, 1)), self.bound(outer, self.pick(4, 5, 6, "n"))
            if self.pick(1, 2, 3) == 1:
                low = t.call("max", low, self.bound(outer, 1))
            if self.pick(1, 2, 3) == 1:
                high = t.call("min", high, self.bound(outer, 5))
            if step is not None and step < 0:
                low, high = high, low
            loops.append((index, low, high, step, object()))
            rows = stepped(rows, index, low, high, step)
            if len(rows) > MOST:
                raise TooMany
        return loops, rows

    def bound(self, outer, constant):
        tree = t.var(constant) if isinstance(constant, str) else t.num(constant)
        if not outer or self.pick(1, 2) == 1:
            return tree
        one = t.var(self.pick(*outer))
        return self.pick(plus(one, self.pick(-1, 0, 1)), ("-", t.num(6), one), ("+", one, tree), ("*", t.num(2), one))

    def subscript(self, names):
        tree = t.num(self.pick(0, 0, 1, 2))
        for name in self.random.sample(names, self.pick(*range(min(2, len(names)) + 1), min(1, len(names)))):
            factor = self.pick(1, 1, 1, 1, -1, 2, 3)
            one = t.var(name) if factor == 1 else ("*", t.num(factor), t.var(name))
            tree = ("+", tree, one)
        return tree

    def access(self, loops, rows, end):
        names = [each[0] for each in loops]
        subscripts = [self.subscript(names) for _ in range(self.rank)]
        if self.subscripts and self.pick(1, 2, 3) > 1:  # near the first, where both have its indices
            subscripts = [
                plus(one, self.pick(-1, 0, 0, 1)) if named(one) <= {*names} else other
                for one, other in zip(self.subscripts, subscripts, strict=True)
            ]
        self.subscripts = subscripts
        mask = None
        if len(names) > 1 and self.pick(1, 2, 3, 4) == 1:
            mask = (self.pick("<", "<=", "==", ">", "/="), *map(t.var, self.random.sample(names, 2)))
        found = []
        for row in rows:
            if mask is None or COMPARED[mask[0]](integer(mask[1], row), integer(mask[2], row)):
                trips = tuple((row[index] - integer(low, row)) // (step or 1) for index, low, _, step, _ in loops)
                found.append((trips, tuple(integer(each, row) for each in subscripts), row))
        indices = tuple(
            Index(name=name, lower=expression(low), upper=expression(high), step=None if step is None else IntLit(step))
            for name, low, high, step, _ in loops
        )
        masks = () if mask is None else (expression(mask),)
        of_esp = Access("a", tuple(map(expression, subscripts)), indices, tuple(each[-1] for each in loops), end, masks)
        return of_esp, found

    def enumerated(self):
        """Levels at which the second meets the first later, `common` for one iteration: each with examples."""
        places = {}
        for trips, element, row in self.ends[1][1]:
            places.setdefault(element, []).append((trips, row))
        found = {}
        for trips, element, row in self.ends[0][1]:
            for others, other in places.get(element, ()):
                for level in range(self.common):
                    if trips[level] != others[level]:
                        if trips[level] < others[level]:
                            name = "ijkl"[level]
                            found.setdefault(level, set()).add((row[name], other[name], element))
                        break
                else:
                    found.setdefault(self.common, set())
        return found

    def __str__(self):
        lines = []
        for access, _ in self.ends:
            lines += [f"{each.name} = {each.lower} : {each.upper} : {each.step}" for each in access.indices]
            lines.append(f"  {access.subscripts} {access.masks}")
        return "\n".join(lines)


def named(tree):
    return t.names((t.Assign(t.num(0), tree),))


class TooMany(Exception):
    pass


COMPARED = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    ">": lambda a, b: a > b,
    "/=": lambda a, b: a != b,
}


def drawn(seed):
    chooser = random.Random(f"dependence {seed}")
    while True:
        try:
            return Pair(chooser)
        except TooMany:
            continue


def check(seed):
    """Whether the test says of itself that it is exact."""
    pair = drawn(seed)
    first, second = (access for access, _ in pair.ends)
    found = pair.enumerated()
    dependence = Dependence(first, second, PARAMETERS)
    said = {level for level in range(pair.common) if dependence.is_carried(level)}
    if dependence.is_independent():
        said.add(pair.common)
    assert said >= found.keys(), f"seed {seed}: {pair}\nmissed {found.keys() - said}"
    assert dependence.exists() == bool(said), f"seed {seed}: {pair}"
    if dependence.is_exact:
        assert said == found.keys(), f"seed {seed}: {pair}\nnot there: {said - found.keys()}"
    for level in range(pair.common):
        example = dependence.meeting(level)
        if example is not None:
            shown = (example.earlier, example.later, example.element)
            assert shown in found[level], f"seed {seed}: {pair}\n{shown}"
    return dependence.is_exact, bool(found)


def shares(seeds):
    """Shares of the pairs that are exact, and that are dependent."""
    results = [check(seed) for seed in seeds]
    return [sum(each[at] for each in results) / len(results) for at in range(2)]


def test_as_enumerated():
    exact, dependent = shares(range(100))
    assert exact > 0.98
    assert 0.25 < dependent < 0.9


@pytest.mark.truth
@pytest.mark.parametrize("batch", range(10))
def test_many_as_enumerated(batch):
    exact, _ = shares(range(1000 * batch + 1000, 1000 * batch + 1500))
    assert exact > 0.98
