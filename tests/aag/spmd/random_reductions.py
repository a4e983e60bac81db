"""Random reductions of logical expressions, with masks that are such expressions."""

from math import prod


class Reductions:
    """What a `tests.aag.spmd.programs.Writer` knows of them."""

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
