"""Loops of any contents in random programs: each iteration works on a part of an array that is its own."""


class Bodies:
    """The loops with bodies of `tests.aag.spmd.programs.Writer`."""

    def shared_loop(self):
        """A loop over parts of an array, with or without INDEPENDENT."""
        everything = self.arrays
        written = self.random.choice(everything)
        for _ in range(20):
            (loop,), rows = self.loops(1)
            dim = self.random.randrange(written.rank)
            place = self.subscript(rows, written.bounds[dim], self.pick("{}", "{}", "-{}", "2*{}").format(loop.name))
            if rows and loop.name in place:
                break
        else:
            return self.scalar()
        try:
            self.arrays = [each for each in everything if each is not written] or everything[:0]
            own = Part(self, written, dim, place, rows)
            lines = ["t = 0.25d0", "m2 = 0", *(line for _ in range(self.pick(1, 2, 3)) for line in own.step())]
            if self.chance(20):
                lines = [*lines, f"if (mod({loop.name}, 2) == 0) cycle", *own.step()]
            total = self.chance(30)
            if total:
                lines.append(own.total())
            more = ", reduction(s)" if total else ""
            head = [] if self.chance(30) else [f"!hpf$ independent, new(t, j, k, m2){more}"]
            return [*head, loop.do(), *(f"  {each}" for each in lines), "end do"]
        finally:
            self.arrays = everything


class Part:
    """The part of an array that an iteration has for itself, and statements that work on it."""

    def __init__(self, writer, array, dim, place, rows):
        self.writer = writer
        self.array = array
        self.dim = dim
        self.place = place
        self.rows = rows

    def element(self, rows):
        """An element of it."""
        subscripts = [self.writer.plain_subscript(rows, each) for each in self.array.bounds]
        subscripts[self.dim] = self.place
        return f"{self.array.name}({', '.join(subscripts)})"

    def along(self, dim, text):
        """Its elements along a dimension."""
        subscripts = [self.writer.plain_subscript([], each) for each in self.array.bounds]
        subscripts[self.dim], subscripts[dim] = self.place, text
        return f"{self.array.name}({', '.join(subscripts)})"

    def value(self, rows):
        """Something to read: of the part, of other arrays, or private."""
        writer = self.writer
        choices = [
            self.element(rows),
            "t",
            *([writer.reference(rows), writer.reference(rows)] if writer.arrays else []),
        ]
        return writer.pick(*choices)

    def other_dim(self):
        """A dimension over which loops inside may run, or None."""
        dims = [each for each in range(self.array.rank) if each != self.dim]
        return self.writer.random.choice(dims) if dims else None

    def step(self):
        """A few statements."""
        return getattr(
            self, self.writer.pick("assigned", "recurrence", "branch", "sweep", "until", "summed", "search")
        )()

    def assigned(self):
        return [f"t = 0.5d0 * t + 0.25d0 * {self.value(self.rows)}", f"{self.element(self.rows)} = 0.5d0 * t"]

    def recurrence(self):
        dim = self.other_dim()
        if dim is None:
            return self.assigned()
        lower, upper = self.array.bounds[dim]
        inner = [{**row, "j": at} for row in self.rows for at in range(lower + 1, upper + 1)]
        if not inner:
            return self.assigned()
        here, before = self.along_pair(dim)
        return [f"do j = {lower + 1}, {upper}", f"  {here} = 0.5d0 * {before} + 0.25d0 * {self.value(inner)}", "end do"]

    def along_pair(self, dim):
        """An element in a loop over j, and the one before it."""
        here = self.along(dim, "j")
        return here, here.replace("(j,", "(j - 1,").replace(" j,", " j - 1,").replace(" j)", " j - 1)")

    def branch(self):
        condition = self.writer.pick(f"{self.value(self.rows)} > 0.4d0", "t > 0.2d0", "mod(i, 2) == 0")
        more = ["else", *self.assigned()] if self.writer.chance(50) else []
        return [f"if ({condition}) then", *self.step_inside(), *more, "end if"]

    def step_inside(self):
        return getattr(self, self.writer.pick("assigned", "recurrence", "sweep"))()

    def sweep(self):
        dim = self.other_dim()
        if dim is None:
            return self.assigned()
        whole = self.along(dim, ":")
        extent = self.array.extents[dim]
        shifted = f"cshift({whole}, {self.writer.pick(1, -1, 2)})"
        other = self.writer.operand((extent,)) if self.writer.arrays else "t"
        other = "t" if other == "s" else other
        value = self.writer.pick(shifted, f"0.5d0 * {whole} + 0.25d0 * {other}", f"{other} * 0.5d0", "t")
        return [f"{whole} = {value}"]

    def until(self):
        body = [f"t = 0.5d0 * t + 0.05d0 * {self.value(self.rows)}", "m2 = m2 + 1"]
        if self.writer.chance(50):
            return ["do while (t > 0.15d0 .and. m2 < 4)", *body, "end do"]
        return ["do", *body, "if (m2 > 3 .or. t < 0.1d0) exit", "end do"]

    def summed(self):
        dim = self.other_dim()
        if dim is None:
            return self.assigned()
        reduced = self.writer.pick("sum", "maxval")
        return [
            f"t = 0.5d0 * t + 0.5d0 * {reduced}({self.along(dim, ':')}) / {self.array.extents[dim]}",
            *self.assigned(),
        ]

    def total(self):
        return f"s = s + 0.25d0 * {self.value(self.rows)} / {len(self.rows)}"

    def search(self):
        dim = self.other_dim()
        if dim is None:
            return self.assigned()
        lower, upper = self.array.bounds[dim]
        return [
            f"do k = {lower}, {upper}",
            f"  if ({self.along(dim, 'k')} > 0.5d0) {self.writer.pick('exit', 'cycle')}",
            f"  t = 0.5d0 * t + 0.25d0 * {self.along(dim, 'k')}",
            "end do",
            *self.assigned(),
        ]
