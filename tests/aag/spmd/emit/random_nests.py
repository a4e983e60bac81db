"""Random loop nests over distributed arrays, as trees of `tests.aag.spmd.emit.tree`.

Loops have bounds that are constant, triangular, trapezoidal, MIN or MAX, steps of both signs, or no iteration at all;
bodies have several statements, scalars, conditions, EXIT and CYCLE, reductions, PRINT. Subscripts stay inside their
array in every iteration of the loops around them; what a program's own data decide, `Replay` finds out.
"""

import random
from dataclasses import replace

from tests.aag.spmd.emit import tree as t
from tests.aag.spmd.emit.kernels import kernel, private
from tests.aag.spmd.emit.mappings import mapped
from tests.aag.spmd.emit.replay import Replay, Unusable

INDICES = t.INDICES
CARRIED = ("s", "t", "u", "x", "y")
MOST_ROWS = 300


def integer(tree, row):
    """The value of a bound or subscript of our own making."""
    match tree:
        case ("num", value):
            return value
        case ("var", name):
            return row[name]
        case ("call", "min", arguments):
            return min(integer(each, row) for each in arguments)
        case ("call", "max", arguments):
            return max(integer(each, row) for each in arguments)
        case ("+", left, right):
            return integer(left, row) + integer(right, row)
        case ("-", left, right):
            return integer(left, row) - integer(right, row)
        case ("*", left, right):
            return integer(left, row) * integer(right, row)
    raise AssertionError(tree)


def stepped(rows, index, low, high, step):
    """The rows with all values of one more index."""
    end = 1 if (step or 1) > 0 else -1
    return [
        {**row, index: value} for row in rows for value in range(integer(low, row), integer(high, row) + end, step or 1)
    ]


def distinct(target, rows):
    """Whether the elements of a target differ wherever the index P does."""
    found = {(*(row[name] for name in row if name != "p"), *(integer(each, row) for each in target[2])) for row in rows}
    return len(found) == len(rows)


def plus(tree, amount):
    if amount == 0:
        return tree
    return ("+", tree, t.num(amount)) if amount > 0 else ("-", tree, t.num(-amount))


class Writer:
    """Makes the choices of one program."""

    def __init__(self, chooser, procs, kinds):
        self.random, self.procs, self.kinds = chooser, procs, kinds
        self.arrays = []
        self.prints = 0
        self.labels = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def weighted(self, **weights):
        names = [name for name in weights if weights[name]]
        return self.random.choices(names, [weights[name] for name in names])[0]

    # --- declarations ---------------------------------------------------------------------------------------

    def declare(self):
        rank = self.pick(1, 1, 2, 2, 2, 3)
        common = self.bounds(rank)
        for name in "abcd"[: self.pick(*self.kinds.get("arrays", (1, 2, 2, 3, 4)))]:
            other = self.bounds(self.pick(1, 2))
            self.arrays.append(t.Array(name, common if name == "a" or self.chance(65) else other))

    def bounds(self, rank):
        least, most = ((6, 14), (4, 8), (3, 5))[rank - 1]
        found = []
        for _ in range(rank):
            lower = self.pick(1, 1, 1, 1, 0, -1)
            found.append((lower, lower + self.random.randint(least, most) - 1))
        return tuple(found) if self.chance(50) else (found[0],) * rank

    # --- loops ----------------------------------------------------------------------------------------------

    def loop(self, rows, taken, depth, labels):
        """A DO loop around a random body."""
        index = next(each for each in INDICES if each not in taken)
        lower, upper = self.pick(*self.arrays).bounds[-1]
        low, high = self.extent(rows, taken, lower, upper)
        step = self.pick(None, None, None, None, None, -1, -1, 2, 3, -2)
        if step is not None and step < 0:
            low, high = high, low
        if self.chance(4):  # no iteration, whatever the body says
            low, high = t.num(5), plus(low, 0) if low[0] == "num" and low[1] < 5 else t.num(4)
            step = None
        inside = stepped(rows, index, low, high, step)
        if len(inside) > MOST_ROWS:
            inside, low, high, step = self.short(rows, index, lower)
        self.labels += 1
        label = f"loop_{self.labels}" if self.chance(15) else ""
        body = self.body(inside, (*taken, index), depth + 1, (*labels, label))
        return t.Do(index, low, high, None if step is None else t.num(step), tuple(body), label)

    def short(self, rows, index, lower):
        inside = [{**row, index: value} for row in rows for value in (lower, lower + 1)]
        return inside, t.num(lower), t.num(lower + 1), None

    def extent(self, rows, taken, lower, upper):
        """Lower and upper bound: constant, or of the loops around."""
        low, high = t.num(lower + self.pick(0, 0, 1, 2)), t.num(upper - self.pick(0, 0, 1, 2))
        if not taken or self.chance(100 - self.kinds.get("triangular", 55)):
            return low, high
        outer = t.var(self.random.choice(taken))
        match self.weighted(lower=4, upper=4, both=2, minimum=2, maximum=2, other=1):
            case "lower":
                low = plus(outer, self.pick(0, 1, 1, -1))
            case "upper":
                high = plus(outer, self.pick(0, -1, -1, 1))
            case "both":
                low, high = plus(outer, -1), plus(outer, 1)
            case "minimum":
                high = t.call("min", high, plus(outer, self.pick(1, 2, 3)))
            case "maximum":
                low = t.call("max", low, plus(outer, self.pick(-2, -1)))
            case "other":
                high = ("-", t.num(upper + lower), outer)
        return low, high

    def body(self, rows, taken, depth, labels):
        found = []
        for _ in range(self.pick(1, 1, 2, 2, 3)):
            found += self.one(rows, taken, depth, labels)
        return found

    def one(self, rows, taken, depth, labels):
        """One statement, or a few that belong together."""
        deeper = depth < 4 and len(taken) < 4
        k = self.kinds
        match self.weighted(
            array=10,
            update=8,
            scalar=k.get("scalar", 2),
            private=k.get("private", 3),
            reduction=k.get("reduction", 3),
            vector=k.get("vector", 1),
            forall=k.get("forall", 2),
            branch=k.get("branch", 2) if depth else 0,
            leave=k.get("leave", 1) if taken else 0,
            show=k.get("show", 1) if self.prints < 3 else 0,
            nest=(12 if depth < 2 else 4) if deeper else 0,
            chain=k.get("chain", 1) if deeper else 0,
            bound=k.get("bound", 1) if taken else 0,
        ):
            case "array":
                return [t.Assign(self.reference(rows, injective=taken), self.value(rows, taken))]
            case "update":
                target = self.reference(rows, injective=taken)
                term = ("*", self.reference(rows), self.reference(rows)) if self.chance(40) else self.term(rows, taken)
                return [t.Assign(target, t.call("mod", (self.pick("+", "-"), target, term)))]
            case "scalar":
                return [t.Assign(t.var(self.pick(*CARRIED)), self.value(rows, taken))]
            case "private":
                name = self.pick("x", "y")
                use = t.call("mod", ("+", self.term(rows, taken), ("*", t.var(name), self.pick(t.num(3), t.var(name)))))
                return [
                    t.Assign(t.var(name), self.value(rows, taken)),
                    *(self.one(rows, taken, depth, labels) if self.chance(20) else []),
                    t.Assign(self.reference(rows, injective=taken), use),
                ]
            case "reduction":
                return [self.accumulate(t.var(self.pick("s", "t", "u")), rows, taken)]
            case "vector":
                return [self.accumulate(self.reference(rows), rows, taken)]
            case "branch":
                then = self.body(rows, taken, depth + 1, labels)[: self.pick(1, 2)]
                other = self.body(rows, taken, depth + 1, labels)[:1] if self.chance(35) else []
                return [t.If(self.condition(rows, taken), tuple(then), tuple(other))]
            case "leave":
                word = self.pick("exit", "cycle", "cycle") if self.chance(95) else "stop"
                label = self.pick("", *labels) if word != "stop" else ""
                return [t.If(self.condition(rows, taken), (t.Leave(word, label),))]
            case "show":
                self.prints += 1
                return [t.Print((self.atom(rows, taken), self.atom(rows, taken)))]
            case "bound":
                return [t.Assign(t.var("m"), ("+", t.var("m"), t.num(self.pick(1, 2, -1))))]
            case "forall":
                return [self.forall(rows, taken)]
            case "nest":
                return [self.loop(rows, taken, depth, labels)]
            case "chain":
                return self.chain(rows, taken)
        raise AssertionError

    def chain(self, rows, taken):
        """A loop whose scalars go from one iteration to the next; mostly nobody reads them after it."""
        index = next(each for each in INDICES if each not in taken)
        array = self.pick(*self.arrays)
        low, high = self.extent(rows, taken, *array.bounds[self.pick(*range(len(array.bounds)))])
        step = self.pick(None, None, None, -1, 2)
        if step == -1:
            low, high = high, low
        inside = stepped(rows, index, low, high, step)
        if len(inside) > MOST_ROWS:
            inside, low, high, step = self.short(rows, index, array.bounds[-1][0])
        names = self.random.sample(("x", "y"), self.pick(1, 1, 2))
        target = self.reference(inside, injective=(index,))
        body = []
        for name in names:
            used = self.pick(t.var(name), ("*", t.num(3), t.var(self.pick(*names))))
            other = self.pick(target, self.reference(inside), t.var(index))
            body.append(t.Assign(t.var(name), t.call("mod", ("+", other, used))))
        for _ in range(self.pick(1, 1, 2)):
            used = ("+", self.term(inside, (*taken, index)), t.var(self.pick(*names)))
            body.append(t.Assign(target, t.call("mod", used)))
        self.random.shuffle(body)
        before = [t.Assign(t.var(name), self.value(rows, taken)) for name in names if self.chance(60)]
        after = [t.Assign(t.var(name), t.num(self.pick(0, 1, 7))) for name in names if self.chance(85)]
        return [*before, t.Do(index, low, high, None if step is None else t.num(step), tuple(body), ""), *after]

    def forall(self, rows, taken):
        """A FORALL, sections or a WHERE, which stores no element twice."""
        array = self.pick(*self.arrays)
        low, high = self.extent(rows, taken, *array.bounds[self.pick(*range(len(array.bounds)))])
        step = self.pick(None, None, None, 2, -1)
        if step == -1:
            low, high = high, low
        inside = stepped(rows, "p", low, high, step)
        if len(inside) > 4 * MOST_ROWS:
            raise Unusable("too many elements")
        for _ in range(20):
            target = self.reference(inside, injective=("p",))
            if "p" in t.names((t.Assign(target, target),)) and distinct(target, inside):
                break
        else:
            return self.accumulate(t.var("s"), rows, taken)
        mask = self.condition(inside, ()) if self.chance(25) else None
        found = t.Forall("p", low, high, None if step is None else t.num(step), target, self.value(inside, taken), mask)
        return replace(found, form="section") if t.can_be_sections(found) and self.chance(70) else found

    def total(self, rows, taken):
        """SUM, MAXVAL, MINVAL or COUNT of a section."""
        array = self.pick(*self.arrays)
        dim = self.pick(*range(len(array.bounds)))
        low, high = self.extent(rows, taken, *array.bounds[dim])
        inside = stepped(rows, "p", low, high, None)
        if any(not lower <= row["p"] <= upper for row in inside for lower, upper in [array.bounds[dim]]):
            low, high = (t.num(each) for each in array.bounds[dim])
        subscripts = [self.subscript(rows, each) for each in array.bounds]
        subscripts[dim] = t.var("p")
        empty = len({tuple(row[each] for each in taken) for row in inside}) < len(rows)
        name = "sum" if empty else self.pick("sum", "sum", "maxval", "minval", "count")
        return ("total", name, t.ref(array.name, *subscripts), ("p", low, high, None))

    def accumulate(self, target, rows, taken):
        term = self.term(rows, taken)
        if self.chance(75) or not t.has_data(term):
            return t.Assign(target, (self.pick("+", "+", "-"), target, term))
        return t.Assign(target, t.call(self.pick("max", "min"), target, term))

    def condition(self, rows, taken):
        names = [t.var(each) for each in taken]
        relation = self.pick("<", "<=", ">", ">=", "==", "/=")
        match self.weighted(
            affine=3 if len(names) > 1 else 0, parity=2 if names else 0, constant=2 if names else 0, data=3, scalar=1
        ):
            case "affine":
                one, two = self.random.sample(names, 2)
                return (relation, one, plus(two, self.pick(0, 0, 1, -1)))
            case "parity":
                return (self.pick("==", "/="), t.call("parity", self.random.choice(names)), t.num(0))
            case "constant":
                return (relation, self.random.choice(names), t.num(self.random.randint(0, 8)))
            case "scalar":
                return (relation, t.var(self.pick("x", "s")), t.num(self.pick(0, 5, 100)))
        return (self.pick("<", ">", ">="), self.reference(rows), t.num(self.pick(-5, 5, 20, 60)))

    # --- expressions ----------------------------------------------------------------------------------------

    def value(self, rows, taken):
        tree = self.term(rows, taken)
        for _ in range(self.pick(0, 1, 1, 2)):
            tree = (self.pick("+", "+", "-"), tree, self.term(rows, taken))
        return t.call("mod", tree)

    def term(self, rows, taken):
        atom = self.atom(rows, taken)
        return ("*", t.num(self.pick(2, 3, 5)), atom) if self.chance(40) else atom

    def atom(self, rows, taken):
        total = 0 if rows and "p" in rows[0] else self.kinds.get("total", 1)
        match self.weighted(total=total, element=8, scalar=2, index=1 if taken else 0, number=1):
            case "total":
                return self.total(rows, taken)
            case "element":
                return self.reference(rows)
            case "scalar":
                return t.var(self.pick("x", "y", "x", "y", "s", "t"))
            case "index":
                return t.var(self.random.choice(taken))
        return t.num(self.random.randint(1, 9))

    def reference(self, rows, *, injective=()):
        """An element; where it is a target, mostly another one in each iteration."""
        array = self.random.choice(self.arrays)
        names = list(injective)
        self.random.shuffle(names)
        subscripts = []
        for bounds in array.bounds:
            wanted = names.pop() if names and self.chance(80) else None
            subscripts.append(self.subscript(rows, bounds, wanted))
        return t.ref(array.name, *subscripts)

    def subscript(self, rows, bounds, wanted=None):
        """A subscript that stays within `bounds` in all rows: affine in some index, coupled, or constant."""
        lower, upper = bounds
        names = list(rows[0]) if rows else []
        if names and (wanted or self.chance(85)):
            one = t.var(wanted or self.random.choice(names))
            other = t.var(self.random.choice(names))
            form = self.pick(
                *[one] * 5, ("-", t.num(0), one), ("*", t.num(2), one), ("+", one, other), ("-", one, other)
            )
            values = [integer(form, row) for row in rows]
            most = max(values) - min(values)
            if most > upper - lower:
                form, values = one, [integer(one, row) for row in rows]
                most = max(values) - min(values)
            if most <= upper - lower:
                shifts = range(lower - min(values), upper - max(values) + 1)
                near = [each for each in shifts if abs(each) <= 2]
                shift = self.random.choice(near or shifts)
                return ("-", t.num(shift), one) if form == ("-", t.num(0), one) else plus(form, shift)
        return t.num(self.random.randint(lower, upper))


def whole(writer, body, real):
    """A program with this body, that prints all it computes; every other one keeps most scalars to itself, so that
    loops may have them as private ones."""
    most = 100 if writer.chance(50) else 30
    scalars = [name for name in t.SCALARS if writer.chance(most)]
    shown = [t.Print(tuple(t.var(name) for name in (*scalars, *INDICES)))]
    shown += [t.Print((t.var(each.name),)) for each in writer.arrays if each.name != "w" or writer.chance(20)]
    return t.Program("nest", real, tuple(writer.arrays), mapped(writer), tuple(body), body_end=tuple(shown))


NOTHING = dict.fromkeys("scalar private reduction vector branch leave show bound forall total chain".split(), 0)
KINDS = {
    "all": {},
    "affine": {**NOTHING, "arrays": (1, 1, 2)},
    "scalars": {**NOTHING, "scalar": 3, "private": 6, "reduction": 6, "vector": 2, "arrays": (1, 2)},
    "vectors": {**NOTHING, "private": 6, "reduction": 2, "vector": 8, "branch": 1, "arrays": (2, 3)},
    "branches": {**NOTHING, "private": 3, "reduction": 3, "branch": 8, "arrays": (1, 2)},
    "sections": {**NOTHING, "forall": 12, "total": 2, "private": 2, "reduction": 2, "arrays": (1, 2)},
    "totals": {**NOTHING, "total": 8, "arrays": (1, 1, 2)},
    "foralls": {**NOTHING, "forall": 40, "total": 2, "arrays": (1,)},
    "chains": {**NOTHING, "chain": 20, "private": 1, "arrays": (1, 2)},
    "leaving": {**NOTHING, "private": 2, "reduction": 3, "branch": 3, "leave": 5, "show": 2},
}
"""How often some statements are drawn."""


def nests(seed, procs, kind="all"):
    """A random program of this seed, with the replay of it."""
    attempt = 0
    while True:
        attempt += 1
        writer = Writer(random.Random(f"{kind} {seed} {procs} {attempt}"), procs, KINDS.get(kind, {}))
        try:
            body = {"kernels": kernel, "tight": tight, "private": private}.get(kind, drawn)(writer)
            program = whole(writer, body, writer.chance(30))
            return program, Replay(program)
        except Unusable:
            continue


def drawn(writer):
    """One to three nests, with statements between them."""
    writer.declare()
    body = []
    for _ in range(writer.pick(1, 1, 2, 3)):
        if writer.chance(10):
            body += writer.one([], (), 3, ())
        loop = writer.loop([{}], (), 0, ())
        may_change = writer.kinds.get("bound", 1) and loop.upper[0] == "num"
        if may_change and writer.chance(15):  # a bound that the body may change
            body.append(t.Assign(t.var("m"), loop.upper))
            loop = replace(loop, upper=t.var("m"))
        body.append(loop)
    return body


def tight(writer):
    """One nest of short bodies over one or two arrays, all subscripts an index or next to one: most is dependent."""
    rank = writer.pick(1, 1, 2, 2, 2)
    n = writer.random.randint(5, 9)
    writer.arrays = [t.Array(name, ((1, n),) * rank) for name in writer.pick("a", "a", "ab")]
    writer.kinds = {**NOTHING, "triangular": 75, "tight": True}
    depth = writer.pick(2, 2, 3, 3, 4)
    names = writer.random.sample(INDICES[:depth], depth)
    return [around(writer, [{}], names, [], n)]


def around(writer, rows, names, taken, n):
    """The loop over the first of these names, the others in it, now and then statements beside these."""
    index, *others = names
    low, high = writer.extent(rows, taken, 1, n)
    step = writer.pick(None, None, None, -1, 2)
    if step == -1:
        low, high = high, low
    inside = stepped(rows, index, low, high, step)
    if len(inside) > 2 * MOST_ROWS:
        raise Unusable("too many iterations")
    here = [*taken, index]
    body = [around(writer, inside, others, here, n)] if others else []
    for _ in range(writer.pick(0, 0, 0, 1) if others else writer.pick(1, 1, 1, 2)):
        target = near(writer, inside, here)
        value = ("+", ("*", t.num(3), near(writer, inside, here)), near(writer, inside, here))
        if writer.chance(40):
            value = ("-", target, ("*", near(writer, inside, here), near(writer, inside, here)))
        one = t.Assign(target, t.call("mod", value))
        body.insert(writer.pick(0, len(body)), one)
    return t.Do(index, low, high, None if step is None else t.num(step), tuple(body))


def near(writer, rows, taken):
    """An element at an index, or next to one where it stays inside."""
    array = writer.random.choice(writer.arrays)
    found = []
    for lower, upper in array.bounds:
        index = writer.random.choice(taken)
        shifts = [each for each in (0, 0, 0, 1, -1) if all(lower <= row[index] + each <= upper for row in rows)]
        found.append(plus(t.var(index), writer.random.choice(shifts)) if shifts else t.num(writer.pick(lower, upper)))
    return t.ref(array.name, *found)
