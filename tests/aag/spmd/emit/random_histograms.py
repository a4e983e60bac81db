"""Random loops that reduce into arrays that every processor has, among other assignments: histograms and their like.

Values are whole numbers, so that sums are equal in whatever order they are made. The subscript of an update goes
through a private scalar, an index array or MOD of an index, or is a constant or an index. Some updates are conditional.
"""

import random

N = 13
BINS = 6
FORMATS = ("block", "cyclic", "cyclic(2)")
OPERATIONS = {
    "sum": ("{0} = {0} + {1}", "{0} = {0} - {1}", "{0} = {1} + {0}"),
    "max": ("{0} = max({0}, {1})",),
    "min": ("{0} = min({1}, {0})",),
}


class Writer:
    """Makes the choices of one program."""

    def __init__(self, seed):
        self.random = random.Random(f"histograms {seed}")

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def program(self):
        kind = self.pick("real(8)", "integer", "real")
        lines = ["program histograms", "implicit none", f"integer, parameter :: n = {N}"]
        lines += [f"{kind} :: a(n), b(n), d(n, n), h(0:{BINS}), g(0:{BINS}), w(n), s, x", "integer :: i, j, k, ix(n)"]
        lines += [f"!hpf$ distribute ({self.pick(*FORMATS)}) :: a", "!hpf$ align b(i) with a(i)"]
        lines += [f"!hpf$ distribute ({self.pick('*, block', 'block, *', '*, cyclic', 'block, cyclic')}) :: d"]
        lines += ["!hpf$ align ix(i) with a(i)"] * self.chance(50)
        lines += ["forall (i = 1:n) a(i) = mod(7*i, 5) + 1", "forall (i = 1:n) b(i) = mod(3*i, 7) - 3"]
        lines += [f"forall (i = 1:n) ix(i) = mod(5*i, {BINS})", "forall (i = 1:n, j = 1:n) d(i, j) = mod(i*j, 11)"]
        lines += ["h = 1", "g = 2", "w = 0", "s = 3", "x = 0", "k = 0"]
        for _ in range(self.pick(1, 2)):
            lines += self.loop()
        lines += [f"print *, {each}" for each in ("a", "b", "d", "h", "g", "w", "s, x, k")]
        return "\n".join([*lines, "end program histograms"]) + "\n"

    # --- loops ----------------------------------------------------------------------------------------------

    def loop(self):
        """A loop and what follows it: private scalars get a value."""
        self.deep = self.chance(40)
        self.found = {}
        self.written = set()
        body = ["x = " + self.value(private=False), f"k = mod({self.pick('ix(i)', '3*i', 'i + 2')}, {BINS})"]
        for _ in range(self.pick(1, 2, 3)):
            body += self.update()
        if not self.deep and self.chance(40):
            body.insert(self.random.randint(2, len(body)), f"b(i) = {self.value(private=True)}")
        if self.deep and self.chance(30):
            body.append("d(i, j) = d(i, j) + x")
        if not self.deep and self.chance(20):
            body[1:1] = ["do while (x < 9)", "x = 2*x + 5", "end do"]
        names = ", ".join(sorted(self.found))
        private = "x, k, i" if self.deep else "x, k"
        claim = f"!hpf$ independent, new({private}), reduction({names})"
        head = ["do j = 1, n", "do i = 1, n"] if self.deep else ["do i = 1, n"]
        return [claim, *head, *body, *["end do"] * len(head), "x = 0", "k = 0"]

    def update(self):
        name = self.pick("h", "h", "g", "w", "s")
        operation = self.found.setdefault(name, self.pick("sum", "sum", "sum", "max", "min"))
        places = ("k", f"mod(i, {BINS})", "ix(i)", "3", "k + 1")
        if name == "w":
            places = ("i", "k + 1", "n + 1 - i", "2*k + 1")
        target = name if name == "s" else f"{name}({self.pick(*places)})"
        line = self.pick(*OPERATIONS[operation]).format(target, self.value(private=True))
        if self.chance(30):
            condition = self.pick("a(i) > 2", "x > 4", "mod(i, 2) == 0")
            return [f"if ({condition}) {line}"]
        return [line]

    def value(self, *, private):
        elements = ["d(i, j)", "a(i)", "2*d(i, j)"] if self.deep else ["a(i)", "b(i)", "3*a(i)", "d(2, i)", "d(i, i)"]
        return self.pick(*elements, *(["x", "x*a(i)", "x"] if private else ["a(i)*a(i)"]))


def program(seed):
    """A random program."""
    return Writer(seed).program()
