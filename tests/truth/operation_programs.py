"""Random loop nests whose operations are to be counted: expressions of all operators and many functions, of all types.

Every condition and every bound follows from indices, so that predictions assume nothing. What the programs compute
does not matter: divisors are constants or positive, and no subscript leaves its array.
"""

import random

N = 7
"""The largest value of an index, and the extent of each dimension but for a margin on both sides."""
NAMES = "ijkl"
ARRAYS = {"ia": ("integer", 1), "ra": ("real", 1), "da": ("real(8)", 1), "d": ("real(8)", 2), "e": ("real(8)", 2)}
SCALARS = {"m": "integer", "q": "real", "s": "real(8)", "t": "real(8)"}
FORMATS = {1: ("block", "cyclic", "cyclic(2)", "*"), 2: ("block, *", "*, cyclic", "block, cyclic", "*, *")}
FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "abs")


class Writer:
    """Makes the choices of one program."""

    def __init__(self, seed):
        self.random = random.Random(f"operations {seed}")
        self.lines = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def program(self):
        head = [
            "program counted_nests",
            "implicit none",
            f"integer, parameter :: n = {N}",
            "real(8), parameter :: c = 1.5d0",
        ]
        head += [f"{kind} :: {name}({', '.join(['-2:n + 3'] * rank)})" for name, (kind, rank) in ARRAYS.items()]
        head += [f"{kind} :: {name}" for name, kind in SCALARS.items()]
        head += [f"integer :: {', '.join(NAMES)}"]
        for name, (_, rank) in ARRAYS.items():
            formats = self.pick(*FORMATS[rank])
            if set(formats) - set("*, "):
                head.append(f"!hpf$ distribute {name}({formats})")
        for name in (*ARRAYS, *SCALARS):
            self.lines.append(f"{name} = 1")
        for _ in range(self.pick(3, 4, 5)):
            self.pick(self.nest, self.nest, self.nest, self.forall, self.sections)(())
        return "\n".join([*head, *self.lines, "end program counted_nests"]) + "\n"

    # --- statements -----------------------------------------------------------------------------------------

    def nest(self, taken):
        """A DO loop."""
        index = NAMES[len(taken)]
        self.lines.append(f"do {index} = {', '.join(self.bounds(taken, self.pick(None, None, None, 2, -1)))}")
        inside = (*taken, index)
        for _ in range(self.pick(1, 1, 2, 3)):
            self.statement(inside)
        self.lines.append("end do")

    def statement(self, taken):
        deeper = len(taken) < 3
        match self.pick("assign", "assign", "assign", *["nest"] * 3 * deeper, "branch", "private", "forall"):
            case "assign":
                self.assign(taken)
            case "nest":
                self.nest(taken)
            case "branch":
                self.branch(taken)
            case "private":
                self.lines.append(f"t = {self.expression(taken, 'real(8)')}")
                self.lines.append(f"{self.element(taken, 'real(8)')} = t*{self.expression(taken, 'real(8)', 1)}")
            case "forall":
                self.forall(taken)

    def branch(self, taken):
        if self.chance(30):
            self.lines.append(f"if ({self.condition(taken)}) {self.assignment(taken)}")
            return
        self.lines.append(f"if ({self.condition(taken)}) then")
        self.assign(taken)
        while self.chance(35):
            self.lines.append(f"else if ({self.condition(taken)}) then")
            self.assign(taken)
        if self.chance(50):
            self.lines.append("else")
            self.assign(taken)
        self.lines.append("end if")

    def bounds(self, taken, step):
        low, high = self.pick("1", "1", "2"), self.pick("n", "n", "n - 1", "5")
        if taken and self.chance(60):
            outer = self.random.choice(taken)
            low, high = self.pick(
                (outer, high),
                (f"{outer} + 1", high),
                (low, f"min(n, {outer} + 2)"),
                (f"max(1, {outer} - 2)", high),
                (low, f"n + 1 - {outer}"),
            )
        if step is None:
            return [low, high]
        return [high, low, str(step)] if step < 0 else [low, high, str(step)]

    def assign(self, taken):
        self.lines.append(self.assignment(taken))

    def assignment(self, taken):
        kind = self.pick("real(8)", "real(8)", "real(8)", "real", "integer")
        if self.chance(15):
            return f"s = s + {self.expression(taken, 'real(8)')}"
        return f"{self.element(taken, kind)} = {self.expression(taken, self.pick(kind, kind, 'real(8)'))}"

    def forall(self, taken):
        names = [each for each in NAMES if each not in taken][: self.pick(1, 2)]
        heads, inside = [], tuple(taken)
        for each in names:
            heads.append(f"{each} = {':'.join(self.bounds(taken, None))}")
            inside = (*inside, each)
        mask = f", {self.condition(inside)}" if self.chance(30) else ""
        target = f"da({names[0]})" if len(names) == 1 else f"{self.pick('d', 'e')}({names[0]}, {names[1]})"
        self.lines.append(f"forall ({', '.join(heads)}{mask}) {target} = {self.expression(inside, 'real(8)')}")

    def sections(self, _taken):
        low = self.pick(1, 2, -1)
        name, other = self.random.sample("de", 2)
        value = self.pick(
            f"c*{other}({low}:n, 2) + sqrt({other}({low + 1}:n + 1, 3))/s",
            f"{other}({low}:n, 1)**2 - ({name}({low}:n, 3) + da({low}:n))*q",
            f"real(ia({low}:n))*{other}({low + 1}:n + 1, 2) + 2*m",
        )
        self.lines.append(
            self.pick(f"{name}(1:{N + 1 - low}, 5) = {value}", f"s = s + {self.pick('sum', 'maxval')}({value})")
        )

    # --- expressions ----------------------------------------------------------------------------------------

    def condition(self, taken):
        one = self.random.choice(taken)
        found = self.pick(f"{one} > {self.pick(1, 3, 5)}", f"mod({one}, 2) == 0", f"{one} /= 4", f"2*{one} <= n + 1")
        if self.chance(30):
            found += self.pick(" .and. ", " .or. ") + f"{self.random.choice(taken)} < {self.pick(3, 6)}"
        return f".not. ({found})" if self.chance(15) else found

    def subscript(self, taken):
        index = self.random.choice(taken) if taken else "2"
        return self.pick(index, index, f"{index} + 1", f"{index} - 2", f"n - {index}", f"1 - 2 + {index}", "3", "n - 1")

    def element(self, taken, kind):
        name = self.pick(*(each for each, (own, _) in ARRAYS.items() if own == kind))
        return f"{name}({', '.join(self.subscript(taken) for _ in range(ARRAYS[name][1]))})"

    def atom(self, taken, kind):
        scalars = [name for name, own in SCALARS.items() if own == kind]
        constants = {"integer": ("2", "3", "n"), "real": ("1.5", "0.25"), "real(8)": ("c", "0.5d0", "2.0d0", "3")}[kind]
        index = (self.random.choice(taken),) if taken and kind == "integer" else ()
        return self.pick(self.element(taken, kind), self.element(taken, kind), *scalars, *constants, *index)

    def expression(self, taken, kind, depth=3):
        """An expression of a type, with parts of others."""
        if depth == 0 or self.chance(10):
            return self.atom(taken, self.pick(kind, kind, kind, "integer"))

        def part(own=kind, less=1):
            return self.expression(taken, own, depth - less)

        choices = [
            f"({part()} + {part()})",
            f"({part()} - {part()})",
            f"{part()}*{part()}",
            f"(-{part()})",
            f"({part()})**{self.pick(2, 3, 4, 5)}",
            f"max({self.element(taken, kind)}, {self.element(taken, kind)})",
        ]
        if kind == "integer":
            choices += [
                f"({part()})/{self.pick(2, 3, 'n')}",
                f"mod({part()}, 5)",
                f"int({part('real(8)')})",
                f"abs({part()})",
            ]
        else:
            choices += [
                f"({part()})/({self.element(taken, kind)})",
                f"{self.pick(*FUNCTIONS)}({self.element(taken, kind)})",
                f"{'real' if kind == 'real' else 'dble'}({part('integer')})",
                f"{part()}*({part('integer')})",
            ]
        if kind == "real(8)":
            choices += [
                f"({part()} + {part('real')})",
                f"(abs({self.element(taken, kind)}) + 1)**{self.element(taken, kind)}",
            ]
        return self.random.choice(choices)


def program(seed):
    """A random program."""
    return Writer(seed).program()
