"""Random small HPF programs: arrays of ranks 1 to 3 in all formats and alignments, statements of all forms.

A `Writer` makes choices with a random number generator and writes Fortran text. Every subscript it writes stays
inside its array; no FORALL stores twice to one element.
"""

import re
from dataclasses import dataclass, field
from math import prod

from tests.aag.spmd.random_allocated import Allocated
from tests.aag.spmd.random_bodies import Bodies
from tests.aag.spmd.random_calls import Calls
from tests.aag.spmd.random_concurrent import Concurrents
from tests.aag.spmd.random_constructors import Constructors
from tests.aag.spmd.random_guards import Guards
from tests.aag.spmd.random_library import Linked
from tests.aag.spmd.random_packs import Packs
from tests.aag.spmd.random_pointers import Pointers
from tests.aag.spmd.random_records import Records
from tests.aag.spmd.random_reductions import Reductions
from tests.aag.spmd.random_remaps import Remaps
from tests.aag.spmd.random_serial import Serials
from tests.aag.spmd.random_tables import Tables
from tests.aag.spmd.random_uses import Uses


@dataclass(frozen=True)
class Array:
    name: str
    bounds: tuple[tuple[int, int], ...]

    @property
    def rank(self):
        return len(self.bounds)

    @property
    def extents(self):
        return tuple(upper - lower + 1 for lower, upper in self.bounds)


@dataclass(frozen=True)
class Loop:
    """One index, its bounds as text."""

    name: str
    lower: str
    upper: str
    step: str = ""

    def text(self):
        return f"{self.name} = {self.lower}:{self.upper}" + (f":{self.step}" if self.step else "")

    def do(self):
        return f"do {self.name} = {self.lower}, {self.upper}" + (f", {self.step}" if self.step else "")


def value(text, row):
    """The value of a subscript of our own making."""
    return eval(text, {}, dict(row))


@dataclass
class Writer(
    Allocated,
    Bodies,
    Calls,
    Concurrents,
    Constructors,
    Guards,
    Linked,
    Packs,
    Pointers,
    Records,
    Reductions,
    Remaps,
    Serials,
    Tables,
    Uses,
):
    random: object
    arrays: list = field(default_factory=list)
    directives: list = field(default_factory=list)
    grids: dict = field(default_factory=dict)
    templates: dict = field(default_factory=dict)
    again: list = field(default_factory=list)
    results: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    pointers: list = field(default_factory=list)
    components: tuple = ()
    allocated_rank: int = 0
    indirect_share: int = 0
    library: bool = False
    concurrents: bool = False
    internal: list = field(default_factory=list)
    external: list = field(default_factory=list)
    interfaces: list = field(default_factory=list)
    modules: list = field(default_factory=list)
    uses: list = field(default_factory=list)
    procs: int = 1

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    # --- declarations ---------------------------------------------------------------------------------------

    def declare(self, names):
        self.procs = self.pick(1, 2, 3, 4, 4, 5, 6, 6, 8, 12)
        for number in range(self.pick(1, 1, 2)):
            shape = self.factors(self.pick(1, 2, 2, 3))
            self.grids[f"g{number}"] = shape
            self.directives.append(f"processors g{number}({', '.join(map(str, shape))})")
        largest = (0, 12, 7, 4)
        base = self.pick(1, 1, 2, 2, 3)
        common = tuple(self.bound(largest[base]) for _ in range(base))
        for name in names:
            rank = self.pick(1, 2, 3)
            own = tuple(self.bound(largest[rank]) for _ in range(rank))
            array = Array(name, common if self.chance(60) else own)
            self.arrays.append(array)
            self.map(array)

    def bound(self, largest):
        lower = self.pick(1, 1, 1, 0, -2)
        return lower, lower + self.random.randint(1, largest) - 1

    def factors(self, rank):
        shape, left = [], self.procs
        for _ in range(rank - 1):
            extent = self.random.choice([each for each in range(1, left + 1) if left % each == 0])
            shape.append(extent)
            left //= extent
        shape.append(left)
        self.random.shuffle(shape)
        return tuple(shape)

    def formats(self, rank, shape, extents):
        dims = sorted(self.random.sample(range(rank), len(shape)))
        procs = dict(zip(dims, shape, strict=True))
        wide = f"block({max(extents) + self.random.randrange(2)})"
        kinds = ("block", "block", "cyclic", "cyclic(2)", "cyclic(3)", wide, "gen_block", "gen_block")
        found = [self.pick(*kinds) if dim in procs else "*" for dim in range(rank)]
        for dim, kind in enumerate(found):
            if kind == "gen_block":
                found[dim] = f"gen_block({self.sizes(extents[dim], procs[dim])})"
        return ", ".join(found)

    def sizes(self, extent, procs):
        """Sizes of blocks that hold a dimension, some of them empty, some with more room than there is."""
        cuts = sorted(self.random.randint(0, extent) for _ in range(procs - 1))
        found = [high - low for low, high in zip([0, *cuts], [*cuts, extent], strict=True)]
        found[-1] += self.random.randrange(2)
        return f"(/ {','.join(map(str, found))} /)"

    def map(self, array):
        how = self.random.randrange(100)
        name, shape = self.random.choice(list(self.grids.items()))
        others = [each for each in self.arrays[:-1] if each.bounds == array.bounds]
        if how < 12:
            return
        if how < 30 and others:
            self.directives.append(f"align with {self.random.choice(others).name} :: {array.name}")
        elif how < 55 and len(shape) <= array.rank:
            formats = self.formats(array.rank, shape, array.extents)
            self.directives.append(f"distribute {array.name}({formats}) onto {name}")
        else:
            self.align(array, name, shape)

    def align(self, array, grid, shape, *, template="", again=False):
        """A template, and an alignment with strides, offsets, reversals, constants and replication; `again`: one that
        a REALIGN may give."""
        rank = self.random.randint(len(shape), 3)
        free = self.random.sample(range(array.rank), array.rank)
        subscripts, bounds = [], []
        for _ in range(rank):
            if free and self.chance(75):
                dim = free.pop()
                stride = self.pick(1, 1, 1, -1, 2, -2, 3)
                offset = self.random.randint(-3, 3)
                images = [stride * each + offset for each in array.bounds[dim]]
                subscripts.append(f"{stride}*d{dim}+{offset}".replace("+-", "-"))
                bounds.append((min(images) - self.random.randrange(3), max(images) + self.random.randrange(3)))
            else:
                lower = self.pick(1, 0)
                upper = lower + self.random.randrange(6)
                bounds.append((lower, upper))
                subscripts.append("*" if self.chance(50) else str(self.random.randint(lower, upper)))
        axes = ", ".join("*" if dim in free else f"d{dim}" for dim in range(array.rank))
        extents = [upper - lower + 1 for lower, upper in bounds]
        template = template or f"t_{array.name}"
        self.templates[template] = extents
        self.directives.append(f"template {template}({', '.join(f'{a}:{b}' for a, b in bounds)})")
        self.directives.append(f"distribute {template}({self.formats(rank, shape, extents)}) onto {grid}")
        text = f"align {array.name}({axes}) with {template}({', '.join(subscripts)})"
        (self.again if again else self.directives).append(f"re{text}" if again else text)

    # --- references -----------------------------------------------------------------------------------------

    def loops(self, count, *, triangular=True):
        """Loops and all their iterations, each as {name: value}."""
        loops, rows = [], [{}]
        for at in range(count):
            lower, upper = self.random.randint(-1, 3), self.random.randint(3, 9)
            step = self.pick("", "", "", "2", "-1")
            low, high = str(lower), str(upper)
            if loops and triangular and self.chance(25):
                if self.chance(50):
                    low = f"{loops[-1].name} + {self.pick(0, 1)}"
                else:
                    high = f"{loops[-1].name} + 1"
            if step == "-1":
                low, high = high, low
            loop = Loop("ijkl"[at], low, high, step)
            loops.append(loop)
            rows = [more for row in rows for more in self.rows(loop, row)]
        return loops, rows

    def rows(self, loop, row):
        pace = int(loop.step or 1)
        taken = range(value(loop.lower, row), value(loop.upper, row) + (1 if pace > 0 else -1), pace)
        return [{**row, loop.name: each} for each in taken]

    def subscript(self, rows, bounds, form=None):
        """A subscript that stays within `bounds` in all rows."""
        return self.through(rows, bounds, form) or self.plain_subscript(rows, bounds, form)

    def plain_subscript(self, rows, bounds, form=None):
        """One that is affine in some index, coupled, or constant."""
        lower, upper = bounds
        names = list(rows[0]) if rows else []
        if names and (form or self.chance(80)):
            if form is None:
                one, two = self.random.choice(names), self.random.choice(names)
                form = self.pick("{0}", "{0}", "{0}", "-{0}", "2*{0}", "{0}+{1}").format(one, two)
            values = [value(form, row) for row in rows]
            if max(values) - min(values) <= upper - lower:
                shift = self.random.randint(lower - min(values), upper - max(values))
                return f"{form} + {shift}" if shift >= 0 else f"{form} - {-shift}"
        return str(self.random.randint(lower, upper))

    def reference(self, rows, array=None):
        array = array or self.random.choice(self.arrays)
        return f"{array.name}({', '.join(self.subscript(rows, each) for each in array.bounds)})"

    def target(self, array, loops, rows):
        """A target that stores each element once, or None."""
        dims = self.random.sample(range(array.rank), len(loops))
        subscripts = [self.subscript([], each) for each in array.bounds]
        for dim, loop in zip(dims, loops, strict=True):
            form = self.pick("{}", "{}", "{}", "-{}", "2*{}").format(loop.name)
            subscripts[dim] = self.subscript(rows, array.bounds[dim], form)
            if loop.name not in subscripts[dim]:
                return None
        return f"{array.name}({', '.join(subscripts)})"

    def expression(self, rows, count=None):
        parts = [self.reference(rows) for _ in range(count or self.pick(1, 1, 2, 3))]
        if self.chance(30):
            parts.append("s")
        text = parts[0]
        for part in parts[1:]:
            text = f"{self.pick('0.5d0', '0.25d0')} * ({text}) {self.pick('+', '-')} 0.5d0 * {part}"
        return text

    def mask(self, rows):
        """A mask that data decide, or one that the indices do."""
        if self.chance(40):
            return f"{self.reference(rows)} > 0.4d0"
        names = list(rows[0])
        one, other = self.random.choice(names), self.random.choice(names)
        parts = [
            self.pick(f"mod({one} + {other}, 3) /= 0", f"{one} <= 2*{other} - 1", f".not. {one} == 3")
            for _ in range(self.pick(1, 1, 2))
        ]
        return self.pick(" .and. ", " .or. ").join(parts)

    # --- statements -----------------------------------------------------------------------------------------

    def forall(self):
        for _ in range(20):
            array = self.random.choice(self.arrays)
            loops, rows = self.loops(self.random.randint(1, array.rank))
            target = self.target(array, loops, rows) if rows else None
            if target is not None:
                mask = f", {self.mask(rows)}" if self.chance(30) else ""
                head = ", ".join(each.text() for each in loops)
                first = f"{target} = {self.expression(rows)}"
                wide = [each for each in self.arrays if each.rank >= len(loops)]
                names = {each.name for each in loops}
                alone = all(len(names & set(re.findall(r"\w+", each.text()))) == 1 for each in loops)
                other = self.target(self.random.choice(wide), loops, rows) if alone and self.chance(30) else None
                if other is None:
                    return [f"forall ({head}{mask}) {first}"]
                if mask and self.chance(50):
                    mask = f", {target} > 0.4d0"  # which the first assignment changes
                return [f"forall ({head}{mask})", first, f"{other} = {self.expression(rows)}", "end forall"]
        return self.scalar()

    def section(self, array, extents):
        """A section of an array with these extents, or None."""
        if array.rank < len(extents):
            return None
        dims = sorted(self.random.sample(range(array.rank), len(extents)))
        subscripts = [self.subscript([], each) for each in array.bounds]
        for dim, extent in zip(dims, extents, strict=True):
            lower, upper = array.bounds[dim]
            step = self.pick(1, 1, 2, -1)
            width = (extent - 1) * abs(step)
            if width > upper - lower:
                step, width = 1, extent - 1
            if width > upper - lower:
                return None
            first = self.random.randint(lower, upper - width)
            last = first + width
            if step == -1:
                subscripts[dim] = f"{last}:{first}:-1"
            elif (first, last, step) == (lower, upper, 1) and self.chance(50):
                subscripts[dim] = ":"
            else:
                subscripts[dim] = f"{first}:{last}" + (":2" if step == 2 else "")
        return f"{array.name}({', '.join(subscripts)})"

    def operand(self, extents):
        for _ in range(10):
            array = self.random.choice(self.arrays)
            if array.extents == tuple(extents) and self.chance(60):
                return self.shifted(array.name, array.rank)
            text = self.section(array, extents)
            if text is not None:
                return self.shifted(text, len(extents))
        return "s"

    def shifted(self, text, rank):
        """A whole array or a section, in some cases shifted."""
        if not self.chance(40):
            return text
        dim = self.random.randint(1, rank)
        name, shift = self.pick("cshift", "eoshift"), self.random.randint(-2, 3)
        filled = f", boundary={shift}.5d0" if name == "eoshift" and shift % 2 else ""
        return f"{name}({text}, {shift}{filled}, dim={dim})"

    def array_target(self):
        array = self.random.choice(self.arrays)
        if self.chance(50):
            return array.name, array.extents
        dims = self.random.randint(1, array.rank)
        extents = tuple(self.random.randint(1, min(4, each)) for each in self.random.sample(array.extents, dims))
        text = self.section(array, extents)
        return (text, extents) if text else (array.name, array.extents)

    def assignment(self):
        target, extents = self.array_target()
        parts = [self.operand(extents) for _ in range(self.pick(1, 2))]
        return [f"{target} = " + " + ".join(f"0.5d0 * {part}" for part in parts)]

    def dims(self):
        """A loop over the dimensions of an array."""
        array = self.random.choice(self.arrays)
        shift = self.pick("cshift({0}, {1}, {2})", "eoshift({0}, {1}, dim={2})", "cshift({0}, dim={2}, shift={1})")
        value = shift.format(array.name, self.random.randint(-2, 2), "k")
        skipped = [f"if (k == {self.random.randint(1, 3)}) cycle"] if self.chance(30) else []
        first, last, step = self.pick((1, array.rank, ""), (array.rank, 1, ", -1"))
        return [
            f"do k = {first}, {last}{step}",
            *skipped,
            f"{array.name} = 0.5d0 * {array.name} + 0.25d0 * {value}",
            "end do",
        ]

    def where(self):
        target, extents = self.array_target()
        mask = self.operand(extents)
        if mask == "s":
            return self.assignment()
        heads = [f"where ({mask} > 0.3d0)"]
        other = self.operand(extents)
        if self.chance(25) and other != "s":
            heads.append(f"elsewhere ({other} < 0.2d0)")
        if self.chance(40):
            heads.append("elsewhere")
        lines = []
        for factor, head in zip(("0.5d0", "0.75d0", "0.25d0"), heads, strict=False):
            lines += [head, f"  {target} = {factor} * {self.operand(extents)}"]
            other = self.of_shape(extents)
            if other and self.chance(40):
                lines.append(f"  {other} = {factor} * {self.operand(extents)}")
        return [*lines, "end where"]

    def of_shape(self, extents):
        """An array or a section with these extents, in whatever mapping, or None."""
        array = self.random.choice(self.arrays)
        return array.name if array.extents == tuple(extents) else self.section(array, extents)

    def reduction(self):
        array = self.random.choice(self.arrays)
        kind = self.random.randrange(4)
        if kind == 0 and array.rank > 1:
            dim = self.random.randrange(array.rank)
            extents = tuple(each for at, each in enumerate(array.extents) if at != dim)
            for target in self.random.sample(self.arrays, len(self.arrays)):
                if target.extents == extents:
                    return [f"{target.name} = {self.pick('sum', 'maxval')}({array.name}, dim={dim + 1}) / 4"]
        if kind == 1:
            return [f"s = maxval(abs({array.name}))"]
        if kind == 2:
            extents = tuple(self.random.randint(1, min(4, each)) for each in array.extents)
            return [f"s = sum({self.operand(extents)} * {self.section(array, extents)}) / {prod(extents)}"]
        return [f"s = 0.5d0 + sum({array.name}) / {10 * prod(array.extents)}"]

    def scalar(self):
        return [f"s = {self.expression([], 1)} / 2"]

    def do(self):
        """DO loops without INDEPENDENT: parallel, owned or plain, as their dependences say."""
        form = self.pick("nest", "nest", "time", "imperfect", "private", "carried", "sum", "extreme", "condition")
        loops, rows = self.loops(2 if form == "imperfect" else self.pick(1, 1, 2))
        if not rows:
            return self.scalar()
        head, tail = [each.do() for each in loops], ["end do" for _ in loops]
        match form:
            case "time":
                loops = loops[1:]
            case "imperfect":
                outer = self.rows(loops[0], {})
                first, last = (self.store(loops[:1], outer) if self.chance(60) else [] for _ in range(2))
                return [head[0], *first, head[1], *self.store(loops, rows), tail[1], *last, tail[0]]
            case "private":
                inside = [f"t = {self.expression(rows)}", *self.store(loops, rows, "0.5d0 * t + ")]
                return [*head, *inside, *tail]
            case "carried":
                lines = [f"t = 0.5d0 * t + {self.expression(rows)}"], self.store(loops, rows, "0.5d0 * t + ")
                inside = [line for some in self.random.sample(lines, 2) for line in some]
                return [f"t = {self.expression([], 1)}", *head, *inside, *tail, "t = 0.5d0"]
            case "sum":
                return ["s = s / 4", *head, f"s = s + {self.reference(rows)} / {4 * len(rows)}", *tail]
            case "extreme":
                name = self.pick("max", "min", "dmax1")
                return [*head, *self.store(loops, rows), f"s = {name}(s, {self.reference(rows)})", *tail]
            case "condition":
                test = f"if ({self.reference(rows)} > 0.4d0) then"
                other = ["else", *self.store(loops, rows)] if self.chance(40) else []
                return [*head, test, *self.store(loops, rows), *other, "end if", *tail]
        body = [line for _ in range(self.pick(1, 1, 2, 3)) for line in self.store(loops, rows)]
        return [*head, *body, *tail]

    def flags(self):
        """A logical variable that some iterations set, among assignments."""
        loops, rows = self.loops(self.pick(1, 2))
        if not rows:
            return self.scalar()
        start = self.pick(".true.", ".false.")
        to = self.pick(".true.", ".false.")
        line = f"if ({self.reference(rows)} > {self.pick('0.4d0', '0.9d0', '1.5d0')}) flag = {to}"
        body = self.pick([line], [line, *self.store(loops, rows)], [*self.store(loops, rows), line])
        head, tail = [each.do() for each in loops], ["end do" for _ in loops]
        return [f"flag = {start}", *head, *body, *tail, "s = merge(s, 0.5d0 * s + 0.25d0, flag)"]

    def store(self, loops, rows, more=""):
        """One assignment inside loops: its target may or may not move with all of them."""
        arrays = [each for each in self.arrays if each.rank >= len(loops)]
        array = self.random.choice(arrays or self.arrays)
        target = self.target(array, loops[: array.rank], rows) or self.reference(rows, array)
        if self.chance(10):
            target = self.reference(rows, array)
        return [f"{target} = {more}{self.expression(rows)} / 2"]

    def independent(self):
        """INDEPENDENT loops over arrays that are written or read, not both, with NEW and REDUCTION."""
        if len(self.arrays) < 2:
            return self.scalar()
        everything = self.arrays
        written = self.random.choice(everything)
        try:
            self.arrays = [written]
            loops, rows = self.loops(self.random.randint(1, written.rank), triangular=self.chance(50))
            target = self.target(written, loops, rows) if rows else None
            self.arrays = [each for each in everything if each is not written]
            if target is None:
                return self.scalar()
            head, tail = [each.do() for each in loops], ["end do" for _ in loops]
            names = ", ".join(each.name for each in loops[1:])
            new = f", new({names}, t)" if names else ", new(t)"
            form = self.pick("plain", "new", "sum", "condition")
            value = f"{self.expression(rows)} / 2"
            match form:
                case "new":
                    body = [f"t = {self.expression(rows)}", f"{target} = 0.5d0 * t + {value}"]
                case "sum":
                    line = f"s = s + {self.reference(rows)} / {4 * len(rows)}"
                    before = f"!hpf$ independent{new}, reduction(s)"
                    return ["s = s / 4", before, *head, line, *tail]
                case "condition":
                    body = [f"if ({self.reference(rows)} > 0.4d0) {target} = {value}"]
                case _:
                    body = [f"{target} = {value}"]
            return [f"!hpf$ independent{new}", *head, *body, *tail]
        finally:
            self.arrays = everything

    def intrinsic(self):
        array = self.random.choice(self.arrays)
        flat = [each for each in self.arrays if each.rank == 2]
        if self.chance(40) or not flat:
            extents = (self.random.randint(1, max(array.extents)),)
            one, two = (self.operand(extents) for _ in range(2))
            if "s" in (one, two):
                return self.scalar()
            return [f"s = dot_product({one}, {two}) / {extents[0]}"]
        target = self.random.choice(flat)
        rows, columns = (self.random.randint(1, min(4, each)) for each in target.extents)
        into = self.section(target, (rows, columns))
        if self.chance(50):
            value = f"0.5d0 * transpose({self.section(self.random.choice(flat), (columns, rows))})"
        else:
            value = self.product(flat, rows, columns)
            if self.chance(30):  # two reductions over loops of their own
                value = f"0.5d0 * {value} + 0.5d0 * {self.product(flat, rows, columns)}"
        return self.scalar() if "None" in value else [f"{into} = {value}"]

    def product(self, flat, rows, columns):
        """A product of two sections."""
        inner = self.random.randint(1, 3)
        left = self.section(self.random.choice(flat), (rows, inner))
        right = self.section(self.random.choice(flat), (inner, columns))
        # gfortran's MATMUL crashes where some sections go down.
        left, right = (each and re.sub(r"(-?\d+):(-?\d+):-1", r"\2:\1", each) for each in (left, right))
        return f"matmul({left}, {right}) / {inner}"

    def function(self):
        """Intrinsic functions that the serial interpreter of these tests lacks: node programs show what they are."""
        array = self.random.choice(self.arrays)
        name, total = array.name, sum(array.extents)
        masked = f", mask={name} > 0.4d0" if self.chance(40) else ""
        place = self.pick("maxloc", "minloc")
        whole = [
            f"s = sum({place}({name}{masked})) / {total}.0d0",
            f"s = 0.5d0 * sum({place}({self.part(array)})) / {total}",
            f"s = sum(findloc({name}, 5.0d0 / 13.0d0{masked})) / {total}.0d0",
            f"s = norm2({name}) / {prod(array.extents)}",
            f"s = {self.pick('iall', 'iany', 'iparity')}(int(13 * {name}){masked}) / 16.0d0",
            f"s = merge(0.25d0, 0.75d0, parity({name} > 0.4d0))",
            f"s = (digits({name}) + size({name}, 1) + sum(shape({name}))) * epsilon({name}) + s",
        ]
        if array.rank == 1:
            whole.append(f"s = dble({place}({name}, dim=1{masked})) / {total}")
        dim = self.random.randint(1, array.rank)
        along = [each for at, each in enumerate(array.extents, start=1) if at != dim]
        reduced = [f"{place}({name}, dim={dim}{masked}) / {total}.0d0", f"norm2({name}, dim={dim}) / {total}"]
        copied = [f"spread({each.name}, dim={dim}, ncopies={array.extents[dim - 1]})" for each in self.like(along)]
        each = self.operand(array.extents)
        one = [
            f"0.1d0 * {self.pick('anint', 'aint')}(9 * {each})",
            f"dble({self.pick('nint', 'floor', 'ceiling')}(5 * {each})) / 5",
            f"dim({each}, {self.operand(array.extents)})",
            f"modulo({each} - 0.7d0, 0.4d0)",
            f"dble({self.pick('shiftl', 'shiftr', 'shifta', 'ior', 'iand', 'ieor')}(int(7 * {name}), 2)) / 32",
        ]
        lines = [self.pick(*whole), f"{name} = {self.pick(*one, *copied)}"]
        lines += [f"{target.name} = {self.pick(*reduced)}" for target in self.like(along)[:1]]
        return [self.pick(*lines)]

    def part(self, array):
        """A section of the rank of an array."""
        return self.section(array, tuple(self.random.randint(1, each) for each in array.extents))

    def like(self, extents):
        """Arrays of these extents."""
        return [each for each in self.arrays if list(each.extents) == list(extents)]

    def statement(self, kinds):
        return getattr(self, self.pick(*kinds))()

    def block(self, count, kinds, depth=0):
        lines = []
        for _ in range(count):
            if depth < 2 and self.chance(15):
                inside = self.block(self.pick(1, 2, 3), kinds, depth + 1)
                leave = [f"if (s > {self.pick('0.2d0', '0.5d0')}) {self.pick('exit', 'cycle')}"]
                early = self.chance(30)
                if self.chance(20):
                    count = [f"m{depth} = m{depth} + 1", f"if (m{depth} > 2) exit"]
                    head = f"do while (s > {self.pick('0.1d0', '0.2d0')})" if self.chance(50) else "do"
                    lines += [f"m{depth} = 0", head, *(f"  {each}" for each in [*count, *inside]), "end do"]
                elif early:
                    # Two whole statements around an exit, in a loop that may end early.
                    more = self.block(1, kinds, depth + 1)
                    lines += [f"do it{depth} = 1, 3", *(f"  {each}" for each in [*inside, *leave, *more]), "end do"]
                elif self.chance(70):
                    lines += [f"do it{depth} = 1, {self.pick(1, 2, 3)}", *(f"  {each}" for each in inside), "end do"]
                else:
                    lines += [f"if (s > {self.pick('0.2d0', '0.5d0')}) then", *(f"  {x}" for x in inside)]
                    if self.chance(50):
                        lines += ["else", *(f"  {each}" for each in self.block(1, kinds, depth + 1))]
                    lines.append("end if")
            else:
                lines += self.statement(kinds)
        return lines

    def text(self, body):
        used = [*(["use hpf_library"] if self.library else []), *self.uses]
        lines = [*self.modules, "program random", *(f"  {each}" for each in used), "  implicit none"]
        for array in (*self.arrays, *self.results):
            bounds = ", ".join(f"{lower}:{upper}" for lower, upper in array.bounds)
            if array not in self.pointers:
                lines.append(f"  {self.target_of(array.name)} :: {array.name}({bounds})")
        lines += [*self.pointer_declarations(), *self.allocated_declarations()]
        for table in self.tables:
            lower, upper = table.bounds
            lines.append(f"  integer :: {table.name}({lower}:{upper})")
        lines += self.local_declarations()
        lines += ["  double precision :: w(1:3)"] if self.concurrents else []
        long = "" if self.linking else self.pick("", "", "", "(8)")  # libraries take plain integers
        lines += ["  double precision :: s, t", "  integer :: it0, it1, m0, m1, m2, at0", "  logical :: flag"]
        lines += [f"  integer{long} :: i, j, k"]
        typed = self.chance(20) and not self.internal  # gfortran takes such a name for a variable inside procedures
        lines += ["  double precision :: abs, dsqrt, maxval, sum"] if typed else []
        lines += [f"  {each}" for each in self.interfaces]
        lines += [f"!hpf$ {each}" for each in self.directives]
        final = [f"{each.name} = {each.name.removeprefix('r_')}" for each in self.results]
        lines += [f"  {each}" for each in [*body, *final, "print *, s"]]
        inside = ["contains", *self.internal] if self.internal else []
        return "\n".join([*lines, *inside, "end program random", *self.external, ""])


ALL = ("forall", "forall", "assignment", "where", "reduction", "scalar", "do", "independent", "intrinsic")


def program(random, names="abcd", statements=6, kinds=ALL):
    """Text and number of processors of one program."""
    writer = Writer(random)
    writer.declare(names)
    if "recorded" in kinds:
        writer.group(alone="remap" in kinds)
    if "remap" in kinds:
        writer.prepare()
    writer.library = "packed" in kinds
    writer.concurrents = "concurrent" in kinds
    first = writer.tabulate() if {"indirect", "packed"} & set(kinds) else []
    if "pointed" in kinds:
        first = [*first, *writer.point()]
    if "allocated" in kinds:
        writer.allocatable()
    if "linked" in kinds:
        first = [*first, *writer.local_values()]
    return writer.text([*first, *writer.block(statements, kinds)]), writer.procs
