"""Random programs with data of all types under shifts, gathers and reductions, and with input and output in any order.

    text, procs, given, values = program(seed)

`given` is the standard input, `values` are those of it that decide the flow. What is written to a file is read back
from it. All values are small whole numbers, or quarters of them, so that answers are the same to the last digit.
"""

import random
from dataclasses import dataclass

TYPES = {
    "integer": "mod({0}, 7)",
    "integer(8)": "mod({0}, 7) + 1_8",
    "integer(2)": "mod({0}, 5)",
    "double precision": "mod({0}, 9) * 0.25d0",
    "real": "mod({0}, 9) * 0.5",
    "complex": "cmplx(mod({0}, 5), mod({0}, 3))",
    "complex(8)": "dcmplx(mod({0}, 5), mod({0}, 3))",
    "logical": "mod({0}, 3) == 0",
    "character(len=3)": "achar(97 + mod({0}, 9)) // 'xy'",
    "character": "achar(97 + mod({0}, 9))",
}
"""The types of arrays, and a formula for their first values."""

VALUES = {
    "integer": "7",
    "integer(8)": "7_8",
    "integer(2)": "7_2",
    "double precision": "0.75d0",
    "real": "0.5",
    "complex": "(1.0, 2.0)",
    "complex(8)": "(1.0d0, 2.0d0)",
    "logical": ".true.",
    "character(len=3)": "'end'",
    "character": "'e'",
}
FORMATS = ("block", "cyclic", "cyclic(2)")


@dataclass(frozen=True)
class Array:
    name: str
    kind: str
    extents: tuple[int, ...]

    @property
    def number(self):
        return "logical" not in self.kind and "character" not in self.kind


class Writer:
    """Writes one program."""

    def __init__(self, seed):
        self.random = random.Random(f"io {seed}")
        self.procs = self.random.choice((1, 2, 3, 4, 6))
        self.arrays = []
        self.lines = []
        self.given = []
        self.labels = 0
        self.sizes = {name: self.random.randint(1, 6) for name in ("more", "sizes(1)", "sizes(2)")}
        self.values = {}

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    # --- declarations ---------------------------------------------------------------------------------------

    def declare(self):
        n, m = self.random.randint(5, 11), self.random.randint(3, 6)
        kinds = self.random.sample(sorted(TYPES), 3)
        yield "program p"
        yield "  implicit none"
        yield "  integer :: i, j, k, ios, many, more, sizes(2)"
        yield "  double precision :: s, few(4)"
        yield "  namelist /group/ s, few"
        yield "  character(len=8) :: word"
        yield "  character(len=5) :: words(3)"
        yield "  data words /'one', 'three', 'x'/"
        yield "  logical :: there"
        for at, kind in enumerate(kinds):
            for rank, letter in ((1, "ab"), (2, "c")):
                for name in (f"{each}{at}" for each in letter):
                    extents = (n, m)[:rank]
                    self.arrays.append(Array(name, kind, extents))
                    yield f"  {kind} :: {name}({', '.join(map(str, extents))})"
        if self.procs in (4, 6) and self.chance(50):
            shape = "(2, 2)" if self.procs == 4 else "(3, 2)"
            yield f"!hpf$ processors g{shape}"
            yield f"!hpf$ template t({n}, {m})"
            yield f"!hpf$ distribute t({self.pick(*FORMATS)}, {self.pick(*FORMATS)}) onto g"
            for each in self.arrays:
                place = "(i, j) with t(i, j)"
                if len(each.extents) == 1:
                    place = self.pick("(i) with t(i, *)", "(i) with t(i, 1)")
                if self.chance(80):
                    yield f"!hpf$ align {each.name}{place}"
            return
        yield f"!hpf$ processors g({self.procs})"
        for each in self.arrays:
            if self.chance(80):
                formats = [self.pick(*FORMATS), *["*"] * (len(each.extents) - 1)]
                self.random.shuffle(formats)
                yield f"!hpf$ distribute {each.name}({', '.join(formats)}) onto g"

    def start(self):
        for at, each in enumerate(self.arrays):
            if len(each.extents) == 1:
                formula, head = f"{3 + at} * i", f"i = 1:{each.extents[0]}"
            else:
                formula = f"{3 + at} * i + j"
                head = f"i = 1:{each.extents[0]}, j = 1:{each.extents[1]}"
            subscripts = "i" if len(each.extents) == 1 else "i, j"
            yield f"  forall ({head}) {each.name}({subscripts}) = {TYPES[each.kind].format(f'({formula})')}"
        yield "  k = 2"
        yield "  s = 0.5d0"
        yield "  few = 0.25d0"
        yield "  word = ' '"

    def label(self):
        """Some statements have one, though nothing jumps."""
        if not self.chance(30):
            return ""
        self.labels += 1
        return f"{10 * self.labels} "

    # --- statements -----------------------------------------------------------------------------------------

    def like(self, array):
        same = (array.kind, array.extents)
        return self.random.choice([each for each in self.arrays if (each.kind, each.extents) == same])

    def shifted(self, array):
        """The array under a shift, circular or not, with a boundary or without, perhaps one shift inside another."""
        text = self.like(array).name
        for _ in range(self.pick(1, 1, 2)):
            dim, by = self.random.randint(1, len(array.extents)), self.random.randint(-3, 3)
            if self.chance(40):
                text = f"cshift({text}, {by}, {dim})"
            elif self.chance(40):
                text = f"eoshift({text}, {by}, dim={dim})"
            else:
                text = f"eoshift({text}, {by}, {VALUES[array.kind]}, {dim})"
        return text

    def shift(self):
        array = self.random.choice(self.arrays)
        yield f"  {array.name} = {self.shifted(array)}"

    def section(self):
        array = self.random.choice(self.arrays)
        n = array.extents[0]
        low, by = self.random.randint(2, 3), self.random.randint(0, 1)
        rest = ", :" if len(array.extents) == 2 else ""
        other = self.like(array).name
        text = f"{other}({low - by}:{n - by - 1}{rest})"
        if self.chance(50):
            text = f"eoshift({text}, {self.pick(-1, 1)}, {VALUES[array.kind]})"
        yield f"  {array.name}({low}:{n - 1}{rest}) = {text}"

    def reduce(self):
        array = self.random.choice(self.arrays)
        shown = self.pick(array.name, self.shifted(array))
        if array.kind == "logical":
            yield f"  print *, count({shown}), any({shown}), all({shown})"
        elif "character" in array.kind:
            yield f"  print *, maxval({array.name}), minval({array.name})"
        elif "complex" in array.kind:
            yield f"  print *, sum({shown})"
        else:
            yield f"  print *, sum({shown}), maxval({shown}), minval({array.name})"
            yield f"  s = {self.pick('sum', 'maxval')}({array.name})"

    def write(self):
        array = self.random.choice(self.arrays)
        n = array.extents[0]
        label = self.label()
        if self.chance(10):
            yield f"  {self.pick('flush(6)', 'call flush(6)', 'call flush()')}"
        if self.chance(40):
            yield f"  {label}print *, {array.name}"
        elif len(array.extents) == 1:
            yield f"  {label}print *, ({array.name}(i), i = {self.pick(1, 2)}, {n}, {self.pick(1, 2)}), k"
        else:
            triangle = f"(({array.name}(i, j), i = j, {n}), j = 1, {array.extents[1]})"
            yield f"  {label}write (*, *) {triangle}, {array.name}(2, :)"

    def show(self):
        """Values that are computed before they are written, by one statement or two in a line."""
        lists = [", ".join(self.computed() for _ in range(self.pick(1, 2, 3))) for _ in range(self.pick(1, 1, 2))]
        yield f"  {'; '.join(f'print *, {each}' for each in lists)}"

    def computed(self):
        """A function of arrays that is an array or a number."""
        array = self.random.choice(self.arrays)
        name, other, matrix = array.name, f"{self.pick(*'ab')}{array.name[1:]}", f"c{array.name[1:]}"
        if "character" in array.kind:
            return self.pick(f"maxval({name})", f"(/ {name} /)")
        if self.chance(40):
            product = self.pick(
                f"matmul({other}, {matrix})",
                f"matmul(transpose({matrix}), {other})",
                f"matmul(transpose({matrix}), {matrix})",
            )
            return self.pick(product, f"{'count' if array.kind == 'logical' else 'sum'}({product})")
        dim, rest = f", dim={self.random.randint(1, len(array.extents))}", ", :" * (len(array.extents) - 1)
        if self.chance(30):
            return self.pick(f"size({name})", f"shape({name})", f"ubound({name}{dim})", f"(/ {other}, {other} /)")
        if array.kind == "logical":
            return f"{self.pick('any', 'all', 'count')}({name}{self.pick('', dim)})"
        reduce = self.pick("maxval", "minval", "sum") if "complex" not in array.kind else "sum"
        ordered = self.pick("maxloc", "minloc") if reduce != "sum" else reduce
        nothing = f"{name}({self.pick('2:1', '2:min(k, 1)')}{rest})"
        return self.pick(f"{reduce}({name}{self.pick('', dim)})", f"{reduce}({nothing})", f"{ordered}({name}{dim})")

    def parts(self):
        """Characters of the elements of sections, read and assigned, in groups of any depth."""
        array = self.random.choice(self.arrays)
        if array.kind != "character(len=3)":
            yield from self.update()
            return
        name, other, n = array.name, self.like(array).name, array.extents[0]
        rest = ", :" * (len(array.extents) - 1)
        characters = self.pick("(1:1)", "(2:2)", "(3:3)", "(min(k, 3):min(k, 3))")
        here, there = self.pick(("1:n-1", "2:n"), (":", ":"), ("2:n:2", "1:n-1:2"), (":", "n:1:-1"))
        here, there = (f"{each.replace('n', str(n))}{rest}" for each in (here, there))
        part = f"{other}({there}){characters}"
        match self.pick("read", "count", "deep", "target", "where"):
            case "read":
                yield f"  {name}({here}) = {self.pick(part, f'{part} // {name}({here})(:2)')}"
            case "count":
                yield f"  print *, {self.pick('count', 'any')}({part} {self.pick('>', '/=')} 'd')"
            case "deep":
                yield f"  print *, maxval(abs(mod(ichar({part}), 7)))"
            case "target":
                yield f"  {name}({here})(2:{self.pick('2', '', '3')}) = {other}({there})(1:{self.pick('1', '2')})"
            case _:
                yield f"  where ({part} < 'f') {name}({here}) = {part}"

    def update(self):
        array = self.random.choice(self.arrays)
        rest = ", 1" if len(array.extents) == 2 else ""
        yield f"  {array.name}({self.random.randint(1, array.extents[0])}{rest}) = {VALUES[array.kind]}"

    def read_fixed(self):
        """Input of a size that is known beforehand; what is read decides nothing but what is printed."""
        self.given.append("0.5 1.5 2.25 4.0 8.0")
        yield f"  read {self.pick('*,', '(*, *)', '(5, *)', '(unit=5, fmt=*)')} s, few"
        yield "  print *, s, few"

    def read_group(self):
        """NAMELIST input: all variables of the group, or some."""
        given = self.pick("s = 0.75, few = 4*0.5", "few(2:3) = 1.25 2.5", "s = 3.0  few = 1.0, 2.0, 2*0.125", "")
        self.given += [self.pick("", " ! settings"), f"&group {given}", "/"]
        yield f"  read {self.pick('(*, nml=group)', '(5, group)', '(unit=5, nml=group)')}"
        yield self.pick("  print *, s, few", "  write (*, nml=group)", "  write (*, group)")

    def read_sized(self):
        """Input that says how much more there is."""
        count = self.random.randint(1, 4)
        numbers = " ".join(str(0.25 * each) for each in range(count))
        self.given.append(f"{count} {self.random.randint(1, 9)} {numbers}")
        if self.chance(50):
            yield "  read *, many, k, (few(i), i = 1, many)"
        else:
            yield "  read (5, *, iostat=ios) many, k, (few(i), i = 1, many)"
        yield "  print *, few, k"

    def read_changed(self):
        """Input of a size that the program changes before it uses it."""
        self.values["more"] = self.sizes["more"]
        self.given.append(str(self.sizes["more"]))
        yield f"  read {self.pick('*,', '(5, *)')} more"
        yield f"  more = {self.pick('more / 2', 'more + 1', '2 * more - 1')}"
        yield from self.counted("more")

    def read_elements(self):
        """Input of sizes in an array."""
        names = ("sizes(1)", "sizes(2)")
        count = self.pick(*names)
        self.values[count] = self.sizes[count]
        self.given.append(" ".join(str(self.sizes[name]) for name in names))
        yield f"  read *, {self.pick('sizes', 'sizes(1), sizes(2)')}"
        yield from self.counted(count)

    def counted(self, count):
        """A loop with this trip count that sends messages."""
        yield f"  do i = 1, {count}"
        yield from self.shift()
        yield "  end do"
        yield f"  print *, {count}"

    def read_back(self):
        """Write an array to a file and read another like it."""
        array = self.random.choice(self.arrays)
        other = self.like(array)
        yield f"  {self.label()}open (11, file='data', status='replace'{self.pick('', ', iostat=ios')})"
        yield from self.transfer(array, other)
        yield "  close (11, status='delete')"

    def transfer(self, array, other):
        n = array.extents[0]
        whole = len(array.extents) == 1
        loops = (
            [f"do i = 1, {n}"]
            if whole
            else self.pick(
                [f"do i = 1, {n}", f"do j = 1, {array.extents[1]}"], [f"do j = 1, {array.extents[1]}", f"do i = 1, {n}"]
            )
        )
        element = "(i)" if whole else "(i, j)"
        form = self.pick("nest", "list", "each")
        for loop in loops:
            yield f"  {loop}"
        yield f"  write (11, *) {self.quoted(array, array.name + element)}"
        yield from ["  end do"] * len(loops)
        yield "  rewind (11)"
        if form == "list":
            implied = f"{other.name}{element}"
            for loop in reversed(loops):
                implied = f"({implied}, {loop.removeprefix('do ')})"
            yield f"  read (11, *) {implied}"
            return
        for loop in loops:
            yield f"  {loop}"
        yield f"  read (11, *) {other.name}{element}"
        if form == "each":
            yield "  k = k + 1"
        yield from ["  end do"] * len(loops)
        if form == "nest":
            yield "  print *, i"

    def quoted(self, array, text):
        return f'"\'", {text}, "\'"' if "character" in array.kind else text

    def internal(self):
        yield "  write (word, '(i4)') k"
        yield "  read (word, *) many"
        yield "  print *, word, many"

    def listed(self):
        values = self.pick("'four ', 'fives', 'y    '", "words(3), words(1), words(2)", "'ab', 'cd', 'ef'")
        yield f"  words = (/ {values} /)"
        yield "  print *, words, trim(words(2))" if self.chance(50) else "  print *, words(1)(2:4)"

    def inquire(self):
        yield "  inquire (file='nowhere', exist=there)"
        yield "  print *, there"

    def conditional(self):
        yield "  if (k > 3) then"
        yield from (f"  {line}" for line in self.pick(self.shift, self.update)())
        yield "  end if"

    def text(self, statements):
        self.lines += list(self.declare())
        self.lines += list(self.start())
        sized = (self.read_sized, self.read_sized) if self.chance(20) else ()
        choices = (
            *sized,
            self.shift,
            self.shift,
            self.section,
            self.parts,
            self.parts,
            self.reduce,
            self.write,
            self.show,
            self.show,
            self.update,
            self.read_fixed,
            self.read_changed,
            self.read_elements,
            self.read_group,
            self.read_back,
            self.read_back,
            self.internal,
            self.inquire,
            self.listed,
            self.conditional,
        )
        for _ in range(statements):
            self.lines += list(self.pick(*choices)())
        self.lines += [f"  print *, {each.name}" for each in self.arrays]
        return "\n".join([*self.lines, "  print *, k, s", "end program p"]) + "\n"


def program(seed, statements=8):
    """Text, number of processors and standard input of a program, and what of the input decides its flow."""
    writer = Writer(seed)
    text = writer.text(statements)
    return text, writer.procs, "\n".join([*writer.given, ""]), writer.values
