"""Runs the trees of `tests.aag.spmd.emit.tree`: what a program prints, and each access in serial order."""

from dataclasses import dataclass
from math import fmod

from tests.aag.spmd.emit import tree as t

MOST = 60_000
LARGEST = 2**31 - 1


class Unusable(Exception):
    """A program that no test wants: a subscript outside its array, an integer too large, too much work."""


class Left(Exception):
    def __init__(self, word, label):
        super().__init__(word)
        self.word, self.label = word, label


@dataclass(frozen=True)
class Access:
    """One read or write; `loops` are (loop or FORALL, execution of it, iteration, value of its index), outermost
    first."""

    writes: bool
    name: str
    at: tuple
    statement: object
    loops: tuple
    step: int
    """Number of the execution of a statement that it belongs to."""


class Replay:
    """One run of a program."""

    def __init__(self, program):
        self.program = program
        self.bounds = {each.name: each.bounds for each in program.arrays}
        self.values, self.accesses, self.printed, self.steps, self.stopped = {}, [], [], 0, False
        self.executions = {}
        for each in program.arrays:
            for at in elements(each.bounds):
                self.values[each.name, at] = t.start_value(each, at)
        self.values |= {(name, ()): t.STARTS[name] for name in (*program.scalars, *program.indices)}
        try:
            self.run(program.body + program.body_end, ())
        except Left:  # STOP
            self.stopped = True

    def access(self, name, at, statement, loops, *, writes):
        if len(self.accesses) > MOST:
            raise Unusable("too much work")
        bounds = self.bounds.get(name, ())
        if any(not lower <= each <= upper for each, (lower, upper) in zip(at, bounds, strict=True)):
            raise Unusable(f"{name}{at}")
        self.accesses.append(Access(writes, name, at, statement, loops, self.steps))

    def run(self, body, loops):
        for each in body:
            self.steps += 1
            match each:
                case t.Assign(target, value):
                    found = self.value(value, each, loops)
                    name, at = target[1], ()
                    if target[0] == "ref":
                        at = tuple(self.value(one, each, loops) for one in target[2])
                    self.access(name, at, each, loops, writes=True)
                    self.values[name, at] = found
                case t.If(condition, then, otherwise):
                    self.run(then if self.value(condition, each, loops) else otherwise, loops)
                case t.Do():
                    self.loop(each, loops)
                case t.Forall():
                    self.forall(each, loops)
                case t.Leave(word, label):
                    raise Left(word, label)
                case t.Print(items):
                    self.printed.append([shown for item in items for shown in self.shown(item, each, loops)])

    def shown(self, item, each, loops):
        if item[0] == "var" and item[1] in self.bounds:
            found = []
            for at in elements(self.bounds[item[1]]):
                self.access(item[1], at, each, loops, writes=False)
                found.append(self.values[item[1], at])
            return found
        return [self.value(item, each, loops)]

    def loop(self, loop, loops):
        lower, upper = (self.value(each, loop, loops) for each in (loop.lower, loop.upper))
        step = 1 if loop.step is None else self.value(loop.step, loop, loops)
        trips = max(0, (upper - lower + step) // step)
        execution = self.executions[id(loop)] = self.executions.get(id(loop), -1) + 1
        self.access(loop.index, (), loop, loops, writes=True)
        self.values[loop.index, ()] = lower
        for trip in range(trips):
            self.steps += 1
            inside = (*loops, (loop, execution, trip, lower + trip * step))
            try:
                self.run(loop.body, inside)
            except Left as left:
                if left.word == "stop" or (left.label and left.label != loop.label):
                    raise
                if left.word == "exit":
                    break
            self.values[loop.index, ()] = lower + (trip + 1) * step

    def forall(self, each, loops):
        found = []
        execution = self.executions[id(each)] = self.executions.get(id(each), -1) + 1
        for trip, value in enumerate(self.taken((each.lower, each.upper, each.step), each, loops)):
            self.values[each.index, ()] = value
            inside = (*loops, (each, execution, trip, value))
            if each.mask is None or self.value(each.mask, each, inside):
                at = tuple(self.value(one, each, inside) for one in each.target[2])
                found.append((at, self.value(each.value, each, inside), inside))
        if len({at for at, _, _ in found}) < len(found):
            raise Unusable("stores twice to one element")
        for at, value, inside in found:
            self.access(each.target[1], at, each, inside, writes=True)
            self.values[each.target[1], at] = value

    def taken(self, triplet, each, loops):
        """Values of an index."""
        lower, upper = (self.value(one, each, loops) for one in triplet[:2])
        step = 1 if triplet[2] is None else self.value(triplet[2], each, loops)
        return range(lower, upper + (1 if step > 0 else -1), step)

    def value(self, tree, each, loops):
        match tree:
            case ("total", name, inner, (index, *triplet)):
                found = []
                for value in self.taken(triplet, each, loops):
                    self.values[index, ()] = value
                    found.append(self.value(inner, each, loops))
                if name == "count":
                    return sum(value > t.COUNTED for value in found)
                if name != "sum" and not found:
                    raise Unusable("the largest of nothing")
                return {"sum": sum, "maxval": max, "minval": min}[name](found)
            case ("num", number):
                return number
            case ("var", name):
                self.access(name, (), each, loops, writes=False)
                return self.values[name, ()]
            case ("ref", name, subscripts):
                at = tuple(self.value(one, each, loops) for one in subscripts)
                self.access(name, at, each, loops, writes=False)
                return self.values[name, at]
            case ("call", name, arguments):
                found = [self.value(one, each, loops) for one in arguments]
                if name in {"mod", "parity"}:
                    return int(fmod(found[0], t.PRIME if name == "mod" else 2))
                return {"min": min, "max": max, "abs": lambda xs: abs(xs[0])}[name](found)
            case (operator, left, right):
                one, other = self.value(left, each, loops), self.value(right, each, loops)
                found = OPERATORS[operator](one, other)
                if abs(found) > LARGEST:
                    raise Unusable("too large")
                return found
        raise AssertionError(tree)


OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "/=": lambda a, b: a != b,
    ".and.": lambda a, b: bool(a and b),
    ".or.": lambda a, b: bool(a or b),
}


def elements(bounds):
    """All subscripts of an array in the order of its elements (the first subscript runs fastest)."""
    if not bounds:
        return [()]
    lower, upper = bounds[-1]
    return [(*first, last) for last in range(lower, upper + 1) for first in elements(bounds[:-1])]


def as_printed(replay):
    """What the program prints, as numbers."""
    return [value for line in replay.printed for value in line]
