"""Array constructors and RESHAPE in random programs: implied DO, lists of values, sections, and mixtures of them."""

from math import prod


class Constructors:
    """The array constructors of `tests.aag.spmd.programs.Writer`."""

    def constructed(self):
        """An assignment of an array constructor to a section, or a sum over one."""
        if self.chance(25):
            return self.reshaped()
        loop, rows = self.single_loop()
        form = self.pick("implied", "implied", "listed", "mixed")
        match form:
            case "implied":
                values, count = [f"({self.expression(rows)}, {self.control(loop)})"], len(rows)
            case "listed":
                values = [f"0.5d0*{self.reference([{}])}" for _ in range(self.random.randint(1, 4))]
                count = len(values)
            case _:
                count = self.random.randint(1, 3)
                section = self.operand((count,))
                if section == "s":
                    return self.scalar()
                many = [section, f"({self.reference(rows)}, {self.control(loop)})", self.reference([{}])]
                self.random.shuffle(many)
                values, count = many, count + len(rows) + 1
        value = f"(/ {', '.join(values)} /)"
        if self.chance(20):
            return [f"s = 0.5d0 * sum({value}) / {count}"]
        for target in self.random.sample(self.arrays, len(self.arrays)):
            text = self.section(target, (count,))
            if text is not None:
                more = f" + 0.25d0 * {self.operand((count,))}" if self.chance(40) else ""
                return [f"{text} = 0.5d0 * {value}{more}"]
        return self.scalar()

    def reshaped(self):
        """An array from the elements of another one, or from an implied DO."""
        target = self.random.choice(self.arrays)
        count = prod(target.extents)
        alike = [each.name for each in self.arrays if prod(each.extents) == count]
        rows = [{"i": at} for at in range(1, count + 1)]
        value = self.pick(self.random.choice(alike), f"(/ ({self.expression(rows)}, i = 1, {count}) /)")
        shape = self.pick(f"shape({target.name})", f"(/ {', '.join(map(str, target.extents))} /)")
        return [f"{target.name} = 0.5d0 * reshape({value}, {shape})"]

    def single_loop(self):
        """A loop of a few iterations."""
        while True:
            (loop,), rows = self.loops(1)
            if 1 <= len(rows) <= 5:
                return loop, rows

    def control(self, loop):
        return loop.do().removeprefix("do ")
