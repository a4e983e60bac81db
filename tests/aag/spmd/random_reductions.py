"""Random reductions of logical expressions, with masks that are such expressions, reductions along one dimension of
sections and shifts of them, with a loop index in other dimensions, and reductions inside others."""

from math import prod


class Reductions:
    """A part of `tests.aag.spmd.programs.Writer`."""

    def logical(self, array):
        """A logical expression of the shape of an array."""
        other = self.random.choice([each for each in self.arrays if each.extents == array.extents])
        one, two = f"{array.name} > 0.4d0", f"{other.name} < 0.7d0"
        copied = f"spread(.not. s > 0.3d0, dim=1, ncopies={array.extents[0]})" if array.rank == 1 else f".not. {two}"
        forms = (one, f".not. {one}", f".not. ({one} .and. {two})", f".not. (.not. {one})", f"({one}) .eqv. {two}")
        return self.pick(*forms, copied)

    def logicals(self):
        """A reduction of a logical expression, or one with such a mask."""
        array = self.random.choice(self.arrays)
        name, taken, most = array.name, self.logical(array), prod(array.extents)
        whole = [
            f"s = count({taken}) / {most}.0d0",
            f"s = merge(0.25d0, 0.75d0, {self.pick('any', 'all', 'parity')}({taken}))",
            f"s = sum({name}, mask={taken}) / {most}",
            f"s = max(0.0d0, maxval({name}, mask={taken}))",
            f"s = min(1.0d0, minval({name}, mask={taken}))",
            f"s = sum({self.pick('maxloc', 'minloc')}({name}, mask={taken})) / {sum(array.extents)}.0d0",
        ]
        dim = self.random.randint(1, array.rank)
        along = [each for at, each in enumerate(array.extents, start=1) if at != dim]
        parts = [
            f"count({taken}, dim={dim}) / {most}.0d0",
            f"sum({name}, dim={dim}, mask={taken}) / {most}",
            f"merge(0.5d0, 1.0d0, {self.pick('any', 'all', 'parity')}({taken}, dim={dim}))",
        ]
        return [self.pick(*whole, *(f"{each.name} = {self.pick(*parts)}" for each in self.like(along) if along))]

    def along(self):
        for _ in range(20):
            target, extents = self.array_target()
            array = self.random.choice(self.arrays)
            dim = self.random.randint(0, len(extents))
            whole = (*extents[:dim], self.random.randint(1, 4), *extents[dim:])
            operand = self.section(array, whole)
            if operand is None:
                continue
            before, after = [], []
            if array.rank > len(whole) and self.chance(60):
                operand, first, last = self.moving(operand, array)
                before, after = [f"do i = {first}, {last}"], ["end do"]
            for _ in range(self.pick(0, 1, 1, 2)):
                shift, axis = self.random.randint(-2, 3), self.random.randint(1, len(whole))
                operand = f"{self.pick('cshift', 'eoshift')}({operand}, {shift}, dim={axis})"
            name = self.pick("sum", "maxval", "minval")
            scale = f"{whole[dim]}" if name == "sum" else "2"
            return [*before, f"{target} = {name}({operand}, dim={dim + 1}) / {scale}", *after]
        return self.reduction()

    def moving(self, operand, array):
        """The section with the index of a loop for the first subscript that is a number, and the loop's bounds."""
        name, _, rest = operand.rstrip(")").partition("(")
        subscripts = rest.split(", ")
        at = next(at for at, each in enumerate(subscripts) if ":" not in each)
        lower, upper = array.bounds[at]
        subscripts[at] = "i"
        first = self.random.randint(lower, upper)
        return f"{name}({', '.join(subscripts)})", first, self.random.randint(first, upper)

    def nested(self):
        """A reduction inside another one, for each value of an index: in FORALL, in a DO loop or in a sum of it."""
        sources = [each for each in self.arrays if each.rank > 1]
        if not sources:
            return self.logicals()
        source, target = self.random.choice(sources), self.random.choice(self.arrays)
        at, place = self.random.randrange(source.rank), self.random.randrange(target.rank)
        (lower, upper), own = source.bounds[at], target.bounds[place]
        low, high = max(lower, own[0]), min(upper, own[1])
        if low > high:
            return self.logicals()
        # A matrix keeps both dimensions, the one of the index up to it; of three dimensions the index takes one.
        subscripts = [":" if rank != at else f"{lower}:i" if source.rank == 2 else "i" for rank in range(source.rank)]
        section = f"{source.name}({', '.join(subscripts)})"
        value = self.outer(section, self.random.randint(1, 2) if source.rank == 3 else at + 1)
        subscripts = [self.subscript([], each) for each in target.bounds]
        subscripts[place] = "i"
        into = f"{target.name}({', '.join(subscripts)})"
        match self.pick("forall", "forall", "do", "sum", "max") if source.name != target.name else "sum":
            case "forall":
                return [f"forall (i = {low}:{high}) {into} = {value}"]
            case "do":
                body = f"  {into} = {value}"
            case "sum":
                body = f"  s = s + {value} / {4 * (high - low + 1)}"
            case _:
                body = f"  s = max(s, {value})"
        return [f"do i = {low}, {high}", body, "end do"]

    def outer(self, section, dim):
        """A reduction, made a number of about 1, of a reduction of a section along a dimension."""
        masked = f", mask={section} > 0.0d0" if self.chance(30) else ""
        inner = f"{self.pick('sum', 'maxval', 'minval')}({section}, {dim}{masked})"
        inner = self.pick(inner, inner, f"0.5d0 * {inner}", f"1 - {inner}")
        holds = f"{self.pick('any', 'all', 'parity')}({section} > 0.4d0, {dim})"
        counted = f"count({section} > 0.4d0, {dim})"
        return self.pick(
            f"{self.pick('sum', 'maxval', 'minval')}({inner}) / 8",
            f"{self.pick('sum', 'maxval', 'minval')}({inner}) / 8",
            f"count({inner} > 0.8d0) / 8.0d0",
            f"count({holds}) / 8.0d0",
            f"{self.pick('sum', 'maxval', 'minval')}({counted}) / 16.0d0",
            f"merge(0.25d0, 0.75d0, {self.pick('any', 'all', 'parity')}({holds}))",
        )
